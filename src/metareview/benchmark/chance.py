"""How far chance reaches in an agreement of a judge with labels: whole pull requests, or groups, are left out in turn.

The intervals are those of stats.py, with two differences that labels ask for. Kappa may be negative, so t stands on the
scale of Fisher's z instead of the log odds. And pull requests have very unequal numbers of labels: ten of which one has
most of the pairs tell hardly more than two, so that t has as many degrees of freedom as equal units would have that
tell as much (Kish). `python -m bench agreement` has how often that holds the truth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from metareview.benchmark.thresholds import best_threshold
from metareview.benchmark.units import Units
from metareview.stats import LEVEL, Array, Interval, Mask, exact_interval, jackknife_error, kappa, rate_interval

FEWEST_UNITS = 5
"""Units from which thresholds are tried on labels that did not choose them."""
_ROUNDING = 1e-12


def agreement_intervals(labels: Array, scores: Array, called: Mask, units: Units) -> dict[str, Interval | None]:
    """The 95 % interval of each figure, by name; None where it cannot be told from the units there are."""
    matches, tp = labels == 1, called & (labels == 1)
    n, of_judge, of_labels, both = (_sums(each, units) for each in (np.ones(len(labels)), called, matches, tp))
    agreed = n - of_judge - of_labels + 2 * both
    return {
        "kappa": kappa_interval(*_kappas(labels, called, units), n),
        "accuracy": _ratio(agreed, n),
        "precision": _ratio(both, of_judge),
        "recall": _ratio(both, of_labels),
        "auc": _auc_interval(matches, scores, units),
    }


def _sums(values: Array | Mask, units: Units) -> Array:
    sums: Array = np.bincount(units.of, values, minlength=len(units.names)).astype(np.float64)
    return sums


def effective_units(sizes: Array) -> float:
    """How many equal units would tell as much as units of these sizes (Kish).

    >>> [round(effective_units(np.array(sizes)), 2) for sizes in ([5, 5, 5], [98, 1, 1])]
    [3.0, 1.04]
    """
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def _freedom(sizes: Array) -> float:
    return max(1.0, effective_units(sizes) - 1)


def _ratio(y: Array, x: Array) -> Interval | None:
    """Of sum(y) / sum(x), over the units that have any x."""
    y, x = y[x > 0], x[x > 0]
    if len(x) < 2:
        return None
    return rate_interval(float(y.sum() / x.sum()), (y.sum() - y) / (x.sum() - x), _freedom(x))


def _kappas(labels: Array, called: Mask, units: Units) -> tuple[float, Array]:
    """Kappa, and kappa without each unit in turn."""
    every = np.ones(len(labels))
    rows = [_sums(each, units) for each in (called & (labels == 1), called, labels, every)]
    figure = float(kappa(*(row.sum() for row in rows)))
    if len(units.names) < 2:
        return figure, np.array([])
    return figure, kappa(*(row.sum() - row for row in rows))


def kappa_interval(figure: float, without: Array, sizes: Array) -> Interval | None:
    """Of a kappa, from what it is without each unit in turn; `sizes`: how many pairs each has.

    Where it is 1 or -1, or never moves, the units count as trials, as for a rate.
    """
    if len(without) < 2 or np.isnan(figure) or np.isnan(without).any():
        return None
    error = jackknife_error(without)
    if error <= _ROUNDING or abs(figure) > 1 - _ROUNDING:
        low, high = exact_interval(max(figure, 0.0) * len(without), len(without))
        return min(low, figure), high
    reach = _quantile(sizes) * error / (1 - figure**2)
    middle = float(np.arctanh(figure))
    return float(np.tanh(middle - reach)), float(np.tanh(middle + reach))


def _quantile(sizes: Array) -> float:
    return float(stdtrit(_freedom(sizes), (1 + LEVEL) / 2))


def _auc_interval(matches: Mask, scores: Array, units: Units) -> Interval | None:
    """Of the share of (match, mismatch) pairs in which the match scores higher. Only these can be won or lost."""
    positive, negative = _sums(matches, units), _sums(~matches, units)
    won = np.zeros(len(scores))
    won[matches] = _below(scores[matches], scores[~matches])
    won[~matches] = matches.sum() - _below(scores[~matches], scores[matches])
    inside = np.zeros(len(units.names))
    order = np.argsort(units.of, kind="stable")
    for at, own in enumerate(np.split(order, np.cumsum(np.bincount(units.of, minlength=len(units.names)))[:-1])):
        same, other = scores[own][matches[own]], scores[own][~matches[own]]
        inside[at] = _below(same, other).sum()
    # A pair is lost with its match or with its mismatch; where both are of one unit it must not be taken twice.
    of_unit = _sums(won, units) - inside
    total = won[matches].sum()
    left = (positive.sum() - positive) * (negative.sum() - negative)
    if len(left) < 2 or not left.all():
        return None
    figure = total / (positive.sum() * negative.sum())
    return rate_interval(float(figure), (total - of_unit) / left, _freedom(positive[positive > 0]))


def _below(scores: Array, others: Array) -> Array:
    """For each score how many of the others it exceeds, ties counting half."""
    ranked = np.sort(others)
    return (np.searchsorted(ranked, scores, "left") + np.searchsorted(ranked, scores, "right")) / 2


@dataclass(frozen=True)
class CrossFitted:
    """What thresholds are worth on labels that did not choose them."""

    kappa: float
    interval: Interval | None
    gain: float | None
    """How much higher that is than with the judge's own verdicts; None where these have no kappa."""
    gain_interval: Interval | None


def cross_fitted(labels: Array, scores: Array, called: Mask, units: Units) -> CrossFitted | None:
    """Each fold's pairs, called by the threshold that is best on all other folds; None for fewer than 5 units, and
    where there is no kappa."""
    if len(units.names) < FEWEST_UNITS:
        return None
    fold = units.folds()
    fitted = np.zeros(len(labels), np.bool_)
    for held_out in np.unique(fold):
        inside = fold == held_out
        threshold, _ = best_threshold(labels[~inside], scores[~inside])
        if threshold is None:
            return None
        fitted[inside] = scores[inside] >= threshold
    (figure, without), (own, without_own) = (_kappas(labels, each, units) for each in (fitted, called))
    if np.isnan(figure):
        return None
    sizes = _sums(np.ones(len(labels)), units)
    gain = None if np.isnan(own) else figure - own
    moved = without - without_own
    known = gain is not None and not np.isnan(moved).any()
    reach = _quantile(sizes) * jackknife_error(moved) if known else np.nan
    ends = (float(gain - reach), float(gain + reach)) if known and gain is not None else None
    return CrossFitted(figure, kappa_interval(figure, without, sizes), gain, ends)
