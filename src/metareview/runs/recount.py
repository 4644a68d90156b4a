"""Whether a run's summary says what its records do: a stored figure is counted anew from the lines of results.jsonl.

Counts, rates and means are held to the records, in slices and single runs too, and a record's counts to its own lists.
What only the replay or more time can tell is not: intervals, bounds, parts of the variance, costs, waits, loads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_TOLERANCE = 1e-9
"""What another version of a library, or another order of adding, may change."""


class OtherFiguresError(ValueError):
    """A figure is not what the records say."""


def hold(what: str, told: float | str | None, counted: float | str | None) -> None:
    alike = told == counted
    if not alike and isinstance(told, int | float) and isinstance(counted, int | float):
        alike = abs(told - counted) <= _TOLERANCE * max(1.0, abs(counted))
    if not alike:
        raise OtherFiguresError(f"{what} is {_shown(told)}, and {_shown(counted)} by its records")


def _shown(value: float | str | None) -> str:
    return "null" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def hold_names(what: str, told: Iterable[str], counted: Iterable[str]) -> None:
    if differing := set(told) ^ set(counted):
        raise OtherFiguresError(f"{what} {min(differing)!r} is not in both the summary and the records")


def hold_rates(what: str, told: Mapping[str, float | None], counted: Mapping[str, float | None]) -> None:
    """Measures that a run of another version has not are not missed here."""
    for name in told.keys() & counted.keys():
        hold(f"{what}: {name}", told[name], counted[name])
