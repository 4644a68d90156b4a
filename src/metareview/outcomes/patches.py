"""Patches of one file as GitHub gives them: hunks without file headers. Headers are tolerated.

Lines are split at line feeds alone, as git does, and a carriage return at the end is no part of a line: a file that
went from CRLF to LF has not changed. Everything here counts lines from 0.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from metareview.model.comment import MAX_LINE
from metareview.outcomes.reasons import DOES_NOT_APPLY, MALFORMED, NO_PATCH, TRUNCATED

_HUNK = re.compile(r"@@ -(\d{1,10})(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))? @@")
_FILE_HEADER = re.compile(
    r"(?:diff |index |--- |\+\+\+ |old mode |new mode |new file mode |deleted file mode |similarity index "
    r"|dissimilarity index |rename from |rename to |copy from |copy to )"
)
_BINARY = re.compile(r"Binary files .* differ|GIT binary patch")
_RUN = re.compile(r"[-+]+")
_MOST_CELLS = 100_000_000
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
    heads = [number for number, line in enumerate(lines) if line[:3] == "@@ "]
    while place < len(lines):
        after = bisect_right(heads, place)
        following = heads[after] if after < len(heads) else len(lines)
        header = _HUNK.match(lines[place])
        if not header:
            return Patch(tuple(hunks), tuple(edits), MALFORMED)
        hunk, place, found, reason = _read_hunk(lines, place, following, header)
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


def _read_hunk(
    lines: list[str], place: int, following: int, header: re.Match[str]
) -> tuple[Hunk, int, list[Edit], str | None]:
    """A hunk, where the next one begins, its edits, and what is wrong with it."""
    old_start, old_count, new_start, new_count = [1 if number is None else int(number) for number in header.groups()]
    # A side without lines names the line before the hunk.
    old, new = old_start - (old_count > 0), new_start - (new_count > 0)
    body = lines[place + 1 : following]
    marks = "".join([line[:1] for line in body])
    kept, end = marks.count(" "), following
    reason = MALFORMED if min(old, new) < 0 or max(old_start, new_start) > MAX_LINE else None
    if reason is not None:
        body, marks = [], ""
    # Nearly every hunk has as many lines as it says, up to the next one: then they need not be counted singly.
    elif not (
        len(marks) == len(body) == old_count + new_count - kept
        and kept + marks.count("-") == old_count
        and kept + marks.count("+") == new_count
    ):
        body, end, reason = _counted(lines, place + 1, old_count, new_count)
        marks = "".join([line[0] for line in body])
    texts = [line[1:].removesuffix("\r") for line in body]
    before = tuple([text for mark, text in zip(marks, texts, strict=True) if mark != "+"])
    after = tuple([text for mark, text in zip(marks, texts, strict=True) if mark != "-"])
    hunk = Hunk(old, before, new, after, tuple(lines[place:end]))
    return hunk, end, [] if reason else _edits(hunk, marks), reason


def _counted(lines: list[str], place: int, olds: int, news: int) -> tuple[list[str], int, str | None]:
    """The lines of a hunk, taken until there are as many as it says; where the next begins; what is wrong with it."""
    body: list[str] = []
    while olds > 0 or news > 0:
        if place == len(lines):
            return [], place, TRUNCATED
        line = lines[place]
        place += 1
        mark = line[:1]
        if mark in ("", "\r"):
            mark, line = " ", f" {line}"  # An empty line that lost its mark with the white space at its end.
        if mark not in ("+", "-", " ", "\\"):
            return [], place, TRUNCATED if line.startswith("@@ ") else MALFORMED
        if mark != "\\":  # "No newline at end of file" is no line.
            body.append(line)
            olds, news = olds - (mark != "+"), news - (mark != "-")
    while place < len(lines) and lines[place].startswith("\\"):
        place += 1
    return ([], place, MALFORMED) if olds or news else (body, place, None)


def _edits(hunk: Hunk, marks: str) -> list[Edit]:
    """The edits of a hunk: one per run of removed and added lines, but for those that only a line's end tells apart."""
    edits: list[Edit] = []
    olds = news = place = 0
    for run in _RUN.finditer(marks):
        olds, news = olds + run.start() - place, news + run.start() - place
        added = marks.count("+", run.start(), run.end())
        removed = run.end() - run.start() - added
        place = run.end()
        if removed and added:
            gone, come = hunk.before[olds : olds + removed], hunk.after[news : news + added]
            if not set(gone).isdisjoint(come):
                edits += align(hunk.old + olds, gone, hunk.new + news, come)
                olds, news = olds + removed, news + added
                continue
        edits.append(Edit(hunk.old + olds, removed, hunk.new + news, added))
        olds, news = olds + removed, news + added
    return edits


def align(old: int, removed: Sequence[str], new: int, added: Sequence[str]) -> list[Edit]:
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
    from rapidfuzz.distance import Indel  # Few patches need it, and it takes time to import.

    edits: list[Edit] = []
    was = now = 0
    for block in Indel.opcodes(removed, added).as_matching_blocks():
        if block.a > was or block.b > now:
            edits.append(Edit(old + was, block.a - was, new + now, block.b - now))
        was, now = block.a + block.size, block.b + block.size
    return edits
