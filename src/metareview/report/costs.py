"""What reviews took, in the words and columns that all tables share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from metareview.comments.costs import Costs
from metareview.report.numbers import NOT_DEFINED, duration

WORDS: Mapping[str, str] = {"cost": "cost", "seconds": "time", "tokens": "tokens"}
"""What each kind is called, in the order of the columns."""
PER = {"per_pr": "per pull request", "per_valid_finding": "per valid finding"}
MEANING = (
    "Cost, time and tokens",
    "What the reviewer's own input says its reviews took, in its units, over the pull requests for which it does. A "
    "valid finding is a comment that matches a reference, as judged. Lower is better.",
)


def amount(kind: str, value: float | None) -> str:
    """Three digits, and seconds as a time."""
    if value is None:
        return NOT_DEFINED
    if kind == "seconds":
        return duration(value) if value >= 60 else f"{value:.3g} s"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def signed_amount(kind: str, value: float | None) -> str:
    return NOT_DEFINED if value is None else f"{'-' if value < 0 else '+'}{amount(kind, abs(value))}"


def signed_amounts(kind: str, ends: Sequence[float] | None) -> str:
    """The interval of a difference."""
    return NOT_DEFINED if ends is None else " to ".join(signed_amount(kind, end) for end in ends)


def amounts(kind: str, ends: Sequence[float] | None) -> str:
    """The interval of an amount."""
    return NOT_DEFINED if ends is None else "–".join(amount(kind, end) for end in ends)


def cost_columns(costs: Sequence[Costs | None], kinds: int) -> Iterator[tuple[str, list[str]]]:
    """Heads and cells of so many of the kinds that somebody has: `costs_table` holds them all."""
    shown = [kind for kind in WORDS if any(each and kind in each.prs for each in costs)]
    for kind in shown[:kinds]:
        for name, per in PER.items():
            cells = [amount(kind, getattr(each, name).get(kind) if each else None) for each in costs]
            yield f"{WORDS[kind]} {per}", cells


def cost_properties(costs: Costs | None) -> dict[str, float | int | None]:
    """Plain names and numbers: `cost_per_pr`."""
    if costs is None:
        return {}
    figures = {f"{kind}_{name}": getattr(costs, name)[kind] for kind in costs.prs for name in ("total", *PER)}
    return {**figures, **{f"{kind}_prs": number for kind, number in costs.prs.items()}}
