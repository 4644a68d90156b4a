"""Markdown tables made for the column of a comment, narrower than a page: nobody should have to scroll sideways."""

from __future__ import annotations

import re
from collections.abc import Sequence

_INTERVAL = re.compile(r"(?:[+-]|&#4[35];)?[01]\.\d+(?: to [+-]?|–)[01]\.\d+")
_HEAD, _CORRECTED = "95 % interval", "p (Holm)"
_MOST_COLUMNS, _MOST_ROWS = 9, 4
_RIGHT = "---:"


def narrow(table: str) -> str:
    """The same figures in less width.

    p before its correction is left out where p after it is there; intervals stay on one line; where several columns
    have one, it goes below its figure; and a table with few rows and many columns is turned.
    """
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.splitlines()]
    if len({len(row) for row in rows}) != 1:
        return table  # not one of ours
    columns = [list(column) for column in zip(*rows, strict=True)]
    heads = [column[0] for column in columns]
    compares = _CORRECTED in heads  # a name from data is escaped, and so never this
    if compares and heads[heads.index(_CORRECTED) - 1] == "p":
        del columns[heads.index(_CORRECTED) - 1]
    columns = [[_INTERVAL.sub(_unbroken, cell) for cell in column] for column in columns]
    if heads.count(_HEAD) > 1 and not compares:  # which has one interval; a reviewer may have its name
        columns = _merged(columns)
    rows = [list(row) for row in zip(*columns, strict=True)]
    if len(columns) > _MOST_COLUMNS and len(rows) - 2 <= _MOST_ROWS:
        turned = [[column[0], *column[2:]] for column in columns]
        rows = [turned[0], ["---", *[_RIGHT] * (len(turned[0]) - 1)], *turned[1:]]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _merged(columns: Sequence[list[str]]) -> list[list[str]]:
    """Each interval below the figure that it is of."""
    found: list[list[str]] = []
    for column in columns:
        if column[0] == _HEAD and found:
            figures = found[-1]
            cells = [f"{figure}<br>{ends}" for figure, ends in zip(figures[2:], column[2:], strict=True)]
            found[-1] = [*figures[:2], *cells]
        else:
            found.append(column)
    return found


def _unbroken(interval: re.Match[str]) -> str:
    return interval[0].replace(" ", "&nbsp;").replace("-", "&#8209;").replace("–", "–&#8288;")
