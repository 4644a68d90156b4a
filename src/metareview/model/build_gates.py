"""Gates of a build: figures that every reviewer or router, or one of them, must reach (`--fail-under`, `--fail-over`).

What came of them is part of a run's outcome: it is kept with the figures, and every report shows it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from metareview.errors import GateFailed, UsageError, did_you_mean
from metareview.model.measure import Measure, find_measure

_EXAMPLE = "such as f1=0.4, or NAME.f1=0.4 for one reviewer or router"


@dataclass(frozen=True, slots=True)
class Gate:
    """A measure must be at least `limit`, or at most where `over`; for all, or for the reviewer or router `name`."""

    measure: Measure
    limit: float
    over: bool = False
    name: str | None = None

    def missed_by(self, value: float | None) -> bool:
        """A figure that is null fails every gate: nothing was shown."""
        return value is None or (value > self.limit if self.over else value < self.limit)


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of a gate for one reviewer or router."""

    name: str
    metric: str
    limit: float
    over: bool
    value: float | None
    passed: bool

    @property
    def demand(self) -> str:
        return f"{'at most' if self.over else 'at least'} {self.limit:g}"

    @property
    def sentence(self) -> str:
        value = "null" if self.value is None else f"{self.value:.4f}"
        if self.value is not None and float(value) == round(self.limit, 4) != self.value:
            value = repr(self.value)  # what four digits would show as the limit itself
        return f"{self.name}: {self.metric} is {value}, must be {self.demand}"


def parse_gates(limits: Mapping[str, Sequence[str]], measures: Sequence[Measure]) -> list[Gate]:
    """The gates that METRIC=X and NAME.METRIC=X ask for, by option; UsageError for a typo, before it costs a run."""
    return [_parse(text, option, measures) for option, texts in limits.items() for text in texts]


def _parse(text: str, option: str, measures: Sequence[Measure]) -> Gate:
    what, _, number = text.rpartition("=")
    # A name may have dots and a metric has none, so the last dot divides them.
    name, dot, metric = what.rpartition(".")
    measure = find_measure(metric or text, measures, option)
    try:
        limit = float(number)
    except ValueError:
        raise UsageError(f"{option} takes METRIC=X with a number, {_EXAMPLE}; found {text!r}.") from None
    if not 0 <= limit <= 1:
        raise UsageError(f"{option} {text!r}: metrics run from 0 to 1, and so must a gate. Correct {number}.")
    if dot and not name:
        raise UsageError(f"{option} {text!r} has no name before the dot. Write METRIC=X with a number, {_EXAMPLE}.")
    return Gate(measure, limit, option == "--fail-over", name or None)


def check_names(gates: Iterable[Gate], names: Collection[str]) -> None:
    """UsageError where a gate names an unknown reviewer or router, or where there is none: it could not fail."""
    for gate in gates:
        if not names:
            raise UsageError("There is no reviewer or router to hold to a gate. Leave the gates out.")
        if gate.name is not None and gate.name not in names:
            meant = did_you_mean(gate.name, names)
            raise UsageError(f"A gate is for {gate.name!r}, who is not there.{meant} There are {', '.join(names)}.")


def gate_results(gates: Iterable[Gate], metrics: Mapping[str, Mapping[str, float | None]]) -> tuple[GateResult, ...]:
    """Each gate for each one that it is for, in the order of the gates."""
    check_names(gates := list(gates), metrics)
    return tuple(
        GateResult(name, gate.measure.name, gate.limit, gate.over, value, not gate.missed_by(value))
        for gate in gates
        for name in metrics
        if gate.name in (None, name)
        for value in [metrics[name][gate.measure.name]]
    )


def check_gates(results: Iterable[GateResult]) -> None:
    """GateFailed where one was missed; the message says by whom, and by how much."""
    missed = [result.sentence for result in results if not result.passed]
    if missed:
        raise GateFailed(f"a gate was missed. {'; '.join(missed)}.", missed)
