"""Two reviewers or routers, paired by pull request: every metric's difference, how sure it is, and what made it.

A is the baseline and B is compared with it: differences are B - A.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from metareview.comparison.competitors import (
    Competitor,
    Source,
    check_settings,
    different_benchmarks,
    folder_of,
    main_measure,
    open_run,
    read_competitors,
    run_name,
    with_beta,
    word_of,
)
from metareview.comparison.explain import explain
from metareview.comparison.result import Comparison, LeftOut, MetricDifference, Side
from metareview.errors import UsageError
from metareview.model.measure import Measure
from metareview.model.words import plural
from metareview.runs.run import AnyRun
from metareview.stats import Array, bootstrap_difference, holm, minimum_detectable_difference, permutation_test

_SHOWN_NAMES = 3


def compare(
    a: Source,
    b: Source | None = None,
    *,
    reviewers: Sequence[str] = (),
    common: bool = False,
    alpha: float = 0.05,
    seed: int = 0,
    beta: float | None = None,
) -> Comparison:
    """Compare two runs, or two reviewers (or routers) of one.

    `reviewers`: one name for both runs, or A's and B's; needed where a run holds several. UsageError, with the
    reason, where the figures would not mean the same: another judge, threshold, distance, alignment, cutoff or truth;
    and where the pull requests or their references are not the same ones, unless `common` restricts both to those
    that are.
    """
    if not 0 < alpha < 1:
        raise UsageError(f"--alpha must lie between 0 and 1, found {alpha:g}.")
    first = open_run(a)
    second = first if b is None else open_run(b)
    ours, theirs = _chosen(first, second, b is None, reviewers)
    check_settings([ours, theirs])
    prs, left_out = _shared(ours, theirs, common)
    counts = ours.counts(prs), theirs.counts(prs)
    known = {measure.name for measure in theirs.measures}
    measures = with_beta([measure for measure in ours.measures if measure.name in known], beta)
    main = main_measure(first)
    labels = _labels(ours, theirs)
    return Comparison(
        first.kind.name,
        a=Side(ours.name, folder_of(first), labels[0], ours.undecided(prs)),
        b=Side(theirs.name, folder_of(second), labels[1], theirs.undecided(prs)),
        prs=len(prs),
        left_out=left_out,
        alpha=alpha,
        beta=beta,
        metrics=_metrics(*counts, measures, alpha, seed),
        main=main,
        explanation=explain(ours, theirs, prs, measures[main]),
        unequal_prs=int((counts[0] != counts[1]).any(axis=1).sum()),
        warnings=tuple(_warnings(ours, theirs, left_out)),
    )


def _chosen(
    first: AnyRun, second: AnyRun, same_run: bool, names: Sequence[str]
) -> tuple[Competitor[Any], Competitor[Any]]:
    """The two competitors that were asked for."""
    held = [list(run.metrics) for run in (first, second)]
    word = word_of(first)
    if len(names) > 2:
        raise UsageError(f"--reviewer is given {len(names)} times; two {word}s are compared.")
    for name in names:
        if not any(name in several for several in held):
            raise UsageError(f"No {word} is named {name!r}. There are {', '.join(dict.fromkeys(held[0] + held[1]))}.")
    if same_run:
        wanted = list(names) or held[0]
        if len(wanted) != 2:
            raise UsageError(
                f"{first.label} holds {len(held[0])} {word}s: {', '.join(held[0])}. Name two of them,"
                " --reviewer A --reviewer B, or give a second run."
            )
    else:
        given = [names[0], names[-1]] if names else [None, None]
        wanted = [
            _in_run(run, name, required=len(names) == 2) for run, name in zip((first, second), given, strict=True)
        ]
    if same_run:
        by_name = {one.name: one for one in read_competitors(first, wanted, records=True)}
        return by_name[wanted[0]], by_name[wanted[1]]
    [a] = read_competitors(first, [wanted[0]], records=True)
    [b] = read_competitors(second, [wanted[1]], records=True)
    return a, b


def _in_run(run: AnyRun, name: str | None, *, required: bool) -> str:
    held, word = list(run.metrics), word_of(run)
    if name in held:
        return str(name)
    if len(held) == 1 and not required:
        return held[0]
    problem = f"holds {len(held)} {word}s" if name is None else f"holds no {word} named {name!r}, but {len(held)}"
    raise UsageError(f"{run.label} {problem}: {', '.join(held)}. Choose with --reviewer.")


def _shared(a: Competitor[Any], b: Competitor[Any], common: bool) -> tuple[list[str], LeftOut]:
    """The pull requests to compare on, and how many were left out and why."""
    different = set(different_benchmarks(a, b))
    only_a = [key for key in a.rows if key not in b.rows]
    only_b = [key for key in b.rows if key not in a.rows]
    shared = [key for key in a.rows if key in b.rows and key not in different]
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
    return shared, LeftOut(len(only_a), len(only_b), len(different))


def _labels(a: Competitor[Any], b: Competitor[Any]) -> tuple[str, str]:
    """What the two are called in sentences: their own names where these differ, else with their run or their side."""
    if a.name != b.name:
        return a.name, b.name
    runs = run_name(a.run), run_name(b.run)
    part = runs if runs[0] != runs[1] else ("A", "B")
    return f"{a.name} ({part[0]})", f"{b.name} ({part[1]})"


def _metrics(
    a: Array, b: Array, measures: Mapping[str, Measure], alpha: float, seed: int
) -> dict[str, MetricDifference]:
    intervals = bootstrap_difference(a, b, measures, seed=seed)
    ps = permutation_test(a, b, measures, seed=seed)
    adjusted = holm(ps)
    detectable = minimum_detectable_difference(a, b, measures, alpha=alpha, seed=seed)
    sums_a, sums_b = a.sum(axis=0), b.sum(axis=0)
    return {
        name: MetricDifference(
            measure,
            measure.value(sums_a),
            measure.value(sums_b),
            intervals[name],
            ps[name],
            adjusted[name],
            detectable[name],
        )
        for name, measure in measures.items()
    }


def _warnings(a: Competitor[Any], b: Competitor[Any], left_out: LeftOut) -> Iterator[str]:
    if left_out != LeftOut():
        yield (
            f"left out: {plural(left_out.only_a, 'pull request')} that only A has, "
            f"{left_out.only_b} that only B has, {left_out.different_references} with other references"
        )
    one_sided = sorted({measure.name for measure in a.measures} ^ {measure.name for measure in b.measures})
    if one_sided:
        yield f"measured in one of the runs only, so not compared: {', '.join(one_sided)}"
    versions = [one.run.manifest.versions["metareview"] for one in (a, b)]
    if versions[0] != versions[1]:
        yield f"A was made by metareview {versions[0]}, B by {versions[1]}"
