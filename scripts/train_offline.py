"""Learn the offline judge's weights, and say how good they are on pull requests that they did not see.

    python scripts/train_offline.py              # writes src/metareview/data/offline-1.json
    python scripts/train_offline.py --check      # only the figures

Weights come from `martian`: golden comments, what 12 tools said, a model's verdicts. Word statistics come
from `aacr` alone, so nothing of a held-out pull request is in any of its features.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from martian import Labelled, f1, read_martian, reversals, tool_counts
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from metareview.benchmark.calibrate import Agreement, agreement, kappa
from metareview.judges.offline.features import NAMES, Features, extract
from metareview.judges.offline.model import (
    FILE,
    FORMAT,
    HIGHEST,
    LOWEST,
    RIVALRY,
    VECTORS,
    Competition,
    compete,
    other_comments,
    other_references,
    read_background,
)
from metareview.judges.offline.words import RUN, split, stem

Floats = NDArray[np.float64]
ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "src" / "metareview" / "data"
RIDGE = 10.0
"""How strongly the weights are drawn towards 0."""
HOLD = 0.5
"""How strongly the numbers of the competition are drawn towards PRIOR, each times its FIRMNESS."""
PRIOR = np.array([0.5, 0.3, 0.3, 2.0, 2.0, 0.0, 1.5, 0.0])
FIRMNESS = np.array([1.0, 1.0, 1.0, 0.3, 0.3, 0.3, 0.3, 0.0])
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
class Learned:
    mean: Floats
    scale: Floats
    weight: Floats
    competition: Competition

    def score(self, features: Features) -> Floats:
        fit = np.clip((features.values - self.mean) / self.scale @ self.weight, LOWEST, HIGHEST)
        return 1 / (1 + np.exp(-compete(fit, features, self.competition)))


def competition(raw: Floats) -> Competition:
    own, candidates_, references_, candidates, references, yielding, saturation, intercept = map(float, raw)
    return Competition(
        own=own,
        saturation=float(np.exp(saturation)),
        rival_candidates=candidates_,
        rival_references=references_,
        candidates=candidates,
        references=references,
        yielding=float(1 / (1 + np.exp(-yielding))),
        intercept=intercept,
    )


def learn(features: Features, label: NDArray[np.int64], used: NDArray[np.bool_]) -> Learned:
    """Weights and competition together, by maximum likelihood with a ridge, from the pairs `used`."""
    used = used & (label >= 0)
    mean, scale = features.values[used].mean(0), features.values[used].std(0)
    z = (features.values - mean) / scale
    y = (label == 1).astype(float)
    k = z.shape[1]

    def alone(p: Floats) -> tuple[float, Floats]:
        logit = z @ p[:k] + p[k]
        error = (expit(logit) - y) * used
        loss = ((np.logaddexp(0, logit) - y * logit) * used).sum() + RIDGE / 2 * (p[:k] ** 2).sum()
        return loss, np.append(z.T @ error + RIDGE * p[:k], error.sum())

    def together(p: Floats) -> tuple[float, Floats]:
        w, raw = p[:k], p[k:]
        c = competition(raw)
        fit = np.clip(z @ w, LOWEST, HIGHEST)
        strength = np.exp(np.minimum(fit, RIVALRY))
        claimed = np.exp(c.candidates) + np.maximum(other_comments(strength, features), 0)
        crowd = np.log(claimed) - c.candidates
        yielded = strength * np.exp(-c.yielding * crowd)
        wanted = np.exp(c.references) + np.maximum(other_references(yielded, features), 0)
        fade = np.exp(np.minimum(-fit / c.saturation, 500))  # a search may step far out for once
        rising = c.saturation * (1 - fade)
        logit = c.own * rising - c.rival_candidates * np.log(claimed) - c.rival_references * np.log(wanted)
        logit += c.intercept
        loss = ((np.logaddexp(0, logit) - y * logit) * used).sum() + RIDGE / 2 * (w**2).sum()
        loss += HOLD / 2 * (FIRMNESS * (raw - PRIOR) ** 2).sum()

        d_logit = (expit(logit) - y) * used
        d_wanted = -c.rival_references * d_logit / wanted
        # Both sums over rivals are symmetric, so each is its own derivative.
        d_yielded = other_references(d_wanted, features)
        through = d_yielded * yielded
        d_claimed = -c.rival_candidates * d_logit / claimed - c.yielding * through / claimed
        d_strength = d_yielded * np.exp(-c.yielding * crowd) + other_comments(d_claimed, features)
        d_fit = c.own * d_logit * fade + d_strength * strength * (fit < RIVALRY)
        d_raw = np.array(
            [
                (d_logit * rising).sum(),
                -(d_logit * np.log(claimed)).sum(),
                -(d_logit * np.log(wanted)).sum(),
                np.exp(c.candidates) * d_claimed.sum() + c.yielding * through.sum(),
                np.exp(c.references) * d_wanted.sum(),
                -(through * crowd).sum() * c.yielding * (1 - c.yielding),
                c.own * (d_logit * (1 - fade - fit / c.saturation * fade)).sum() * c.saturation,
                d_logit.sum(),
            ]
        )
        inside = (fit > LOWEST) & (fit < HIGHEST)
        return loss, np.concatenate([z.T @ (d_fit * inside) + RIDGE * w, d_raw + HOLD * FIRMNESS * (raw - PRIOR)])

    first = minimize(alone, np.zeros(k + 1), jac=True, method="L-BFGS-B").x
    start = np.concatenate([first[:k], [0.5, 0.3, 0.3, 1.0, 1.0, 0.0, 1.5, first[k]]])
    options = {"maxiter": 1000, "ftol": 1e-12}
    best = minimize(together, start, jac=True, method="L-BFGS-B", options=options).x
    return Learned(mean, scale, best[:k], competition(best[k:]))


@dataclass(frozen=True)
class Data:
    questions: list[Labelled]
    features: Features
    label: NDArray[np.int64]
    pull: NDArray[np.int64]
    """For each pair: the number of its pull request."""
    repo: NDArray[np.str_]


def prepare(data: Path, vectors: Path = DATA / VECTORS) -> tuple[Data, dict[str, Any]]:
    statistics = read_statistics(data / "aacr")
    questions = read_martian(data / "martian")
    features = extract([q.question for q in questions], read_background(statistics, vectors))
    pulls = {pull: i for i, pull in enumerate(dict.fromkeys(q.pull for q in questions))}
    size = [len(q.label) for q in questions]
    return Data(
        questions=questions,
        features=features,
        label=np.concatenate([q.label for q in questions]),
        pull=np.repeat([pulls[q.pull] for q in questions], size),
        repo=np.repeat([q.repo for q in questions], size),
    ), statistics


def held_out(data: Data, fold: NDArray[np.int64]) -> Floats:
    """Scores of every pair by weights that were learned on the other folds."""
    score = np.empty(len(fold))
    for f in np.unique(fold):
        score[fold == f] = learn(data.features, data.label, fold != f).score(data.features)[fold == f]
    return score


def folds(data: Data, seed: int) -> NDArray[np.int64]:
    """Whole pull requests, in FOLDS parts."""
    order = np.random.default_rng(seed).permutation(data.pull.max() + 1)
    return (order % FOLDS)[data.pull]


def best_threshold(data: Data, scores: list[Floats], chosen: NDArray[np.bool_]) -> float:
    """The threshold with the highest kappa on the chosen pairs, averaged over its surroundings and over
    splits, so that no single pair decides it."""
    known = chosen & (data.label >= 0)
    y = data.label[known]
    grid = np.arange(0.2, 0.7, 0.005)
    kappas = []
    for s in scores:
        called = s[known][:, None] >= grid
        kappas.append(kappa(y @ called, called.sum(0), y.sum(), len(y)))
    smooth = np.convolve(np.mean(kappas, axis=0), np.ones(17) / 17, "valid")
    return round(float(grid[8 + int(np.argmax(smooth))]), 3)


def crossed(data: Data) -> Iterator[tuple[Floats, Floats]]:
    """For each split: held-out scores and, for each pair, the threshold that the other folds would choose."""
    for seed in range(SPLITS):
        fold = folds(data, seed)
        score = held_out(data, fold)
        threshold = np.empty(len(score))
        for f in range(FOLDS):
            threshold[fold == f] = best_threshold(data, [score], fold != f)
        yield score, threshold


def figures(label: NDArray[np.int64], score: Floats, threshold: Floats | float) -> Agreement:
    """Agreement where each pair may have its own threshold: shifted so that all are 0."""
    known = label >= 0
    at = np.broadcast_to(threshold, score.shape)[known]
    exact = agreement(label[known], score[known] - at, 0.0, bins=1)
    plain = agreement(label[known], score[known], 0.5)
    return Agreement(
        **{**asdict(plain), **{k: getattr(exact, k) for k in ("kappa", "accuracy", "precision", "recall")}}
    )


def evaluate(data: Data) -> dict[str, Any]:
    """Cross-validated figures, mean over SPLITS splits, and each repository by weights of the two others."""
    rows, tools = [], []
    scores = []
    for score, threshold in crossed(data):
        scores.append(score)
        a = figures(data.label, score, threshold)
        rows.append([a.auc, a.kappa, a.accuracy, a.precision, a.recall])
        for one_to_one in (False, True):
            model = tool_counts(data.questions, data.label == 1, one_to_one)
            judge = tool_counts(data.questions, score >= threshold, one_to_one)
            gap = np.abs(f1(model.sum(1)) - f1(judge.sum(1)))
            tools.append([gap.mean(), gap.max(), *reversals(model, judge)])
    overall = best_threshold(data, scores, np.ones(len(data.label), bool))
    repos = {}
    for repo in np.unique(data.repo):
        here = data.repo == repo
        score = learn(data.features, data.label, ~here).score(data.features)
        a = figures(data.label[here], score[here], overall)
        repos[str(repo)] = {"auc": a.auc, "kappa": a.kappa}
    known = data.label >= 0
    pooled = agreement(np.tile(data.label[known], SPLITS), np.concatenate([s[known] for s in scores]), overall)
    logit = np.concatenate([np.log(s[known] / (1 - s[known])) for s in scores])
    return {
        "auc": float(np.mean([r[0] for r in rows])),
        "kappa": float(np.mean([r[1] for r in rows])),
        "kappa_of_each_split": [round(float(r[1]), 4) for r in rows],
        "auc_of_each_split": [round(float(r[0]), 4) for r in rows],
        "accuracy": float(np.mean([r[2] for r in rows])),
        "precision": float(np.mean([r[3] for r in rows])),
        "recall": float(np.mean([r[4] for r in rows])),
        "threshold": overall,
        "calibration_slope": slope(logit, np.tile(data.label[known], SPLITS)),
        "reliability": [[round(b.mean_score, 3), round(b.match_rate, 3), b.n // SPLITS] for b in pooled.reliability],
        "f1_gap_coverage": float(np.mean([t[0] for t in tools[0::2]])),
        "f1_gap_one_to_one": float(np.mean([t[0] for t in tools[1::2]])),
        "largest_f1_gap": float(np.max([t[1] for t in tools])),
        "tools_separated_by_model": [int(t[2]) for t in tools],
        "of_these_reversed": [int(t[3]) for t in tools],
        "left_out_repository": repos,
    }


def slope(logit: Floats, label: NDArray[np.int64]) -> float:
    """Of a logistic regression on the held-out logits: 1 is calibrated, less is overconfident."""

    def loss(p: Floats) -> tuple[float, Floats]:
        z = p[0] * logit + p[1]
        e = expit(z) - label
        return float((np.logaddexp(0, z) - label * z).sum()), np.array([(e * logit).sum(), e.sum()])

    return float(minimize(loss, np.array([1.0, 0.0]), jac=True, method="L-BFGS-B").x[0])


def weights_file(learned: Learned, statistics: dict[str, Any], figures: dict[str, Any], data: Data) -> dict[str, Any]:
    known = data.label >= 0
    return {
        "format": FORMAT,
        "version": "1",
        "learned_from": {
            "weights": "Code Review Bench (withmartian, MIT): a model's verdicts on what 12 tools said "
            f"on {data.pull.max() + 1} pull requests of {', '.join(np.unique(data.repo))}; "
            f"{known.sum()} pairs, {(data.label == 1).sum()} of them matches",
            "background": "AACR-Bench (alibaba, Apache-2.0): in how many of its notes a word stem occurs",
            "vectors": "wordllama 0.4.0 (MIT), l2_supercat_256, reduced by scripts/distil_vectors.py",
            "script": "scripts/train_offline.py",
        },
        "held_out_figures": _rounded(figures),
        "features": [
            {"name": name, "mean": round(m, 6), "scale": round(s, 6), "weight": round(w, 6)}
            for name, m, s, w in zip(
                NAMES, learned.mean.tolist(), learned.scale.tolist(), learned.weight.tolist(), strict=True
            )
        ],
        "competition": {k: round(v, 6) for k, v in asdict(learned.competition).items()},
        "threshold": figures["threshold"],
        "background": statistics,
    }


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    return round(value, 4) if isinstance(value, float) else value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--vectors", type=Path, default=DATA / VECTORS)
    parser.add_argument("--out", type=Path, default=DATA / FILE)
    parser.add_argument("--check", action="store_true", help="print the figures, write nothing")
    options = parser.parse_args()
    data, statistics = prepare(options.data, options.vectors)
    held_out_figures = evaluate(data)
    print(json.dumps(_rounded(held_out_figures), indent=1))
    learned = learn(data.features, data.label, np.ones(len(data.label), bool))
    content = weights_file(learned, statistics, held_out_figures, data)
    print(json.dumps({k: content[k] for k in ("features", "competition")}, indent=1))
    if not options.check:
        options.out.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
