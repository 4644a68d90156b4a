"""The JSON of who decided, and the lines of examples.jsonl, which it learned from.

These are as labels have them, with who decided each; `formats/verdicts` reads them again.
"""

from __future__ import annotations

from dataclasses import asdict

from metareview.comments.summary import JudgeSummary, LearnedFrom
from metareview.judges.known import KnownVerdict
from metareview.runs.files import JsonObject


def judge_to_json(judge: JudgeSummary) -> JsonObject:
    stored = asdict(judge)
    if judge.learned_from is None:
        del stored["learned_from"]
    return stored


def judge_from_json(stored: JsonObject) -> JudgeSummary:
    learned = stored.get("learned_from")
    return JudgeSummary(**stored | {"learned_from": None if learned is None else LearnedFrom(**learned)})


def known_to_json(verdict: KnownVerdict) -> JsonObject:
    head = {"pr": verdict.pr, "reviewer": verdict.reviewer}
    return {**head, "a": verdict.reference, "b": verdict.note, "match": verdict.match, "by": verdict.by}
