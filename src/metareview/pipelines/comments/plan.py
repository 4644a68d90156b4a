"""Plan: which pairs will be judged, on which pull requests, by what rules. Nothing is asked yet."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import NamedTuple

from metareview.comments.case import Case, Rules
from metareview.comments.filters import FilterConfig
from metareview.comments.summary import CommentsConfig, LearnedFrom
from metareview.engines.choice import LOCAL
from metareview.errors import UsageError
from metareview.judges.known import KnownVerdicts
from metareview.judges.labelled import LabelledJudge
from metareview.judges.protocol import Judge, ModelJudge, Planned, Remarking
from metareview.model.comment import ReferenceSet, Review
from metareview.pipelines.collector import garbage_collection_paused
from metareview.pipelines.comments.examples import read_examples
from metareview.pipelines.comments.judge import ChosenJudge, open_chosen
from metareview.pipelines.comments.options import CommentsOptions
from metareview.pipelines.comments.read import CommentInputs, read
from metareview.pipelines.comments.tasks import Task, eligible_questions


@dataclass(frozen=True)
class Plan:
    """What will be judged, by whom, and everything that must be said about how it was found."""

    tasks: Sequence[Task]
    rules: Rules
    judge: Judge
    config: CommentsConfig
    inputs: CommentInputs
    unreviewed: Mapping[str, int]
    """Pull requests with references that no reviewer has a file for, and how many references each has."""
    may_be_sent: bool = False
    """Whether other processes can do the judge's work: it is one of ours, and asks no model."""
    workers: int | None = None
    """How many processes the user wants."""
    engine: str = LOCAL
    spark_master: str | None = None
    examples: KnownVerdicts | None = None
    learned: LearnedFrom | None = None
    """The known verdicts on the references, and how many of them the judge learned from."""

    def cases(self) -> Iterator[Case]:
        """One after the other; nobody need hold them all."""
        return (task.case(self.rules) for task in self.tasks)

    @property
    def reviewers(self) -> list[str]:
        return list(dict.fromkeys(task.reviewer for task in self.tasks))

    @property
    def pull_requests(self) -> int:
        return len({task.pr for task in self.tasks if not task.is_dropped_by(self.rules.filters)})

    @cached_property
    def pairs(self) -> PlannedPairs:
        """Those that can count."""
        counts = [
            (int(case.eligible(case.candidates).sum()), int(case.eligible(case.negative_candidates).sum()))
            for case in self.cases()
        ]
        return PlannedPairs(sum(pairs for pairs, _ in counts), sum(pairs for _, pairs in counts))

    def planned(self) -> Planned | None:
        """What a model would be asked, after the cache; with negatives, at the most. None where none is asked."""
        if not isinstance(self.judge, ModelJudge):
            return None
        cases = list(self.cases())
        return self.judge.planned([*(case.question() for case in cases), *(case.negative_question() for case in cases)])

    @property
    def labelled_pairs(self) -> int | None:
        """How many pairs labels decide; None where there are none."""
        if not isinstance(self.judge, LabelledJudge):
            return None
        return sum(self.judge.labelled_pairs(eligible_questions([case])) for case in self.cases())

    def remarks(self, *, ask: bool = True) -> Sequence[str]:
        """What the judge has to say about its answers as a whole: of all pairs, whichever were answered when the run
        was last taken up. Without `ask`, nothing for which it would have to be asked."""
        return (
            self.judge.remarks(eligible_questions(self.cases()), ask=ask) if isinstance(self.judge, Remarking) else ()
        )


class PlannedPairs(NamedTuple):
    """How many pairs there are to judge."""

    with_references: int
    with_negatives: int
    """At the most: comments that match a reference are not compared with negatives."""


@contextmanager
def open_plan(options: CommentsOptions) -> Iterator[Plan]:
    """The plan, with its judge open; a judge that the caller made stays open."""
    if not options.examples:
        with open_chosen(options) as chosen:
            options = options.with_datasets()
            yield _make_plan(options, _read(options), chosen)
        return
    # What a judge learns is what is known of the references, which are read first for that.
    options = options.with_datasets()
    inputs = _read(options)
    examples = read_examples(options.example_files, inputs.references)
    with open_chosen(options, examples) as chosen:
        plan = _make_plan(options, inputs, chosen)
        learned, warnings = examples.learned(case.question() for case in plan.cases() if not case.skipped)
        told = replace(plan.inputs, warnings=(*plan.inputs.warnings, *warnings))
        yield replace(plan, inputs=told, examples=examples.known, learned=learned)


def _read(options: CommentsOptions) -> CommentInputs:
    with garbage_collection_paused():
        return read(options)


def _make_plan(options: CommentsOptions, inputs: CommentInputs, chosen: ChosenJudge) -> Plan:
    judge = chosen.judge
    inputs = replace(inputs, hashes={**inputs.hashes, **chosen.hashes}, warnings=(*inputs.warnings, *chosen.warnings))
    references, filters = inputs.references, options.filters or FilterConfig()
    filters.check(references)
    location = references.has_locations and not options.ignore_location
    if judge.name == "none" and not location:
        why = "--ignore-location leaves it nothing" if options.ignore_location else "no reference has a path"
        raise UsageError(f"The judge none goes by location alone, and {why}. Choose another --judge.")
    rules = Rules(
        line_distance=options.line_distance,
        reach=chosen.reach,
        alignment=options.mode,
        location=location,
        meaning=judge.name != "none",
        filters=filters,
        negatives=bool(options.negatives),
    )
    tasks = []
    said = Counter[tuple[str, str]]()
    for (key, reviewer, _), review in inputs.reviews.items():
        # Positions count on over the runs of a reviewer, so that no two of its comments on a pull request share one.
        sides = references.references[key], references.negatives.get(key)
        tasks.append(Task(reviewer, review, *sides, first=said[key, reviewer]))
        said[key, reviewer] += len(review.comments)
    tasks, unreviewed = _sample(tasks, _unreviewed(tasks, references, filters), options, filters)
    if tasks and all(task.is_dropped_by(filters) for task in tasks):
        raise UsageError("The filters leave no pull request. Loosen --language or --pr-category.")
    typed = {each.name: getattr(options, each.name) for each in fields(CommentsConfig) if hasattr(options, each.name)}
    typed |= {"judge": judge.name, "judge_parameters": judge.parameters, "threshold": judge.threshold}
    typed |= {"location": location, "filters": filters, "negatives": rules.negatives}
    return Plan(
        tasks,
        rules,
        judge,
        CommentsConfig(**typed),
        inputs,
        unreviewed,
        may_be_sent=chosen.may_be_sent,
        workers=options.workers,
        engine=options.engine,
        spark_master=options.spark_master,
    )


def _unreviewed(tasks: Sequence[Task], references: ReferenceSet, filters: FilterConfig) -> dict[str, int]:
    """Pull requests with references that no reviewer has a file for, and how many references each has."""
    reviewed = {task.reference.key for task in tasks}
    absent = {
        key: _counted(review, filters)
        for key, review in references.references.items()
        if key not in reviewed and filters.keeps_pull_request(review.language, review.pr_category)
    }
    return {key: expected for key, expected in absent.items() if expected}


def _counted(review: Review, filters: FilterConfig) -> int:
    return sum(comment.counted and filters.keeps_comment(comment) for comment in review.comments)


def _sample(
    tasks: list[Task], unreviewed: Mapping[str, int], options: CommentsOptions, filters: FilterConfig
) -> tuple[list[Task], Mapping[str, int]]:
    """Of the pull requests that pass the filters, those whose hash with the seed is smallest: the same ones whatever
    the order, and a smaller sample is part of a larger one. With them the unreviewed ones in the same range: they are
    no part of the sample, but no less absent for that.
    """
    keys = {task.reference.key for task in tasks if not task.is_dropped_by(filters)}
    if options.limit is None or options.limit >= len(keys):
        return tasks, unreviewed

    def rank(key: str) -> bytes:
        return hashlib.sha256(f"{options.seed}\0{key}".encode()).digest()

    last = sorted(map(rank, keys))[options.limit - 1]
    kept = [task for task in tasks if task.is_dropped_by(filters) or rank(task.reference.key) <= last]
    return kept, {key: expected for key, expected in unreviewed.items() if rank(key) <= last}
