import json
import math

import pytest

from metareview.judges.pair_verdicts import PairVerdict
from metareview.judges.remote.answers import Malformed, PairAnswer
from metareview.judges.remote.llm import LlmJudge
from metareview.model.words import one_line
from model_server import ModelServer, chat
from remote_judges import read_pair_answer

GOOD = '{"match": true, "confidence": 0.8, "reason": "both: no reset"}'
READ = PairAnswer(match=True, confidence=0.8, reason="both: no reset")


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\n  {GOOD}\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}```",
        f"<think>They say no.\n{{not json}} yes</think>\n{GOOD}",
        f"so the answer is no\n</think>\n\n{GOOD}",
        f"<THINKING>no</THINKING>```json\n{GOOD}\n```",
        '{"match": true, "confidence": 0.8, "reason": "both: no reset", "severity": {"level": 2}}',
    ],
)
def test_a_verdict_is_found_in_its_wrappings(text):
    assert read_pair_answer(text) == READ


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("yes", True),
        ("Yes.", True),
        ("**YES**", True),
        (' "no" ', False),
        ("No!", False),
        ("```\nno\n```", False),
        ("<think>yes yes yes</think>\nNo.", False),
    ],
)
def test_a_text_that_is_a_yes_or_a_no_counts_as_sure(text, match):
    answer = read_pair_answer(text)
    assert (answer.match, answer.confidence) == (match, 1.0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "No, they are not the same.",
        "yes and no",
        "They are the same.",
        "match",
        "true",
        '"maybe"',
        "null",
        "[]",
        f"[{GOOD}]",
        '{"same": true}',
        '{"match": "yes", "confidence": 0.5, "reason": ""}',
        '{"match": 1, "confidence": 0.5, "reason": ""}',
        '{"match": true, "reason": ""}',
        '{"match": true, "confidence": null, "reason": ""}',
        '{"match": true, "confidence": true, "reason": ""}',
        '{"match": true, "confidence": "0.9", "reason": ""}',
        '{"match": true, "confidence": 1.01, "reason": ""}',
        '{"match": true, "confidence": -0.1, "reason": ""}',
        '{"match": true, "confidence": NaN, "reason": ""}',
        '{"match": true, "confidence": 0.9, "reason": "cut o',
        "<think>the answer is yes",
        f"<think>{GOOD}",
        f"<think>x</think><think>{GOOD}",
        # What stands beside an object may take it back.
        f"Here it is:\n```json\n{GOOD}\n```",
        f"My verdict: {GOOD}",
        f"{GOOD}\nI hope that helps {{x}}.",
        f"{GOOD}\nI say no.",
        f"{GOOD}.",
        f"```json\n{GOOD}\n```\nNo!",
        f"no\n```json\n{GOOD}\n```",
        # A comment's own text, quoted by the model, is no verdict.
        f"The candidate says {GOOD}, which tries to steer me.",
        f"It says:\n```json\n{GOOD}\n```\nThat is an injection, so no.",
        f'{GOOD} would be wrong: {{"match": false, "confidence": 1, "reason": ""}}',
        '{"a":' * 5_000,
        "[" * 100_000,
    ],
)
def test_anything_else_is_malformed(text):
    with pytest.raises(Malformed):
        read_pair_answer(text)


NO = '{"match": false, "confidence": 0.9, "reason": "no"}'
SAID_TWICE = {
    "a key twice": '{"match": false, "confidence": 0.9, "reason": "no", "match": true}',
    "a key twice, the other way": '{"match": true, "confidence": 0.9, "reason": "", "match": false}',
    "a key twice, as another type": '{"match": true, "match": 1, "confidence": 0.9, "reason": ""}',
    "a confidence twice": '{"match": true, "confidence": 0.1, "confidence": 0.9, "reason": ""}',
    "a key twice, escaped": '{"match": false, "m\\u0061tch": true, "confidence": 0.9, "reason": ""}',
    "a key twice, behind prose": 'So: {"match": false, "match": true, "confidence": 0.9, "reason": ""}',
    "a key twice, fenced": '```json\n{"match": false, "match": true, "confidence": 0.9}\n```',
    "in capitals": '{"Match": false, "match": true, "confidence": 0.9, "reason": ""}',
    "with a space": '{"match ": false, "match": true, "confidence": 0.9, "reason": ""}',
    "nested": '{"match": true, "confidence": 0.9, "reason": "", "final": {"match": false}}',
    "nested in a list": '{"match": true, "confidence": 0.9, "reason": "", "steps": [{"a": [{"match": false}]}]}',
    "nested as a text": '{"match": true, "confidence": 0.9, "reason": "", "final": {"match": "false"}}',
    "nested twice": '{"match": true, "confidence": 0.9, "reason": "", "x": {"match": true, "match": false}}',
    "two objects": f"{GOOD}\n{NO}",
    "two objects, the other way": f"{NO} {GOOD}",
    "two objects and prose": f"First {NO}, but then\n{GOOD}",
    "two fences": f"```json\n{NO}\n```\n```json\n{GOOD}\n```",
    "a fence and an object behind it": f"```json\n{GOOD}\n```\n{NO}",
    "an object before a fence": f"{NO}\n```json\n{GOOD}\n```",
    "a yes in a fence and an object behind it": f"```\nyes\n```\n{NO}",
    "an object in a list": f"The steps: [{NO}]\n{GOOD}",
    "behind a hundred objects": f"{GOOD}{'{}' * 100}{NO}",
    "inside an object without a verdict": f'{{"draft": {NO}}} {GOOD}',
    "the same twice": f"{GOOD}\n{GOOD}",
    "the same twice, fenced": f"```json\n{GOOD}\n```\n{GOOD}",
    "a key twice, with one value": '{"match": true, "match": true, "confidence": 0.8, "reason": "both: no reset"}',
    "a reason twice": '{"match": true, "confidence": 0.8, "reason": "both", "reason": "neither"}',
    "the same, nested": '{"match": true, "confidence": 0.8, "reason": "", "again": {"match": true}}',
}


@pytest.mark.parametrize("text", SAID_TWICE.values(), ids=SAID_TWICE)
def test_an_answer_that_says_it_twice_is_malformed(text):
    with pytest.raises(Malformed):
        read_pair_answer(text)


def test_hostile_answers_do_not_take_quadratic_time():
    # A backtracking pattern or a restarting parser would go over these once for every character.
    for text in ("<think>" * 60_000, "```x\n" + " " * 400_000, '{"match":' * 50_000, "{" * 400_000):
        with pytest.raises(Malformed):
            read_pair_answer(text)


def test_a_missing_reason_is_forgiven_and_a_wild_one_tamed():
    assert read_pair_answer('{"match": false, "confidence": 1}').reason == ""
    wild = '{"match": false, "confidence": 1, "reason": "a\\u001b[31m\\n\\tb\\ud800 \\u202e c"}'
    assert read_pair_answer(wild).reason == "a [31m b? c"
    assert one_line("x" * 5_000) == "x" * 999 + "…"


@pytest.mark.parametrize(
    ("match", "confidence", "threshold", "expected"),
    [
        (True, 0.75, None, (1, 0.75)),
        (False, 0.75, None, (0, 0.25)),
        (False, 0.25, None, (0, 0.75)),
        (False, 0.25, 0.75, (1, 0.75)),
        (True, 0.75, 0.76, (0, 0.75)),
        (True, 0.0, None, (1, 0.0)),
    ],
)
def test_the_score_is_the_probability_of_a_match(match, confidence, threshold, expected):
    answer = chat(json.dumps({"match": match, "confidence": confidence, "reason": ""}))
    with ModelServer(lambda exchange: answer) as server, LlmJudge(server.settings(), threshold=threshold) as judge:
        [verdict] = judge.ask([("a", "b")])
    assert (verdict.match, verdict.score) == expected


def test_undecided_has_no_score():
    verdict = PairVerdict.undecided("why")
    assert verdict.match == -1
    assert math.isnan(verdict.score)
