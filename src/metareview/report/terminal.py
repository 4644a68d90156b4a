"""Tables and text for a terminal of a given width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.cells import cell_len

from metareview.report.names import printable

if TYPE_CHECKING:
    from metareview.report.tables import Column, Table


class Heading(str):
    """A line that stands out where a terminal can show that."""

    __slots__ = ()


_GAP = 2
_LONGEST_WORD = 14
"""A head may take more than two lines, and a word of it may be broken, beyond this: names can be of any length."""
_SHORTEST_TEXT = 8


def fitted(table: Table, width: int) -> tuple[list[str], list[str], list[str]]:
    """The table in this width: the lines of its head, those of its body, and the heads that there was no room for.

    Heads are wrapped before a column is left out; a cell with a figure is never broken.
    """
    from metareview.report.tables import rows  # and with it all that a run holds, which a message has no use for

    known = [
        replace(column, head=printable(column.head), cells=[printable(cell) for cell in column.cells])
        for column in table
    ]
    kept = list(range(len(known)))
    while _total([_least(known[at]) for at in kept]) > width:
        optional = [at for at in reversed(kept) if known[at].optional]
        if not optional:
            break
        kept.remove(max(optional, key=lambda at: known[at].optional))
    columns = [known[at] for at in kept]
    widths = _widths(columns, width)
    texts = [column.text for column in columns]
    head = _aligned([column.head for column in columns], widths, texts, head=True)
    body = [line for row in rows(columns) for line in _aligned(row, widths, texts)]
    return head, body, [column.head for at, column in enumerate(known) if at not in kept]


def broken(text: str, wide: int) -> list[str]:
    """The text in lines of this width: at spaces, and inside a word that is wider by itself."""
    lines = [""]
    for word in text.split(" "):
        line = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(line) <= wide:
            lines[-1] = line
            continue
        lines += [""] if lines[-1] else []
        for character in word:
            if cell_len(lines[-1] + character) > wide and lines[-1]:
                lines.append("")
            lines[-1] += character
    return lines


def _aligned(row: Sequence[str], widths: list[int], texts: list[bool], *, head: bool = False) -> list[str]:
    """One row of the table, as many lines as its longest cell takes; figures stand to the right. Cells begin on the
    first line, but heads end on the last, above their column."""
    cells = [broken(cell, wide) for cell, wide in zip(row, widths, strict=True)]
    high = max(map(len, cells), default=0)
    lines = []
    for parts in zip(*(_filled(cell, high, head) for cell in cells), strict=True):
        padded = []
        for part, wide, text in zip(parts, widths, texts, strict=True):
            blank = " " * max(0, wide - cell_len(part))
            padded.append(part + blank if text else blank + part)
        lines.append((" " * _GAP).join(padded).rstrip())
    return lines


def _filled(cell: list[str], high: int, at_end: bool) -> list[str]:
    blank = [""] * (high - len(cell))
    return blank + cell if at_end else cell + blank


def _least(column: Column) -> int:
    """As wide as its cells, and as its head on two lines."""
    words = column.head.split()
    of_head = min(
        (max(cell_len(" ".join(words[:at])), cell_len(" ".join(words[at:]))) for at in range(1, len(words))),
        default=cell_len(column.head),
    )
    return max([*map(cell_len, column.cells), min(of_head, _LONGEST_WORD), 1])


def _total(widths: list[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _widths(columns: list[Column], width: int) -> list[int]:
    """Heads on one line where there is room, from the left; text in narrower columns where there is none."""
    widths = [_least(column) for column in columns]
    for at, column in enumerate(columns):
        wanted = max(cell_len(column.head) - widths[at], 0)
        widths[at] += wanted if _total(widths) + wanted <= width else 0
    while _total(widths) > width:
        text = [at for at, column in enumerate(columns) if column.text and widths[at] > _SHORTEST_TEXT]
        if not text:
            break
        widths[max(text, key=lambda at: widths[at])] -= 1
    return widths


def wrapped(line: str, width: int) -> list[str]:
    """The line broken at spaces, what follows as far in as it began; a word that is too long stays whole, unless it is
    of characters that take two cells: such scripts have no spaces."""
    line = printable(line)
    if cell_len(line) <= width:
        return [line]
    indent = line[: len(line) - len(line.lstrip(" "))]
    if cell_len(line) > len(line):
        return _wrapped_in_cells(line.strip(" "), max(20, width), indent)
    return wrap(line, max(20, width), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _wrapped_in_cells(text: str, width: int, indent: str) -> list[str]:
    """The text in lines of so many cells, broken at spaces and around characters that take two."""
    lines, used, gap = [indent], len(indent), ""
    for kind, characters in groupby(text, key=lambda character: " " if character == " " else cell_len(character) > 1):
        if kind == " ":
            gap = "".join(characters)
            continue
        for part in characters if kind else ("".join(characters),):
            cells = cell_len(part)
            if used + len(gap) + cells > width and used > len(indent):
                lines.append(indent)
                used, gap = len(indent), ""
            lines[-1] += gap + part
            used, gap = used + len(gap) + cells, ""
    return lines
