"""Commits that were rewritten: the list has the old ones, which comments were made on, and the new ones."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commit_lists import change, comment_on, commit, day
from metareview.model.comment import ChangedFile
from metareview.outcomes import reasons
from metareview.outcomes.lines import Changes

TOP, TAIL = "0123456789", "ABCDEFGHIJ"


def made(sha, before, after, *, at, parent, author="dev", path="a.py"):
    return commit(sha, change(path, before, after), at=at, author=author, parents=(parent,))


def told(commits, comment):
    fate = Changes(commits).fate(comment)
    finding = fate.lines_changed
    return (finding.reason if finding.value is None else finding.value), fate.changed_by


def amended(again, **more):
    """c1 on the base branch puts in x, y and z; it was amended on day 2."""
    before = TOP + TAIL
    return [
        made("c1", before, f"{TOP}xyz{TAIL}", at=1, parent="base"),
        made("n1", before, again, at=2, parent="base", **more),
    ]


def test_an_amended_commit_that_leaves_the_lines_alone():
    commits = amended(f"Q{TOP}xyz{TAIL}R")
    assert told(commits, comment_on(12)) == (False, ())
    assert Changes(commits).fate(comment_on(12)).final_lines == (13, 13)
    more = made("n2", f"Q{TOP}xyz{TAIL}R", f"Q{TOP}xYz{TAIL}R", at=3, parent="n1")
    assert told([*commits, more], comment_on(12)) == (True, ("n2",))
    assert told([*commits, more], comment_on(11)) == (False, ())


def test_an_amended_commit_that_changes_the_lines():
    commits = amended(f"Q{TOP}xYz{TAIL}")
    assert told(commits, comment_on(12)) == (True, ("n1",))
    assert told(commits, comment_on(11)) == (False, ())
    assert told(commits, comment_on(5)) == (False, ())  # A line that nobody saw, and nobody touched.
    assert told(amended(f"{TOP}{TAIL}"), comment_on(12)) == (True, ("n1",))


def test_an_amendment_by_the_bot_does_not_count():
    assert told(amended(f"{TOP}xYz{TAIL}", author="helper"), comment_on(12)) == (False, ())


def test_an_amendment_that_is_not_dated_after_the_comment():
    late = comment_on(12, at=day(2.5))
    assert told(amended(f"{TOP}xYz{TAIL}"), late) == (reasons.REWRITTEN_WHEN, ())
    assert told(amended(f"{TOP}xyz{TAIL}"), late) == (False, ())


def test_a_rebase_of_several_commits_is_followed_to_the_one_that_has_the_lines():
    before, one, two = TOP + TAIL, f"{TOP}x{TAIL}", f"{TOP}xyz{TAIL}"
    old = [made("c0", before, one, at=1, parent="base"), made("c1", one, two, at=1, parent="c0")]
    new = [made("n0", before, one, at=2, parent="base"), made("n1", one, two, at=2, parent="n0")]
    assert told([*old, *new], comment_on(12)) == (False, ())
    # The second was squashed into the first, and y heeded.
    squashed = made("n0", before, f"{TOP}xYz{TAIL}", at=2, parent="base")
    assert told([*old, squashed], comment_on(12)) == (True, ("n0",))
    assert told([*old, squashed], comment_on(13)) == (False, ())


def test_the_common_part_of_the_list_is_shared():
    before, one = TOP + TAIL, f"{TOP}x{TAIL}"
    first = made("c0", before, one, at=1, parent="base")
    old = made("c1", one, f"{TOP}xyz{TAIL}", at=1, parent="c0")
    new = made("n1", one, f"{TOP}xYz{TAIL}", at=2, parent="c0")
    assert told([first, old, new], comment_on(12)) == (True, ("n1",))
    assert told([first, old, new], comment_on(11)) == (False, ())


def test_a_rebase_onto_a_newer_base_is_followed_by_what_the_lines_say():
    rebased = [
        made("c1", TOP + TAIL, f"{TOP}xyz{TAIL}", at=1, parent="base"),
        made("n1", f"PQ{TOP}{TAIL}", f"PQ{TOP}xyz{TAIL}", at=2, parent="newer base"),
    ]
    assert told(rebased, comment_on(11, 13)) == (False, ())
    assert Changes(rebased).fate(comment_on(11, 13)).final_lines == (13, 15)
    heeded = [rebased[0], made("n1", f"PQ{TOP}{TAIL}", f"PQ{TOP}xYz{TAIL}", at=2, parent="newer base")]
    assert told(heeded, comment_on(11, 13)) == (True, ("n1",))
    # Line 2 is in none of the patches, nor is what is there now.
    assert told(heeded, comment_on(2)) == (reasons.REWRITTEN, ())


def test_a_line_that_stands_twice_is_not_mistaken():
    before = f"{TOP}}}{TAIL}"
    commits = [
        made("c1", before, f"{TOP}}}xyz{TAIL}", at=1, parent="base"),
        made("n1", f"k}}lm{TOP}}}{TAIL}", f"k}}Zlm{TOP}{TAIL}", at=2, parent="newer base"),
    ]
    assert told(commits, comment_on(11)) != (False, ())


def test_lines_that_are_found_twice_with_their_neighbours_could_be_either():
    commits = [
        made("c1", TOP + TAIL, f"{TOP}xyz{TAIL}", at=1, parent="base"),
        made("n1", "PQ", f"P{TOP}xyz{TAIL}-{TOP}xyz{TAIL}Q", at=2, parent="newer base"),
    ]
    assert told(commits, comment_on(11, 13)) == (reasons.REWRITTEN, ())


def test_a_new_file_is_compared_as_a_whole():
    def commits(again):
        added = (commit("c1", change("a.py", "", "abcdef"), at=1, parents=("base",)),)
        return [*added, commit("n1", change("a.py", "", again), at=2, parents=("newer base",))]

    assert told(commits("abcdefg"), comment_on(3)) == (False, ())
    assert told(commits("abXdef"), comment_on(3)) == (True, ("n1",))
    assert told(commits("XXabdef"), comment_on(3)) == (True, ("n1",))


def test_a_new_file_that_the_new_commits_lack():
    commits = [
        commit("c1", change("a.py", "", "abc"), at=1, parents=("base",)),
        commit("n1", change("b.py", "", "xyz"), at=2, parents=("base",)),
    ]
    assert told(commits, comment_on(3)) == (True, ("n1",))
    assert told([commits[0], replace(commits[1], files=None)], comment_on(3)) == (reasons.NO_FILES, ())


def test_a_new_file_that_an_amendment_gives_another_name():
    def commits(again):
        old = commit("c1", change("a.py", "", "abcdef"), at=1, parents=("base",))
        return [old, commit("n1", change("b.py", "", again), at=2, parents=("base",))]

    assert told(commits("abcdef"), comment_on(3)) == (reasons.REWRITTEN, ())
    assert told(commits("abcxyz"), comment_on(3)) == (reasons.REWRITTEN, ())
    assert told(commits("abwxyz"), comment_on(3)) == (True, ("n1",))


@pytest.mark.parametrize("first", ["abcdef", "uvwxyz"])
def test_a_rebase_of_a_file_that_was_deleted_and_came_back_before_the_comment(first):
    def life(sha, parent, at):
        names = [parent, *(f"{sha}{number}" for number in range(3))]
        files = [change("a.py", "", first), change("a.py", first, "", status="removed"), change("a.py", "", "abcdef")]
        return [
            commit(name, file, at=at, parents=(before,))
            for name, file, before in zip(names[1:], files, names, strict=False)
        ]

    commits = [*life("c", "base", 1), *life("n", "newer base", 2)]
    assert told(commits, comment_on(3).replace(commit="c2")) == (reasons.RESTORED, ())


def test_a_file_that_the_new_commits_delete():
    gone = commit("n1", ChangedFile("a.py", status="removed"), at=2, parents=("base",))
    assert told([*amended("")[:1], gone], comment_on(12)) == (True, ("n1",))


def test_a_file_that_the_new_commits_rename():
    renamed = ChangedFile("b.py", "a.py", "renamed", change("", TOP + TAIL, f"{TOP}xyz{TAIL}Q").patch)
    commits = [*amended("")[:1], commit("n1", renamed, at=2, parents=("base",))]
    assert told(commits, comment_on(12)) == (False, ())
    commits.append(made("n2", f"{TOP}xyz{TAIL}Q", f"{TOP}xz{TAIL}Q", at=3, parent="n1", path="b.py"))
    assert told(commits, comment_on(12)) == (True, ("n2",))


@pytest.mark.parametrize("broken", [None, "@@ -1,9 +1,9 @@\n a"])
def test_new_commits_that_cannot_be_read(broken):
    new = commit("n1", ChangedFile("a.py", patch=broken), at=2, parents=("base",))
    assert told([*amended("")[:1], new], comment_on(12)) == (reasons.REWRITTEN, ())


def test_a_list_that_has_the_newest_commit_first():
    commits = amended("")[:1]
    more = made("c2", f"{TOP}xyz{TAIL}", f"{TOP}xYz{TAIL}", at=3, parent="c1")
    assert told([more, *commits], comment_on(12)) == (True, ("c2",))
    assert told([more, *commits], comment_on(11)) == (False, ())


def test_a_rename_that_does_not_say_what_the_file_was_called():
    renamed = commit("c2", ChangedFile("b.py", status="renamed", patch=""), at=3, parents=("c1",))
    assert told([*amended("")[:1], renamed], comment_on(12)) == (reasons.NO_FILES, ())


def test_a_suggestion_that_was_taken_in_an_amendment():
    note = "```suggestion\nY\n```"
    assert Changes(amended(f"{TOP}xYz{TAIL}")).fate(comment_on(12, note=note)).suggestion_taken.value is True
    assert Changes(amended(f"{TOP}xWz{TAIL}")).fate(comment_on(12, note=note)).suggestion_taken.value is False
    assert Changes(amended(f"{TOP}xyz{TAIL}")).fate(comment_on(12, note=note)).suggestion_taken.value is False
    after = "```suggestion\ny\nY\n```"
    assert Changes(amended(f"{TOP}xyYz{TAIL}")).fate(comment_on(12, note=after)).suggestion_taken.value is True


texts = st.lists(st.sampled_from("abcdefghijklmnop"), min_size=4, max_size=20, unique=True)


@settings(max_examples=300, deadline=None)
@given(texts, texts, texts, st.data())
def test_distinct_lines_are_unchanged_where_they_still_follow_one_another(base, old, new, data):
    """With lines that are all different, whole files say it: the same run of lines, or not."""
    first = data.draw(st.integers(1, len(old)))
    last = data.draw(st.integers(first, min(len(old), first + 2)))
    commits = [
        made("c1", "".join(base), "".join(old), at=1, parent="base"),
        made("n1", "".join(base), "".join(new), at=2, parent="base"),
    ]
    value, _ = told(commits, comment_on(first, last))
    lines = "".join(old[first - 1 : last])
    assert value is not None
    if lines not in "".join(new):
        assert value is True
    elif old == new:
        assert value is False
