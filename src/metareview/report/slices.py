"""Figures by language and kind of pull request, and by category, context and severity of the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metareview.comments.measures import f1, positive_line_recall_rate, positive_match_rate, positive_recall_rate
from metareview.comments.summary import CommentsSummary, PullRequestSlice, ReferenceSlice, ReviewerSummary
from metareview.model.measure import Measure
from metareview.report.headline import order
from metareview.report.numbers import count, interval
from metareview.stats import Interval

MOST_COLUMNS = 12
"""Reviewers side by side in one table."""
MOST_ROWS = 40
"""Values of a slice that are listed, the largest ones where there are more."""


@dataclass(frozen=True)
class Dimension:
    """What a table is sliced by. `measures`: those of a lone reviewer; with several reviewers, the last one."""

    key: str
    title: str
    measures: tuple[Measure, ...]
    usual: bool = True
    """Whether a reader may miss it where the data does not name it."""

    @property
    def main(self) -> Measure:
        return self.measures[-1]


_OF_PULL_REQUESTS = (positive_match_rate, positive_recall_rate, f1)
_OF_REFERENCES = (positive_line_recall_rate, positive_recall_rate)
DIMENSIONS = (
    Dimension("language", "Language", _OF_PULL_REQUESTS),
    Dimension("pr_category", "Kind of pull request", _OF_PULL_REQUESTS),
    Dimension("comment_category", "Category of the reference", _OF_REFERENCES),
    Dimension("context", "Context that the issue needs", _OF_REFERENCES),
    Dimension("severity", "Severity of the reference", _OF_REFERENCES),
    Dimension("producer", "Who wrote the reference", _OF_REFERENCES, usual=False),
    Dimension("is_ai_comment", "Reference by AI or people", _OF_REFERENCES, usual=False),
)
_ORDER = {"critical": 0, "high": 1, "medium": 2, "low": 3, "unknown": 9}


FEW = 5
"""Pull requests below which the figure of a slice means little."""
FOOTNOTE = f"* Fewer than {FEW} pull requests: the figure means little."


@dataclass(frozen=True)
class Size:
    """How many pull requests a value has, with the reviewer that has the most, and how many references."""

    prs: int | None
    references: float


@dataclass(frozen=True)
class Figure:
    """A reviewer's figure in a slice, over how many pull requests; None where the run did not note it."""

    value: float | None
    interval: Interval | None
    prs: int | None

    @property
    def sign(self) -> str:
        return "*" if self.value is not None and self.prs is not None and self.prs < FEW else ""

    def about(self, size: Size) -> list[str]:
        """Its interval, and its pull requests where the reviewer has fewer than the slice."""
        fewer = self.value is not None and self.prs is not None and self.prs != size.prs
        ends = [interval(self.interval)] if self.interval else []
        return [*ends, f"n {count(self.prs)}"] if fewer else ends


NO_FIGURE = Figure(None, None, None)


@dataclass(frozen=True)
class Slices:
    """A table of slices, the rows being the values of a dimension."""

    dimension: Dimension
    sizes: Mapping[str, Size]
    columns: Sequence[tuple[str, Sequence[Figure]]]
    """A head, a reviewer (or a measure of the only one), and a figure for each value."""
    left_out: int
    """Values that there was no room for."""

    @property
    def has_few(self) -> bool:
        return any(figure.sign for _, figures in self.columns for figure in figures)


def sliced(summary: CommentsSummary) -> list[Slices]:
    """The tables that have something to show: those where the data names a value."""
    best = {name: summary.reviewers[name] for name in order(summary).names[:MOST_COLUMNS]}
    tables = (_slices_of(dimension, best) for dimension in DIMENSIONS)
    return [table for table in tables if table is not None]


def _slices_of(dimension: Dimension, reviewers: Mapping[str, ReviewerSummary]) -> Slices | None:
    parts = {
        name: block.by_pull_request.get(dimension.key) or block.by_reference.get(dimension.key) or {}
        for name, block in reviewers.items()
    }
    sizes: dict[str, Size] = {}
    for part in parts.values():
        for value, one in part.items():
            references = one.counts.expected if isinstance(one, PullRequestSlice) else one.expected
            old = sizes.get(value, Size(one.prs, 0))
            most = None if one.prs is None else max(one.prs, old.prs or 0)
            sizes[value] = Size(most, max(references, old.references))
    if not sizes.keys() - {"unknown"}:
        return None
    largest = sorted(sizes, key=lambda value: (-sizes[value].references, value))[:MOST_ROWS]
    in_order = sorted(largest, key=lambda value: (_ORDER.get(value.casefold(), 5), value.casefold()))

    def figures(name: str, measure: Measure) -> list[Figure]:
        part = parts[name]
        return [_figure(part[value], measure) if value in part else NO_FIGURE for value in in_order]

    if len(parts) == 1:
        [lone] = parts
        columns = [(measure.label, figures(lone, measure)) for measure in dimension.measures]
        columns = [(label, cells) for label, cells in columns if any(cell.value is not None for cell in cells)]
    else:
        columns = [(name, figures(name, dimension.main)) for name in parts]
    return Slices(dimension, {value: sizes[value] for value in in_order}, columns, len(sizes) - len(in_order))


def _figure(part: PullRequestSlice | ReferenceSlice, measure: Measure) -> Figure:
    return Figure(part.metrics.get(measure.name), part.intervals.get(measure.name), part.prs)
