"""Two versions of a file on branches that do not lead to one another: before a force push and after it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice

from metareview.outcomes.line_search import occurrences
from metareview.outcomes.patches import Edit, align
from metareview.outcomes.spans import Span
from metareview.outcomes.versions import Version, Versions

_MOST_LINES = 100_000
_CONTEXT = 3
_DISTINCT = 3
"""Lines that say something, from which on a run is found without a neighbour that agrees."""


def difference(versions: Versions, old: Version, new: Version) -> list[Edit] | None:
    """The edits that turn one version into the other; None where they have no common base, or too little is shown.

    Lines that both have are the same line; between them everything was put in by one side or taken out by the other,
    so patches show it, and equal texts are equal lines.
    """
    common = _common(old, new)
    ends = (old.length, new.length)
    if not common and None in ends:
        return None
    old_end, new_end = old.starts[-1], new.starts[-1]
    edits: list[Edit] = []
    old_place = new_place = 0
    for old_start, new_start, size in (*common, (old_end, new_end, 0)):
        if old_start - old_place > _MOST_LINES or new_start - new_place > _MOST_LINES:
            return None
        before = versions.texts(old, old_place, old_start)
        after = versions.texts(new, new_place, new_start)
        known_before = [text for text in before if text is not None]
        known_after = [text for text in after if text is not None]
        if len(known_before) < len(before) or len(known_after) < len(after):
            return None
        edits += align(old_place, known_before, new_place, known_after)
        old_place, new_place = old_start + size, new_start + size
    return edits


def _common(old: Version, new: Version) -> list[tuple[int, int, int]]:
    """Runs of lines that both have: where in the one, where in the other, how many; in the order of both."""
    theirs = new.by_identity
    starts = [first for first, _, _ in theirs]
    found: list[tuple[int, int, int]] = []
    place, reached = 0, 0
    for first, size in old.pieces:
        which = max(bisect_right(starts, first) - 1, 0)
        while which < len(theirs) and theirs[which][0] < first + size:
            start, length, there = theirs[which]
            low, high = max(first, start), min(first + size, start + length)
            where = there + low - start
            if low < high and where >= reached:
                found.append((place + low - first, where, high - low))
                reached = where + high - low
            which += 1
        place += size
    return found


def search(versions: Versions, old: Version, span: Span, new: Version) -> Span | None:
    """Where the lines of the span stand in a version of another base, by what they and their neighbours say.

    None unless patches show them all, and they are found at exactly one place: neighbours that are known in both must
    agree, and at least one does, unless the lines themselves say enough.
    """
    texts_then = versions.texts(old, *span)
    wanted = [text for text in texts_then if text is not None]
    if not wanted or len(wanted) < len(texts_then):
        return None
    above = versions.texts(old, max(span[0] - _CONTEXT, 0), span[0])[::-1]
    below = versions.texts(old, span[1], span[1] + _CONTEXT)
    distinct = sum(bool(text.strip()) for text in wanted) >= _DISTINCT
    found = []
    for first, texts in shown_runs(versions, new):
        for start in occurrences(texts, wanted):
            end = start + len(wanted)
            higher = texts[max(start - _CONTEXT, 0) : start][::-1]
            agreeing = [_agree(above, higher), _agree(below, texts[end : end + _CONTEXT])]
            if None not in agreeing and (distinct or any(agreeing)):
                found.append((first + start, first + end))
    return found[0] if len(found) == 1 else None


def replacement(versions: Versions, old: Version, span: Span, new: Version) -> Span | None:
    """What stands between the neighbours of the span in a version of another base; None where that is not shown."""
    size = old.starts[-1]
    above = versions.texts(old, max(span[0] - _CONTEXT, 0), span[0])
    below = versions.texts(old, span[1], min(span[1] + _CONTEXT, size))
    higher, lower = ([text for text in texts if text is not None] for texts in (above, below))
    if not higher or not lower or len(higher) + len(lower) < len(above) + len(below):
        return None
    places = (
        (first + start, first + end)
        for first, texts in shown_runs(versions, new)
        for start, end in _between(texts, higher, lower)
    )
    found = next(places, None)
    return found if next(places, None) is None else None


def _between(texts: Sequence[str | None], above: Sequence[str], below: Sequence[str]) -> Iterator[Span]:
    """Every place between lines above and lines below it."""
    ends = list(occurrences(texts, below))
    for start in occurrences(texts, above):
        after = start + len(above)
        yield from ((after, end) for end in islice(ends, bisect_left(ends, after), None))


def shown_runs(versions: Versions, version: Version) -> list[tuple[int, list[str | None]]]:
    """Runs of lines that patches show, and where they begin."""
    runs: list[tuple[int, list[str | None]]] = []
    place = 0
    for first, size in version.pieces:
        for line in versions.shown(first, size):
            where = place + line - first
            if runs and runs[-1][0] + len(runs[-1][1]) == where:
                runs[-1][1].append(versions.text(line))
            else:
                runs.append((where, [versions.text(line)]))
        place += size
    return runs


def _agree(here: list[str | None], there: list[str | None]) -> bool | None:
    """Whether the nearest neighbours agree; None where known ones differ, False where none is known in both."""
    known = [(a, b) for a, b in zip(here, there, strict=False) if a is not None and b is not None]
    if any(a != b for a, b in known):
        return None
    return bool(known)
