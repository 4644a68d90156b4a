"""The terms of notes: how much each one counts, and how much of their terms two notes share."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from metareview.judges.offline.layout import Layout
from metareview.judges.offline.notes import Floats, Ints, Notes


def overlap(shared: Floats, left_root: Floats, right_root: Floats) -> Floats:
    """The weight of shared terms over the geometric mean of two notes' weights, whose square roots are given."""
    found: Floats = np.minimum(shared / (left_root * right_root), 1.0)
    return found


def overlaps(left: sp.csr_array, right: sp.csr_array, weight: Floats) -> sp.csr_array:
    """The overlap of each note on the left with each on the right, stored where they share a term."""
    found = shared_weight(left, right, weight)
    row = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    found.data = overlap(found.data, root_weight(left, weight)[row], root_weight(right, weight)[found.indices])
    return found


def shared_weight(left: sp.csr_array, right: sp.csr_array, weight: Floats) -> sp.csr_array:
    """The weight of the terms that each note on the left shares with each on the right."""
    weighted = sp.csr_array((left.data * weight[left.indices], left.indices, left.indptr), shape=left.shape)
    shared: sp.csr_array = weighted @ right.T
    return shared


def root_weight(presence: sp.csr_array, weight: Floats) -> Floats:
    """The square root of the weight of each note's terms; 1 for a note without any, which shares nothing."""
    total = np.asarray(presence @ weight)
    total[total == 0] = 1
    root: Floats = np.sqrt(total)
    return root


def dense_block(matrix: sp.csr_array, rows: slice, columns: slice) -> Floats:
    """Some rows of a matrix that stores nothing in them outside of these columns."""
    ends = matrix.indptr[rows.start : rows.stop + 1]
    stored = slice(ends[0], ends[-1])
    block = np.zeros((len(ends) - 1, columns.stop - columns.start))
    block[np.repeat(np.arange(len(block)), np.diff(ends)), matrix.indices[stored] - columns.start] = matrix.data[stored]
    return block


class TableTerms:
    """The terms of the notes of some tables, numbered anew for each table, so that no product leaves a table."""

    def __init__(self, notes: Notes, layout: Layout) -> None:
        self.layout = layout
        table = np.concatenate([layout.left.table, layout.right.table])
        presence = notes.terms[np.concatenate([layout.left.note, layout.right.note])]
        self._width = max(presence.shape[1], 1)
        key = np.repeat(table, np.diff(presence.indptr)) * self._width + presence.indices
        self._keys, inverse, self.occurrences = np.unique(key, return_inverse=True, return_counts=True)
        self.table, self.term = np.divmod(self._keys, self._width)
        self.rarity: Floats = notes.rarity[self.term]
        shape = (presence.shape[0], len(self._keys))
        presence = sp.csr_array((np.ones(len(key)), inverse, presence.indptr), shape=shape)
        self.left, self.right = presence[: len(layout.left.note)], presence[len(layout.left.note) :]
        self._start: list[int] = np.searchsorted(self.table, np.arange(len(layout.start))).tolist()

    def places(self, table: Ints, term: Ints) -> Ints:
        """The number here of each of some terms that a table has; -1 for no term, which is -1."""
        return np.where(term >= 0, np.searchsorted(self._keys, table * self._width + term), -1)

    def own(self, table: int) -> slice:
        """The numbers of one table's terms."""
        return slice(self._start[table], self._start[table + 1])

    def flat(self, product: sp.csr_array) -> Floats:
        """A matrix of slots on the left and on the right as one value per pair of the layout."""
        values = np.zeros(int(self.layout.start[-1]))
        row = np.repeat(np.arange(product.shape[0]), np.diff(product.indptr))
        values[self.layout.places(row, product.indices.astype(np.int64))] = product.data
        return values
