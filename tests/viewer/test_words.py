import re
from html import unescape

from hypothesis import given
from hypothesis import strategies as st

from metareview.report.names import clean
from metareview.viewer.words import LONGEST, word_differences


def words(*pair):
    return tuple(re.findall(r"<mark>(.*?)</mark>", each, re.DOTALL) for each in word_differences(*pair))


def test_what_only_one_note_says_is_marked():
    assert words("Close the file handle.", "The file handle leaks") == (["Close"], ["leaks"])


def test_equal_notes_have_no_marks_however_short_their_words():
    assert words("so it is", "So it is") == ([], [])


def test_small_words_in_common_tell_nothing():
    assert words("it is a leak", "is it a race") == (["it is a leak"], ["is it a race"])


def test_languages_without_spaces_are_compared_character_by_character():
    assert words("这里没有检查空指针", "没有检查指针") == (["这里", "空"], [])


def test_markup_in_notes_is_text():
    ours, theirs = word_differences("<script>alert(1)</script>", "<b>")
    assert "<script" not in ours
    assert "&lt;" in ours
    assert "<b>" not in theirs


def test_a_huge_note_is_cut():
    ours, _ = word_differences("word " * 100_000, "other")
    assert len(ours) < LONGEST + 50
    assert ours.endswith("…")


@given(st.text(max_size=300), st.text(max_size=300))
def test_without_the_marks_the_notes_are_as_they_were(a, b):
    for note, shown in zip((a, b), word_differences(a, b), strict=True):
        assert unescape(re.sub("</?mark>", "", shown)) == clean(note).strip()
