"""The parts of docs/speed.md and docs/scale.md, and docs/bench.svg, that are drawn from bench/latest.json."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from bench import SPEED
from bench.chart import draw
from bench.growth import SIZES, WORKERS, row_name
from bench.measure import Row
from bench.record import Parts

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, SCALE, PICTURE = DOCS / "speed.md", DOCS / "scale.md", DOCS / "bench.svg"


def write(parts: Parts) -> None:
    PICTURE.write_text(draw(parts), "utf-8")
    PAGE.write_text(renewed(PAGE.read_text("utf-8"), parts), "utf-8")
    SCALE.write_text(renewed_scale(SCALE.read_text("utf-8"), parts), "utf-8")


def renewed(page: str, parts: Parts) -> str:
    """docs/speed.md with its tables, and whence they are, as in `parts`."""
    for name, lines in (("measured", _measured(parts)), ("ratios", _ratios(parts)), ("targets", _targets(parts))):
        page = _between(page, name, lines)
    return page


def renewed_scale(page: str, parts: Parts) -> str:
    """docs/scale.md likewise."""
    for what, sizes in SIZES.items():
        page = _between(page, what, _growth(parts, what, sizes))
    return page


def _between(page: str, name: str, lines: Iterable[str]) -> str:
    """The page with these lines in the place of what stands between the markers of this name."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"a page has no {begin.strip()} … {end}")
    return before + begin + "".join(f"{line}\n" for line in lines) + end + after


def _growth(parts: Parts, what: str, sizes: Sequence[int]) -> Iterator[str]:
    found = {row.what: row.value for row in parts["growth"].result.rows} if "growth" in parts else {}
    yield f"| {what} | 1 worker | 2 workers | times as fast | memory, 1 worker | memory, 2 workers |"
    yield "|---:|---:|---:|---:|---:|---:|"
    for size in sizes:
        one, two = (found.get(row_name(what, size, workers, "seconds")) for workers in WORKERS)
        held = [found.get(row_name(what, size, workers, "memory")) for workers in WORKERS]
        if isinstance(one, float | int) and isinstance(two, float | int):
            memory = " | ".join(f"{each:.2f} GB" for each in held if isinstance(each, float | int))
            yield f"| {size:,} | {one:,.1f} s | {two:,.1f} s | {one / two:.2f} | {memory} |"


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
