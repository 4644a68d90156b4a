"""What the figures rest on: the judge and its cost, the settings, what was skipped and undecided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import islice

from metareview.comments.measures import f1
from metareview.comments.summary import CommentsSummary
from metareview.model.words import plural
from metareview.report.names import capital, excerpt, pull_request_name
from metareview.report.numbers import count, interval, ranked
from metareview.report.page.blocks import Column, Section, behind, capped, name, paragraph, table
from metareview.report.page.markup import Html, html, join, link
from metareview.runs.run import AnyRun, CommentsRun

MOST_ITEMS = 200
"""Warnings, skipped files or undecided pairs that are listed."""
_AMOUNTS = {
    "pairs": "Pairs judged",
    "llm_calls": "Calls of a model",
    "cached": "Answers from the cache",
    "errors": "Pairs that stayed undecided",
    "prompt_tokens": "Prompt tokens",
    "completion_tokens": "Completion tokens",
}


def judge_section(run: CommentsRun) -> Section:
    """Who decided, what it cost, with which settings, on which inputs."""
    judge = run.result.judge
    amounts = asdict(judge)
    rows: list[Sequence[object]] = [("Judge", judge.name)]
    rows += [(title, count(amounts[key])) for key, title in _AMOUNTS.items()]
    cached = ": its answers were in the cache" if judge.cached else ""
    called = "" if judge.llm_calls else f" No model was called{cached}."
    parts = [
        paragraph(f"The verdicts of this run are by the judge “{judge.name}”.{called}"),
        table("The judge and what it cost", [Column("What"), Column("Value", "num")], rows, css="compact"),
        settings_table(run),
    ]
    inputs = run.manifest.inputs
    if inputs:
        listed = list(inputs.items())[:MOST_ITEMS]
        files = table("Input files", [Column("File"), Column("SHA-256")], listed)
        parts.append(behind(f"The input files and their hashes ({len(listed)} of {len(inputs)})", files))
    return Section("judge", "The judge and what it cost", join(parts))


def settings_table(run: AnyRun) -> Html:
    """The run's configuration, behind a click."""
    rows: list[Sequence[object]] = []
    for key, value in run.summary["config"].items():
        if isinstance(value, Mapping):
            rows += [(f"{key}: {inner}", _shown(setting)) for inner, setting in value.items()]
        else:
            rows.append((key, _shown(value)))
    columns = [Column("Setting"), Column("Value")]
    return behind("The settings of this run", table("Settings", columns, rows, css="compact"))


def _shown(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def left_out_section(run: CommentsRun) -> Section:
    """Warnings, skipped files, pull requests that a filter dropped, undecided pairs with the bounds."""
    summary = run.result
    filtered = sum(record.skipped for record in run.read_records())
    parts: list[Html | None] = []
    if any(block.counts.undecided for block in summary.reviewers.values()):
        parts += [html("<h3>Undecided pairs</h3>"), _bounds(summary), _undecided_pairs(run)]
    if summary.warnings:
        total = len(summary.warnings)
        parts += [html("<h3>{title}</h3>", title=f"Warnings ({count(total)})")]
        parts += [capped(summary.warnings, MOST_ITEMS, total, "warnings")]
    if summary.skipped:
        total = len(summary.skipped)
        items = [
            html("<code>{file}</code>: {reason}", file=each.file, reason=each.reason)
            for each in summary.skipped[:MOST_ITEMS]
        ]
        parts += [html("<h3>{title}</h3>", title=f"Skipped ({count(total)})")]
        parts += [capped(items, MOST_ITEMS, total, "skipped files")]
    if filtered:
        words = "pull request and reviewer was", "pull requests and reviewers were"
        parts.append(paragraph(f"{plural(filtered, *words)} left out by the filters of this run."))
    if not parts:
        parts = [paragraph("Nothing: no warning, no file skipped, and the judge decided every pair.")]
    return Section("left-out", "What was skipped and undecided", join(parts))


def _bounds(summary: CommentsSummary) -> Html:
    blocks = summary.reviewers
    names = [each for each in ranked(summary.metrics, f1.name) if blocks[each].counts.undecided]
    columns = [Column("Reviewer", "name"), Column("Undecided pairs", "num")]
    columns += [Column(capital(measure.label), "num") for measure in summary.measures]
    rows = [
        [
            name(each),
            count(blocks[each].counts.undecided),
            *(interval(blocks[each].bounds[measure.name]) for measure in summary.measures),
        ]
        for each in names
    ]
    text = paragraph(
        "The judge gave no verdict on these pairs, for example because a model did not answer. Each figure lies "
        "between these bounds: with none of them a match, and with all of them."
    )
    return join([text, table("Bounds of every figure", columns, rows)])


def _undecided_pairs(run: CommentsRun) -> Html | None:
    """Which pairs they are, by their positions in the input, which start at 0."""
    undecided = (pair for pair in run.read_pairs() if pair.verdict.match is None and pair.eligible)
    rows = [
        (
            link(pair.pr, pull_request_name(pair.pr)),
            name(pair.reviewer),
            count(pair.generated),
            f"{'negative' if pair.negative else 'reference'} {pair.reference}",
            name(excerpt(pair.verdict.reason or "", 200)),
        )
        for pair in islice(undecided, MOST_ITEMS)
    ]
    if not rows:
        return None
    columns = [Column("Pull request"), Column("Reviewer", "name"), Column("Comment", "num")]
    columns += [Column("Compared with"), Column("Why there is no verdict")]
    most = f"The first {MOST_ITEMS} undecided pairs; pairs.jsonl has them all"
    return behind("The pairs", table(most if len(rows) == MOST_ITEMS else "Undecided pairs", columns, rows))
