"""Tables for a terminal."""

from __future__ import annotations

from rich import table as rich
from rich.cells import cell_len
from rich.text import Text

from metareview.report.names import printable
from metareview.report.tables import Table

_GAP = 2


def as_rich(table: Table, width: int) -> rich.Table:
    """The table for this width: where it is too wide, optional columns are left out, the last ones first."""
    table = _fitted(table, width)
    shown = rich.Table(box=None, pad_edge=False, header_style="bold")
    for at, column in enumerate(table.columns):
        # Heads and cells are text: to rich, the [bot] of a login would be markup.
        shown.add_column(
            Text(printable(column.head)),
            justify="left" if column.text else "right",
            overflow="fold" if column.text else "ellipsis",
            no_wrap=not column.text,
            min_width=min(8, _width(table, at)) if column.text else None,
        )
    for row in table.rows:
        shown.add_row(*(Text(printable(cell)) for cell in row))
    return shown


def _fitted(table: Table, width: int) -> Table:
    while sum(_width(table, at) + _GAP for at in range(len(table.columns))) - _GAP > width:
        optional = [at for at, column in enumerate(table.columns) if column.optional]
        if not optional:
            break
        table = table.without(optional[-1])
    return table


def _width(table: Table, at: int) -> int:
    return max(cell_len(text) for text in (table.columns[at].head, *(row[at] for row in table.rows)))
