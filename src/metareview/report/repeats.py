"""Repeated runs of a reviewer: how far they differ, in the words and tables that every report shares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from metareview.comments.measures import MAIN, f1
from metareview.comments.repeated_runs import Repeats
from metareview.comments.summary import CommentsSummary
from metareview.model.words import plural
from metareview.report.numbers import NOT_DEFINED, rate
from metareview.report.tables import BETWEEN_RUNS, Column, Table

REMARK = (
    "Counts are means over the runs that have the pull request. Between runs: the standard deviation of the runs' own "
    "figures, each over its own pull requests. The variance of a run's result on a pull request lies between pull "
    "requests, between runs, and for the rest in how single runs fared on single pull requests."
)
_MOST_RUNS = 12


def repeats_table(summary: CommentsSummary, names: Sequence[str]) -> Table:
    """A row per reviewer with several runs and main measure; no columns where there is none."""
    rows = [
        (name, measure, repeats)
        for name in names
        if (repeats := summary.reviewers[name].repeats) is not None and repeats.runs > 1
        for measure in MAIN
    ]
    if not rows:
        return []
    spreads = [repeats.spread.get(measure.name) for _, measure, repeats in rows]
    shares = [repeats.variance.get(measure.name) for _, measure, repeats in rows]
    figures = [
        [rate(repeats.metrics[run][measure.name]) for run in repeats.names[:_MOST_RUNS]] for _, measure, repeats in rows
    ]
    more = [", …" if repeats.runs > _MOST_RUNS else "" for _, _, repeats in rows]
    return [
        Column("reviewer", [name for name, _, _ in rows], text=True),
        Column("measure", [measure.label for _, measure, _ in rows], text=True),
        Column("runs", [str(repeats.runs) for _, _, repeats in rows]),
        Column("least", [rate(each.min if each else None) for each in spreads]),
        Column("greatest", [rate(each.max if each else None) for each in spreads]),
        Column(BETWEEN_RUNS, [NOT_DEFINED if each is None else f"±{each.sd:.3f}" for each in spreads]),
        Column("variance between pull requests", [_percent(each.pull_requests if each else None) for each in shares]),
        Column("variance between runs", [_percent(each.runs if each else None) for each in shares]),
        Column("rest of the variance", [_percent(each.residual if each else None) for each in shares]),
        Column("each run", [", ".join(each) + rest for each, rest in zip(figures, more, strict=True)], text=True),
    ]


def interval_lines(everybody: Iterable[tuple[str, Repeats | None]]) -> list[str]:
    """What the intervals of these reviewers are of, a sentence for all of whom the same is true."""
    names: dict[str, list[str]] = {}
    for name, repeats in everybody:
        if repeats is not None:
            names.setdefault(repeats.interval_label, []).append(name)
    return [f"{', '.join(alike)}: {label}." for label, alike in names.items()]


def summary_interval_lines(summary: CommentsSummary, names: Sequence[str]) -> list[str]:
    """The same of the reviewers of a run."""
    return interval_lines((name, summary.reviewers[name].repeats) for name in names)


def repeat_lines(summary: CommentsSummary, names: Sequence[str]) -> Iterator[str]:
    """A sentence for each reviewer with several runs, and what the intervals are of."""
    yield from _spread_lines(summary, names)
    yield from summary_interval_lines(summary, names)


def _spread_lines(summary: CommentsSummary, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        repeats = summary.reviewers[name].repeats
        spread = repeats.spread[f1.name] if repeats else None
        if repeats is None or spread is None:
            continue
        shares = repeats.variance[f1.name]
        parts = (
            f"; of the variance of F1, {_percent(shares.pull_requests)} lies between pull requests,"
            f" {_percent(shares.runs)} between runs, {_percent(shares.residual)} in how single runs fared on single"
            f" pull requests"
            if shares
            else ""
        )
        yield (
            f"{name}: the mean of {plural(repeats.runs, 'run')}, whose own F1 lies between {rate(spread.min)} and"
            f" {rate(spread.max)}{parts}."
        )


def _percent(share: float | None) -> str:
    return NOT_DEFINED if share is None else f"{100 * share:.0f} %"
