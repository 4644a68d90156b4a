"""Figures as people read them, the same in the terminal and in every report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from metareview.comments.measures import Rates
from metareview.comments.repeated_runs import Repeats
from metareview.model.words import counted, plural

NOT_DEFINED = "–"


def rate(value: float | None) -> str:
    return NOT_DEFINED if value is None else f"{value:.3f}"


def interval(ends: Sequence[float] | None) -> str:
    """`0.262–0.428`; below 0, where a dash could be taken for a minus, `-0.054 to 0.140`."""
    if ends is None:
        return NOT_DEFINED
    return f"{ends[0]:.3f}{'–' if ends[0] >= 0 else ' to '}{ends[1]:.3f}"


def signed(value: float | None) -> str:
    """A difference. A part of a long history is smaller than three decimals, and still shown."""
    if value is None:
        return NOT_DEFINED
    return f"{value:+.1g}" if 0 < abs(value) < 0.0005 else f"{value:+.3f}"


def signed_interval(ends: Sequence[float] | None) -> str:
    return NOT_DEFINED if ends is None else f"{ends[0]:+.3f} to {ends[1]:+.3f}"


def p_value(p: float | None) -> str:
    return NOT_DEFINED if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def share(part: float | None, whole: float | None) -> str:
    return NOT_DEFINED if part is None or not whole else f"{part / whole:.0%}"


def count(value: float | None) -> str:
    """A count, or a mean of counts, which need not be whole."""
    return NOT_DEFINED if value is None else counted(value)


def of_all(part: float, whole: float | None, what: str = "") -> str:
    """Coverage: `6 of 30`, `1 of 1 comment`; the part alone where the whole is not known."""
    of_what = plural(part if whole is None else whole, what) if what else count(part if whole is None else whole)
    return of_what if whole is None else f"{count(part)} of {of_what}"


def between_runs(repeats: Repeats | None, metric: str) -> str:
    """`±0.021 (3)`: the standard deviation between a reviewer's repeated runs, and how many these are."""
    if repeats is None:
        return NOT_DEFINED
    spread = repeats.spread.get(metric)
    return plural(repeats.runs, "run") if spread is None else f"±{spread.sd:.3f} ({repeats.runs})"


def duration(seconds: float | None) -> str:
    if seconds is None:
        return NOT_DEFINED
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def ranked(metrics: Mapping[str, Rates], by: str) -> list[str]:
    """The names with the highest figure first, ties by name; whoever has none comes last."""
    return sorted(metrics, key=lambda name: (1.0 if (value := metrics[name][by]) is None else -value, name))
