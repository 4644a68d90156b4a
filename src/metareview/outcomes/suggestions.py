"""The suggestions in a comment's note, and whether one of them was taken.

A line is compared up to white space at its end. Where the lines differ otherwise, tabs are taken for spaces up to the
next multiple of 8, 4 or 2, the same for all lines: some clients indent a suggestion anew.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from metareview.outcomes.finding import Finding
from metareview.outcomes.patches import align
from metareview.outcomes.reasons import CHANGES_NOTHING, NOT_SHOWN, PLACE_REWRITTEN
from metareview.outcomes.spans import Span
from metareview.outcomes.versions import Version, Versions

_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})(.*)", re.DOTALL)
_OFFSETS = re.compile(r"suggestion:-(\d{1,4})\+(\d{1,4})(?!\S)")
_TAB_SIZES = (8, 4, 2)
_MOST_LINES = 10_000
"""No place is looked through that is longer than this."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The suggested lines; `above` and `below` say how many lines around the last one they replace, if they say so."""

    lines: tuple[str, ...]
    above: int | None = None
    below: int = 0

    def span(self, lines: Span) -> Span:
        """The lines that it replaces, of a comment on these."""
        if self.above is None:
            return lines
        return max(lines[1] - 1 - self.above, 0), lines[1] + self.below


def suggestions(note: str) -> list[Suggestion]:
    """The `suggestion` blocks of a note; one that is not closed goes on to the end.

    >>> suggestions("Use a set:\\n```suggestion\\nnames = set()\\n```")
    [Suggestion(lines=('names = set()',), above=None, below=0)]
    """
    if "suggestion" not in note:
        return []
    return list(_blocks(note))


def _blocks(note: str) -> Iterator[Suggestion]:
    fence, indent, info = "", 0, ""
    inside: list[str] = []
    for line in note.replace("\r\n", "\n").split("\n"):
        found = _FENCE.fullmatch(line)
        if not fence:
            # In an info string of backticks no backtick can stand: that would be code within a line.
            if found and not (found[2][0] == "`" and "`" in found[3]):
                fence, indent, info, inside = found[2], len(found[1].expandtabs(4)), found[3].strip(), []
        elif found and found[2][0] == fence[0] and len(found[2]) >= len(fence) and not found[3].strip():
            yield from _suggestion(info, inside)
            fence = ""
        else:
            inside.append(_dedented(line, indent))
    if fence:
        if inside and not inside[-1].strip():
            inside.pop()
        yield from _suggestion(info, inside)


def _dedented(line: str, indent: int) -> str:
    taken = 0
    while taken < min(indent, len(line)) and line[taken] == " ":
        taken += 1
    return line[taken:]


def _suggestion(info: str, lines: list[str]) -> Iterator[Suggestion]:
    if re.match(r"suggestion(?![\w-])", info):
        offsets = _OFFSETS.match(info)
        yield Suggestion(tuple(lines), int(offsets[1]), int(offsets[2])) if offsets else Suggestion(tuple(lines))


def _ends(text: str) -> str:
    return text.rstrip()


def _with_tabs(size: int) -> Callable[[str], str]:
    return lambda text: text.rstrip().expandtabs(size)


_WAYS: tuple[Callable[[str], str], ...] = (_ends, *map(_with_tabs, _TAB_SIZES))


def taken(
    versions: Versions, suggestion: Suggestion, old: Version, span: Span, new: Version, gap: Span | None
) -> Finding:
    """Whether the lines of the span became what is suggested.

    `gap` is what stands between the span's surviving neighbours in the end; None where the file is gone.
    """
    wanted = suggestion.lines
    size = span[1] - span[0]
    if max(size, len(wanted), 0 if gap is None else gap[1] - gap[0]) > _MOST_LINES:
        return Finding(None, NOT_SHOWN)
    before = versions.texts(old, *span)
    known = [text for text in before if text is not None]
    if len(known) == size and [*map(_ends, known)] == [*map(_ends, wanted)]:
        return Finding(None, CHANGES_NOTHING)
    if gap is None:
        return Finding(not wanted)
    has = _membership(new)
    lines = list(old.lines(*span))
    if not wanted:
        return _removed(versions, old, span, new, gap, has)
    dropped: list[int] = []
    adds = True
    if len(known) == size:
        edits = align(0, [*map(_ends, known)], 0, [*map(_ends, wanted)])
        dropped = [lines[number] for edit in edits for number in range(edit.old, edit.old + edit.removed)]
        adds = any(edit.added for edit in edits)
    if any(map(has, dropped)):
        return Finding(False)
    if not adds:
        # It only takes lines out: whatever else stands there is not what was suggested.
        return _stands(versions, wanted, new, [gap[0]] if gap[1] - gap[0] == len(wanted) else [], None)
    inside = range(gap[0], gap[1] - len(wanted) + 1)
    # A diff may find a suggested line again in one beside them: then the new ones begin or end outside the gap.
    around = (gap[0], gap[1] - len(wanted))
    had = _membership(old)
    return _stands(versions, wanted, new, dict.fromkeys([*inside, *around]), had)


def _stands(
    versions: Versions,
    wanted: Sequence[str],
    new: Version,
    starts: Sequence[int] | dict[int, None],
    had: Callable[[int], bool] | None,
) -> Finding:
    """Whether the wanted lines stand at one of the places, at least one of them new where it is told what there was."""
    hidden = False
    for start in starts:
        if start < 0:
            continue
        lines = list(new.lines(start, start + len(wanted)))
        if len(lines) < len(wanted) or (had is not None and all(map(had, lines))):
            continue
        texts = [versions.text(line) for line in lines]
        for way in _WAYS:
            if all(text is None or way(text) == way(line) for text, line in zip(texts, wanted, strict=True)):
                if None not in texts:
                    return Finding(True)
                hidden = True
    return Finding(None, NOT_SHOWN) if hidden else Finding(False)


def _removed(
    versions: Versions, old: Version, span: Span, new: Version, gap: Span, has: Callable[[int], bool]
) -> Finding:
    """Whether the lines of the span were taken out, and nothing put in their place."""
    if gap[0] == gap[1]:
        return Finding(True)
    if any(has(line) for line in old.lines(*span)):
        return Finding(_removed_beside(versions, old, span, new, gap))
    beside = [*old.lines(max(span[0] - 1, 0), span[0]), *old.lines(span[1], span[1] + 1)]
    return Finding(False) if all(map(has, beside)) else Finding(None, PLACE_REWRITTEN)


def _removed_beside(versions: Versions, old: Version, span: Span, new: Version, gap: Span) -> bool:
    """Whether what stands beside the span now stands in its place: of two equal lines, a diff takes out either."""
    size = span[1] - span[0]
    windows = (
        # What followed it, from its first line on; what preceded it, up to its last line.
        ((span[1], span[1] + size + 1), (gap[0], gap[0] + size + 1), (span[0], span[0] + size + 1)),
        ((span[0] - size - 1, span[0]), (gap[1] - size - 1, gap[1]), (span[1] - size - 1, span[1])),
    )
    for beside, place, untouched in windows:
        if min(beside[0], place[0], untouched[0]) < 0:
            continue
        expected = versions.texts(old, *beside)
        now = list(new.lines(*place))
        was = list(old.lines(*untouched))
        if expected and None not in expected and now != was and [versions.text(line) for line in now] == expected:
            return True
    return False


def _membership(version: Version) -> Callable[[int], bool]:
    """Whether a line is in the version."""
    pieces = sorted(version.pieces)
    starts = [first for first, _ in pieces]

    def has(line: int) -> bool:
        which = bisect_right(starts, line) - 1
        return which >= 0 and line < pieces[which][0] + pieces[which][1]

    return has
