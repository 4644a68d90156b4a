"""Which threshold fits a judge's scores to labels best."""

from __future__ import annotations

import numpy as np

from metareview.stats import Array, kappa


def best_threshold(labels: Array, scores: Array) -> tuple[float | None, float | None]:
    """The threshold with the highest kappa on these labels, and that kappa: every distinct score is tried.

    It lies halfway between the two scores that it divides; of several that are best, the highest.
    """
    values, inverse, count = np.unique(-scores, return_inverse=True, return_counts=True)
    kappas = kappa(np.cumsum(np.bincount(inverse, labels)), np.cumsum(count), labels.sum(), len(labels))
    if np.isnan(kappas).all():
        return None, None
    at = int(np.nanargmax(kappas))
    score, below = -values[at], -values[min(at + 1, len(values) - 1)]
    middle = (score + below) / 2
    # Two neighbouring floats have no middle: the threshold must still divide them.
    return float(middle if middle > below else score), float(kappas[at])
