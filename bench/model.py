"""How well the llm judge keeps a model busy, and whether faults of the server make it lose or repeat a call.

The server runs in a process of its own, as a real one would, and keeps the clock: from the arrival of the
first request to the end of the last answer, against calls x latency / concurrency.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from bench.measure import Result, Row, compared
from metareview.judges.protocol import Question
from metareview.judges.remote.cache import VerdictCache
from metareview.judges.remote.llm import LlmJudge
from metareview.judges.remote.settings import ModelSettings

TESTS = Path(__file__).resolve().parents[1] / "tests"
CALLS, LATENCY, CONCURRENCY, FAULTS = 800, 0.05, 16, 0.2
PAIRS = [(f"The counter {i} is never reset. " * 8, f"Reset counter {i}. " * 8) for i in range(CALLS)]
COMMENTS, REFERENCES = 6, 4  # of each list


def run() -> Result:
    """The figures of the llm judge, as rows of a table."""
    with tempfile.TemporaryDirectory() as folder:
        cache = VerdictCache(Path(folder) / "verdicts.sqlite")
        ratio = full_concurrency(cache)
        in_lists = full_concurrency_in_lists(VerdictCache(Path(folder) / "lists.sqlite"))
        lookups = from_the_cache(cache)
        lost, repeated = under_faults(VerdictCache(Path(folder) / "faults.sqlite"))
    what = "first to last request / (calls x latency / concurrency)"
    each = f"of {LATENCY * 1000:.0f} ms, {CONCURRENCY} at once"
    lists = f"{COMMENTS} comments and {REFERENCES} references in each"
    rows = [
        Row(f"{what}, {CALLS} calls {each}", ratio, "", "<= 1.25", ratio <= 1.25),
        Row(f"{what}, {CALLS} list calls {each}, {lists}", in_lists, "", "<= 1.15", in_lists <= 1.15),
        Row("calls lost at a fault rate of 20 %", lost, "calls", "0", lost == 0),
        Row("calls repeated at a fault rate of 20 %", repeated, "calls", "0", repeated == 0),
        Row("pairs answered from the cache", lookups, "pairs/s"),
    ]
    return Result("The llm judge", [*rows, *ratios().rows])


def ratios() -> Result:
    """Processor time of calls: the whole judge, with its prompts, checks, counts and cache, against only sending."""
    with _serving() as server, tempfile.TemporaryDirectory() as folder:
        address, number = server.stdout.readline().strip(), iter(range(100))

        def ours() -> int:
            cache = VerdictCache(Path(folder) / f"{next(number)}.sqlite")
            with LlmJudge(ModelSettings(address, "bench"), concurrency=CONCURRENCY, cache=cache) as judge:
                return sum(verdict.match == 1 for verdict in judge.ask(PAIRS))

        def theirs() -> int:
            with httpx.Client(trust_env=False) as client, ThreadPoolExecutor(CONCURRENCY) as pool:
                said = pool.map(lambda pair: _sent(client, address, pair), PAIRS)
                return sum('"match": true' in answer for answer in said)

        assert ours() == theirs() == CALLS
        found = compared(ours, theirs, rounds=3)
        server.communicate()
    return Result("The llm judge", [Row.ratio(f"{CALLS} calls, processor time", found.ratio, peer="httpx in threads")])


def _sent(client: httpx.Client, address: str, pair: tuple[str, str]) -> str:
    message = {"role": "user", "content": "Is it the same issue? Answer in JSON.\n" + "\n".join(pair)}
    answer = client.post(f"{address}/chat/completions", json={"model": "bench", "messages": [message]})
    answer.raise_for_status()
    told: str = answer.json()["choices"][0]["message"]["content"]
    return told


def _serving(*words: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(TESTS / "model_server.py"), str(LATENCY), *words]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def full_concurrency(cache: VerdictCache) -> float:
    return ratio_to_ideal(lambda judge: judge.ask(PAIRS), cache=cache)


def full_concurrency_in_lists(cache: VerdictCache) -> float:
    pairs = np.array([(g, r) for g in range(COMMENTS) for r in range(REFERENCES)], dtype=np.int64)
    questions = [
        Question(
            [f"{generated} Comment {n}." for n in range(COMMENTS)],
            [f"{reference} Reference {n}." for n in range(REFERENCES)],
            pairs,
        )
        for generated, reference in PAIRS
    ]
    return ratio_to_ideal(lambda judge: judge.judge(questions), "lists", ask="review", cache=cache)


def ratio_to_ideal(use: Callable[[LlmJudge], object], *serving: str, **options: Any) -> float:
    """How long the server saw requests for, against the time that they take with as many as allowed under way."""
    with _serving(*serving) as server:
        settings = ModelSettings(server.stdout.readline(), "bench")
        with LlmJudge(settings, concurrency=CONCURRENCY, **options) as judge:
            use(judge)
        out, _ = server.communicate()
    seen = json.loads(out)
    assert seen["requests"] == judge.usage.requests == CALLS
    return seen["seconds"] / (CALLS * LATENCY / CONCURRENCY)


def from_the_cache(cache: VerdictCache) -> float:
    server = cache.info().by[0].server  # it has ended: nothing can be asked
    with LlmJudge(ModelSettings(server, "bench"), cache=cache) as judge:
        started = time.perf_counter()
        assert all(verdict.by == "cache" for verdict in judge.ask(PAIRS))
        return CALLS / (time.perf_counter() - started)


def under_faults(cache: VerdictCache) -> tuple[int, int]:
    """Calls without a verdict, and good answers beyond one per pair."""
    sys.path.insert(0, str(TESTS))
    from model_server import ModelServer, Reply, chat, error, verdict

    chance = random.Random(3)
    kinds = [
        lambda: error(429),
        lambda: error(500),
        lambda: Reply(drop=True),
        lambda: Reply(body="{"),
        lambda: chat(""),
        lambda: chat('{"same": true}'),
        lambda: error(429, retry_after="0.01"),
    ]
    with (
        ModelServer(lambda e: chance.choice(kinds)() if chance.random() < FAULTS else verdict(True)) as server,
        LlmJudge(server.settings(), cache=cache, concurrency=CONCURRENCY, backoff=0.01) as judge,
    ):
        verdicts = judge.ask(PAIRS)
    lost = sum(verdict.match != 1 for verdict in verdicts)
    return lost, sum((server.served() - Counter(PAIRS)).values())
