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
from pathlib import Path
from typing import Any

import numpy as np

from metareview.judges.protocol import Question
from metareview.judges.remote.cache import VerdictCache
from metareview.judges.remote.llm import LlmJudge
from metareview.judges.remote.settings import ModelSettings

TESTS = Path(__file__).resolve().parents[1] / "tests"
CALLS, LATENCY, CONCURRENCY, FAULTS = 800, 0.05, 16, 0.2
PAIRS = [(f"The counter {i} is never reset. " * 8, f"Reset counter {i}. " * 8) for i in range(CALLS)]
COMMENTS, REFERENCES = 6, 4  # of each list


def run() -> dict[str, object]:
    """The figures of the llm judge, as rows of a table."""
    with tempfile.TemporaryDirectory() as folder:
        cache = VerdictCache(Path(folder) / "verdicts.sqlite")
        ratio = full_concurrency(cache)
        in_lists = full_concurrency_in_lists(VerdictCache(Path(folder) / "lists.sqlite"))
        lookups = from_the_cache(cache)
        lost, repeated = under_faults(VerdictCache(Path(folder) / "faults.sqlite"))
    what = f"first to last request / (calls x latency / concurrency), {CALLS} calls of {LATENCY * 1000:.0f} ms, "
    return {
        "title": "The llm judge",
        "rows": [
            row(what + f"{CONCURRENCY} at once", round(ratio, 3), "ratio", 1.25, ratio <= 1.25),
            row(
                what.replace("calls of", "list calls of") + f"{CONCURRENCY} at once, {COMMENTS} comments and "
                f"{REFERENCES} references in each",
                round(in_lists, 3),
                "ratio",
                1.15,
                in_lists <= 1.15,
            ),
            row("calls lost at a fault rate of 20 %", lost, "calls", 0, lost == 0),
            row("calls repeated at a fault rate of 20 %", repeated, "calls", 0, repeated == 0),
            row("pairs answered from the cache", round(lookups), "pairs/s", None, None),
        ],
    }


def row(what: str, value: float, unit: str, target: float | None, met: bool | None) -> dict[str, object]:
    return {"what": what, "value": value, "unit": unit, "target": target, "met": met}


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
    command = [sys.executable, str(TESTS / "model_server.py"), str(LATENCY), *serving]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        settings = ModelSettings(server.stdout.readline(), "bench")
        with LlmJudge(settings, concurrency=CONCURRENCY, **options) as judge:
            use(judge)
        out, _ = server.communicate()
    seen = json.loads(out)
    assert seen["requests"] == judge.usage.requests == CALLS
    return seen["seconds"] / (CALLS * LATENCY / CONCURRENCY)


def from_the_cache(cache: VerdictCache) -> float:
    with LlmJudge(ModelSettings("http://127.0.0.1:9/v1", "bench"), cache=cache) as judge:
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


if __name__ == "__main__":
    print(json.dumps(run(), indent=1))
