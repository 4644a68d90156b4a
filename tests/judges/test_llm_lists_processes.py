"""The llm judge asked in lists, in processes that are killed, interrupted, or share a cache."""

import inspect
import json
import random
import signal

import numpy as np

from metareview.judges.protocol import Question
from metareview.judges.remote.cache import VerdictCache
from metareview.judges.remote.llm import LlmJudge
from model_server import ModelServer, matches
from remote_judges import start, wait_for

CONCURRENCY, LISTS = 8, 120


def questions(count):
    pairs = np.array([(g, r) for g in range(3) for r in range(2)], dtype=np.int64)
    return [Question([f"g {i} {j}" for j in range(3)], [f"r {i} {j}" for j in range(2)], pairs) for i in range(count)]


CHILD = f"""
import json, sys
import numpy as np
from metareview.http.secret import Secret
from metareview.judges.protocol import Question
from metareview.judges.remote.cache import VerdictCache
from metareview.judges.remote.llm import LlmJudge
from metareview.judges.remote.settings import ModelSettings

{inspect.getsource(questions)}

url, cache, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
settings = ModelSettings(url, "test-model", Secret("k"))
judge = LlmJudge(settings, ask="review", cache=VerdictCache(cache), concurrency={CONCURRENCY}, backoff=0.01)
print("ready", flush=True)
answers = judge.judge(questions(count))
print(json.dumps({{"match": [answer.match.tolist() for answer in answers], "calls": judge.usage.llm_calls}}))
"""
RIGHT = [[1, 0, 0, 1, 0, 0]] * LISTS


def same_number(exchange):
    """Lists the notes that end in the same number. Of every fifth whole list one pair is odd, and is asked again."""
    references, comments = exchange.listed
    found = [
        {"reference": r, "comment": c, "confidence": 0.9, "reason": "x"}
        for r, reference in enumerate(references)
        for c, comment in enumerate(comments)
        if reference[1:] == comment[1:]
    ]
    if len(comments) == 3 and int(comments[0].split()[1]) % 5 == 0:
        found[0]["confidence"] = "sure"
    return matches(*found)


def text(exchange):
    """The list, without the code that each process has of its own."""
    return json.dumps(exchange.listed)


def left_to_ask(server, path):
    cache = VerdictCache(path)
    with LlmJudge(server.settings(), ask="review", cache=cache) as judge:
        return judge.planned(questions(LISTS)).calls


def test_a_run_killed_at_any_moment_asks_for_nothing_again_that_was_kept(tmp_path):
    chance = random.Random(11)
    path = tmp_path / "verdicts.sqlite"
    with ModelServer(same_number, latency=0.01) as server:
        for _ in range(4):
            before = len(server.log)
            child = start(CHILD, server.url, path, LISTS)
            wait_for(server, before + chance.randint(10, 40), child)
            child.send_signal(signal.SIGKILL)
            child.communicate()
            # Lost is at most what was on its way back at the very moment.
            asked = [text(e) for e in server.log]
            assert len(asked) - len(set(asked)) <= CONCURRENCY * 4
        left = left_to_ask(server, path)
        assert 0 < left < LISTS
        before = len(server.log)
        out, problem = start(CHILD, server.url, path, LISTS).communicate(timeout=60)
        assert problem == ""
        result = json.loads(out)
        assert result["match"] == RIGHT
        # Odd parts of what was left come on top.
        assert left <= result["calls"] == len(server.log) - before <= left + LISTS // 5
        assert left_to_ask(server, path) == 0


def test_an_interrupt_keeps_what_was_answered_and_the_next_run_asks_for_the_rest(tmp_path):
    path = tmp_path / "verdicts.sqlite"
    with ModelServer(same_number, latency=0.01) as server:
        child = start(CHILD, server.url, path, LISTS)
        wait_for(server, 40, child)
        child.send_signal(signal.SIGINT)
        _, problem = child.communicate(timeout=30)
        assert child.returncode != 0
        assert problem.rstrip().endswith("KeyboardInterrupt")
        out, problem = start(CHILD, server.url, path, LISTS).communicate(timeout=60)
        assert problem == ""
        assert json.loads(out)["match"] == RIGHT
        # Also what was under way when the interrupt came was kept: every list was asked about once.
        assert len({text(e) for e in server.log}) == len(server.log) == LISTS + LISTS // 5


def test_two_processes_share_a_cache(tmp_path):
    path = tmp_path / "verdicts.sqlite"
    with ModelServer(same_number, latency=0.02) as server:
        children = [start(CHILD, server.url, path, LISTS), start(CHILD, server.url, path, LISTS)]
        results = [child.communicate(timeout=60) for child in children]
        assert [problem for _, problem in results] == ["", ""]
        assert all(json.loads(out)["match"] == RIGHT for out, _ in results)
        # Each list once, and each odd part once: a list is claimed before it is asked about.
        assert len({text(e) for e in server.log}) == len(server.log) == LISTS + LISTS // 5
        assert sum(json.loads(out)["calls"] for out, _ in results) == len(server.log)
