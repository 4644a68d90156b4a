"""Plan: which pairs will be judged, on which pull requests, by what rules. Nothing is asked yet."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace

from metareview.comments.case import Case, Rules
from metareview.comments.filters import FilterConfig
from metareview.comments.summary import CommentsConfig, LearnedFrom
from metareview.errors import UsageError
from metareview.judges.known import KnownVerdicts
from metareview.judges.labelled import LabelledJudge
from metareview.judges.protocol import Judge, ModelJudge, Planned, Question, Remarking
from metareview.model.comment import ReferenceSet
from metareview.pipelines.comments.examples import read_examples
from metareview.pipelines.comments.judge import ChosenJudge, open_chosen
from metareview.pipelines.comments.options import CommentsOptions
from metareview.pipelines.comments.read import CommentInputs, read


@dataclass(frozen=True)
class Plan:
    """What will be judged, by whom, and everything that must be said about how it was found."""

    cases: Sequence[Case]
    judge: Judge
    config: CommentsConfig
    inputs: CommentInputs
    unreviewed: Mapping[str, int]
    """Pull requests with references that no reviewer has a file for, and how many references each has."""
    examples: KnownVerdicts | None = None
    learned: LearnedFrom | None = None
    """The known verdicts on the references, and how many of them the judge learned from."""

    @property
    def pull_requests(self) -> int:
        return len({case.pr for case in self.cases if not case.skipped})

    @property
    def pairs(self) -> int:
        return sum(int(case.eligible(case.candidates).sum()) for case in self.cases)

    @property
    def negative_pairs(self) -> int:
        """At the most: comments that match a reference are not compared with negatives."""
        return sum(int(case.eligible(case.negative_candidates).sum()) for case in self.cases)

    def planned(self) -> Planned | None:
        """What a model would be asked, after the cache; with negatives, at the most. None where none is asked."""
        if not isinstance(self.judge, ModelJudge):
            return None
        questions = [case.question() for case in self.cases]
        return self.judge.planned([*questions, *(case.negative_question() for case in self.cases)])

    @property
    def labelled_pairs(self) -> int | None:
        """How many pairs labels decide; None where there are none."""
        return self.judge.labelled_pairs(self._questions()) if isinstance(self.judge, LabelledJudge) else None

    def remarks(self, *, ask: bool = True) -> Sequence[str]:
        """What the judge has to say about its answers as a whole: of all pairs, whichever were answered when the run
        was last taken up. Without `ask`, nothing for which it would have to be asked."""
        return self.judge.remarks(self._questions(), ask=ask) if isinstance(self.judge, Remarking) else ()

    def _questions(self) -> list[Question]:
        return [question for case in self.cases if not case.skipped for question in case.eligible_questions()]


@contextmanager
def open_plan(options: CommentsOptions) -> Iterator[Plan]:
    """The plan, with its judge open; a judge that the caller made stays open."""
    if not options.examples:
        with open_chosen(options) as chosen:
            options = options.with_datasets()
            yield _make_plan(options, read(options), chosen)
        return
    # What a judge learns is what is known of the references, which are read first for that.
    options = options.with_datasets()
    inputs = read(options)
    examples = read_examples(options.example_files, inputs.references)
    with open_chosen(options, examples) as chosen:
        plan = _make_plan(options, inputs, chosen)
        learned, warnings = examples.learned([case.question() for case in plan.cases if not case.skipped])
        told = replace(plan.inputs, warnings=(*plan.inputs.warnings, *warnings))
        yield replace(plan, inputs=told, examples=examples.known, learned=learned)


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
    cases = []
    said = Counter[tuple[str, str]]()
    for (key, reviewer, _), review in inputs.reviews.items():
        # Positions count on over the runs of a reviewer, so that no two of its comments on a pull request share one.
        sides = references.references[key], references.negatives.get(key)
        cases.append(Case.of(reviewer, review, *sides, rules, first=said[key, reviewer]))
        said[key, reviewer] += len(review.comments)
    cases, unreviewed = _sample(cases, _unreviewed(cases, references, filters), options)
    if cases and all(case.skipped for case in cases):
        raise UsageError("The filters leave no pull request. Loosen --language or --pr-category.")
    typed = {each.name: getattr(options, each.name) for each in fields(CommentsConfig) if hasattr(options, each.name)}
    typed |= {"judge": judge.name, "judge_parameters": judge.parameters, "threshold": judge.threshold}
    typed |= {"location": location, "filters": filters, "negatives": rules.negatives}
    return Plan(cases, judge, CommentsConfig(**typed), inputs, unreviewed)


def _unreviewed(cases: Sequence[Case], references: ReferenceSet, filters: FilterConfig) -> dict[str, int]:
    """Pull requests with references that no reviewer has a file for, and how many references each has."""
    reviewed = {case.reference_review.key for case in cases}
    absent = {
        key: sum(comment.counted and filters.keeps_comment(comment) for comment in review.comments)
        for key, review in references.references.items()
        if key not in reviewed and filters.keeps_pull_request(review.language, review.pr_category)
    }
    return {key: expected for key, expected in absent.items() if expected}


def _sample(
    cases: list[Case], unreviewed: Mapping[str, int], options: CommentsOptions
) -> tuple[list[Case], Mapping[str, int]]:
    """Of the pull requests that pass the filters, those whose hash with the seed is smallest: the same ones whatever
    the order, and a smaller sample is part of a larger one. With them the unreviewed ones in the same range: they are
    no part of the sample, but no less absent for that.
    """
    keys = {case.reference_review.key for case in cases if not case.skipped}
    if options.limit is None or options.limit >= len(keys):
        return cases, unreviewed

    def rank(key: str) -> bytes:
        return hashlib.sha256(f"{options.seed}\0{key}".encode()).digest()

    last = sorted(map(rank, keys))[options.limit - 1]
    kept = [case for case in cases if case.skipped or rank(case.reference_review.key) <= last]
    return kept, {key: expected for key, expected in unreviewed.items() if rank(key) <= last}
