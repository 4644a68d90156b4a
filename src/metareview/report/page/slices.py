"""The section of slices: where each reviewer is strong and weak."""

from __future__ import annotations

from metareview.comments.summary import CommentsSummary
from metareview.report.names import capital
from metareview.report.numbers import count
from metareview.report.page.bars import scale_end
from metareview.report.page.blocks import Column, Section, barred, name, paragraph, remark, table
from metareview.report.page.markup import Html, html, join
from metareview.report.slices import DIMENSIONS, MOST_COLUMNS, Slices, sliced

FEW = 5
"""Pull requests or references below which a slice's figure means little."""


def slice_section(summary: CommentsSummary) -> Section | None:
    tables = sliced(summary)
    reviewers = len(summary.reviewers)
    if not tables:
        return None
    end = scale_end(value for slices in tables for row in slices.rows for value in row.figures)
    parts = [_markup(slices, end, lone=reviewers == 1) for slices in tables]
    if reviewers > MOST_COLUMNS:
        parts.insert(0, remark(f"The {MOST_COLUMNS} best of {reviewers} reviewers are shown; the run has them all."))
    named = {slices.dimension.key for slices in tables}
    missing = [dimension.title.lower() for dimension in DIMENSIONS if dimension.key not in named]
    if missing:
        parts.append(paragraph(f"The data does not name: {', '.join(missing)}.", css="muted"))
    return Section("slices", "Where each reviewer is strong and weak", join(parts))


def _markup(slices: Slices, end: float, *, lone: bool) -> Html:
    dimension = slices.dimension
    rows = [
        [
            name(row.value),
            f"{count(row.size)}{'*' if row.size < FEW else ''}",
            *(barred(value, end) for value in row.figures),
        ]
        for row in slices.rows
    ]
    columns = [Column(dimension.title, "name"), Column(capital(dimension.of), "num")]
    columns += [Column(capital(head) if lone else name(head), "slice") for head in slices.heads]
    shown = "figures" if lone else dimension.main.label
    caption = f"{capital(shown)} by {dimension.title.lower()}; bars run from 0 to {end:g}"
    remarks = []
    if any(row.size < FEW for row in slices.rows):
        remarks.append(f"* Fewer than {FEW} {dimension.of}: the figure means little.")
    if slices.left_out:
        remarks.append(
            f"The {len(slices.rows)} largest are shown, {count(slices.left_out)} are left out; the run has them all."
        )
    return html(
        "<h3>{title}</h3>{table}{remarks}",
        title=dimension.title,
        table=table(caption, columns, rows),
        remarks=paragraph(" ".join(remarks), css="muted") if remarks else None,
    )
