"""Figures as inline SVG. They carry no colour of their own, but classes, which style.css fills.

Bars in table cells have lengths in percent, so that they fit any width while text keeps its size. Charts with two axes
have a fixed drawing area, scaled as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from metareview.report.numbers import interval, rate
from metareview.report.page.markup import Html, html

SERIES = 6
"""How many lines can be told apart; style.css has as many colours and dashes."""
_STEPS = (0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)
_LEFT, _TOP, _WIDE, _HIGH = 60, 12, 344, 270
"""The drawing area inside a chart of 420 x 330."""
_HEADED = (
    '{}<svg class="axis" width="100%" height="16" aria-hidden="true" focusable="false"><text x="0" y="12">0</text>'
    '<text x="50%" y="12" text-anchor="middle">0.5</text><text x="100%" y="12" text-anchor="end">1</text></svg>'
)
_BAR = (
    '<svg class="row" width="100%" height="22" role="img" aria-label="{}">'
    '<line class="grid" x1="0" x2="0" y1="0" y2="22"/><line class="grid" x1="50%" x2="50%" y1="0" y2="22"/>'
    '<line class="grid" x1="100%" x2="100%" y1="0" y2="22"/>{}</svg>'
)
_BARRED = (
    '{}<svg class="cell" width="100%" height="5" aria-hidden="true" focusable="false">'
    '<rect class="rail" width="100%" height="5" rx="2"/><rect class="fill" width="{}" height="5" rx="2"/></svg>'
)
_LEGEND = (
    '<li><svg width="34" height="10" aria-hidden="true" focusable="false">'
    '<line class="line s{}" x1="0" x2="34" y1="5" y2="5"/></svg> <bdi>{}</bdi></li>'
)


def scale_end(values: Iterable[float | None]) -> float:
    """Where an axis from 0 should end to hold these rates: a round number, 1 at the most."""
    most = max((value for value in values if value is not None), default=1.0)
    return next((end for end in _STEPS if 0 < most <= end), 1.0)


def round_ticks(low: float, high: float, *, whole: bool = False) -> list[float]:
    """Four to seven round numbers, the first at most `low` and the last at least `high`.

    >>> round_ticks(0.05, 0.95)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    rough = (high - low) / 5 or 0.2
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough * (1 - 1e-9))
    step = max(step, 1.0) if whole else step
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 9) for number in range(first, max(last, first + 1) + 1)]


def _percent(value: float) -> str:
    return f"{100 * min(max(value, 0.0), 1.0):.2f}%"


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


def shape(kind: str, css: str, content: object = None, **attributes: float | str) -> Html:
    """An element. Numbers get one decimal at the most; an attribute's `_` is a hyphen."""
    given = {"class": css, **attributes} if css else attributes
    written = [
        html(' {}="{}"', key.replace("_", "-"), value if isinstance(value, str) else _number(value))
        for key, value in given.items()
    ]
    end = html("/>") if content is None else html(">{}</{}>", content, kind)
    return html("<{}{}{}", kind, written, end)


def headed(title: str) -> Html:
    """The head of a column of bars: its title over the scale, which is from 0 to 1 for every rate."""
    return html(_HEADED, title)


def interval_bar(label: str, value: float | None, ends: Sequence[float] | None) -> Html:
    """A rate as a dot, its interval as a bar through it."""
    spoken = f"{label} {rate(value)}" + (f", 95 % interval {interval(ends)}" if ends else "")
    across = _across("interval", ends[0], ends[1]) if ends else None
    return html(_BAR, spoken, [across, _circle("dot", value)])


def dumbbell(label: str, outer: float | None, inner: float | None) -> Html:
    """Two rates on one line: a ring for the looser measure, a dot for the stricter one."""
    between = None if outer is None or inner is None else _across("between", inner, outer)
    return html(_BAR, label, [between, _circle("ring", outer), _circle("dot", inner)])


def corrected_bar(label: str, ring: float | None, dot: float | None, ends: Sequence[float] | None) -> Html:
    """A figure as it was (ring), as it is corrected (dot), and a range of the latter as a bar; each where known."""
    across = _across("interval", ends[0], ends[1]) if ends else None
    return html(_BAR, label, [across, _circle("ring", ring), _circle("dot", dot)])


def _across(css: str, start: float, stop: float) -> Html:
    return shape("line", css, x1=_percent(start), x2=_percent(stop), y1=11, y2=11)


def _circle(css: str, value: float | None) -> Html | None:
    return None if value is None else shape("circle", css, cx=_percent(value), cy=11, r=4.5)


def barred(figure: object, value: float | None) -> Html:
    """A rate in a cell, and a thin bar from 0 to 1 under it."""
    return html("{}", figure) if value is None else html(_BARRED, figure, _percent(value))


Lines = Mapping[str, Sequence[float | None]]
"""By name, a value for each x of the chart; None where there is none."""


def curves(
    label: str, x_label: str, y_label: str, xs: Sequence[float], lines: Lines, *, chosen: float | None, top: float
) -> Html:
    """At most SERIES lines over xs; `chosen` marks the run's own value on the x axis, `top` ends the y axis."""
    x_ticks = round_ticks(min(xs), max(xs), whole=all(float(x).is_integer() for x in xs))
    low, high = x_ticks[0], x_ticks[-1]

    def at(x: float, y: float) -> tuple[float, float]:
        return place((x - low) / (high - low), y / top)

    marks: list[Html] = []
    if chosen is not None and low <= chosen <= high:
        x, bottom = at(chosen, 0)
        marks.append(line("chosen", x, _TOP, x, bottom))
    for number, values in enumerate(list(lines.values())[:SERIES]):
        pieces: list[list[tuple[float, float]]] = [[]]
        for x, y in zip(xs, values, strict=True):
            if y is None:
                pieces.append([])
            else:
                pieces[-1].append(at(x, y))
        marks += [polyline(f"line s{number}", piece) for piece in pieces if piece]
    return chart(label, [*frame(x_ticks, round_ticks(0, top), x_label, y_label), *marks])


def histogram(label: str, x_label: str, counts: Mapping[str, int], most: int) -> Html:
    """Counts as upright bars, each with its name below and its count above; `most` is as high as the chart."""
    step = 412 / max(len(counts), 1)
    bars = []
    for position, (name, value) in enumerate(counts.items()):
        high = 136 * value / max(most, 1)
        middle = 4 + step * (position + 0.5)
        bars += [
            shape("rect", "fill", x=middle - step * 0.38, y=160 - high, width=step * 0.76, height=high),
            text(f"{value:,}", middle, 155 - high, css="small"),
            text(name, middle, 177, css="small"),
        ]
    return chart(label, [line("frame", 4, 160, 416, 160), *bars, text(x_label, 210, 203)], high=212)


def legend(names: Iterable[str]) -> Html:
    """Which line is whose, with the line's own colour and dash."""
    return html('<ul class="legend">{}</ul>', [html(_LEGEND, k, name) for k, name in enumerate([*names][:SERIES])])


def frame(x_ticks: Sequence[float], y_ticks: Sequence[float], x_label: str, y_label: str) -> list[Html]:
    parts = []
    for tick in x_ticks:
        x, bottom = place((tick - x_ticks[0]) / (x_ticks[-1] - x_ticks[0]), 0)
        parts += [line("grid", x, _TOP, x, bottom), text(f"{tick:g}", x, bottom + 17, css="small")]
    for tick in y_ticks:
        left, y = place(0, tick / y_ticks[-1])
        parts += [line("grid", left, y, left + _WIDE, y), text(f"{tick:g}", left - 6, y + 4, "end", css="small")]
    upright = shape("text", "", y_label, x=11, y=147, text_anchor="middle", transform="rotate(-90 11 147)")
    return [*parts, text(x_label, _LEFT + _WIDE // 2, 325), upright]


def place(x: float, y: float) -> tuple[float, float]:
    """A point of the drawing area, from its shares of the axes."""
    return _LEFT + _WIDE * min(x, 1), _TOP + _HIGH * (1 - min(y, 1))


def text(words: str, x: float, y: float, anchor: str = "middle", css: str = "") -> Html:
    return shape("text", css, words, x=x, y=y, text_anchor=anchor)


def line(css: str, x1: float, y1: float, x2: float, y2: float) -> Html:
    return shape("line", css, x1=x1, y1=y1, x2=x2, y2=y2)


def polyline(css: str, points: Sequence[tuple[float, float]]) -> Html:
    drawn = [points[0], *points] if len(points) == 1 else points  # a lone point shows as a round dot
    return shape("polyline", css, points=" ".join(f"{_number(x)},{_number(y)}" for x, y in drawn))


def chart(label: str, marks: Sequence[Html], high: int = 330) -> Html:
    opened = html('<svg class="chart" viewBox="0 0 420 {}" role="img" aria-label="{}">', high, label)
    return html("{}{}</svg>", opened, marks)
