"""The llm judge asked in lists, against a server that fails: what is divided, asked again, kept, and left undecided."""

import json
import random
import threading
from collections import Counter
from contextlib import suppress
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from metareview.errors import UsageError
from metareview.judges.remote.answers import Malformed
from metareview.judges.remote.cache import VerdictCache
from metareview.judges.remote.list_prompt import ListPrompt
from metareview.judges.remote.lists import NoteList
from model_server import ModelServer, ReplayModel, Reply, chat, error, matches
from remote_judges import question, same_number

JUDGING = {"ask": "review"}
VERDICTS = Path(__file__).parents[2].parent / "shared" / "data" / "martian" / "verdicts"


GRID = question([f"g {i}" for i in range(4)], [f"r {i}" for i in range(3)])
DIAGONAL = np.eye(4, 3, dtype=int).ravel().tolist()


def sizes(server):
    """How many (references, comments) each request had."""
    return [tuple(map(len, exchange.listed)) for exchange in server.log]


def is_whole(exchange):
    return tuple(map(len, exchange.listed)) == (3, 4)


def entry(reference, comment, confidence=0.9):
    return {"reference": reference, "comment": comment, "confidence": confidence, "reason": "odd"}


@pytest.mark.parametrize(
    ("odd", "asked_again"),
    [
        (entry(1, 4), (1, 4)),  # a comment that is not there: all pairs of the reference
        (entry(3, 2), (3, 1)),  # a reference that is not there: all pairs of the comment
        (entry(1, 2, 7), (1, 1)),  # a confidence that is none: this pair
    ],
)
def test_the_odd_part_of_an_answer_is_asked_again_alone(judging, cache, odd, asked_again):
    with ModelServer(lambda e: same_number(e, odd) if is_whole(e) else same_number(e)) as server:
        judge = judging(server, cache=cache)
        [answer] = judge.judge([GRID])
        assert answer.match.tolist() == DIAGONAL
        assert sizes(server) == [(3, 4), asked_again]
        assert (judge.usage.llm_calls, judge.usage.requests) == (2, 2)
        # The good rest was kept, and so was what came of the odd part: nothing is asked a second time.
        again = judging(server, cache=cache)
        assert again.planned([GRID]).calls == 0
        assert again.judge([GRID])[0].match.tolist() == DIAGONAL
        assert again.usage.cached == 12
    assert len(server.log) == 2


def test_an_odd_part_without_an_answer_is_undecided_alone_and_the_next_run_asks_for_it_alone(judging, cache):
    def odd(exchange):
        if is_whole(exchange):
            return same_number(exchange, entry(0, 9))
        return chat("")

    with ModelServer(odd) as server:
        [answer] = judging(server, cache=cache).judge([GRID])
        reference = int(server.log[0].listed[0][0].split()[-1])
        undecided = answer.match.reshape(4, 3)[:, reference]
        assert undecided.tolist() == [-1] * 4
        assert (answer.match == -1).sum() == 4
        assert all("undecided after 8 attempts" in answer.reason[row] for row in np.flatnonzero(answer.match == -1))
        asked = len(server.log)
        server.script = same_number
        judge = judging(server, cache=cache)
        assert (
            judge.planned([GRID]).calls == 1
        )  # in one list again: none of the pairs that it was divided into was answered
        assert judge.judge([GRID])[0].match.tolist() == DIAGONAL
    assert sizes(server)[asked:] == [(1, 4)]
    assert judge.usage.cached == 8


def test_an_answer_with_no_good_id_at_all_is_asked_for_again(judging):
    answers = iter([lambda e: matches(entry(7, 9)), lambda e: matches(*(entry(r, 9) for r in range(3))), same_number])
    with ModelServer(lambda e: next(answers, same_number)(e)) as server:
        judge = judging(server, concurrency=1)
        assert judge.judge([GRID])[0].match.tolist() == DIAGONAL
    # Twice, then in halves.
    assert sizes(server)[:2] == [(3, 4)] * 2
    assert len(server.log) == 4


@pytest.mark.parametrize("bad", [lambda e: chat(""), lambda e: chat('{"matches": [{"reference": 0, "comm')])
def test_one_failure_is_retried_and_two_divide_the_list(judging, cache, bad):
    seen = Counter()

    def fails(times):
        def script(exchange):
            seen[exchange.body["messages"][1]["content"]] += 1
            whole = is_whole(exchange) and seen[exchange.body["messages"][1]["content"]] <= times
            return bad(exchange) if whole else same_number(exchange)

        return script

    with ModelServer(fails(1)) as server:
        assert judging(server).judge([GRID])[0].match.tolist() == DIAGONAL
    assert sizes(server) == [(3, 4)] * 2
    seen.clear()
    with ModelServer(fails(2)) as server:
        judge = judging(server, cache=cache)
        assert judge.judge([GRID])[0].match.tolist() == DIAGONAL
        assert sizes(server)[:2] == [(3, 4)] * 2
        assert sorted(sizes(server)[2:]) == [(3, 2), (3, 2)]
        assert (judge.usage.llm_calls, judge.usage.requests) == (3, 4)
        again = judging(server, cache=cache)
        assert again.planned([GRID]).calls == 0  # that the list is divided is known
        assert list(again.judge([GRID])[0].by) == ["cache"] * 12
    assert len(server.log) == 4


def test_a_poisonous_note_costs_only_its_own_pairs(judging):
    asked = question(["g 0", "POISON 1", "g 2", "g 3"], [f"r {i}" for i in range(3)])

    def script(exchange):
        if "POISON 1" in exchange.listed[1]:
            return chat("I cannot help with that.")
        return same_number(exchange)

    with ModelServer(script) as server:
        [answer] = judging(server).judge([asked])
    right = np.array(DIAGONAL).reshape(4, 3)
    assert answer.match.reshape(4, 3)[[0, 2, 3]].tolist() == right[[0, 2, 3]].tolist()
    assert answer.match.reshape(4, 3)[1].tolist() == [-1] * 3
    assert max(server.served_lists().values()) == 1


@pytest.mark.parametrize(
    "refusal",
    [
        Reply(400, {"error": {"message": "too long", "code": "context_length_exceeded"}}),
        error(413),
        error(403, "flagged by a filter"),
    ],
)
def test_a_list_that_is_refused_is_divided_at_once(judging, cache, refusal):
    with ModelServer(lambda e: refusal if sum(map(len, e.listed)) > 3 else same_number(e)) as server:
        judge = judging(server, cache=cache, concurrency=1)
        assert judge.judge([GRID])[0].match.tolist() == DIAGONAL
        assert judge.warnings == []  # everything was answered
        asked = len(server.log)
        assert judging(server, cache=cache).judge([GRID])[0].match.tolist() == DIAGONAL
        assert len(server.log) == asked
    served = [sum(map(len, e.listed)) for e in server.log if e.served]
    assert max(served) <= 3
    assert max(server.served_lists().values()) == 1


def test_a_server_that_refuses_everything_ends_the_run_and_leaves_no_list_divided(judging, cache):
    with ModelServer(lambda e: error(400, "no such thing")) as server:
        with pytest.raises(UsageError, match="HTTP 400"):
            judging(server, cache=cache).judge([GRID])
        asked = len(server.log)
        server.script = same_number  # the setting is corrected
        assert judging(server, cache=cache).judge([GRID])[0].match.tolist() == DIAGONAL
    assert sizes(server)[asked:] == [(3, 4)]


def test_a_model_that_cannot_write_json_leaves_no_list_divided(judging, cache):
    with ModelServer(lambda e: chat("I see none.")) as server:
        [answer] = judging(server, cache=cache).judge([GRID])
        assert set(answer.match.tolist()) == {-1}
        asked = len(server.log)
        server.script = same_number
        assert judging(server, cache=cache).judge([GRID])[0].match.tolist() == DIAGONAL
    assert sizes(server)[asked:] == [(3, 4)]


def test_a_divided_list_of_which_a_part_was_answered_is_not_asked_about_whole_again(judging, cache):
    """Nothing but single pairs is served, and not all of those."""

    def script(exchange):
        if sum(map(len, exchange.listed)) > 2:
            return error(413)
        return error(422) if exchange.listed[1] == ["g 3"] else same_number(exchange)

    with ModelServer(script) as server:
        [answer] = judging(server, cache=cache).judge([GRID])
        assert answer.match.reshape(4, 3)[3].tolist() == [-1] * 3
        assert answer.match.tolist()[:9] == DIAGONAL[:9]
        asked = len(server.log)
        server.script = same_number
        assert judging(server, cache=cache).judge([GRID])[0].match.tolist() == DIAGONAL
    assert {exchange.listed[1][0] for exchange in server.log[asked:]} == {"g 3"}
    assert all(exchange.listed[1] == ["g 3"] for exchange in server.log[asked:])


def test_a_wrong_key_ends_the_run_before_anything_is_divided(judging):
    with ModelServer(lambda e: error(401)) as server, pytest.raises(UsageError, match="key is refused"):
        judging(server, concurrency=2).judge([GRID] * 3)
    assert len(server.log) <= 2


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_an_answer_that_was_cut_off_counts_for_nothing_though_it_parses(judging, finish):
    """Some servers close what a limit cut: the rest of the matches would count as noes."""

    def script(exchange):
        reply = same_number(exchange)
        if exchange.number == 0:
            content = json.dumps({"matches": []})
            return chat(content, choices=[{"message": {"content": content}, "finish_reason": finish}])
        return reply

    with ModelServer(script) as server:
        assert judging(server).judge([GRID])[0].match.tolist() == DIAGONAL
    assert len(server.log) == 2


def test_two_lists_that_leave_the_same_smaller_one_ask_for_it_once(judging):
    """Both say something odd of the same reference and comment."""
    asked = [question(["shared 1", f"g {i}"], ["shared 1"]) for i in range(2)]

    def script(exchange):
        _, comments = exchange.listed
        if len(comments) > 1:
            return matches(entry(0, comments.index("shared 1"), "sure"))
        reply = same_number(exchange)
        reply.delay = 0.05
        return reply

    with ModelServer(script) as server:
        judge = judging(server, concurrency=4)
        answers = judge.judge(asked)
    assert [answer.match.tolist() for answer in answers] == [[1, 0], [1, 0]]
    assert sorted(sizes(server)) == [(1, 1), (1, 2), (1, 2)]
    assert judge.usage.llm_calls == 3


def test_two_judges_that_share_a_cache_ask_once(judging, tmp_path):
    path = tmp_path / "verdicts.sqlite"
    questions = [question([f"g {i}", f"g {i + 1}"], [f"r {i}"]) for i in range(40)]
    answers = {}
    with ModelServer(same_number, latency=0.005) as server:
        judges = [judging(server, cache=VerdictCache(path), concurrency=4) for _ in range(2)]

        def run(number):
            answers[number] = [answer.match.tolist() for answer in judges[number].judge(questions)]

        threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers[0] == answers[1] == [[1, 0]] * 40
    assert len(server.log) == 40
    assert sum(judge.usage.llm_calls for judge in judges) == 40


class Faulty:
    """Answers as a script does, but for a share of faults of every kind."""

    def __init__(self, script, share, seed):
        self.script, self.share, self.chance = script, share, random.Random(seed)
        self.faults = Counter()

    def __call__(self, exchange):
        if self.chance.random() >= self.share:
            return self.script(exchange)
        kind = self.chance.choice(["429", "500", "drop", "cut", "truncated", "empty", "odd", "odd", "prose"])
        self.faults[kind] += 1
        good = self.script(exchange).body["choices"][0]["message"]["content"]
        if kind == "odd":
            value = json.loads(good)
            references, comments = exchange.listed
            odd = self.chance.choice(
                [entry(len(references), 0), entry(0, len(comments)), entry(0, 0, 2), entry("0", 0), entry(99, 99)]
            )
            # An answer that is odd is good for the rest of its list.
            return matches(*value["matches"], odd)
        return {
            "429": lambda: error(429, retry_after="0.001"),
            "500": lambda: error(500),
            "drop": lambda: Reply(drop=True),
            "cut": lambda: Reply(200, good, cut=5),
            "truncated": lambda: chat(good[: self.chance.randrange(1, len(good))]),
            "empty": lambda: chat(""),
            "prose": lambda: chat("I found no matches."),
        }[kind]()


def recorded(file):
    """A question per tool and pull request: its candidates and the golden comments, with the model's verdicts."""
    questions, truth = [], []
    replay = ReplayModel(file)
    for reviewed in json.loads(file.read_text(encoding="utf-8")).values():
        for result in reviewed.values():
            if result["skipped"]:
                continue
            hits, misses = result["true_positives"], result["false_positives"]
            golden = [each["golden_comment"] for each in [*hits, *result["false_negatives"]]]
            said = [hit["matched_candidate"] for hit in hits] + [miss["candidate"] for miss in misses]
            if golden and said:
                questions.append(question(said, golden))
                truth.append(
                    [replay.matches.get(pair, {"confidence": 0.0})["confidence"] for pair in product(said, golden)]
                )
    return replay, questions, truth


def usable_answers(server):
    """How often each list got an answer that says something of some pair."""
    counts = Counter()
    for exchange in server.log:
        references, comments = exchange.listed
        if exchange.served:
            with suppress(Malformed):
                ListPrompt().parse(
                    exchange.reply.body["choices"][0]["message"]["content"], NoteList.of(product(comments, references))
                )
                counts[exchange.body["messages"][1]["content"]] += 1
    return counts


@pytest.mark.parametrize("model", ["gpt-5.2", "opus-4.5", "sonnet-4.5"])
def test_recorded_verdicts_come_through_a_fifth_of_faults(judging, cache, model):
    file = VERDICTS / f"12-tools-{model}.json"
    if not file.exists():
        pytest.skip(f"no recorded verdicts: {file} is absent")
    replay, questions, truth = recorded(file)
    assert len(questions) > 250
    script = Faulty(replay.listed, 0.2, seed=7)
    with ModelServer(script) as server:
        judge = judging(server, cache=cache, concurrency=8)
        answers = judge.judge(questions)
        asked = len(server.log)
        again = judging(server, cache=cache).judge(questions)
    assert len(script.faults) == 8
    assert script.faults.total() > 50
    assert sum((answer.match == -1).sum() for answer in answers) == 0  # nothing is lost
    assert [answer.score.tolist() for answer in answers] == truth
    assert set(usable_answers(server).values()) == {1}  # and nothing is asked for twice
    assert [answer.score.tolist() for answer in again] == truth
    assert len(server.log) == asked  # nor paid for by the next run
