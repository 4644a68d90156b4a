"""Patches of one file as GitHub gives them: hunks without file headers. Headers are tolerated.

Lines are split at line feeds alone, as git does, and a carriage return at the end is no part of a line: a file that
went from CRLF to LF has not changed. Everything here counts lines from 0.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from metareview.outcomes.reasons import DOES_NOT_APPLY, MALFORMED, NO_PATCH, TRUNCATED

_HUNK = re.compile(r"@@ -(\d{1,10})(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))? @@")
_FILE_HEADER = re.compile(
    r"(?:diff |index |--- |\+\+\+ |old mode |new mode |new file mode |deleted file mode |similarity index "
    r"|dissimilarity index |rename from |rename to |copy from |copy to )"
)
_BINARY = re.compile(r"Binary files .* differ|GIT binary patch")
_MOST_CELLS = 4_000_000
"""Runs of removed and added lines are aligned by text up to this many pairs; longer ones at both ends alone."""


class Edit(NamedTuple):
    """`removed` lines from `old` on make way for `added` lines from `new` on."""

    old: int
    removed: int
    new: int
    added: int

    @property
    def inverse(self) -> Edit:
        return Edit(self.new, self.added, self.old, self.removed)


class Hunk(NamedTuple):
    """What a hunk shows: from which line on, the lines before and after, and its text as it was given."""

    old: int
    before: tuple[str, ...]
    new: int
    after: tuple[str, ...]
    text: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Patch:
    """The hunks up to the first broken one, and what is broken."""

    hunks: tuple[Hunk, ...] = ()
    edits: tuple[Edit, ...] = ()
    reason: str | None = None


UNCHANGED = Patch()


def parse_patch(text: str) -> Patch:
    """The hunks of a patch; `reason` where it is truncated, malformed, binary, or its hunks cannot follow one another.

    >>> parse_patch("@@ -1,2 +1,2 @@\\n a\\n-b\\n+c").edits
    (Edit(old=1, removed=1, new=1, added=1),)
    """
    lines = text.split("\n")
    if lines[-1] in ("", "\r"):
        lines.pop()
    hunks: list[Hunk] = []
    edits: list[Edit] = []
    place, end, shift = _skip_headers(lines), 0, 0
    if place is None:
        return Patch(reason=NO_PATCH)
    while place < len(lines):
        header = _HUNK.match(lines[place])
        if not header:
            return Patch(tuple(hunks), tuple(edits), MALFORMED)
        hunk, place, found, reason = _read_hunk(lines, place, header)
        if reason is None and (hunk.old < end or hunk.new - hunk.old != shift):
            reason = DOES_NOT_APPLY
        if reason is not None:
            return Patch(tuple(hunks), tuple(edits), reason)
        end, shift = hunk.old + len(hunk.before), shift + len(hunk.after) - len(hunk.before)
        hunks.append(hunk)
        edits += found
    return Patch(tuple(hunks), tuple(edits))


def _skip_headers(lines: list[str]) -> int | None:
    """Where the first hunk begins; None where the file is binary."""
    for place, line in enumerate(lines):
        if _BINARY.match(line):
            return None
        if not _FILE_HEADER.match(line):
            return place
    return len(lines)


def _read_hunk(lines: list[str], place: int, header: re.Match[str]) -> tuple[Hunk, int, list[Edit], str | None]:
    """A hunk, where the next one begins, its edits, and what is wrong with it."""
    first = place
    old_start, old_count, new_start, new_count = (1 if number is None else int(number) for number in header.groups())
    # A side without lines names the line before the hunk.
    old, new = old_start - (old_count > 0), new_start - (new_count > 0)
    before: list[str] = []
    after: list[str] = []
    edits: list[Edit] = []
    removed: list[str] = []
    added: list[str] = []

    def close() -> None:
        if removed or added:
            edits.extend(_aligned(old + len(before) - len(removed), removed, new + len(after) - len(added), added))
            removed.clear()
            added.clear()

    reason = MALFORMED if old < 0 or new < 0 else None
    place += 1
    while reason is None and (len(before) < old_count or len(after) < new_count):
        if place == len(lines):
            reason = TRUNCATED
            break
        line = lines[place]
        place += 1
        mark, text = line[:1], line[1:].removesuffix("\r")
        if mark == "-":
            before.append(text)
            removed.append(text)
        elif mark == "+":
            after.append(text)
            added.append(text)
        elif mark in (" ", "", "\r"):
            close()
            before.append(text)
            after.append(text)
        elif line.startswith("@@ "):
            reason = TRUNCATED
        elif mark != "\\":
            reason = MALFORMED
    close()
    if reason is None and (len(before) != old_count or len(after) != new_count):
        reason = MALFORMED
    while place < len(lines) and lines[place].startswith("\\"):
        place += 1
    return Hunk(old, tuple(before), new, tuple(after), tuple(lines[first:place])), place, edits, reason


def _aligned(old: int, removed: list[str], new: int, added: list[str]) -> list[Edit]:
    """The edits of a run of removed and added lines; those that differ in their line's end alone are none."""
    if not removed or not added or set(removed).isdisjoint(added):
        return [Edit(old, len(removed), new, len(added))]
    return align(old, removed, new, added)


def align(old: int, removed: list[str], new: int, added: list[str]) -> list[Edit]:
    """What turns the one run of lines into the other."""
    shorter = min(len(removed), len(added))
    head = 0
    while head < shorter and removed[head] == added[head]:
        head += 1
    tail = 0
    while tail < shorter - head and removed[-1 - tail] == added[-1 - tail]:
        tail += 1
    removed, added = removed[head : len(removed) - tail], added[head : len(added) - tail]
    old, new = old + head, new + head
    if not removed and not added:
        return []
    if len(removed) * len(added) > _MOST_CELLS or set(removed).isdisjoint(added):
        return [Edit(old, len(removed), new, len(added))]
    codes = SequenceMatcher(None, removed, added, autojunk=False).get_opcodes()
    return [Edit(old + i, k - i, new + j, m - j) for kind, i, k, j, m in codes if kind != "equal"]
