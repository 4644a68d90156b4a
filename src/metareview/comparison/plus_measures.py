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

_GENERATED, _MATCHED, _COVERED, _EXPECTED, _OWN, _ALL = range(6)
Judged = Sequence[tuple[float, float, float, float]]
"""For each pull request: comments, matched ones, references covered, references."""


@dataclass(frozen=True)
class Table:
    """One reviewer's counts: comments, matched, covered, references, its valid issues, and everybody's."""

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

    def table(self, reviewer: str, prs: Sequence[str], judged: Judged) -> Table:
        """The counts with those of valid issues beside them; these are 0 where they are not known."""
        rows = []
        for pr, counts in zip(prs, judged, strict=True):
            issues = self.by_pr.get(pr, ())
            own = [issue for issue in issues if reviewer in issue.reviewers]
            rows.append((*counts, self.valid(own) or 0.0, self.valid(issues) or 0.0))
        return Table(prs, np.array(rows, np.float64).reshape(-1, _ALL + 1))


def plus_measures(alignment: str) -> tuple[Measure, ...]:
    """The three measures as they are under an alignment: where comments and references are paired off F1+ is a ratio
    of sums, else the harmonic mean of the other two."""
    precision = _measure(
        "precision_plus",
        "P+",
        "Of the comments, the share that match a reference or are the first to say a valid issue that none covers.",
        lambda sums: (sums[..., _MATCHED] + sums[..., _OWN], sums[..., _GENERATED]),
    )
    recall = _measure(
        "recall_plus",
        "R+",
        "Of the references and the valid issues that any reviewer says, the share that this one says.",
        lambda sums: (sums[..., _COVERED] + sums[..., _OWN], sums[..., _EXPECTED] + sums[..., _ALL]),
    )

    def size(sums: Sums) -> Sums:
        mean: Sums = (sums[..., _GENERATED] + sums[..., _EXPECTED] + sums[..., _ALL]) / 2
        return mean

    def paired(sums: Sums) -> tuple[Sums, Sums]:
        return sums[..., _MATCHED] + sums[..., _OWN], size(sums)

    def harmonic(sums: Sums) -> tuple[Sums, Sums]:
        p, r = np.nan_to_num(precision(sums)), np.nan_to_num(recall(sums))
        return np.nan_to_num(ratio(2 * p * r, p + r)) * size(sums), size(sums)

    definition = "The harmonic mean of P+ and R+; 0 where one of them is 0 or only one is defined."
    pairs_up = alignment != "coverage"
    f1 = _measure("f1_plus", "F1+", definition, paired if pairs_up else harmonic, adds_up=pairs_up)
    return precision, recall, f1


def _measure(name: str, label: str, definition: str, parts: Parts, *, adds_up: bool = True) -> Measure:
    return Measure(name, label.casefold(), label, definition, lambda sums: ratio(*parts(sums)), parts, adds_up=adds_up)


def figures_of(sums: Sums, measures: Sequence[Measure]) -> dict[str, float | None]:
    """Every figure by name. An estimate from few labels may come out a little beyond 0 or 1, which none can be."""
    figures = {measure.name: measure.value(sums) for measure in measures}
    return {name: None if value is None else min(max(value, 0.0), 1.0) for name, value in figures.items()}


def bounds_of(
    reviewer: str, table: Table, pool: Pool, held: Mapping[str, IssueVerdict], measures: Sequence[Measure]
) -> dict[str, Interval | None]:
    """The least and the greatest value of each measure, whatever the issues without a verdict turn out to be.

    It is least where none of the reviewer's own is valid and all of the others' are, greatest the other way round: an
    issue of its own that is valid counts above the line as well as below.
    """
    valid_own = valid_others = open_own = open_others = 0
    for issue in (issue for pr in table.prs for issue in pool.by_pr.get(pr, ())):
        own, valid = reviewer in issue.reviewers, held.get(issue.id) == "valid" and not issue.known_invalid
        valid_own, valid_others = valid_own + (own and valid), valid_others + (valid and not own)
        if not issue.known_invalid and issue.id not in held:
            open_own, open_others = open_own + own, open_others + (not own)
    ends = []
    for of_own, of_others in ((0, open_others), (open_own, 0)):
        sums = table.sums()
        sums[_OWN] = valid_own + of_own
        sums[_ALL] = sums[_OWN] + valid_others + of_others
        ends.append(figures_of(sums, measures))
    low, high = ends
    return {name: _ordered(value, high[name]) for name, value in low.items()}


def _ordered(a: float | None, b: float | None) -> Interval | None:
    return None if a is None or b is None else (min(a, b), max(a, b))
