"""The cascade against a model that is asked about everything: Code Review Bench, three models' verdicts replayed.

The offline judge's scores are held out: each pull request is scored by weights that were learned on others. An aligned
pair is off where it is none by the model's verdicts on everything, or is missing. Text is what the prompts hold,
instructions included. How much to ask (`worth`) is also chosen anew for each pull request, on the others.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t

from bench.data import PUBLISHED
from bench.measure import Result, Row
from metareview.comments.align import Graph, align
from metareview.judges.builtin.cascade import SETTINGS, CascadeJudge
from metareview.judges.cascade_questions import ListRules
from metareview.judges.offline.model import VECTORS, shipped
from metareview.judges.protocol import Answer, Judge, ModelJudge, Planned, Question, Usage
from metareview.judges.registry import PAIR, REVIEW
from metareview.judges.remote.llm import LlmJudge
from metareview.judges.remote.settings import ModelSettings
from metareview.model.comment import Comment

ROOT = Path(__file__).resolve().parents[1]
WORTHS = (0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.04, 0.05, 0.06, 0.07, 0.085, 0.1, 0.15, 0.2)
LIMITS = {"careful": 0.01, "frugal": 0.025}
"""The share of aligned pairs that may be off."""
MARGIN = 0.85
"""When `worth` is chosen on other pull requests, what they have off may be so much of the limit."""


class _HeldOut(Judge):
    """Hands out scores that were worked out before, by the question's number, which stands for its pull request."""

    name = "offline"

    def __init__(self, scores: Sequence[np.ndarray]) -> None:
        self.scores = scores

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        scores = [self.scores[int(question.pr)] for question in questions]
        return [Answer(score, (score >= shipped().threshold).astype(np.int8)) for score in scores]


@dataclass
class _Replay(ModelJudge):
    """A model's verdicts, from the file. Notes for each question how many calls and characters it was asked in."""

    name = "replay"
    matches: Sequence[np.ndarray]
    ask: str
    calls: np.ndarray = field(init=False)
    characters: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.usage = Usage()
        self.calls, self.characters = np.zeros((2, len(self.matches)))
        self.asker = LlmJudge(ModelSettings("http://127.0.0.1:9/v1", "replayed"), ask=self.ask)

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        for question in questions:
            planned = self.asker.planned([question])
            self.calls[int(question.pr)] += planned.calls
            self.characters[int(question.pr)] += planned.prompt_characters
        return [self._answer(question) for question in questions]

    def _answer(self, question: Question) -> Answer:
        match = self.matches[int(question.pr)][question.pairs[:, 0], question.pairs[:, 1]]
        return Answer(np.where(match, 0.95, 0.05), match.astype(np.int8))

    def planned(self, questions: Sequence[Question]) -> Planned:
        return self.asker.planned(questions)


@dataclass(frozen=True)
class Outcome:
    """Of one way to ask, question by question: calls, characters, aligned pairs off."""

    calls: np.ndarray
    characters: np.ndarray
    off: np.ndarray


@dataclass(frozen=True)
class Replayed:
    """All questions, with what asking about everything would cost and align."""

    questions: Sequence[Question]
    model: np.ndarray
    pull: np.ndarray
    scores: Sequence[np.ndarray]
    matches: Sequence[np.ndarray]
    truth: Sequence[dict[int, int]]

    @property
    def aligned(self) -> np.ndarray:
        return np.array([len(pairs) for pairs in self.truth])

    def everything(self, ask: str) -> Outcome:
        model = _Replay(self.matches, ask)
        model.judge(self.questions)
        return Outcome(model.calls, model.characters, np.zeros(len(self.questions)))

    def cascade(self, rules: ListRules) -> Outcome:
        model = _Replay(self.matches, REVIEW)
        answers = CascadeJudge(_HeldOut(self.scores), model, rules).judge(self.questions)
        found = [_aligned(question, answer) for question, answer in zip(self.questions, answers, strict=True)]
        off = [_off(*each) for each in zip(found, self.truth, self.matches, strict=True)]
        return Outcome(model.calls, model.characters, np.array(off))


def replayed(seed: int = 0) -> Replayed:
    """Three models' verdicts on what 34 tools said, with held-out offline scores."""
    sys.path.insert(0, str(ROOT / "scripts"))
    from offline_figures import by_pull_request, held_out, prepare

    data, _ = prepare(PUBLISHED, ROOT / "src" / "metareview" / "data" / VECTORS)
    scores = np.split(held_out(data, by_pull_request(data, seed)), data.cuts)
    matches = [(q.label == 1).reshape(len(q.question.generated), -1) for q in data.questions]
    questions = [replace(q.question, pr=str(number)) for number, q in enumerate(data.questions)]
    pulls = {pull: i for i, pull in enumerate(dict.fromkeys(q.pull for q in data.questions))}
    truth = [
        _aligned(question, Answer(np.where(match, 0.95, 0.05).ravel(), match.astype(np.int8).ravel()))
        for question, match in zip(questions, matches, strict=True)
    ]
    return Replayed(
        questions,
        np.array([q.model for q in data.questions]),
        np.array([pulls[q.pull] for q in data.questions]),
        scores,
        matches,
        truth,
    )


def run() -> Result:
    title = "Cascade against asking about everything (Code Review Bench, three models, held-out offline scores)"
    if not PUBLISHED.exists():
        return Result(title + "; the data is not there", [], "none")
    data = replayed()
    lists, pairs = data.everything(REVIEW), data.everything(PAIR)
    rows = [_row("llm --ask review", data, lists, lists), _row("llm --ask pair", data, pairs, lists)]
    for name, rules in SETTINGS.items():
        rows += _rows(f"cascade, {name}", data, data.cascade(rules), lists, LIMITS[name])
    curve = {worth: data.cascade(ListRules(worth=worth)) for worth in WORTHS}
    rows += [_row(f"curve: worth {worth}", data, outcome, lists) for worth, outcome in curve.items()]
    for name, limit in LIMITS.items():
        rows.append(_row(f"{name}, worth chosen on other pull requests", data, _chosen(data, curve, limit), lists))
    return Result(title, rows, "Code Review Bench")


def _chosen(data: Replayed, curve: dict[float, Outcome], limit: float) -> Outcome:
    """For each pull request: the cheapest of those that keep the limit, with a margin, on the others."""
    found = [np.zeros(len(data.questions)) for _ in range(3)]
    for pull in np.unique(data.pull):
        here = data.pull == pull
        keeps = [
            outcome
            for outcome in curve.values()
            if outcome.off[~here].sum() <= MARGIN * limit * data.aligned[~here].sum()
        ]
        keeps = keeps or [min(curve.values(), key=lambda each: each.off[~here].sum())]
        best = min(keeps, key=lambda each: each.characters[~here].sum())
        for into, values in zip(found, (best.calls, best.characters, best.off), strict=True):
            into[here] = values[here]
    return Outcome(*found)


def _rows(what: str, data: Replayed, outcome: Outcome, lists: Outcome, limit: float) -> list[Row]:
    rows = [_row(what, data, outcome, lists)]
    share, off = _share(outcome.characters, lists.characters), _share(outcome.off, data.aligned)
    target = f"off <= {limit}" + (", text <= 0.7" if limit == LIMITS["careful"] else "")
    rows[0] = replace(rows[0], target=target, met=off <= limit and (limit != LIMITS["careful"] or share <= 0.7))
    for model in np.unique(data.model):
        of = data.model == model
        part = Outcome(outcome.calls[of], outcome.characters[of], outcome.off[of])
        of_lists = Outcome(lists.calls[of], lists.characters[of], lists.off[of])
        rows.append(_row(f"{what}, {model}", _part(data, of), part, of_lists))
    return rows


def _part(data: Replayed, of: np.ndarray) -> Replayed:
    chosen = np.flatnonzero(of).tolist()
    pick: Callable[[Sequence[Any]], list[Any]] = lambda values: [values[i] for i in chosen]  # noqa: E731
    columns = map(pick, (data.scores, data.matches, data.truth))
    return Replayed(pick(data.questions), data.model[of], data.pull[of], *columns)


def _row(what: str, data: Replayed, outcome: Outcome, lists: Outcome) -> Row:
    pairs = sum(len(question.pairs) for question in data.questions)
    groups = len(data.questions)
    off = _interval(data.pull, outcome.off, data.aligned)
    text = _interval(data.pull, outcome.characters, lists.characters)
    return Row(
        what,
        f"{_share(outcome.off, data.aligned):.2%} off ({off[0]:.2%} to {off[1]:.2%}), "
        f"{_share(outcome.characters, lists.characters):.1%} of the text ({text[0]:.1%} to {text[1]:.1%}), "
        f"{int(outcome.calls.sum()):,} calls, about {outcome.characters.sum() / 4:,.0f} tokens, "
        f"{(outcome.calls > 0).sum() / groups:.1%} of {groups:,} reviews, "
        f"{outcome.calls.sum() / pairs:.1%} of {pairs:,} pairs",
    )


def _share(part: np.ndarray, whole: np.ndarray) -> float:
    return float(part.sum() / whole.sum())


def _interval(pull: np.ndarray, part: np.ndarray, whole: np.ndarray) -> tuple[float, float]:
    """95 %, each pull request left out in turn."""
    pulls = np.unique(pull)
    without = np.array([_share(part[pull != each], whole[pull != each]) for each in pulls])
    n = len(pulls)
    reach = t.ppf(0.975, n - 1) * np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    value = _share(part, whole)
    return max(0.0, value - reach), value + reach


def _aligned(question: Question, answer: Answer) -> dict[int, int]:
    """Reference -> comment."""
    edges = question.pairs[answer.match == 1]
    graph = Graph(edges[:, 0], edges[:, 1], answer.score[answer.match == 1])
    notes = [[Comment(note=note) for note in side] for side in (question.generated, question.reference)]
    return {reference: comment for comment, reference in align("optimal", graph, *notes).pairs}


def _off(found: dict[int, int], truth: dict[int, int], matches: np.ndarray) -> int:
    """Pairs that the model would not call a match, and pairs fewer than with it asked about everything; a reference
    with a wrong partner in place of a right one counts once. Where several alignments are as good, any will do."""
    wrong = [reference for reference, comment in found.items() if not matches[comment, reference]]
    missing = len(truth) - (len(found) - len(wrong))
    swapped = min(missing, sum(reference in truth for reference in wrong))
    return len(wrong) + missing - swapped
