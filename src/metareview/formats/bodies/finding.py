"""Findings in a tool's summary."""

from __future__ import annotations

from dataclasses import dataclass

from metareview.formats.bodies.sections import Span
from metareview.model.comment import MAX_LINE


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding within a body: its span there, its note, and the place that it names."""

    span: Span
    note: str
    path: str | None
    lines: tuple[int, int]
    side: str | None = None
    category: str | None = None
    severity: str | None = None
    heading: str | None = None
    """The title of the section that it is in."""


def line_numbers(first: str, last: str | None) -> tuple[int, int] | None:
    """The ends of a range, in order; None if they are not line numbers."""
    ends = sorted((int(first), int(last or first)))
    return (ends[0], ends[1]) if ends[0] >= 1 and ends[1] <= MAX_LINE else None
