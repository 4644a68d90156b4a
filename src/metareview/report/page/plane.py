"""Precision against recall: every reviewer a mark of its own, none hidden, named where there is room or in a legend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from metareview.report.page.charts import (
    SERIES,
    chart,
    frame,
    line,
    place,
    polyline,
    round_ticks,
    scale_end,
    shape,
    text,
)
from metareview.report.page.markup import Html, html, join

MOST_CROSSES = 5
"""Reviewers up to which their intervals are drawn."""
MOST_MARKS = 30
"""Reviewers that can be told apart: as many pairs of a colour and a shape."""
_SHAPES = (
    "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z",
    "M-4.5 -4.5h9v9h-9z",
    "M0 -6L5.5 4.5h-11z",
    "M0 -6.5L6 0L0 6.5L-6 0z",
    "M0 6L5.5 -4.5h-11z",
)
_NEAR = 8
"""Marks closer than this would cover each other: the later one is drawn as a ring around."""
_LETTER, _LINE = 7.6, 15
"""What a letter of a label takes, at the most, and a line."""
_LEGEND = (
    '<li><svg width="16" height="16" viewBox="-8 -8 16 16" aria-hidden="true" focusable="false">{}</svg> '
    "<bdi>{}</bdi></li>"
)
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass(frozen=True)
class Point:
    """A reviewer: recall to the right, precision upwards."""

    name: str
    x: float
    y: float
    x_interval: Sequence[float] | None = None
    y_interval: Sequence[float] | None = None


def plane(label: str, points: Sequence[Point]) -> Html:
    """The chart, with lines of equal F1; beside it a legend where not every mark has room for its name."""
    points = points[:MOST_MARKS]
    crossed = points if len(points) <= MOST_CROSSES else ()
    ends = [end for point in crossed for two in (point.x_interval, point.y_interval) for end in two or ()]
    end = scale_end([*ends, *(value for point in points for value in (point.x, point.y))])
    places = [place(point.x / end, point.y / end) for point in points]
    scales = _sizes(places)
    whiskers = [whisker for point in crossed for whisker in _whiskers(point, end)]
    curves = [_iso_f1(level * end, end) for level in (0.2, 0.4, 0.6, 0.8)]
    taken = [_around(*at, 7 * scale) for at, scale in zip(places, scales, strict=True)]
    taken += [_box(*whisker) for whisker in whiskers] + [box for _, box in curves]
    labels = _labels([point.name for point in points], places, scales, taken)
    marks = [curve for curve, _ in curves] + [line("whisker", *whisker) for whisker in whiskers]
    marks += [_mark(number, *at, scale) for number, (at, scale) in enumerate(zip(places, scales, strict=True))]
    ticks = round_ticks(0, end)
    drawn = chart(label, [*frame(ticks, ticks, "recall", "precision"), *marks, *(labels or ())])
    if labels is not None:
        return html("<figure>{}</figure>", drawn)
    items = [html(_LEGEND, _mark(number, 0, 0), point.name) for number, point in enumerate(points)]
    legend = html('<ul class="legend upright">{}</ul>', items)
    return html('<div class="figures"><figure>{}</figure><div>{}</div></div>', drawn, legend)


def _mark(number: int, x: float, y: float, scale: float = 1) -> Html:
    """Colour and shape by number; a ring where it is drawn around another."""
    css = f"mark s{number % SERIES}" + (" hollow" if scale > 1 else "")
    turn = f"translate({x:.1f} {y:.1f})" + (f" scale({scale:g})" if scale > 1 else "")
    return shape("path", css, transform=turn, d=_SHAPES[number % len(_SHAPES)])


def _sizes(places: Sequence[tuple[float, float]]) -> list[float]:
    """How large each mark is drawn: 1, and more for each earlier one that it would cover."""

    def covered(at: int) -> int:
        x, y = places[at]
        return sum(abs(x - other_x) < _NEAR and abs(y - other_y) < _NEAR for other_x, other_y in places[:at])

    return [1 + 0.8 * covered(at) for at in range(len(places))]


def _whiskers(point: Point, end: float) -> Iterator[tuple[float, float, float, float]]:
    if point.x_interval:
        yield *place(point.x_interval[0] / end, point.y / end), *place(point.x_interval[1] / end, point.y / end)
    if point.y_interval:
        yield *place(point.x / end, point.y_interval[0] / end), *place(point.x / end, point.y_interval[1] / end)


def _iso_f1(level: float, end: float) -> tuple[Html, Box]:
    """The points where 2PR / (P + R) is this level, inside the axes, and where its label is."""
    start = level * end / (2 * end - level)
    recalls = [start * (end / start) ** (step / 32) for step in range(33)]
    path = [place(recall / end, level * recall / (2 * recall - level) / end) for recall in recalls]
    x, y = path[-1]
    words = f"F1 {level:.3g}"
    named = text(words, x - 2, y + 4, "end", css="small halo")
    return join([polyline("iso", path), named]), (x - 2 - _LETTER * len(words), y - 8, x, y + 8)


def _labels(
    names: Sequence[str], places: Sequence[tuple[float, float]], scales: Sequence[float], taken: Sequence[Box]
) -> list[Html] | None:
    """A label beside each mark that covers nothing; None where one has no room."""
    taken, labels = list(taken), []
    for name, at, scale in zip(names, places, scales, strict=True):
        wide = _LETTER * len(name)
        for x, y, anchor in _beside(*at, 8 * scale):
            left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
            box = (left, y - _LINE + 3, left + wide, y + 3)
            if _inside(box) and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                labels.append(text(name, x, y, anchor, css="halo"))
                break
        else:
            return None
    return labels


def _beside(x: float, y: float, gap: float) -> Iterator[tuple[float, float, str]]:
    """Where a label may stand, the best places first."""
    yield from ((x + gap, y + 4, "start"), (x - gap, y + 4, "end"), (x, y - gap - 1, "middle"))
    yield from ((x, y + gap + 11, "middle"), (x + gap, y - gap, "start"), (x + gap, y + gap + 9, "start"))
    yield from ((x - gap, y - gap, "end"), (x - gap, y + gap + 9, "end"))


def _inside(box: Box) -> bool:
    (left, bottom), (right, top) = place(0, 0), place(1, 1)
    return box[0] >= left and box[2] <= right and box[1] >= top - 10 and box[3] <= bottom


def _around(x: float, y: float, gap: float) -> Box:
    return (x - gap, y - gap, x + gap, y + gap)


def _box(x1: float, y1: float, x2: float, y2: float) -> Box:
    return (min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
