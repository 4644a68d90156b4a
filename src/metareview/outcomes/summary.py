"""From the records of a run to its figures: rates with intervals over pull requests, one block per reviewer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from metareview.comments.costs import Costs, Spent, costs_of
from metareview.comments.summary import Intervals, JudgeSummary
from metareview.model.address import pull_request_key
from metareview.model.build_gates import GateResult
from metareview.model.comment import Skipped
from metareview.model.measure import Measure, Sums
from metareview.outcomes.measures import COLUMNS, MEASURES, counts_of, measured
from metareview.outcomes.records import FINDINGS, CommentOutcome, OutcomeRecord
from metareview.stats import intervals

Rates = Mapping[str, float | None]
NO_SLICE = "unknown"
BOTS, PEOPLE = "bots", "people"
_BOT = "[bot]"

DIMENSIONS: Mapping[str, Callable[[CommentOutcome], str | None]] = {
    "severity": lambda outcome: outcome.comment.severity,
    "category": lambda outcome: outcome.comment.category,
    "path": lambda outcome: outcome.comment.path,
    "week": lambda outcome: outcome.week,
}
"""What comments can be sliced by."""


@dataclass(frozen=True)
class OutcomesConfig:
    """What a run of outcomes was asked to do: everything but its inputs that can change its figures."""

    judge: str = "none"
    """Who decides whether a comment was addressed: none, llm or cascade."""
    judge_parameters: Mapping[str, object] = field(default_factory=dict)
    labels: bool = False
    """Whether people's verdicts were given beforehand."""
    reviewer: tuple[str, ...] = ()
    """Patterns of whose comments are looked at; empty: everybody's."""
    since: str | None = None
    by: tuple[str, ...] = ()
    name: str | None = None
    format: str | None = None
    pr: str | None = None

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures that mean something in this run."""
        return measured(addressed=self.judge != "none" or self.labels)


@dataclass(frozen=True, slots=True)
class OutcomeFigures:
    """The figures over some comments: all of a reviewer's, or those of a slice."""

    prs: int
    """Pull requests: a reviewer's, silent ones included; a slice's, those that have such a comment."""
    comments: int
    metrics: Rates
    known: Mapping[str, int]
    """Of how many comments the data can tell: what each rate is over."""
    intervals: Intervals


@dataclass(frozen=True, slots=True)
class ReviewerOutcomes:
    """One reviewer's figures."""

    figures: OutcomeFigures
    slices: Mapping[str, Mapping[str, OutcomeFigures]] = field(default_factory=dict)
    """By dimension, then by its value."""
    cannot_tell: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Per measure: the reasons why the data cannot tell, and of how many comments."""
    undecided: int = 0
    """Comments that the judge could not decide."""
    bot: bool = False
    costs: Costs | None = None
    """What its reviews took, per pull request and per heeded comment; None where the input does not say."""


@dataclass(frozen=True)
class OutcomesSummary:
    """What a run of outcomes found: the document that `--json` prints, as objects."""

    config: OutcomesConfig
    reviewers: Mapping[str, ReviewerOutcomes]
    groups: Mapping[str, OutcomeFigures]
    """Bots and people, where there are both."""
    prs: int
    judge: JudgeSummary | None = None
    """Who decided what was addressed, and what it cost; None where nobody was asked."""
    warnings: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    build_gates: tuple[GateResult, ...] = ()

    def with_gates(self, results: tuple[GateResult, ...]) -> Self:
        return replace(self, build_gates=results)

    @property
    def measures(self) -> tuple[Measure, ...]:
        return self.config.measures

    @property
    def metrics(self) -> dict[str, Rates]:
        return {name: block.figures.metrics for name, block in self.reviewers.items()}


@dataclass(frozen=True, slots=True)
class Tally:
    """What the figures need of a record, whatever its comments say."""

    pr: str
    reviewer: str
    comments: int
    counts: Sums
    slices: Mapping[str, Mapping[str, tuple[int, Sums]]]
    """By dimension and value: how many comments, and their counts."""
    cannot_tell: Mapping[tuple[str, str], int]
    undecided: int
    by_machine: int
    """Comments that say of themselves that a model wrote them."""
    heeded: int = 0
    spent: Spent = field(default_factory=Spent)


def tally(record: OutcomeRecord, by: Iterable[str]) -> Tally:
    slices: dict[str, dict[str, tuple[int, Sums]]] = {}
    for dimension in by:
        groups: dict[str, list[CommentOutcome]] = {}
        for outcome in record.comments:
            groups.setdefault(DIMENSIONS[dimension](outcome) or NO_SLICE, []).append(outcome)
        slices[dimension] = {value: (len(group), counts_of(group)) for value, group in groups.items()}
    reasons = Counter(
        (name, finding.reason)
        for outcome in record.comments
        for name in FINDINGS
        if (finding := getattr(outcome, name)).value is None and finding.reason
    )
    return Tally(
        record.pr,
        record.reviewer,
        len(record.comments),
        counts_of(record.comments),
        slices,
        reasons,
        record.undecided,
        sum(outcome.comment.is_ai_comment is True for outcome in record.comments),
        sum(outcome.heeded for outcome in record.comments),
        Spent(record.cost, record.tokens, record.seconds),
    )


def is_bot(name: str) -> bool:
    return name.casefold().endswith(_BOT)


def summarise(tallies: Sequence[Tally], config: OutcomesConfig) -> dict[str, ReviewerOutcomes]:
    """Everybody's figures, by name, in the order of first appearance."""
    by_reviewer: dict[str, list[Tally]] = {}
    for each in tallies:
        by_reviewer.setdefault(each.reviewer, []).append(each)
    return {name: _reviewer(name, of_one, config) for name, of_one in by_reviewer.items()}


def _reviewer(name: str, tallies: Sequence[Tally], config: OutcomesConfig) -> ReviewerOutcomes:
    # By pull request, so that the order of the input does not change the last digit of a sum.
    tallies = sorted(tallies, key=lambda each: pull_request_key(each.pr))
    slices: dict[str, dict[str, list[tuple[int, Sums]]]] = {}
    reasons = Counter[tuple[str, str]]()
    for each in tallies:
        reasons.update(each.cannot_tell)
        for dimension, values in each.slices.items():
            for value, rows in values.items():
                slices.setdefault(dimension, {}).setdefault(value, []).append(rows)
    cannot_tell: dict[str, dict[str, int]] = {}
    for (metric, reason), number in sorted(reasons.items()):
        cannot_tell.setdefault(metric, {})[reason] = number
    comments = sum(each.comments for each in tallies)
    return ReviewerOutcomes(
        figures_of([(each.comments, each.counts) for each in tallies], config.measures),
        {
            dimension: {value: figures_of(rows, config.measures) for value, rows in sorted(values.items())}
            for dimension, values in slices.items()
        },
        cannot_tell,
        sum(each.undecided for each in tallies),
        is_bot(name) or (comments > 0 and sum(each.by_machine for each in tallies) == comments),
        costs_of([each.spent for each in tallies], (each.heeded for each in tallies)),
    )


def figures_of(rows: Sequence[tuple[int, Sums]], available: Iterable[Measure]) -> OutcomeFigures:
    """The figures over pull requests: how many comments each has, and their counts."""
    available = tuple(available)
    counts = np.array([counts for _, counts in rows], np.float64).reshape(-1, COLUMNS)
    sums = counts.sum(axis=0)
    ends = intervals(counts, available)
    names = {measure.name for measure in available}
    return OutcomeFigures(
        len(rows),
        sum(number for number, _ in rows),
        {each.name: each.value(sums) if each.name in names else None for each in MEASURES},
        {each.name: int(each.parts(sums)[1]) if each.name in names else 0 for each in MEASURES},
        {each.name: ends.get(each.name) for each in MEASURES},
    )


def groups_of(
    tallies: Sequence[Tally], blocks: Mapping[str, ReviewerOutcomes], config: OutcomesConfig
) -> dict[str, OutcomeFigures]:
    """All bots together and all people together, a pull request being one unit; nothing where there is but one kind."""
    kinds: dict[str, dict[str, tuple[int, Sums]]] = {BOTS: {}, PEOPLE: {}}
    for each in sorted(tallies, key=lambda each: (pull_request_key(each.pr), each.reviewer)):
        of_kind = kinds[BOTS if blocks[each.reviewer].bot else PEOPLE]
        number, counts = of_kind.get(each.pr, (0, np.zeros(COLUMNS)))
        of_kind[each.pr] = (number + each.comments, counts + each.counts)
    if not all(kinds.values()):
        return {}
    return {kind: figures_of(list(rows.values()), config.measures) for kind, rows in kinds.items()}
