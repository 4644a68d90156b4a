"""Accuracy of the offline judge on pull requests, and on repositories, that it did not learn from.

Figures are means over the models whose verdicts they are against. Intervals (95 %) are by pull request: each is left
out in turn.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from learning import Learned, learn, learn_examples
from martian import Labelled, f1, family, read_martian, reversals, tool_counts
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import t

from metareview.benchmark.calibrate import auc, kappa, reliability
from metareview.judges.examples import KnownNotes
from metareview.judges.offline.examples import ExampleWeights, Nearness, boards, inputs, nearness
from metareview.judges.offline.features import Features, Pairs, all_features
from metareview.judges.offline.layout import lay_out
from metareview.judges.offline.model import read_background
from metareview.judges.offline.notes import read_notes
from metareview.judges.offline.words import RUN, split, stem
from metareview.judges.protocol import UNDECIDED

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
FORCED = 0.3
"""The weight of a forced no when weights are learned, against 1 for any other verdict. Rivals are learned from it."""
FOLDS = 10
SPLITS = 5


def read_statistics(folder: Path) -> dict[str, Any]:
    """In how many of AACR's notes each stem occurs, those that occur at least twice."""
    frequency: Counter[str] = Counter()
    notes = 0
    for name in ("positive", "negative"):
        for pull in json.loads((folder / f"{name}_samples.json").read_text("utf-8")):
            for comment in pull["comments"]:
                notes += 1
                words = {word for run in RUN.findall(comment["note"]) for word in split(run)[0]}
                frequency.update({stem(word) for word in words if word.isascii()})
    groups: dict[int, list[str]] = {}
    for word, count in frequency.items():
        if count > 1:
            groups.setdefault(count, []).append(word)
    return {"notes": notes, "frequency": {str(k): " ".join(sorted(groups[k])) for k in sorted(groups)}}


@dataclass(frozen=True)
class Data:
    """All questions with their pairs in one row, as `Features` has them."""

    questions: list[Labelled]
    features: Features
    label: NDArray[np.int64]
    forced: Bools
    pull: NDArray[np.int64]
    """For each pair: the number of its pull request."""
    repo: NDArray[np.str_]
    model: NDArray[np.str_]
    severity: NDArray[np.str_]

    @property
    def sure(self) -> Bools:
        """The pairs whose verdict is known and was not forced."""
        return (self.label >= 0) & ~self.forced

    @property
    def counts(self) -> Floats:
        return np.where(self.forced, FORCED, 1.0)

    @property
    def cuts(self) -> NDArray[np.int64]:
        """Where each question's pairs end, but for the last."""
        return np.cumsum([len(q.label) for q in self.questions])[:-1]


def prepare(data: Path, vectors: Path, tools: int = 36) -> tuple[Data, dict[str, Any]]:
    statistics = read_statistics(data / "aacr")
    questions = read_martian(data / "martian", tools)
    texts, layout = lay_out([q.question for q in questions])
    features = all_features(read_notes(texts, read_background(statistics, vectors)), layout)
    pulls = {pull: i for i, pull in enumerate(dict.fromkeys(q.pull for q in questions))}
    size = [len(q.label) for q in questions]
    return Data(
        questions=questions,
        features=features,
        label=np.concatenate([q.label for q in questions]),
        forced=np.concatenate([q.forced for q in questions]),
        pull=np.repeat([pulls[q.pull] for q in questions], size),
        repo=np.repeat([q.repo for q in questions], size),
        model=np.repeat([q.model for q in questions], size),
        severity=np.concatenate([np.tile(q.severity, len(q.question.generated)) for q in questions]),
    ), statistics


def by_pull_request(data: Data, seed: int) -> NDArray[np.int64]:
    """Whole pull requests, in FOLDS parts."""
    order = np.random.default_rng(seed).permutation(data.pull.max() + 1)
    return (order % FOLDS)[data.pull]


def by_repository(data: Data) -> NDArray[np.int64]:
    return np.unique(data.repo, return_inverse=True)[1]


def held_out(data: Data, fold: NDArray[np.int64], score: Callable[[Learned], Floats] | None = None) -> Floats:
    """Scores of every pair by weights that were learned on the other folds."""
    score = score or (lambda learned: learned.score(data.features))
    found = np.empty(len(fold))
    for f in np.unique(fold):
        found[fold == f] = score(learn(data.features, data.label, data.counts * (fold != f)))[fold == f]
    return found


def kappas(data: Data, called: Bools, chosen: Bools) -> list[float]:
    """Of each model's pairs among the chosen ones."""
    found = []
    for model in np.unique(data.model):
        of_model = chosen & (data.model == model)
        y, c = data.label[of_model] == 1, called[of_model]
        found.append(float(kappa(float((y & c).sum()), float(c.sum()), float(y.sum()), len(y))))
    return found


def best_threshold(data: Data, scores: Sequence[Floats], chosen: Bools) -> float:
    """The threshold with the highest mean kappa on the chosen pairs, averaged over its surroundings and over splits, so
    that no single pair decides it."""
    grid = np.arange(0.2, 0.8, 0.005)
    found = []
    for score in scores:
        for model in np.unique(data.model):
            of_model = chosen & data.sure & (data.model == model)
            y, s = data.label[of_model] == 1, score[of_model]
            called, right = (len(each) - np.searchsorted(np.sort(each), grid) for each in (s, s[y]))
            found.append(kappa(right, called, y.sum(), len(y)))
    smooth = np.convolve(np.mean(found, axis=0), np.ones(17) / 17, "valid")
    return round(float(grid[8 + int(np.argmax(smooth))]), 3)


@dataclass(frozen=True)
class Crossed:
    """Held-out scores, and for each pair the threshold that the other folds would choose."""

    score: Floats
    threshold: Floats

    @property
    def called(self) -> Bools:
        return self.score >= self.threshold

    @classmethod
    def of(cls, data: Data, score: Floats, fold: NDArray[np.int64]) -> Crossed:
        threshold = np.empty(len(score))
        for f in np.unique(fold):
            threshold[fold == f] = best_threshold(data, [score], fold != f)
        return cls(score, threshold)


def with_interval(data: Data, figure: Callable[[Bools], float]) -> dict[str, Any]:
    """A figure of the pairs that a mask leaves, and its interval by pull request."""
    pulls = np.unique(data.pull)
    without = np.array([figure(data.pull != pull) for pull in pulls])
    n = len(pulls)
    error = np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    value = figure(np.ones(len(data.pull), bool))
    reach = float(t.ppf(0.975, n - 1)) * error
    return {"value": value, "interval": [value - reach, value + reach]}


def agreement_figures(data: Data, crossed: Sequence[Crossed]) -> dict[str, Any]:
    """Of one way to split, mean over the splits: kappa both ways, AUC, the tools' F1."""
    sure, all_known = data.sure, data.label >= 0

    def mean_kappa(chosen: Bools) -> Callable[[Bools], float]:
        return lambda kept: float(np.mean([kappas(data, each.called, chosen & kept) for each in crossed]))

    gaps = [tool_gaps(data, each.called, one_to_one) for one_to_one in (True, False) for each in crossed]
    half = len(crossed)
    models = np.unique(data.model)
    return {
        "kappa": with_interval(data, mean_kappa(sure)),
        "kappa_of_each_model": {
            str(model): float(np.mean([kappas(data, each.called, sure)[i] for each in crossed]))
            for i, model in enumerate(models)
        },
        "kappa_of_each_split": [float(np.mean(kappas(data, each.called, sure))) for each in crossed],
        "kappa_with_forced_noes": with_interval(data, mean_kappa(all_known)),
        "auc": float(np.mean([_auc(data, each.score, sure, model) for each in crossed for model in models])),
        "precision": float(np.mean([(data.label == 1)[sure & each.called].mean() for each in crossed])),
        "recall": float(np.mean([each.called[sure & (data.label == 1)].mean() for each in crossed])),
        "f1_gap_one_to_one": float(np.mean([gap.mean() for gap in gaps[:half]])),
        "f1_gap_coverage": float(np.mean([gap.mean() for gap in gaps[half:]])),
        "largest_f1_gap": float(np.max([gap.max() for gap in gaps])),
    }


def _auc(data: Data, score: Floats, chosen: Bools, model: str) -> float:
    of_model = chosen & (data.model == model)
    return auc(data.label[of_model] == 1, score[of_model]) or 0.0


def tool_gaps(data: Data, called: Bools, one_to_one: bool) -> Floats:
    """The difference between each tool's F1 and that by the model, model after model."""
    found = []
    for model in np.unique(data.model):
        questions, of_model = [q for q in data.questions if q.model == model], data.model == model
        truth = tool_counts(questions, (data.label == 1)[of_model], one_to_one)
        judged = tool_counts(questions, called[of_model], one_to_one)
        found.append(np.abs(f1(truth.sum(1)) - f1(judged.sum(1))))
    return np.concatenate(found)


def ranking(data: Data, called: Bools) -> list[list[int]]:
    """For each model: pairs of tools that it separates, and how many of them the judge ranks the other way."""
    found = []
    for model in np.unique(data.model):
        questions, of_model = [q for q in data.questions if q.model == model], data.model == model
        truth, judged = (tool_counts(questions, e[of_model], True) for e in (data.label == 1, called))
        found.append(list(reversals(truth, judged)))
    return found


def slope(logit: Floats, label: NDArray[np.int64]) -> float:
    """Of a logistic regression on the held-out logits: 1 is calibrated, less is overconfident."""

    def loss(p: Floats) -> tuple[float, Floats]:
        z = p[0] * logit + p[1]
        e = expit(z) - label
        return float((np.logaddexp(0, z) - label * z).sum()), np.array([(e * logit).sum(), e.sum()])

    return float(minimize(loss, np.array([1.0, 0.0]), jac=True, method="L-BFGS-B").x[0])


def evaluate(data: Data, splits: int = SPLITS) -> dict[str, Any]:
    """All figures but those with examples."""
    folds = [by_pull_request(data, seed) for seed in range(splits)]
    crossed = [Crossed.of(data, held_out(data, fold), fold) for fold in folds]
    left_out = left_out_repositories(data)
    sure = data.sure
    threshold = best_threshold(data, [each.score for each in crossed], sure)
    score = np.mean([each.score for each in crossed], axis=0)
    labels, scores = data.label[sure], score[sure]
    called = crossed[0].called
    return {
        "pairs": int(sure.sum()),
        "matches": int((data.label == 1).sum()),
        "forced_noes": int(((data.label == 0) & data.forced).sum()),
        "threshold": threshold,
        "by_pull_request": agreement_figures(data, crossed),
        "by_repository": agreement_figures(data, [left_out]),
        "left_out_repository": {
            str(repo): float(np.mean(kappas(data, left_out.called, sure & (data.repo == repo))))
            for repo in np.unique(data.repo)
        },
        "by_severity": {
            str(each): with_interval(data, _kappa_of(data, called, sure & (data.severity == each)))
            | {"pairs": int((sure & (data.severity == each)).sum())}
            for each in np.unique(data.severity)
        },
        "kappa_without_rivals": kappa_without_rivals(data, folds[0], threshold),
        "calibration_slope": slope(np.log(scores / (1 - scores)), labels),
        "reliability": [[b.mean_score, b.match_rate, b.n] for b in reliability(labels, scores)],
        "tools_separated_and_reversed": ranking(data, called),
    }


def left_out_repositories(data: Data) -> Crossed:
    """Each repository by weights and threshold of the others."""
    fold = by_repository(data)
    return Crossed.of(data, held_out(data, fold), fold)


def kappa_without_rivals(data: Data, fold: NDArray[np.int64], threshold: float) -> float:
    """Each pair judged by itself, as labels without groups are, at the judge's own threshold."""
    score = held_out(data, fold, lambda learned: learned.score_alone(data.features))
    return float(np.mean(kappas(data, score >= threshold, data.sure)))


def _kappa_of(data: Data, called: Bools, chosen: Bools) -> Callable[[Bools], float]:
    return lambda kept: float(np.mean(kappas(data, called, chosen & kept)))


# Examples: what other tools' verdicts on the same pull requests add.

Chooser = Callable[[Labelled, Sequence[Labelled]], Sequence[Labelled]]


def all_others(own: Labelled, others: Sequence[Labelled]) -> Sequence[Labelled]:
    return [other for other in others if other.tool != own.tool]


def other_families(own: Labelled, others: Sequence[Labelled]) -> Sequence[Labelled]:
    """Without versions of the same tool."""
    return [other for other in others if family(other.tool) != family(own.tool)]


def so_many(count: int, seed: int = 0) -> Chooser:
    """So many tools of other families, drawn."""
    rng = np.random.default_rng(seed)

    def choose(own: Labelled, others: Sequence[Labelled]) -> Sequence[Labelled]:
        there = other_families(own, others)
        return [there[i] for i in rng.permutation(len(there))[:count]]

    return choose


def example_nearness(data: Data, choose: Chooser, background: Any) -> Nearness:
    """How near each pair comes to what the chosen tools' known verdicts by the same model."""
    together: dict[tuple[str, str], list[Labelled]] = {}
    for q in data.questions:
        together.setdefault((q.model, q.pull), []).append(q)
    known = [_known(choose(q, together[q.model, q.pull])) for q in data.questions]
    texts, layout = lay_out([q.question for q in data.questions])
    all_texts, found = boards(texts, known)
    pairs = Pairs(read_notes(all_texts, background), layout, *layout.all_pairs())
    return nearness(pairs, np.arange(len(pairs.comment)), known, found)


def _known(others: Sequence[Labelled]) -> KnownNotes | None:
    if not others:
        return None
    match = [
        np.where(q.forced, UNDECIDED, q.label).reshape(len(q.question.generated), -1).astype(np.int8) for q in others
    ]
    return KnownNotes([note for q in others for note in q.question.generated], np.concatenate(match))


def train_examples(data: Data, score: Floats, near: Sequence[Nearness], counts: Floats) -> ExampleWeights:
    """From few examples and from many alike, so that the weights suit both."""
    values = np.concatenate([inputs(score, each) for each in near])
    known = np.concatenate([each.known.any(1) for each in near])
    times = len(near)
    return learn_examples(values, np.tile(data.label, times), np.tile(counts, times) * known)


def learned_from(data: Data, background: Any) -> list[Nearness]:
    """The training data for the weights of examples: one, three, ten tools, and all of other families."""
    return [
        example_nearness(data, choose, background) for choose in (so_many(1), so_many(3), so_many(10), other_families)
    ]


def evaluate_examples(
    data: Data, threshold: float, with_examples: float, background: Any
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Kappa with examples, by weights that saw neither the pull request (or repository) nor its verdicts, at the
    shipped thresholds."""
    shown = {
        "one other tool": so_many(1, seed=1),
        "three other tools": so_many(3, seed=1),
        "all tools of other families": other_families,
        "all other tools": all_others,
    }
    sources = learned_from(data, background)
    tested = {name: example_nearness(data, choose, background) for name, choose in shown.items()}
    for way, fold in (("by_pull_request", by_pull_request(data, 0)), ("by_repository", by_repository(data))):
        base = held_out(data, fold)
        found = {name: base.copy() for name in shown}
        for f in np.unique(fold):
            weights = train_examples(data, base, sources, data.counts * (fold != f))
            for name, near in tested.items():
                found[name][fold == f] = weights.rescored(base, near)[fold == f]
        rows = {name: _examples_row(data, score, with_examples) for name, score in found.items()}
        yield way, {"without": _examples_row(data, base, threshold), **rows}


def _examples_row(data: Data, score: Floats, threshold: float) -> dict[str, Any]:
    called = score >= threshold
    return {
        "kappa": with_interval(data, _kappa_of(data, called, data.sure)),
        "kappa_with_forced_noes": float(np.mean(kappas(data, called, data.label >= 0))),
        "f1_gap_one_to_one": float(tool_gaps(data, called, True).mean()),
    }
