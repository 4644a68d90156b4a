"""One table over runs and their reviewers (or routers), with intervals and groups of statistical ties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from metareview.comments.measures import COUNTS
from metareview.comparison.competitors import (
    COMMENTS,
    LOWER,
    Contender,
    check_settings,
    different_benchmarks,
    figure,
    read_contenders,
    with_beta,
)
from metareview.errors import UsageError
from metareview.runs.folder import StoredRun, read_run
from metareview.stats import Metric, bootstrap_intervals, pairwise_tests, tie_letters

SCHEMA = "metareview.leaderboard/1"
TIES_AT = 0.05


def leaderboard(
    runs: Sequence[StoredRun | str | Path],
    *,
    sort: str | None = None,
    beta: float | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Everybody in these runs, the best first by `sort` (f1, or mrr for routers): what `leaderboard --json` prints.

    Figures and intervals are over each one's own pull requests. Every pair is tested on the sort metric over the
    pull requests that both have, Holm over all pairs; two share a letter where they are not separated at 0.05, or
    share no pull request. UsageError where the figures of two would not mean the same (another judge, distance,
    cutoff, other references), or a run shares no pull request with the others.
    """
    contenders = _contenders(runs)
    check_settings(contenders)
    _check_benchmarks(contenders)
    metrics = [with_beta(each.metrics, beta) for each in contenders]
    known = list(dict.fromkeys(name for of_one in metrics for name in of_one))
    chosen = sort or ("f_beta" if beta is not None else contenders[0].kind.main)
    if chosen not in known:
        hint = " f_beta needs --beta." if chosen == "f_beta" else ""
        raise UsageError(f"--sort: no metric {chosen!r} here. There are {', '.join(known)}.{hint}")
    labels = _labels(contenders)
    rows = {
        label: _row(one, of_one, known, seed)
        for label, one, of_one in zip(labels, contenders, metrics, strict=True)
    }
    order = sorted(rows, key=lambda label: _place(chosen, rows[label]["metrics"][chosen], label))
    pairs = _pairs(
        {
            label: (one, of_one.get(chosen))
            for label, one, of_one in zip(labels, contenders, metrics, strict=True)
        },
        order,
        seed,
    )
    separated = [
        (pair["a"], pair["b"]) for pair in pairs if pair["p_holm"] is not None and pair["p_holm"] <= TIES_AT
    ]
    ties = tie_letters(order, separated)
    return {
        "schema": SCHEMA,
        "kind": contenders[0].run.kind,
        "sort": chosen,
        "beta": beta,
        "rows": [
            {"rank": rank, "label": label, "ties": ties[label], **rows[label]}
            for rank, label in enumerate(order, 1)
        ],
        "pairs": pairs,
        "warnings": _warnings(rows, pairs),
    }


def _contenders(runs: Sequence[StoredRun | str | Path]) -> list[Contender]:
    found: dict[Path, StoredRun] = {}
    for run in runs:
        stored = run if isinstance(run, StoredRun) else read_run(run)
        found.setdefault(stored.path.resolve(), stored)
    contenders = [one for run in found.values() for one in read_contenders(run)]
    if not contenders:
        raise UsageError("Name at least one run; these hold nobody to rank.")
    return contenders


def _check_benchmarks(contenders: Sequence[Contender]) -> None:
    by_run: dict[Path, list[Contender]] = {}
    for one in contenders:
        by_run.setdefault(one.run.path, []).append(one)
    for one, other in combinations(contenders, 2):
        different = different_benchmarks(one, other)
        if different:
            raise UsageError(
                f"{one.run.path} and {other.run.path} are on different benchmarks: {len(different)} pull requests have"
                f" other references ({different[0]}). Evaluate both against the same files."
            )
    prs = {path: {key for one in group for key in one.units} for path, group in by_run.items()}
    for path, own in prs.items():
        others = set().union(*(theirs for other, theirs in prs.items() if other != path))
        if len(prs) > 1 and not own & others:
            raise UsageError(f"{path} shares no pull request with the other runs. Rank it on its own.")


def _labels(contenders: Sequence[Contender]) -> list[str]:
    """A name that only one has stands alone; others are told apart by their run."""
    names = [one.name for one in contenders]
    folders = [one.run.path.resolve().name for one in contenders]
    whole = list(zip(names, folders, strict=True))
    labels = []
    for one, (name, folder) in zip(contenders, whole, strict=True):
        if names.count(name) == 1:
            labels.append(name)
        elif whole.count((name, folder)) == 1:
            labels.append(f"{name} ({folder})")
        else:
            labels.append(f"{name} ({one.run.path})")
    return labels


def _row(one: Contender, metrics: Mapping[str, Metric], known: Sequence[str], seed: int) -> dict[str, Any]:
    counts = one.counts()
    sums = counts.sum(axis=0)
    intervals = bootstrap_intervals(counts, metrics, seed=seed)
    ends = {name: intervals.get(name) for name in known}
    named = (
        {name: int(value) for name, value in zip(COUNTS, sums, strict=True)} if one.kind is COMMENTS else {}
    )
    return {
        "name": one.name,
        "run": str(one.run.path),
        "prs": len(counts),
        **named,
        "metrics": {name: figure(metrics[name], sums) if name in metrics else None for name in known},
        "intervals": {name: None if pair is None else list(pair) for name, pair in ends.items()},
        "undecided": sum(unit.undecided for unit in one.units.values()),
    }


def _place(metric: str, value: float | None, label: str) -> tuple[bool, float, str]:
    """Best first, whoever has no figure last, equal ones by name."""
    return (value is None, 0.0 if value is None else value if metric in LOWER else -value, label)


def _pairs(
    contenders: Mapping[str, tuple[Contender, Metric | None]], order: Sequence[str], seed: int
) -> list[dict[str, Any]]:
    """Each pair in order of rank: A stands above B. Somebody whose run has no such metric is not tested."""
    metric = next((metric for _, metric in contenders.values() if metric is not None), None)
    if metric is None:
        return []
    tables = {
        label: {key: unit.counts for key, unit in one.units.items()} if own is not None else {}
        for label, (one, own) in ((label, contenders[label]) for label in order)
    }
    found = []
    for (a, b), test in pairwise_tests(tables, metric, seed=seed).items():
        shared = [key for key in tables[a] if key in tables[b]]
        values = (
            [figure(metric, contenders[name][0].counts(shared).sum(axis=0)) for name in (a, b)]
            if shared
            else []
        )
        diff = None if not values or values[0] is None or values[1] is None else values[1] - values[0]
        found.append({"a": a, "b": b, "prs": test.units, "diff": diff, "p": test.p, "p_holm": test.p_holm})
    return found


def _warnings(rows: Mapping[str, Mapping[str, Any]], pairs: Sequence[Mapping[str, Any]]) -> list[str]:
    warnings = []
    sizes = sorted({row["prs"] for row in rows.values()})
    partial = [pair for pair in pairs if pair["prs"] < max(rows[pair["a"]]["prs"], rows[pair["b"]]["prs"])]
    if partial:
        warnings.append(
            f"not everybody has the same pull requests ({sizes[0]} to {sizes[-1]}): figures are over each one's own,"
            f" tests over those that a pair shares (at least {min(pair['prs'] for pair in pairs)})"
        )
    undecided = sum(row["undecided"] for row in rows.values())
    if undecided:
        warnings.append(f"{undecided} pairs stayed undecided and count as no match")
    return warnings
