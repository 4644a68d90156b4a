"""Figures by language and kind of pull request, and by category, context and severity of the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metareview.comments.measures import f1, positive_line_recall_rate, positive_match_rate, positive_recall_rate
from metareview.comments.summary import CommentsSummary, PullRequestSlice, ReviewerSummary
from metareview.model.measure import Measure
from metareview.report.numbers import ranked

MOST_COLUMNS = 12
"""Reviewers side by side in one table."""
MOST_ROWS = 40
"""Values of a slice that are listed, the largest ones where there are more."""


@dataclass(frozen=True)
class Dimension:
    """What a table is sliced by. `measures`: those of a lone reviewer; with several reviewers, the last one."""

    key: str
    title: str
    of: str
    measures: tuple[Measure, ...]

    @property
    def main(self) -> Measure:
        return self.measures[-1]


_PULL_REQUESTS = ("pull requests", (positive_match_rate, positive_recall_rate, f1))
_REFERENCES = ("references", (positive_line_recall_rate, positive_recall_rate))
DIMENSIONS = (
    Dimension("language", "Language", *_PULL_REQUESTS),
    Dimension("pr_category", "Kind of pull request", *_PULL_REQUESTS),
    Dimension("comment_category", "Category of the reference", *_REFERENCES),
    Dimension("context", "Context that the issue needs", *_REFERENCES),
    Dimension("severity", "Severity of the reference", *_REFERENCES),
)
_ORDER = {"critical": 0, "high": 1, "medium": 2, "low": 3, "unknown": 9}


@dataclass(frozen=True)
class Slices:
    """A table of slices, the rows being the values of a dimension."""

    dimension: Dimension
    sizes: Mapping[str, int]
    """Pull requests, or references, of each value that is listed."""
    columns: Sequence[tuple[str, Sequence[float | None]]]
    """A head, a reviewer (or a measure of the only one), and a figure for each value."""
    left_out: int
    """Values that there was no room for."""


def sliced(summary: CommentsSummary) -> list[Slices]:
    """The tables that have something to show: those where the data names a value."""
    best = {name: summary.reviewers[name] for name in ranked(summary.metrics, f1.name)[:MOST_COLUMNS]}
    tables = (_slices_of(dimension, best) for dimension in DIMENSIONS)
    return [table for table in tables if table is not None]


def _slices_of(dimension: Dimension, reviewers: Mapping[str, ReviewerSummary]) -> Slices | None:
    parts = {
        name: block.by_pull_request.get(dimension.key) or block.by_reference.get(dimension.key) or {}
        for name, block in reviewers.items()
    }
    sizes: dict[str, int] = {}
    for part in parts.values():
        for value, one in part.items():
            size = one.prs if isinstance(one, PullRequestSlice) else one.expected
            sizes[value] = max(sizes.get(value, 0), size)
    if not sizes.keys() - {"unknown"}:
        return None
    largest = sorted(sizes, key=lambda value: (-sizes[value], value))[:MOST_ROWS]
    order = sorted(largest, key=lambda value: (_ORDER.get(value.casefold(), 5), value.casefold()))

    def figures(name: str, measure: Measure) -> list[float | None]:
        part = parts[name]
        return [part[value].metrics.get(measure.name) if value in part else None for value in order]

    if len(parts) == 1:
        [lone] = parts
        columns = [(measure.label, figures(lone, measure)) for measure in dimension.measures]
        columns = [(label, values) for label, values in columns if any(value is not None for value in values)]
    else:
        columns = [(name, figures(name, dimension.main)) for name in parts]
    return Slices(dimension, {value: sizes[value] for value in order}, columns, len(sizes) - len(order))
