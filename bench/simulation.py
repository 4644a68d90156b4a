"""Reviews with a known truth, and how often the intervals of a rate hold it.

Pull requests are unequal on purpose: a reviewer makes 0 to about 40 comments on one, and how often it is right differs
from one pull request to the next, for all reviewers together, as real ones are hard or easy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.measure import Result, Row
from metareview.comments.measures import Counts, positive_match_rate
from metareview.stats import Array, intervals

Rng = np.random.Generator
Whole = NDArray[np.signedinteger[Any]]
COLUMN = {name: position for position, name in enumerate(Counts.__dataclass_fields__)}
"""Where each count stands in a table."""
TOLERANCE = 1.5
"""Points that a simulated share may lie beside its bar."""
BURST = 100
"""Wrong comments of a burst."""
_BURSTS = 0.04
_RIGHT, _WRONG, _LOG_SD = 2.0, 3.0, 1.5
UNEVEN_PRECISION = _RIGHT / (_RIGHT + _WRONG * float(np.exp(_LOG_SD**2 / 2)))
"""The true precision of `uneven_review`."""


def share(what: str, value: float, sets: int, low: float | None = None, high: float | None = None) -> Row:
    """A simulated share in per cent with its standard error, met within `TOLERANCE` of the bar or the range of bars."""
    unit = f"% (s.e. {100 * (value * (1 - value) / sets) ** 0.5:.1f})"
    if low is None:
        return Row(what, round(100 * value, 1), unit)
    high = low if high is None else high
    bar = f"{low:g} %" if low == high else f"{low:g} to {high:g} %"
    met = low - TOLERANCE <= 100 * value <= high + TOLERANCE
    return Row(what, round(100 * value, 1), unit, f"{bar}, ± {TOLERANCE:g}", met)


def difficulty(rng: Rng, units: int, rate: float, spread: float = 6.0) -> Array:
    """How often comments on each pull request are right, with this mean; the same on all for an infinite spread."""
    if np.isinf(spread):
        return np.full(units, rate)
    return rng.beta(rate * spread, (1 - rate) * spread, units)


def reviewed(generated: Whole, matched: Whole, expected: Whole) -> Array:
    """A table of counts, one-to-one."""
    counts = np.zeros((len(generated), len(COLUMN)))
    columns = {"generated": generated, "matched": matched, "covered": matched, "expected": expected}
    for name, values in {**columns, "unmatched": generated - matched}.items():
        counts[:, COLUMN[name]] = values
    return counts


def review(rng: Rng, right: Array, volume: float = 3.0) -> Array:
    """One reviewer's counts on these pull requests: about `volume` comments on each, some with many, some with none."""
    generated = rng.poisson(rng.gamma(1.5, volume / 1.5, len(right)))
    matched = rng.binomial(generated, right)
    return reviewed(generated, matched, matched + rng.poisson(3, len(right)))


def uneven_review(rng: Rng, units: int) -> Array:
    """About two right comments on each pull request, and very uneven numbers of wrong ones: the logs of their means
    have a standard deviation of 1.5."""
    matched = rng.poisson(_RIGHT, units)
    wrong = rng.poisson(np.exp(rng.normal(np.log(_WRONG), _LOG_SD, units)))
    return reviewed(matched + wrong, matched, matched + rng.poisson(3, units))


def uneven_volume(rng: Rng, right: Array) -> Array:
    """Very uneven numbers of comments, right as often on pull requests with many as on those with few."""
    generated = rng.poisson(np.exp(rng.normal(np.log(4), _LOG_SD, len(right))))
    matched = rng.binomial(generated, right)
    return reviewed(generated, matched, matched + rng.poisson(3, len(right)))


def burst_review(rng: Rng, right: Array, volume: float = 3.0) -> Array:
    """`review` with a burst of wrong comments on 4 % of the pull requests."""
    counts = review(rng, right, volume)
    more = (rng.random(len(counts)) < _BURSTS) * BURST
    counts[:, COLUMN["generated"]] += more
    counts[:, COLUMN["unmatched"]] += more
    return counts


def at_rate(draw: Callable[..., Array], rate: float = 0.3, **settings: float) -> Callable[[Rng, int], Array]:
    """A reviewer on pull requests of unequal difficulty, right at this rate."""
    return lambda rng, units: draw(rng, difficulty(rng, units, rate), **settings)


def held(draw: Callable[[Rng, int], Array], truth: float, units: int, repeats: int, seed: int = 0) -> float:
    """How often the interval of precision holds its true value; of the sets that have one."""
    rng = np.random.default_rng(seed)
    found = [intervals(draw(rng, units), [positive_match_rate])["positive_match_rate"] for _ in range(repeats)]
    ends = [each for each in found if each is not None]
    return sum(low <= truth <= high for low, high in ends) / len(ends)


ORDINARY, UNEVEN, BURSTS = (94.0, 98.0), (87.0, 91.0), (72.0, 72.0)
INTERVALS: list[tuple[str, Callable[[Rng, int], Array], float, int, tuple[float, float] | None]] = [
    *((f"rate {rate}", at_rate(review, rate, volume=6.0), rate, units, ORDINARY)
      for rate in (0.02, 0.3, 0.9) for units in (10, 30, 50, 200)),
    *(("sixteen-fold volume", at_rate(review, volume=48.0), 0.3, units, ORDINARY) for units in (10, 30, 100)),
    *(("very uneven wrong comments (log-sd 1.5)", uneven_review, UNEVEN_PRECISION, units, UNEVEN)
      for units in (10, 30, 100)),
    *(("very uneven volumes at one precision", at_rate(uneven_volume), 0.3, units, None) for units in (10, 30, 100)),
    *(("bursts of wrong comments on 4 %", at_rate(burst_review), 0.9 / (3 + _BURSTS * BURST), units, bar)
      for units, bar in ((30, BURSTS), (40, None), (100, None))),
]  # fmt: skip
"""What is drawn, the true precision, pull requests, and the range of shares, in per cent, that is to be met."""


def run(repeats: int = 3000) -> Result:
    rows = [
        share(f"intervals that hold the truth: {what}, {units} pull requests", held(draw, truth, units, repeats),
              repeats, *(bar or (None, None)))
        for what, draw, truth, units, bar in INTERVALS
    ]  # fmt: skip
    return Result("Intervals of a rate against a known truth", rows)
