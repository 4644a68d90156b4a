"""However many processes score comments: the same run, to the last byte."""

import json
import os
import signal
from pathlib import Path

import pytest
from many_reviews import write_reviews

import metareview
from metareview.comments.filters import FilterConfig
from metareview.judges.protocol import Answer
from metareview.pipelines.comments import evaluate, keep, tasks, work
from metareview.pipelines.comments.options import CommentsOptions
from metareview.pipelines.comments.plan import open_plan
from metareview.runs.comments_json import config_to_json
from metareview.runs.run import COMMENTS
from metareview.runs.writer import RunWriter

OPTIONS = {
    "none": {"judge": "none", "all_prs": True},
    "offline": {"filters": FilterConfig(comment_categories=["Code Defect"], project_languages=["Python", "Go"])},
    "rouge": {"judge": "rouge", "threshold": 0.3, "alignment": "coverage", "limit": 17, "seed": 3},
    "greedy": {"judge": "exact", "alignment": "greedy", "reviewer": ["!gamma"]},
    "repeat": {"judge": "rouge", "repeat": True, "ignore_location": True},
}


def options_of(folder, name="none", **more):
    negatives = () if name == "greedy" else folder / "negatives.jsonl"
    files = {"generated": folder / "comments.jsonl", "reference": folder / "references.jsonl", "negatives": negatives}
    return CommentsOptions(**files, **{**OPTIONS[name], **more})


def contents(run):
    """The files of a run; times and its own name apart."""
    found = {path.name: path.read_text("utf-8") for path in sorted(run.folder.iterdir())}
    manifest, summary = json.loads(found["manifest.json"]), json.loads(found["summary.json"])
    del manifest["started"], manifest["finished"], summary["run"]
    del manifest["files"]["summary.json"]  # which names the folder
    return {**found, "manifest.json": manifest, "summary.json": summary}


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(work, "CHUNK", 150)


@pytest.fixture
def reviews(tmp_path):
    def written(name="none", pull_requests=40):
        write_reviews(tmp_path, pull_requests, runs=("run-1", "run-2") if name == "repeat" else (None,))
        return tmp_path

    return written


def expected(folder, name="none", **more):
    """The run as one process makes it that holds all comments, and scores them in one go."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(work, "CHUNK", 10**9)
        return contents(evaluate(options_of(folder, name, workers=1, **more), out=folder / "expected"))


@pytest.mark.parametrize(("name", "workers"), [("none", 3), *((name, 2) for name in OPTIONS if name != "none")])
def test_workers_give_the_same_run(reviews, small_chunks, name, workers):
    folder = reviews(name)
    whole = expected(folder, name)
    assert whole["results.jsonl"].count("\n") > 15
    assert contents(evaluate(options_of(folder, name, workers=workers), out=folder / "run")) == whole


def test_labels_verdicts_and_examples_are_sent_to_workers(reviews, small_chunks):
    folder = reviews()
    plain = expected(folder, "rouge")
    rows = [json.loads(line) for line in plain["pairs.jsonl"].splitlines()]
    notes = {}
    for line in map(json.loads, plain["results.jsonl"].splitlines()):
        notes[line["github_pr_url"], line["reviewer"]] = (
            {each["generated"]: each["note"] for each in line["match_details"]},
            {each["reference"]: each["note"] for each in line["reference_comments"]},
        )
    labels = folder / "labels.jsonl"
    with labels.open("w") as file:
        for row in [row for row in rows if not row["negative"]][::3]:
            ours, theirs = notes[row["pr"], row["reviewer"]]
            label = {"a": theirs[row["reference"]], "b": ours[row["generated"]], "match": not row["match"]}
            file.write(json.dumps(label) + "\n")
        file.write(json.dumps({"a": "nobody", "b": "said this", "match": True}) + "\n")
    (folder / "expected").rename(folder / "kept")
    own = {"judge": "offline", "threshold": None}
    for more in (
        {"labels": labels},
        {**own, "limit": 30, "verdicts": folder / "kept/pairs.jsonl"},
        {**own, "examples": folder / "kept/pairs.jsonl"},
    ):
        name = list(more)[-1]
        whole = expected(folder, "rouge", **more)
        (folder / "expected").rename(folder / f"expected-{name}")
        assert any("label" in each or "verdict" in each for each in whole["summary.json"]["warnings"])
        assert contents(evaluate(options_of(folder, "rouge", workers=2, **more), out=folder / name)) == whole


def children():
    tasks = Path("/proc/self/task").iterdir()
    return [int(pid) for task in tasks for pid in (task / "children").read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="processes are found by /proc")
def test_a_worker_that_is_killed_changes_nothing(reviews, small_chunks):
    folder = reviews()
    whole = expected(folder)
    killed = []

    def kill_one(done, total):
        if 0 < done < total and not killed:
            killed.extend(children()[:1])
            os.kill(killed[0], signal.SIGKILL)

    run = evaluate(options_of(folder, workers=2), out=folder / "run", progress=kill_one)
    assert killed
    assert contents(run) == whole


@pytest.mark.parametrize(("workers", "then"), [(1, 2), (2, 1)])
@pytest.mark.parametrize("name", ["rouge", "offline"])
def test_what_was_interrupted_goes_on(reviews, small_chunks, workers, then, name):
    """The offline judge counts notes in other languages over all pairs, whoever answered them."""
    folder = reviews(name)
    whole = expected(folder, name)

    def interrupt(done, total):
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(options_of(folder, name, workers=workers), out=folder / "run", progress=interrupt)
    with (folder / "run" / "results.jsonl").open("a") as file:
        file.write('{"github_pr_url": "cut o')  # As a kill may leave it.
    told = []
    again = evaluate(options_of(folder, name, workers=then), out=folder / "run", progress=lambda *at: told.append(at))
    assert told[0][0] > 0
    assert contents(again) == whole


def test_of_what_is_done_only_the_figures_are_held(reviews):
    folder = reviews(pull_requests=6)
    evaluate(options_of(folder, workers=1), out=folder / "run")
    (folder / "run" / "summary.json").unlink()  # As if it had been killed at the very end.
    with (
        open_plan(options_of(folder, workers=1)) as plan,
        RunWriter(folder / "run", COMMENTS, config_to_json(plan.config), plan.inputs.hashes) as writer,
    ):
        assert len(writer.done) == len(plan.tasks)
        assert any(record.counts.generated for record in writer.done.values())
        assert not any(record.comments or record.references for record in writer.done.values())


def test_a_giant_is_scored_by_this_process(reviews, monkeypatch):
    """So that nobody holds all of its lines at once."""
    folder = reviews(pull_requests=5)
    whole = expected(folder)
    monkeypatch.setattr(work, "CHUNK", 1)
    monkeypatch.setattr(tasks, "GIANT", 18)
    here = []
    monkeypatch.setattr(keep, "_here", lambda *given, _own=keep._here: here.append(given[1]) or _own(*given))
    assert contents(evaluate(options_of(folder, workers=2), out=folder / "run")) == whole
    assert {task.most_pairs >= 18 for chunk in here for task in chunk.tasks} == {True}


class OwnJudge(metareview.Judge):
    name = "own"

    def __init__(self):
        self.asked_in = set()

    def judge(self, questions):
        self.asked_in.add(os.getpid())
        import numpy as np

        return [Answer(np.zeros(len(each.pairs)), np.zeros(len(each.pairs), np.int8)) for each in questions]


def test_a_judge_of_the_users_own_stays_in_this_process(reviews):
    judge = OwnJudge()
    evaluate(options_of(reviews(), judge=judge, workers=3), out=None)
    assert judge.asked_in == {os.getpid()}


def test_as_many_workers_as_there_can_be():
    with pytest.raises(metareview.UsageError, match="--workers 0"):
        CommentsOptions("a", "b", workers=0)
