"""Figures as inline SVG. They carry no colour of their own, but classes, which style.css fills.

Bars in table cells have lengths in percent, so that they fit any width while text keeps its size. Charts with two axes
have a fixed drawing area, scaled as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from metareview.report.numbers import interval, rate
from metareview.report.page.markup import Html, html, join

SERIES = 6
"""How many lines can be told apart; style.css has as many colours and dashes."""
MOST_CROSSES = 5
"""Reviewers up to which a plane shows their intervals."""
_STEPS = (0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0)
_LEFT, _TOP, _WIDE, _HIGH = 60, 12, 344, 270
"""The drawing area inside a chart of 420 x 330."""
_HEADED = (
    '{}<svg class="axis" width="100%" height="16" aria-hidden="true" focusable="false"><text x="0" y="12">0</text>'
    '<text x="50%" y="12" text-anchor="middle">{}</text><text x="100%" y="12" text-anchor="end">{}</text></svg>'
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


def _percent(value: float, end: float) -> str:
    return f"{100 * min(max(value / end, 0.0), 1.0):.2f}%"


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


def _shape(kind: str, css: str, content: object = None, **attributes: float | str) -> Html:
    """An element. Numbers get one decimal at the most; an attribute's `_` is a hyphen."""
    given = {"class": css, **attributes} if css else attributes
    written = [
        html(' {}="{}"', key.replace("_", "-"), value if isinstance(value, str) else _number(value))
        for key, value in given.items()
    ]
    end = html("/>") if content is None else html(">{}</{}>", content, kind)
    return html("<{}{}{}", kind, written, end)


def headed(title: str, end: float) -> Html:
    """The head of a column of bars: its title over the scale."""
    return html(_HEADED, title, f"{end / 2:g}", f"{end:g}")


def interval_bar(label: str, value: float | None, ends: Sequence[float] | None, end: float) -> Html:
    """A rate as a dot, its interval as a bar through it."""
    spoken = f"{label} {rate(value)}" + (f", 95 % interval {interval(ends)}" if ends else "")
    across = _across("interval", ends[0], ends[1], end) if ends else None
    return html(_BAR, spoken, [across, _circle("dot", value, end)])


def dumbbell(label: str, outer: float | None, inner: float | None, end: float) -> Html:
    """Two rates on one line: a ring for the looser measure, a dot for the stricter one."""
    between = None if outer is None or inner is None else _across("between", inner, outer, end)
    return html(_BAR, label, [between, _circle("ring", outer, end), _circle("dot", inner, end)])


def _across(css: str, start: float, stop: float, end: float) -> Html:
    return _shape("line", css, x1=_percent(start, end), x2=_percent(stop, end), y1=11, y2=11)


def _circle(css: str, value: float | None, end: float) -> Html | None:
    return None if value is None else _shape("circle", css, cx=_percent(value, end), cy=11, r=4.5)


def barred(text: str, value: float | None, end: float = 1.0) -> Html:
    """A figure in a cell, and a thin bar under it."""
    return html(_BARRED, text, _percent(value or 0.0, end))


@dataclass(frozen=True)
class Point:
    """A reviewer in the plane; `mark` is its rank in the leaderboard."""

    mark: int
    x: float
    y: float
    x_interval: Sequence[float] | None = None
    y_interval: Sequence[float] | None = None


def plane(label: str, points: Sequence[Point]) -> Html:
    """Recall to the right, precision upwards, and lines of equal F1. Intervals only where they leave room to see."""
    crossed = points if len(points) <= MOST_CROSSES else ()
    ends = [end for point in crossed for two in (point.x_interval, point.y_interval) for end in two or ()]
    end = scale_end([*ends, *(value for point in points for value in (point.x, point.y))])
    marks = [_iso_f1(level * end, end) for level in (0.2, 0.4, 0.6, 0.8)]
    for point in crossed:
        across = [(x, point.y) for x in point.x_interval or ()]
        upright = [(point.x, y) for y in point.y_interval or ()]
        for whisker in (across, upright):
            if whisker:
                (x1, y1), (x2, y2) = (_at(x / end, y / end) for x, y in whisker)
                marks.append(_line("whisker", x1, y1, x2, y2))
    for point in points:
        x, y = _at(point.x / end, point.y / end)
        marks.append(_shape("circle", "dot", cx=x, cy=y, r=5))
    for members in _clusters(points, end):
        rightmost = max(members, key=lambda point: point.x)
        x, y = _at(rightmost.x / end, rightmost.y / end)
        label_x, anchor = (x + 8, "start") if x < _LEFT + 0.9 * _WIDE else (x - 8, "end")
        marks.append(_text(_marks(sorted(point.mark for point in members)), label_x, y - 6, anchor, css="halo"))
    return _chart(label, [*_frame([f"{end * k / 4:g}" for k in range(5)], end, "recall", "precision"), *marks])


def _at(x: float, y: float) -> tuple[float, float]:
    """A point of the drawing area, from its shares of the axes."""
    return _LEFT + _WIDE * min(x, 1), _TOP + _HIGH * (1 - min(y, 1))


def _iso_f1(level: float, end: float) -> Html:
    """The points where 2PR / (P + R) is this level, inside the axes."""
    start = level * end / (2 * end - level)
    recalls = [start * (end / start) ** (step / 32) for step in range(33)]
    path = [_at(recall / end, level * recall / (2 * recall - level) / end) for recall in recalls]
    x, y = path[-1]
    return join([_polyline("iso", path), _text(f"F1 {level:.3g}", x - 2, y + 4, "end", css="small halo")])


def _clusters(points: Sequence[Point], end: float) -> list[list[Point]]:
    """Points whose labels would cover each other share one."""
    clusters: list[list[Point]] = []
    for point in points:
        for cluster in clusters:
            if abs(cluster[0].x - point.x) / end * _WIDE < 30 and abs(cluster[0].y - point.y) / end * _HIGH < 16:
                cluster.append(point)
                break
        else:
            clusters.append([point])
    return clusters


def _marks(numbers: Sequence[int]) -> str:
    """
    >>> _marks([1, 3, 4, 5])
    '1, 3–5'
    """
    runs = [[n for _, n in run] for _, run in groupby(enumerate(numbers), lambda place: place[1] - place[0])]
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)


Lines = Mapping[str, Sequence[float | None]]
"""By name, a value for each x of the chart; None where there is none."""


def curves(label: str, x_label: str, y_label: str, xs: Sequence[float], lines: Lines, chosen: float | None) -> Html:
    """At most SERIES lines over xs; `chosen` marks the run's own value on the x axis."""
    top = scale_end(value for values in lines.values() for value in values)
    low, high = min(xs), max(xs)

    def at(x: float, y: float) -> tuple[float, float]:
        return _at((x - low) / (high - low) if high > low else 0.5, y / top)

    marks: list[Html] = []
    if chosen is not None and low <= chosen <= high:
        x, bottom = at(chosen, 0)
        marks.append(_line("chosen", x, _TOP, x, bottom))
    for number, values in enumerate(list(lines.values())[:SERIES]):
        pieces: list[list[tuple[float, float]]] = [[]]
        for x, y in zip(xs, values, strict=True):
            if y is None:
                pieces.append([])
            else:
                pieces[-1].append(at(x, y))
        marks += [_polyline(f"line s{number}", piece) for piece in pieces if piece]
    ticks = [f"{low + (high - low) * k / 4:.3g}" for k in range(5)]
    return _chart(label, [*_frame(ticks, top, x_label, y_label), *marks])


def histogram(label: str, x_label: str, counts: Mapping[str, int]) -> Html:
    """Counts as upright bars, each with its name below and its count above."""
    most, step = max([*counts.values(), 1]), 412 / max(len(counts), 1)
    bars = []
    for position, (name, value) in enumerate(counts.items()):
        high = 136 * value / most
        middle = 4 + step * (position + 0.5)
        bars += [
            _shape("rect", "fill", x=middle - step * 0.38, y=160 - high, width=step * 0.76, height=high),
            _text(f"{value:,}", middle, 155 - high, css="small"),
            _text(name, middle, 177, css="small"),
        ]
    return _chart(label, [_line("frame", 4, 160, 416, 160), *bars, _text(x_label, 210, 203)], high=212)


def legend(names: Iterable[str]) -> Html:
    """Which line is whose, with the line's own colour and dash."""
    return html('<ul class="legend">{}</ul>', [html(_LEGEND, k, name) for k, name in enumerate([*names][:SERIES])])


def _frame(ticks: Sequence[str], y_end: float, x_label: str, y_label: str) -> list[Html]:
    parts = []
    for k, tick in enumerate(ticks):
        x, bottom = _at(k / 4, 0)
        parts += [_line("grid", x, _TOP, x, bottom), _text(tick, x, bottom + 17, css="small")]
    for k in range(5):
        left, y = _at(0, k / 4)
        parts += [_line("grid", left, y, left + _WIDE, y)]
        parts += [_text(f"{y_end * k / 4:g}", left - 6, y + 4, "end", css="small")]
    upright = _shape("text", "", y_label, x=11, y=147, text_anchor="middle", transform="rotate(-90 11 147)")
    return [*parts, _text(x_label, _LEFT + _WIDE // 2, 325), upright]


def _text(text: str, x: float, y: float, anchor: str = "middle", css: str = "") -> Html:
    return _shape("text", css, text, x=x, y=y, text_anchor=anchor)


def _line(css: str, x1: float, y1: float, x2: float, y2: float) -> Html:
    return _shape("line", css, x1=x1, y1=y1, x2=x2, y2=y2)


def _polyline(css: str, points: Sequence[tuple[float, float]]) -> Html:
    drawn = [points[0], *points] if len(points) == 1 else points  # a lone point shows as a round dot
    return _shape("polyline", css, points=" ".join(f"{_number(x)},{_number(y)}" for x, y in drawn))


def _chart(label: str, marks: Sequence[Html], high: int = 330) -> Html:
    opened = html('<svg class="chart" viewBox="0 0 420 {}" role="img" aria-label="{}">', high, label)
    return html("{}{}</svg>", opened, marks)
