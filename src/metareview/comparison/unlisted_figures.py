"""Precision, recall and F1 where right comments that the references lack count as right: P+, R+ and F1+.

V of a reviewer is the number of its issues that are valid, V that of all reviewers, W of a reviewer the number of its
unmatched comments on valid issues that are no repeats, all estimated from the issues that were drawn and labelled:

    P+ = (matched + W of the reviewer) / comments
    R+ = (covered + V of the reviewer) / (references + V)
    F1+ = the harmonic mean of the two

Everything about a reviewer is over the pull requests that it has. A label outside the sample changes what is shown of
the noise, never an estimate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metareview.comments.records import CommentRecord
from metareview.comments.units import unit_rows
from metareview.comparison.corrected import Correction
from metareview.comparison.plus_measures import PLUS_MEASURES, Pool, Table, bounds_of, figures_of
from metareview.comparison.plus_variance import unseen_variances
from metareview.comparison.unlisted_estimate import Labelled, estimate, held_verdicts
from metareview.comparison.unlisted_labels import current_labels
from metareview.comparison.unseen import Unseen, unseen_issues
from metareview.model.label import IssueVerdict, Labels
from metareview.model.unlisted import Issue, Unlisted
from metareview.runs.run import CommentsRun
from metareview.stats import Extra, Interval, intervals

Plus = Mapping[str, float | None]
"""`precision_plus`, `recall_plus` and `f1_plus`; None where one is undefined or not known yet."""


@dataclass(frozen=True, slots=True)
class Noise:
    """The comments of a reviewer that match no reference, each in one of four kinds, by the labels so far."""

    valid: int = 0
    invalid: int = 0
    """Labelled so, or of an issue that matches a negative."""
    repeated: int = 0
    """Labelled a repeat, or one by its words: see `comments/repeats.py`."""
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
    """How many issues it raises; those that match a negative are among them."""
    valid: float | None
    """How many of them are valid, as estimated."""


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
    """With each reviewer left out of the pool in turn: R+ and F1+ of all. What only that reviewer said is then no
    issue, and brings itself nothing either."""
    provisional_matches: bool = False
    """Whether labels of pairs correct the matches, and are too few for intervals: then all estimates here are, too."""
    moved_labels: int = 0
    """Labels of issues of a former grouping that hold for the issue of the comment that was read first."""
    stale_labels: int = 0
    """Labels of issues of a former grouping, or of another run, that hold for none."""

    @property
    def provisional(self) -> bool:
        """Whether there are estimates without the labels that their intervals need."""
        return self.valid is not None and (self.provisional_matches or not self.labelled.sample.complete)

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
                "missing": who.sample.missing,
                "thin": who.sample.thin,
                "passed_over": who.sample.passed_over,
                "moved": self.moved_labels,
                "stale": self.stale_labels,
            },
            "provisional": self.provisional,
            "provisional_matches": self.provisional_matches,
            "references": self.references,
            "valid": self.valid,
            "unseen": None
            if self.unseen is None
            else {
                "by_one": self.unseen.by_one,
                "by_two": self.unseen.by_two,
                "sources": self.unseen.sources,
                "floor": self.unseen.floor,
                "without": dict(self.unseen.without),
            },
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
    run: CommentsRun, unlisted: Unlisted, labels: Labels, correction: Correction | None = None
) -> UnlistedFigures:
    """The figures with what is known of the unlisted issues by now.

    The matches that a correction by labels of pairs estimates take the place of the judged ones. While it is
    provisional, so are these figures.
    """
    records = [record for record in run.read_records() if not record.skipped]
    known = current_labels(unlisted, labels)
    values, labelled = estimate(unlisted, known.labels)
    held = held_verdicts(known.labels)
    pool = Pool(unlisted.issues, values)
    by_reviewer: dict[str, list[CommentRecord]] = {}
    for record in records:
        by_reviewer.setdefault(record.reviewer, []).append(record)
    tables = {name: _table(name, own, pool, correction) for name, own in by_reviewer.items()}
    provisional_matches = correction is not None and correction.provisional
    settled = values is not None and labelled.sample.complete and not provisional_matches
    return UnlistedFigures(
        reviewers={
            name: _reviewer(
                name,
                table,
                pool,
                held,
                unseen_variances(name, table, pool, labelled, correction) if settled else None,
                run.result.config.unit,
            )
            for name, table in tables.items()
        },
        labelled=labelled,
        issues=len(unlisted.issues),
        drawn=len(unlisted.drawn),
        judged=sum(issue.known_invalid or issue.id in held for issue in unlisted.issues),
        references=round(sum({record.pr: record.counts.expected for record in records}.values(), 0.0)),
        valid=None if values is None else float(sum(values.values())),
        unseen=None if values is None else unseen_issues(records, unlisted.issues, values, list(tables)),
        without={left_out: _without(left_out, tables, pool) for left_out in tables},
        provisional_matches=provisional_matches,
        moved_labels=known.moved,
        stale_labels=known.stale,
    )


def _table(reviewer: str, records: Sequence[CommentRecord], pool: Pool, correction: Correction | None) -> Table:
    """A row per pull request of the reviewer."""
    matched, covered = (correction.matched, correction.covered) if correction else (None, None)
    rows = [
        (
            record.counts.generated,
            (matched or {}).get(record.key, record.counts.matched),
            (covered or {}).get(record.key, record.counts.covered),
            record.counts.expected,
        )
        for record in records
    ]
    return pool.table(reviewer, [record.pr for record in records], rows)


def _reviewer(
    name: str, table: Table, pool: Pool, held: Mapping[str, IssueVerdict], variances: Extra | None, unit: str
) -> ReviewerPlus:
    """`variances`: those that the jackknife does not show; None for no intervals. `unit`: what these are over."""
    own = pool.of_reviewer(name)
    known = pool.values is not None
    nothing: dict[str, None] = dict.fromkeys(map(str, PLUS_MEASURES))
    return ReviewerPlus(
        metrics=figures_of(table.sums()) if known else nothing,
        intervals=nothing
        if variances is None
        else intervals(unit_rows(table.counts, table.prs, unit), PLUS_MEASURES, variances),
        bounds=bounds_of(name, table, pool, held),
        noise=_noise(name, own, held),
        issues=len(own),
        valid=pool.valid(own),
    )


def _noise(reviewer: str, issues: Sequence[Issue], held: Mapping[str, IssueVerdict]) -> Noise:
    kinds: dict[str, int] = {"valid": 0, "invalid": 0, "repeated": 0, "unjudged": 0}
    for issue in issues:
        verdict = "invalid" if issue.known_invalid else held.get(issue.id, "unjudged")
        counted = issue.counted[reviewer]
        kinds["repeated" if verdict == "repeat" else verdict] += counted
        kinds["repeated"] += sum(name == reviewer for name, _ in issue.comments) - counted
    return Noise(**kinds)


def _without(left_out: str, tables: Mapping[str, Table], pool: Pool) -> dict[str, Plus]:
    """R+ and F1+ of all reviewers where what only this one said is no issue."""
    chosen = [measure for measure in PLUS_MEASURES if measure.name != "precision_plus"]
    if pool.values is None:
        return {name: dict.fromkeys(map(str, chosen)) for name in tables}
    others = Pool([issue for issue in pool.issues if set(issue.reviewers) != {left_out}], pool.values)
    return {
        name: figures_of(others.table(name, table.prs, table.judged()).sums(), chosen) for name, table in tables.items()
    }
