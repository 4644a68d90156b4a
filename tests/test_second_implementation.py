"""What metareview reports of random reviewers, held against a second implementation of the definitions.

`METAREVIEW_RANDOM_RUNS=200` makes more random runs; each test has its share of them. `-s` shows what was compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import metareview as mr
import second_implementation as second
from random_runs import Counts, RandomReviews, random_reviews, reviews_of
from second_checks import Tally, beta_of, check_difference, check_holm, check_ties, equal_runs, json_of, seeds, value_of


def mean(values: Sequence[int]) -> Fraction:
    return Fraction(sum(values), len(values))


def rows_of(
    per_pr: Mapping[str, Sequence[Counts]], prs: Sequence[str], unit: str, alignment: str
) -> dict[str, list[second.Row]]:
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


def evaluated(made: RandomReviews, **options: Any) -> mr.Run:
    return mr.evaluate_comments(
        made.reviews,
        reference=made.references,
        negatives=made.negatives,
        judge="exact",
        alignment=made.alignment,
        **options,
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


def check_warnings(tally: Tally, made: RandomReviews, warnings: str, where: str) -> None:
    """Of 10 pull requests or more one holds over a fifth of a reviewer's comments; with 10 repositories or more the
    interval over repositories is over 1.25 times as wide."""
    for name, per_pr in made.counts.items():
        volume = {pr: one.comments for pr, (one,) in per_pr.items()}
        most = max(volume, key=lambda pr: volume[pr])
        uneven = len(volume) >= 10 and 5 * volume[most] > sum(volume.values())
        told = f"{name}: {volume[most]} of its {sum(volume.values())} comments are on one pull request, " in warnings
        tally.same("warning of a burst", f"{where} {name}", told, uneven)
        wider = False
        over = [rows_of(per_pr, list(per_pr), unit, made.alignment) for unit in ("pr", "repository")]
        for metric in ("positive_match_rate", "positive_recall_rate", "f1"):
            ends = [second.interval(rows[metric]) for rows in over]
            if len(over[1][metric]) >= 10 and ends[0] and ends[1]:
                wider = wider or ends[1][1] - ends[1][0] > 1.25 * (ends[0][1] - ends[0][0])
        tally.same("warning of repositories", f"{where} {name}", f" {name}'s " in warnings, wider)


@pytest.mark.parametrize("alignment", ["optimal", "coverage"])
@pytest.mark.parametrize("unit", ["pr", "repository"])
def test_intervals_of_reviewers(alignment: str, unit: str) -> None:
    with Tally() as tally:
        for seed in seeds(0.5):
            made = random_reviews(seed, ["ann", "bob"], alignment, repositories=1 + seed % 16, absent=0.1)
            run = evaluated(made, unit=unit)
            check_reviewers(tally, made, run, unit, f"seed {seed} {alignment}")
            if unit == "pr":
                check_warnings(tally, made, " ".join(run.summary["warnings"]), f"seed {seed} {alignment}")


@pytest.mark.parametrize("alignment", ["optimal", "coverage"])
@pytest.mark.parametrize("unit", ["pr", "repository"])
def test_differences_of_reviewers(alignment: str, unit: str) -> None:
    with Tally() as tally:
        for seed in seeds(0.25):
            made = random_reviews(1000 + seed, ["ann", "bob"], alignment, repositories=1 + seed % 25)
            run = evaluated(made)
            options: dict[str, Any] = {"beta": 2} if seed % 3 == 0 else {}
            ours = mr.compare(run, reviewers=["ann", "bob"], unit=unit, **options).to_dict()
            prs = list(made.counts["ann"])
            rows = [rows_of(made.counts[name], prs, unit, alignment) for name in ("ann", "bob")]
            check_difference(tally, ours, rows, f"seed {1000 + seed} {alignment} {unit}")


AWKWARD = {
    "one reviewer on one pull request": ([(8, 9), (0, 0), (0, 0), (0, 0)], [(5, 6), (5, 5), (3, 5), (4, 5)]),
    "both on the same one": ([(8, 9), (0, 0), (0, 0)], [(5, 6), (0, 0), (0, 0)]),
    "each on its own": ([(8, 9), (0, 0), (0, 0)], [(0, 0), (6, 9), (0, 0)]),
    "no variance, a difference": ([(4, 8)] * 4, [(4, 4)] * 4),
    "one pull request": ([(8, 9)], [(5, 6)]),
    "13 differ": ([(3, 4 + at % 3) for at in range(13)], [(2 + at % 2, 7) for at in range(13)]),
    "14 differ": ([(3, 4 + at % 3) for at in range(14)], [(2 + at % 2, 7) for at in range(14)]),
}


@pytest.mark.parametrize("case", AWKWARD)
@pytest.mark.parametrize("alignment", ["optimal", "coverage"])
def test_awkward_rows(case: str, alignment: str) -> None:
    made = reviews_of(dict(zip(("ann", "bob"), AWKWARD[case], strict=True)), 9, alignment)
    ours = mr.compare(evaluated(made), reviewers=["ann", "bob"]).to_dict()
    rows = [rows_of(per_pr, list(per_pr), "pr", alignment) for per_pr in made.counts.values()]
    with Tally() as tally:
        check_difference(tally, ours, rows, case)


def test_no_worse_than_a_margin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Tally() as tally:
        for seed in seeds(0.1):
            made = random_reviews(4000 + seed, ["ann", "bob"], "optimal", repositories=1 + seed % 5)
            folder = tmp_path / str(seed)
            evaluated(made, out=folder)
            rows = [rows_of(made.counts[name], list(made.counts["ann"]), "pr", "optimal") for name in ("ann", "bob")]
            for name, metric in {"f1": "f1", "recall": "positive_recall_rate", "noise": "unmatched_rate"}.items():
                a, b = rows[0][metric], rows[1][metric]
                defined = None not in (value_of(metric, a), value_of(metric, b))
                ends = second.difference_interval(a, b) if defined else None
                loss = None if ends is None else ends[1] if name == "noise" else -ends[0]
                for margin in {max(0.0, min(1.0, (loss or 0) + by)) for by in (-1e-6, 1e-6)}:
                    code, _ = json_of(
                        capsys,
                        "compare",
                        folder,
                        "--reviewer",
                        "ann",
                        "--reviewer",
                        "bob",
                        "--no-worse",
                        f"{name}={margin:.9f}",
                    )
                    expected = 0 if loss is not None and loss <= round(margin, 9) else 3
                    tally.same(
                        "no worse", f"seed {4000 + seed} {name}={margin:.9f} (loss up to {loss})", code, expected
                    )


@pytest.mark.parametrize("alignment", ["optimal", "coverage"])
def test_repeated_runs(alignment: str) -> None:
    with Tally() as tally:
        for seed in seeds(0.15):
            where = f"seed {5000 + seed} {alignment}"
            made = random_reviews(5000 + seed, ["ann", "bob"], alignment, repeat=True, most=25)
            run = evaluated(made, repeat=True)
            check_reviewers(tally, made, run, "pr", where)
            ours = mr.compare(run, reviewers=["ann", "bob"]).to_dict()
            rows = [rows_of(made.counts[name], list(made.counts["ann"]), "pr", alignment) for name in ("ann", "bob")]
            for metric, found in ours["metrics"].items():
                if metric == "false_positive_rate" and not made.negatives:
                    continue
                a, b = rows[0][metric], rows[1][metric]
                expected = None
                if None not in (value_of(metric, a), value_of(metric, b)):
                    runs = [runs_of(made, name, metric) for name in ("ann", "bob")]
                    expected = second.difference_interval(a, b, beta_of(metric), *runs)
                tally.interval(
                    "interval of a difference of repeated runs", f"{where} {metric}", found["interval"], expected
                )
            check_holm(tally, ours, where)


SORTS = {"f1": "f1", "precision": "positive_match_rate", "recall": "positive_recall_rate"}


@pytest.mark.parametrize("alignment", ["optimal", "coverage"])
def test_leaderboards(alignment: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Tally() as tally:
        for seed in seeds(0.25):
            names = ["ann", "bob", "cem", "dan", "eva", "fay"][: 2 + seed % 5]
            made = random_reviews(2000 + seed, names, alignment, repositories=1 + seed % 30, absent=0.25, most=40)
            evaluated(made, out=tmp_path / str(seed))
            sort = ("f1", "precision", "recall", "f2")[seed // 2 % 4]
            unit = "repository" if seed % 3 == 1 else "pr"
            options = ["--beta", "2"] if sort == "f2" else ["--sort", sort]
            _, ours = json_of(capsys, "leaderboard", tmp_path / str(seed), "--unit", unit, *options)
            check_leaderboard(
                tally, made, ours, SORTS.get(sort, sort), unit, f"seed {2000 + seed} {alignment} {unit} {sort}"
            )


def check_leaderboard(tally: Tally, made: RandomReviews, ours: Any, metric: str, unit: str, where: str) -> None:
    own = {name: list(counts) for name, counts in made.counts.items()}
    eligible = second.ranked({name: set(prs) for name, prs in own.items()})
    shared = [pr for pr in (each["pr"] for each in made.references) if all(pr in own[name] for name in eligible)]
    rows = {name: rows_of(made.counts[name], shared, unit, made.alignment) for name in eligible}
    known = {name for name in eligible if value_of(metric, rows[name][metric]) is not None}
    tally.same("ranked", where, {row["name"] for row in ours["rows"]}, known)
    tally.same("pull requests", where, ours["prs"], len(shared))
    for row in (*ours["rows"], *ours["unranked"]):
        alone = rows_of(made.counts[row["name"]], own[row["name"]], unit, made.alignment)
        check_row(tally, row["own"], alone, f"{where} {row['name']} (own)")
    for row in ours["rows"]:
        check_row(tally, row, rows[row["name"]], f"{where} {row['name']}")
    names = [row["name"] for row in ours["rows"]]
    check_ties(tally, ours, {name: rows[name][metric] for name in names}, equal_runs(rows), beta_of(metric), where)


def check_row(tally: Tally, ours: Any, rows: Mapping[str, second.Rows], where: str) -> None:
    for metric, value in ours["metrics"].items():
        tally.number("figure on a leaderboard", f"{where} {metric}", value, value_of(metric, rows[metric]))
        expected = None if value is None else second.interval(rows[metric], beta_of(metric))
        tally.interval("interval on a leaderboard", f"{where} {metric}", ours["intervals"][metric], expected)
