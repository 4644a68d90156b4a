"""The suggestions in a comment's note, and whether one of them was taken.

A line is compared up to white space at its end. Where the lines differ otherwise, tabs are taken for spaces up to the
next multiple of 8, 4 or 2, the same for all lines: some clients indent a suggestion anew.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from operator import itemgetter

from metareview.outcomes.finding import Finding
from metareview.outcomes.line_search import occurrences
from metareview.outcomes.patches import align
from metareview.outcomes.reasons import CHANGES_NOTHING, NOT_SHOWN, PLACE_REWRITTEN
from metareview.outcomes.spans import Span
from metareview.outcomes.versions import Version, Versions

_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})(.*)", re.DOTALL)
_OFFSETS = re.compile(r"suggestion:-(\d{1,4})\+(\d{1,4})(?!\S)")
_TAB_SIZES = (8, 4, 2)
_REACHES = (*range(1, 17), 20, 24, 32)
"""How far from the lines a neighbour is looked for that survived."""
MOST_SUGGESTIONS = 100
"""Suggestions of one note that are looked for, each in the lines of its place."""
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
    return list(dict.fromkeys(_blocks(note)))


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
    if _is_as_suggested(versions, wanted, old, span, new):
        return Finding(True)
    where, was = _finder(new), _finder(old)
    lines = old.lines(*span)
    if not wanted:
        return _removed(old, span, gap, lambda line: where(line) is not None)
    dropped: list[int] = []
    adds = True
    if len(known) == size:
        edits = align(0, [*map(_ends, known)], 0, [*map(_ends, wanted)])
        dropped = [lines[number] for edit in edits for number in range(edit.old, edit.old + edit.removed)]
        adds = any(edit.added for edit in edits)
    if any(where(line) is not None for line in dropped):
        return Finding(False)
    if not adds:
        # It only takes lines out: whatever else stands there is not what was suggested.
        return _stands(versions, wanted, new, [gap[0]] if gap[1] - gap[0] == len(wanted) else [], None)
    inside = range(gap[0], gap[1] - len(wanted) + 1)
    # A diff may find a suggested line again in one beside them: then the new ones begin or end outside the gap.
    around = (gap[0], gap[1] - len(wanted))
    return _stands(versions, wanted, new, chain(inside, around), lambda line: was(line) is not None)


def _stands(
    versions: Versions, wanted: Sequence[str], new: Version, starts: Iterable[int], had: Callable[[int], bool] | None
) -> Finding:
    """Whether the wanted lines stand at one of the places, at least one of them new where it is told what there was."""
    places = {start for start in starts if start >= 0}
    if not places or not wanted:
        return Finding(bool(places))
    first, size = min(places), len(wanted)
    lines = new.lines(first, max(places) + size)
    texts = [versions.text(line) for line in lines]
    fresh = None if had is None else _counts(not had(line) for line in lines)
    unseen = _counts(text is None for text in texts)
    hidden = False
    for way in _WAYS:
        there = [None if text is None else way(text) for text in texts]
        for at in occurrences(there, [*map(way, wanted)]):
            if first + at not in places or (fresh is not None and fresh[at] == fresh[at + size]):
                continue
            if unseen[at] == unseen[at + size]:
                return Finding(True)
            hidden = True
    return Finding(None, NOT_SHOWN) if hidden else Finding(False)


def _counts(flags: Iterable[bool]) -> list[int]:
    """How many are true before each place, and before the end."""
    return [0, *accumulate(flags)]


def _removed(old: Version, span: Span, gap: Span, has: Callable[[int], bool]) -> Finding:
    """Whether the lines of the span were taken out, and nothing put in their place."""
    if gap[0] == gap[1]:
        return Finding(True)
    if any(has(line) for line in old.lines(*span)):
        return Finding(False)
    beside = [*old.lines(max(span[0] - 1, 0), span[0]), *old.lines(span[1], span[1] + 1)]
    return Finding(False) if all(map(has, beside)) else Finding(None, PLACE_REWRITTEN)


def _is_as_suggested(versions: Versions, wanted: Sequence[str], old: Version, span: Span, new: Version) -> bool:
    """Whether the file around the lines is just what taking the suggestion makes of it.

    Of equal lines a diff takes any for those that stayed, so what was changed may seem to stand beside the lines.
    """
    where, size, reach = _finder(new), span[1] - span[0], _REACHES[-1]
    first = max(span[0] - reach, 0)
    before = old.lines(first, span[1] + reach)
    survived = [(first + number, now) for number, line in enumerate(before) if (now := where(line)) is not None]
    above = [each for each in survived if span[0] - each[0] in _REACHES]
    below = [each for each in survived if each[0] - span[1] + 1 in _REACHES]
    # Seen from a line above that stayed, the suggested lines can stand at one place only.
    starts = {now + span[0] - place for place, now in above}
    fitting = {start for start in starts if _stands(versions, wanted, new, [start], None).value}
    for low, new_low in above:
        if new_low + span[0] - low not in fitting:
            continue
        for high, new_high in below:
            if new_high - new_low - high + low != len(wanted) - size:
                continue
            was, after = before[low - first : high + 1 - first], new.lines(new_low, new_high + 1)
            head, tail = span[0] - low, high + 1 - span[1]
            stays = [*was[:head], *was[len(was) - tail :]]
            stayed = [*after[:head], *after[len(after) - tail :]]
            if was != after and all(_alike(versions, *pair) for pair in zip(stays, stayed, strict=True)):
                return True
    return False


def _alike(versions: Versions, line: int, other: int) -> bool:
    if line == other:
        return True
    text, there = versions.text(line), versions.text(other)
    return text is not None and there is not None and _ends(text) == _ends(there)


def _finder(version: Version) -> Callable[[int], int | None]:
    """Where a line stands in the version."""
    pieces = version.by_identity

    def where(line: int) -> int | None:
        which = bisect_right(pieces, line, key=itemgetter(0)) - 1
        if which < 0 or line >= pieces[which][0] + pieces[which][1]:
            return None
        return pieces[which][2] + line - pieces[which][0]

    return where
