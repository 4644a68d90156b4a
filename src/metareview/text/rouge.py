"""ROUGE-L recall (Lin, 2004): how much of a reference's word sequence a candidate contains, in order.

    recall = length of the longest common subsequence of tokens / tokens of the reference

0 where either text has no tokens. Of ASCII texts equal to rouge-score's `rougeL` recall without stemming.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from rapidfuzz import process
from rapidfuzz.distance import LCSseq

from metareview.text.tokens import tokens

CHARACTERS = 0x110000
"""The most distinct tokens that can be written as one character each."""

DENSE_ADVANTAGE = 5
"""A cell of a dense matrix costs about a fifth of a pair compared by itself: it reuses the row's bit masks."""


class _Numbers(dict[str, int]):
    """A number for each token, from 0 on, in the order of their first use."""

    def __missing__(self, token: str) -> int:
        self[token] = number = len(self)
        return number


class EncodedTexts:
    """Texts tokenised once, to be compared many times by their positions.

    >>> EncodedTexts(["close the file handle", "The handle: close the handle!"]).recall_pairs([(0, 1)]).tolist()
    [0.75]

    Each distinct token becomes one character, so that the bit-parallel subsequence search for strings works on words.
    With more distinct tokens than there are characters, texts are tuples of numbers: slower, and exact too.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        number = _Numbers()
        numbered = [list(map(number.__getitem__, tokens(text))) for text in texts]
        short = len(number) <= CHARACTERS
        self._codes = ["".join(map(chr, text)) if short else tuple(text) for text in numbered]
        self._lengths = np.array([len(text) for text in numbered], dtype=np.int64)

    def __len__(self) -> int:
        return len(self._codes)

    def recall_matrix(
        self, references: Sequence[int] | None = None, candidates: Sequence[int] | None = None
    ) -> NDArray[np.float64]:
        """Recall of every reference (a row) in every candidate (a column): positions, None for all."""
        everything = range(len(self._codes))
        references = everything if references is None else references
        common = self._common_matrix(references, everything if candidates is None else candidates)
        return _recall(common, self._lengths[np.asarray(references, dtype=np.int64), np.newaxis])

    def recall_pairs(self, pairs: ArrayLike) -> NDArray[np.float64]:
        """Recall of each given pair, in their order: (position of the reference, of the candidate)."""
        wanted = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        return _recall(self._common(wanted), self._lengths[wanted[:, 0]])

    def shared_pairs(self, pairs: ArrayLike) -> NDArray[np.float64]:
        """The lesser of each given pair's two recalls, either text being the reference."""
        wanted = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        return _recall(self._common(wanted), self._lengths[wanted].max(axis=1, initial=0))

    def occurrences(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Every word of every text, as two arrays: the text's position, and a number that is the same for the same
        word where it occurs the same number of times before in its text. A text without words has one of its own."""
        sizes = np.maximum(self._lengths, 1)
        text = np.repeat(np.arange(len(sizes)), sizes)
        codes = (code if isinstance(code, tuple) else tuple(map(ord, code)) for code in self._codes)
        # One that no word has, for each text without words.
        listed = (words or (-1 - position,) for position, words in enumerate(codes))
        word = np.fromiter((word for words in listed for word in words), np.int64, len(text))
        order = np.lexsort((word, text))
        begins = np.ones(len(order), bool)
        begins[1:] = (np.diff(text[order]) != 0) | (np.diff(word[order]) != 0)
        start = np.flatnonzero(begins)
        before = np.arange(len(order)) - np.repeat(start, np.diff(np.append(start, len(order))))
        _, number = np.unique(np.column_stack([word[order], before]), axis=0, return_inverse=True)
        return text[order], number.reshape(-1)

    def _common(self, wanted: NDArray[np.int64]) -> NDArray[np.int32]:
        """The length of the longest common subsequence of each pair."""
        rows, row = np.unique(wanted[:, 0], return_inverse=True)
        columns, column = np.unique(wanted[:, 1], return_inverse=True)
        if len(rows) * len(columns) <= DENSE_ADVANTAGE * len(wanted):
            return self._common_matrix(rows.tolist(), columns.tolist())[row, column]
        references, candidates = ([self._codes[i] for i in positions] for positions in wanted.T)
        common: NDArray[np.int32] = process.cpdist(
            references, candidates, scorer=LCSseq.similarity, dtype=np.int32, workers=1
        )
        return common

    def _common_matrix(self, references: Sequence[int], candidates: Sequence[int]) -> NDArray[np.int32]:
        rows, columns = ([self._codes[i] for i in positions] for positions in (references, candidates))
        # No score_cutoff: below one, the search gives 0 instead of the length. No text has 2**31 tokens.
        common: NDArray[np.int32] = process.cdist(rows, columns, scorer=LCSseq.similarity, dtype=np.int32, workers=1)
        return common


def _recall(common: NDArray[np.int32], lengths: NDArray[np.int64]) -> NDArray[np.float64]:
    # An empty reference has nothing in common with anything: 0 / 1, not 0 / 0.
    result: NDArray[np.float64] = common / np.maximum(lengths, 1)
    return result
