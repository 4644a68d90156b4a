"""Selects the pairs of a review to put to a model in one list: of unsure notes, if that is worth the text.

A pair is open where its offline score lies between the bounds and its answer can still change the alignment. How wrong
the offline verdict on an open pair is expected to be is the probability of the verdict that it is not: min(p, 1 - p). A
reference whose open pairs together are expected to be wrong less than REFERENCE times is settled, and so is a comment
without an open pair to any other reference: settled notes are left out. What is left is asked about if it is expected
to be wrong WORTH times or more per 1,000 characters that the question would hold. All pairs of the notes in it are put
to the model, the sure ones too: it reads them anyway. A threshold has no part in this: it cuts the final scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metareview.judges.protocol import Question, judged_part

Edge = tuple[int, int]
"""A comment and a reference of a question, by their numbers."""

REFERENCE = 0.01
_INSTRUCTIONS = 1_128
"""The characters of the instructions that `worth` was chosen with: another wording asks about the same pairs."""
_PER_NOTE = len('{"id":10,"note":""},')


@dataclass(frozen=True, slots=True)
class ListRules:
    """Scores outside low..high are clear; a question must be expected to correct `worth` pairs per 1,000 characters."""

    low: float = 0.01
    high: float = 0.995
    worth: float = 0.025


def rows_to_ask(
    question: Question, score: NDArray[np.float64], rules: ListRules, *, one_to_one: bool
) -> NDArray[np.int64]:
    """The rows of the question's pairs that a list should hold; none where it is not worth asking."""
    nothing = np.zeros(0, np.int64)
    open_rows = np.flatnonzero((score >= rules.low) & (score <= rules.high))
    if not len(open_rows):
        return nothing
    edges: list[Edge] = [(g, r) for g, r in question.pairs.tolist()]
    certain = [edges[row] for row in np.flatnonzero(score > rules.high).tolist()]
    unsure = [edges[row] for row in open_rows.tolist()]
    open_rows = open_rows[that_matter(unsure, certain, one_to_one=one_to_one)]
    wrong = np.minimum(score, 1 - score)
    expected = np.bincount(question.pairs[open_rows, 1], wrong[open_rows], minlength=len(question.reference))
    open_rows = open_rows[expected[question.pairs[open_rows, 1]] > REFERENCE]
    if not len(open_rows):
        return nothing
    comments, references = (np.unique(question.pairs[open_rows, side]) for side in (0, 1))
    characters = _INSTRUCTIONS + _length(question.generated, comments) + _length(question.reference, references)
    if wrong[open_rows].sum() * 1000 < rules.worth * characters:
        return nothing
    return np.flatnonzero(np.isin(question.pairs[:, 0], comments) & np.isin(question.pairs[:, 1], references))


def _length(notes: Sequence[str], chosen: NDArray[np.int64]) -> int:
    return sum(len(judged_part(notes[each])) + _PER_NOTE for each in chosen.tolist())


def that_matter(unsure: Sequence[Edge], certain: Sequence[Edge], *, one_to_one: bool) -> list[bool]:
    """For each unsure pair: True if its answer can still add something to the alignment of the certain ones.

    Paired off one to one, it must be able to add a pair; else (coverage) it must have a note that nothing settles.
    """
    if not one_to_one:
        settled = {note for edge in certain for note in enumerate(edge)}
        return [not settled.issuperset(enumerate(edge)) for edge in unsure]
    possible = [*certain, *unsure]
    partner = _maximum_matching(certain)
    # A yes can only add a pair if both notes are free, or can be freed by giving others new partners.
    generated = _can_be_free(possible, partner)
    reference = _can_be_free([(r, g) for g, r in possible], {r: g for g, r in partner.items()})
    return [g in generated and r in reference for g, r in unsure]


def _maximum_matching(edges: Sequence[Edge]) -> dict[int, int]:
    """A maximum matching of these edges: left -> right."""
    if not edges:
        return {}
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    # Indices of 32 bits: older versions of SciPy take no others here.
    graph = coo_array((np.ones(len(edges), np.int8), tuple(np.array(edges, np.int32).T))).tocsr()
    partners = maximum_bipartite_matching(graph, perm_type="column").tolist()
    return {left: right for left, right in enumerate(partners) if right >= 0}


def _can_be_free(edges: Iterable[Edge], partner: Mapping[int, int]) -> set[int]:
    """The left ends without a partner, and those that can be left without one by giving the others new partners."""
    partner_of_right = {right: left for left, right in partner.items()}
    neighbours: dict[int, list[int]] = {}
    for left, right in edges:
        neighbours.setdefault(left, []).append(right)
    free = set(neighbours) - set(partner)
    queue = list(free)
    for left in queue:
        freed = {partner_of_right[right] for right in neighbours[left] if right in partner_of_right} - free
        free |= freed
        queue += freed
    return free
