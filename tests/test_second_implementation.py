"""What metareview reports of random runs, held against a second implementation of the definitions.

`METAREVIEW_RANDOM_RUNS=200` runs more of them; each kind of run gets its share.
"""

from __future__ import annotations

import itertools
import math
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import pytest

import metareview as mr
import second_implementation as second
from random_runs import Counts, RandomReviews, random_reviews

RANDOM_RUNS = int(os.environ.get("METAREVIEW_RANDOM_RUNS", "40"))
EXACT = 1e-9
COMPLEMENTS = {"unmatched_rate": "positive_match_rate"}
"""Noise = 1 - precision is not counted twice."""


class Tally:
    """How many figures of each kind were compared, and the greatest deviation."""

    def __init__(self) -> None:
        self.compared: dict[str, int] = defaultdict(int)
        self.greatest: dict[str, float] = defaultdict(float)
        self.disagreements: list[str] = []

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


@pytest.fixture(scope="module")
def all_kinds() -> Iterator[Tally]:
    total = Tally()
    yield total
    for kind in sorted(total.compared):
        print(f"{kind}: {total.compared[kind]} compared, greatest deviation {total.greatest[kind]:.2g}")


@pytest.fixture
def tally(all_kinds: Tally) -> Iterator[Tally]:
    """Collects all disagreements of a test, which then fails with them."""
    found = Tally()
    yield found
    for kind in found.compared:
        all_kinds.compared[kind] += found.compared[kind]
        all_kinds.greatest[kind] = max(all_kinds.greatest[kind], found.greatest[kind])
    assert not found.disagreements, "\n".join([f"{len(found.disagreements)} disagreements", *found.disagreements[:40]])


def seeds(share: float) -> range:
    return range(max(1, round(RANDOM_RUNS * share)))


# --- Reviewers -------------------------------------------------------------------------------------------------------


def mean(values: Sequence[int]) -> Fraction:
    return Fraction(sum(values), len(values))


def rows_of(per_pr: Mapping[str, Sequence[Counts]], prs: Sequence[str], unit: str, alignment: str) -> dict[str, list[second.Row]]:
    """The rows of each metric over pull requests or repositories; counts are averaged per pull request over the runs
    that have it."""
    averaged = []
    for pr in prs:
        each = per_pr[pr]
        averaged.append({name: mean([getattr(one, name) for one in each]) for name in Counts.__dataclass_fields__})
    if unit == "repository":
        together: dict[str, dict[str, Fraction]] = {}
        for pr, found in zip(prs, averaged, strict=True):
            group = together.setdefault(pr.rsplit("/pull/", 1)[0], dict.fromkeys(found, Fraction(0)))
            for name, value in found.items():
                group[name] += value
        averaged = list(together.values())
    rows: dict[str, list[second.Row]] = defaultdict(list)
    for of in averaged:
        g, r = of["comments"], of["references"]
        rows["positive_match_rate"].append((of["matched"], g))
        rows["positive_recall_rate"].append((of["covered"], r))
        rows["positive_line_match_rate"].append((of["line_matched"], g))
        rows["positive_line_recall_rate"].append((of["line_covered"], r))
        rows["unmatched_rate"].append((g - of["matched"], g))
        rows["false_positive_rate"].append((of["negative"], g))
        for name, prefix in (("f1", ""), ("line_f1", "line_")):
            matched, covered = of[prefix + "matched"], of[prefix + "covered"]
            one = alignment == "optimal"
            rows[name].append((matched, (g + r) / 2) if one else (matched, g, covered, r))
            if name == "f1":
                two = second.one_to_one_f_beta(matched, g, r, 2)
                rows["f2"].append(two if one else (matched, g, covered, r))
    return rows | {"f_beta": rows["f2"]}


def beta_of(metric: str) -> int:
    return 2 if metric in ("f2", "f_beta") else 1


def value_of(metric: str, rows: second.Rows) -> float | None:
    found = second.figure_of(rows, beta_of(metric))(second.sums(rows))
    return None if found is None else float(found)


def evaluated(made: RandomReviews, **options: Any) -> mr.Run:
    return mr.evaluate_comments(
        made.reviews, reference=made.references, negatives=made.negatives, judge="exact", alignment=made.alignment, **options
    )


def runs_of(made: RandomReviews, name: str, metric: str) -> list[second.Rows]:
    """The rows of each repeated run on the pull requests that all runs have."""
    runs = made.runs[name]
    everywhere = sorted(set.intersection(*(set(run) for run in runs.values())))
    alone = ({pr: [run[pr]] for pr in everywhere} for run in runs.values())
    return [rows_of(each, everywhere, "pr", made.alignment)[metric] for each in alone]


def check_reviewers(tally: Tally, made: RandomReviews, run: mr.Run, unit: str, where: str) -> None:
    for name, reviewer in run.summary["reviewers"].items():
        rows = rows_of(made.counts[name], list(made.counts[name]), unit, made.alignment)
        for metric, ours in reviewer["metrics"].items():
            if metric == "false_positive_rate" and not made.negatives:
                continue
            at = f"{where} {name} {metric}"
            tally.number("figure", at, ours, value_of(metric, rows[metric]))
            repeated = "repeats" in reviewer
            runs = runs_of(made, name, metric) if repeated else ()
            expected = None if ours is None else second.interval(rows[metric], beta_of(metric), runs)
            several = " of repeated runs" if repeated and len(runs) > 1 else ""
            tally.interval(f"interval{several} over {unit}", at, reviewer["intervals"][metric], expected)


@pytest.mark.parametrize("alignment", ["optimal", "coverage"])
@pytest.mark.parametrize("unit", ["pr", "repository"])
def test_intervals_of_reviewers(tally: Tally, alignment: str, unit: str) -> None:
    for seed in seeds(0.5):
        made = random_reviews(seed, ["ann", "bob"], alignment, repositories=1 + seed % 16, absent=0.1)
        check_reviewers(tally, made, evaluated(made, unit=unit), unit, f"seed {seed} {alignment}")


def check_difference(tally: Tally, made: RandomReviews, ours: Mapping[str, Any], rows: Sequence[Mapping[str, second.Rows]], where: str) -> None:
    for metric, found in ours["metrics"].items():
        at, (a, b) = f"{where} {metric}", (each[metric] for each in rows)
        values = value_of(metric, a), value_of(metric, b)
        defined = None not in values
        tally.number("difference", at, found["diff"], values[1] - values[0] if defined else None)
        tally.interval("interval of a difference", at, found["interval"], second.difference_interval(a, b, beta_of(metric)) if defined else None)
        tested = COMPLEMENTS.get(metric, metric)
        few = defined and second.not_tested(*(each[tested] for each in rows))
        tally.same("too few matches", at, metric in ours["too_few_matches"], few)
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


@pytest.mark.parametrize("alignment", ["optimal", "coverage"])
@pytest.mark.parametrize("unit", ["pr", "repository"])
def test_differences_of_reviewers(tally: Tally, alignment: str, unit: str) -> None:
    for seed in seeds(0.25):
        made = random_reviews(1000 + seed, ["ann", "bob"], alignment, repositories=1 + seed % 25)
        run = evaluated(made)
        options: dict[str, Any] = {"beta": 2} if seed % 3 == 0 else {}
        ours = mr.compare(run, reviewers=["ann", "bob"], unit=unit, **options).to_dict()
        prs = list(made.counts["ann"])
        rows = [rows_of(made.counts[name], prs, unit, alignment) for name in ("ann", "bob")]
        check_difference(tally, made, ours, rows, f"seed {1000 + seed} {alignment} {unit}")
