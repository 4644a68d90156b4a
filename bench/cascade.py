"""The cascade against a model that is asked about everything: Code Review Bench, its verdicts replayed.

The offline judge's scores are held out: each pull request is scored by weights that were learned on others.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from metareview.comments.align import Graph, align
from metareview.judges.builtin.cascade import CascadeJudge
from metareview.judges.offline.model import shipped
from metareview.judges.protocol import Answer, Judge, ModelJudge, Question, Usage
from metareview.model.comment import Comment

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
SPLITS = 3


class _HeldOut(Judge):
    """Hands out scores that were worked out before."""

    name = "offline"

    def __init__(self, scores: list[np.ndarray]) -> None:
        self.scores = scores

    def judge(self, questions: list[Question]) -> list[Answer]:
        return [Answer(score, (score >= shipped().threshold).astype(np.int8)) for score in self.scores]


class _Replay(ModelJudge):
    """The model's verdicts, from the file; remembers the distinct pairs that it is asked about."""

    name = "replay"

    def __init__(self, hits: dict[tuple[str, str], float]) -> None:
        self.hits, self.usage, self.asked = hits, Usage(), set()

    def judge(self, questions: list[Question]) -> list[Answer]:
        for question in questions:
            self.asked.update((question.generated[g], question.reference[r]) for g, r in question.pairs.tolist())
        return [_everything(question, self.hits) for question in questions]

    def planned_calls(self, questions: list[Question]) -> int:
        return sum(len(question.pairs) for question in questions)


def run() -> dict[str, Any]:
    title = "Cascade against asking about everything (Code Review Bench, held-out offline scores)"
    if not SHARED.exists():
        return {"title": title + "; the data is not there", "rows": []}
    sys.path.insert(0, str(ROOT / "scripts"))
    from train_offline import folds, held_out, prepare

    data, _ = prepare(SHARED)
    questions = [labelled.question for labelled in data.questions]
    hits = _hits()
    whole = [_aligned(question, _everything(question, hits)) for question in questions]
    cuts = np.cumsum([len(question.pairs) for question in questions])[:-1]
    asked, same, extra = [], [], []
    for seed in range(SPLITS):
        model = _Replay(hits)
        scores = np.split(held_out(data, folds(data, seed)), cuts)
        answers = CascadeJudge(_HeldOut(scores), model).judge(questions)
        aligned = [_aligned(question, answer) for question, answer in zip(questions, answers, strict=True)]
        asked.append(len(model.asked) / sum(map(len, scores)))
        total = sum(map(len, whole))
        same.append(sum(len(a & b) for a, b in zip(aligned, whole, strict=True)) / total)
        extra.append(sum(len(a - b) for a, b in zip(aligned, whole, strict=True)) / total)
    share, kept = float(np.mean(asked)), float(np.mean(same))
    return {
        "title": title,
        "rows": [
            {"what": "pairs asked about", "value": share, "unit": "of all", "target": "<= 0.12", "met": share <= 0.12},
            {"what": "aligned pairs that are the same", "value": kept, "unit": "of the model's", "target": ">= 0.97",
             "met": kept >= 0.97},
            {"what": "aligned pairs beyond these", "value": float(np.mean(extra)), "unit": "of the model's"},
        ],
    }  # fmt: skip


def _hits() -> dict[tuple[str, str], float]:
    evaluations = json.loads((SHARED / "martian" / "evaluations.json").read_text("utf-8"))
    return {
        (hit["matched_candidate"], hit["golden_comment"]): hit["confidence"]
        for tools in evaluations.values()
        for result in tools.values()
        for hit in result["true_positives"]
    }


def _everything(question: Question, hits: dict[tuple[str, str], float]) -> Answer:
    """The file's verdicts on all pairs."""
    confidences = [hits.get((question.generated[g], question.reference[r])) for g, r in question.pairs.tolist()]
    score = np.array([0.1 if confidence is None else confidence for confidence in confidences], float)
    return Answer(score, np.array([confidence is not None for confidence in confidences], np.int8))


def _aligned(question: Question, answer: Answer) -> set[tuple[int, int]]:
    edges = question.pairs[answer.match == 1]
    graph = Graph(edges[:, 0], edges[:, 1], answer.score[answer.match == 1])
    notes = [[Comment(note=note) for note in side] for side in (question.generated, question.reference)]
    return set(align("optimal", graph, *notes).pairs)
