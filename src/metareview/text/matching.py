"""Precision, recall and F1 of retrieved contexts against the ground truth, under four ways to match."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from numbers import Real
from typing import Any, TypedDict

from metareview.errors import UsageError, did_you_mean
from metareview.text.equality import composed
from metareview.text.sentences import sentences

_THRESHOLDS: Mapping[str, str] = {
    "rouge_chunk_match_threshold": "rouge-chunk",
    "rouge_chunk_sentence_threshold": "rouge-sentence",
}
"""continuous-eval's names for thresholds, in small letters, and the strategy that each is for."""

BLOCK_CELLS = 4_000_000
"""Recalls worked out at a time, so that two books cost memory for one block of sentence pairs."""


class MatchingStrategy(StrEnum):
    """The components compared (chunks as given, or their sentences) and how (equal strings, or ROUGE-L recall)."""

    EXACT_CHUNK_MATCH = "exact-chunk"
    EXACT_SENTENCE_MATCH = "exact-sentence"
    ROUGE_CHUNK_MATCH = "rouge-chunk"
    ROUGE_SENTENCE_MATCH = "rouge-sentence"

    @property
    def by_sentence(self) -> bool:
        """True if the components are sentences rather than chunks."""
        return self.value.endswith("-sentence")

    @property
    def default_threshold(self) -> float | None:
        """The recall that a match must exceed unless a threshold is given; None where strings must be equal."""
        return {"rouge-chunk": 0.7, "rouge-sentence": 0.8}.get(self.value)


class Scores(TypedDict):
    """Three rates in 0..1; None where there is nothing to divide by."""

    precision: float | None
    recall: float | None
    f1: float | None


class PrecisionRecallF1:
    """How much of what was retrieved is right, and how much of what is right was retrieved.

    A component is a chunk or a sentence. Precision: retrieved components that match any ground truth one, of all
    retrieved ones, each counted. Recall: distinct ground truth components that are matched, of all distinct ones. ROUGE
    matches where the ground truth component's recall is greater than the threshold. Composed and decomposed characters
    are equal (Unicode's NFC).

    Nothing retrieved: precision None. No ground truth: recall None. In both cases nothing can match: the
    other rate is 0, and so is f1, whatever the missing rate would be. Nothing on either side: all three None.

    >>> metric = PrecisionRecallF1(MatchingStrategy.EXACT_CHUNK_MATCH)
    >>> metric(retrieved_context=["a", "b"], ground_truth_context=["a"])
    {'precision': 0.5, 'recall': 1.0, 'f1': 0.6666666666666666}

    The threshold may also be given by the name that it has in continuous-eval, `ROUGE_CHUNK_MATCH_THRESHOLD` or
    `ROUGE_CHUNK_SENTENCE_THRESHOLD`, in capitals or not; that of another strategy is not used.
    """

    def __init__(
        self, strategy: MatchingStrategy | str, threshold: float | None = None, **thresholds: float | None
    ) -> None:
        try:
            named = MatchingStrategy.__members__.get(str(strategy))
            self.strategy = MatchingStrategy(strategy) if named is None else named
        except ValueError:
            meant = did_you_mean(str(strategy), MatchingStrategy)
            names = ", ".join(MatchingStrategy)
            raise UsageError(f"unknown strategy {strategy!r}.{meant} Use one of: {names}.") from None
        self.threshold = _threshold(self.strategy, _own_threshold(self.strategy, threshold, thresholds))

    def __call__(
        self, *, retrieved_context: Sequence[str], ground_truth_context: Sequence[str], **others: object
    ) -> Scores:
        """The scores of one item; `others`, the further columns of a row (`metric(**row)`), are not looked at."""
        retrieved = self._components("retrieved_context", retrieved_context)
        truth = list(dict.fromkeys(self._components("ground_truth_context", ground_truth_context)))
        relevant, covered = self._matches(retrieved, truth)
        precision = relevant / len(retrieved) if retrieved else None
        recall = covered / len(truth) if truth else None
        f1 = 2 * precision * recall / (precision + recall) if precision and recall else 0.0
        return {"precision": precision, "recall": recall, "f1": f1 if retrieved or truth else None}

    def batch(self, rows: Iterable[Mapping[str, Any]] | None = None, /, **columns: Sequence[Any]) -> list[Scores]:
        """The scores of many items in order: of rows, or of columns with one entry per item.

        >>> metric = PrecisionRecallF1("exact-chunk")
        >>> columns = {"retrieved_context": [["a"], ["b"]], "ground_truth_context": [["a"], ["a"]], "id": [1, 2]}
        >>> [scores["recall"] for scores in metric.batch(**columns)]
        [1.0, 0.0]
        """
        if rows is None:
            lengths = {name: len(column) for name, column in columns.items()}
            if len(set(lengths.values())) > 1:
                listed = ", ".join(f"{name} {length}" for name, length in lengths.items())
                raise UsageError(f"batch: the columns must be of one length, found {listed}.")
            rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        elif columns:
            raise UsageError("batch takes rows or columns, not both.")
        return [self(**_with_both(row, position)) for position, row in enumerate(rows)]

    def _components(self, name: str, context: Sequence[str]) -> list[str]:
        if isinstance(context, str) or not isinstance(context, Sequence):
            kind = type(context).__name__
            raise UsageError(f"{name} must be a list of strings, found {kind}. Put a single text into a list: [text].")
        for position, chunk in enumerate(context):
            if not isinstance(chunk, str):
                kind = type(chunk).__name__
                raise UsageError(f"{name}[{position}] must be a string, found {kind}. Give each chunk as its text.")
        if not self.strategy.by_sentence:
            return list(map(composed, context))
        return [sentence for chunk in context for sentence in sentences(composed(chunk))]

    def _matches(self, retrieved: list[str], truth: list[str]) -> tuple[int, int]:
        """The number of retrieved components that match, and how many of the distinct ground truth ones are matched."""
        if self.threshold is None:
            known = set(truth)
            return sum(component in known for component in retrieved), len(known.intersection(retrieved))
        if not retrieved or not truth:
            return 0, 0
        import numpy as np

        from metareview.text.rouge import EncodedTexts

        texts = EncodedTexts([*truth, *retrieved])
        candidates = range(len(truth), len(texts))
        relevant = np.zeros(len(retrieved), dtype=np.bool_)
        covered = 0
        step = max(1, BLOCK_CELLS // len(retrieved))
        for start in range(0, len(truth), step):
            block = range(start, min(start + step, len(truth)))
            match = texts.recall_matrix(block, candidates) > self.threshold
            relevant |= match.any(axis=0)
            covered += int(match.any(axis=1).sum())
        return int(relevant.sum()), covered


def _with_both(row: Mapping[str, Any], position: int) -> Mapping[str, Any]:
    for name in ("retrieved_context", "ground_truth_context"):
        if name not in row:
            raise UsageError(f"batch: item {position} has no {name}. Give a list of strings for it.")
    return row


def _own_threshold(
    strategy: MatchingStrategy, threshold: float | None, named: Mapping[str, float | None]
) -> float | None:
    """The threshold that was given for this strategy, by either name."""
    for name, value in named.items():
        meant = _THRESHOLDS.get(name.casefold())
        if meant is None:
            raise UsageError(f"unknown argument {name!r}.{did_you_mean(name, ('threshold', *_THRESHOLDS))}")
        if meant == strategy and value is not None:
            if threshold is not None:
                raise UsageError(f"threshold and {name} are two thresholds for {strategy}. Leave one out.")
            threshold = value
    return threshold


def _threshold(strategy: MatchingStrategy, threshold: float | None) -> float | None:
    if threshold is None:
        return strategy.default_threshold
    if strategy.default_threshold is None:
        rouge = strategy.value.replace("exact-", "rouge-")
        raise UsageError(f"{strategy} takes no threshold. Leave it out, or use {rouge}.")
    if isinstance(threshold, bool) or not isinstance(threshold, Real) or not 0 <= threshold <= 1:
        raise UsageError(f"the threshold must be a number from 0 to 1, found {threshold!r}. Correct it.")
    return float(threshold)
