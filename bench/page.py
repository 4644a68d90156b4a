"""The parts of docs/speed.md, and docs/bench.svg, that are drawn from bench/latest.json."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench import SPEED
from bench.chart import draw
from bench.measure import Row
from bench.record import Parts

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, PICTURE = DOCS / "speed.md", DOCS / "bench.svg"


def write(parts: Parts) -> None:
    PICTURE.write_text(draw(parts), "utf-8")
    PAGE.write_text(renewed(PAGE.read_text("utf-8"), parts), "utf-8")


def renewed(page: str, parts: Parts) -> str:
    """The page with its tables, and whence they are, as in `parts`; what stands between the markers is replaced."""
    for name, lines in (("measured", _measured(parts)), ("ratios", _ratios(parts)), ("targets", _targets(parts))):
        begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        before, found, rest = page.partition(begin)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise ValueError(f"{PAGE.name} has no {begin.strip()} … {end}")
        page = before + begin + "".join(f"{line}\n" for line in lines) + end + after
    return page


def _measured(parts: Parts) -> Iterator[str]:
    for machine, date, data in sorted({_told(parts, name) for name in SPEED if name in parts}):
        yield f"- {machine}; {date}; data: {data}."


def _told(parts: Parts, name: str) -> tuple[str, str, str]:
    machine = parts[name].machine
    where = f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']:g} GB, Python {machine['python']}"
    return where, parts[name].date, parts[name].result.data


def _ratios(parts: Parts) -> Iterator[str]:
    yield "| area | work | against | times as fast | data |"
    yield "|---|---|---|---:|---|"
    for name, area in SPEED.items():
        for row in parts[name].result.ratios if name in parts else ():
            yield f"| {area} | {_cell(row.what)} | {_cell(row.peer or '')} | {row.told} | {_cell(row.data or '')} |"


def _targets(parts: Parts) -> Iterator[str]:
    yield "| area | what | measured | target | met |"
    yield "|---|---|---:|---|---|"
    for name, area in SPEED.items():
        for row in parts[name].result.rows if name in parts else ():
            if row.target is not None:
                yield f"| {area} | {_cell(row.name)} | {_value(row)} | {_cell(row.target)} | {_met(row)} |"


def _value(row: Row) -> str:
    return f"{row.told} {row.unit}".strip()


def _met(row: Row) -> str:
    return {True: "yes", False: "**no**", None: ""}[row.met]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
