"""What the model server answers: by the notes alone, so that no order of requests changes an answer."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from model_server import Exchange, ReplayModel, Reply, error, matches, verdict

_WORD = re.compile(r"\w+")


def make_model(evaluations: Path) -> Callable[[Exchange], Reply]:
    """A model that has the verdicts of a published one where that is here, and goes by shared words otherwise."""
    replay = ReplayModel(evaluations) if evaluations.exists() else None

    def answer(exchange: Exchange) -> Reply:
        if "input" in exchange.body:
            return _embeddings(exchange)
        if exchange.is_list:
            references, comments = exchange.listed
            return matches(
                *(
                    {"reference": r, "comment": c, **asked}
                    for r, reference in enumerate(references)
                    for c, comment in enumerate(comments)
                    if (asked := decide(comment, reference)).pop("match")
                )
            )
        return verdict(**decide(*exchange.notes))

    def decide(*notes: str) -> dict[str, Any]:
        if replay is not None and notes in replay.matches:
            hit = replay.matches[notes]
            return {"match": True, "confidence": hit["confidence"], "reason": hit["reasoning"]}
        generated, reference = (set(_WORD.findall(note.lower())) for note in notes)
        share = len(generated & reference) / max(1, min(len(generated), len(reference)))
        return {"match": share > 0.5, "confidence": round(0.5 + abs(share - 0.5), 2), "reason": "because"}

    return answer


def refusing(model: Callable[[Exchange], Reply]) -> Callable[[Exchange], Reply]:
    """The same model, which refuses a fifth of the pairs, or of the lists."""

    def answer(exchange: Exchange) -> Reply:
        asked = json.dumps(exchange.listed) if exchange.is_list else "\n".join(exchange.notes)
        refuses = zlib.crc32(asked.encode()) % 5 == 1
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
