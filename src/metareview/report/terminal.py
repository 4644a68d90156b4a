"""Tables for a terminal."""

from __future__ import annotations

from rich import table as rich
from rich.cells import cell_len
from rich.text import Text

from metareview.report.names import printable
from metareview.report.tables import Column, Table, rows

_GAP = 2


def as_rich(table: Table, width: int) -> rich.Table:
    """The table for this width: where it is too wide, optional columns are left out, the last ones first."""
    columns = list(table)
    optional = [column for column in columns if column.optional]
    while optional and sum(_width(column) + _GAP for column in columns) - _GAP > width:
        columns.remove(optional.pop())
    shown = rich.Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        # Heads and cells are text: to rich, the [bot] of a login would be markup.
        shown.add_column(
            Text(printable(column.head)),
            justify="left" if column.text else "right",
            overflow="fold" if column.text else "ellipsis",
            no_wrap=not column.text,
            min_width=min(8, _width(column)) if column.text else None,
        )
    for row in rows(columns):
        shown.add_row(*(Text(printable(cell)) for cell in row))
    return shown


def _width(column: Column) -> int:
    return max(map(cell_len, (column.head, *column.cells)))
