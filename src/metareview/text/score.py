"""Many retrievals scored at once: what `metareview text` prints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TypedDict

from metareview.text.matching import MatchingStrategy, PrecisionRecallF1, Scores

SCHEMA = "metareview.text/1"


@dataclass(frozen=True, slots=True)
class TextItem:
    """One retrieval: what was retrieved, and what should have been."""

    retrieved_context: Sequence[str]
    ground_truth_context: Sequence[str]


class Nulls(TypedDict):
    """How many items each mean leaves out, because the rate is null there."""

    precision: int
    recall: int
    f1: int


class TextResult(TypedDict):
    """The document of `metareview text --json`."""

    schema: str
    strategy: str
    threshold: float | None
    n: int
    precision: float | None
    recall: float | None
    f1: float | None
    nulls: Nulls
    items: list[Scores]


def score_items(
    items: Iterable[TextItem],
    strategy: MatchingStrategy | str = MatchingStrategy.ROUGE_CHUNK_MATCH,
    threshold: float | None = None,
) -> TextResult:
    """Each item's scores in their order, and their means. A mean over no item that has the rate is null."""
    metric = PrecisionRecallF1(strategy, threshold)
    scores = [
        metric(retrieved_context=item.retrieved_context, ground_truth_context=item.ground_truth_context)
        for item in items
    ]
    precision, no_precision = _mean([score["precision"] for score in scores])
    recall, no_recall = _mean([score["recall"] for score in scores])
    f1, no_f1 = _mean([score["f1"] for score in scores])
    return {
        "schema": SCHEMA,
        "strategy": metric.strategy.value,
        "threshold": metric.threshold,
        "n": len(scores),
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "nulls": {"precision": no_precision, "recall": no_recall, "f1": no_f1},
        "items": scores,
    }


def _mean(values: Sequence[float | None]) -> tuple[float | None, int]:
    """The mean of what is there, and how many are not."""
    there = [value for value in values if value is not None]
    return (fsum(there) / len(there) if there else None), len(values) - len(there)
