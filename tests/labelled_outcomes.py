"""Runs of outcomes in a folder, made from what became of each comment, without reading any input."""

from metareview.comments.summary import JudgeSummary
from metareview.model.addressed import Addressed
from metareview.model.comment import Comment
from metareview.model.label import OutcomeLabel
from metareview.outcomes.finding import Finding
from metareview.outcomes.records import CommentOutcome, OutcomeRecord
from metareview.outcomes.summary import OutcomesConfig, OutcomesSummary, summarise, tally
from metareview.runs.labels import LabelFile
from metareview.runs.outcomes_json import config_to_json
from metareview.runs.outcomes_kind import KIND as OUTCOMES
from metareview.runs.run import load_run
from metareview.runs.writer import RunWriter

AT = "2026-01-01T00:00:00+00:00"


def pr(number):
    return f"https://github.com/o/r/pull/{number}"


def outcome(position, changed=True, verdict=None, by="model", note=None, later="@@ -1 +1 @@\n-a\n+b", code="a"):
    """`verdict`: the judge's; "undecided" for none that it could give."""
    told = None
    if verdict is not None:
        told = Addressed(None if verdict == "undecided" else verdict, by, "because")
    comment = Comment(note or f"note {position}", "a.py", from_line=1, to_line=1)
    return CommentOutcome(position, comment, Finding(changed), code=code, later_change=later, verdict=told)


def make_run(folder, records, judge="llm"):
    """`records`: by pull request and reviewer, the comments."""
    config = OutcomesConfig(judge=judge)
    with RunWriter(folder, OUTCOMES, config_to_json(config), {"files/x": "0" * 64}) as writer:
        kept = [OutcomeRecord(name, reviewer, comments=tuple(said)) for (name, reviewer), said in records.items()]
        for record in kept:
            writer.append(record)
        reviewers = summarise([tally(record, ()) for record in kept], config)
        asked = None if judge == "none" else JudgeSummary(judge, 0, 0, 0, 0, 0, 0)
        summary = OutcomesSummary(config, reviewers, {}, len({name for name, _ in records}), asked)
        writer.finish(summary, [record.key for record in kept])
    return load_run(folder)


def label(number, position, verdict, name=None, reviewer="bot", note=None):
    return OutcomeLabel(pr(number), reviewer, position, note or f"note {position}", verdict, AT, name)


def give(run, *labels):
    LabelFile(run.folder).append(labels)
