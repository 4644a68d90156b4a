"""`--fail-under` and `--fail-over`: figures that a build must reach."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from metareview.errors import GateFailed, Undecided, UsageError


@dataclass(frozen=True, slots=True)
class Gate:
    metric: str
    limit: float
    over: bool

    def missed_by(self, value: float | None) -> bool:
        """A metric that is null fails every gate: nothing was shown."""
        if value is None:
            return True
        return value > self.limit if self.over else value < self.limit


def gate_options(command: Callable[..., Any]) -> Callable[..., Any]:
    command = click.option(
        "--fail-over",
        multiple=True,
        metavar="METRIC=X",
        help="Exit 3 where the metric is higher; repeatable.",
    )(command)
    return click.option(
        "--fail-under",
        multiple=True,
        metavar="METRIC=X",
        help="Exit 3 where the metric is lower; repeatable.",
    )(command)


def parse_gates(under: Sequence[str], over: Sequence[str], metrics: Collection[str]) -> list[Gate]:
    """Checked before anything runs, so that a typo does not cost a run."""
    gates = []
    for texts, is_over, option in ((under, False, "--fail-under"), (over, True, "--fail-over")):
        for text in texts:
            metric, _, limit = text.partition("=")
            if metric not in metrics:
                raise UsageError(
                    f"{option}: unknown metric {metric!r}. The metrics are {', '.join(metrics)}."
                )
            try:
                gate = Gate(metric, float(limit), is_over)
            except ValueError:
                raise UsageError(
                    f"{option} takes METRIC=X with a number, such as f1=0.4; found {text!r}."
                ) from None
            if not math.isfinite(gate.limit):
                raise UsageError(f"{option} takes a finite number, found {text!r}.")
            gates.append(gate)
    return gates


def check_undecided(summary: Mapping[str, Any]) -> None:
    """Exit 4 where pairs stayed undecided; it goes before the gates."""
    undecided = summary["judge"]["errors"]
    if undecided:
        raise Undecided(
            f"{undecided} of {summary['judge']['pairs']} pairs stayed undecided; the bounds say how far that reaches."
            " The same command with the same --out asks for them again."
        )


def check_gates(figures: Mapping[str, Mapping[str, Any]], gates: Sequence[Gate]) -> None:
    """Exit 3 where a reviewer or router misses a gate; the message says which, and by how much."""
    missed = [
        f"{name}: {gate.metric} is {_shown(value)}, {'at most' if gate.over else 'at least'} {gate.limit:g} is asked"
        for gate in gates
        for name, metrics in figures.items()
        if gate.missed_by(value := metrics[gate.metric])
    ]
    if missed:
        raise GateFailed("a gate was missed. " + "; ".join(missed) + ".")


def _shown(value: float | None) -> str:
    return "null" if value is None else f"{value:.4f}"
