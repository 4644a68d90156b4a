"""List questions: what is in one, in which order, and how too many notes are cut."""

import json
import random
from collections import Counter
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.judges.remote.list_prompt import ListPrompt
from metareview.judges.remote.lists import MOST_CHARACTERS, MOST_NOTES, NoteList, closing_instruction, cut, instruction

FILLINGS = ("x", '"', "\n", "\\", "\x01", "é", "𝄞", "</note>")


@st.composite
def questions(draw):
    """Pairs over up to 90 x 90 notes of all lengths, from a few pairs to all of them."""
    chance = random.Random(draw(st.integers(0, 10_000)))
    longest, most = draw(st.sampled_from([(5, 90), (2_000, 90), (40_000, 9)]))
    sizes = draw(st.integers(1, most)), draw(st.integers(1, most))
    filling = draw(st.sampled_from(FILLINGS))
    sides = [
        [f"{side} {i} " + filling * (chance.randrange(longest) // len(filling)) for i in range(size)]
        for side, size in zip(("comment", "reference"), sizes, strict=True)
    ]
    pairs = list(product(*sides))
    share = draw(st.sampled_from([0.005, 0.05, 0.5, 1.0]))
    return chance.sample(pairs, max(1, int(share * len(pairs))))


@settings(max_examples=40, deadline=None)
@given(questions())
def test_every_pair_is_in_one_list_and_no_list_is_too_long(pairs):
    parts = cut(pairs)
    assert Counter(pair for part in parts for pair in part.pairs) == Counter(pairs)
    for part in parts:
        assert set(part.comments) == {comment for comment, _ in part.pairs}
        assert set(part.references) == {reference for _, reference in part.pairs}
        assert max(len(part.comments), len(part.references)) <= MOST_NOTES
        assert len(part.text) <= MOST_CHARACTERS or (len(part.comments), len(part.references)) == (1, 1)


@settings(max_examples=40, deadline=None)
@given(questions(), st.randoms())
def test_the_order_of_the_input_carries_nothing(pairs, chance):
    shuffled = chance.sample(pairs, len(pairs))
    assert [part.text for part in cut(shuffled)] == [part.text for part in cut(pairs)]


@settings(max_examples=40, deadline=None)
@given(questions())
def test_smaller_lists_are_smaller_and_hold_every_pair_once(pairs):
    part = cut(pairs)[0]
    if len(part.pairs) > 1:
        smaller = part.smaller(part.pairs)
        assert len(smaller) == 2
        assert Counter(pair for each in smaller for pair in each.pairs) == Counter(part.pairs)
        notes = len(part.comments) + len(part.references)
        assert all(len(each.comments) + len(each.references) < notes for each in smaller)


def test_a_part_of_a_list_is_one_list_if_it_has_fewer_notes_and_else_two():
    whole = NoteList.of(product("abc", "xyz"))
    [row] = whole.smaller([("a", "x"), ("b", "x"), ("c", "x")])
    assert (sorted(row.comments), row.references) == (["a", "b", "c"], ("x",))
    diagonal = whole.smaller([("a", "x"), ("b", "y"), ("c", "z")])
    assert sorted(len(part.pairs) for part in diagonal) == [1, 2]


def test_the_message_is_one_json_object_and_nothing_else():
    [part] = cut([("Reset it. 😀", 'Say "no"'), ("Reset it. 😀", "b")])
    assert json.loads(part.text) == {
        "references": [{"id": i, "note": note} for i, note in enumerate(part.references)],
        "comments": [{"id": 0, "note": "Reset it. 😀"}],
        "request": part.code,
        "task": closing_instruction(),
    }
    assert sorted(part.references) == ['Say "no"', "b"]
    assert part.text.startswith('{"references":[{"id":0,"note":"')
    # The last word is ours.
    assert part.text.endswith(
        f'],"comments":[{{"id":0,"note":"Reset it. 😀"}}],"request":"{part.code}","task":"{closing_instruction()}"}}'
    )
    assert ListPrompt().messages(part) == [
        {"role": "system", "content": instruction()},
        {"role": "user", "content": part.text},
    ]
    assert ListPrompt().characters(part) == len(instruction()) + len(part.text)


def test_equal_notes_are_one_entry():
    [part] = cut([("a", "r"), ("a", "r"), ("b", "r")])
    assert (len(part.references), len(part.comments), len(part.pairs)) == (1, 2, 2)


def test_equal_comments_and_references_do_not_stand_in_the_same_order():
    """Else the ids of copied references would give them away."""
    notes = [f"note {i}" for i in range(30)]
    [part] = cut(product(notes, notes))
    assert sorted(part.comments) == sorted(part.references)
    assert part.comments != part.references
    assert list(part.comments) != sorted(part.comments)


def test_a_note_is_not_always_the_first():
    first = {cut([(f"c {i}", "a"), (f"c {i}", "b")])[0].references[0] for i in range(20)}
    assert first == {"a", "b"}


def test_the_instruction_is_short_since_every_call_pays_for_it():
    assert len(instruction()) + len(closing_instruction()) < 1_450


def test_what_location_keeps_apart_is_packed_into_few_lists():
    """100 comments, each with one reference beside it: 3 lists of up to 40, not the 9 that blocks of 40 x 40 give."""
    pairs = [(f"comment {i}", f"reference {i}") for i in range(100)]
    assert sorted(len(part.pairs) for part in cut(pairs)) == [20, 40, 40]


def test_blocks_are_even():
    assert sorted(len(part.comments) for part in cut(product((f"c {i}" for i in range(82)), "r"))) == [27, 27, 28]


@pytest.mark.parametrize("length", [59_000, 100_000])
def test_a_note_that_leaves_no_room_is_asked_about_pair_by_pair(length):
    parts = cut([("y" * length, f"reference {i} " + "z" * 1_000) for i in range(3)])
    assert [(len(part.comments), len(part.references)) for part in parts] == [(1, 1)] * 3


def test_long_notes_are_divided_where_the_text_is():
    """40 references of 4,000 characters and 40 short comments: 4 lists or so, each with all comments."""
    references = [f"{i} " + "z" * 4_000 for i in range(40)]
    parts = cut(product((f"c {i}" for i in range(40)), references))
    assert {len(part.comments) for part in parts} == {40}
    assert 3 <= len(parts) <= 4
