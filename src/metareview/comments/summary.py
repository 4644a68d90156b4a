"""From the records of a run to its figures: micro, macro, slices, intervals and bounds, one block per reviewer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from metareview.comments.filters import FilterConfig
from metareview.comments.measures import MEASURES, RECALLS, Counts, Rates, measured, rates, table
from metareview.comments.records import DIMENSIONS, CommentRecord, Tally
from metareview.model.address import pull_request_key
from metareview.model.build_gates import GateResult
from metareview.model.comment import Skipped
from metareview.model.measure import Measure, Sums
from metareview.stats import Interval, bootstrap_intervals

Intervals = Mapping[str, Interval | None]
"""The two ends by the name of the measure."""


@dataclass(frozen=True, slots=True)
class Macro:
    """The mean of the pull requests' own rates, and how many pull requests had none."""

    means: Rates
    nulls: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class PullRequestSlice:
    """The figures over the pull requests of one language or category."""

    prs: int
    counts: Counts
    metrics: Rates


@dataclass(frozen=True, slots=True)
class ReferenceSlice:
    """The recalls over the references of one kind. A comment that matches nothing is of no kind: no precision."""

    expected: int
    covered: int
    line_covered: int | None
    metrics: Rates


@dataclass(frozen=True, slots=True)
class ReviewerSummary:
    """One reviewer's figures over the pull requests that were scored."""

    prs: int
    counts: Counts
    metrics: Rates
    intervals: Intervals
    bounds: Intervals
    """Each metric with no undecided pair as a match and with all of them, the lower first."""
    macro: Macro
    by_pull_request: Mapping[str, Mapping[str, PullRequestSlice]]
    """`language` and `pr_category`, then the value."""
    by_reference: Mapping[str, Mapping[str, ReferenceSlice]]
    """`comment_category`, `context` and `severity`, then the value."""


@dataclass(frozen=True, slots=True)
class JudgeSummary:
    """Who decided, and what it cost."""

    name: str
    pairs: int
    llm_calls: int = 0
    cached: int = 0
    errors: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True)
class CommentsConfig:
    """What a comment run was asked to do: everything but its inputs that can change its figures."""

    judge: str
    judge_parameters: Mapping[str, object]
    threshold: float | None
    line_distance: int
    alignment: str
    ignore_location: bool
    location: bool
    """Whether locations were compared."""
    filters: FilterConfig
    all_prs: bool
    name: str | None
    format: str | None
    reference_format: str | None
    limit: int | None
    seed: int
    negatives: bool
    reviewer: tuple[str, ...] = ()
    """Patterns of who was scored; empty: everybody. So too whose comments were the references."""
    reference_reviewer: tuple[str, ...] = ()

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures that mean something in this run."""
        return measured(location=self.location, negatives=self.negatives)


@dataclass(frozen=True)
class CommentsSummary:
    """What a comment run found: the document that `--json` prints, as objects."""

    config: CommentsConfig
    reviewers: Mapping[str, ReviewerSummary]
    judge: JudgeSummary
    warnings: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    build_gates: tuple[GateResult, ...] = ()
    """What came of the gates that the run was last held to."""

    def with_gates(self, results: tuple[GateResult, ...]) -> Self:
        return replace(self, build_gates=results)

    @property
    def measures(self) -> tuple[Measure, ...]:
        return self.config.measures

    @property
    def metrics(self) -> dict[str, Rates]:
        return {name: block.metrics for name, block in self.reviewers.items()}


def summarise(records: Sequence[CommentRecord], config: CommentsConfig) -> ReviewerSummary:
    """One reviewer's figures over its records that were not skipped."""
    # By pull request, so that the order of the input changes no resample.
    scored = sorted(
        (record for record in records if not record.skipped), key=lambda record: pull_request_key(record.pr)
    )
    available = config.measures
    counts = table(record.counts for record in scored)
    sums = counts.sum(axis=0)
    formulas = {measure.name: measure.formula for measure in available}
    intervals = bootstrap_intervals(counts, formulas, seed=config.seed)
    return ReviewerSummary(
        prs=len(scored),
        counts=Counts.from_sums(sums, location=config.location),
        metrics=rates(sums, available),
        intervals={measure.name: intervals.get(measure.name) for measure in MEASURES},
        bounds=_bounds(scored, sums, available),
        macro=_macro(counts, available),
        by_pull_request={
            "language": _pull_request_slices(scored, lambda record: record.language, config),
            "pr_category": _pull_request_slices(scored, lambda record: record.pr_category, config),
        },
        by_reference={name: _reference_slices(scored, name, config) for name in DIMENSIONS},
    )


def _bounds(records: Iterable[CommentRecord], sums: Sums, available: Sequence[Measure]) -> Intervals:
    most = table(record.counts_if_undecided_match or record.counts for record in records).sum(axis=0)
    without, with_all = rates(sums, available), rates(most, available)
    return {name: _ordered(low, with_all[name]) for name, low in without.items()}


def _ordered(a: float | None, b: float | None) -> Interval | None:
    return None if a is None or b is None else (min(a, b), max(a, b))


def _macro(counts: Sums, available: Sequence[Measure]) -> Macro:
    means: dict[str, float | None] = {}
    nulls: dict[str, int] = {}
    for measure in MEASURES:
        values = measure(counts) if measure in available else np.full(len(counts), np.nan)
        defined = values[~np.isnan(values)]
        means[measure.name] = float(defined.mean()) if len(defined) else None
        nulls[measure.name] = int(len(values) - len(defined))
    return Macro(means, nulls)


def _pull_request_slices(
    records: Iterable[CommentRecord], value_of: Callable[[CommentRecord], str | None], config: CommentsConfig
) -> dict[str, PullRequestSlice]:
    groups: dict[str, list[CommentRecord]] = {}
    for record in records:
        groups.setdefault(value_of(record) or "unknown", []).append(record)
    slices = {}
    for value, group in sorted(groups.items()):
        sums = table(record.counts for record in group).sum(axis=0)
        counts = Counts.from_sums(sums, location=config.location)
        slices[value] = PullRequestSlice(len(group), counts, rates(sums, config.measures))
    return slices


def _reference_slices(records: Iterable[CommentRecord], name: str, config: CommentsConfig) -> dict[str, ReferenceSlice]:
    tallies: dict[str, Tally] = {}
    for record in records:
        for value, tally in record.slices[name].items():
            tallies[value] = tallies.get(value, Tally()) + tally
    available = measured(location=config.location, negatives=False)
    slices = {}
    for value, tally in sorted(tallies.items()):
        line_covered = tally.line_covered if config.location else None
        counts = Counts(expected=tally.references, covered=tally.covered, line_covered=line_covered)
        metrics = rates(table([counts])[0], available, RECALLS)
        slices[value] = ReferenceSlice(tally.references, tally.covered, line_covered, metrics)
    return slices
