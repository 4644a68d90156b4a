"""What a model may answer to a list question, and what each answer says of which pairs."""

import json
from itertools import product

import pytest

from metareview.judges.remote.answers import Malformed, PairAnswer
from metareview.judges.remote.list_prompt import DIVIDED, NOT_LISTED, ListAnswer, ListPrompt
from metareview.judges.remote.lists import NoteList

NOTES = NoteList.of(product(["c a", "c b", "c c"], ["r a", "r b"]))  # ids: 0 to 2, 0 and 1


def kept_list_answer(value, notes):
    return ListPrompt().from_json(notes, value)


def entry(reference, comment, confidence=0.8, **more):
    return {"reference": reference, "comment": comment, "confidence": confidence, "reason": "why", **more}


def read(*entries):
    return ListPrompt().parse(json.dumps({"matches": entries}), NOTES)


def open_ids(answer):
    """The pairs that an answer leaves open, as (reference, comment)."""
    return {
        (NOTES.references.index(reference), NOTES.comments.index(comment))
        for (comment, reference), verdict in answer.verdicts(NOTES).items()
        if verdict is None
    }


def test_what_is_listed_is_a_match_and_everything_else_is_none():
    answer = read(entry(0, 1, 0.8), entry(1, 1, 1), entry(0, 2, 0))
    verdicts = answer.verdicts(NOTES)
    assert verdicts[NOTES.comments[1], NOTES.references[0]].confidence == 0.8
    assert verdicts[NOTES.comments[2], NOTES.references[0]].match is True
    assert verdicts[NOTES.comments[0], NOTES.references[0]] is NOT_LISTED
    assert sum(verdict is NOT_LISTED for verdict in verdicts.values()) == 3
    assert read().verdicts(NOTES) == dict.fromkeys(NOTES.pairs, NOT_LISTED)


ROW = {(0, 0), (0, 1), (0, 2)}
COLUMN = {(0, 1), (1, 1)}


@pytest.mark.parametrize(
    ("odd", "left_open"),
    [
        (entry(0, 3), ROW),
        (entry(0, -1), ROW),
        (entry(0, "1"), ROW),
        (entry(0, 1.0), ROW),
        (entry(0, True), ROW),
        (entry(0, None), ROW),
        ({"reference": 0, "confidence": 1}, ROW),
        (entry(2, 1), COLUMN),
        (entry([0], 1), COLUMN),
        (entry(10**30, 1), COLUMN),
        (entry(0, 1, 1.5), {(0, 1)}),
        (entry(0, 1, -0.1), {(0, 1)}),
        (entry(0, 1, "high"), {(0, 1)}),
        (entry(0, 1, True), {(0, 1)}),
        (entry(0, 1, float("nan")), {(0, 1)}),
        ({"reference": 0, "comment": 1}, {(0, 1)}),
        (entry(0, 1, match=False), {(0, 1)}),
    ],
)
def test_an_odd_entry_leaves_its_own_pairs_open_and_the_rest_holds(odd, left_open):
    answer = read(entry(1, 2, 0.7), odd, entry(0, 1, 0.9))
    assert open_ids(answer) == left_open
    assert answer.matches == {(1, 2): PairAnswer(True, 0.7, "why")}
    assert answer.verdicts(NOTES)[NOTES.comments[2], NOTES.references[1]].confidence == 0.7
    assert kept_list_answer(json.loads(json.dumps(answer.to_json())), NOTES) == answer


def test_the_same_match_twice_holds_unless_the_two_differ():
    assert read(entry(0, 1), entry(0, 1, reason="other words")).open == ()
    assert read(entry(0, 1, 0.8), entry(0, 1, 0.3), entry(0, 1, 0.8)).open == ((0, 1),)


@pytest.mark.parametrize("said", [False, "no", None, 0])
def test_an_entry_that_says_that_it_is_no_match_is_odd(said):
    answer = read(entry(0, 1, 0.9, match=said))
    assert (answer.matches, answer.open) == ({}, ((0, 1),))


def test_an_entry_may_lack_its_reason_and_say_that_it_is_a_match():
    answer = read({"reference": 0, "comment": 0, "confidence": 1, "match": True}, entry(1, 1, reason=None))
    assert [match.reason for match in answer.matches.values()] == ["", ""]
    assert answer.open == ()


GOOD = '{"matches": [{"reference": 1, "comment": 0, "confidence": 0.5, "reason": "x"}]}'


@pytest.mark.parametrize("text", [GOOD, f"<think>{{not json}} or is it 0?</think>\n{GOOD}", f"```json\n{GOOD}\n```"])
def test_thinking_and_a_fence_around_the_answer_are_tolerated(text):
    assert ListPrompt().parse(text, NOTES).matches == {(1, 0): PairAnswer(True, 0.5, "x")}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "none",
        "no matches",
        "[]",
        "{}",
        '{"matches": null}',
        '{"matches": {}}',
        '{"matches": "none"}',
        '{"matches": [0]}',
        '{"matches": [[0, 1]]}',
        GOOD[:-1],
        GOOD[:-2],
        GOOD[:40],
        f"<think>{GOOD}",
        '{"matches": [], "matches": [{"reference": 0, "comment": 0, "confidence": 1}]}',
        f'{{"matches": []}} or rather {GOOD}',
        '{"matches": [{"reference": 0, "comment": 0, "confidence": 1, "matches": []}]}',
        '{"matches": [{"reference": 0, "reference": 1, "comment": 0, "confidence": 1}]}',
        '{"matches": [{"reference": 7, "comment": 9, "confidence": 1}]}',
        '{"matches": [{}]}',
        f"Here is what I found:\n{GOOD}",
        f"{GOOD}\nI hope that this helps.",
        f"{GOOD}\n\n{GOOD}",
        f"A comment says {GOOD} but that is no answer",
    ],
)
def test_an_answer_that_is_none_or_cut_off_says_nothing_about_any_pair(text):
    with pytest.raises(Malformed):
        ListPrompt().parse(text, NOTES)


def test_an_answer_that_leaves_every_pair_open_is_none():
    with pytest.raises(Malformed, match="were not in the list"):
        read(entry(0, 9), entry(1, 9))


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"matches": []},
        {"matches": [], "open": {}},
        {"matches": [], "open": [7]},
        {"matches": [], "open": [{"reference": 2, "comment": None}]},
        {"matches": [entry(0, 3)], "open": []},
    ],
)
def test_a_stored_value_that_is_no_answer_to_this_list_is_refused(value):
    with pytest.raises(Malformed):
        kept_list_answer(value, NOTES)


def test_a_divided_list_is_kept_with_every_pair_open():
    assert kept_list_answer(json.loads(json.dumps(DIVIDED.to_json())), NOTES) == DIVIDED
    assert len(open_ids(DIVIDED)) == 6
    assert ListAnswer().verdicts(NOTES) == dict.fromkeys(NOTES.pairs, NOT_LISTED)


def test_a_stored_value_cannot_leave_a_single_pair_open():
    alone = NoteList.of([("c a", "r a")])
    for left_open in (DIVIDED, ListAnswer(open=((0, 0),))):
        with pytest.raises(Malformed):
            kept_list_answer(left_open.to_json(), alone)
    assert kept_list_answer(ListAnswer().to_json(), alone) == ListAnswer()
