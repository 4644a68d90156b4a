"""Training of the offline judge's numbers by maximum likelihood with a ridge, from pairs with verdicts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from metareview.judges.offline.examples import ExampleWeights
from metareview.judges.offline.features import Features
from metareview.judges.offline.model import HIGHEST, LOWEST, RIVALRY, Competition, compete

Floats = NDArray[np.float64]
RIDGE = 10.0
"""How strongly the weights are drawn towards 0; those of examples half as much."""
HOLD = 0.5
"""How strongly the numbers of the competition are drawn towards PRIOR, each times its FIRMNESS."""
PRIOR = np.array([0.5, 0.3, 0.3, 2.0, 2.0, 0.0, 1.5, 0.0])
FIRMNESS = np.array([1.0, 1.0, 1.0, 0.3, 0.3, 0.3, 0.3, 0.0])


@dataclass(frozen=True)
class Learned:
    """The weights of a model, without its threshold and its word statistics."""

    mean: Floats
    scale: Floats
    weight: Floats
    competition: Competition

    def score(self, features: Features) -> Floats:
        fit = np.clip((features.values - self.mean) / self.scale @ self.weight, LOWEST, HIGHEST)
        return 1 / (1 + np.exp(-compete(fit, features, self.competition)))

    def score_alone(self, features: Features) -> Floats:
        """As if each pair had no rivals."""
        c = self.competition
        fit = np.clip((features.values - self.mean) / self.scale @ self.weight, LOWEST, HIGHEST)
        rising = c.saturation * (1 - np.exp(-fit / c.saturation))
        logit = c.own * rising + c.intercept - c.rival_candidates * c.candidates - c.rival_references * c.references
        return 1 / (1 + np.exp(-logit))


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


def learn(features: Features, label: NDArray[np.int64], counts: Floats) -> Learned:
    """Weights and competition together; `counts`: how much each pair counts, 0 for those that are not learned from."""
    counts = counts * (label >= 0)
    used = counts > 0
    mean, scale = features.values[used].mean(0), features.values[used].std(0)
    z = (features.values - mean) / scale
    y = (label == 1).astype(float)
    k = z.shape[1]
    rivals = features.rivals

    def alone(p: Floats) -> tuple[float, Floats]:
        logit = z @ p[:k] + p[k]
        error = (expit(logit) - y) * counts
        loss = ((np.logaddexp(0, logit) - y * logit) * counts).sum() + RIDGE / 2 * (p[:k] ** 2).sum()
        return loss, np.append(z.T @ error + RIDGE * p[:k], error.sum())

    def together(p: Floats) -> tuple[float, Floats]:
        w, raw = p[:k], p[k:]
        c = competition(raw)
        fit = np.clip(z @ w, LOWEST, HIGHEST)
        strength = np.exp(np.minimum(fit, RIVALRY))
        claimed = np.exp(c.candidates) + np.maximum(rivals.other_comments(strength), 0)
        crowd = np.log(claimed) - c.candidates
        yielded = strength * np.exp(-c.yielding * crowd)
        wanted = np.exp(c.references) + np.maximum(rivals.other_references(yielded), 0)
        fade = np.exp(np.minimum(-fit / c.saturation, 500))  # a search may step far out for once
        rising = c.saturation * (1 - fade)
        logit = c.own * rising - c.rival_candidates * np.log(claimed) - c.rival_references * np.log(wanted)
        logit += c.intercept
        loss = ((np.logaddexp(0, logit) - y * logit) * counts).sum() + RIDGE / 2 * (w**2).sum()
        loss += HOLD / 2 * (FIRMNESS * (raw - PRIOR) ** 2).sum()

        d_logit = (expit(logit) - y) * counts
        d_wanted = -c.rival_references * d_logit / wanted
        # Both sums over rivals are symmetric, so each is its own derivative.
        d_yielded = rivals.other_references(d_wanted)
        through = d_yielded * yielded
        d_claimed = -c.rival_candidates * d_logit / claimed - c.yielding * through / claimed
        d_strength = d_yielded * np.exp(-c.yielding * crowd) + rivals.other_comments(d_claimed)
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


def learn_examples(values: Floats, label: NDArray[np.int64], counts: Floats) -> ExampleWeights:
    """How much known verdicts count beside a pair's own score, which must be a held-out one."""
    counts = counts * (label >= 0)
    total = counts.sum()
    mean = counts @ values / total
    scale = np.sqrt(counts @ (values - mean) ** 2 / total)
    scale[scale < 1e-9] = 1.0
    z, y = (values - mean) / scale, (label == 1).astype(float)

    def loss(p: Floats) -> tuple[float, Floats]:
        logit = z @ p[:-1] + p[-1]
        error = (expit(logit) - y) * counts
        cost = ((np.logaddexp(0, logit) - y * logit) * counts).sum() + RIDGE / 4 * (p[:-1] ** 2).sum()
        return cost, np.append(z.T @ error + RIDGE / 2 * p[:-1], error.sum())

    best = minimize(loss, np.zeros(z.shape[1] + 1), jac=True, method="L-BFGS-B").x
    return ExampleWeights(mean, scale, best[:-1], float(best[-1]))
