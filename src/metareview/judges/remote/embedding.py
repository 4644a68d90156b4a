"""`embedding`: the cosine of two notes' vectors from an OpenAI-compatible embeddings endpoint.

Each distinct note is sent once, in batches, and its vector is kept in the verdict cache. The score of a pair
is the cosine, with everything below 0 counted as 0. A pair with a note that got no vector is undecided.
"""

from __future__ import annotations

import base64
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metareview.judges.protocol import DIFFERENT, SAME, UNDECIDED, Answer, Question
from metareview.judges.remote.cache import VerdictCache, verdict_key
from metareview.judges.remote.endpoint import Endpoint
from metareview.judges.remote.llm import ModelUsage, Pair, as_answer, check_options
from metareview.judges.remote.pool import ATTEMPTS, BACKOFF, Again, Crew, GiveUp
from metareview.judges.remote.prompt import sendable
from metareview.judges.remote.settings import ModelSettings
from metareview.judges.remote.verdict import Verdict

Vector = NDArray[np.float32]
Texts = tuple[str, ...]

THRESHOLD = 0.75
"""A starting point, not a measurement: cosines of one model say nothing of another's (unrelated texts lie
near 0.2 in some, near 0.75 in others). `metareview calibrate LABELS --judge embedding` finds the threshold of
yours."""

_BATCH = 64


class EmbeddingJudge:
    """Compares vectors of the model of `settings` (by default that of the environment).

    `max_calls` caps the requests of this judge's life, retries aside; notes beyond it get no vector. In
    `usage`, `llm_calls` counts the batches sent, `cached` the pairs whose vectors both came from the cache.
    """

    name = "embedding"
    free = False

    def __init__(
        self,
        settings: ModelSettings | None = None,
        *,
        threshold: float | None = None,
        concurrency: int = 16,
        cache: VerdictCache | None = None,
        max_calls: int | None = None,
        timeout: float = 60.0,
        progress: Callable[[int, int], None] | None = None,
        batch: int = _BATCH,
        attempts: int = ATTEMPTS,
        backoff: float = BACKOFF,
    ) -> None:
        check_options(threshold, concurrency, max_calls, timeout)
        self.settings = settings or ModelSettings.embedding()
        self.threshold = THRESHOLD if threshold is None else threshold
        self.cache = cache
        self.max_calls = max_calls
        self.progress = progress
        self.usage = ModelUsage()
        self._batch = batch
        self._largest = batch
        self._served = 0
        self._crew: Crew[Texts] = Crew(concurrency, attempts=attempts, backoff=backoff)
        self._endpoint = Endpoint(
            self.settings, "embeddings", concurrency=concurrency, timeout=timeout, patience=6 * backoff
        )
        self._vectors: dict[str, Vector] = {}
        self._size: int | None = None
        self._lock = threading.Lock()

    @property
    def parameters(self) -> dict[str, object]:
        """What, besides the notes, decides its answers; a run's manifest has it."""
        return {"model": self.settings.model}

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        """The verdicts on all pairs of all questions."""
        pairs = [(q.generated[g], q.reference[r]) for q in questions for g, r in q.pairs.tolist()]
        verdicts = iter(self.ask(pairs))
        return [as_answer([next(verdicts) for _ in question.pairs]) for question in questions]

    def ask(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """The verdicts on pairs of (generated note, reference's note), in their order."""
        texts = list(dict.fromkeys(sendable(note) for pair in pairs for note in pair))
        known = self._known(texts)
        cached = frozenset(known) - self._vectors.keys()
        failed = {text: "an empty note has no embedding" for text in texts if not text.strip()}
        todo = [text for text in texts if text not in known and text not in failed]
        if known:
            self._endpoint.trusted = True
        if todo:
            self._ask_model(todo, known, failed)
        verdicts = [self._compare(pair, known, failed, cached) for pair in pairs]
        self.usage.pairs += len(verdicts)
        self.usage.cached += sum(verdict.by == "cache" for verdict in verdicts)
        self.usage.errors += sum(verdict.match == UNDECIDED for verdict in verdicts)
        return verdicts

    def uncached(self, pairs: Sequence[Pair]) -> int:
        """How many requests `ask` would send for these pairs, if none has to be repeated."""
        texts = {sendable(note) for pair in pairs for note in pair}
        missing = sum(1 for text in texts - self._known(list(texts)).keys() if text.strip())
        calls = -(-missing // self._batch)
        return calls if self.max_calls is None else min(calls, self.max_calls)

    def planned_calls(self, questions: Sequence[Question]) -> int:
        """How many calls judging these questions would take, after the cache."""
        return self.uncached(
            [(q.generated[g], q.reference[r]) for q in questions for g, r in q.pairs.tolist()]
        )

    def close(self) -> None:
        """Lets go of the connections. The cache is the caller's."""
        self._endpoint.close()

    def _compare(
        self, pair: Pair, known: Mapping[str, Vector], failed: Mapping[str, str], cached: frozenset[str]
    ) -> Verdict:
        a, b = (sendable(note) for note in pair)
        if a in failed or b in failed:
            return Verdict.undecided(failed.get(a) or failed[b])
        # Rounding may carry a cosine a hair past 1.
        score = min(1.0, max(0.0, float(known[a].astype(np.float64) @ known[b].astype(np.float64))))
        by = "cache" if a in cached and b in cached else "model"
        return Verdict(SAME if score >= self.threshold else DIFFERENT, score, f"cosine {score:.3f}", by)

    def _key(self, text: str) -> str:
        return verdict_key(self.name, self.settings.model, "", {}, [text])

    def _known(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Unit vectors that are here already, from this run or from the cache."""
        known = {text: self._vectors[text] for text in texts if text in self._vectors}
        if self.cache is None:
            return known
        keys = {self._key(text): text for text in texts if text not in known}
        for key, value in self.cache.get_many(list(keys)).items():
            vector = _unpack(value)
            if vector is not None and self._fits(vector):
                known[keys[key]] = vector
        return known

    def _ask_model(self, todo: Sequence[str], known: dict[str, Vector], failed: dict[str, str]) -> None:
        batches = [tuple(todo[i : i + self._batch]) for i in range(0, len(todo), self._batch)]
        allowed = len(batches)
        if self.max_calls is not None:
            allowed = min(allowed, max(0, self.max_calls - self.usage.llm_calls))
        for batch in batches[allowed:]:
            reason = f"not asked: the limit of {self.max_calls} model calls was reached"
            failed.update(dict.fromkeys(batch, reason))
        requests = self._endpoint.requests
        calls: set[Texts] = set()

        def attempt(texts: Texts) -> Sequence[Texts] | None:
            half = len(texts) // 2
            if len(texts) > self._largest:
                return texts[:half], texts[half:]
            body = {"model": self.settings.model, "input": list(texts)}
            try:
                reply = self._endpoint.post(body, divisible=half > 0)
            except Again as problem:
                calls.update([texts] * problem.sent)
                raise
            except GiveUp:
                calls.add(texts)
                if not half:
                    raise
                if len(texts) > self._served:  # too many for this server, as far as anybody knows
                    self._largest = min(self._largest, half)
                return texts[:half], texts[half:]
            calls.add(texts)
            self._served = max(self._served, len(texts))
            left = self._take(texts, reply, known)
            if left:
                raise Again(f"{len(left)} of {len(texts)} vectors missing or unusable", job=left)
            return None

        def give_up(texts: Texts, reason: str) -> None:
            failed.update(dict.fromkeys(texts, reason))

        progress, total = self.progress, allowed
        tick = None if progress is None else (lambda done: progress(done, max(done, total)))
        try:
            self._crew.run(batches[:allowed], attempt, give_up, tick)
        finally:
            self.usage.llm_calls += len(calls)
            self.usage.requests += self._endpoint.requests - requests
        self._endpoint.raise_if_never_served()

    def _take(self, texts: Texts, reply: Mapping[str, Any], known: dict[str, Vector]) -> Texts:
        """Stores the vectors of a reply; the texts that it has no usable vector for."""
        tokens = reply.get("usage")
        vectors: dict[int, Vector] = {}
        rows = reply.get("data")
        for place, row in enumerate(rows if isinstance(rows, list) else ()):
            index = row.get("index", place) if isinstance(row, dict) else None
            vector = _unit(row.get("embedding")) if isinstance(row, dict) else None
            if isinstance(index, int) and 0 <= index < len(texts) and vector is not None:
                vectors[index] = vector
        with self._lock:
            if isinstance(tokens, dict) and isinstance(tokens.get("prompt_tokens"), int):
                self.usage.prompt_tokens += max(0, tokens["prompt_tokens"])
            if self._size is None and vectors:
                self._size = Counter(map(len, vectors.values())).most_common(1)[0][0]
        for index, vector in vectors.items():
            if self._fits(vector):
                self._keep(texts[index], vector)
                known[texts[index]] = vector
        return tuple(text for text in texts if text not in known)

    def _fits(self, vector: Vector) -> bool:
        """Whether it has as many numbers as the others of this model; the first one sets the measure."""
        with self._lock:
            self._size = self._size or len(vector)
            return len(vector) == self._size

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


def _unpack(value: Mapping[str, Any]) -> Vector | None:
    try:
        data = base64.b64decode(value["vector"], validate=True)
        vector = np.frombuffer(data, dtype="<f4").astype(np.float32)
    except (KeyError, TypeError, ValueError):
        return None
    length = float(np.linalg.norm(vector)) if len(vector) else 0.0
    return vector if abs(length - 1) < 1e-3 else None
