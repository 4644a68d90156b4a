"""What labels make of a run's figures, as sections of the Markdown report."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from metareview.report.labels import CORRECTED_REMARK, corrected_table
from metareview.report.run_labels import RunLabels
from metareview.report.tables import Table
from metareview.report.unlisted import PLUS_REMARK, left_out_table, plus_lines, plus_table

Safe = Callable[[object], str]
"""What makes others' text harmless in Markdown."""


def labels_sections(labels: RunLabels, safe: Safe, as_lines: Callable[[Table], list[str]]) -> list[str]:
    """Nothing where there are no labels and no unlisted issues."""
    lines: list[str] = []
    if labels.calibration is not None:
        lines += ["## Corrected by labels", ""]
        if labels.corrected:
            lines += [*as_lines(corrected_table(labels.corrected)), CORRECTED_REMARK, ""]
        lines += _listed([*labels.progress(), *labels.agreement()], safe)
    if labels.unlisted is not None:
        lines += ["## Beyond the references", "", *as_lines(plus_table(labels.unlisted)), PLUS_REMARK, ""]
        lines += _listed(plus_lines(labels.unlisted, spans=False), safe)
        if table := left_out_table(labels.unlisted):
            lines += as_lines(table)
    return lines


def _listed(lines: Iterable[str], safe: Safe) -> list[str]:
    return [*(f"- {safe(line)}" for line in lines), ""]
