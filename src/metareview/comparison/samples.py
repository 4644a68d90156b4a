"""Two reviewers of outcomes: each on the pull requests that it had, as two independent samples of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metareview.comparison import competitors
from metareview.comparison.competitors import Competitor
from metareview.comparison.explain import SHOWN_PULL_REQUESTS, Explanation, OutcomePair
from metareview.comparison.outcome_board import known_of, sample_of
from metareview.comparison.sample_units import TwoSamples, Weeks, in_units, weeks_of
from metareview.comparison.verdict import (
    Comparison,
    LeftOut,
    MetricDifference,
    PlannedSize,
    Samples,
    Side,
    SliceDifference,
)
from metareview.errors import UsageError, did_you_mean
from metareview.model.measure import Measure
from metareview.outcomes.measures import counts_of
from metareview.outcomes.records import CommentOutcome
from metareview.outcomes.summary import DIMENSIONS, NO_SLICE
from metareview.runs.run import AnyRun, is_outcomes
from metareview.stats import holm
from metareview.unpaired import IndependentDifference, Sample, independent_differences


def check_by(by: Sequence[str], run: AnyRun) -> None:
    """UsageError where comments of this run cannot be told apart by these."""
    if by and not is_outcomes(run):
        raise UsageError(
            f"--by is for runs of outcomes, and {run.label} is one of {run.kind.name}: its comparison names the kinds"
            " that made the difference without being asked."
        )
    for name in by:
        if name not in DIMENSIONS:
            meant = did_you_mean(name, DIMENSIONS)
            raise UsageError(f"--by: {name!r} is not known.{meant} Give one of {', '.join(DIMENSIONS)}.")


@dataclass(frozen=True, slots=True)
class SampleOptions:
    """How two samples are compared."""

    common: bool = False
    """On the pull requests that both have, paired."""
    alpha: float = 0.05
    seed: int = 0
    plan: float | None = None
    """A difference to say how many pull requests it would take."""
    by: Sequence[str] = ()
    """Kinds of comments."""


def compare_samples(a: Competitor, b: Competitor, options: SampleOptions) -> Comparison:
    """B against A, not paired; `common`: paired, on the pull requests that both have. Both have their records."""
    common, alpha, seed, plan = options.common, options.alpha, options.seed, options.plan
    shared = [key for key in a.rows if key in b.rows]
    left_out = LeftOut(len(a.rows) - len(shared), len(b.rows) - len(shared)) if common else LeftOut()
    if common and not shared:
        raise UsageError(
            f"{a.name} and {b.name} share no pull request, so nothing is left with --common. Without it, they are"
            " compared on the pull requests that each has."
        )
    keys = (shared, shared) if common else (list(a.rows), list(b.rows))
    ours, theirs = sample_of(a, keys[0]), sample_of(b, keys[1])
    in_both = {measure.name for measure in b.measures}
    measures = {measure.name: measure for measure in a.measures if measure.name in in_both}
    main = competitors.main_measure(a.run)
    weeks = weeks_of(a, b)
    sides = in_units(ours, theirs, weeks)
    metrics, level = _metrics(sides, measures, alpha=alpha, seed=seed)
    known = zip(known_of(ours, measures).items(), known_of(theirs, measures).values(), strict=True)
    slices = {name: _slices((a, b), keys, name, measures[main], weeks, alpha=alpha, seed=seed) for name in options.by}
    label_a, label_b = competitors.labels([a, b], [("A",), ("B",)])
    planned = {name: metric.test.units_needed(plan, level) for name, metric in metrics.items()} if plan else {}
    return Comparison(
        a.run.kind.name,
        a=Side(a.name, competitors.folder_of(a.run), label_a),
        b=Side(b.name, competitors.folder_of(b.run), label_b),
        prs=len({*keys[0], *keys[1]}),
        weeks=sides.units.weeks if sides.units.blocks else None,
        left_out=left_out,
        alpha=alpha,
        beta=None,
        metrics=metrics,
        main=main,
        explanation=_explanation(ours, theirs, measures[main], _addresses(a, b)),
        undecided={"a": _undecided(a), "b": _undecided(b)},
        family=None,
        plan=None if plan is None else PlannedSize(plan, planned),
        warnings=(sides.warning,) if sides.warning else (),
        over=sides.units,
        samples=Samples(
            len(keys[0]),
            len(keys[1]),
            len(shared),
            common,
            {name: (one, other) for (name, one), other in known},
            slices,
            units=(len(sides.a.keys), len(sides.b.keys), sides.shared),
        ),
    )


def _metrics(
    sides: TwoSamples, measures: Mapping[str, Measure], *, alpha: float, seed: int
) -> tuple[dict[str, MetricDifference], float]:
    """Each metric's difference, and the level that Holm's correction leaves to the first of them."""
    a, b = sides.a, sides.b
    tests = independent_differences(a, b, measures.values(), seed=seed)
    p_holm = holm({name: test.p for name, test in tests.items()})
    level = alpha / max(1, sum(p is not None for p in p_holm.values()))
    return {
        name: _metric(measure, tests[name], (_figure(a, measure), _figure(b, measure)), p_holm[name], alpha, level)
        for name, measure in measures.items()
    }, level


def _metric(
    measure: Measure,
    test: IndependentDifference,
    figures: tuple[float | None, float | None],
    p_holm: float | None,
    alpha: float,
    level: float,
) -> MetricDifference:
    return MetricDifference(measure, *figures, test, p_holm, test.detectable(level), test.least_p <= alpha)


def _slices(
    sides: tuple[Competitor, Competitor],
    keys: tuple[Sequence[str], Sequence[str]],
    dimension: str,
    measure: Measure,
    weeks: Weeks,
    *,
    alpha: float,
    seed: int,
) -> dict[str, SliceDifference]:
    """The measure over the comments of each kind, which share one level; those with the most comments first."""
    tables = [_by_value(one, of_one, dimension) for one, of_one in zip(sides, keys, strict=True)]
    empty = Sample([], sides[0].counts([]))
    values = {value: tuple(table.get(value, empty) for table in tables) for value in {**tables[0], **tables[1]}}
    known = {value: (_known(a, measure), _known(b, measure)) for value, (a, b) in values.items()}
    tests: dict[str, IndependentDifference] = {}
    for value, (a, b) in values.items():
        if any(known[value]):
            of_value = in_units(a, b, weeks)
            tests[value] = independent_differences(of_value.a, of_value.b, [measure], seed=seed)[measure.name]
    p_holm = holm({value: test.p for value, test in tests.items()})
    level = alpha / max(1, sum(p is not None for p in p_holm.values()))
    order = sorted(tests, key=lambda value: (-sum(known[value]), value))
    return {
        value: SliceDifference(
            _metric(
                measure,
                tests[value],
                (_figure(values[value][0], measure), _figure(values[value][1], measure)),
                p_holm[value],
                alpha,
                level,
            ),
            known[value],
        )
        for value in order
    }


def _by_value(one: Competitor, keys: Sequence[str], dimension: str) -> dict[str, Sample]:
    """For each kind of comment the pull requests with such a comment, and the counts over these comments."""
    rows: dict[str, dict[str, np.ndarray[tuple[int], np.dtype[np.float64]]]] = {}
    for key in keys:
        groups: dict[str, list[CommentOutcome]] = {}
        for outcome in one.rows[key].record.comments:
            groups.setdefault(DIMENSIONS[dimension](outcome) or NO_SLICE, []).append(outcome)
        for value, group in groups.items():
            rows.setdefault(value, {})[key] = counts_of(group)
    return {value: Sample(list(of_value), np.array(list(of_value.values()))) for value, of_value in rows.items()}


def _known(sample: Sample, measure: Measure) -> int:
    return known_of(sample, {measure.name: measure})[measure.name]


def _figure(sample: Sample, measure: Measure) -> float | None:
    """Cut to 0 and 1: counts that labels correct are estimates."""
    value = measure.value(sample.counts.sum(axis=0))
    return None if value is None else min(1.0, max(0.0, value))


def _undecided(one: Competitor) -> int:
    """Comments that the judge left undecided."""
    return int(one.run.result.reviewers[one.name].undecided)


def _addresses(*sides: Competitor) -> dict[str, str]:
    """What the runs call each pull request."""
    return {key: row.record.pr for one in sides for key, row in one.rows.items()}


def _explanation(a: Sample, b: Sample, measure: Measure, addresses: Mapping[str, str]) -> Explanation:
    """The pull requests that add most to the difference, which is the sum over all of them."""
    (y_a, x_a), (y_b, x_b) = measure.parts(a.counts), measure.parts(b.counts)
    effects: dict[str, float] = {}
    told: dict[str, dict[str, tuple[int, int]]] = {}
    if x_a.sum() and x_b.sum():
        pooled = (y_a.sum() + y_b.sum()) / (x_a.sum() + x_b.sum())
        for side, sample, y, x, sign in (("a", a, y_a, x_a, -1), ("b", b, y_b, x_b, 1)):
            added = sign * (y - pooled * x) / x.sum()
            for key, effect, one_y, one_x in zip(sample.keys, added.tolist(), y.tolist(), x.tolist(), strict=True):
                if one_x:
                    effects[key] = effects.get(key, 0.0) + effect
                    told.setdefault(key, {})[side] = round(one_y), round(one_x)
    pairs = [
        OutcomePair(addresses[key], told[key].get("a"), told[key].get("b"), effect) for key, effect in effects.items()
    ]
    # Effects that are equal but for rounding go by name.
    pairs.sort(key=lambda pair: (-np.round(abs(pair.effect), 12), pair.pr))
    return Explanation(
        gains=[pair for pair in pairs if pair.effect > 1e-12][:SHOWN_PULL_REQUESTS],
        losses=[pair for pair in pairs if pair.effect < -1e-12][:SHOWN_PULL_REQUESTS],
        differing=[],
        kinds={},
        found={},
    )
