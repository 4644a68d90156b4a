"""The ratios as a picture: a bar for each on a logarithmic scale, from "as fast" to one side or the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape

from bench import SPEED
from bench.measure import Row
from bench.record import Parts

FITS = 64
"""Characters of a comparison's name that the chart has room for."""
WIDTH, LABELS, RIGHT = 880, 460, 70
LINE, AREA, TOP, BOTTOM = 22, 30, 70, 44
STYLE = """
    .panel { fill: #f6f8fa; stroke: #d0d7de }
    .faster { fill: #1a7f37 }
    .slower { fill: #b35900 }
    .grid { stroke: #d0d7de }
    .even { stroke: #57606a; stroke-width: 1.5 }
    text { font-family: system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif }
    text { fill: #1f2328; font-size: 13px }
    .head { font-size: 15px; font-weight: 600 }
    .area { font-weight: 600 }
    .small { font-size: 12px; fill: #57606a }
    @media (prefers-color-scheme: dark) {
      .panel { fill: #161b22; stroke: #30363d }
      .faster { fill: #3fb950 }
      .slower { fill: #f0a050 }
      .grid { stroke: #30363d }
      .even { stroke: #9da7b3 }
      text { fill: #e6edf3 }
      .small { fill: #9da7b3 }
    }
  """


def draw(parts: Parts) -> str:
    """An SVG that reads well on light and dark pages, and to those who do not see it."""
    areas = {SPEED[name]: parts[name].result.ratios for name in SPEED if name in parts and parts[name].result.ratios}
    rows = [row for found in areas.values() for row in found]
    low, high = _decades(rows)
    height = TOP + BOTTOM + AREA * len(areas) + LINE * len(rows)

    def across(ratio: float) -> float:
        return LABELS + (math.log10(ratio) - low) / (high - low) * (WIDTH - LABELS - RIGHT)

    def body() -> Iterator[str]:
        yield f'<rect class="panel" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="10"/>'
        yield '<text class="head" x="24" y="32">How many times as fast as others on the same work</text>'
        for decade in range(low, high + 1):
            x = across(10.0**decade)
            kind = "grid" if decade else "even"
            yield f'<path class="{kind}" d="M{x:.1f} {TOP - 8} V{height - BOTTOM + 4}"/>'
            label = "as fast" if decade == 0 else f"{10 ** (decade - 3)}k" if decade >= 3 else f"{10.0**decade:g}"
            yield f'<text class="small" x="{x:.1f}" y="{height - BOTTOM + 22}" text-anchor="middle">{label}</text>'
        y = TOP
        for area, found in areas.items():
            yield f'<text class="area" x="24" y="{y + 16}">{escape(area)}</text>'
            y += AREA
            for row in found:
                yield from _bar(row, y, across)
                y += LINE

    told = [f"{area}: " + "; ".join(f"{row.name}, {_times(row)}" for row in found) for area, found in areas.items()]
    words = escape(". ".join(told))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
            ' role="img" aria-labelledby="title desc">',
            '  <title id="title">How many times as fast metareview is as others on the same work</title>',
            f'  <desc id="desc">A bar for each comparison, on a logarithmic scale. {words}.</desc>',
            f"  <style>{STYLE}</style>",
            *(f"  {line}" for line in body()),
            "</svg>\n",
        ]
    )


def _bar(row: Row, y: int, across: Callable[[float], float]) -> Iterator[str]:
    assert not isinstance(row.value, str)
    start, end = sorted((across(1.0), across(row.value)))
    kind = "faster" if row.value >= 1 else "slower"
    peer = f'<tspan class="small">, against {escape(row.peer or "")}</tspan>'
    yield f'<text x="40" y="{y + 12}">{escape(row.what)}{peer}</text>'
    yield f'<rect class="{kind}" x="{start:.1f}" y="{y + 1}" width="{max(end - start, 1):.1f}" height="14" rx="2"/>'
    yield f'<text x="{max(end, across(1.0)) + 6:.1f}" y="{y + 12}">{_times(row)}</text>'


def _times(row: Row) -> str:
    assert not isinstance(row.value, str)
    return f"{row.value:,.0f} x" if row.value >= 10 else f"{row.value:.2g} x"


def _decades(rows: Sequence[Row]) -> tuple[int, int]:
    """Powers of ten that hold all values, and 1."""
    values = [1.0, *(row.value for row in rows if not isinstance(row.value, str))]
    return math.floor(math.log10(min(values))), max(1, math.ceil(math.log10(max(values))))
