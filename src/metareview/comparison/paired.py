"""Two reviewers or routers, paired by pull request: every metric's difference, how sure it is, and what made it.

A is the baseline and B is compared with it: differences are B - A.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from metareview.comparison import competitors
from metareview.comparison.competitors import Competitor, Source
from metareview.comparison.explain import Explanation, explain
from metareview.errors import UsageError, did_you_mean
from metareview.model.measure import Measure
from metareview.model.words import plural
from metareview.runs.files import JsonObject, as_json
from metareview.runs.run import AnyRun, is_comments
from metareview.stats import (
    Array,
    Interval,
    bootstrap_difference,
    holm,
    minimum_detectable_difference,
    permutation_test,
)

SCHEMA = "metareview.compare/1"
_SHOWN_NAMES = 3


@dataclass(frozen=True, slots=True)
class Side:
    """A or B: its name in its run, the run's folder if it has one, and what sentences call it."""

    name: str
    run: str | None
    label: str


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """One measure of A and B. None where a side has no figure, and for all that depends on it."""

    measure: Measure
    a: float | None
    b: float | None
    interval: Interval | None
    """Of the difference."""
    p: float | None
    p_holm: float | None
    minimum_detectable: float | None
    """The true difference that a set of this size would show four times in five."""

    @property
    def diff(self) -> float | None:
        return None if self.a is None or self.b is None else self.b - self.a

    def winner(self, alpha: float) -> str | None:
        """`a` or `b`, whichever is better by more than chance explains, Holm's correction applied."""
        if not self.diff or self.p_holm is None or self.p_holm > alpha:
            return None
        return "b" if (self.diff > 0) != self.measure.lower_is_better else "a"

    def is_loss(self, alpha: float) -> bool:
        """Whether B is worse by more than chance explains. A figure that A has and B has not (a reviewer that fell
        silent has no precision) is a loss too: nothing was shown."""
        return self.a is not None if self.b is None else self.winner(alpha) == "a"


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Pull requests that are not compared, by reason."""

    only_a: int = 0
    only_b: int = 0
    different_references: int = 0


@dataclass(frozen=True)
class Comparison:
    """B against A. `to_dict()` is what `metareview compare --json` prints."""

    kind: str
    a: Side
    b: Side
    prs: int
    left_out: LeftOut
    alpha: float
    beta: float | None
    metrics: Mapping[str, MetricDifference]
    main: str
    """The metric that the explanation is about."""
    explanation: Explanation
    unequal_prs: int
    """Pull requests on which the counts of A and B differ."""
    undecided: Mapping[str, int]
    """Pairs of `a` and `b` without a verdict, on the pull requests that are compared."""
    warnings: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """What the figures say, in plain sentences."""
        return " ".join(_sentences(self))

    def to_dict(self) -> JsonObject:
        why, unit = self.explanation, "references" if self.kind == "comments" else "prs"
        head = {name: getattr(self, name) for name in ("kind", "a", "b", "prs", "left_out", "alpha", "beta")}
        figures = ("a", "b", "diff", "interval", "p", "p_holm")
        document = {
            "schema": SCHEMA,
            **head,
            "metrics": {
                name: {figure: getattr(metric, figure) for figure in figures} for name, metric in self.metrics.items()
            },
            "minimum_detectable_difference": {name: metric.minimum_detectable for name, metric in self.metrics.items()},
            "undecided": self.undecided,
            "pull_requests": {
                "metric": self.main,
                "gains": [pair.to_dict() for pair in why.gains],
                "losses": [pair.to_dict() for pair in why.losses],
                "differing": why.differing,
            },
            "kinds": {
                dimension: {
                    kind: {unit: tally.total, "a": tally.a, "b": tally.b, "diff": (tally.b - tally.a) / tally.total}
                    for kind, tally in tallies.items()
                }
                for dimension, tallies in why.kinds.items()
            },
            "found": {name: {"count": len(items), unit: items} for name, items in why.found.items()},
            "warnings": self.warnings,
            "verdict": self.verdict,
        }
        return as_json(document)


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
    sides = ours, theirs = _chosen(competitors.open_run(a), None if b is None else competitors.open_run(b), reviewers)
    competitors.check_settings(sides)
    prs, left_out = _shared(ours, theirs, common)
    counts = ours.counts(prs), theirs.counts(prs)
    known = {measure.name for measure in theirs.measures}
    measures = competitors.with_beta((measure for measure in ours.measures if measure.name in known), beta)
    main = competitors.main_measure(ours.run)
    label_a, label_b = competitors.labels(sides, [("A",), ("B",)])
    summed = {"a": ours.summed(prs), "b": theirs.summed(prs)}
    return Comparison(
        ours.run.kind.name,
        a=Side(ours.name, competitors.folder_of(ours.run), label_a),
        b=Side(theirs.name, competitors.folder_of(theirs.run), label_b),
        prs=len(prs),
        left_out=left_out,
        alpha=alpha,
        beta=beta,
        metrics=_metrics(*counts, measures, alpha, seed),
        main=main,
        explanation=explain(ours, theirs, prs, measures[main]),
        unequal_prs=int((counts[0] != counts[1]).any(axis=1).sum()),
        undecided={name: counted.undecided if counted else 0 for name, counted in summed.items()},
        warnings=tuple(_warnings(ours, theirs, left_out)),
    )


def _chosen(first: AnyRun, second: AnyRun | None, names: Sequence[str]) -> tuple[Competitor, Competitor]:
    """The two competitors that were asked for, of two runs or of one."""
    held = [name for run in (first, second) if run for name in run.metrics]
    word = "reviewer" if is_comments(first) else "router"
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
                f"{first.label} holds {len(held)} {word}s: {', '.join(held)}. Name two of them,"
                " --reviewer A --reviewer B, or give a second run."
            )
        by_name = {one.name: one for one in competitors.read(first, wanted, records=True)}
        return by_name[wanted[0]], by_name[wanted[1]]
    given = [names[0], names[-1]] if names else [None, None]
    required = len(names) == 2
    [a] = competitors.read(first, [_in_run(first, given[0], required)], records=True)
    [b] = competitors.read(second, [_in_run(second, given[1], required)], records=True)
    return a, b


def _in_run(run: AnyRun, name: str | None, required: bool) -> str:
    held, word = list(run.metrics), "reviewer" if is_comments(run) else "router"
    if name is not None and name in held:
        return name
    if len(held) == 1 and not required:
        return held[0]
    problem = f"holds {len(held)} {word}s" if name is None else f"holds no {word} named {name!r}, but {len(held)}"
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


def _metrics(
    a: Array, b: Array, measures: Mapping[str, Measure], alpha: float, seed: int
) -> dict[str, MetricDifference]:
    sums_a, sums_b = a.sum(axis=0), b.sum(axis=0)
    ends = bootstrap_difference(a, b, measures, seed=seed)
    p = permutation_test(a, b, measures, seed=seed)
    p_holm = holm(p)
    least = minimum_detectable_difference(a, b, measures, alpha=alpha, seed=seed)
    return {
        name: MetricDifference(
            each, each.value(sums_a), each.value(sums_b), ends[name], p[name], p_holm[name], least[name]
        )
        for name, each in measures.items()
    }


def _warnings(a: Competitor, b: Competitor, left_out: LeftOut) -> Iterator[str]:
    if a.name == b.name and (a.run is b.run or (a.run.folder is not None and a.run.folder == b.run.folder)):
        yield f"A and B are the same: {a.name} of {a.run.label}"
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


def _sentences(result: Comparison) -> Iterator[str]:
    """The verdict: who is better on what, what cannot be known, and what that depends on."""
    groups: dict[str, list[str]] = {}
    for metric in result.metrics.values():
        winner = metric.winner(result.alpha)
        group = winner or ("undefined" if metric.p_holm is None else "unknown" if metric.diff else "equal")
        lower = " (lower)" if winner and metric.measure.lower_is_better else ""
        groups.setdefault(group, []).append(metric.measure.label + lower)
    lists = {name: " and ".join(filter(None, (", ".join(of[:-1]), of[-1]))) for name, of in groups.items()}
    sides = {"a": result.a, "b": result.b}
    parts = [f"{side.label} is better on {lists[name]}" for name, side in sides.items() if name in lists]
    if "unknown" in lists:
        parts.append(f"{'on' if parts else 'On'} {lists['unknown']} the data cannot tell")
    if "equal" in lists:
        parts.append(f"equal on {lists['equal']}" if parts else "The figures are equal")
    if "undefined" in lists:
        parts.append(f"{lists['undefined']} cannot be compared, one side has no figure")
    yield "; ".join(parts) + "."
    main = result.metrics[result.main]
    if result.unequal_prs and 2 / 2**result.unequal_prs > result.alpha:
        yield f"The counts differ on {result.unequal_prs} of {result.prs} pull requests, too few for any test to tell."
    elif "unknown" in lists and main.minimum_detectable is not None:
        yield (
            f"With these {result.prs} pull requests, a true difference in {main.measure.label} has to be about"
            f" {main.minimum_detectable:.2f} to be found four times in five."
        )
    if any(result.undecided.values()):
        of_each = ", ".join(f"{result.undecided[name]} of {side.label}" for name, side in sides.items())
        yield f"Undecided pairs count as no match: {of_each}."
