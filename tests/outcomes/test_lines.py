"""What counts as a change, worked out by hand. A letter is a line."""

import pytest

from commit_lists import change, comment_on, commit, day, history
from metareview.model.comment import ChangedFile, Comment
from metareview.outcomes import reasons
from metareview.outcomes.lines import Changes


def changed(commits, comment, **more):
    fate = Changes(commits, until=more.pop("until", None)).fate(comment, **more)
    return fate.lines_changed.value


def why(commits, comment, **more):
    finding = Changes(commits, until=more.pop("until", None)).fate(comment, **more).lines_changed
    assert finding.value is None
    assert finding.reason in reasons.REASONS
    return finding.reason


@pytest.mark.parametrize(
    ("after", "first", "last", "expected"),
    [
        ("abXdef", 3, 3, True),  # replaced
        ("abdef", 3, 3, True),  # removed
        ("abcXdef", 3, 4, True),  # put between
        ("abXcdef", 3, 4, False),  # put directly before
        ("abcdXef", 3, 4, False),  # put directly after
        ("abcdeX", 3, 4, False),  # elsewhere
        ("XXXabcdef", 3, 4, False),  # shifted
        ("abdef", 2, 5, True),
        ("ef", 1, 2, True),
    ],
)
def test_a_change_takes_out_a_line_or_puts_one_between(after, first, last, expected):
    assert changed(history("", "abcdef", after), comment_on(first, last)) is expected


def test_lines_are_followed_through_shifts_and_a_rename_until_they_change():
    commits = [
        *history("abcdef", "abcdef", "XYabcdef"),
        commit("c3", ChangedFile("b.py", "a.py", "renamed", ""), at=3, author="dev"),
        commit("c4", change("b.py", "XYabcdef", "XYabCdef"), at=4, author="dev"),
    ]
    fate = Changes(commits).fate(comment_on(3))
    assert fate.lines_changed.value is True
    assert fate.changed_by == ("c4",)
    assert fate.final_lines == (5, 5)
    assert Changes(commits[:3]).fate(comment_on(3)).final_lines == (5, 5)
    assert changed(commits, comment_on(4)) is False


def test_a_copy_is_not_a_move():
    commits = [
        *history("", "abcdef"),
        commit("c2", ChangedFile("b.py", "a.py", "copied", ""), at=2),
        commit("c3", change("b.py", "abcdef", "abXdef"), at=3),
    ]
    assert changed(commits, comment_on(3)) is False
    assert changed([*commits, commit("c4", change("a.py", "abcdef", "abYdef"))], comment_on(3)) is True
    assert changed(commits, comment_on(3, path="b.py", commit="c2", at=day(2.5))) is True


def test_renames_are_followed_backwards():
    commits = [
        *history("", "abcdef", "abXdef"),
        commit("c3", ChangedFile("b.py", "a.py", "renamed", ""), at=3, author="dev"),
    ]
    # It was made on day 1.5, and is shown where its line is now.
    moved = comment_on(3, commit="c3", path="b.py")
    assert Changes(commits).fate(moved).changed_by == ("c2",)
    assert changed(commits, comment_on(4, commit="c3", path="b.py")) is False


def test_a_deleted_file_is_a_change():
    commits = [*history("", "abc"), commit("c2", ChangedFile("a.py", status="removed"), at=2, author="dev")]
    fate = Changes(commits).fate(comment_on(2))
    assert (fate.lines_changed.value, fate.changed_by, fate.final_lines) == (True, ("c2",), None)
    shown = ChangedFile("a.py", status="removed", patch="@@ -1,3 +0,0 @@\n-a\n-b\n-c")
    assert changed([commits[0], commit("c2", shown)], comment_on(2)) is True


def test_a_merge_shifts_and_never_counts():
    commits = history("", "abcdef", "XabCdef", "XabQdef")
    merge = commit("c2", *commits[1].files, at=2, author="dev", parents=("c1", "other"))
    assert changed([commits[0], merge], comment_on(3)) is False
    # What it put in the place of the line is still what the comment is about.
    assert Changes([commits[0], merge, commits[2]]).fate(comment_on(3)).changed_by == ("c3",)


@pytest.mark.parametrize(
    ("author", "committer", "pr_author", "expected"),
    [
        ("helper[bot]", "Helper", None, False),
        ("helper[bot]", "helper[bot]", "helper[bot]", False),
        ("ann", "Ann", None, False),
        ("ann", "ann", "Ann", True),  # The author of the pull request heeds their own comment.
        ("ann", "bob", "bob", True),
        ("ann", None, "bob", True),
        (None, "scanner", None, False),
        (None, "other", None, True),
    ],
)
def test_whose_commits_count(author, committer, pr_author, expected):
    commits = history("", "abc", "aXc", author=committer)
    assert changed(commits, comment_on(2, author=author), reviewer="scanner", pr_author=pr_author) is expected


def test_an_ai_that_uses_the_author_s_name_is_no_author():
    commits = history("", "abc", "aXc", author="ann")
    assert changed(commits, comment_on(2, author="ann", is_ai_comment=True), pr_author="ann") is False


def test_what_its_own_author_made_of_the_lines_is_followed():
    own = history("", "abc", "aXYc", author="helper[bot]")
    last = commit("c3", change("a.py", "aXYc", "aXc"), at=3, author="dev")
    assert Changes([*own, last]).fate(comment_on(2)).changed_by == ("c3",)


def test_only_commits_between_the_comment_and_the_end_count():
    commits = history("", "abc", "aXc", "aYc")
    assert Changes(commits).fate(comment_on(2, at=day(2))).changed_by == ("c3",)
    assert changed(commits, comment_on(2, at=day(3))) is False
    assert changed(commits, comment_on(2), until=day(1.75)) is False
    assert Changes(commits, until=day(2)).fate(comment_on(2)).changed_by == ("c2",)
    undated = [commit(each.sha, *each.files) for each in commits]
    assert Changes(undated).fate(comment_on(2, at=None)).changed_by == ("c2", "c3")


def test_a_comment_without_a_commit_was_made_on_the_last_one_before_it():
    commits = history("", "abc", "Xabc", "XaYc")
    assert changed(commits, comment_on(3, commit=None, at=day(2.5))) is True
    assert changed(commits, comment_on(2, commit=None, at=day(2.5))) is False
    assert why(commits, comment_on(2, commit=None, at=None)) == reasons.NO_TIME
    assert why(commits, comment_on(2, commit=None, at="2025-12-31")) == reasons.NO_COMMIT_BEFORE


def test_a_commit_is_found_by_an_abbreviated_hash():
    first, second = history("", "abc", "aXc")
    named = [commit("0a1b2c3d4e5f", *first.files), commit("0a1b2c3dffff", *second.files)]
    assert changed(named, comment_on(2, commit="0A1B2C3D4")) is True
    assert why(named, comment_on(2, commit="0a1b2c3")) == reasons.AMBIGUOUS_COMMIT
    assert why(named, comment_on(2, commit="0a1b2")) == reasons.NOT_IN_LIST
    short = [commit("0a1b2c3", *first.files), commit("0a1b2c4", *second.files)]
    assert changed(short, comment_on(2, commit="0a1b2c3d4e5f")) is True


def test_a_comment_that_github_moved_to_the_head_sees_what_changed_since_it_was_made():
    commits = history("", "abcdef", "Xabcdef", "XabcQdef")
    # Lines 4 and 5 of c3 were lines 3 and 4 of c1; Q was put between them on day 3.
    assert Changes(commits).fate(comment_on(4, 6, commit="c3")).changed_by == ("c3",)
    assert changed(commits, comment_on(4, 4, commit="c3")) is False


def test_a_comment_cannot_be_older_than_all_of_its_lines():
    commits = history("", "abc", "abXYc")
    # A clock that is wrong, or a commit that was made anew: nobody could have commented on X before day 2.
    assert why(commits, comment_on(3, commit="c2")) == reasons.DATES
    assert why(commits, comment_on(2, commit="c1", at="2025-12-31")) == reasons.DATES
    replaced = history("", "abc", "aXc")
    assert changed(replaced, comment_on(2, commit="c2")) is True
    # GitHub says that these lines are as they were.
    assert why(replaced, comment_on(2, commit="c2", outdated=False)) == reasons.DATES


def test_a_line_end_is_no_change():
    crlf = "@@ -1,3 +1,3 @@\n-a\r\n-b\r\n-c\r\n+a\n+b\n+c"
    no_end = "@@ -1,3 +1,3 @@\n a\n b\n-c\n+c\n\\ No newline at end of file"
    for patch in (crlf, no_end):
        commits = [*history("", "abc"), commit("c2", ChangedFile("a.py", patch=patch), at=2)]
        assert changed(commits, comment_on(1, 3)) is False
    mixed = "@@ -1,3 +1,4 @@\r\n-a\r\n-b\r\n-c\r\n+a\r\n+b\r\n+X\r\n+c\r\n"
    commits = [*history("", "abc"), commit("c2", ChangedFile("a.py", patch=mixed), at=2)]
    assert changed(commits, comment_on(2, 3)) is True
    assert changed(commits, comment_on(1, 2)) is False


def test_the_code_is_there_to_read():
    numbers = [f"line {number}" for number in range(1, 31)]
    later = [*numbers[:9], "new", *numbers[10:29], "far"]
    fate = Changes(history("\n".join(["x", "y"]), "\n".join(numbers), "\n".join(later))).fate(comment_on(10))
    assert fate.code == "\n".join(numbers[6:13])
    untouched = Changes(history("", "abc")).fate(comment_on(1))
    assert untouched.code == "a\nb\nc"


def test_paths_are_compared_as_elsewhere():
    assert changed(history("", "abc", "aXc", path="src/a.py"), comment_on(2, path="./src\\a.py")) is True


def test_a_comment_object_of_no_author_is_followed():
    assert changed(history("", "abc", "aXc"), Comment("?", path="a.py", to_line=2, commit="c1")) is True
