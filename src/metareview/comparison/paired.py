"""Two reviewers or routers, paired by pull request; of outcomes as two samples of pull requests."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypedDict

from metareview.comments.costs import CostsCompared, compared_costs
from metareview.comments.measures import total
from metareview.comments.units import compared_warnings
from metareview.comparison import competitors
from metareview.comparison.compared_runs import SideRuns
from metareview.comparison.competitors import Competitor, Source
from metareview.comparison.corrected import named_corrected
from metareview.comparison.explain import explain
from metareview.comparison.judge_parameters import mixed_examples as check_examples
from metareview.comparison.judge_parameters import mixed_servers
from metareview.comparison.leaderboard import leaderboard
from metareview.comparison.reviewer_units import over_one_unit, tables_of
from metareview.comparison.samples import SampleOptions, check_by, compare_samples
from metareview.comparison.settings import check_kinds, check_settings
from metareview.comparison.verdict import Comparison, Family, LeftOut, MetricDifference, PlannedSize, Side
from metareview.errors import UsageError, did_you_mean
from metareview.model.measure import Measure
from metareview.model.words import plural
from metareview.runs.run import AnyRun, is_comments, is_outcomes
from metareview.stats import Array, Extra, differences, holm, summed_variances

_SHOWN_NAMES = 3
LABELS = "labels/"
"""What the names of labels begin with among the inputs of a run."""


class CompareKeywords(TypedDict, total=False):
    """What `compare` takes besides the runs."""

    reviewers: Sequence[str]
    common: bool
    alpha: float
    seed: int
    beta: float | None
    plan: float | None
    by: Sequence[str]
    mixed_examples: bool
    unit: str | None


def compare(
    a: Source,
    b: Source | None = None,
    *,
    reviewers: Sequence[str] = (),
    common: bool = False,
    alpha: float = 0.05,
    seed: int = 0,
    beta: float | None = None,
    plan: float | None = None,
    by: Sequence[str] = (),
    mixed_examples: bool = False,
    unit: str | None = None,
) -> Comparison:
    """Compare two runs, or two reviewers (or routers) of one.

    `reviewers`: one name for both runs, or A's and B's; needed where a run holds several. UsageError, with the
    reason, where the figures would not mean the same: another judge, threshold, distance, alignment, cutoff or truth;
    and where the pull requests or their references are not the same ones, unless `common` restricts both to those
    that are. Runs of outcomes are compared on the pull requests that each has, as two independent samples, or paired
    on those that both have with `common`; `by` also compares them by severity, category, path or week of the comments.
    `plan`: a difference to say how many pull requests it would take. `mixed_examples`: go on, with a warning, where the
    two judges learned from different examples. `unit`: what intervals and tests of reviewers are over, `pr` or
    `repository`, if not what the runs have.
    """
    if plan is not None and not 0 < plan < 1:
        raise UsageError(f"--plan must be a difference between 0 and 1, such as 0.05, found {plan:g}.")
    if not 0 < alpha < 1:
        raise UsageError(f"--alpha must lie between 0 and 1, found {alpha:g}.")
    first, second = competitors.open_run(a), None if b is None else competitors.open_run(b)
    if second is not None:
        check_kinds([first, second])
    check_by(by, first)
    side_a, side_b = over_one_unit(_chosen(first, second, reviewers), unit)
    sides = side_a, side_b
    check_settings(one.run for one in sides)
    mixed = check_examples([one.run for one in sides], allowed=mixed_examples)
    servers = mixed_servers([one.run for one in sides])
    if is_outcomes(first):
        competitors.with_beta(first, beta)
        warnings = (*servers, *_warnings(*sides, list(sides[0].rows), LeftOut()))
        options = SampleOptions(common, alpha, seed, plan, by)
        (ours, theirs), corrected = competitors.corrected_alike(sides)
        sampled = compare_samples(ours, theirs, options)
        sampled = replace(sampled, warnings=(*warnings, *sampled.warnings))
        return _by_labels(sampled, ours, theirs) if corrected else sampled
    (ours, theirs), corrected = competitors.corrected_alike(sides)
    prs, left_out = _shared(ours, theirs, common)
    units = ours.rows_of_units(prs), theirs.rows_of_units(prs)
    over = ours.units(prs)
    known = {measure.name for measure in theirs.measures}
    measures = {
        name: measure
        for name, measure in competitors.with_beta(first, beta).items()
        if name in known or measure.name == "f_beta"
    }
    main = competitors.main_measure(ours.run)
    label_a, label_b = competitors.labels(sides, [("A",), ("B",)])
    summed = {"a": ours.summed(prs), "b": theirs.summed(prs)}
    metrics, level = _metrics(
        (ours.counts(prs), theirs.counts(prs)),
        units,
        measures,
        alpha=alpha,
        beta=beta,
        seed=seed,
        extra=_extra(ours, theirs, prs, measures.values()),
    )
    result = Comparison(
        ours.run.kind.name,
        a=Side(ours.name, competitors.folder_of(ours.run), label_a),
        b=Side(theirs.name, competitors.folder_of(theirs.run), label_b),
        prs=len(prs),
        weeks=over.weeks if over and over.blocks else None,
        left_out=left_out,
        alpha=alpha,
        beta=beta,
        metrics=metrics,
        main=main,
        explanation=explain(ours, theirs, prs, measures[main]),
        undecided={name: counted.undecided if counted else 0 for name, counted in summed.items()},
        family=_family([first] if second is None else [first, second], ours, theirs, main, seed, mixed_examples),
        plan=None if plan is None else _planned(plan, metrics, level),
        warnings=(
            *mixed,
            *servers,
            *_warnings(ours, theirs, prs, left_out),
            *compared_warnings(tables_of({label_a: ours, label_b: theirs}, prs), list(measures.values()), ours.unit),
        ),
        costs=_costs(ours, theirs, prs),
        mixed_examples=bool(mixed),
        over=over,
        runs=_runs(ours, theirs, prs, measures[main]),
    )
    return _by_labels(result, ours, theirs) if corrected else result


def _by_labels(result: Comparison, a: Competitor, b: Competitor) -> Comparison:
    """The comparison of counts that labels correct, with how many are labelled, and its figures named accordingly."""
    metrics = {name: replace(each, measure=named_corrected(each.measure)) for name, each in result.metrics.items()}
    return replace(result, labelled=(a.labelled, b.labelled), metrics=metrics)


def _costs(a: Competitor, b: Competitor, prs: Sequence[str]) -> dict[str, CostsCompared]:
    if not is_comments(a.run):
        return {}
    return compared_costs(a.spent(prs), b.spent(prs), a.matched(prs), b.matched(prs))


def _metrics(
    counts: tuple[Array, Array],
    units: tuple[Array, Array],
    measures: Mapping[str, Measure],
    *,
    alpha: float,
    beta: float | None,
    seed: int,
    extra: Extra,
) -> tuple[dict[str, MetricDifference], float]:
    """Each metric's difference, and the level that Holm's correction leaves to the first of them. `extra`: what
    differences vary by beside the units."""
    sums_a, sums_b = (total(of_one) for of_one in counts)
    tests = differences(*units, measures.values(), seed=seed, extra=extra)
    same_as = _same_tests(measures, beta)
    p_holm = holm({name: tests[name].p for name in measures if name not in same_as})
    level = alpha / max(1, sum(p is not None for p in p_holm.values()))
    for name, twin in same_as.items():
        tests[name] = replace(
            tests[name],
            **{each: getattr(tests[twin], each) for each in ("p", "too_few_matches", "differing", "least_p")},
        )
        p_holm[name] = p_holm[twin]
    found = {
        name: MetricDifference(
            each,
            each.value(sums_a),
            each.value(sums_b),
            tests[name],
            p_holm[name],
            tests[name].detectable(level),
            tests[name].least_p <= level,
        )
        for name, each in measures.items()
    }
    return found, level


def _extra(a: Competitor, b: Competitor, prs: Sequence[str], measures: Collection[Measure]) -> Extra:
    """What the differences vary by beside these pull requests, of both sides together."""
    return summed_variances(a.extra_variance(prs, measures), b.extra_variance(prs, measures))


def _runs(a: Competitor, b: Competitor, prs: Sequence[str], main: Measure) -> dict[str, SideRuns]:
    """The runs of both sides; nothing where neither has repeated ones."""
    names = {side: {name for key in prs for name in one.rows[key].of_runs} for side, one in (("a", a), ("b", b))}
    if not any(names.values()):
        return {}
    return {
        side: SideRuns(max(1, len(names[side])), main.name in one.run_variance(prs, [main]))
        for side, one in (("a", a), ("b", b))
    }


def _same_tests(measures: Mapping[str, Measure], beta: float | None) -> dict[str, str]:
    """Measures that are no test of their own: 1 minus another, or F1 by another name."""
    same = {name: each.complement_of for name, each in measures.items() if each.complement_of in measures}
    return same | ({"f_beta": "f1"} if beta == 1 else {})


def _planned(difference: float, metrics: Mapping[str, MetricDifference], level: float) -> PlannedSize:
    return PlannedSize(
        difference, {name: metric.test.units_needed(difference, level) for name, metric in metrics.items()}
    )


def _family(
    runs: Sequence[AnyRun], a: Competitor, b: Competitor, main: str, seed: int, mixed_examples: bool
) -> Family | None:
    """The two on the leaderboard of these runs; None where there is none for them."""
    try:
        board = leaderboard(runs, sort=main, seed=seed, mixed_examples=mixed_examples, unit=_unit_of(a))
    except UsageError:
        return None
    labels = {row.label for one in (a, b) for row in board.rows if row.name == one.name and row.source is one.run}
    pair = next((test for names, test in board.pairs.items() if set(names) == labels), None)
    return None if pair is None else Family(len(board.rows), board.prs, pair.p_family, pair.separated)


def _unit_of(one: Competitor) -> str | None:
    return one.unit if is_comments(one.run) else None


def _chosen(first: AnyRun, second: AnyRun | None, names: Sequence[str]) -> tuple[Competitor, Competitor]:
    """The two competitors that were asked for, of two runs or of one."""
    held = [name for run in (first, second) if run for name in run.metrics]
    word = competitors.word(first)
    if len(names) > 2:
        raise UsageError(f"--reviewer is given {len(names)} times; two {word}s are compared.")
    for name in names:
        if name not in held:
            meant = did_you_mean(name, held)
            raise UsageError(f"No {word} is named {name!r}.{meant} There are {', '.join(dict.fromkeys(held))}.")
    if second is None:
        wanted = list(names) or held
        if len(wanted) != 2:
            raise UsageError(
                f"{first.label} holds {plural(len(held), word)}: {', '.join(held)}. Name two of them,"
                " --reviewer A --reviewer B, or give a second run."
            )
        by_name = {one.name: one for one in competitors.read(first, wanted, records=True)}
        return by_name[wanted[0]], by_name[wanted[1]]
    given = [names[0], names[-1]] if names else [None, None]
    required = len(names) == 2
    [a] = competitors.read(first, [_in_run(first, given[0], required)], records=True)
    [b] = competitors.read(second, [_in_run(second, given[1], required)], records=True)
    a, b = competitors.spelled_alike([a, b])
    return a, b


def _in_run(run: AnyRun, name: str | None, required: bool) -> str:
    held, word = list(run.metrics), competitors.word(run)
    if name is not None and name in held:
        return name
    if len(held) == 1 and not required:
        return held[0]
    problem = f"holds {plural(len(held), word)}" if name is None else f"holds no {word} named {name!r}, but {len(held)}"
    raise UsageError(f"{run.label} {problem}: {', '.join(held)}. Choose with --reviewer.")


def _shared(a: Competitor, b: Competitor, common: bool) -> tuple[list[str], LeftOut]:
    """The pull requests to compare on, and how many were left out and why."""
    different = competitors.different_benchmarks(a, b)
    only_a = [key for key in a.rows if key not in b.rows]
    only_b = [key for key in b.rows if key not in a.rows]
    unshared = {*only_a, *different}
    shared = [key for key in a.rows if key not in unshared]
    reasons = [
        f"{plural(len(keys), 'pull request')} {what} "
        f"({', '.join(keys[:_SHOWN_NAMES])}{', …' * (len(keys) > _SHOWN_NAMES)})"
        for keys, what in (
            (only_a, "only in A"),
            (only_b, "only in B"),
            (different, "with other references in B, so the benchmarks differ"),
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


def _warnings(a: Competitor, b: Competitor, prs: Sequence[str], left_out: LeftOut) -> Iterator[str]:
    if a.name == b.name and (a.run is b.run or (a.run.folder is not None and a.run.folder == b.run.folder)):
        yield f"A and B are the same: {a.name} of {a.run.label}"
    over = a.units(prs)
    if over and over.warning and competitors.is_routing(a.run):
        yield over.warning
    if left_out != LeftOut():
        yield (
            f"left out: {plural(left_out.only_a, 'pull request')} that only A has, "
            f"{left_out.only_b} that only B has, {left_out.different_references} with other references"
        )
    if a.has_corrected != b.has_corrected:
        has, lacks = ("A", "B") if a.has_corrected else ("B", "A")
        yield (
            f"{has} has labels that correct its figures and {lacks} has too few, so that both are as judged;"
            f" metareview label draws and asks for {lacks}'s"
        )
    one_sided = sorted({measure.name for measure in a.measures} ^ {measure.name for measure in b.measures})
    if one_sided:
        yield f"measured in one of the runs only, so not compared: {', '.join(one_sided)}"
    labelled = [any(name.startswith(LABELS) for name in one.run.manifest.inputs) for one in (a, b)]
    if labelled[0] != labelled[1]:
        with_labels, without = ("A", "B") if labelled[0] else ("B", "A")
        yield f"people's labels override the judge in {with_labels}, and not in {without}"
    versions = [one.run.manifest.versions["metareview"] for one in (a, b)]
    if versions[0] != versions[1]:
        yield f"A was made by metareview {versions[0]}, B by {versions[1]}"
