"""The section of slices: where each reviewer is strong and weak."""

from __future__ import annotations

from metareview.comments.summary import CommentsSummary
from metareview.report.names import capital
from metareview.report.numbers import count
from metareview.report.page.blocks import Cells, Section, barred, name, paragraph, remark, table_of
from metareview.report.page.charts import scale_end
from metareview.report.page.markup import Html, html, join
from metareview.report.slices import DIMENSIONS, MOST_COLUMNS, Slices, sliced

FEW = 5
"""Pull requests or references below which a slice's figure means little."""


def slice_section(summary: CommentsSummary) -> Section | None:
    tables = sliced(summary)
    reviewers = len(summary.reviewers)
    if not tables:
        return None
    end = scale_end(value for slices in tables for _, values in slices.columns for value in values)
    parts = [_markup(slices, end, lone=reviewers == 1) for slices in tables]
    if reviewers > MOST_COLUMNS:
        parts.insert(0, remark(f"The {MOST_COLUMNS} best of {reviewers} reviewers are shown; the run has them all."))
    named = {slices.dimension for slices in tables}
    if missing := [dimension.title.lower() for dimension in DIMENSIONS if dimension not in named]:
        parts.append(paragraph(f"The data does not name: {', '.join(missing)}.", css="muted"))
    return Section("slices", "Where each reviewer is strong and weak", join(parts))


def _markup(slices: Slices, end: float, *, lone: bool) -> Html:
    dimension, sizes = slices.dimension, slices.sizes.values()
    columns: list[Cells] = [(dimension.title, "name", map(name, slices.sizes))]
    columns += [(capital(dimension.of), "num", [f"{count(size)}{'*' if size < FEW else ''}" for size in sizes])]
    for head, values in slices.columns:
        columns.append((capital(head) if lone else name(head), "slice", [barred(value, end) for value in values]))
    shown = "figures" if lone else dimension.main.label
    caption = f"{capital(shown)} by {dimension.title.lower()}; bars run from 0 to {end:g}"
    remarks = []
    if any(size < FEW for size in sizes):
        remarks.append(f"* Fewer than {FEW} {dimension.of}: the figure means little.")
    if slices.left_out:
        left_out = f"{count(slices.left_out)} are left out; the run has them all."
        remarks.append(f"The {len(sizes)} largest are shown, {left_out}")
    below = paragraph(" ".join(remarks), css="muted") if remarks else None
    return html("<h3>{}</h3>{}{}", dimension.title, table_of(caption, columns), below)
