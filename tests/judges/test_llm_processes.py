"""The llm judge in processes that are killed, interrupted, or share a cache."""

import json
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from metareview.judges.remote.cache import VerdictCache
from metareview.judges.remote.llm import LlmJudge
from model_server import ModelServer, ReplayModel, Reply, verdict
from remote_judges import start, wait_for

CONCURRENCY = 8
PAIRS = [(f"generated {i}", f"reference {i}") for i in range(240)]
CHILD = """
import json, sys
from metareview.judges.remote.cache import VerdictCache
from metareview.judges.remote.llm import LlmJudge
from metareview.http.secret import Secret
from metareview.judges.remote.settings import ModelSettings
url, cache, pairs = sys.argv[1], sys.argv[2], int(sys.argv[3])
judge = LlmJudge(ModelSettings(url, "test-model", Secret("k")), cache=VerdictCache(cache), concurrency=8)
print("ready", flush=True)
verdicts = judge.ask([(f"generated {i}", f"reference {i}") for i in range(pairs)])
print(json.dumps({"match": [v.match for v in verdicts], "calls": judge.usage.llm_calls}))
"""


def last_digit_even(exchange):
    return verdict(exchange.notes[0][-1] in "02468")


def known(path, server):
    """The pairs that the cache holds, looked up as a judge would."""
    with LlmJudge(server.settings(), cache=VerdictCache(path)) as judge:
        return {pair for pair in PAIRS if not judge.uncached([pair])}


def test_a_run_killed_at_any_moment_asks_for_nothing_again_that_was_answered(tmp_path):
    chance = random.Random(11)
    path = tmp_path / "verdicts.sqlite"
    kept = set()
    with ModelServer(last_digit_even, latency=0.01) as server:
        for _ in range(5):
            before = len(server.log)
            child = start(CHILD, server.url, path, len(PAIRS))
            wait_for(server, before + chance.randint(1, 60), child)
            child.send_signal(signal.SIGKILL)
            child.communicate()
            served = {e.notes for e in server.log[before:] if e.served and e.ended}
            assert not kept & {e.notes for e in server.log[before:]}  # nothing that was in the cache is asked
            kept = known(path, server)
            # Lost is at most what was on its way back at the very moment.
            assert len(served - kept) <= CONCURRENCY
            assert len(kept) > 0 or before == 0
        before = len(server.log)
        out, problem = start(CHILD, server.url, path, len(PAIRS)).communicate(timeout=60)
    assert problem == ""
    result = json.loads(out)
    assert result["match"] == [1 - i % 2 for i in range(240)]
    assert {e.notes for e in server.log[before:]} == set(PAIRS) - kept
    assert result["calls"] == 240 - len(kept)
    assert len(kept) > 50


def test_an_interrupt_ends_the_run_and_keeps_what_was_answered(tmp_path):
    path = tmp_path / "verdicts.sqlite"
    with ModelServer(last_digit_even, latency=0.01) as server:
        child = start(CHILD, server.url, path, len(PAIRS))
        wait_for(server, 60, child)
        child.send_signal(signal.SIGINT)
        _, problem = child.communicate(timeout=30)
        time.sleep(0.05)
        served = {e.notes for e in server.log if e.served and e.ended}
        assert child.returncode != 0
        assert problem.rstrip().endswith("KeyboardInterrupt")
        assert known(path, server) == served  # also what was under way when the interrupt came
        assert 50 < len(served) < 240


def test_an_interrupt_does_not_wait_for_a_server_that_hangs(tmp_path):
    def hang_after(exchange):
        reply = verdict(True)
        reply.delay = 0 if exchange.number < 20 else 50
        return reply

    with ModelServer(hang_after) as server:
        child = start(CHILD, server.url, tmp_path / "verdicts.sqlite", len(PAIRS))
        wait_for(server, 20 + CONCURRENCY, child)
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=30)  # the answers are due in 50 s
        assert child.returncode != 0
        assert len(known(tmp_path / "verdicts.sqlite", server)) == 20


def test_two_processes_share_a_cache(tmp_path):
    path = tmp_path / "verdicts.sqlite"
    with ModelServer(last_digit_even, latency=0.002) as server:
        children = [start(CHILD, server.url, path, len(PAIRS)), start(CHILD, server.url, path, len(PAIRS))]
        results = [child.communicate(timeout=60) for child in children]
        assert [problem for _, problem in results] == ["", ""]
        assert all(json.loads(out)["match"] == [1 - i % 2 for i in range(240)] for out, _ in results)
        assert known(path, server) == set(PAIRS)
        asked = len(server.log)
        assert server.served() == Counter(PAIRS)  # each of them once: a pair is claimed before it is asked about
        assert asked == len(PAIRS) == sum(json.loads(out)["calls"] for out, _ in results)
        out, _ = start(CHILD, server.url, path, len(PAIRS)).communicate(timeout=60)
        assert json.loads(out)["calls"] == 0
        assert len(server.log) == asked


def test_what_a_killed_process_claimed_is_asked_for_at_once(tmp_path):
    """Its claims would last for as long as a request may take, which is a minute; its death ends them."""
    path = tmp_path / "verdicts.sqlite"
    with ModelServer(lambda exchange: verdict(True) if exchange.number >= CONCURRENCY else Reply(delay=50)) as server:
        child = start(CHILD, server.url, path, len(PAIRS))
        wait_for(server, CONCURRENCY, child)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        out, problem = start(CHILD, server.url, path, len(PAIRS)).communicate(timeout=45)
    assert problem == ""
    assert json.loads(out)["calls"] == 240


@pytest.fixture
def evaluations():
    path = Path(__file__).parents[2].parent / "shared" / "data" / "martian" / "evaluations.json"
    if not path.exists():
        pytest.skip(f"no real verdicts: {path} is absent")
    return path


def test_the_verdicts_of_a_real_model_come_through_unchanged(evaluations):
    """All true positives, and golden comments that two of the tools found against their false positives."""
    hits, misses = Counter(), Counter()
    for tools in json.loads(evaluations.read_text(encoding="utf-8")).values():
        for tool, result in tools.items():
            golden = {hit["golden_comment"] for hit in result["true_positives"]}
            for hit in result["true_positives"]:
                hits[hit["matched_candidate"], hit["golden_comment"]] += 1
            if tool in ("claude", "gemini"):
                misses.update((miss["candidate"], note) for miss in result["false_positives"] for note in golden)
    misses = Counter({pair: n for pair, n in misses.items() if pair not in hits})
    pairs = [*hits.elements(), *misses.elements()]
    assert len(hits) > 100
    assert len(misses) > 20
    replay = ReplayModel(evaluations)
    with ModelServer(replay) as server:
        judge = LlmJudge(server.settings())
        verdicts = judge.ask(pairs)
        judge.close()
    assert [v.match for v in verdicts] == [1] * hits.total() + [0] * misses.total()
    assert [v.score for v in verdicts[: hits.total()]] == [replay.matches[p]["confidence"] for p in hits.elements()]
    assert server.served() == Counter(set(pairs))
