"""Which notes of one reviewer say the same by their words; see `comments/repeats.py` for what that means."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from metareview.comments.location import Indices
from metareview.judges.protocol import judged_part
from metareview.text.equality import equality_numbers
from metareview.text.rouge import EncodedTexts

if TYPE_CHECKING:
    from metareview.judges.offline.similarity import NoteSimilarity

WORDS = 0.7
"""The share of either note's words that the other must have, in order: the same as for the judge `rouge`."""
WORDS_ON_THE_LINES = 1 / 3
"""The same for two comments on the same lines that the offline judge calls the same. Of 66 pairs of AACR-Bench's
references that it does, 6 share so many words; the others are different issues."""
_SHARED = 4
"""How many of their rarest words two notes must share to be compared, unless a third of their words are fewer."""


class AlikeNotes:
    """Some notes, given by their positions, each distinct one read once."""

    def __init__(self, notes: Sequence[str]) -> None:
        read = list(map(judged_part, notes))
        numbers = np.array(equality_numbers(read), np.int64)
        _, first, self.text = np.unique(numbers, return_index=True, return_inverse=True)
        """The number of each note's text: the same for notes that are equal but for white space."""
        self._texts = [read[at] for at in first.tolist()]
        self._words = EncodedTexts(self._texts)

    def alike(self, one: Indices, other: Indices, on_lines: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Whether the notes of each pair share so many words that they say the same; `on_lines` says which pairs are on
        the same lines, where fewer words do."""
        one, other = self.text[one], self.text[other]
        alike: NDArray[np.bool_] = one == other
        unequal = np.flatnonzero(~alike)
        if not len(unequal):
            return alike
        shared = self._words.shared_pairs(np.column_stack([one[unequal], other[unequal]]))
        alike[unequal] = shared > WORDS
        doubtful = unequal[on_lines[unequal] & (shared > WORDS_ON_THE_LINES) & (shared <= WORDS)]
        if len(doubtful):
            alike[doubtful] = self._judged_same(one[doubtful], other[doubtful])
        return alike

    def sharing(self, notes: Indices, first: int, last: int) -> tuple[Indices, Indices]:
        """The pairs of some notes and each of those from `first` up to `last` that may be alike, in order.

        Two notes are alike only if they share more than a third of the longer one's words. Of the words of each, from
        the rarest on, all but the last third are then enough to find such pairs: they must share at least one there,
        or some more where a few more are looked at. These are few, because common words are in the last third.
        """
        rarest, least = self._rarest
        shared = sp.coo_array(rarest[self.text[notes]] @ rarest[self.text[first:last]].T)
        needed = np.minimum(
            _SHARED, np.maximum(least[self.text[notes]][shared.row], least[self.text[first:last]][shared.col])
        )
        found = np.flatnonzero(shared.data >= needed)
        found = found[np.lexsort((shared.col[found], shared.row[found]))]
        return notes[shared.row[found]], shared.col[found].astype(np.int64) + first

    def _judged_same(self, one: Indices, other: Indices) -> NDArray[np.bool_]:
        """Whether the offline judge calls the texts of each pair the same. It reads these, or all if they are many."""
        from metareview.judges.offline.similarity import NoteSimilarity  # here, since few runs need the model's weights

        kept, position = np.unique(np.concatenate([one, other]), return_inverse=True)
        if 2 * len(kept) > len(self._texts):
            return self._all_scores.similar(one, other)
        scores = NoteSimilarity([self._texts[at] for at in kept.tolist()])
        return scores.similar(position[: len(one)], position[len(one) :])

    @cached_property
    def _all_scores(self) -> NoteSimilarity:
        from metareview.judges.offline.similarity import NoteSimilarity

        return NoteSimilarity(self._texts)

    @cached_property
    def _rarest(self) -> tuple[sp.csr_array, Indices]:
        """(texts, words): 1 for each of a text's rarest words that are looked at, where a word that it has twice is two
        words; and how many words it must share at least."""
        text, word = self._words.occurrences()
        counts = np.bincount(text, minlength=len(self._texts))
        rank = np.empty(int(word.max(initial=-1)) + 1, np.int64)
        rank[np.argsort(np.bincount(word), kind="stable")] = np.arange(len(rank))
        order = np.lexsort((rank[word], text))
        text, word = text[order], word[order]
        least = counts // 3 + 1
        looked_at = np.arange(len(text)) - (np.cumsum(counts) - counts)[text] < (counts - least + _SHARED)[text]
        cells = text[looked_at], word[looked_at]
        shape = len(self._texts), len(rank)
        return sp.csr_array((np.ones(len(cells[0]), np.float32), cells), shape=shape), least
