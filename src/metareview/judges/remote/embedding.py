"""`embedding`: the cosine of two notes' vectors from an OpenAI-compatible embeddings endpoint.

Each distinct note is sent once, in batches, and its vector is kept in the verdict cache. The score of a pair is the
cosine, with everything below 0 counted as 0. A pair with a note that got no vector is undecided.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from metareview.judges.protocol import DIFFERENT, SAME
from metareview.judges.remote.cache import JsonObject, verdict_key
from metareview.judges.remote.judge import Pair, RemoteJudge, RemoteKeywords
from metareview.judges.remote.pool import GiveUp, RetryLater
from metareview.judges.remote.prompt import sendable
from metareview.judges.remote.settings import ModelSettings
from metareview.judges.remote.verdict import Verdict

Vector = NDArray[np.float32]
Texts = tuple[str, ...]

THRESHOLD = 0.75
"""A starting point, not a measurement: cosines of one model say nothing about another's (unrelated texts lie near 0.2
in some, near 0.75 in others). `metareview calibrate LABELS --judge embedding` finds the threshold of yours."""

_BATCH = 64


class EmbeddingJudge(RemoteJudge[Texts]):
    """Compares vectors of the model of `settings` (default: the environment's), `batch` notes per call.

    In `usage`, `llm_calls` counts the batches sent, `cached` the pairs whose vectors both came from the cache.
    """

    name = "embedding"
    threshold: float

    def __init__(
        self, settings: ModelSettings | None = None, *, batch: int = _BATCH, **keywords: Unpack[RemoteKeywords]
    ) -> None:
        super().__init__(settings or ModelSettings.embedding(), "embeddings", **keywords)
        threshold = keywords.get("threshold")
        self.threshold = THRESHOLD if threshold is None else threshold
        self.parameters = {"model": self.settings.model}
        self._batch = batch
        self._largest_allowed = batch
        self._largest_served = 0
        self._vectors: dict[str, Vector] = {}
        self._dimensions: int | None = None

    def ask(self, pairs: Sequence[Pair]) -> list[Verdict]:
        texts = list(dict.fromkeys(sendable(note) for pair in pairs for note in pair))
        vectors = self._known(texts)
        cached = frozenset(vectors) - self._vectors.keys()
        failed = {text: "an empty note has no embedding" for text in texts if not text.strip()}
        unknown = [text for text in texts if text not in vectors and text not in failed]
        if vectors:
            self._endpoint.trusted = True
        if unknown:
            self._ask_model(unknown, vectors, failed)
        verdicts = [self._compare(pair, vectors, failed, cached) for pair in pairs]
        self.usage.cached += sum(verdict.by == "cache" for verdict in verdicts)
        return verdicts

    def uncached(self, pairs: Sequence[Pair]) -> int:
        """How many requests `ask` would send for these pairs, if none has to be repeated."""
        texts = {sendable(note) for pair in pairs for note in pair}
        missing = sum(1 for text in texts - self._known(list(texts)).keys() if text.strip())
        calls = -(-missing // self._batch)
        return calls if self.max_calls is None else min(calls, self.max_calls)

    def _compare(
        self, pair: Pair, vectors: Mapping[str, Vector], failed: Mapping[str, str], cached: frozenset[str]
    ) -> Verdict:
        a, b = (sendable(note) for note in pair)
        if a in failed or b in failed:
            return Verdict.undecided(failed.get(a) or failed[b])
        # Rounding may carry a cosine a hair past 1.
        score = min(1.0, max(0.0, float(vectors[a].astype(np.float64) @ vectors[b].astype(np.float64))))
        by = "cache" if a in cached and b in cached else "model"
        return Verdict(SAME if score >= self.threshold else DIFFERENT, score, f"cosine {score:.3f}", by)

    def _key(self, text: str) -> str:
        return verdict_key(self.name, self.settings.model, "", {}, [text])

    def _known(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Unit vectors that are here already, from this run or from the cache."""
        vectors = {text: self._vectors[text] for text in texts if text in self._vectors}
        if self.cache is None:
            return vectors
        keys = {self._key(text): text for text in texts if text not in vectors}
        for key, value in self.cache.get_many(list(keys)).items():
            vector = _unpack(value)
            if vector is not None and self._fits(vector):
                vectors[keys[key]] = vector
        return vectors

    def _ask_model(self, texts: Sequence[str], vectors: dict[str, Vector], failed: dict[str, str]) -> None:
        """Adds each text's vector to `vectors`, or the reason why there is none to `failed`."""
        batches = [tuple(texts[i : i + self._batch]) for i in range(0, len(texts), self._batch)]
        allowed = self._calls_left(len(batches))
        for batch in batches[allowed:]:
            failed.update(dict.fromkeys(batch, self._limit_reached()))
        sent: set[Texts] = set()

        def attempt(batch: Texts) -> Sequence[Texts] | None:
            half = len(batch) // 2
            if len(batch) > self._largest_allowed:
                return batch[:half], batch[half:]
            body = {"model": self.settings.model, "input": list(batch)}
            try:
                reply = self._post(batch, body, sent, divisible=half > 0)
            except GiveUp:
                if not half:
                    raise
                if len(batch) > self._largest_served:  # too many for this server, as far as anybody knows
                    self._largest_allowed = min(self._largest_allowed, half)
                return batch[:half], batch[half:]
            self._largest_served = max(self._largest_served, len(batch))
            missing = self._take(batch, reply, vectors)
            if missing:
                reason = f"{len(missing)} of {len(batch)} vectors missing or unusable"
                raise RetryLater(reason, remaining_job=missing)
            return None

        def give_up(batch: Texts, reason: str) -> None:
            failed.update(dict.fromkeys(batch, reason))

        self._send(batches[:allowed], attempt, give_up, sent)

    def _take(self, texts: Texts, reply: JsonObject, vectors: dict[str, Vector]) -> Texts:
        """Keeps the vectors of a reply; the texts that it has no usable vector for."""
        received: dict[int, Vector] = {}
        rows = reply.get("data")
        for position, row in enumerate(rows if isinstance(rows, list) else ()):
            index = row.get("index", position) if isinstance(row, dict) else None
            vector = _unit(row.get("embedding")) if isinstance(row, dict) else None
            if isinstance(index, int) and 0 <= index < len(texts) and vector is not None:
                received[index] = vector
        with self._lock:
            if self._dimensions is None and received:
                self._dimensions = Counter(map(len, received.values())).most_common(1)[0][0]
        for index, vector in received.items():
            if self._fits(vector):
                self._keep(texts[index], vector)
                vectors[texts[index]] = vector
        return tuple(text for text in texts if text not in vectors)

    def _fits(self, vector: Vector) -> bool:
        """Whether it has as many dimensions as the model's others; the first vector decides how many."""
        with self._lock:
            self._dimensions = self._dimensions or len(vector)
            return len(vector) == self._dimensions

    def _keep(self, text: str, vector: Vector) -> None:
        if self.cache is None:
            self._vectors[text] = vector
        else:
            value = {"vector": base64.b64encode(vector.astype("<f4").tobytes()).decode()}
            self.cache.put(self._key(text), value, judge=self.name, model=self.settings.model)


def _unit(value: object) -> Vector | None:
    """A list of finite numbers as a vector of length 1; None for anything else, zeros included."""
    if not isinstance(value, list) or not all(type(x) in (int, float) for x in value):
        return None
    try:
        vector = np.array(value, dtype=np.float64)
    except OverflowError:
        return None
    length = float(np.linalg.norm(vector)) if len(value) else 0.0
    return (vector / length).astype(np.float32) if np.isfinite(length) and length > 0 else None


def _unpack(value: JsonObject) -> Vector | None:
    try:
        data = base64.b64decode(value["vector"], validate=True)
        vector = np.frombuffer(data, dtype="<f4").astype(np.float32)
    except (KeyError, TypeError, ValueError):
        return None
    length = float(np.linalg.norm(vector)) if len(vector) else 0.0
    return vector if abs(length - 1) < 1e-3 else None
