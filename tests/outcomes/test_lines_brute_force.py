"""Random edits of whole files: following patches against marks on the lines of the files themselves."""

import difflib

from hypothesis import given, settings
from hypothesis import strategies as st

from commit_lists import comment_on, day, patch_of
from metareview.model.comment import ChangedFile, Commit
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
