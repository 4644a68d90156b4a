"""From the records of a run to its figures: micro, macro, slices, intervals and bounds, one block per reviewer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from metareview.comments.averaging import averaged_by_pull_request
from metareview.comments.costs import Costs, costs_of
from metareview.comments.filters import FilterConfig
from metareview.comments.measures import (
    MEASURES,
    RECALLS,
    Counts,
    Rates,
    measured,
    rates,
    recall_table,
    table,
    total,
    whole,
)
from metareview.comments.records import DIMENSIONS, CommentRecord, Tally
from metareview.comments.repeated_runs import Repeats, repeats_of, rows_of_runs, run_variance
from metareview.comments.units import PULL_REQUEST, ReviewerTable, repository_intervals, unit_rows
from metareview.judges.offline.published_accuracy import HeldOut
from metareview.model.address import pull_request_key
from metareview.model.build_gates import GateResult
from metareview.model.comment import Skipped
from metareview.model.measure import Measure, Sums
from metareview.stats import Extra, Interval, intervals

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
    intervals: Intervals


@dataclass(frozen=True, slots=True)
class ReferenceSlice:
    """The recalls over the references of one kind. A comment that matches nothing is of no kind: no precision."""

    prs: int | None
    """Pull requests that have such a reference; None in a run that did not note it."""
    expected: float
    covered: float
    line_covered: float | None
    metrics: Rates
    intervals: Intervals


@dataclass(frozen=True, slots=True)
class ReviewerSummary:
    """One reviewer's figures over the pull requests that were scored."""

    prs: int
    prs_with_references: int | None
    """Pull requests of the reference set, after filters and --limit; None in a run that did not note it."""
    counts: Counts
    metrics: Rates
    intervals: Intervals
    bounds: Intervals
    """The least and the greatest value of each metric over all ways to decide the undecided pairs; None where that
    is not worked out."""
    macro: Macro
    by_pull_request: Mapping[str, Mapping[str, PullRequestSlice]]
    """`language` and `pr_category`, then the value."""
    by_reference: Mapping[str, Mapping[str, ReferenceSlice]]
    """`comment_category`, `context` and `severity`, then the value."""
    repeats: Repeats | None = None
    """The reviewer's repeated runs beside one another; all other figures are of their means."""
    repeated: float | None = None
    """Of the unmatched comments, those that say again what the reviewer said before on the pull request; None in a
    run that did not note it."""
    costs: Costs | None = None
    """What its reviews took; None where the input does not say."""
    repository_intervals: Intervals = field(default_factory=dict)
    """Intervals over repositories, where they are wider by a quarter than those over pull requests."""

    @property
    def repeated_rate(self) -> float | None:
        """Of all comments; it is a part of the noise."""
        known = self.repeated is not None and self.counts.generated
        return (self.repeated or 0) / self.counts.generated if known else None


@dataclass(frozen=True, slots=True)
class LearnedFrom:
    """The known verdicts that a judge learned from, none of them on the comments that it judged."""

    verdicts: int
    reviewers: int
    """Whose comments they are on, as far as the verdicts name them."""
    references: int


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
    learned_from: LearnedFrom | None = None
    """None: the judge was given no examples."""


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
    repeat: bool = False
    """Whether several runs of a reviewer are one reviewer."""
    pr: str | None = None
    """The pull request of files that name none."""
    unit: str = PULL_REQUEST
    """What intervals and tests are over."""

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures that mean something in this run."""
        return measured(location=self.location, negatives=self.negatives, alignment=self.alignment)


@dataclass(frozen=True)
class CommentsSummary:
    """What a comment run found: the document that `--json` prints, as objects."""

    config: CommentsConfig
    reviewers: Mapping[str, ReviewerSummary]
    judge: JudgeSummary
    prs: int
    """Pull requests that any of the reviewers has."""
    warnings: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    unreviewed: Mapping[str, int] = field(default_factory=dict)
    """Pull requests with references that no reviewer has a file for, and how many references each has."""
    build_gates: tuple[GateResult, ...] = ()
    """What came of the gates that the run was last held to."""
    trust: HeldOut | None = None
    """What the offline judge was measured at with the weights of this run; None for other judges."""

    def with_gates(self, results: tuple[GateResult, ...]) -> Self:
        return replace(self, build_gates=results)

    @property
    def measures(self) -> tuple[Measure, ...]:
        return self.config.measures

    @property
    def prs_with_references(self) -> int | None:
        """The same for every reviewer."""
        return next((block.prs_with_references for block in self.reviewers.values()), None)

    @property
    def metrics(self) -> dict[str, Rates]:
        return {name: block.metrics for name, block in self.reviewers.items()}


def summarise(records: Sequence[CommentRecord], config: CommentsConfig, prs_with_references: int) -> ReviewerSummary:
    """One reviewer's figures over its records that were not skipped; repeated runs count by their means."""
    repeats = repeats_of(records, config.measures) if config.repeat else None
    records = list(averaged_by_pull_request(records))
    # By pull request, so that the order of the input does not change the last digit of a sum.
    scored = sorted(
        (record for record in records if not record.skipped), key=lambda record: pull_request_key(record.pr)
    )
    available = config.measures
    counts = table(record.counts for record in scored)
    sums = total(counts)
    prs = [record.pr for record in scored]
    return ReviewerSummary(
        prs=len(scored),
        prs_with_references=prs_with_references,
        counts=Counts.from_sums(sums, location=config.location),
        metrics=rates(sums, available),
        intervals=_intervals(counts, prs, config, MEASURES, repeats.run_variance if repeats else {}),
        bounds=_bounds(scored, config),
        macro=macro_of(counts, available),
        by_pull_request={
            "language": _pull_request_slices(scored, lambda record: record.language, config),
            "pr_category": _pull_request_slices(scored, lambda record: record.pr_category, config),
        },
        by_reference={name: _reference_slices(scored, name, config) for name in DIMENSIONS},
        repeats=repeats,
        repeated=_repeated(scored),
        costs=costs_of([record.spent for record in scored], (record.counts.matched for record in scored)),
        repository_intervals=(
            repository_intervals(counts, prs, available, repeats.run_variance if repeats else {})
            if config.unit == PULL_REQUEST
            else {}
        ),
    )


def reviewer_table(name: str, records: Sequence[CommentRecord], block: ReviewerSummary) -> ReviewerTable:
    """One reviewer's counts by pull request; repeated runs by their means. `block`: its figures."""
    scored = [record for record in averaged_by_pull_request(records) if not record.skipped]
    extra = block.repeats.run_variance if block.repeats else {}
    return ReviewerTable(name, [record.pr for record in scored], table(record.counts for record in scored), extra)


def _repeated(records: Sequence[CommentRecord]) -> float | None:
    known = [record.repeated for record in records if record.repeated is not None]
    return whole(sum(known)) if len(known) == len(records) else None


def _intervals(
    counts: Sums, prs: Sequence[str], config: CommentsConfig, measures: Iterable[Measure], extra: Extra
) -> Intervals:
    """The interval of each measure over the rows of `counts`, one per pull request; None where it is not available."""
    ends = intervals(unit_rows(counts, prs, config.unit), config.measures, extra)
    return {measure.name: ends.get(measure.name) for measure in measures}


def _bounds(records: Sequence[CommentRecord], config: CommentsConfig) -> Intervals:
    undecided = [record for record in records if record.counts.undecided]
    if any(record.bounds is None for record in undecided):
        return {measure.name: None for measure in MEASURES}
    ends = zip(*(record.bounds or (record.counts, record.counts) for record in records), strict=True)
    low, high = (rates(total(table(end)), config.measures) for end in ends) if records else ({}, {})
    known = {name: _ordered(value, high[name]) for name, value in low.items()}
    if undecided and config.filters.drops_comments:
        # Which comments are left out then depends on the decisions, and these figures with them, either way.
        known |= {measure.name: None for measure in MEASURES if measure.needs}
    return known


def _ordered(a: float | None, b: float | None) -> Interval | None:
    return None if a is None or b is None else (min(a, b), max(a, b))


def macro_of(counts: Sums, available: Sequence[Measure]) -> Macro:
    """The mean of the rows' own rates."""
    means: dict[str, float | None] = {}
    nulls: dict[str, int] = {}
    known = {measure.name for measure in available}
    for measure in MEASURES:
        values = measure(counts) if measure.name in known else np.full(len(counts), np.nan)
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
        counts = table(record.counts for record in group)
        sums = total(counts)
        slices[value] = PullRequestSlice(
            len(group),
            Counts.from_sums(sums, location=config.location),
            rates(sums, config.measures),
            _intervals(
                counts,
                [record.pr for record in group],
                config,
                MEASURES,
                run_variance(map(rows_of_runs, group), config.measures),
            ),
        )
    return slices


def _reference_slices(records: Iterable[CommentRecord], name: str, config: CommentsConfig) -> dict[str, ReferenceSlice]:
    groups: dict[str, list[tuple[CommentRecord, Tally]]] = {}
    for record in records:
        for value, tally in record.slices[name].items():
            groups.setdefault(value, []).append((record, tally))
    slices = {}
    for value, group in sorted(groups.items()):
        counts = recall_table(tally.values() for _, tally in group)
        sums = total(counts)
        of_slice = Counts.from_sums(sums, location=config.location)
        slices[value] = ReferenceSlice(
            len(group),
            of_slice.expected,
            of_slice.covered,
            of_slice.line_covered,
            rates(sums, config.measures, RECALLS),
            _intervals(
                counts,
                [record.pr for record, _ in group],
                config,
                RECALLS,
                _recall_variance([record for record, _ in group], name, value, config),
            ),
        )
    return slices


def _recall_variance(records: Iterable[CommentRecord], name: str, value: str, config: CommentsConfig) -> Extra:
    """What runs add to the variance of the recalls of one kind of references."""

    def rows(record: CommentRecord) -> dict[str, Sequence[float]]:
        tallies = (each.slices.get(name, {}).get(value, Tally()) for each in record.of_runs)
        return dict(zip(record.runs, recall_table(each.values() for each in tallies).tolist(), strict=False))

    available = {measure.name for measure in config.measures}
    return run_variance(map(rows, records), [measure for measure in RECALLS if measure.name in available])
