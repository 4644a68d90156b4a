"""The section of slices: where each reviewer is strong and weak."""

from __future__ import annotations

from metareview.comments.summary import CommentsSummary
from metareview.report.names import capital
from metareview.report.numbers import count, rate
from metareview.report.page.blocks import Cells, Section, name, paragraph, remark, table_of
from metareview.report.page.charts import barred
from metareview.report.page.markup import Html, html, join
from metareview.report.slices import DIMENSIONS, FOOTNOTE, MOST_COLUMNS, Figure, Size, Slices, sliced

_CELL = '{}{}<span class="muted small">{}</span>'


def slice_section(summary: CommentsSummary) -> Section | None:
    tables = sliced(summary)
    reviewers = len(summary.reviewers)
    if not tables:
        return None
    parts = [_markup(slices, lone=reviewers == 1) for slices in tables]
    if reviewers > MOST_COLUMNS:
        parts.insert(0, remark(f"The {MOST_COLUMNS} best of {reviewers} reviewers are shown; the run has them all."))
    named = {slices.dimension for slices in tables}
    if missing := [dimension.title.lower() for dimension in DIMENSIONS if dimension.usual and dimension not in named]:
        parts.append(paragraph(f"The data does not name: {', '.join(missing)}.", css="muted"))
    return Section("slices", "Where each reviewer is strong and weak", join(parts))


def _markup(slices: Slices, *, lone: bool) -> Html:
    dimension, sizes = slices.dimension, list(slices.sizes.values())
    columns: list[Cells] = [
        (dimension.title, "name", map(name, slices.sizes)),
        ("Pull requests", "num", [count(size.prs) for size in sizes]),
        ("References", "num", [count(size.references) for size in sizes]),
    ]
    for head, figures in slices.columns:
        cells = [_cell(figure, size) for figure, size in zip(figures, sizes, strict=True)]
        columns.append((capital(head) if lone else name(head), "slice", cells))
    shown = "figures" if lone else dimension.main.label
    caption = f"{capital(shown)} by {dimension.title.lower()}, with 95 % intervals; bars run from 0 to 1"
    remarks = [FOOTNOTE] if slices.has_few else []
    if slices.left_out:
        left_out = f"{count(slices.left_out)} are left out; the run has them all."
        remarks.append(f"The {len(sizes)} largest are shown, {left_out}")
    below = paragraph(" ".join(remarks), css="muted") if remarks else None
    return html("<h3>{}</h3>{}{}", dimension.title, table_of(caption, columns), below)


def _cell(figure: Figure, size: Size) -> Html:
    return barred(html(_CELL, rate(figure.value), figure.sign, " · ".join(figure.about(size))), figure.value)
