"""Figures by language and kind of pull request, and by category, context and severity of the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metareview.comments.measures import f1, positive_line_recall_rate, positive_match_rate, positive_recall_rate
from metareview.comments.summary import CommentsSummary, PullRequestSlice, ReferenceSlice, ReviewerSummary
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

    def parts(self, block: ReviewerSummary) -> Mapping[str, PullRequestSlice | ReferenceSlice]:
        return block.by_pull_request.get(self.key) or block.by_reference.get(self.key) or {}


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
class SliceRow:
    value: str
    size: int
    figures: tuple[float | None, ...]


@dataclass(frozen=True)
class Slices:
    """A table of slices: one row per value, one column per reviewer (or per measure of the only one)."""

    dimension: Dimension
    heads: tuple[str, ...]
    rows: tuple[SliceRow, ...]
    left_out: int
    """Values that there was no room for."""


def sliced(summary: CommentsSummary) -> list[Slices]:
    """The tables that have something to show: those where the data names a value."""
    names = ranked(summary.metrics, f1.name)[:MOST_COLUMNS]
    tables = (_slices_of(dimension, summary.reviewers, names) for dimension in DIMENSIONS)
    return [table for table in tables if table is not None]


def _slices_of(dimension: Dimension, blocks: Mapping[str, ReviewerSummary], names: Sequence[str]) -> Slices | None:
    parts = {name: dimension.parts(blocks[name]) for name in names}
    size: dict[str, int] = {}
    for part in parts.values():
        for value, one in part.items():
            this = one.prs if isinstance(one, PullRequestSlice) else one.expected
            size[value] = max(size.get(value, 0), this)
    if not size.keys() - {"unknown"}:
        return None
    largest = sorted(size, key=lambda value: (-size[value], value))[:MOST_ROWS]
    order = sorted(largest, key=lambda value: (_ORDER.get(value.casefold(), 5), value.casefold()))

    def figure(name: str, value: str, measure: Measure) -> float | None:
        one = parts[name].get(value)
        return None if one is None else one.metrics.get(measure.name)

    if len(names) == 1:
        [lone] = names
        shown = [m for m in dimension.measures if any(figure(lone, v, m) is not None for v in parts[lone])]
        columns = [(measure.label, lone, measure) for measure in shown]
    else:
        columns = [(name, name, dimension.main) for name in names]
    rows = tuple(
        SliceRow(value, size[value], tuple(figure(name, value, measure) for _, name, measure in columns))
        for value in order
    )
    return Slices(dimension, tuple(head for head, _, _ in columns), rows, len(size) - len(rows))
