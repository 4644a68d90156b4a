"""`make bench-check`: whether a ratio fell behind the recorded one.

Ratios are compared, not seconds, because those differ from machine to machine. One that is too low is measured again,
up to three times, before it counts: the machine may have been busy.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from bench.measure import Result, Row

ALLOWED = 0.8
"""A ratio below this share of the recorded one has fallen."""
REPEATS = 3


class State(Enum):
    HELD = "held"
    FELL = "FELL"
    NOT_RECORDED = "not recorded"
    NOT_COMPARED = "not compared"


@dataclass(frozen=True)
class Checked:
    """One ratio: what was recorded, the best that was measured, and what follows."""

    what: str
    state: State
    recorded: float | None = None
    measured: float | None = None
    why: str = ""

    def __str__(self) -> str:
        figures = ""
        if self.recorded is not None and self.measured is not None:
            figures = f": {self.measured:.4g} x, recorded {self.recorded:.4g} x"
        return f"{self.state.value:>12}  {self.what}{figures}" + (f" ({self.why})" if self.why else "")


def check(recorded: Result | None, measure: Callable[[], Result]) -> Iterator[Checked]:
    """The ratios of one benchmark against what was recorded of it; `measure` measures them anew."""
    if recorded is None or not recorded.ratios:
        yield Checked("", State.NOT_RECORDED, why="make bench records it")
        return
    found = measure()
    data = {row.name: row.data for row in found.ratios}
    others = [row for row in recorded.ratios if data.get(row.name, row.data) != row.data]
    for row in others:
        why = f"recorded with data of {row.data}, now {data[row.name]}"
        yield Checked(row.name, State.NOT_COMPARED, why=why)
    left_out = {row.name for row in others}
    best = _by_name(found, left_out)
    wanted = _by_name(recorded, left_out)
    for _ in range(REPEATS):
        if not any(what in best and best[what] < ALLOWED * least for what, least in wanted.items()):
            break
        for what, value in _by_name(measure(), left_out).items():
            best[what] = max(value, best.get(what, value))
    yield from (_checked(what, least, best) for what, least in wanted.items())
    yield from (Checked(what, State.NOT_RECORDED, measured=best[what]) for what in best if what not in wanted)


def _checked(what: str, least: float, best: Mapping[str, float]) -> Checked:
    if what not in best:
        return Checked(what, State.NOT_COMPARED, least, why="not measured here: is its peer installed?")
    state = State.FELL if best[what] < ALLOWED * least else State.HELD
    return Checked(what, state, least, best[what])


def _by_name(result: Result, left_out: Collection[str]) -> dict[str, float]:
    return {row.name: _value(row) for row in result.ratios if row.name not in left_out}


def _value(row: Row) -> float:
    assert not isinstance(row.value, str), f"{row.what}: a ratio is a number"
    return row.value
