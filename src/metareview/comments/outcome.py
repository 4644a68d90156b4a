"""A judged case: which pairs are aligned, what is counted, and the record that keeps both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np
from numpy.typing import NDArray

from metareview.comments.align import Alignment, Graph, Mode, align, align_greedy
from metareview.comments.case import Case
from metareview.comments.location import Candidates
from metareview.comments.measures import Counts, measured, rates, table
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
from metareview.judges.protocol import DIFFERENT, SAME, UNDECIDED, Answer
from metareview.model.comment import Comment

Aligner = Callable[[Mode, Graph, Sequence[Comment], Sequence[Comment]], Alignment]
"""`align`, or something that remembers its results."""


@dataclass(frozen=True)
class JudgedCase:
    """A case, the verdicts on its pairs with references, and those on its pairs with negatives."""

    case: Case
    answer: Answer
    negative_answer: Answer

    def undecided(self) -> int:
        """Pairs that could count and have no verdict."""
        case = self.case
        return sum(
            int(((answer.match == UNDECIDED) & case.eligible(candidates)).sum())
            for answer, candidates in ((self.answer, case.candidates), (self.negative_answer, case.negative_candidates))
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """The alignments and counts of a judged case. The line counts are always numbers here."""

    line: Alignment
    full: Alignment
    negative: Alignment
    left_out: frozenset[int]
    """Comments that were right about a reference that a filter drops, or that is neutral."""
    counts: Counts


def decide(
    judged: JudgedCase,
    *,
    undecided_match: bool = False,
    undecided_negatives_match: bool = False,
    aligner: Aligner = align,
) -> Outcome:
    """Align and count; undecided pairs with references, or with negatives, are edges only where that is asked for."""
    case = judged.case
    edges = edges_of(case, case.candidates, judged.answer, undecided_match)
    line = _line_edges(case) if case.rules.meaning else edges
    keep, neutral = np.array(case.kept_references(), bool), case.neutral_references()
    left_out: frozenset[int] = frozenset()
    full = edges
    if not (keep | neutral).all():
        listed_line, listed = (graph.only(~neutral[graph.reference]) for graph in (line, edges))
        left_out = _right_about_dropped(_align_both(case, listed_line, listed, aligner)[1], keep)
    if not keep.all():
        line, full = (_without(graph, left_out, keep) for graph in (line, edges))
    by_line, by_meaning = _align_both(case, line, full, aligner)
    if neutral.any():
        # A comment is held to the references first: only one that matches none of them can be neutral.
        alike = frozenset(edges.generated[neutral[edges.reference]].tolist()) - by_meaning.matched - left_out
        left_out |= alike
        by_line = _align_both(case, _without(line, alike, keep), full, aligner)[0]
    rejected = edges_of(case, case.negative_candidates, judged.negative_answer, undecided_negatives_match)
    rejected = rejected.only(~case.are_among(edges.generated)[rejected.generated])
    by_negative = _align_negatives(case, rejected, aligner)
    generated, matched = len(case.generated.comments) - len(left_out), len(by_meaning.matched)
    counts = Counts(
        expected=int(keep.sum()),
        generated=generated,
        line_matched=len(by_line.matched),
        matched=matched,
        covered=len(by_meaning.covered),
        line_covered=len(by_line.covered),
        unmatched=generated - matched,
        negatives=len(case.negative.comments),
        negatives_matched=len(by_negative.matched),
    )
    return Outcome(by_line, by_meaning, by_negative, left_out, counts)


def _without(graph: Graph, left_out: frozenset[int], keep: NDArray[np.bool_]) -> Graph:
    """The graph of the references that are kept and the comments that are not left out."""
    outside = np.array(sorted(left_out), np.int64)
    return graph.only(keep[graph.reference] & ~np.isin(graph.generated, outside))


def _line_edges(case: Case) -> Graph:
    near = case.candidates.only(case.eligible(case.candidates))
    return Graph(near.generated, near.reference, np.ones(len(near)))


def edges_of(case: Case, candidates: Candidates, answer: Answer, undecided_match: bool) -> Graph:
    matches = answer.match != DIFFERENT if undecided_match else answer.match == SAME
    every_pair = Graph(candidates.generated, candidates.reference, answer.score)
    edges = every_pair.only(matches & case.eligible(candidates))
    return replace(edges, score=np.nan_to_num(edges.score, nan=0.5))


def _align_both(case: Case, line: Graph, full: Graph, aligner: Aligner) -> tuple[Alignment, Alignment]:
    """By location alone, and by location and meaning."""
    rules, ours, theirs = case.rules, case.generated.comments, case.reference.comments
    if rules.alignment == "greedy":
        by_line, by_meaning = align_greedy(line, full if rules.meaning else None)
    else:
        by_meaning = aligner(rules.alignment, full, ours, theirs)
        same_graph = not rules.meaning
        skip = same_graph or not rules.location
        by_line = by_meaning if skip else aligner(rules.alignment, line, ours, theirs)
    return (by_line if rules.location else Alignment(())), by_meaning


def _align_negatives(case: Case, graph: Graph, aligner: Aligner) -> Alignment:
    if case.rules.alignment == "greedy":
        return align_greedy(graph, graph if case.rules.meaning else None)[1]
    return aligner(case.rules.alignment, graph, case.generated.comments, case.negative.comments)


def _right_about_dropped(unfiltered: Alignment, keep: NDArray[np.bool_]) -> frozenset[int]:
    """Comments that match only references that the filter drops; under coverage one may match both kinds."""
    dropped = {comment for comment, reference in unfiltered.pairs if not keep[reference]}
    kept = {comment for comment, reference in unfiltered.pairs if keep[reference]}
    return frozenset(dropped - kept)


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
    case, rules = judged.case, judged.case.rules
    outcome = decide(judged)
    undecided = judged.undecided()

    counts = replace(outcome.counts, undecided=undecided)
    counts = counts if rules.location else counts.without_lines()
    references = list(_scored_references(case, outcome))
    available = measured(location=rules.location, negatives=rules.negatives)
    matches = [
        (case.generated.positions[comment], case.reference.positions[reference])
        for comment, reference in outcome.full.pairs
    ]
    return CommentRecord(
        case.pr,
        case.reviewer,
        case.language,
        case.pr_category,
        references_before_filters=len(references),
        references_after_filters=sum(reference.kept for reference in references),
        counts=counts,
        rates=rates(table([counts])[0], available),
        left_out=len(outcome.left_out),
        judged_pairs=case.eligible_pairs(),
        slices=_slices(references),
        comments=tuple(_scored_comments(judged, outcome)),
        matches=tuple(matches),
        comparisons=Comparisons(judged) if rules.meaning else (),
        references=tuple(references),
        negatives=tuple(map(Negative, case.negative.positions, case.negative.comments)),
        bounds=_bounds(judged, outcome.counts) if undecided else None,
        run=case.run,
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


def _slices(references: Sequence[ScoredReference]) -> dict[str, dict[str, Tally]]:
    slices: dict[str, dict[str, Tally]] = {}
    kept = [reference for reference in references if reference.kept]
    for name, field_name in DIMENSIONS.items():
        tallies = slices[name] = {}
        alike = Counter(
            (getattr(reference.comment, field_name) or "unknown", reference.covered, reference.line_covered)
            for reference in kept
        )
        for (value, covered, line_covered), count in alike.items():
            tally = Tally(count, count if covered else 0, count if line_covered else 0)
            tallies[value] = tallies.get(value, Tally()) + tally
    return slices


def _scored_comments(judged: JudgedCase, outcome: Outcome) -> Iterator[ScoredComment]:
    """One per comment: what it was paired with, and the verdict on that pair."""
    case = judged.case
    line, full, rejected = map(_first_partner, (outcome.line, outcome.full, outcome.negative))
    verdicts = _verdicts(case.negative_candidates, judged.negative_answer, rejected)
    verdicts |= _verdicts(case.candidates, judged.answer, full)
    ours, theirs, negatives = case.generated.positions, case.reference.positions, case.negative.positions
    again = _said_again(judged, outcome) if case.rules.meaning else {}
    for index, comment in enumerate(case.generated.comments):
        by_line, reference, negative = line.get(index), full.get(index), rejected.get(index)
        yield ScoredComment(
            ours[index],
            comment,
            # The two alignments are made apart: by location alone, another comment may hold the only free reference.
            line_match=not (by_line is None and reference is None) if case.rules.location else None,
            semantic_match=reference is not None if case.rules.meaning else None,
            left_out=index in outcome.left_out,
            reference=None if reference is None else theirs[reference],
            line_reference=None if by_line is None else theirs[by_line],
            negative=None if negative is None else negatives[negative],
            verdict=verdicts.get(index),
            repeats=None if (first := again.get(index)) is None else ours[first],
        )


def _said_again(judged: JudgedCase, outcome: Outcome) -> dict[int, int]:
    """Unmatched comments that raise, by the judge, a reference for which another comment is counted: and that one."""
    case = judged.case
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
        return int(self.judged.case.eligible(self.judged.case.candidates).sum())

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
