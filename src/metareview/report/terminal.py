"""Tables and text for a terminal of a given width."""

from __future__ import annotations

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
    columns = list(table)
    left_out: list[Column] = []
    while _total(least := [_least(column) for column in columns]) > width:
        optional = [column for column in columns if column.optional]
        if not optional:
            break
        left_out.append(max(reversed(optional), key=lambda column: column.optional))
        columns.remove(left_out[-1])
    shown = rich.Table(box=None, pad_edge=False, header_style="bold", padding=(0, _GAP, 0, 0))
    for column, wide in zip(columns, _widths(columns, least, width), strict=True):
        # Heads and cells are text: to rich, the [bot] of a login would be markup.
        head = Text(printable(column.head))
        shown.add_column(
            head, width=wide, justify="left" if column.text else "right", overflow="fold", vertical="bottom"
        )
    for row in rows(columns):
        shown.add_row(*(Text(printable(cell)) for cell in row))
    return shown, [column.head for column in table if column in left_out]


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


def _widths(columns: list[Column], least: list[int], width: int) -> list[int]:
    """Heads on one line where there is room, from the left; text in narrower columns where there is none."""
    widths = list(least)
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
    indent = line[: len(line) - len(line.lstrip(" "))]
    return wrap(line, max(20, width), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]
