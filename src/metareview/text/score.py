"""Many retrievals scored at once: what `metareview text` prints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum

from metareview.text.matching import MatchingStrategy, PrecisionRecallF1, Scores

SCHEMA = "metareview.text/1"


@dataclass(frozen=True, slots=True)
class TextItem:
    """One retrieval: what was retrieved, and what should have been."""

    retrieved_context: Sequence[str]
    ground_truth_context: Sequence[str]


class TextResult(Scores):
    """The document of `metareview text --json`: the means, and what they are means of."""

    schema: str
    strategy: str
    threshold: float | None
    n: int
    nulls: dict[str, int]
    """The number of items each mean leaves out, because the rate is null there."""
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
    columns = {name: [score[name] for score in scores] for name in ("precision", "recall", "f1")}
    return {
        "schema": SCHEMA,
        "strategy": metric.strategy.value,
        "threshold": metric.threshold,
        "n": len(scores),
        "precision": _mean(columns["precision"]),
        "recall": _mean(columns["recall"]),
        "f1": _mean(columns["f1"]),
        "nulls": {name: values.count(None) for name, values in columns.items()},
        "items": scores,
    }


def _mean(values: Iterable[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return fsum(there) / len(there) if there else None
