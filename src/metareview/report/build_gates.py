"""How the gates of a build are shown, and what goes before them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from metareview.comments.summary import JudgeSummary
from metareview.errors import GateFailed, Undecided
from metareview.judges.registry import VERDICTS
from metareview.model.build_gates import GateResult
from metareview.model.words import plural
from metareview.report.numbers import p_value, rate, signed_interval
from metareview.report.tables import Column, Table

if TYPE_CHECKING:
    from metareview.comparison.verdict import Comparison, LossGate

_MARKS = {True: "pass", False: "FAIL", None: "undecided"}


def gate_lines(results: Sequence[GateResult]) -> list[str]:
    """A line per gate and reviewer or router, for the terminal."""
    return [f"{_MARKS[result.passed]}  {result.sentence}" for result in results]


def gates_table(results: Sequence[GateResult]) -> Table:
    """The same as a table."""
    return [
        Column("Gate", [f"{result.metric} {result.demand}" for result in results], text=True),
        Column("For", [result.name for result in results], text=True),
        Column("Found", [rate(result.value) for result in results]),
        Column("Result", [_MARKS[result.passed] for result in results], text=True),
    ]


def loss_gates_table(result: Comparison) -> Table:
    """The gates of a comparison, in the same columns."""
    metrics = [gate.metric for gate in result.gates]
    return [
        Column("Gate", [_demand(result, gate) for gate in result.gates], text=True),
        Column("For", [result.b.label] * len(metrics), text=True),
        Column("Found", [rate(metric.b) for metric in metrics]),
        Column("Result", [_MARKS[gate.passed] for gate in result.gates], text=True),
    ]


def missed_losses(result: Comparison) -> list[str]:
    """A sentence for each gate of the comparison that was missed."""
    return [_missed(result, gate) for gate in result.gates if gate.passed is False]


def check_losses(result: Comparison) -> None:
    """GateFailed where B lost on a metric that it is held to; Undecided where undecided pairs leave that open."""
    if any(gate.passed is None for gate in result.gates):
        undecided = sum(result.undecided.values())
        what = plural(undecided, "pair" if result.samples is None else "comment")
        raise Undecided(
            f"{what} {'is' if undecided == 1 else 'are'} undecided, so no loss can be ruled out. Run the command that"
            " made the run again, with the same --out, to ask again."
        )
    if missed := missed_losses(result):
        raise GateFailed(f"{'; '.join(missed)}.", missed)


def _demand(result: Comparison, gate: LossGate) -> str:
    label, other = gate.metric.measure.label, result.a.label
    if gate.margin is None:
        return f"{label}: no proven loss to {other}"
    return f"{label}: a loss of more than {gate.margin:g} to {other} ruled out"


def _missed(result: Comparison, gate: LossGate) -> str:
    metric, now, before = gate.metric, result.b.label, result.a.label
    figures = f"{metric.measure} is {rate(metric.b)}, was {rate(metric.a)}"
    if gate.margin is None:
        return f"{now} is worse than {before}: {figures} (p {p_value(metric.p_holm)} after Holm)"
    shown = signed_interval(metric.interval)
    return (
        f"{now} may be worse than {before} by more than {gate.margin:g}: {figures}"
        f" (95 % interval of the difference {shown})"
    )


def check_undecided(judge: JudgeSummary, what: str = "pair") -> None:
    """Undecided where the judge left something without a verdict; this goes before the gates. `what` it was asked
    about: a pair, or a comment of a run of outcomes."""
    if judge.errors and what != "pair":
        raise Undecided(
            f"{judge.errors} of {plural(judge.pairs, what)} stayed undecided and are in no rate of what was addressed."
            " Run the same command with the same --out to ask about them again."
        )
    if judge.errors:
        again = "Run the same command with the same --out to ask about them again."
        if judge.name == VERDICTS:
            again = "The file has no verdict on them; --labels FILE adds people's."
        raise Undecided(
            f"{judge.errors} of {plural(judge.pairs, what)} stayed undecided; the bounds show how far that reaches."
            f" {again}"
        )
