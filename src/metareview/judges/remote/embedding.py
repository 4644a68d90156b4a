"""`embedding`: the cosine of two notes' vectors from an OpenAI-compatible embeddings endpoint.

Each distinct note is sent once, in batches, and its vector is kept in the verdict cache. The score of a pair is the
cosine, with everything below 0 counted as 0. A pair with a note that got no vector is undecided.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from metareview.judges.protocol import DIFFERENT, SAME
from metareview.judges.remote.judge import Pair, RemoteJudge
from metareview.judges.remote.model import OTHER_PROCESS
from metareview.judges.remote.pool import GiveUp, NotYet
from metareview.judges.remote.verdict import JsonObject, Malformed, Verdict
from metareview.model.words import format_score

Vector = NDArray[np.float32]
Texts = tuple[str, ...]

THRESHOLD = 0.75
"""A starting point, not a measurement: cosines of one model say nothing about another's (unrelated texts lie near 0.2
in some, near 0.75 in others). `metareview calibrate LABELS --judge embedding` finds the threshold of yours."""


class EmbeddingJudge(RemoteJudge):
    """Compares vectors of an embedding model.

    In `usage`, `llm_calls` counts the batches sent, `cached` the pairs whose vectors both came from the cache.
    """

    name, kind, operation = "embedding", "EMBEDDING", "embeddings"
    threshold: float = THRESHOLD
    largest_reply = 32 * 2**20  # 64 vectors of 16,000 numbers
    batch = 64
    """How many notes go into a call; less once the server has refused so many."""
    _largest_served = 0
    _dimensions: int | None = None

    def _ask(self, pairs: Sequence[Pair]) -> list[Verdict]:
        texts = dict.fromkeys(note for pair in pairs for note in pair)
        vectors = self._known(texts)
        cached = frozenset(vectors if self.cache else ())
        failed = {text: "an empty note has no embedding" for text in texts if not text.strip()}
        if vectors:
            self._endpoint.trusted = True
        self._ask_model([text for text in texts if text not in vectors and text not in failed], vectors, failed)

        def compare(pair: Pair) -> Verdict:
            for note in pair:
                if note in failed:
                    return Verdict.undecided(failed[note])
            a, b = (vectors[note].astype(np.float64) for note in pair)
            score = min(1.0, max(0.0, float(a @ b)))  # rounding may carry a cosine a hair past 1
            by = "cache" if cached.issuperset(pair) else "model"
            return Verdict(SAME if score >= self.threshold else DIFFERENT, score, f"cosine {format_score(score)}", by)

        return list(map(compare, pairs))

    def _calls(self, pairs: Sequence[Pair]) -> list[int]:
        texts = dict.fromkeys(note for pair in pairs for note in pair if note.strip())
        known = self._known(texts)
        lengths = [len(text) for text in texts if text not in known]
        return [sum(lengths[i : i + self.batch]) for i in range(0, len(lengths), self.batch)]

    def _key(self, text: str) -> str:
        return self._verdict_key("", {}, [text])

    def _known(self, texts: Collection[str]) -> dict[str, Vector]:
        """The unit vectors that were kept."""
        keys = {self._key(text): text for text in texts}
        return self._vectors_in(self._stored(keys), keys)

    def _vectors_in(self, values: Mapping[str, JsonObject], keys: Mapping[str, str]) -> dict[str, Vector]:
        """The usable vectors among stored values, by text."""
        unpacked = {keys[key]: _unpack(value) for key, value in values.items()}
        return {text: vector for text, vector in unpacked.items() if vector is not None and self._fits(vector)}

    def _ask_model(self, texts: Sequence[str], vectors: dict[str, Vector], failed: dict[str, str]) -> None:
        """Adds each text's vector to `vectors`, or the reason why there is none to `failed`."""
        batches = [tuple(texts[i : i + self.batch]) for i in range(0, len(texts), self.batch)]
        allowed = self._calls_left(len(batches))
        sent: set[Texts] = set()

        def attempt(batch: Texts) -> Sequence[Texts] | None:
            half = len(batch) // 2
            if len(batch) > self.batch:
                return batch[:half], batch[half:]
            keys = {self._key(text): text for text in batch}
            claim = self._claim(list(keys))
            known = self._vectors_in(claim.known, keys)
            vectors.update(known)
            not_known = [(key, text) for key, text in keys.items() if text not in known]
            mine = tuple(text for key, text in not_known if key in claim.mine or key in claim.known)
            others = tuple(text for _, text in not_known if text not in mine)
            if not mine and others:
                raise NotYet(OTHER_PROCESS, sent=False)
            if known or others:
                return [part for part in (mine, others) if part]
            body = {"model": self.settings.model, "input": list(batch)}
            with self._asking(keys):
                try:
                    reply = self._post(batch, body, sent, divisible=half > 0)
                except GiveUp:
                    if not half:
                        raise
                    if len(batch) > self._largest_served:  # too many for this server, as far as anybody knows
                        self.batch = min(self.batch, half)
                    return batch[:half], batch[half:]
                self._largest_served = max(self._largest_served, len(batch))
                with self._reading(reply):
                    if missing := self._take(batch, reply, vectors):
                        reason = f"{len(missing)} of {len(batch)} vectors missing or unusable"
                        raise Malformed(reason, remaining_job=missing)
            return None

        def give_up(batch: Texts, reason: str) -> None:
            failed.update(dict.fromkeys(batch, reason))

        for batch in batches[allowed:]:
            give_up(batch, self._limit_reached())
        self._send(batches[:allowed], attempt, give_up, sent)

    def _take(self, texts: Texts, reply: JsonObject, vectors: dict[str, Vector]) -> Texts:
        """Keeps the vectors of a reply; the texts that it has no usable vector for."""
        received: dict[str, Vector] = {}
        rows = reply.get("data")
        for position, row in enumerate(rows if isinstance(rows, list) else ()):
            if isinstance(row, dict):
                index, vector = row.get("index", position), _unit(row.get("embedding"))
                if isinstance(index, int) and 0 <= index < len(texts) and vector is not None:
                    received[texts[index]] = vector
        with self._lock:
            if self._dimensions is None and received:
                self._dimensions = Counter(map(len, received.values())).most_common(1)[0][0]
        for text, vector in received.items():
            if self._fits(vector):
                value = {"vector": base64.b64encode(vector.astype("<f4").tobytes()).decode()}
                self._keep(self._key(text), value)
                vectors[text] = vector
                self._usability.used()
        return tuple(text for text in texts if text not in vectors)

    def _fits(self, vector: Vector) -> bool:
        """Whether it has as many dimensions as the model's others; the first vector decides how many."""
        with self._lock:
            self._dimensions = self._dimensions or len(vector)
            return len(vector) == self._dimensions


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


def _unpack(value: JsonObject) -> Vector | None:
    try:
        vector = np.frombuffer(base64.b64decode(value["vector"], validate=True), "<f4").astype(np.float32)
    except (KeyError, TypeError, ValueError):
        return None
    return vector if abs(float(np.linalg.norm(vector)) - 1) < 1e-3 else None
