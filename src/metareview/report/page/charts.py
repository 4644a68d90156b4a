"""Charts with two axes, as inline SVG drawn from templates: a fixed drawing area, scaled as a whole.

They carry no colour of their own, but classes, which style.css fills.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from metareview.report.page.bars import scale_end
from metareview.report.page.markup import Html, html, join

SERIES = 6
"""How many lines can be told apart; style.css has as many colours and dashes."""
MOST_CROSSES = 5
"""Reviewers up to which a plane shows their intervals."""
_LEFT, _TOP, _WIDE, _HIGH = 60, 12, 344, 270
"""The drawing area inside a chart of 420 x 330."""


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


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
    crosses = len(points) <= MOST_CROSSES
    values = [value for point in points for value in (point.x, point.y)]
    if crosses:
        values += [e for point in points for ends in (point.x_interval, point.y_interval) for e in ends or ()]
    end = scale_end(values)

    def at(x: float, y: float) -> tuple[float, float]:
        return _LEFT + _WIDE * min(x / end, 1), _TOP + _HIGH * (1 - min(y / end, 1))

    marks = [_iso_f1(level * end, end) for level in (0.2, 0.4, 0.6, 0.8)]
    for point in points if crosses else ():
        for ends, across in ((point.x_interval, True), (point.y_interval, False)):
            if ends:
                (x1, y1), (x2, y2) = (at(e, point.y) if across else at(point.x, e) for e in ends)
                marks.append(_line("whisker", x1, y1, x2, y2))
    for point in points:
        x, y = at(point.x, point.y)
        marks.append(html('<circle class="dot" cx="{x}" cy="{y}" r="5"/>', x=_number(x), y=_number(y)))
    for members in _clusters(points, end):
        rightmost = max(members, key=lambda point: point.x)
        x, y = at(rightmost.x, rightmost.y)
        room = x < _LEFT + 0.9 * _WIDE
        label_x, anchor = (x + 8, "start") if room else (x - 8, "end")
        numbers = _marks(sorted(point.mark for point in members))
        marks.append(_text(numbers, label_x, y - 6, anchor, css="halo"))
    return _chart(label, [*_frame([f"{end * k / 4:g}" for k in range(5)], end, "recall", "precision"), *marks])


def _iso_f1(level: float, end: float) -> Html:
    """The points where 2PR / (P + R) is this level, inside the axes."""
    start = level * end / (2 * end - level)
    path = []
    for step in range(33):
        recall = start * (end / start) ** (step / 32)
        precision = level * recall / (2 * recall - level)
        path.append((recall, min(precision, end)))
    shown = [(_LEFT + _WIDE * r / end, _TOP + _HIGH * (1 - p / end)) for r, p in path]
    x, y = shown[-1]
    return join([_polyline("iso", shown), _text(f"F1 {level:.3g}", x - 2, y + 4, "end", css="small halo")])


def _clusters(points: Sequence[Point], end: float) -> list[list[Point]]:
    """Points whose labels would cover each other share one."""
    clusters: list[list[Point]] = []
    for point in points:
        for cluster in clusters:
            near_x = abs(cluster[0].x - point.x) / end * _WIDE < 30
            if near_x and abs(cluster[0].y - point.y) / end * _HIGH < 16:
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
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    shown = [f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return ", ".join(shown)


@dataclass(frozen=True)
class Curve:
    """A line over the chart's x values; None where it has no value."""

    name: str
    values: Sequence[float | None]


def curves(
    label: str, x_label: str, y_label: str, xs: Sequence[float], lines: Sequence[Curve], chosen: float | None
) -> Html:
    """At most SERIES lines over xs; `chosen` marks the run's own value on the x axis."""
    top = scale_end(value for line in lines for value in line.values)
    low, high = min(xs), max(xs)

    def at(x: float, y: float) -> tuple[float, float]:
        share = (x - low) / (high - low) if high > low else 0.5
        return _LEFT + _WIDE * share, _TOP + _HIGH * (1 - min(y / top, 1))

    marks: list[Html] = []
    if chosen is not None and low <= chosen <= high:
        marks.append(_line("chosen", at(chosen, 0)[0], _TOP, at(chosen, 0)[0], _TOP + _HIGH))
    for number, line in enumerate(lines[:SERIES]):
        pieces: list[list[tuple[float, float]]] = [[]]
        for x, y in zip(xs, line.values, strict=True):
            if y is None:
                pieces.append([])
            else:
                pieces[-1].append(at(x, y))
        marks += [_polyline(f"line s{number}", piece) for piece in pieces if piece]
    ticks = [f"{low + (high - low) * k / 4:.3g}" for k in range(5)]
    return _chart(label, [*_frame(ticks, top, x_label, y_label), *marks])


def histogram(label: str, x_label: str, names: Sequence[str], counts: Sequence[int]) -> Html:
    """Counts as upright bars, each with its name below and its count above."""
    most, step = max([*counts, 1]), 412 / max(len(names), 1)
    bars = []
    for position, (name, value) in enumerate(zip(names, counts, strict=True)):
        high = 136 * value / most
        middle = 4 + step * (position + 0.5)
        bars += [
            html(
                '<rect class="fill" x="{x}" y="{y}" width="{w}" height="{h}"/>',
                x=_number(middle - step * 0.38),
                y=_number(160 - high),
                w=_number(step * 0.76),
                h=_number(high),
            ),
            _text(f"{value:,}", middle, 155 - high, css="small"),
            _text(name, middle, 177, css="small"),
        ]
    title = _text(x_label, 210, 203)
    return _chart(label, [_line("frame", 4, 160, 416, 160), *bars, title], high=212)


def legend(names: Sequence[str]) -> Html:
    """Which line is whose, with the line's own colour and dash."""
    items = [
        html(
            '<li><svg width="34" height="10" aria-hidden="true" focusable="false">'
            '<line class="line s{number}" x1="0" x2="34" y1="5" y2="5"/></svg> <bdi>{name}</bdi></li>',
            number=number,
            name=name,
        )
        for number, name in enumerate(names[:SERIES])
    ]
    return html('<ul class="legend">{items}</ul>', items=items)


def _frame(ticks: Sequence[str], y_end: float, x_label: str, y_label: str) -> list[Html]:
    parts = []
    for k, tick in enumerate(ticks):
        x = _LEFT + _WIDE * k / 4
        parts.append(_line("grid", x, _TOP, x, _TOP + _HIGH))
        parts.append(_text(tick, x, _TOP + _HIGH + 17, css="small"))
    for k in range(5):
        y = _TOP + _HIGH * (1 - k / 4)
        parts.append(_line("grid", _LEFT, y, _LEFT + _WIDE, y))
        parts.append(_text(f"{y_end * k / 4:g}", _LEFT - 6, y + 4, "end", css="small"))
    upright = html(
        '<text x="11" y="{y}" text-anchor="middle" transform="rotate(-90 11 {y})">{label}</text>',
        y=_TOP + _HIGH // 2,
        label=y_label,
    )
    return [*parts, _text(x_label, _LEFT + _WIDE // 2, 325), upright]


def _text(text: str, x: float, y: float, anchor: str = "middle", *, css: str = "") -> Html:
    return html(
        '<text{css} x="{x}" y="{y}" text-anchor="{anchor}">{text}</text>',
        css=html(' class="{css}"', css=css) if css else None,
        x=_number(x),
        y=_number(y),
        anchor=anchor,
        text=text,
    )


def _line(name: str, x1: float, y1: float, x2: float, y2: float) -> Html:
    return html(
        '<line class="{name}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>',
        name=name,
        x1=_number(x1),
        y1=_number(y1),
        x2=_number(x2),
        y2=_number(y2),
    )


def _polyline(name: str, points: Sequence[tuple[float, float]]) -> Html:
    drawn = [points[0], *points] if len(points) == 1 else points  # a lone point shows as a round dot
    path = " ".join(f"{_number(x)},{_number(y)}" for x, y in drawn)
    return html('<polyline class="{name}" points="{path}"/>', name=name, path=path)


def _chart(label: str, marks: Sequence[Html], high: int = 330) -> Html:
    return html(
        '<svg class="chart" viewBox="0 0 420 {high}" role="img" aria-label="{label}">{marks}</svg>',
        high=high,
        label=label,
        marks=marks,
    )
