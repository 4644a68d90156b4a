"""Spans of lines, and what edits do to them. A span is its first line and the line after its last, from 0."""

from __future__ import annotations

from collections.abc import Sequence

from metareview.outcomes.patches import Edit

Span = tuple[int, int]


def touches(edits: Sequence[Edit], span: Span) -> bool:
    """Whether a line of the span is taken out, or lines are put between two of its lines."""
    start, end = span
    for old, removed, _, _ in edits:
        if old >= end:
            return False
        if old + removed > start if removed else old > start:
            return True
    return False


def moved(edits: Sequence[Edit], span: Span) -> Span:
    """Where the span is then: lines that were replaced are wherever their replacement is."""
    start, end = span
    return _moved(edits, span, [edit for edit in edits if _inside(edit, start, end)])


def _inside(edit: Edit, start: int, end: int) -> bool:
    old, removed = edit.old, edit.removed
    return old < end and (old + removed > start if removed else old > start)


def grown(edits: Sequence[Edit], span: Span) -> Span | None:
    """The span between its surviving neighbours, with whatever was put beside it; None where no edit reaches it."""
    reaching = [edit for edit in edits if edit.old <= span[1] and edit.old + edit.removed >= span[0]]
    return _moved(edits, span, reaching) if reaching else None


def _moved(edits: Sequence[Edit], span: Span, inside: Sequence[Edit]) -> Span:
    start, end = span
    shift = 0
    for edit in edits:
        if edit.old + edit.removed > start or (inside and edit == inside[0]):
            break
        shift += edit.added - edit.removed
    if not inside:
        return start + shift, end + shift
    first, last = inside[0], inside[-1]
    new_start = first.new if first.old <= start else start + shift
    past = last.new + last.added
    return new_start, past + max(0, end - last.old - last.removed)
