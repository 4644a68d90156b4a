"""Gates of a build: figures that every reviewer, or router, must reach (`--fail-under`, `--fail-over`)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from metareview.comments.measures import Rates
from metareview.comments.summary import JudgeSummary
from metareview.errors import GateFailed, Undecided, UsageError
from metareview.model.measure import Measure, find_measure


@dataclass(frozen=True, slots=True)
class Gate:
    """A measure must be at least `limit`, or at most where `over`."""

    measure: Measure
    limit: float
    over: bool = False

    @property
    def demand(self) -> str:
        return f"{'at most' if self.over else 'at least'} {self.limit:g}"

    def missed_by(self, value: float | None) -> bool:
        """A figure that is null fails every gate: nothing was shown."""
        return value is None or (value > self.limit if self.over else value < self.limit)


def parse_gates(limits: Mapping[str, Sequence[str]], measures: Sequence[Measure]) -> list[Gate]:
    """The gates that METRIC=X ask for, by option; UsageError for a typo, before it can cost a run."""
    return [_parse(text, option, measures) for option, texts in limits.items() for text in texts]


def _parse(text: str, option: str, measures: Sequence[Measure]) -> Gate:
    name, _, number = text.partition("=")
    measure = find_measure(name, measures, option)
    try:
        limit = float(number)
    except ValueError:
        raise UsageError(f"{option} takes METRIC=X with a number, such as f1=0.4; found {text!r}.") from None
    if not math.isfinite(limit):
        raise UsageError(f"{option} takes a finite number, found {text!r}.")
    return Gate(measure, limit, option == "--fail-over")


def check_gates(metrics: Mapping[str, Rates], gates: Iterable[Gate]) -> None:
    """GateFailed where a reviewer or router misses one; the message says which, and by how much."""
    missed = [
        f"{name}: {gate.measure} is {'null' if value is None else f'{value:.4f}'}, must be {gate.demand}"
        for gate in gates
        for name, rates in metrics.items()
        if gate.missed_by(value := rates[gate.measure.name])
    ]
    if missed:
        raise GateFailed("a gate was missed. " + "; ".join(missed) + ".")


def check_undecided(judge: JudgeSummary) -> None:
    """Undecided where the judge left pairs without a verdict; this goes before the gates."""
    if judge.errors:
        raise Undecided(
            f"{judge.errors} of {judge.pairs} pairs stayed undecided; the bounds show how far that reaches."
            " Run the same command with the same --out to ask for them again."
        )
