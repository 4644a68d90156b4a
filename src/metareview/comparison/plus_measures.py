"""P+, R+ and F1+ as measures over a table, a row per pull request, and their bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from metareview.model.label import IssueVerdict
from metareview.model.measure import Measure, Parts, Sums, ratio
from metareview.model.unlisted import Issue
from metareview.stats import Array, Interval

GENERATED, MATCHED, COVERED, EXPECTED, COMMENTS, OWN, ALL = range(7)
"""The columns of a table."""
Judged = Sequence[tuple[float, float, float, float]]
"""For each pull request: comments, matched ones, references covered, references."""


@dataclass(frozen=True)
class Table:
    """One reviewer's counts: comments, matched, covered, references; its comments on valid issues without repeats, its
    valid issues, and those of all reviewers."""

    prs: Sequence[str]
    counts: Array

    def sums(self) -> Array:
        total: Array = self.counts.sum(axis=0)
        return total

    def judged(self) -> Judged:
        return [(row[0], row[1], row[2], row[3]) for row in self.counts.tolist()]


@dataclass(frozen=True)
class Pool:
    """The issues that count, and how many of them are valid; None where that is not known."""

    issues: Sequence[Issue]
    values: Mapping[str, float] | None

    @cached_property
    def by_pr(self) -> Mapping[str, Sequence[Issue]]:
        grouped: dict[str, list[Issue]] = {}
        for issue in self.issues:
            grouped.setdefault(issue.pr, []).append(issue)
        return grouped

    def of_reviewer(self, name: str) -> list[Issue]:
        return [issue for issue in self.issues if name in issue.reviewers]

    def valid(self, issues: Sequence[Issue]) -> float | None:
        """How many of these are valid."""
        return None if self.values is None else float(sum(self.values[issue.id] for issue in issues))

    def valid_comments(self, reviewer: str, issues: Sequence[Issue]) -> float | None:
        """How many of the reviewer's comments on these are valid; repeats are not."""
        if self.values is None:
            return None
        return float(sum(self.values[issue.id] * issue.counted.get(reviewer, 0) for issue in issues))

    def table(self, reviewer: str, prs: Sequence[str], judged: Judged) -> Table:
        """The counts with those of valid issues beside them; these are 0 where they are not known."""
        rows = []
        for pr, counts in zip(prs, judged, strict=True):
            issues = self.by_pr.get(pr, ())
            own = [issue for issue in issues if reviewer in issue.reviewers]
            valid = self.valid_comments(reviewer, own), self.valid(own), self.valid(issues)
            rows.append((*counts, *(number or 0.0 for number in valid)))
        return Table(prs, np.array(rows, np.float64).reshape(-1, ALL + 1))


def _precision(sums: Sums) -> tuple[Sums, Sums]:
    return sums[..., MATCHED] + sums[..., COMMENTS], sums[..., GENERATED]


def _recall(sums: Sums) -> tuple[Sums, Sums]:
    return sums[..., COVERED] + sums[..., OWN], sums[..., EXPECTED] + sums[..., ALL]


def _f1(sums: Sums) -> tuple[Sums, Sums]:
    """Of the harmonic mean, which is no ratio of sums: P+ counts comments, R+ issues."""
    p, r = (np.nan_to_num(ratio(*parts(sums))) for parts in (_precision, _recall))
    size: Sums = (sums[..., GENERATED] + sums[..., EXPECTED] + sums[..., ALL]) / 2
    return np.nan_to_num(ratio(2 * p * r, p + r)) * size, size


def _measure(name: str, label: str, definition: str, parts: Parts, *, adds_up: bool = True) -> Measure:
    return Measure(name, label.casefold(), label, definition, lambda sums: ratio(*parts(sums)), parts, adds_up=adds_up)


PLUS_MEASURES = (
    _measure(
        "precision_plus",
        "P+",
        "Of the comments, the share that match a reference, or raise a valid issue that none covers without a repeat.",
        _precision,
    ),
    _measure(
        "recall_plus",
        "R+",
        "Of the references and the valid issues that any reviewer raises, the share that this one raises.",
        _recall,
    ),
    _measure(
        "f1_plus",
        "F1+",
        "The harmonic mean of P+ and R+; 0 where one of them is 0 or only one is defined.",
        _f1,
        adds_up=False,
    ),
)


def figures_of(sums: Sums, measures: Sequence[Measure] = PLUS_MEASURES) -> dict[str, float | None]:
    """Every figure by name. An estimate from few labels may come out a little beyond 0 or 1, which none can be."""
    figures = {measure.name: measure.value(sums) for measure in measures}
    return {name: None if value is None else min(max(value, 0.0), 1.0) for name, value in figures.items()}


def bounds_of(reviewer: str, table: Table, pool: Pool, held: Mapping[str, IssueVerdict]) -> dict[str, Interval | None]:
    """The least and the greatest value of each measure, whatever the issues without a verdict turn out to be.

    Each is least where none of the reviewer's own is valid and all of the others' are, greatest the other way round: an
    issue of its own that is valid counts above the line as well as below.
    """
    low, high = table.sums(), table.sums()
    for ends in (low, high):
        ends[[COMMENTS, OWN, ALL]] = 0.0
    for issue in (issue for pr in table.prs for issue in pool.by_pr.get(pr, ()) if not issue.known_invalid):
        own = reviewer in issue.reviewers
        verdict = held.get(issue.id)
        for ends, if_open in ((low, not own), (high, own)):
            if verdict == "valid" or (verdict is None and if_open):
                ends[COMMENTS] += issue.counted.get(reviewer, 0)
                ends[OWN] += own
                ends[ALL] += 1
    return {
        name: None if least is None or greatest is None else (min(least, greatest), max(least, greatest))
        for (name, least), greatest in zip(figures_of(low).items(), figures_of(high).values(), strict=True)
    }
