"""The JSON of a run of outcomes: a line of `results.jsonl`, and `summary.json`. Nothing else knows its keys."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import asdict
from pathlib import Path

from metareview.model.addressed import Addressed
from metareview.model.build_gates import GateResult
from metareview.model.comment import Comment, Skipped
from metareview.outcomes.finding import Finding
from metareview.outcomes.records import FINDINGS, CommentOutcome, OutcomeRecord, Reply
from metareview.outcomes.summary import OutcomeFigures, OutcomesConfig, OutcomesSummary, ReviewerOutcomes
from metareview.runs.costs_json import HEEDED, costs_from_json, costs_to_json
from metareview.runs.files import JsonObject
from metareview.runs.judge_json import judge_from_json, judge_to_json

SCHEMA = "metareview.outcomes/1"
_OF_RECORD = ("pr", "reviewer", "author", "merged_at", "closed_at", "cost", "tokens", "seconds")


def record_to_json(record: OutcomeRecord) -> JsonObject:
    """The line of `results.jsonl`."""
    named = {name: getattr(record, name) for name in _OF_RECORD}
    return {**named, "comments": [outcome_to_json(outcome) for outcome in record.comments]}


def outcome_to_json(outcome: CommentOutcome) -> JsonObject:
    findings = {name: getattr(outcome, name) for name in FINDINGS}
    return {
        "position": outcome.position,
        "comment": outcome.comment.to_dict(),
        "outcomes": {name: finding.value for name, finding in findings.items()},
        "cannot_tell": {name: finding.reason for name, finding in findings.items() if finding.reason},
        "repeats": outcome.repeats,
        "changed_by": list(outcome.changed_by),
        "final_lines": outcome.final_lines and list(outcome.final_lines),
        "code": outcome.code,
        "later_change": outcome.later_change,
        "replies": [_reply_to_json(reply) for reply in outcome.replies],
        "addressed": None if outcome.verdict is None else _verdict_to_json(outcome.verdict),
    }


def comment_rows(record: OutcomeRecord) -> Iterator[JsonObject]:
    """A flat row per comment, for tables: what it says, what became of it, and what the data cannot tell."""
    for outcome in record.comments:
        findings = {name: getattr(outcome, name) for name in FINDINGS}
        verdict = outcome.verdict
        yield {
            "pr": record.pr,
            "reviewer": record.reviewer,
            "position": outcome.position,
            **outcome.comment.to_dict(),
            **{name: finding.value for name, finding in findings.items()},
            "addressed": verdict and verdict.verdict,
            "addressed_by": verdict and verdict.by,
            "changed_by": " ".join(outcome.changed_by),
            "cannot_tell": "; ".join(f"{name}: {each.reason}" for name, each in findings.items() if each.reason),
        }


def _reply_to_json(reply: Reply) -> JsonObject:
    return {"author": reply.author, "at": reply.at, "note": reply.note}


def _verdict_to_json(verdict: Addressed) -> JsonObject:
    return {"verdict": verdict.verdict, "by": verdict.by, "reason": verdict.reason}


def record_from_json(line: JsonObject, positions: Container[int] | None = None) -> OutcomeRecord:
    """`positions`: of the comments that are wanted; None: all of them."""
    wanted = (each for each in line["comments"] if positions is None or each["position"] in positions)
    return OutcomeRecord(**{name: line[name] for name in _OF_RECORD}, comments=tuple(map(_outcome_from_json, wanted)))


def _outcome_from_json(stored: JsonObject) -> CommentOutcome:
    values, reasons = stored["outcomes"], stored["cannot_tell"]
    final, verdict = stored["final_lines"], stored["addressed"]
    return CommentOutcome(
        stored["position"],
        Comment(**stored["comment"]),
        **{name: Finding(values[name], reasons.get(name)) for name in FINDINGS},
        repeats=stored["repeats"],
        changed_by=tuple(stored["changed_by"]),
        final_lines=final and (final[0], final[1]),
        code=stored["code"],
        later_change=stored["later_change"],
        replies=tuple(Reply(**reply) for reply in stored["replies"]),
        verdict=None if verdict is None else Addressed(**verdict),
    )


def config_to_json(config: OutcomesConfig) -> JsonObject:
    document = {name: getattr(config, name) for name in ("judge", "labels", "since", "name", "format", "pr")}
    parameters = dict(config.judge_parameters)
    return {**document, "judge_parameters": parameters, "reviewer": list(config.reviewer), "by": list(config.by)}


def config_from_json(document: JsonObject) -> OutcomesConfig:
    return OutcomesConfig(**(document | {name: tuple(document[name]) for name in ("reviewer", "by")}))


def summary_to_json(summary: OutcomesSummary, folder: str | Path | None = None) -> JsonObject:
    """What `--json` prints and `summary.json` holds."""
    return {
        "schema": SCHEMA,
        "run": None if folder is None else str(folder),
        "config": config_to_json(summary.config),
        "prs": summary.prs,
        "reviewers": {name: _reviewer_to_json(block) for name, block in summary.reviewers.items()},
        "groups": {name: _figures_to_json(figures) for name, figures in summary.groups.items()},
        "judge": None if summary.judge is None else judge_to_json(summary.judge),
        "build_gates": [asdict(each) for each in summary.build_gates],
        "warnings": list(summary.warnings),
        "skipped": [asdict(item) for item in summary.skipped],
    }


def _reviewer_to_json(block: ReviewerOutcomes) -> JsonObject:
    return {
        **_figures_to_json(block.figures),
        "slices": {
            dimension: {value: _figures_to_json(figures) for value, figures in values.items()}
            for dimension, values in block.slices.items()
        },
        "cannot_tell": {name: dict(reasons) for name, reasons in block.cannot_tell.items()},
        "undecided": block.undecided,
        "bot": block.bot,
        **costs_to_json(block.costs, HEEDED),
    }


def _figures_to_json(figures: OutcomeFigures) -> JsonObject:
    return {
        "prs": figures.prs,
        "comments": figures.comments,
        "metrics": dict(figures.metrics),
        "known": dict(figures.known),
        "intervals": {name: ends and list(ends) for name, ends in figures.intervals.items()},
    }


def summary_from_json(document: JsonObject) -> OutcomesSummary:
    """What `summary_to_json` was made from."""
    if document["schema"] != SCHEMA:
        raise ValueError(f"schema {document['schema']!r} is not {SCHEMA}")
    judge = document["judge"]
    return OutcomesSummary(
        config=config_from_json(document["config"]),
        reviewers={name: _reviewer_from_json(block) for name, block in document["reviewers"].items()},
        groups={name: _figures_from_json(block) for name, block in document["groups"].items()},
        prs=document["prs"],
        judge=None if judge is None else judge_from_json(judge),
        warnings=tuple(document["warnings"]),
        skipped=tuple(Skipped(**item) for item in document["skipped"]),
        build_gates=tuple(GateResult(**each) for each in document["build_gates"]),
    )


def _reviewer_from_json(block: JsonObject) -> ReviewerOutcomes:
    return ReviewerOutcomes(
        _figures_from_json(block),
        {
            dimension: {value: _figures_from_json(figures) for value, figures in values.items()}
            for dimension, values in block["slices"].items()
        },
        block["cannot_tell"],
        block["undecided"],
        block["bot"],
        costs_from_json(block.get("costs"), HEEDED),
    )


def _figures_from_json(block: JsonObject) -> OutcomeFigures:
    return OutcomeFigures(
        prs=block["prs"],
        comments=block["comments"],
        metrics=block["metrics"],
        known=block["known"],
        intervals={name: ends and (ends[0], ends[1]) for name, ends in block["intervals"].items()},
    )
