"""The figures of a run of comments, counted anew from its records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from metareview.comments.measures import RECALLS, Counts, rates, recall_table, total
from metareview.comments.records import DIMENSIONS
from metareview.comments.summary import CommentsSummary, Macro, ReviewerSummary, macro_of
from metareview.model.measure import Sums
from metareview.runs.comments_json import COUNT_KEYS
from metareview.runs.files import JsonObject
from metareview.runs.recount import hold, hold_names, hold_rates


def check_comment_record(line: JsonObject) -> None:
    """OtherFiguresError where a record counts something else than it lists."""
    if line["skip_reason"] is not None:
        return
    comments, references = line["match_details"], line["reference_comments"]
    left_out = sum(bool(each["left_out"]) for each in comments)
    generated, matched = len(comments) - left_out, _given(comments, "reference")
    listed: list[float | None] = [
        sum(bool(each["kept"]) for each in references),
        generated,
        None if line["positive_line_match_nums"] is None else _given(comments, "line_reference"),
        matched,
        sum(bool(each["covered"]) for each in references),
        None if line["positive_line_covered_nums"] is None else sum(bool(each["line_covered"]) for each in references),
        generated - matched,
        len(line["negative_comments"]),
        _given(comments, "negative"),
    ]
    for name, number in zip(COUNT_KEYS, listed, strict=False):
        if line[name] != number:
            hold(f"{name} of {line['reviewer']} on {line['github_pr_url']}", line[name], number)


def _given(items: Iterable[JsonObject], name: str) -> int:
    return sum(each[name] is not None for each in items)


def check_comments(summary: CommentsSummary, lines: Iterable[JsonObject]) -> None:
    """OtherFiguresError where a figure is not that of the records, which are read once."""
    found: dict[str, _Reviewer] = defaultdict(_Reviewer)
    prs: set[str] = set()
    judged = undecided = 0.0
    for (reviewer, pr), group in groupby(lines, key=lambda line: (line["reviewer"], line["github_pr_url"])):
        scored = [line for line in group if line["skip_reason"] is None]
        judged += sum(line["judged_pairs"] for line in scored)
        undecided += sum(line["judge_error_nums"] for line in scored)
        found[reviewer].add(scored, averaged=summary.config.repeat)
        prs.update([pr] if scored else [])
    hold_names("reviewer", summary.reviewers, found)
    for name, block in summary.reviewers.items():
        found[name].check(name, block, summary)
    hold("pairs", summary.judge.pairs, judged)
    hold("undecided pairs", summary.judge.errors, round(undecided))
    if summary.prs != max((block.prs for block in summary.reviewers.values()), default=0):  # as older runs have it
        hold("pull requests", summary.prs, len(prs))


class _Reviewer:
    """What one reviewer's records count, a row for each pull request."""

    def __init__(self) -> None:
        self._rows: list[Sequence[float | None]] = []
        self._values: dict[str, list[str]] = {"language": [], "pr_category": []}
        self._tallies: dict[str, dict[str, list[Sequence[float]]]] = {name: {} for name in DIMENSIONS}
        self._by_run: dict[str, list[Sequence[float | None]]] = {}
        self._repeated: list[float | None] = []

    def add(self, lines: Sequence[JsonObject], *, averaged: bool) -> None:
        """The records on one pull request: several only of repeated runs, which count by their means."""
        for line in lines:
            self._by_run.setdefault(line.get("run") or "", []).append([line[key] for key in COUNT_KEYS])
        for several in [lines] if averaged and lines else [[line] for line in lines]:
            first = several[0]
            self._rows.append(_means([[line[key] for key in COUNT_KEYS] for line in several]))
            self._repeated += _means([[line.get("repeated_nums")] for line in several])
            for name, values in self._values.items():
                values.append(first[name] or "unknown")
            for name, values_of in self._tallies.items():
                held = [line["reference_slices"].get(name, {}) for line in several]
                for value in dict.fromkeys(value for each in held for value in each):
                    values_of.setdefault(value, []).append(_means([each.get(value, (0, 0, 0)) for each in held]))

    def check(self, who: str, block: ReviewerSummary, summary: CommentsSummary) -> None:
        counts = _table(self._rows)
        hold(f"{who}: pull requests", block.prs, len(counts))
        _check_counts(who, block.counts, block.metrics, counts, summary)
        if block.repeated is not None and None not in self._repeated:
            hold(f"{who}: repeated comments", block.repeated, sum(each or 0 for each in self._repeated))
        _check_macro(who, block.macro, macro_of(counts, summary.config.measures))
        for name, parts in block.by_pull_request.items():
            values = np.array(self._values[name], object)
            hold_names(f"{who}: {name}", parts, self._values[name])
            for value, part in parts.items():
                of_value = counts[values == value]
                hold(f"{who}, {value}: pull requests", part.prs, len(of_value))
                _check_counts(f"{who}, {value}", part.counts, part.metrics, of_value, summary)
        for name, slices in block.by_reference.items():
            for value, slice_ in slices.items():
                sums = total(recall_table((a, b, c) for a, b, c in self._tallies[name].get(value, [])))
                told = Counts.from_sums(sums, location=summary.config.location)
                for which in ("expected", "covered", "line_covered"):
                    hold(f"{who}, {value}: {which}", getattr(slice_, which), getattr(told, which))
                hold_rates(f"{who}, {value}", slice_.metrics, rates(sums, summary.config.measures, RECALLS))
        if block.repeats is not None:
            for run, metrics in block.repeats.metrics.items():
                sums = _table(self._by_run.get(run, [])).sum(axis=0)
                hold_rates(f"{who}, {run}", metrics, rates(sums, summary.config.measures))


def _means(rows: Sequence[Sequence[Any]]) -> Sequence[Any]:
    """Column by column; None where a row has none."""
    if len(rows) == 1:
        return rows[0]
    return [None if None in column else sum(column) / len(column) for column in zip(*rows, strict=True)]


def _table(rows: Sequence[Sequence[float | None]]) -> Sums:
    """As `table` has it, of values in the order of its columns."""
    counts = np.array(rows, np.float64).reshape(-1, len(COUNT_KEYS))
    counts[np.isnan(counts)] = 0
    return counts


def _check_counts(
    who: str, told: Counts, metrics: Mapping[str, float | None], counts: Sums, summary: CommentsSummary
) -> None:
    sums = total(counts)
    counted = Counts.from_sums(sums, location=summary.config.location)
    for name, stored, number in zip(COUNT_KEYS, told.values(), counted.values(), strict=True):
        hold(f"{who}: {name}", stored, number)
    hold_rates(who, metrics, rates(sums, summary.config.measures))


def _check_macro(who: str, told: Macro, counted: Macro) -> None:
    hold_rates(f"{who}: mean", told.means, counted.means)
    hold_rates(f"{who}: without a mean", told.nulls, counted.nulls)
