"""Suggestions: how they are written, and when they were taken."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commit_lists import change, comment_on, commit, day, history
from metareview.model.comment import ChangedFile, Commit
from metareview.outcomes import reasons
from metareview.outcomes.lines import Changes
from metareview.outcomes.suggestions import Suggestion, suggestions


def block(*lines, info="suggestion"):
    return "Better:\n" + "\n".join([f"```{info}", *lines, "```"])


def found(commits, comment):
    finding = Changes(commits).fate(comment).suggestion_taken
    assert (finding.value is None) == (finding.reason is not None)
    return finding.reason if finding.value is None else finding.value


@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("no block", []),
        ("a suggestion in words", []),
        ("```python\nx\n```", []),
        ("```suggestions\nx\n```", []),
        ("```suggestion\nx\n  y\n```\nand\n~~~suggestion\nz\n~~~", [("x", "  y"), ("z",)]),
        ("```suggestion\r\nx\r\ny\r\n```\r\n", [("x", "y")]),
        ("```suggestion\n```", [()]),
        ("```suggestion\n\n```", [("",)]),
        ("````suggestion\n```\nx\n```\n````", [("```", "x", "```")]),
        ("````markdown\n```suggestion\nx\n```\n````", []),
        ("- item\n  ```suggestion\n  x\n    y\n z\n  ```", [("x", "  y", "z")]),
        ("``` suggestion\nx\n```", [("x",)]),
        ("```suggestion\nx\ny", [("x", "y")]),  # Not closed.
        ("```suggestion\nx\n~~~\ny\n```", [("x", "~~~", "y")]),
        ("say ```suggestion``` here", []),
    ],
)
def test_blocks(note, expected):
    assert [each.lines for each in suggestions(note)] == expected


def test_gitlab_says_how_many_lines_are_replaced():
    assert suggestions(block("x", info="suggestion:-1+2")) == [Suggestion(("x",), 1, 2)]
    assert suggestions(block("x", info="suggestion:-0+0"))[0].span((4, 7)) == (6, 7)
    assert suggestions(block("x", info="suggestion:-9+0"))[0].span((4, 5)) == (0, 5)
    # Line 3 and the two below it.
    assert found(history("", "abcdef", "abXf"), comment_on(3, note=block("X", info="suggestion:-0+2"))) is True
    assert found(history("", "abcdef", "abXdef"), comment_on(3, note=block("X", info="suggestion:-0+2"))) is False


@pytest.mark.parametrize(
    ("after", "lines", "first", "last", "expected"),
    [
        ("abXdef", "X", 3, 3, True),
        ("abYdef", "X", 3, 3, False),
        ("abcdef", "X", 3, 3, False),
        ("abcdefX", "X", 3, 3, False),  # Elsewhere.
        ("abXYef", "XY", 3, 4, True),
        ("abXQYef", "XY", 3, 4, False),  # Not as one.
        ("abQXYef", "XY", 3, 4, True),
        ("abcXdef", "cX", 3, 3, True),  # Only puts a line in.
        ("abXcdef", "Xc", 3, 3, True),
        ("abcdef", "cX", 3, 3, False),
        ("abdef", "", 3, 3, True),
        ("abXdef", "", 3, 3, False),
        ("abcdef", "", 3, 3, False),
        ("abcef", "c", 3, 4, True),  # Only takes one out.
        ("abcXef", "c", 3, 4, False),
        ("abcdef", "c", 3, 4, False),
        ("QXdef", "X", 3, 3, True),  # Its neighbours changed too.
    ],
)
def test_taken(after, lines, first, last, expected):
    assert found(history("", "abcdef", after), comment_on(first, last, note=block(*lines))) is expected


def test_a_place_that_was_rewritten_with_its_neighbours_does_not_tell_whether_a_line_was_only_taken_out():
    assert found(history("", "abcdef", "aXef"), comment_on(3, note=block())) == reasons.PLACE_REWRITTEN


def test_a_line_that_is_there_twice_may_be_either():
    commits = history("", "axxb", "axb")
    assert found(commits, comment_on(2, note=block())) is True
    assert found(commits, comment_on(3, note=block())) is True
    assert found(history("", "axxb", "axxbc"), comment_on(2, note=block())) is False


def test_a_diff_that_finds_suggested_lines_in_those_that_follow():
    before, after = "{\nx\n}\n\nend", "{\ny\n}\n\nz\n}\n\nend"
    # The suggestion for line 2 ends with lines that stood below it: the diff puts in what comes after them.
    assert found(history("", before, after), comment_on(2, note=block("y", "}", "", "z"))) is True


def test_no_suggestion_and_one_that_changes_nothing():
    assert found(history("", "abc", "aXc"), comment_on(2)) == reasons.NO_SUGGESTION
    assert found(history("", "abc", "aXc"), comment_on(2, note=block("b  "))) == reasons.CHANGES_NOTHING


def test_one_of_several_is_enough():
    note = block("Y") + "\nor\n" + block("X")
    assert found(history("", "abc", "aXc"), comment_on(2, note=note)) is True
    assert found(history("", "abc", "aZc"), comment_on(2, note=note)) is False
    assert found(history("", "abc", "aZc"), comment_on(2, note=note + "\n" + block("b"))) is False


def test_white_space_at_the_end_and_tabs():
    before, after = "f:\n\told\nend", "f:\n\tnew()  \r\nend"
    for suggested in ("\tnew()", "    new()", "        new()"):
        assert found(history("", before, after), comment_on(2, note=block(suggested))) is True
    assert found(history("", before, after), comment_on(2, note=block("   new()"))) is False


def test_what_counts_is_the_final_state():
    assert found(history("", "abc", "aXc", "aYc"), comment_on(2, note=block("X"))) is False
    assert found(history("", "abc", "aYc", "aXc"), comment_on(2, note=block("X"))) is True


def test_a_suggestion_that_the_bot_committed_itself_does_not_count():
    note = block("X")
    assert found(history("", "abc", "aXc", author="helper"), comment_on(2, note=note)) is False
    assert found(history("", "abc", "aXc", author="dev"), comment_on(2, note=note)) is True


def test_a_deleted_file_took_none():
    commits = [*history("", "abc"), commit("c2", ChangedFile("a.py", status="removed"), at=2)]
    assert found(commits, comment_on(2, note=block("X"))) is False


def test_not_taken_is_known_of_lines_that_nobody_saw():
    commits = [Commit("c1", day(1), files=()), commit("c2", change("b.py", "a", "b"), at=2)]
    assert found(commits, comment_on(200, 210, note=block("X"))) is False
    assert found([commits[0], Commit("c2", day(2))], comment_on(200, note=block("X"))) == reasons.NO_FILES


def test_lines_that_are_not_shown_may_be_what_is_suggested():
    numbers = [f"n{number}" for number in range(1, 31)]
    after = [*numbers[:19], "new", *numbers[20:]]
    patch = "@@ -17,7 +17,7 @@\n n17\n n18\n n19\n-n20\n+new\n n21\n n22\n n23"
    commits = [Commit("c1", day(1), files=()), commit("c2", ChangedFile("a.py", patch=patch), at=2)]
    assert found(commits, comment_on(10, 20, note=block(*after[9:20]))) == reasons.NOT_SHOWN
    assert found(commits, comment_on(10, 20, note=block(*numbers[9:19], "other"))) is False
    assert found(commits, comment_on(18, 20, note=block(*after[17:20]))) is True


def test_a_comment_that_was_moved_to_the_head_with_its_suggestion_taken_beside_it():
    commits = history("", "abc", "abXc")
    assert found(commits, comment_on(2, commit="c2", note=block("b", "X"))) is True
    assert found(commits, comment_on(1, commit="c2", note=block("a", "X"))) is False


letters = st.sampled_from("abc")


@settings(max_examples=500, deadline=None)
@given(st.lists(letters, min_size=1, max_size=12), st.data())
def test_whoever_takes_a_suggestion_as_it_is_took_it(lines, data):
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first + 1, len(lines)))
    suggested = data.draw(st.lists(st.sampled_from("abcS"), max_size=4))
    after = [*lines[:first], *suggested, *lines[last:]]
    elsewhere = data.draw(st.lists(st.sampled_from("PQ"), max_size=3))
    commits = history("", "\n".join(["^", *lines, "$"]), "\n".join(["^", *after, "$", *elsewhere]))
    comment = comment_on(first + 2, last + 1, note=block(*suggested))
    if suggested == lines[first:last]:
        assert found(commits, comment) == reasons.CHANGES_NOTHING
    else:
        assert found(commits, comment) is True
        untouched = history("", "\n".join(["^", *lines, "$"]), "\n".join(["^", *lines, "$", *elsewhere]))
        assert found(untouched, comment) is False
