"""Bars in table cells, as inline SVG: lengths are percentages, so that they fit any width while text keeps its size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from metareview.report.numbers import interval as shown_interval
from metareview.report.numbers import rate
from metareview.report.page.markup import Html, html

_STEPS = (0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)


def scale_end(values: Iterable[float | None]) -> float:
    """Where an axis from 0 should end to hold these rates: a round number, 1 at the most.

    >>> scale_end([0.41, None, 0.03])
    0.5
    """
    most = max((value for value in values if value is not None), default=1.0)
    return next((end for end in _STEPS if end >= min(most, 1.0) and end > 0), 1.0) if most > 0 else 1.0


def _percent(value: float, end: float) -> str:
    return f"{100 * min(max(value / end, 0.0), 1.0):.2f}%"


def axis(end: float) -> Html:
    """The scale over a column of bars."""
    return html(
        '<svg class="axis" width="100%" height="16" aria-hidden="true" focusable="false">'
        '<text x="0" y="12">0</text><text x="50%" y="12" text-anchor="middle">{half}</text>'
        '<text x="100%" y="12" text-anchor="end">{end}</text></svg>',
        half=f"{end / 2:g}",
        end=f"{end:g}",
    )


def interval_bar(label: str, value: float | None, interval: Sequence[float] | None, end: float) -> Html:
    """A rate as a dot, its interval as a bar through it."""
    spoken = f"{label} {rate(value)}" + (f", 95 % interval {shown_interval(interval)}" if interval else "")
    across = _across("interval", interval[0], interval[1], end) if interval else None
    return _row(spoken, [across, _circle("dot", value, end)])


def dumbbell(label: str, outer: float | None, inner: float | None, end: float) -> Html:
    """Two rates on one line: a ring for the looser measure, a dot for the stricter one."""
    between = None if outer is None or inner is None else _across("between", inner, outer, end)
    return _row(label, [between, _circle("ring", outer, end), _circle("dot", inner, end)])


def _across(css: str, start: float, stop: float, end: float) -> Html:
    a, b = _percent(start, end), _percent(stop, end)
    return html('<line class="{css}" x1="{a}" x2="{b}" y1="11" y2="11"/>', css=css, a=a, b=b)


def _circle(css: str, value: float | None, end: float) -> Html | None:
    if value is None:
        return None
    return html('<circle class="{css}" cx="{x}" cy="11" r="4.5"/>', css=css, x=_percent(value, end))


def _row(label: str, marks: Sequence[Html | None]) -> Html:
    return html(
        '<svg class="row" width="100%" height="22" role="img" aria-label="{label}">'
        '<line class="grid" x1="0" x2="0" y1="0" y2="22"/><line class="grid" x1="50%" x2="50%" y1="0" y2="22"/>'
        '<line class="grid" x1="100%" x2="100%" y1="0" y2="22"/>{marks}</svg>',
        label=label,
        marks=marks,
    )


def cell_bar(value: float | None, end: float = 1.0) -> Html:
    """A thin bar under a figure in a cell; the figure itself is the cell's text."""
    return html(
        '<svg class="cell" width="100%" height="5" aria-hidden="true" focusable="false">'
        '<rect class="rail" width="100%" height="5" rx="2"/><rect class="fill" width="{w}" height="5" rx="2"/></svg>',
        w=_percent(value or 0.0, end),
    )
