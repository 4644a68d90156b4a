"""Comparisons of what metareview reports with what the second implementation has of the same counts."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import second_implementation as second
from metareview.cli import _run

RANDOM_RUNS = int(os.environ.get("METAREVIEW_RANDOM_RUNS", "20"))
EXACT = 1e-9
COMPLEMENTS = {"unmatched_rate": "positive_match_rate"}
"""Noise = 1 - precision is not counted twice."""


class Tally:
    """Compares figures, counts them by kind with the greatest deviation, and fails at its end with what disagrees."""

    def __init__(self) -> None:
        self.compared: dict[str, int] = defaultdict(int)
        self.greatest: dict[str, float] = defaultdict(float)
        self.disagreements: list[str] = []

    def __enter__(self) -> Tally:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for name in sorted(self.compared):
            print(f"{name}: {self.compared[name]} compared, greatest deviation {self.greatest[name]:.2g}")
        if kind is None:
            found = [f"{len(self.disagreements)} disagreements", *self.disagreements[:40]]
            assert not self.disagreements, "\n".join(found)

    def number(self, kind: str, where: str, ours: float | None, theirs: float | None, tolerance: float = EXACT) -> None:
        self.compared[kind] += 1
        if ours is None or theirs is None:
            if ours is not theirs:
                self.disagreements.append(f"{kind}, {where}: metareview {ours}, second {theirs}")
            return
        deviation = abs(ours - float(theirs))
        self.greatest[kind] = max(self.greatest[kind], deviation)
        if not deviation <= tolerance:
            self.disagreements.append(f"{kind}, {where}: metareview {ours}, second {float(theirs)}")

    def interval(self, kind: str, where: str, ours: Sequence[float] | None, theirs: second.Interval) -> None:
        for at, end in enumerate(("low", "high")):
            self.number(kind, f"{where} {end}", ours and ours[at], theirs and theirs[at])

    def drawn(self, kind: str, where: str, ours: float | None, theirs: float | None) -> None:
        """Two estimates of one p by 10,000 draws each."""
        p = ((ours or 0) + (theirs or 0)) / 2
        self.number(kind, where, ours, theirs, monte_carlo_error(p))

    def same(self, kind: str, where: str, ours: object, theirs: object) -> None:
        self.compared[kind] += 1
        if ours != theirs:
            self.disagreements.append(f"{kind}, {where}: metareview {ours}, second {theirs}")


def monte_carlo_error(p: float) -> float:
    return 4 * math.sqrt(2 * p * (1 - p) / second.DRAWS) + 1e-3


def json_of(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, Any]:
    """Runs a command in this process: its exit code, and the document of --json."""
    capsys.readouterr()
    code = _run([*(str(each) for each in arguments), "--json", "-q"])
    return code, json.loads(capsys.readouterr().out)


def seeds(share: float) -> range:
    return range(max(1, round(RANDOM_RUNS * share)))


def write_lines(path: Path, records: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return path


def beta_of(metric: str) -> int:
    return 2 if metric in ("f2", "f_beta") else 1


def value_of(metric: str, rows: second.Rows) -> float | None:
    found = second.figure_of(rows, beta_of(metric))(second.sums(rows))
    return None if found is None else float(found)


def check_difference(
    tally: Tally, ours: Mapping[str, Any], rows: Sequence[Mapping[str, second.Rows]], where: str
) -> None:
    for metric, found in ours["metrics"].items():
        at, (a, b) = f"{where} {metric}", (each[metric] for each in rows)
        values = value_of(metric, a), value_of(metric, b)
        defined = None not in values
        tally.number("difference", at, found["diff"], values[1] - values[0] if defined else None)
        tally.interval(
            "interval of a difference",
            at,
            found["interval"],
            second.difference_interval(a, b, beta_of(metric)) if defined else None,
        )
        tested = COMPLEMENTS.get(metric, metric)
        few = metric in ours["too_few_matches"]
        readings = {False}
        if defined and rows[0] != rows[1]:
            readings = second.too_few_by_any_reading(*(each[tested] for each in rows), beta=beta_of(metric))
        tally.same("too few matches", at, few in readings, True)
        if few or not defined:
            tally.same("not tested", at, found["p"], None)
            continue
        p, exact = second.exchange_p(a, b, beta_of(metric))
        if exact:
            tally.number("p (exact)", at, found["p"], p, 1e-12)
        else:
            tally.drawn("p (drawn)", at, found["p"], p)
    check_holm(tally, ours, where)


def check_holm(tally: Tally, ours: Mapping[str, Any], where: str) -> None:
    """p_holm by the p values that metareview has, and nobody better while the interval of the difference holds 0."""
    tested = {name: found["p"] for name, found in ours["metrics"].items() if found["p"] is not None}
    corrected = second.holm({name: p for name, p in tested.items() if name not in COMPLEMENTS})
    better = False
    for name, found in ours["metrics"].items():
        expected = corrected.get(COMPLEMENTS.get(name, name)) if name in tested else None
        tally.number("p_holm", f"{where} {name}", found["p_holm"], expected, 1e-12)
        if expected is not None and expected <= 0.05 and found["interval"] and found["diff"]:
            better = better or not found["interval"][0] <= 0 <= found["interval"][1]
    tally.same("better or not", where, " better on " in ours["verdict"], better)


def equal_runs(rows: Mapping[str, Mapping[str, second.Rows]]) -> set[frozenset[str]]:
    return {frozenset(pair) for pair in itertools.combinations(rows, 2) if rows[pair[0]] == rows[pair[1]]}


def check_ties(
    tally: Tally, ours: Any, rows: Mapping[str, second.Rows], equal: set[frozenset[str]], beta: int, where: str
) -> None:
    letters = {row["name"]: set(row["ties"]) for row in ours["rows"]}
    found = {frozenset((pair["a"], pair["b"])): pair for pair in ours["pairs"]}
    pairs = list(itertools.combinations(rows, 2))
    untested = []
    for a, b in pairs:
        few = frozenset((a, b)) not in found or found[frozenset((a, b))]["p"] is None
        readings = {False} if {a, b} in equal else second.too_few_by_any_reading(rows[a], rows[b], beta)
        tally.same("too few matches", f"{where} {a}-{b}", few in readings, True)
        untested += [(a, b)] if few else []
    expected = second.pairwise_ties(rows, beta, untested)
    for a, b in pairs:
        at, (alone, family) = f"{where} {a}-{b}", expected.get((a, b), (None, None))
        if family is not None:
            tally.drawn("p of a pair", at, found[frozenset((a, b))]["p"], alone)
            tally.drawn("p of a pair in the family", at, found[frozenset((a, b))]["p_family"], family)
        if family is None or abs(family - 0.05) > monte_carlo_error(0.05):
            tally.same("letters", at, bool(letters[a] & letters[b]), family is None or family > 0.05)
    if len(rows) > 1:
        first, following = (letters[row["name"]] for row in ours["rows"][:2])
        tally.same("leads", where, " leads" in ours["headline"], not first & following)
