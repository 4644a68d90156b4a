"""Which units a person is asked about, and what their answers say of all units.

Units (blocks of pairs, unlisted issues) lie in strata. A simple random sample of each stratum is asked about, so that
the estimate is right however bad the judge that made the strata is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from metareview.stats import Array, Mask

BUDGET = 120
"""How many units are drawn unless somebody says otherwise."""
LEAST = 8
"""How many of a stratum are drawn at the least, or all of them."""
FEWEST = 2
"""With fewer labelled units of a stratum, unless they are all it has, nothing is known of how its units differ."""


def least_draw(sizes: Sequence[int]) -> int:
    """How many units every stratum's minimum takes together."""
    return sum(min(LEAST, size) for size in sizes)


def allocate(
    sizes: Sequence[int], weights: Sequence[float], budget: int, before: Sequence[int] | None = None
) -> list[int]:
    """How many units of each stratum are drawn: in proportion to the weights, by largest remainders, at least LEAST
    or all, and at least as many as `before`. Their sum is the budget, unless there are fewer units, or the minimum
    takes more.

    >>> allocate([100, 100, 5], [1.0, 3.0, 0.1], 45)
    [10, 30, 5]
    """
    low = np.maximum(np.minimum(LEAST, sizes), 0 if before is None else before)
    drawn = np.array(low, np.int64)
    free = np.ones(len(sizes), bool)
    while free.any():
        left = budget - int(drawn[~free].sum())
        shares = np.where(free, weights, 0.0)
        total = shares.sum()
        quota = np.maximum(left, 0) * (shares / total if total > 0 else free / free.sum())
        # What the minimum lifts or the size cuts is settled; the others share what is left.
        too_low, too_high = free & (quota < low), free & (quota > sizes)
        settled = too_low if (low - quota)[too_low].sum() >= (quota - sizes)[too_high].sum() else too_high
        if not settled.any():
            drawn[free] = _largest_remainders(quota[free], max(left, 0), np.array(sizes)[free])
            break
        drawn[settled] = low[settled] if settled is too_low else np.array(sizes)[settled]
        free &= ~settled
    return [int(number) for number in drawn]


def _largest_remainders(quota: Array, total: int, sizes: ArrayLike) -> Array:
    """Whole numbers that add up to the total, each at most one above its quota's floor."""
    whole = np.floor(quota + 1e-9)
    order = np.argsort(-(quota - whole), kind="stable")
    whole[order[: max(0, int(total - whole.sum()))]] += 1
    return np.minimum(whole, sizes)


Unit = TypeVar("Unit", bound=Hashable)
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Draw(Generic[Unit, Key]):
    """Strata, the stratum of every unit, and the units that were drawn, in the order in which to ask."""

    strata: Sequence[Key]
    stratum: Mapping[Unit, int]
    drawn: Sequence[Unit]

    def with_others(self, keys: Mapping[Unit, Key]) -> Draw[Unit, Key]:
        """The same where only the strata of drawn units are known, as in files of older versions: every other unit is
        in the stratum of its key as it is now."""
        place = {key: at for at, key in enumerate(self.strata)}
        others = {unit: place[key] for unit, key in keys.items() if key in place}
        return replace(self, stratum=others | dict(self.stratum))


def draw_units(
    units: Mapping[Unit, Key],
    weights: Callable[[Sequence[int], Sequence[Key]], Sequence[float]],
    budget: int,
    seed: int,
    *,
    order: Callable[[Key], tuple[str, ...]],
    before: Draw[Unit, Key] | None = None,
) -> Draw[Unit, Key]:
    """Draw from units with the keys of their strata. `weights` gets the stratum of each unit and the strata's keys.

    What was drawn before stays drawn, and what a unit's stratum was stays its stratum: a larger budget adds to each
    stratum. Units that were not there before have strata of their own.
    """
    known = {} if before is None else dict(before.stratum)
    strata = [] if before is None else list(before.strata)
    drawn_before = () if before is None else before.drawn
    # By what they are: the draw must not hang on which unit comes first.
    late = sorted({key for unit, key in units.items() if unit not in known}, key=order)
    place = {key: len(strata) + at for at, key in enumerate(late)}
    strata += late
    stratum = known | {unit: place[key] for unit, key in units.items() if unit not in known}
    sizes = Counter(stratum.values())
    now = [stratum[unit] for unit in units]
    of_before = Counter(stratum[unit] for unit in drawn_before)
    numbers = allocate(
        [sizes[at] for at in range(len(strata))],
        weights(now, strata),
        budget,
        [of_before[at] for at in range(len(strata))],
    )
    population = [*units, *(unit for unit in drawn_before if unit not in units)]
    at = {unit: number for number, unit in enumerate(population)}
    kept = [at[unit] for unit in drawn_before]
    drawn = draw([stratum[unit] for unit in population], numbers, seed, kept)
    return Draw(strata, stratum, [population[unit] for unit in drawn])


def draw(stratum: Sequence[int], numbers: Sequence[int], seed: int, kept: Sequence[int] = ()) -> list[int]:
    """The units to ask about, in the order in which to ask: `numbers[h]` of the units whose stratum is h. Those that
    are `kept`, of which there are no more, are drawn first, in their order.

    Within a stratum the order is random, so that whoever stops early has asked about a random sample of each. First
    come the FEWEST of every stratum, from which on there is an estimate; then they take turns by their numbers.
    """
    rng = np.random.default_rng(seed)
    of_unit = np.asarray(stratum, np.int64)
    turns: list[tuple[float, int, int]] = []
    for number_of_stratum, wanted in enumerate(numbers):
        own = [unit for unit in kept if stratum[unit] == number_of_stratum]
        shuffled = rng.permutation(np.flatnonzero(of_unit == number_of_stratum)).tolist()
        members = list(dict.fromkeys([*own, *shuffled]))[:wanted]
        turns += [
            (turn - FEWEST if turn < FEWEST else (turn + 0.5) / len(members), number_of_stratum, unit)
            for turn, unit in enumerate(members)
        ]
    return [unit for _, _, unit in sorted(turns)]


@dataclass(frozen=True)
class Sample:
    """What the labelled units of each stratum say: N units, n labelled ones, and the mean of the latter."""

    sizes: NDArray[np.int64]
    labelled: NDArray[np.int64]
    mean: Array
    """0 where nothing is labelled."""
    alike: Mask
    """Strata without a surprise: some units are not labelled, and all labelled ones have the same value, 0 or 1."""
    passed_over: int = 0
    """Drawn units without a label, though later ones of their stratum have one."""

    @classmethod
    def of(cls, sizes: Sequence[int], stratum: ArrayLike, value: ArrayLike, passed_over: int = 0) -> Sample:
        """From the strata and the values of the labelled units."""
        of_unit, values = np.asarray(stratum, np.int64), np.asarray(value, np.float64)
        labelled = np.bincount(of_unit, minlength=len(sizes))
        mean = np.bincount(of_unit, values, len(sizes)) / np.maximum(labelled, 1)
        zeros, ones = (np.bincount(of_unit, values == same, len(sizes)) for same in (0, 1))
        alike = ((zeros == labelled) | (ones == labelled)) & (labelled > 0) & (labelled < np.asarray(sizes))
        return cls(np.asarray(sizes, np.int64), labelled, mean, alike, passed_over)

    @property
    def missing(self) -> int:
        """How many more units must be labelled before there is an estimate."""
        return self._lacking(FEWEST)

    @property
    def thin(self) -> int:
        """How many more units must be labelled before every stratum has as many as it is drawn with at least."""
        return self._lacking(LEAST)

    @property
    def provisional(self) -> bool:
        """There is an estimate, but it rests on fewer than LEAST labels of a stratum that has more units, or drawn
        units were passed over. It has no interval and enters no comparison, and nor does anything made from it."""
        return not self.missing and (self.thin > 0 or self.passed_over > 0)

    @property
    def complete(self) -> bool:
        """There is an estimate, and it is not provisional."""
        return not self.missing and not self.provisional

    def _lacking(self, least: int) -> int:
        return int(np.maximum(0, np.minimum(least, self.sizes) - self.labelled).sum())

    def beyond_mean(self, stratum: ArrayLike, value: ArrayLike) -> Array:
        """What each labelled unit adds to its stratum's mean, which stands for every unit: (N / n) (value - mean)."""
        of_unit = np.asarray(stratum, np.int64)
        factor = self.sizes / np.maximum(self.labelled, 1)
        beyond: Array = factor[of_unit] * (np.asarray(value, np.float64) - self.mean[of_unit])
        return beyond


def estimated(stratum: Sequence[int], value: ArrayLike, predicted: ArrayLike | None = None) -> Array | None:
    """For each unit y, so that sums of y estimate sums of values: `value` is NaN where a unit was not labelled.

    y = m + [labelled] (N / n) (value - m), with N units and n labelled ones in the stratum, m the mean of the latter.
    With a prediction for every unit, the same of what it leaves of the value, as far as it is worth anything: a good
    one makes the estimate narrower, a bad one neither wider nor wrong. None where a stratum has too few labelled units.
    """
    of_unit, values = np.asarray(stratum, np.int64), np.asarray(value, np.float64)
    labelled = ~np.isnan(values)
    if predicted is None:
        basis = np.zeros(len(values))
    else:
        basis = np.asarray(predicted, np.float64) * _worth(of_unit[labelled], values[labelled], predicted, labelled)
    rest = (values - basis)[labelled]
    sample = Sample.of(np.bincount(of_unit).tolist(), of_unit[labelled], rest)
    if sample.missing:
        return None
    y: Array = basis + sample.mean[of_unit]
    y[labelled] += sample.beyond_mean(of_unit[labelled], rest)
    return y


def _worth(of_unit: NDArray[np.int64], value: Array, predicted: ArrayLike, labelled: NDArray[np.bool_]) -> float:
    """By how much a prediction is believed, 0 to 1: the slope of the values on it within strata. Where the labelled
    units do not tell, because all were predicted alike, it is believed whole."""
    of_labelled = np.asarray(predicted, np.float64)[labelled]
    strata = int(of_unit.max(initial=-1)) + 1
    size = np.maximum(np.bincount(of_unit, minlength=strata), 1)
    x, y = ((each - (np.bincount(of_unit, each, strata) / size)[of_unit]) for each in (of_labelled, value))
    spread = float(x @ x)
    return min(max(float(x @ y) / spread, 0.0), 1.0) if spread > 0 else 1.0


def passed_over(asked: Iterable[tuple[int, bool]]) -> int:
    """How many drawn units are not labelled though a later one of their stratum is: what is labelled there is then no
    random sample. `asked`: the stratum of each drawn unit and whether it is labelled, in the order of asking."""
    open_so_far: Counter[int] = Counter()
    before_labelled: Counter[int] = Counter()
    for stratum, labelled in asked:
        if labelled:
            before_labelled[stratum] = open_so_far[stratum]
        else:
            open_so_far[stratum] += 1
    return before_labelled.total()
