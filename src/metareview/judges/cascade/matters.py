"""Finds the unsure pairs that can still change an alignment, whatever the answers about the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

Edge = tuple[int, int]
"""A comment and a reference of a question, by their numbers."""


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
