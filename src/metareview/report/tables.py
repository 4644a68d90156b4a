"""Tables of text: what the terminal, Markdown and notebooks show alike, each in its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from metareview.comments.measures import f1, positive_line_match_rate, positive_line_recall_rate
from metareview.comments.summary import CommentsSummary
from metareview.model.measure import Measure
from metareview.report.numbers import count, interval, ranked, rate
from metareview.routing.summary import RoutingSummary


@dataclass(frozen=True, slots=True)
class Column:
    head: str
    text: bool = False
    """Set to the left; numbers are set to the right."""
    optional: bool = False
    """May be left out where there is no room for all."""
    from_data: bool = False
    """The head is somebody's name, not a word of ours."""


@dataclass(frozen=True, slots=True)
class Table:
    columns: Sequence[Column]
    rows: Sequence[Sequence[str]]

    def without(self, position: int) -> Table:
        """The table without one of its columns."""
        keep = [at for at in range(len(self.columns)) if at != position]
        return Table([self.columns[at] for at in keep], [[row[at] for at in keep] for row in self.rows])


Cell = Callable[[str], str]
"""What a column has for a name."""


def table_of(names: Iterable[str], columns: Iterable[tuple[Column, Cell]]) -> Table:
    """One row per name."""
    columns = list(columns)
    return Table([column for column, _ in columns], [[cell(name) for _, cell in columns] for name in names])


def reviewers_table(summary: CommentsSummary) -> Table:
    """One row per reviewer, the best F1 first."""
    blocks = summary.reviewers

    def figure(measure: Measure, *, optional: bool = False) -> tuple[Column, Cell]:
        return Column(measure.label, optional=optional), lambda name: rate(blocks[name].metrics[measure.name])

    columns: list[tuple[Column, Cell]] = [
        (Column("reviewer", text=True), str),
        (Column("PRs", optional=True), lambda name: count(blocks[name].prs)),
        (Column("comments", optional=True), lambda name: count(blocks[name].counts.generated)),
    ]
    for measure in summary.measures:
        if measure in (positive_line_match_rate, positive_line_recall_rate):
            continue  # line F1 holds both
        columns.append(figure(measure, optional=bool(measure.needs)))
        if measure is f1:
            columns.append((Column("95 %"), lambda name: interval(blocks[name].intervals[f1.name])))
    if any(block.counts.undecided for block in blocks.values()):
        columns.append((Column("undecided"), lambda name: count(blocks[name].counts.undecided)))
        columns.append((Column("F1 bounds"), lambda name: interval(blocks[name].bounds[f1.name])))
    return table_of(ranked(summary.metrics, f1.name), columns)


def routers_table(summary: RoutingSummary, *, all_intervals: bool = False) -> Table:
    """One row per router, the best MRR first; intervals of every measure, or of MRR alone."""
    routers = summary.routers

    def figure(measure: Measure) -> tuple[Column, Cell]:
        return Column(measure.label), lambda name: rate(routers[name].metrics[measure.name])

    def ends(measure: Measure) -> tuple[Column, Cell]:
        return Column("95 %"), lambda name: interval(routers[name].intervals.get(measure.name))

    columns: list[tuple[Column, Cell]] = [(Column("router", text=True), str)]
    for measure in summary.measures:
        with_interval = all_intervals or measure.name == "mrr"
        columns += [figure(measure), ends(measure)] if with_interval else [figure(measure)]
    columns += [
        (Column("where observed", optional=True), lambda name: rate(routers[name].observed_metrics["mrr"])),
        (Column("Gini", optional=True), lambda name: rate(routers[name].load.gini)),
        (Column("top share", optional=True), lambda name: rate(routers[name].load.top1_share)),
    ]
    return table_of(ranked(summary.metrics, "mrr"), columns)
