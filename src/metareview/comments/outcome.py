"""The record of a judged case: its counts, its rates, and the pairing behind them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import attrgetter
from typing import overload

import numpy as np

from metareview.comments.align import Alignment
from metareview.comments.case import Case
from metareview.comments.decide import JudgedCase, Outcome, decide, edges_of
from metareview.comments.location import Candidates
from metareview.comments.measures import Counts, Rates, measured, rates_of_each, table
from metareview.comments.records import (
    DIMENSIONS,
    CommentRecord,
    Comparison,
    Negative,
    ScoredComment,
    ScoredReference,
    Tally,
    Verdict,
)
from metareview.comments.repeats import with_repeats
from metareview.judges.protocol import SAME, UNDECIDED, Answer
from metareview.model.comment import Comment


def skip_record(case: Case) -> CommentRecord:
    """The record of a pull request that a filter drops."""
    return CommentRecord(
        case.pr,
        case.reviewer,
        case.language,
        case.pr_category,
        references_before_filters=len(case.reference.comments),
        references_after_filters=0,
        skip_reason=f"filtered out: language {case.language}, pull request category {case.pr_category}",
        run=case.run,
    )


def make_record(judged: JudgedCase) -> CommentRecord:
    """The counts of a judged case, its rates, and the pairing behind them."""
    return make_records([judged])[0]


def make_records(several: Sequence[JudgedCase]) -> list[CommentRecord]:
    """The same of some cases of one run: what is worked out for all at once takes about as long as for one."""
    if not several:
        return []
    rules = several[0].case.rules
    outcomes = list(map(decide, several))
    counts = [
        replace(outcome.counts, undecided=number) if (number := judged.undecided()) else outcome.counts
        for judged, outcome in zip(several, outcomes, strict=True)
    ]
    if not rules.location:
        counts = [each.without_lines() for each in counts]
    figures = rates_of_each(table(counts), measured(location=rules.location, negatives=rules.negatives))
    scored = [tuple(_scored_comments(*each)) for each in zip(several, outcomes, strict=True)]
    marked = with_repeats(scored, line_distance=rules.line_distance, location=rules.location)
    columns = zip(several, outcomes, counts, figures, marked, strict=True)
    return [_record(*row) for row in columns]


def _record(
    judged: JudgedCase, outcome: Outcome, counts: Counts, rates: Rates, marked: tuple[Sequence[ScoredComment], int]
) -> CommentRecord:
    case, rules = judged.case, judged.case.rules
    comments, repeated = marked
    references = tuple(_scored_references(case, outcome))
    ours, theirs = case.generated.positions, case.reference.positions
    return CommentRecord(
        case.pr,
        case.reviewer,
        case.language,
        case.pr_category,
        references_before_filters=len(references),
        references_after_filters=int(outcome.counts.expected),
        counts=counts,
        rates=rates,
        left_out=len(outcome.left_out),
        judged_pairs=case.eligible_pairs(),
        slices=_slices(references),
        comments=comments,
        matches=tuple((ours[comment], theirs[reference]) for comment, reference in outcome.full.pairs),
        comparisons=Comparisons(judged) if rules.meaning else (),
        references=references,
        negatives=tuple(map(Negative, case.negative.positions, case.negative.comments)),
        bounds=_bounds(judged, outcome.counts) if counts.undecided else None,
        run=case.run,
        repeated=repeated,
        spent=case.spent,
    )


def _bounds(judged: JudgedCase, without: Counts) -> tuple[Counts, Counts] | None:
    """The fewest and the most matches over all ways to decide the undecided pairs; None where that is not worked out.

    More edges never make a smaller matching, so none and all of them are the ends; but in input order, or where a
    filter or a neutral reference leaves comments out by what they match, a further edge may also cost a match. A
    comment that matches a reference repeats no negative: the negatives' ends come from the opposite decisions about
    references.
    """
    case, rules = judged.case, judged.case.rules
    if rules.alignment == "greedy" or (rules.alignment == "optimal" and rules.filters.drops_comments):
        return None
    if case.neutral_references().any():
        return None
    with_all = decide(judged, undecided_match=True).counts
    most_negatives = decide(judged, undecided_negatives_match=True).counts.negatives_matched
    least = replace(without, negatives_matched=with_all.negatives_matched)
    return least, replace(with_all, negatives_matched=most_negatives)


def _scored_references(case: Case, outcome: Outcome) -> Iterator[ScoredReference]:
    covered, line_covered = outcome.full.covered, outcome.line.covered
    notes = zip(case.reference.positions, case.reference.comments, case.kept_references(), strict=True)
    for index, (position, comment, kept) in enumerate(notes):
        by_line = index in line_covered if case.rules.location else None
        yield ScoredReference(position, comment, kept, index in covered, by_line)


def _slices(references: Sequence[ScoredReference]) -> Mapping[str, Mapping[str, Tally]]:
    alike: dict[_Kind, int] = {}
    for each in references:
        if each.kept:
            kind = (_DIMENSION_VALUES(each.comment), each.covered, each.line_covered)
            alike[kind] = alike.get(kind, 0) + 1
    return _tallied(tuple(alike.items()))


_Kind = tuple[tuple[str | None, ...], bool, bool | None]
"""The values of a reference's dimensions, whether it was raised, and whether some comment points at it."""


@lru_cache(maxsize=65_536)
def _tallied(alike: tuple[tuple[_Kind, int], ...]) -> Mapping[str, Mapping[str, Tally]]:
    """Remembered: of a hundred thousand pull requests most have references like those of others."""
    numbers: list[dict[str, list[int]]] = [{} for _ in DIMENSIONS]
    for (values, covered, line_covered), count in alike:
        for tallies, value in zip(numbers, values, strict=True):
            tally = tallies.setdefault(value or "unknown", [0, 0, 0])
            tally[0] += count
            tally[1] += count if covered else 0
            tally[2] += count if line_covered else 0
    return {
        name: {value: Tally(*tally) for value, tally in tallies.items()}
        for name, tallies in zip(DIMENSIONS, numbers, strict=True)
    }


_DIMENSION_VALUES: Callable[[Comment], tuple[str | None, ...]] = attrgetter(*DIMENSIONS.values())


def _scored_comments(judged: JudgedCase, outcome: Outcome) -> Iterator[ScoredComment]:
    """One per comment: what it was paired with, and the verdict on that pair."""
    case = judged.case
    line, full, rejected = map(_first_partner, (outcome.line, outcome.full, outcome.negative))
    verdicts = _verdicts(case.negative_candidates, judged.negative_answer, rejected) if rejected else {}
    if full:
        verdicts |= _verdicts(case.candidates, judged.answer, full)
    ours, theirs, negatives = case.generated.positions, case.reference.positions, case.negative.positions
    again = _said_again(judged, outcome) if case.rules.meaning else {}
    location, meaning, left_out = case.rules.location, case.rules.meaning, outcome.left_out
    unpaired = False if location else None, False if meaning else None
    paired = {*line, *full, *rejected, *again, *left_out}
    for index, comment in enumerate(case.generated.comments):
        if index not in paired:
            yield ScoredComment(ours[index], comment, *unpaired, False)
            continue
        by_line, reference, negative = line.get(index), full.get(index), rejected.get(index)
        yield ScoredComment(
            ours[index],
            comment,
            # The two alignments are made apart: by location alone, another comment may hold the only free reference.
            line_match=not (by_line is None and reference is None) if location else None,
            semantic_match=reference is not None if meaning else None,
            left_out=index in left_out,
            reference=None if reference is None else theirs[reference],
            line_reference=None if by_line is None else theirs[by_line],
            negative=None if negative is None else negatives[negative],
            verdict=verdicts.get(index),
            repeats=None if (first := again.get(index)) is None else ours[first],
        )


def _said_again(judged: JudgedCase, outcome: Outcome) -> dict[int, int]:
    """Unmatched comments that raise, by the judge, a reference for which another comment is counted: and that one."""
    case = judged.case
    if not outcome.full.pairs:
        return {}
    holder = {reference: comment for comment, reference in outcome.full.pairs}
    edges = edges_of(case, case.candidates, judged.answer, undecided_match=False)
    matched = case.are_among(np.array(sorted(outcome.full.matched | outcome.left_out), np.int64))
    free = edges.only(~matched[edges.generated])
    again: dict[int, int] = {}
    for comment, reference in zip(free.generated.tolist(), free.reference.tolist(), strict=True):
        if reference in holder:
            again.setdefault(comment, holder[reference])
    return again


def _verdicts(candidates: Candidates, answer: Answer, partners: Mapping[int, int]) -> dict[int, Verdict]:
    """For each comment the verdict on it and its partner."""
    edges = candidates.edges(partners.keys(), partners.values())
    return {comment: verdict_at(answer, edge) for comment, edge in zip(partners, edges, strict=True)}


def _first_partner(alignment: Alignment) -> dict[int, int]:
    partners: dict[int, int] = {}
    for comment, other in alignment.pairs:
        partners.setdefault(comment, other)
    return partners


@dataclass(frozen=True, eq=False)
class Comparisons(Sequence[Comparison]):
    """The verdicts on the pairs that may match by location, put together only when somebody reads them."""

    judged: JudgedCase

    def __len__(self) -> int:
        return int(np.count_nonzero(self.judged.case.eligible(self.judged.case.candidates)))

    @overload
    def __getitem__(self, index: int) -> Comparison: ...
    @overload
    def __getitem__(self, index: slice) -> list[Comparison]: ...
    def __getitem__(self, index: int | slice) -> Comparison | list[Comparison]:
        return list(self)[index]

    def __iter__(self) -> Iterator[Comparison]:
        case, candidates = self.judged.case, self.judged.case.candidates
        ours, theirs = case.generated.positions, case.reference.positions
        for edge in np.flatnonzero(case.eligible(candidates)).tolist():
            pair = ours[candidates.generated[edge]], theirs[candidates.reference[edge]]
            yield Comparison(*pair, verdict_at(self.judged.answer, edge))


def verdict_at(answer: Answer, edge: int) -> Verdict:
    """The verdict on one of the pairs that were asked about."""
    score = float(answer.score[edge])
    match = int(answer.match[edge])
    return Verdict(
        score=None if score != score else score,  # NaN
        match=None if match == UNDECIDED else match == SAME,
        by=answer.by if isinstance(answer.by, str) else answer.by[edge],
        reason=answer.reason if isinstance(answer.reason, str) else answer.reason[edge],
    )
