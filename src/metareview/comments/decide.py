"""A judged case: which pairs are aligned, and what is counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from metareview.comments.align import Alignment, Graph, Mode, align, align_greedy
from metareview.comments.case import Case
from metareview.comments.location import Candidates
from metareview.comments.measures import Counts
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
        answered = ((self.answer, case.candidates), (self.negative_answer, case.negative_candidates))
        return sum(
            int(np.count_nonzero((answer.match == UNDECIDED) & case.eligible(candidates)))
            for answer, candidates in answered
            if len(candidates)
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
    kept = case.kept_references()
    left_out: frozenset[int] = frozenset()
    if all(kept):
        by_line, by_meaning = _align_both(case, line, edges, aligner)
    else:
        by_line, by_meaning, left_out = _align_kept(case, line, edges, np.array(kept, bool), aligner)
    by_negative = Alignment(())
    if len(case.negative_candidates):
        rejected = edges_of(case, case.negative_candidates, judged.negative_answer, undecided_negatives_match)
        rejected = rejected.only(~case.are_among(edges.generated)[rejected.generated])
        by_negative = _align_negatives(case, rejected, aligner)
    generated, matched = len(case.generated.comments) - len(left_out), len(by_meaning.matched)
    counts = Counts(
        expected=sum(kept),
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


def _align_kept(
    case: Case, line: Graph, edges: Graph, keep: NDArray[np.bool_], aligner: Aligner
) -> tuple[Alignment, Alignment, frozenset[int]]:
    """Both alignments where a filter drops references, or some are neutral; and the comments that are left out."""
    neutral = case.neutral_references()
    left_out: frozenset[int] = frozenset()
    if not (keep | neutral).all():
        listed_line, listed = (graph.only(~neutral[graph.reference]) for graph in (line, edges))
        left_out = _right_about_dropped(_align_both(case, listed_line, listed, aligner)[1], keep)
    line, full = (_without(graph, left_out, keep) for graph in (line, edges))
    by_line, by_meaning = _align_both(case, line, full, aligner)
    if neutral.any():
        # A comment is held to the references first: only one that matches none of them can be neutral.
        alike = frozenset(edges.generated[neutral[edges.reference]].tolist()) - by_meaning.matched - left_out
        left_out |= alike
        by_line = _align_both(case, _without(line, alike, keep), full, aligner)[0]
    return by_line, by_meaning, left_out


def _without(graph: Graph, left_out: frozenset[int], keep: NDArray[np.bool_]) -> Graph:
    """The graph of the references that are kept and the comments that are not left out."""
    outside = np.array(sorted(left_out), np.int64)
    return graph.only(keep[graph.reference] & ~np.isin(graph.generated, outside))


def _line_edges(case: Case) -> Graph:
    near = case.candidates.only(case.eligible(case.candidates))
    return Graph(near.generated, near.reference, np.ones(len(near)))


def edges_of(case: Case, candidates: Candidates, answer: Answer, undecided_match: bool) -> Graph:
    """The pairs that match, by the judge and by location; one without a score counts as half sure."""
    matches = answer.match != DIFFERENT if undecided_match else answer.match == SAME
    every_pair = Graph(candidates.generated, candidates.reference, answer.score)
    edges = every_pair.only(matches & case.eligible(candidates))
    known = np.isfinite(edges.score)
    return edges if known.all() else replace(edges, score=np.nan_to_num(edges.score, nan=0.5))


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
