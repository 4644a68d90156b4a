"""Precision, recall and F1 where right comments that the references lack count as right: P+, R+ and F1+.

V of a reviewer is the number of its issues that are valid, V that of all reviewers, both estimated from the issues that
were drawn and labelled:

    P+ = (matched + V of the reviewer) / comments
    R+ = (covered + V of the reviewer) / (references + V)
    F1+ = 2 (matched + V of the reviewer) / (comments + references + V)

Everything about a reviewer is over the pull requests that it has. A label outside the sample changes what is shown of
the noise, never an estimate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metareview.comments.records import CommentRecord
from metareview.comparison.plus_measures import Pool, Table, bounds_of, figures_of, plus_measures
from metareview.comparison.unlisted_estimate import Labelled, estimate, held_verdicts
from metareview.model.label import IssueVerdict, Labels
from metareview.model.measure import Measure
from metareview.model.unlisted import Issue, Unlisted
from metareview.runs.run import CommentsRun
from metareview.stats import Interval, intervals

Corrected = Mapping[tuple[str, str], float]
"""For (pull request, reviewer) the number of matches that takes the place of the judged one."""
Plus = Mapping[str, float | None]
"""`precision_plus`, `recall_plus` and `f1_plus`; None where one is undefined or not known yet."""


@dataclass(frozen=True, slots=True)
class Noise:
    """The comments of a reviewer that match no reference, each in one of four kinds, by the labels so far."""

    valid: int = 0
    invalid: int = 0
    """Labelled so, or a repeat of a negative."""
    repeated: int = 0
    """Labelled a repeat, or the reviewer's second comment on one issue."""
    unjudged: int = 0

    @property
    def unmatched(self) -> int:
        return self.valid + self.invalid + self.repeated + self.unjudged

    @property
    def unjudged_share(self) -> float | None:
        return self.unjudged / self.unmatched if self.unmatched else None


@dataclass(frozen=True, slots=True)
class ReviewerPlus:
    """One reviewer's figures with the issues that the references lack."""

    metrics: Plus
    intervals: Mapping[str, Interval | None]
    """None while the figures are provisional: with few labels in a stratum they would promise too much."""
    bounds: Mapping[str, Interval | None]
    """The least and the greatest value, whatever the issues without a label turn out to be."""
    noise: Noise
    issues: int
    """How many issues it says; those that repeat a negative are among them."""
    valid: float | None
    """How many of them are valid, as estimated."""


@dataclass(frozen=True, slots=True)
class Unseen:
    """Chao's estimate of the issues that nobody found, from those that one source and that two sources have. Sources
    are the reference set and each reviewer."""

    by_one: float
    by_two: float

    @property
    def estimate(self) -> float:
        return max(0.0, self.by_one * (self.by_one - 1) / (2 * (self.by_two + 1)))


@dataclass(frozen=True)
class UnlistedFigures:
    """What labels of unlisted issues do to the figures of a run. `to_dict()` is for JSON."""

    reviewers: Mapping[str, ReviewerPlus]
    labelled: Labelled
    issues: int
    drawn: int
    judged: int
    """Issues with a verdict: people's, else a model's, or known to be invalid."""
    references: int
    valid: float | None
    """How many issues of all reviewers are valid, as estimated."""
    unseen: Unseen | None
    without: Mapping[str, Mapping[str, Plus]]
    """With each reviewer left out of the pool in turn: everybody's R+ and F1+. What only that reviewer said is then no
    issue, and brings itself nothing either."""

    @property
    def provisional(self) -> bool:
        """Whether there are estimates, on fewer labels than their intervals need."""
        return self.valid is not None and not self.labelled.settled

    @property
    def unjudged_share(self) -> float | None:
        return 1 - self.judged / self.issues if self.issues else None

    def to_dict(self) -> dict[str, object]:
        who = self.labelled
        return {
            "schema": "metareview.unlisted_figures/1",
            "issues": self.issues,
            "drawn": self.drawn,
            "judged": self.judged,
            "unjudged_share": self.unjudged_share,
            "labels": {
                "people": who.people,
                "models": dict(who.models),
                "corrected": who.corrected,
                "repeats": who.repeats,
                "missing": who.missing,
                "thin": who.thin,
                "passed_over": who.passed_over,
            },
            "provisional": self.provisional,
            "references": self.references,
            "valid": self.valid,
            "unseen": None
            if self.unseen is None
            else {"by_one": self.unseen.by_one, "by_two": self.unseen.by_two, "estimate": self.unseen.estimate},
            "reviewers": {name: _to_dict(each) for name, each in self.reviewers.items()},
            "without": {
                left_out: {name: dict(metrics) for name, metrics in of.items()} for left_out, of in self.without.items()
            },
        }


def _to_dict(reviewer: ReviewerPlus) -> dict[str, object]:
    noise = reviewer.noise
    return {
        "metrics": dict(reviewer.metrics),
        "intervals": {name: None if ends is None else list(ends) for name, ends in reviewer.intervals.items()},
        "bounds": {name: None if ends is None else list(ends) for name, ends in reviewer.bounds.items()},
        "issues": reviewer.issues,
        "valid": reviewer.valid,
        "noise": {
            **{kind: getattr(noise, kind) for kind in ("valid", "invalid", "repeated", "unjudged")},
            "unmatched": noise.unmatched,
            "unjudged_share": noise.unjudged_share,
        },
    }


def unlisted_figures(
    run: CommentsRun,
    unlisted: Unlisted,
    labels: Labels,
    corrected: Corrected | None = None,
    corrected_covered: Corrected | None = None,
) -> UnlistedFigures:
    """The figures with what is known of the unlisted issues by now.

    `corrected` takes the place of the judged matches, and where comments and references are paired off also of the
    references covered; where several comments may cover one reference, `corrected_covered` does that.
    """
    records = [record for record in run.read_records() if not record.skipped]
    alignment = run.result.config.alignment
    if alignment != "coverage" and corrected_covered is None:
        corrected_covered = corrected
    values, labelled = estimate(unlisted, labels)
    held = held_verdicts(labels)
    pool = Pool(unlisted.issues, values)
    measures = plus_measures(alignment)
    tables: dict[str, list[CommentRecord]] = {}
    for record in records:
        tables.setdefault(record.reviewer, []).append(record)
    rows = {
        name: _table(name, of_reviewer, pool, corrected or {}, corrected_covered or {})
        for name, of_reviewer in tables.items()
    }
    reviewers = {
        name: _reviewer(name, table, pool, held, measures, settled=labelled.settled) for name, table in rows.items()
    }
    return UnlistedFigures(
        reviewers=reviewers,
        labelled=labelled,
        issues=len(unlisted.issues),
        drawn=len(unlisted.drawn),
        judged=sum(issue.known_invalid or issue.id in held for issue in unlisted.issues),
        references=round(sum({record.pr: record.counts.expected for record in records}.values(), 0.0)),
        valid=None if values is None else float(sum(values.values())),
        unseen=None if values is None else _unseen(records, unlisted.issues, values),
        without={left_out: _without(left_out, rows, pool, measures) for left_out in rows},
    )


def _table(
    reviewer: str, records: Sequence[CommentRecord], pool: Pool, corrected: Corrected, covered: Corrected
) -> Table:
    """A row per pull request of the reviewer."""
    rows = [
        (
            record.counts.generated,
            corrected.get(record.key, record.counts.matched),
            covered.get(record.key, record.counts.covered),
            record.counts.expected,
        )
        for record in records
    ]
    return pool.table(reviewer, [record.pr for record in records], rows)


def _reviewer(
    name: str, table: Table, pool: Pool, held: Mapping[str, IssueVerdict], measures: Sequence[Measure], *, settled: bool
) -> ReviewerPlus:
    own = pool.of_reviewer(name)
    known = pool.values is not None
    return ReviewerPlus(
        metrics=figures_of(table.sums(), measures) if known else dict.fromkeys(map(str, measures)),
        intervals=intervals(table.counts, measures) if known and settled else dict.fromkeys(map(str, measures)),
        bounds=bounds_of(name, table, pool, held, measures),
        noise=_noise(name, own, held),
        issues=len(own),
        valid=pool.valid(own),
    )


def _noise(reviewer: str, issues: Sequence[Issue], held: Mapping[str, IssueVerdict]) -> Noise:
    kinds: dict[str, int] = {"valid": 0, "invalid": 0, "repeated": 0, "unjudged": 0}
    for issue in issues:
        verdict = "invalid" if issue.known_invalid else held.get(issue.id, "unjudged")
        kinds["repeated" if verdict == "repeat" else verdict] += 1
        kinds["repeated"] += sum(who == reviewer for who, _ in issue.comments) - 1
    return Noise(**kinds)


def _without(left_out: str, tables: Mapping[str, Table], pool: Pool, measures: Sequence[Measure]) -> dict[str, Plus]:
    """Everybody's R+ and F1+ where what only this reviewer said is no issue."""
    chosen = [measure for measure in measures if measure.name != "precision_plus"]
    if pool.values is None:
        return {name: dict.fromkeys(map(str, chosen)) for name in tables}
    others = Pool([issue for issue in pool.issues if set(issue.reviewers) != {left_out}], pool.values)
    return {
        name: figures_of(others.table(name, table.prs, table.judged()).sums(), chosen) for name, table in tables.items()
    }


def _unseen(records: Sequence[CommentRecord], issues: Sequence[Issue], values: Mapping[str, float]) -> Unseen:
    raised: dict[tuple[str, int], int] = {}
    for record in records:
        for reference in record.references:
            if reference.kept:
                key = record.pr, reference.position
                raised[key] = raised.get(key, 0) + reference.covered
    by_one, by_two = (
        sum(times == sources - 1 for times in raised.values())
        + sum(values[issue.id] for issue in issues if len(issue.reviewers) == sources)
        for sources in (1, 2)
    )
    return Unseen(float(by_one), float(by_two))
