"""How the gates of a build are shown, and what goes before them."""

from __future__ import annotations

from collections.abc import Sequence

from metareview.comments.summary import JudgeSummary
from metareview.errors import Undecided
from metareview.judges.registry import VERDICTS
from metareview.model.build_gates import GateResult
from metareview.model.words import plural
from metareview.report.numbers import rate
from metareview.report.tables import Column, Table

_MARKS = {True: "pass", False: "FAIL"}


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
