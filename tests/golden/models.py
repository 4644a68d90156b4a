"""What the model server answers: by the notes alone, so that no order of requests changes an answer."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable
from pathlib import Path

from model_server import Exchange, ReplayModel, Reply, error, verdict

_WORD = re.compile(r"\w+")


def make_model(evaluations: Path) -> Callable[[Exchange], Reply]:
    """A model that has the verdicts of a published one where that is here, and goes by shared words otherwise."""
    replay = ReplayModel(evaluations) if evaluations.exists() else None

    def answer(exchange: Exchange) -> Reply:
        if "input" in exchange.body:
            return _embeddings(exchange)
        if replay is not None and exchange.notes in replay.matches:
            return replay(exchange)
        generated, reference = (set(_WORD.findall(note.lower())) for note in exchange.notes)
        share = len(generated & reference) / max(1, min(len(generated), len(reference)))
        return verdict(share > 0.5, round(0.5 + abs(share - 0.5), 2))

    return answer


def refusing(model: Callable[[Exchange], Reply]) -> Callable[[Exchange], Reply]:
    """The same model, which refuses a fifth of the pairs."""

    def answer(exchange: Exchange) -> Reply:
        refuses = zlib.crc32("\n".join(exchange.notes).encode()) % 5 == 1
        return error(422, "refused") if refuses else model(exchange)

    return answer


def _embeddings(exchange: Exchange) -> Reply:
    """The signs of sums over the words' checksums: of length 8, so that every cosine is exact."""
    rows = []
    for index, text in enumerate(exchange.body["input"]):
        sums = [0] * 64
        for word in _WORD.findall(text.lower()):
            bits = zlib.crc32(word.encode()) << 32 | zlib.crc32(word[::-1].encode())
            sums = [total + (1 if bits >> bit & 1 else -1) for bit, total in enumerate(sums)]
        vector = [1 if total >= 0 else -1 for total in sums]
        rows.append({"object": "embedding", "index": index, "embedding": vector})
    return Reply(200, {"object": "list", "data": rows, "usage": {"prompt_tokens": 7, "total_tokens": 7}})
