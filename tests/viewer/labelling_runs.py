"""Runs to look at in a browser."""

from importlib.resources import as_file, files

from outcome_samples import many, small_run

from metareview.api import evaluate_comments, evaluate_outcomes, evaluate_routing, load_run
from metareview.comparison.frame import open_frame
from metareview.comparison.outcome_frame import open_outcome_frame
from metareview.comparison.outcome_queue import OutcomeQueue, outcome_records_of
from metareview.comparison.queue import PairQueue, records_of
from metareview.comparison.unlisted import unlisted_of
from metareview.runs.labels import LabelFile

EVENTS = """\
{"repo": "o/r", "pr": 1, "at": "2026-01-01T00:00:00Z", "kind": "opened", "actor": "ann", "files": ["a.py"]}
{"repo": "o/r", "pr": 1, "at": "2026-01-01T00:10:00Z", "kind": "review_submitted", "actor": "bob", "state": "APPROVED"}
{"repo": "o/r", "pr": 2, "at": "2026-01-02T00:00:00Z", "kind": "opened", "actor": "ann", "body": "@bob please"}
{"repo": "o/r", "pr": 2, "at": "2026-01-02T00:20:00Z", "kind": "review_submitted", "actor": "bob"}
"""


def labelled_demo(root):
    """The sample benchmark with 60 of 75 drawn blocks labelled, by eva, as the judge says; its unlisted issues grouped;
    a small run of routers; and runs of outcomes."""
    with as_file(files("metareview") / "data" / "demo") as sample:
        negatives = sample / "negatives.jsonl"
        evaluate_comments(sample / "reviews", reference=sample / "references.jsonl", negatives=negatives,
                          out=root / "sample")  # fmt: skip
    run = load_run(root / "sample")
    frame = open_frame(run, budget=60)
    record_of = records_of(run, {(block.pr, block.reviewer) for _, block in frame.drawn})
    file = LabelFile(run.folder)
    for number in range(1, len(frame.drawn) + 1):
        while True:
            queue = PairQueue(frame, file.read(), "eva", record_of)
            if queue.labelled.settled[number - 1].number is not None:
                break
            question = queue.at(number)
            file.append([question.label(bool(question.verdict.match), "eva")])
    open_frame(run, budget=75)
    unlisted_of(run)
    (root / "events.jsonl").write_text(EVENTS, encoding="utf-8")
    evaluate_routing(root / "events.jsonl", out=root / "routers", routers=["mentions", "popularity"])
    labelled_outcomes(root)
    return root


def labelled_outcomes(root):
    """Comments of two versions of a bot; of the older one's 40 drawn comments 30 are labelled, by eva. And a small run
    with answers and text that means harm."""
    small_run(root / "answered")
    evaluate_outcomes(many(20), out=root / "outcomes")
    evaluate_outcomes(many(25, heeded=3), out=root / "newer")
    run = load_run(root / "outcomes")
    frame = open_outcome_frame(run, budget=40)
    records = outcome_records_of(run, {unit.record for _, unit in frame.drawn})
    queue = OutcomeQueue(frame, LabelFile(run.folder).read(), "eva", lambda pr, reviewer: records[pr, reviewer])
    verdicts = ["fully", "not", "partly"] * 10
    LabelFile(run.folder).append(queue.at(at).label(verdict, "eva") for at, verdict in enumerate(verdicts, 1))
