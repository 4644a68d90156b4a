"""What reviews took: cost, tokens and seconds, per pull request and per valid finding.

A valid finding is a comment that matches a reference, as judged. Figures of a kind are over the pull requests for which
it is known, matches included, and say how many these are: an unknown cost is not 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metareview.model.comment import Review
from metareview.stats import Array, Interval, ratio_difference, ratio_interval

KINDS = ("cost", "tokens", "seconds")


@dataclass(frozen=True, slots=True)
class Spent:
    """What one review took; None where that is not known."""

    cost: float | None = None
    tokens: float | None = None
    seconds: float | None = None

    @classmethod
    def of(cls, review: Review) -> Spent:
        return cls(review.cost, review.tokens, review.seconds)

    @property
    def known(self) -> bool:
        return any(getattr(self, kind) is not None for kind in KINDS)


@dataclass(frozen=True, slots=True)
class Costs:
    """What a reviewer took of each kind that is known on any of its pull requests."""

    prs: Mapping[str, int]
    """Over how many pull requests each kind is known."""
    total: Mapping[str, float]
    per_pr: Mapping[str, float | None]
    per_valid_finding: Mapping[str, float | None]
    """None where nothing matched."""
    per_pr_intervals: Mapping[str, Interval | None]
    per_valid_finding_intervals: Mapping[str, Interval | None]


@dataclass(frozen=True, slots=True)
class CostDifference:
    """A figure of A and of B over the pull requests for which both know what they took."""

    a: float | None
    b: float | None
    interval: Interval | None
    """Of the difference."""

    @property
    def diff(self) -> float | None:
        return None if self.a is None or self.b is None else self.b - self.a


@dataclass(frozen=True, slots=True)
class CostsCompared:
    """One kind of cost of A and B."""

    prs: int
    """Pull requests for which both know it."""
    per_pr: CostDifference
    per_valid_finding: CostDifference


def costs_of(spent: Sequence[Spent], matched: Iterable[float]) -> Costs | None:
    """The figures over pull requests, given what each took and its matches; None where nothing is known."""
    matches = np.array([*matched], np.float64)
    known = {kind: (amounts, matches[has]) for kind in KINDS for amounts, has in [_known(spent, kind)] if has.any()}
    if not known:
        return None
    return Costs(
        prs={kind: len(amounts) for kind, (amounts, _) in known.items()},
        total={kind: float(amounts.sum()) for kind, (amounts, _) in known.items()},
        per_pr={kind: float(amounts.mean()) for kind, (amounts, _) in known.items()},
        per_valid_finding={kind: _over(amounts, found) for kind, (amounts, found) in known.items()},
        per_pr_intervals={kind: ratio_interval(amounts, np.ones(len(amounts))) for kind, (amounts, _) in known.items()},
        per_valid_finding_intervals={kind: ratio_interval(*parts) for kind, parts in known.items()},
    )


def compared_costs(
    a: Sequence[Spent], b: Sequence[Spent], matched_a: Sequence[float], matched_b: Sequence[float]
) -> dict[str, CostsCompared]:
    """Each kind that both know on any pull request; all are in the order of the pull requests."""
    found_a, found_b = np.array(matched_a, np.float64), np.array(matched_b, np.float64)
    result = {}
    for kind in KINDS:
        both = _known(a, kind)[1] & _known(b, kind)[1]
        if not both.any():
            continue
        ours, theirs = (
            np.array([getattr(each, kind) for each, has in zip(side, both, strict=True) if has], np.float64)
            for side in (a, b)
        )
        ones = np.ones(len(ours))
        result[kind] = CostsCompared(
            int(both.sum()),
            _difference(ours, ones, theirs, ones),
            _difference(ours, found_a[both], theirs, found_b[both]),
        )
    return result


def _difference(y_a: Array, x_a: Array, y_b: Array, x_b: Array) -> CostDifference:
    return CostDifference(_over(y_a, x_a), _over(y_b, x_b), ratio_difference(y_a, x_a, y_b, x_b))


def _known(spent: Sequence[Spent], kind: str) -> tuple[Array, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """The amounts that are known, and on which pull requests."""
    amounts = np.array([np.nan if (amount := getattr(each, kind)) is None else amount for each in spent], np.float64)
    has = ~np.isnan(amounts)
    return amounts[has], has


def _over(amounts: Array, parts: Array) -> float | None:
    whole = float(parts.sum())
    return float(amounts.sum()) / whole if whole else None
