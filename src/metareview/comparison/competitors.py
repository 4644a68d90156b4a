"""Who is compared: a reviewer or a router of a run, as a table of counts with one row per pull request.

The kinds of run differ in what a record holds and in which settings decide what a figure means. Runs of outcomes have
no references, so that everybody has other pull requests: their figures are compared as samples, and never paired.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from metareview.comments.costs import Costs, Spent, costs_of
from metareview.comments.measures import Counts, f_beta, one_to_one, table, total
from metareview.comments.repeated_runs import rows_of_runs, run_variance
from metareview.comments.units import PULL_REQUEST, repository_key_of, unit_rows
from metareview.comparison.corrected import Correction, correction_of
from metareview.comparison.hidden_units import HiddenUnits, extra_variances
from metareview.comparison.outcome_corrected import (
    OutcomeCorrection,
    corrected_rows,
    hidden_outcomes,
    outcome_correction_of,
    with_estimates,
)
from metareview.errors import UsageError
from metareview.model.address import full_addresses, pull_request_key
from metareview.model.measure import Measure
from metareview.model.time import instant
from metareview.outcomes.measures import COLUMNS, MEASURES, counts_of
from metareview.routing.list_measures import ListMeasure
from metareview.routing.measures import RankMeasure
from metareview.routing.weeks import REPOSITORIES, Place, Units, by_unit, units_of, week_of
from metareview.runs.routing_kind import KIND as ROUTING
from metareview.runs.run import AnyRun, CommentsRun, OutcomesRun, RoutingRun, Run, is_comments, is_outcomes, load_run
from metareview.stats import Array, Variance, summed_variances

Source = AnyRun | str | Path
"""A run, or the folder that holds one."""

_EXPECTED, _NEGATIVES, _MATCHED = (
    [each.name for each in fields(Counts)].index(name) for name in ("expected", "negatives", "matched")
)


@dataclass(frozen=True, slots=True)
class Row:
    """One competitor on one pull request."""

    counts: tuple[float, ...]
    benchmark: str
    """A hash of the references or the truth; where two differ, so do the benchmarks."""
    negatives: str | None
    """A hash of the rejected comments; None for a run without."""
    record: Any
    """The run's record, where it was asked for."""
    week: int | None = None
    """Of the cutoff; for outcomes of the first comment. None where it is not known, and for comments."""
    corrected: tuple[float, ...] | None = None
    """The counts with what labels make of the matches; None where too little is labelled."""
    judged: tuple[float, ...] | None = None
    """The counts as the judge has them, where others are used."""
    pr: str = ""
    """The pull request as its run names it."""
    spent: Spent = field(default_factory=Spent)
    """What a review took, where that is known."""
    of_runs: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """The counts of each repeated run that these are the means of, by the judge."""


@dataclass(frozen=True)
class Competitor:
    """A reviewer or router of a run, with a row for each pull request that was scored, in order of their keys."""

    name: str
    run: AnyRun
    measures: Sequence[Measure]
    """Those that mean something in its run."""
    rows: Mapping[str, Row]
    labelled: int = 0
    """Blocks of its run that people labelled, where a frame was drawn."""
    unit: str = PULL_REQUEST
    """What its intervals and tests are over, if it is a reviewer."""
    hidden: Sequence[HiddenUnits] = ()
    """Units that may differ from all labelled ones of their stratum, where labels correct its counts."""

    @property
    def has_corrected(self) -> bool:
        return bool(self.rows) and all(row.corrected is not None for row in self.rows.values())

    def counts(self, prs: Iterable[str]) -> Array:
        """The table of these pull requests."""
        rows = [self.rows[key].counts for key in prs]
        return np.array(rows, np.float64).reshape(len(rows), _columns(self.run))

    def _label_variance(self, prs: Collection[str], measures: Iterable[Measure]) -> dict[str, Variance]:
        """By measure, the variance on these pull requests that comes from hidden units; nothing where the judge's
        counts are used."""
        if not any(self.rows[key].judged for key in prs):
            return {}
        keys = [(self.rows[key].pr, self.name) for key in prs]
        return extra_variances(self.hidden, keys, self.counts(prs).sum(axis=0), measures)

    def rows_of_units(self, prs: Collection[str]) -> Array:
        """The table that intervals and tests are over: pull requests or repositories, for routers blocks of weeks."""
        counts = self.counts(prs)
        if is_routing(self.run):
            return by_unit(counts, self._places(prs))
        return unit_rows(counts, list(prs), self.unit)

    def extra_variance(self, prs: Collection[str], measures: Collection[Measure]) -> dict[str, Variance]:
        """By measure, what its figures on these pull requests vary by beside them: repeated runs, unlabelled units."""
        return summed_variances(self.run_variance(prs, measures), self._label_variance(prs, measures))

    def run_variance(self, prs: Collection[str], measures: Iterable[Measure]) -> dict[str, Variance]:
        """By measure, the variance of its mean over repeated runs. All are silent where it has nothing."""
        names = {name for key in prs for name in self.rows[key].of_runs}
        rows = [self.rows[key] for key in prs]
        return run_variance((row.of_runs or dict.fromkeys(names, row.counts) for row in rows), measures)

    def units(self, prs: Collection[str]) -> Units | None:
        """What intervals and tests are over; None where that is pull requests, whatever their weeks."""
        if is_routing(self.run):
            return units_of(Counter(self._places(prs)))
        return None if self.unit == PULL_REQUEST else Units(REPOSITORIES, len(set(map(repository_key_of, prs))), 0)

    def _places(self, prs: Iterable[str]) -> list[Place]:
        """The week and the repository of each, which its key begins with."""
        return [(self.rows[key].week or 0, key.rpartition("#")[0]) for key in prs]

    def with_silence(self, silence: Mapping[str, Row]) -> Competitor:
        """The same on all these pull requests, without a word where it has nothing."""
        return replace(self, rows=dict(sorted({**silence, **self.rows}.items())))

    def summed(self, prs: Iterable[str]) -> Counts | None:
        """What was counted on these pull requests, by the judge; None where nothing was compared with references."""
        if not is_comments(self.run):
            return None
        rows = [self.rows[key].judged or self.rows[key].counts for key in prs]
        sums = total(np.array(rows).reshape(len(rows), len(fields(Counts))))
        return Counts.from_sums(sums, location=self.run.result.config.location)

    def spent(self, prs: Iterable[str]) -> list[Spent]:
        """What its review of each of these pull requests took."""
        return [self.rows[key].spent for key in prs]

    def matched(self, prs: Iterable[str]) -> list[float]:
        """Its comments on each of these pull requests that match a reference, by the judge."""
        return [(self.rows[key].judged or self.rows[key].counts)[_MATCHED] for key in prs]

    def costs(self, prs: Collection[str]) -> Costs | None:
        """What its reviews of these pull requests took; None where that is not known, and for a router."""
        return costs_of(self.spent(prs), self.matched(prs)) if is_comments(self.run) else None


def is_routing(run: AnyRun) -> TypeGuard[RoutingRun]:
    return run.kind is ROUTING


def word(run: AnyRun) -> str:
    """What those are called whom a run is about."""
    return "router" if is_routing(run) else "reviewer"


def _columns(run: AnyRun) -> int:
    """Of its tables of counts."""
    if is_routing(run):
        return 1 + len(run.result.measures)
    return len(fields(Counts)) if is_comments(run) else COLUMNS


def spelled_alike(everybody: Sequence[Competitor]) -> list[Competitor]:
    """The same, each pull request under one key, though one run's references leave out the host that another's name."""
    full = full_addresses(key for one in everybody for key in one.rows)
    if not full:
        return list(everybody)
    renamed = ({full.get(key, key): row for key, row in one.rows.items()} for one in everybody)
    return [replace(one, rows=dict(sorted(rows.items()))) for one, rows in zip(everybody, renamed, strict=True)]


def corrected_alike(everybody: Sequence[Competitor]) -> tuple[list[Competitor], bool]:
    """Everybody with the counts that labels correct, where all have them; and whether that is so."""
    if not everybody or not all(one.has_corrected for one in everybody):
        return list(everybody), False
    return [
        replace(
            one,
            rows={
                key: replace(row, counts=row.corrected or row.counts, judged=row.counts)
                for key, row in one.rows.items()
            },
        )
        for one in everybody
    ], True


def silence(everybody: Iterable[Competitor]) -> tuple[set[str], dict[str, Row]]:
    """The pull requests that somebody has, and what saying nothing counts on each that their runs know.

    That includes pull requests with references on which nobody has a file.
    """
    known: set[str] = set()
    rows: dict[str, Row] = {}
    seen = set()
    for one in everybody:
        known |= one.rows.keys()
        for key, row in one.rows.items():
            # A router that says nothing still counts as asked, and a reviewer's references still count.
            kept = {0} if not is_comments(one.run) else {_EXPECTED, _NEGATIVES}
            silent = tuple(value if at in kept else 0.0 for at, value in enumerate(row.counts))
            corrected, judged = (silent if each is not None else None for each in (row.corrected, row.judged))
            rows.setdefault(
                key, replace(row, counts=silent, corrected=corrected, judged=judged, spent=Spent(), of_runs={})
            )
        if is_comments(one.run) and (id(one.run), len(known)) not in seen:  # else nothing new is known
            seen.add((id(one.run), len(known)))
            unreviewed = one.run.result.unreviewed
            full = full_addresses((*known, *unreviewed))
            for key, expected in unreviewed.items():
                counts = tuple(table([Counts(expected=expected)])[0].tolist())
                rows.setdefault(full.get(key, key), Row(counts, benchmark="", negatives=None, record=None))
    return known, rows


def open_run(source: Source) -> AnyRun:
    return source if isinstance(source, Run) else load_run(source)


def main_measure(run: AnyRun) -> str:
    """The measure that says most in one figure."""
    return "mrr" if is_routing(run) else "f1" if is_comments(run) else "lines_changed"


def folder_of(run: AnyRun) -> str | None:
    return None if run.folder is None else str(run.folder)


def labels(competitors: Sequence[Competitor], parts: Iterable[Sequence[str]]) -> list[str]:
    """For each one the first of `name`, `name (run)` and `name (part)`, by its parts, that nobody else has."""
    choices = []
    for one, of_one in zip(competitors, parts, strict=True):
        run_name = one.run.folder.resolve().name if one.run.folder else one.run.label
        choices.append((one.name, *(f"{one.name} ({part})" for part in (run_name, *of_one))))
    held = [Counter(column) for column in zip(*choices, strict=True)]
    return [next(label for label, times in zip(of_one, held, strict=True) if times[label] == 1) for of_one in choices]


def read(run: AnyRun, names: Collection[str] | None = None, *, records: bool = False) -> list[Competitor]:
    """These competitors of a run, or all that have figures, in the run's order; with their records only where asked.

    UsageError for a router that is asked for and has none, because the history lacks what it needs.
    """
    lacking = {name: one.not_applicable for name, one in run.result.routers.items()} if is_routing(run) else {}
    for name in names or ():
        if lacking.get(name):
            raise UsageError(f"{name} has no figures in {run.label}: {lacking[name]}. Choose another router.")
    rows: dict[str, dict[str, Row]] = {
        name: {} for name in run.metrics if not lacking.get(name) and (names is None or name in names)
    }
    measures: Sequence[Measure] = run.result.measures
    labelled, found = 0, _routing_rows(run) if is_routing(run) else None
    hidden: Sequence[HiddenUnits] = ()
    if is_comments(run):
        correction = correction_of(run)
        hidden = correction.hidden if correction and correction.complete else ()
        labelled, found = correction.labelled.done if correction else 0, _comment_rows(run, correction)
    elif is_outcomes(run):
        of_outcomes = outcome_correction_of(run)
        if of_outcomes and of_outcomes.complete:
            measures = MEASURES  # people said what was addressed, also where no judge was asked
            hidden = hidden_outcomes(of_outcomes.labelled)
        labelled, found = of_outcomes.labelled.done if of_outcomes else 0, _outcome_rows(run, of_outcomes)
    for name, key, row in found or ():
        if name in rows:
            rows[name][key] = row if records else replace(row, record=None)
    return [
        Competitor(name, run, measures, dict(sorted(of_one.items())), labelled, hidden=hidden)
        for name, of_one in rows.items()
    ]


def _comment_rows(run: CommentsRun, correction: Correction | None) -> Iterator[tuple[str, str, Row]]:
    """(reviewer, key of the pull request, row) of each record that was scored."""
    for record in run.read_records():
        if not record.skipped:
            counts = tuple(table([record.counts])[0].tolist())
            references = _digest([(each.position, each.comment) for each in record.references])
            negatives = _digest(record.negatives) if run.result.config.negatives else None
            corrected = correction.row(record.key, counts) if correction and correction.complete else None
            row = Row(
                counts,
                references,
                negatives,
                record,
                corrected=corrected,
                pr=record.pr,
                spent=record.spent,
                of_runs=rows_of_runs(record),
            )
            yield record.reviewer, pull_request_key(record.pr), row


def _outcome_rows(run: OutcomesRun, correction: OutcomeCorrection | None) -> Iterator[tuple[str, str, Row]]:
    """(reviewer, key of the pull request, row) of each record, also where the reviewer said nothing."""
    estimates = corrected_rows(correction.labelled) if correction and correction.complete else None
    for record in run.read_records():
        counted = counts_of(record.comments)
        corrected = None if estimates is None else with_estimates(counted, estimates.get(record.key))
        # What comments and changes say is long, and nothing here reads it.
        light = [replace(each, code=None, later_change=None, replies=()) for each in record.comments]
        weeks = [week_of(made) for each in record.comments if (made := instant(each.comment.at)) is not None]
        week = min(weeks, default=None)
        row = Row(tuple(counted.tolist()), "", None, replace(record, comments=light), week, corrected, pr=record.pr)
        yield record.reviewer, pull_request_key(record.pr), row


def _routing_rows(run: RoutingRun) -> Iterator[tuple[str, str, Row]]:
    """(router, key of the pull request, row) of each answer in each record."""

    of_rank = [measure for measure in run.result.measures if isinstance(measure, RankMeasure)]
    of_lists = [measure for measure in run.result.measures if isinstance(measure, ListMeasure)]

    @cache
    def counts(rank: int) -> tuple[float, ...]:
        return (1.0, *(measure.of_rank(rank) for measure in of_rank))

    for record in run.read_records():
        truth = _digest((record.cutoff, record.truth))
        for name, answer in record.answers.items():
            whole = tuple([answer.figures.get(measure.figure) or 0.0 for measure in of_lists])
            yield name, record.name, Row(counts(answer.rank) + whole, truth, None, record, week_of(record.cutoff))


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()


def with_beta(run: AnyRun, beta: float | None) -> dict[str, Measure]:
    """The measures of a run by name, and `f_beta` beside f1 where a beta is given."""
    by_name: dict[str, Measure] = {measure.name: measure for measure in run.result.measures}
    if beta is None:
        return by_name
    if not 0 < beta < float("inf"):
        raise UsageError(f"--beta must be a positive number, found {beta:g}.")
    if not is_comments(run):
        whose = "routers have" if is_routing(run) else "outcomes have"
        raise UsageError(f"--beta is for runs of comments: {whose} no precision and recall.")
    return by_name | {"f_beta": one_to_one(f_beta(beta), run.result.config.alignment)}


def some_benchmarks_differ(everybody: Iterable[Competitor]) -> bool:
    """Whether `different_benchmarks` finds a pull request of any two of them."""
    seen, negatives = dict[str, str](), dict[str, str]()
    return any(
        seen.setdefault(key, row.benchmark) != row.benchmark
        or (row.negatives is not None and negatives.setdefault(key, row.negatives) != row.negatives)
        for one in everybody
        for key, row in one.rows.items()
    )


def different_benchmarks(a: Competitor, b: Competitor) -> list[str]:
    """The keys of pull requests that both have, but not with the same references, negatives or truth.

    A run without negatives has no false positive rate, and no other figure depends on them."""
    both = ((key, row, b.rows[key]) for key, row in a.rows.items() if key in b.rows)
    return [
        key
        for key, ours, theirs in both
        if ours.benchmark != theirs.benchmark or len({ours.negatives, theirs.negatives} - {None}) > 1
    ]
