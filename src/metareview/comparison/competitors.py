"""Who is compared: a reviewer or a router of a run, as a table of counts with one row per pull request.

The two kinds of run differ in what a record holds and in which settings decide what a figure means. Everything else
about comparing is the same code for both.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from metareview.comments.measures import f_beta, table
from metareview.errors import UsageError
from metareview.model.address import pull_request_key
from metareview.model.measure import Measure
from metareview.runs.run import AnyRun, CommentsRun, RoutingRun, Run, is_comments, load_run
from metareview.stats import Array

Source = AnyRun | str | Path
"""A run, or the folder that holds one."""

RecordT = TypeVar("RecordT")

# Settings that say which pull requests are scored or how inputs are read, not what a figure means. Any other that
# differs makes two runs incomparable.
_CHOICES = frozenset(
    [
        *("format", "seed", "limit"),
        *("name", "reference_format", "all_prs"),
        *("filters", "ignore_location", "negatives"),  # compared as what they lead to
        *("routers", "predictions", "codeowners", "since", "until", "repos", "prs", "merged_within", "ttfc"),
    ]
)


@dataclass(frozen=True, slots=True)
class Row(Generic[RecordT]):
    """One competitor on one pull request."""

    pr: str
    """The pull request as the run writes it."""
    counts: tuple[float, ...]
    benchmark: str
    """A hash of the references or the truth; where two differ, so do the benchmarks."""
    negatives: str | None
    """A hash of the rejected comments; None for a run without."""
    undecided: int
    record: RecordT | None
    """The run's record, where it was asked for."""


@dataclass(frozen=True)
class Competitor(Generic[RecordT]):
    """A reviewer or router of a run, with a row for each pull request that was scored, in order of their keys."""

    name: str
    run: AnyRun
    rows: Mapping[str, Row[RecordT]]

    @property
    def measures(self) -> Sequence[Measure]:
        """Those that mean something in its run."""
        measures: Sequence[Measure] = self.run.result.measures
        return measures

    def counts(self, prs: Iterable[str] | None = None) -> Array:
        """The table of these pull requests, or of all."""
        rows = [self.rows[key].counts for key in (self.rows if prs is None else prs)]
        columns = table([]).shape[1] if is_comments(self.run) else 1 + len(self.measures)
        return np.array(rows, np.float64).reshape(len(rows), columns)

    def records(self, prs: Iterable[str]) -> list[RecordT]:
        """The records of these pull requests, where they were asked for."""
        return [record for key in prs if (record := self.rows[key].record) is not None]

    def undecided(self, prs: Iterable[str] | None = None) -> int:
        return sum(self.rows[key].undecided for key in (self.rows if prs is None else prs))


def open_run(source: Source) -> AnyRun:
    return source if isinstance(source, Run) else load_run(source)


def word_of(run: AnyRun) -> str:
    """What the competitors of a run are called."""
    return "reviewer" if is_comments(run) else "router"


def main_measure(run: AnyRun) -> str:
    """The measure that says most in one figure."""
    return "f1" if is_comments(run) else "mrr"


def folder_of(run: AnyRun) -> str | None:
    return None if run.folder is None else str(run.folder)


def run_name(run: AnyRun) -> str:
    """The last part of its folder's path, to tell runs apart by."""
    return run.label if run.folder is None else run.folder.resolve().name


def read_competitors(
    run: AnyRun, names: Collection[str] | None = None, *, records: bool = False
) -> list[Competitor[Any]]:
    """These competitors of a run, or all, in the run's order; with their records only where asked."""
    wanted = [name for name in run.metrics if names is None or name in names]
    rows: dict[str, dict[str, Row[Any]]] = {name: {} for name in wanted}
    for name, key, row in _comment_rows(run) if is_comments(run) else _routing_rows(run):
        if name in rows:
            rows[name][key] = row if records else replace(row, record=None)
    return [Competitor(name, run, dict(sorted(rows[name].items()))) for name in wanted]


def _comment_rows(run: CommentsRun) -> Iterator[tuple[str, str, Row[Any]]]:
    """(reviewer, key of the pull request, row) of each record that was scored."""
    for record in run.read_records():
        if not record.skipped:
            counts = tuple(table([record.counts])[0].tolist())
            references = _digest([(each.position, each.comment) for each in record.references])
            negatives = _digest(record.negatives) if run.result.config.negatives else None
            row = Row(record.pr, counts, references, negatives, record.counts.undecided, record)
            yield record.reviewer, pull_request_key(record.pr), row


def _routing_rows(run: RoutingRun) -> Iterator[tuple[str, str, Row[Any]]]:
    """(router, key of the pull request, row) of each answer in each record."""

    @cache
    def counts(rank: int) -> tuple[float, ...]:
        return (1.0, *(measure.of_rank(rank) for measure in run.result.measures))

    for record in run.read_records():
        truth = _digest((record.cutoff, record.truth))
        for name, answer in record.answers.items():
            yield name, record.name, Row(record.name, counts(answer.rank), truth, None, 0, record)


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()


def with_beta(measures: Sequence[Measure], beta: float | None) -> dict[str, Measure]:
    """The measures by name, and `f_beta` beside f1 where a beta is given."""
    by_name = {measure.name: measure for measure in measures}
    if beta is None:
        return by_name
    if not 0 < beta < float("inf"):
        raise UsageError(f"--beta must be a positive number, found {beta:g}.")
    if "f1" not in by_name:
        raise UsageError("--beta is for runs of comments: routers have no precision and recall.")
    return by_name | {"f_beta": f_beta(beta)}


def check_settings(competitors: Sequence[Competitor[Any]]) -> None:
    """UsageError where two figures would not mean the same: another kind of run, judge, distance, cutoff."""
    first = competitors[0].run
    for other in (competitor.run for competitor in competitors[1:]):
        if other.kind is not first.kind:
            raise UsageError(
                f"{first.label} is a run of {first.kind.name} and {other.label} one of {other.kind.name}."
                " Compare runs of one kind."
            )
        ours, theirs = _settings(first), _settings(other)
        differing = [
            f"{name.replace('_', ' ')} {_shown(ours[name])} and {_shown(theirs[name])}"
            for name in sorted(ours)
            if ours[name] != theirs[name]
        ]
        if differing:
            raise UsageError(
                f"{first.label} and {other.label} cannot be compared, their settings differ: "
                f"{'; '.join(differing)}. Evaluate both with the same options."
            )


def _settings(run: AnyRun) -> dict[str, object]:
    """What must be equal, as JSON holds it, so that a run in memory equals the same one in a folder."""
    config = run.result.config
    settings = {field.name: getattr(config, field.name) for field in fields(config) if field.name not in _CHOICES}
    if is_comments(run):
        # Filters of pull requests show in which pull requests there are; those of comments do not.
        filters = run.result.config.filters
        settings |= {
            "judge_parameters": dict(run.result.config.judge_parameters),
            "comment_categories": filters.comment_categories,
            "comment_contexts": filters.comment_contexts,
        }
    return {name: json.loads(json.dumps(value)) for name, value in settings.items()}


def _shown(value: object) -> str:
    return "none" if value in (None, []) else json.dumps(value, ensure_ascii=False)


def different_benchmarks(a: Competitor[Any], b: Competitor[Any]) -> list[str]:
    """The keys of pull requests that both have, but not with the same references, negatives or truth.

    A run without negatives has no false positive rate, and no other figure depends on them.
    """
    both = ((key, row, b.rows[key]) for key, row in a.rows.items() if key in b.rows)
    return [
        key
        for key, ours, theirs in both
        if ours.benchmark != theirs.benchmark
        or (None not in (ours.negatives, theirs.negatives) and ours.negatives != theirs.negatives)
    ]
