"""Two reviewers or routers, paired by pull request: every metric's difference, how sure it is, and what made it.

A is what there was, B what is held against it: differences are B - A.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from metareview.comparison.competitors import (
    LOWER,
    Contender,
    check_settings,
    different_benchmarks,
    figure,
    kind_of,
    read_contenders,
    with_beta,
    word_for,
)
from metareview.comparison.explain import details_of, effects
from metareview.errors import UsageError
from metareview.model.words import plural
from metareview.runs.folder import StoredRun, read_run
from metareview.stats import (
    Array,
    Metric,
    bootstrap_difference,
    holm,
    minimum_detectable_difference,
    permutation_test,
)

SCHEMA = "metareview.compare/1"
SHOWN_PULL_REQUESTS = 5
_SHOWN_NAMES = 3


def compare(
    a: StoredRun | str | Path,
    b: StoredRun | str | Path | None = None,
    *,
    reviewers: Sequence[str] = (),
    common: bool = False,
    alpha: float = 0.05,
    seed: int = 0,
    beta: float | None = None,
) -> dict[str, Any]:
    """Compare two runs, or two reviewers (or routers) of one: the document that `metareview compare --json` prints.

    `reviewers`: one name for both runs, or A's and B's; needed where a run holds several. UsageError, with the
    reason, where the figures would not mean the same: another judge, threshold, distance, alignment, cutoff or truth;
    and where the pull requests or their references are not the same ones, unless `common` restricts both to those
    that are.
    """
    if not 0 < alpha < 1:
        raise UsageError(f"--alpha must lie between 0 and 1, found {alpha:g}.")
    first = a if isinstance(a, StoredRun) else read_run(a)
    second = first if b is None else b if isinstance(b, StoredRun) else read_run(b)
    ours, theirs = _chosen(first, second, b is None, reviewers)
    check_settings([ours, theirs])
    prs, left_out = _shared(ours, theirs, common)
    counts = ours.counts(prs), theirs.counts(prs)
    both_measure = {name: m for name, m in ours.metrics.items() if name in theirs.metrics}
    metrics = with_beta(both_measure, beta)
    labels = _labels(ours, theirs)
    result: dict[str, Any] = {
        "schema": SCHEMA,
        "kind": first.kind,
        "a": {"name": ours.name, "run": str(first.path), "label": labels[0]},
        "b": {"name": theirs.name, "run": str(second.path), "label": labels[1]},
        "prs": len(prs),
        "left_out": left_out,
        "alpha": alpha,
        "beta": beta,
        "metrics": _metrics(*counts, metrics, seed),
        "minimum_detectable_difference": minimum_detectable_difference(
            *counts, metrics, alpha=alpha, seed=seed
        ),
        "undecided": {
            side: sum(one.units[key].undecided for key in prs) for side, one in (("a", ours), ("b", theirs))
        },
        **_what_made_it(ours, theirs, prs, counts, metrics),
    }
    result["warnings"] = _warnings(first, second, ours, theirs, left_out)
    differing = int((counts[0] != counts[1]).any(axis=1).sum())
    result["verdict"] = _verdict(result, ours.kind.main, differing)
    return result


def is_loss(metric: str, figures: Mapping[str, Any], alpha: float) -> bool:
    """Whether B is worse on this metric by more than chance explains, Holm's correction applied.

    A figure that A has and B has not (a reviewer that fell silent has no precision) is a loss too: nothing was shown.
    """
    if figures["b"] is None:
        return figures["a"] is not None
    if figures["p_holm"] is None or figures["p_holm"] > alpha:
        return False
    return bool(figures["diff"] > 0 if metric in LOWER else figures["diff"] < 0)


def _chosen(
    first: StoredRun, second: StoredRun, same_run: bool, names: Sequence[str]
) -> tuple[Contender, Contender]:
    """The two contenders that were asked for."""
    held = [kind_of(run).names(run) for run in (first, second)]
    word = kind_of(first).word
    if len(names) > 2:
        raise UsageError(f"--reviewer is given {len(names)} times; two {word}s are compared.")
    for name in names:
        if not any(name in several for several in held):
            raise UsageError(
                f"No {word} is named {name!r}. There are {', '.join(dict.fromkeys(held[0] + held[1]))}."
            )
    if same_run:
        wanted = list(names) or held[0]
        if len(wanted) != 2:
            raise UsageError(
                f"{first.path} holds {len(held[0])} {word}s: {', '.join(held[0])}. Name two of them,"
                " --reviewer A --reviewer B, or give a second run."
            )
    else:
        given = [names[0], names[-1]] if names else [None, None]
        wanted = [
            _in_run(run, several, name, required=len(names) == 2, word=word)
            for run, several, name in zip((first, second), held, given, strict=True)
        ]
    [a] = read_contenders(first, [wanted[0]], records=True)
    [b] = read_contenders(second, [wanted[1]], records=True)
    return a, b


def _in_run(run: StoredRun, held: Sequence[str], name: str | None, *, required: bool, word: str) -> str:
    if name in held:
        return str(name)
    if len(held) == 1 and not required:
        return held[0]
    problem = (
        f"holds {len(held)} {word}s" if name is None else f"holds no {word} named {name!r}, but {len(held)}"
    )
    raise UsageError(f"{run.path} {problem}: {', '.join(held)}. Choose with --reviewer.")


def _shared(a: Contender, b: Contender, common: bool) -> tuple[list[str], dict[str, int]]:
    """The pull requests to compare on, and how many were left out and why."""
    different = set(different_benchmarks(a, b))
    only_a = [key for key in a.units if key not in b.units]
    only_b = [key for key in b.units if key not in a.units]
    shared = [key for key in a.units if key in b.units and key not in different]
    left_out = {"only_a": len(only_a), "only_b": len(only_b), "different_references": len(different)}
    reasons = [
        f"{plural(len(keys), 'pull request')} {what} "
        f"({', '.join(keys[:_SHOWN_NAMES])}{', …' * (len(keys) > _SHOWN_NAMES)})"
        for keys, what in (
            (only_a, "only in A"),
            (only_b, "only in B"),
            (sorted(different), "with other references in B, so the benchmarks differ"),
        )
        if keys
    ]
    if not shared:
        raise UsageError(f"A and B share no pull request: {'; '.join(reasons) or 'both are empty'}.")
    if reasons and not common:
        raise UsageError(
            f"A and B are not on the same pull requests: {'; '.join(reasons)}."
            f" --common restricts both to the {len(shared)} that they share."
        )
    return shared, left_out


def _labels(a: Contender, b: Contender) -> tuple[str, str]:
    """What the two are called in sentences: their own names where these differ."""
    if a.name != b.name:
        return a.name, b.name
    if a.run.path.resolve() != b.run.path.resolve():
        runs = a.run.path.resolve().name, b.run.path.resolve().name
        if runs[0] != runs[1]:
            return f"{a.name} ({runs[0]})", f"{b.name} ({runs[1]})"
    return f"{a.name} (A)", f"{b.name} (B)"


def _metrics(a: Array, b: Array, metrics: Mapping[str, Metric], seed: int) -> dict[str, dict[str, Any]]:
    intervals = bootstrap_difference(a, b, metrics, seed=seed)
    ps = permutation_test(a, b, metrics, seed=seed)
    adjusted = holm(ps)
    sums_a, sums_b = a.sum(axis=0), b.sum(axis=0)
    figures = {}
    for name, metric in metrics.items():
        value_a, value_b = figure(metric, sums_a), figure(metric, sums_b)
        interval = intervals[name]
        figures[name] = {
            "a": value_a,
            "b": value_b,
            "diff": None if value_a is None or value_b is None else value_b - value_a,
            "interval": None if interval is None else list(interval),
            "p": ps[name],
            "p_holm": adjusted[name],
        }
    return figures


def _what_made_it(
    a: Contender, b: Contender, prs: Sequence[str], counts: tuple[Array, Array], metrics: Mapping[str, Metric]
) -> dict[str, Any]:
    details = details_of(a.kind)
    main = a.kind.main
    added = effects(*counts, metrics[main])
    records_a = [record for key in prs if (record := a.units[key].record) is not None]
    records_b = [record for key in prs if (record := b.units[key].record) is not None]
    size = np.round(np.abs(added), 12)  # effects that are equal but for rounding go by name
    order = sorted(range(len(prs)), key=lambda i: (-size[i], prs[i]))

    def shown(positions: Sequence[int]) -> list[dict[str, Any]]:
        return [
            {
                "pr": a.units[prs[i]].pr,
                "effect": float(added[i]),
                **details.pull_request(a.name, b.name, records_a[i], records_b[i]),
            }
            for i in positions[:SHOWN_PULL_REQUESTS]
        ]

    return {
        "pull_requests": {
            "metric": main,
            "gains": shown([i for i in order if added[i] > 0]),
            "losses": shown([i for i in order if added[i] < 0]),
            "differing": [
                a.units[key].pr
                for key, ours, theirs in zip(prs, records_a, records_b, strict=True)
                if not details.same(a.name, b.name, ours, theirs)
            ],
        },
        "kinds": details.kinds(a.name, b.name, records_a, records_b),
        "found": details.found(a.name, b.name, records_a, records_b),
    }


def _warnings(
    first: StoredRun, second: StoredRun, a: Contender, b: Contender, left_out: Mapping[str, int]
) -> list[str]:
    warnings = []
    if any(left_out.values()):
        warnings.append(
            f"left out: {plural(left_out['only_a'], 'pull request')} that only A has, "
            f"{left_out['only_b']} that only B has, {left_out['different_references']} with other references"
        )
    one_sided = sorted({*a.metrics} ^ {*b.metrics})
    if one_sided:
        warnings.append(f"measured in one of the runs only, so not compared: {', '.join(one_sided)}")
    versions = [run.manifest["versions"]["metareview"] for run in (first, second)]
    if versions[0] != versions[1]:
        warnings.append(f"A was made by metareview {versions[0]}, B by {versions[1]}")
    return warnings


def _verdict(result: Mapping[str, Any], main: str, differing: int) -> str:
    """What the figures say, in plain sentences."""
    alpha, metrics = result["alpha"], result["metrics"]
    label_a, label_b = result["a"]["label"], result["b"]["label"]
    better: dict[str, list[str]] = {label_a: [], label_b: []}
    equal: list[str] = []
    unknown: list[str] = []
    undefined: list[str] = []
    for name, figures in metrics.items():
        if figures["p_holm"] is None:
            undefined.append(word_for(name))
        elif figures["p_holm"] <= alpha:
            winner = label_b if (figures["diff"] > 0) != (name in LOWER) else label_a
            better[winner].append(word_for(name) + (" (lower)" if name in LOWER else ""))
        else:
            (unknown if figures["diff"] else equal).append(word_for(name))
    parts = [f"{label} is better on {_listed(words)}" for label, words in better.items() if words]
    if unknown:
        parts.append(f"on {_listed(unknown)} the data cannot tell")
    if equal:
        nothing_else = not parts
        parts.append("the figures are equal" if nothing_else else f"equal on {_listed(equal)}")
    if undefined:
        parts.append(f"{_listed(undefined)} cannot be compared, one side has no figure")
    sentences = ["; ".join(parts)]
    least = result["minimum_detectable_difference"].get(main)
    n = result["prs"]
    if differing and 2 / 2**differing > alpha:
        sentences.append(
            f"the counts differ on {differing} of {n} pull requests, too few for any test to tell"
        )
    elif unknown and least is not None:
        sentences.append(
            f"with these {n} pull requests, a true difference in {word_for(main)} has to be about {least:.2f} to be"
            " found four times in five"
        )
    undecided = result["undecided"]
    if any(undecided.values()):
        sentences.append(
            f"undecided pairs count as no match: {undecided['a']} of {label_a}, {undecided['b']} of {label_b}"
        )
    return " ".join(_sentence(text) for text in sentences if text)


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _sentence(text: str) -> str:
    """With its full stop; a name at its head is left as it is written."""
    begins = text.startswith(("on ", "the ", "with ", "undecided ", "equal "))
    return (text[0].upper() + text[1:] if begins else text) + "."
