"""Figures by language and kind of pull request, and by category, context and severity of the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metareview.report.numbers import SHORT_NAMES, capital, count, ranked, rate
from metareview.report.page.bars import cell_bar, scale_end
from metareview.report.page.blocks import Column, Section, name, paragraph, remark, table
from metareview.report.page.markup import Html, html, join
from metareview.report.source import Run

MOST_COLUMNS = 12
"""Reviewers side by side in one table."""
FEW = 5
"""Pull requests or references below which a slice's figure says little."""
MOST_ROWS = 40
"""Values of a slice that are listed, the largest first where there are more."""


@dataclass(frozen=True)
class Dimension:
    """What a table is sliced by. `metrics`: those of a lone reviewer; the last one stands for several."""

    key: str
    title: str
    size: str
    of: str
    metrics: tuple[str, ...]


_PULL_REQUESTS = ("prs", "pull requests", ("positive_match_rate", "positive_recall_rate", "f1"))
_REFERENCES = ("positive_expected_nums", "references", ("positive_line_recall_rate", "positive_recall_rate"))
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
    """A table of slices: one row a value, one column a reviewer (or a metric of the only one)."""

    dimension: Dimension
    heads: tuple[str, ...]
    rows: tuple[tuple[str, int, tuple[float | None, ...]], ...]
    """Value, size, figures."""
    left_out: int
    """Values that there was no room for."""


def sliced(summary: Mapping[str, Any]) -> list[Slices]:
    """The tables that have something to say: those where the data names a value."""
    blocks: Mapping[str, Any] = summary["reviewers"]
    names = ranked(blocks)[:MOST_COLUMNS]
    return [found for dimension in DIMENSIONS if (found := _slices_of(dimension, blocks, names)) is not None]


def _slices_of(dimension: Dimension, blocks: Mapping[str, Any], names: Sequence[str]) -> Slices | None:
    parts = {n: blocks[n]["slices"].get(dimension.key, {}) for n in names}
    size = {
        value: max(part[value][dimension.size] for part in parts.values() if value in part)
        for value in {value for part in parts.values() for value in part}
    }
    if not size.keys() - {"unknown"}:
        return None
    largest = sorted(size, key=lambda value: (-size[value], value))[:MOST_ROWS]
    order = sorted(largest, key=lambda value: (_ORDER.get(value.casefold(), 5), value.casefold()))
    metrics = dimension.metrics
    if len(names) == 1:
        part = parts[names[0]]
        asked = [m for m in metrics if any(v["metrics"].get(m) is not None for v in part.values())]
        heads = tuple(SHORT_NAMES[m] for m in asked)
        figures = {v: tuple(part[v]["metrics"].get(m) for m in asked) for v in order}
    else:
        heads = tuple(names)
        figures = {
            v: tuple(parts[n][v]["metrics"].get(metrics[-1]) if v in parts[n] else None for n in names)
            for v in order
        }
    rows = tuple((value, size[value], figures[value]) for value in order)
    return Slices(dimension, heads, rows, len(size) - len(rows))


def slice_section(run: Run) -> Section | None:
    tables = sliced(run.summary)
    reviewers = len(run.summary["reviewers"])
    if not tables:
        return None
    end = scale_end(value for found in tables for _, _, values in found.rows for value in values)
    parts = [_markup(found, end, lone=reviewers == 1) for found in tables]
    if reviewers > MOST_COLUMNS:
        told = f"The {MOST_COLUMNS} best of {reviewers} reviewers are shown; the run has them all."
        parts.insert(0, remark(told))
    named = {found.dimension.key for found in tables}
    missing = [dimension.title.lower() for dimension in DIMENSIONS if dimension.key not in named]
    if missing:
        parts.append(paragraph(f"The data does not name: {', '.join(missing)}.", css="muted"))
    return Section("slices", "Where each reviewer is strong and weak", join(parts))


def _markup(found: Slices, end: float, *, lone: bool) -> Html:
    dimension = found.dimension
    rows = []
    for value, size, values in found.rows:
        cells = [html("{text}{bar}", text=rate(v), bar=cell_bar(v, end)) for v in values]
        rows.append([name(value), f"{count(size)}{'*' if size < FEW else ''}", *cells])
    columns = [Column(dimension.title, "name"), Column(dimension.of.capitalize(), "num")]
    columns += [Column(capital(head) if lone else name(head), "slice") for head in found.heads]
    measure = "figures" if lone else SHORT_NAMES[dimension.metrics[-1]]
    caption = f"{capital(measure)} by {dimension.title.lower()}; bars run from 0 to {end:g}"
    told = []
    if any(size < FEW for _, size, _ in found.rows):
        told.append(f"* Fewer than {FEW} {dimension.of}: the figure says little.")
    if found.left_out:
        told.append(
            f"The {len(found.rows)} largest are shown, {found.left_out:,} are left out; the run has them all."
        )
    return html(
        "<h3>{title}</h3>{table}{told}",
        title=dimension.title,
        table=table(caption, columns, rows),
        told=paragraph(" ".join(told), css="muted") if told else None,
    )
