"""Whatever cannot be told is None, with its reason, and never a wrong answer."""

import pytest

from commit_lists import change, comment_on, commit, history
from metareview.model.comment import ChangedFile, Commit
from metareview.outcomes import reasons
from metareview.outcomes.lines import Changes

BEFORE = history("", "abcdefghij")


def after(*files, **more):
    return [*BEFORE, commit("c2", *files, at=2, author="dev", **more)]


def patched(patch, **more):
    return after(ChangedFile("a.py", patch=patch, **more))


def told(commits, comment):
    finding = Changes(commits).fate(comment).lines_changed
    assert (finding.value is None) == (finding.reason is not None)
    return finding.reason if finding.value is None else finding.value


@pytest.mark.parametrize(
    ("comment", "reason"),
    [
        (comment_on(None), reasons.NO_LINES),
        (comment_on(2, path=None), reasons.NO_PATH),
        (comment_on(2, side="LEFT"), reasons.LEFT_SIDE),
        (comment_on(2, commit="feedface"), reasons.NOT_IN_LIST),
        (comment_on(11), reasons.BEYOND_END),
    ],
)
def test_comments_that_point_nowhere(comment, reason):
    assert told(after(), comment) == reason


def test_no_commits():
    assert told(None, comment_on(2)) == reasons.NO_COMMITS
    assert told([], comment_on(2)) == reasons.NOT_IN_LIST


def test_a_commit_that_changed_nothing_is_known_to_have_changed_nothing():
    assert told(after(), comment_on(2)) is False


def test_a_commit_without_files():
    unknown = Commit("c3", "2026-01-03", "dev")
    assert told([*after(), unknown], comment_on(2)) == reasons.NO_FILES
    # Unless a change was found before.
    assert told([*after(change("a.py", "abcdefghij", "aXcdefghij")), unknown], comment_on(2)) is True
    # Before the comment it does not matter.
    assert told([Commit("c0"), *after()], comment_on(2)) is False


def test_a_file_without_a_patch_is_binary_or_too_large():
    assert told(after(ChangedFile("a.py", status="modified")), comment_on(2)) == reasons.NO_PATCH
    assert told(patched("Binary files a/a.py and b/a.py differ\n"), comment_on(2)) == reasons.NO_PATCH
    assert told(after(ChangedFile("b.py", status="modified")), comment_on(2)) is False


def test_a_rename_without_a_patch():
    assert told(after(ChangedFile("b.py", "a.py", "renamed")), comment_on(2)) == reasons.NO_PATCH
    assert told(after(ChangedFile("b.py", "a.py", "renamed", "")), comment_on(2)) is False


def test_a_truncated_patch():
    whole = "@@ -1,3 +1,3 @@\n a\n-b\n+X\n c\n@@ -8,3 +8,3 @@\n h\n-i\n+Y\n j"
    assert told(patched(whole), comment_on(9)) is True
    cut = whole.removesuffix("\n+Y\n j")
    assert told(patched(cut), comment_on(9)) == reasons.TRUNCATED
    assert told(patched(cut), comment_on(5)) == reasons.TRUNCATED
    assert told(patched(cut), comment_on(2)) is True  # The intact part shows it.
    assert told(patched("@@ -1,3 +1,3 @@\n a\n@@ -8,3 +8,3 @@\n h\n-i\n+Y\n j"), comment_on(9)) == reasons.TRUNCATED


@pytest.mark.parametrize(
    "patch",
    [
        "nonsense",
        "@@ -1,2 +1,2 @@\n a\n-b\n+X\n c",  # More lines than the header says.
        "@@ -0,2 +1,2 @@\n a\n b",
        "@@ -1,2 +1,2 @@\n a\n*b",
        "@@ -9999999999,0 +9999999999 @@\n+X",
        "@@@ -1,2 -1,2 +1,2 @@@\n  a\n- b\n +X",
        "diff --git a/a.py b/a.py\n@@ -1,2 +1,2 @@\n a\n-b\n+X\ndiff --git a/b.py b/b.py\n@@ -1 +1 @@\n-a\n+b",
    ],
)
def test_a_malformed_patch(patch):
    assert told(patched(patch), comment_on(9)) == reasons.MALFORMED


@pytest.mark.parametrize(
    "patch",
    [
        "@@ -1,3 +1,3 @@\n a\n-Q\n+X\n c",  # Takes out what is not there.
        "@@ -1,3 +1,3 @@\n Q\n-b\n+X\n c",  # Next to what is not there.
        "@@ -10,2 +10,2 @@\n j\n-k\n+X",  # Beyond the end.
        "@@ -12,0 +13 @@\n+X",
        "@@ -8,2 +8,2 @@\n h\n-i\n+Y\n@@ -1,2 +1,2 @@\n a\n-b\n+X",  # Out of order.
        "@@ -1,3 +1,3 @@\n a\n-b\n+X\n c\n@@ -3,2 +3,2 @@\n c\n-d\n+Y",  # Overlapping.
        "@@ -1,3 +2,3 @@\n a\n-b\n+X\n c",  # The new lines cannot be there.
    ],
)
def test_a_patch_that_does_not_apply(patch):
    assert told(patched(patch), comment_on(6)) == reasons.DOES_NOT_APPLY


def test_a_patch_that_contradicts_an_earlier_one_does_not_apply_though_the_file_is_not_known():
    commits = [Commit("c0"), *history("abc", "abc", "aXc", "aYc")[1:]]
    wrong = Commit("c4", "2026-01-04", "dev", (), (ChangedFile("a.py", patch="@@ -1,3 +1,3 @@\n a\n-X\n+Z\n c"),))
    assert told([*commits, wrong], comment_on(3, commit="c0")) == reasons.DOES_NOT_APPLY


def test_a_file_that_is_not_there():
    gone = after(ChangedFile("a.py", status="removed"))
    assert told(gone, comment_on(2, commit="c2", at="2026-01-02T12:00:00Z")) == reasons.NO_FILE
    away = after(ChangedFile("b.py", "a.py", "renamed", ""))
    assert told(away, comment_on(2, commit="c2", at="2026-01-02T12:00:00Z")) == reasons.NO_FILE


def test_a_file_that_is_added_though_it_exists():
    assert told(patched("@@ -0,0 +1 @@\n+X", status="added"), comment_on(2)) == reasons.DOES_NOT_APPLY


def test_a_file_that_is_named_twice():
    file = change("a.py", "abcdefghij", "aXcdefghij")
    assert told(after(file, file), comment_on(2)) == reasons.MALFORMED


def test_a_file_that_came_back_after_a_merge_deleted_it():
    merged = Commit("c2", "2026-01-02", "dev", ("c1", "other"), (ChangedFile("a.py", status="removed"),))
    assert told([*BEFORE, merged], comment_on(2)) is False
    back = commit("c3", change("a.py", "", "abc", status="added"), at=3)
    assert told([*BEFORE, merged, back], comment_on(2)) == reasons.RESTORED


def test_parents_that_go_round_in_a_circle():
    first, second = (Commit(sha, parents=(other,), files=()) for sha, other in (("c1", "c2"), ("c2", "c1")))
    assert told([first, second], comment_on(2)) == reasons.CIRCULAR


def test_a_merge_of_a_branch_that_is_in_the_list_may_bring_in_what_its_commits_did():
    side = commit("side", change("a.py", "abcdefghij", "aXcdefghij"), at=2, parents=("c0",))
    merge = commit("m", change("a.py", "abcdefghij", "aXcdefghij"), at=3, parents=("c1", "side"))
    commits = [commit("c0", change("a.py", "", "abcdefghij"), parents=("base",)), commit("c1", parents=("c0",)), side]
    assert told([*commits, merge], comment_on(2)) == reasons.MERGED
    assert told([*commits, merge], comment_on(5)) is False


def test_a_comment_on_more_lines_than_a_file_can_have_is_followed_all_the_same():
    huge = comment_on(1, 2**31 - 1)
    commits = [Commit("c1", files=()), commit("c2", change("a.py", "abc", "aXc"))]
    assert told(commits, huge) is True
    assert told(commits[:1], huge) is False
    pushed = [Commit("c1", parents=("x",), files=()), commit("n1", change("a.py", "abc", "aXc"), parents=("y",))]
    assert told(pushed, huge) == reasons.REWRITTEN
