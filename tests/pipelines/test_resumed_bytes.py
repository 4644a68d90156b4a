"""A run that was cut off ends with the bytes of one that was not, and what is said of a pair depends on its own pull
request alone."""

import json
from pathlib import Path

import numpy as np
import pytest

from metareview.cli import _run
from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.protocol import Question
from metareview.runs.writer import RunWriter
from model_server import ModelServer, matches, verdict

NOTES = [
    "`cacheKey` leaves out the tenant: two customers share an entry",
    "The cache key has no tenant id, so answers leak between tenants",
    "CACHEKEY should not be upper case",
    "The file handle is never closed when `parseHeader` raises",
    "Close the handle in a finally block; parseHeader may raise",
    "close the handle in a finally block; parseHeader may raise",
    "Off by one: the last row is never read",
    "The loop stops one row early",
    "nit: rename `tmp`",
    "`tmp` could have a better name",
    "缓存键缺少租户",
    "...",
]
PRS = range(1, 9)


def review(pr, step):
    notes = [NOTES[(pr * step + at * 5) % len(NOTES)] for at in range(4)]
    notes.append(notes[0])  # A rival that fits exactly as well.
    comments = [{"path": "a.py", "from_line": 1 + at % 2, "note": note} for at, note in enumerate(notes)]
    return {"pr": f"https://github.com/o/r/pull/{pr}", "reviewer": "bot", "comments": comments}


@pytest.fixture(autouse=True)
def sides(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("bot.jsonl", [review(pr, 3) for pr in PRS])
    write("ref.jsonl", [review(pr, 1) | {"reviewer": None} for pr in PRS])
    labels = [
        {"a": comment["note"], "b": f"Somebody said: {comment['note']}", "match": pr % 2 == 0, "pr": ref["pr"]}
        | {"reviewer": "somebody"}
        for pr in PRS
        for ref in [review(pr, 1)]
        for comment in ref["comments"][:2]
    ]
    write("known.jsonl", labels)


def write(name, rows):
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def command(out, *options, generated="bot.jsonl"):
    return ["comments", generated, "--reference", "ref.jsonl", "-q", "--force", "--out", out, *options]


def whole_folder(name):
    """Every file, but for the times at which the run began and ended."""
    held = {}
    for file in sorted(Path(name).iterdir()):
        text = file.read_text("utf-8")
        if file.name == "manifest.json":
            manifest = {key: each for key, each in json.loads(text).items() if key not in ("started", "finished")}
            del manifest["files"]["summary.json"]  # which has the folder's name in it
            text = json.dumps(manifest)
        if file.name == "summary.json":
            text = text.replace(f'"{name}"', '"OUT"')
        held[file.name] = text
    return held


def cut_off(monkeypatch, after, *line):
    """The command, interrupted when so many records are written, half of the next one's pairs with them."""
    append, left = RunWriter.append, [after]

    def stopping(self, record, pairs=()):
        if not left[0]:
            with (self.path / "pairs.jsonl").open("a") as file:
                file.write('{"pr": "half')
            raise KeyboardInterrupt
        left[0] -= 1
        append(self, record, pairs)

    monkeypatch.setattr(RunWriter, "append", stopping)
    assert _run(list(line)) == 130
    monkeypatch.setattr(RunWriter, "append", append)


@pytest.mark.parametrize(
    "options",
    [["--judge", "offline"], ["--judge", "rouge"], ["--judge", "exact"], ["--examples", "known.jsonl"]],
    ids=" ".join,
)
@pytest.mark.parametrize("after", [0, 3, 7])
def test_a_run_that_was_cut_off_ends_with_the_same_bytes(monkeypatch, options, after):
    assert _run(command("whole", *options)) == 0
    cut_off(monkeypatch, after, *command("cut", *options))
    assert _run(command("cut", *options)) == 0
    assert whole_folder("cut") == whole_folder("whole")


@pytest.mark.parametrize("options", [["--judge", "llm"], ["--judge", "cascade"]], ids=" ".join)
def test_of_a_model_only_who_was_asked_when_differs(monkeypatch, options):
    """An answer that was paid for before the run was cut off comes from the cache, and is not paid for again."""

    def answer(exchange):
        if exchange.is_list:
            first = {"reference": 0, "comment": 0, "confidence": 0.9, "reason": "tenant"}
            return matches(*[first] * ("tenant" in str(exchange.body)))
        return verdict("tenant" in str(exchange.body))

    with ModelServer(answer) as server:
        for name, value in {"URL": server.url, "": "m"}.items():
            monkeypatch.setenv(f"LLM_MODEL{'_' if name else ''}{name}", value)
        monkeypatch.setenv("LLM_API_KEY", "k")
        assert _run(command("whole", *options, "--cache", "whole.sqlite")) == 0
        asked = len(server.log)
        cut_off(monkeypatch, 3, *command("cut", *options, "--cache", "cut.sqlite"))
        assert _run(command("cut", *options, "--cache", "cut.sqlite")) == 0
        assert len(server.log) == 2 * asked > 0
    cut, whole = (
        [json.loads(line) for line in Path(run, "pairs.jsonl").read_text("utf-8").splitlines()]
        for run in ("cut", "whole")
    )
    assert [{**pair, "by": ""} for pair in cut] == [{**pair, "by": ""} for pair in whole]
    assert {pair["by"] for pair in cut} <= {"judge", "model", "cache"}


@pytest.mark.parametrize(
    "options", [["--judge", "offline"], ["--judge", "rouge"], ["--examples", "known.jsonl"]], ids=" ".join
)
def test_what_is_said_of_a_pair_does_not_depend_on_other_pull_requests(options):
    def pairs(run):
        rows = map(json.loads, Path(run, "pairs.jsonl").read_text("utf-8").splitlines())
        return {(row["pr"], row["generated"], row["reference"]): row for row in rows}

    assert _run(command("all", *options)) == 0
    assert _run(command("few", *options, "--limit", "3", "--seed", "2")) == 0
    write("one.jsonl", [review(5, 3)])
    assert _run(command("one", *options, generated="one.jsonl")) == 0
    everything = pairs("all")
    for run in ("few", "one"):
        part = pairs(run)
        assert part
        assert part == {key: everything[key] for key in part}


def test_nor_do_the_reasons_and_scores_of_the_offline_judge_on_the_batch():
    questions = []
    for pr in PRS:
        ours, theirs = ([comment["note"] for comment in review(pr, step)["comments"]] for step in (3, 1))
        pairs = np.array([(a, b) for a in range(len(ours)) for b in range(len(theirs))])
        questions.append(Question(ours, theirs, pairs))
    judge = OfflineJudge()
    alone = [judge.judge([question])[0] for question in questions]
    for together in (judge.judge(questions), judge.judge(questions[::-1])[::-1]):
        for one, other in zip(alone, together, strict=True):
            assert list(one.reason) == list(other.reason)
            np.testing.assert_array_equal(one.score, other.score)
