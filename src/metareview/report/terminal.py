"""Tables and text for a terminal of a given width."""

from __future__ import annotations

from dataclasses import replace
from textwrap import wrap

from rich import table as rich
from rich.cells import cell_len
from rich.text import Text

from metareview.report.names import printable
from metareview.report.tables import Column, Table, rows

_GAP = 2
_LONGEST_WORD = 14
"""A head may take more than two lines, and a word of it may be broken, beyond this: names can be of any length."""
_SHORTEST_TEXT = 8


def fitted(table: Table, width: int) -> tuple[rich.Table, list[str]]:
    """The table in this width, and the heads of the columns that there was no room for.

    Heads are wrapped before a column is left out; a cell with a figure is never broken.
    """
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
    shown = rich.Table(box=None, pad_edge=False, header_style="bold", padding=(0, _GAP, 0, 0))
    for column, wide in zip(columns, _widths(columns, width), strict=True):
        # Heads and cells are text: to rich, the [bot] of a login would be markup.
        shown.add_column(
            Text(column.head),
            width=wide,
            justify="left" if column.text else "right",
            overflow="fold",
            vertical="bottom",
        )
    for row in rows(columns):
        shown.add_row(*map(Text, row))
    return shown, [column.head for at, column in enumerate(known) if at not in kept]


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
    """The line broken at spaces, what follows as far in as it began; a word that is too long stays whole."""
    line = printable(line)
    if cell_len(line) <= width:
        return [line]
    indent = line[: len(line) - len(line.lstrip(" "))]
    return wrap(line, max(20, width), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
