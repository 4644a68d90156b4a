"""What a tool's summary says of one place."""

from __future__ import annotations

from dataclasses import dataclass

from metareview.formats.bodies.sections import Span
from metareview.model.comment import MAX_LINE


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding within a body: the part of the body that it takes up, its note, and the place that it names."""

    span: Span
    note: str
    path: str | None
    lines: tuple[int, int]
    side: str | None = None
    category: str | None = None
    severity: str | None = None
    heading: str | None = None
    """What the tool calls the part of its summary that it stands in."""


def line_numbers(first: str, last: str | None) -> tuple[int, int] | None:
    """The ends of a range, in order; None where they are no line numbers."""
    ends = sorted((int(first), int(last or first)))
    return (ends[0], ends[1]) if ends[0] >= 1 and ends[1] <= MAX_LINE else None
