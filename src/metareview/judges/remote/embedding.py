"""`embedding`: the cosine of two notes' vectors from an OpenAI-compatible embeddings endpoint.

Each distinct note is sent once, in batches, and its vector is kept in the verdict cache. The score of a pair is the
cosine, with everything below 0 counted as 0. A pair with a note that got no vector is undecided.
"""

from __future__ import annotations

import base64
import threading
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from metareview.judges.pair_verdicts import PairVerdict
from metareview.judges.protocol import Planned
from metareview.judges.remote.answers import JsonObject, Malformed, Redact
from metareview.judges.remote.asking import AskResult
from metareview.judges.remote.endpoint import EMBEDDINGS
from metareview.judges.remote.model import RemoteOptions
from metareview.judges.remote.pairs import Pair, RemoteJudge
from metareview.judges.remote.prompt import PartlyRead, Prompt
from metareview.judges.remote.settings import ModelSettings
from metareview.model.words import format_score

Vector = NDArray[np.float32]

THRESHOLD = 0.75
"""A starting point, not a measurement: cosines of one model say nothing about another's (unrelated texts lie near 0.2
in some, near 0.75 in others). `metareview calibrate LABELS --judge embedding` finds the threshold of yours."""


class EmbeddingPrompt(Prompt[str, Vector]):
    """The unit vectors of texts, all of one model."""

    batch = 64

    def __init__(self) -> None:
        self._dimensions: int | None = None
        self._lock = threading.Lock()

    def key_parts(self, question: str) -> list[str]:
        return [question]

    def characters(self, question: str) -> int:
        return len(question)

    def body(self, batch: Sequence[str]) -> JsonObject:
        return {"input": list(batch)}

    def read(self, batch: Sequence[str], reply: JsonObject, redact: Redact) -> dict[str, Vector]:
        received: dict[str, Vector] = {}
        rows = reply.get("data")
        for position, row in enumerate(rows if isinstance(rows, list) else ()):
            if isinstance(row, dict):
                index, vector = row.get("index", position), _unit(row.get("embedding"))
                if isinstance(index, int) and 0 <= index < len(batch) and vector is not None:
                    received[batch[index]] = vector
        with self._lock:
            if self._dimensions is None and received:
                self._dimensions = Counter(map(len, received.values())).most_common(1)[0][0]
        vectors = {text: vector for text, vector in received.items() if self._fits(vector)}
        if missing := len(batch) - len(vectors):
            raise PartlyRead(f"{missing} of {len(batch)} vectors missing or unusable", vectors)
        return vectors

    def to_json(self, answer: Vector) -> JsonObject:
        return {"vector": base64.b64encode(answer.astype("<f4").tobytes()).decode()}

    def from_json(self, question: str, value: JsonObject) -> Vector:
        try:
            vector = np.frombuffer(base64.b64decode(value["vector"], validate=True), "<f4").astype(np.float32)
        except (KeyError, TypeError, ValueError):
            raise Malformed("the kept value is no vector") from None
        if abs(float(np.linalg.norm(vector)) - 1) >= 1e-3 or not self._fits(vector):
            raise Malformed("the kept vector has another length")
        return vector

    def _fits(self, vector: Vector) -> bool:
        """True if it has as many dimensions as the model's others; the first vector decides how many."""
        with self._lock:
            self._dimensions = self._dimensions or len(vector)
            return len(vector) == self._dimensions


class EmbeddingJudge(RemoteJudge):
    """Compares vectors of an embedding model.

    In `usage`, `llm_calls` counts the batches sent, `cached` the pairs whose vectors both came from the cache.
    """

    name, kind, operation = "embedding", "EMBEDDING", EMBEDDINGS
    threshold: float = THRESHOLD

    def __init__(self, settings: ModelSettings | None = None, **options: Unpack[RemoteOptions]) -> None:
        super().__init__(settings, **options)
        self.prompt = EmbeddingPrompt()

    def _verdicts(self, reviews: Sequence[Sequence[Pair]]) -> list[list[PairVerdict]]:
        vectors = self.ask_loop(self.prompt, _texts(reviews)).run(self.progress)
        empty: AskResult[Vector] = AskResult(None, reason="an empty note has no embedding")

        def compare(pair: Pair) -> PairVerdict:
            results = [vectors.get(note, empty) for note in pair]
            for result in results:
                if result.answer is None:
                    return PairVerdict.undecided(result.reason)
            a, b = (result.answer.astype(np.float64) for result in results if result.answer is not None)
            score = min(1.0, max(0.0, float(a @ b)))  # rounding may carry a cosine a hair past 1
            by = "cache" if all(result.by == "cache" for result in results) else "model"
            return PairVerdict.of_score(score, self.threshold, f"cosine {format_score(score)}", by)

        return [list(map(compare, pairs)) for pairs in reviews]

    def _planned(self, reviews: Sequence[Sequence[Pair]]) -> Planned:
        return self.ask_loop(self.prompt, _texts(reviews)).planned()


def _texts(reviews: Sequence[Sequence[Pair]]) -> list[str]:
    """The distinct notes that can have a vector."""
    notes = chain.from_iterable(chain.from_iterable(reviews))
    return [note for note in dict.fromkeys(notes) if note.strip()]


def _unit(value: object) -> Vector | None:
    """A list of finite numbers as a vector of length 1; None for anything else, zeros included."""
    if not isinstance(value, list) or not all(type(x) in (int, float) for x in value):
        return None
    try:
        vector = np.array(value, dtype=np.float64)
    except OverflowError:
        return None
    length = float(np.linalg.norm(vector))
    return (vector / length).astype(np.float32) if np.isfinite(length) and length > 0 else None
