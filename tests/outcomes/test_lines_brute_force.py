"""Random edits of whole files: following patches against marks on the lines of the files themselves."""

import difflib
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from commit_lists import comment_on, day, patch_of
from metareview.model.comment import ChangedFile, Commit
from metareview.outcomes import reasons
from metareview.outcomes.lines import Changes

AUTHORS = ("dev", "helper[bot]", "merge", None)


@st.composite
def edited(draw, lines):
    """The lines after up to three insertions, deletions or replacements."""
    lines = list(lines)
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(lines)))
        end = min(len(lines), start + draw(st.integers(0, 3)))
        # A small alphabet, so that lines are alike and diffs have to choose.
        lines[start:end] = draw(st.lists(st.sampled_from("abcdefgh"), max_size=3))
    return lines


@st.composite
def histories(draw):
    files = [draw(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=25))]
    authors = [None]
    for _ in range(draw(st.integers(1, 6))):
        files.append(draw(edited(files[-1])))
        authors.append(draw(st.sampled_from(AUTHORS)))
    anchor = draw(st.integers(0, len(files) - 2))
    if not files[anchor]:
        files[anchor] = ["a"]
    first = draw(st.integers(1, len(files[anchor])))
    last = draw(st.integers(first, len(files[anchor])))
    return files, authors, anchor, first, last, draw(st.integers(0, 4))


def in_files(files, authors, anchor, first, last):
    """Whether a mark was hit by somebody who counts, and where the marks are in the end: with whole files alone."""
    marks = [first <= number <= last for number in range(1, len(files[anchor]) + 1)]
    changed_by = []
    for number in range(anchor + 1, len(files)):
        codes = difflib.SequenceMatcher(None, files[number - 1], files[number]).get_opcodes()
        now = []
        hit = False
        for kind, i, k, j, m in codes:
            if kind == "equal":
                now += marks[i:k]
                continue
            between = i == k and any(marks[:i]) and any(marks[i:])
            here = any(marks[i:k]) or between
            hit |= here
            now += [here] * (m - j)
        marks = now
        if hit and authors[number] in ("dev", None):
            changed_by.append(f"c{number}")
    places = [number for number, marked in enumerate(marks, start=1) if marked]
    return changed_by, (places[0], places[-1]) if places else None


def as_commits(files, authors, context, whole_first):
    commits = []
    for number, (before, after) in enumerate(zip([[], *files], files, strict=False)):
        if number == 0 and not whole_first:
            commits.append(Commit("c0", day(1), "dev", (), None))
            continue
        patch = patch_of(before, after, context)
        file = ChangedFile("a.py", None, "added" if number == 0 else "modified", patch)
        parents = (f"c{number - 1}", "elsewhere") if authors[number] == "merge" else ()
        commits.append(Commit(f"c{number}", day(1 + number), authors[number], parents, (file,) if patch else ()))
    return commits


@settings(max_examples=600, deadline=None)
@given(histories(), st.booleans())
def test_patches_tell_what_the_files_tell(made, whole_first):
    files, authors, anchor, first, last, context = made
    commits = as_commits(files, authors, context, whole_first)
    comment = comment_on(first, last, commit=f"c{anchor}", at=day(1 + anchor))
    fate = Changes(commits).fate(comment)
    changed_by, place = in_files(files, authors, anchor, first, last)
    assert fate.lines_changed.value is bool(changed_by)
    assert list(fate.changed_by) == changed_by
    assert fate.final_lines == place
    if whole_first:
        assert "\n".join(files[anchor][first - 1 : last]) in fate.code


@settings(max_examples=300, deadline=None)
@given(histories())
def test_a_comment_that_was_moved_to_the_last_commit_tells_the_same_of_lines_that_stayed(made):
    files, authors, anchor, first, last, context = made
    commits = as_commits(files, ["dev"] * len(authors), context, True)
    now = in_files(files, ["dev"] * len(authors), anchor, first, last)
    if now[0] or now[1] is None:
        return
    moved = comment_on(*now[1], commit=commits[-1].sha, at=day(1 + anchor))
    fate = Changes(commits).fate(moved)
    assert fate.lines_changed.value is False
    assert fate.final_lines == now[1]


@settings(max_examples=400, deadline=None)
@given(histories(), st.data())
def test_what_is_hidden_is_never_answered_wrongly(made, data):
    """A commit's files, a patch, or its end are not there: then it cannot be told, or it is told as it is."""
    files, authors, anchor, first, last, context = made
    commits = as_commits(files, authors, context, data.draw(st.booleans()))
    hidden = data.draw(st.integers(0, len(commits) - 1))
    whole = commits[hidden]
    if whole.files:
        [file] = whole.files
        lines = file.patch.split("\n")
        # A patch that ends behind a whole hunk looks like a whole patch: nobody can tell.
        inside = [end for end in range(1, len(lines) + 1) if end == len(lines) or not lines[end].startswith("@@")]
        cut = "\n".join(lines[: data.draw(st.sampled_from(inside))])
        patch = data.draw(st.sampled_from([None, cut]))
        changed = data.draw(st.sampled_from([None, (replace(file, patch=patch),)]))
        commits[hidden] = replace(whole, files=changed)
    comment = comment_on(first, last, commit=f"c{anchor}", at=day(1 + anchor))
    fate = Changes(commits).fate(comment)
    changed_by, place = in_files(files, authors, anchor, first, last)
    assert fate.lines_changed.value in (None, bool(changed_by))
    assert (fate.lines_changed.value is None) == (fate.lines_changed.reason in reasons.REASONS)
    assert fate.final_lines in (None, place)
    assert list(fate.changed_by) == changed_by[: len(fate.changed_by)]
    if commits[hidden] == whole or hidden <= anchor:
        assert fate.lines_changed.value is bool(changed_by)


texts = st.text(alphabet="@-+ ,0123456789abc\\\r\n\t`~", max_size=80)
patches = st.one_of(
    st.none(),
    texts,
    st.builds(lambda a, b, c, d, rest: f"@@ -{a},{b} +{c},{d} @@\n{rest}", *[st.integers(0, 4)] * 4, texts),
)
names = st.sampled_from(["a.py", "b.py", "./a.py", "", "c"])
shas = st.sampled_from(["c0", "c1", "c2", "c3", "0a1b2c3d", "0a1b2c3", "outside", ""])
times = st.sampled_from([None, "", "2026-01-01", "2026-01-02T00:00:00Z", "2026-13-01", "yesterday"])
kinds = st.sampled_from([None, "added", "removed", "modified", "renamed", "copied", "changed", "R100", "what"])
wild_files = st.builds(ChangedFile, names, st.one_of(st.none(), names), kinds, patches)
wild_commits = st.builds(
    Commit,
    shas,
    times,
    st.sampled_from([None, "dev", "helper", "helper[bot]"]),
    st.lists(shas, max_size=2).map(tuple),
    st.one_of(st.none(), st.lists(wild_files, max_size=3).map(tuple)),
)
notes = st.sampled_from(["?", "```suggestion\nx\n```", "```suggestion:-3+4\n```", "~~~suggestion\n\tx"])


@settings(max_examples=600, deadline=None)
@given(st.one_of(st.none(), st.lists(wild_commits, max_size=6)), times, notes, names, shas, times, st.integers(1, 6))
def test_nothing_that_is_read_breaks_it(commits, until, note, path, sha, at, line):
    fate = Changes(commits, until=until).fate(comment_on(line, line + 1, note=note, path=path, commit=sha, at=at))
    for finding in (fate.lines_changed, fate.suggestion_taken):
        assert (finding.value is None) == (finding.reason in reasons.REASONS)
    assert bool(fate.changed_by) == (fate.lines_changed.value is True)
