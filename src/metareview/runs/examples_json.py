"""The lines of examples.jsonl: as labels have them, with who decided. `formats/verdicts` reads them again."""

from __future__ import annotations

from metareview.judges.known import KnownVerdict
from metareview.runs.files import JsonObject


def known_to_json(verdict: KnownVerdict) -> JsonObject:
    head = {"pr": verdict.pr, "reviewer": verdict.reviewer}
    return {**head, "a": verdict.reference, "b": verdict.note, "match": verdict.match, "by": verdict.by}
