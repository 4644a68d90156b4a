"""The statistics a second time: plain functions from counts to numbers, written from the definitions alone.

Nothing of metareview is imported here. A *row* is what one unit (a pull request, a repository, a block of weeks) has:
(y, x) of a rate Y / X, or (y1, x1, y2, x2) of an F1 or F-beta that is the harmonic mean of the two rates Y1 / X1 and
Y2 / X2. Rows are whole numbers or fractions, so that a difference or a variance of 0 is exactly 0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction

import numpy as np
from scipy import stats

Row = tuple[Fraction | int, ...]
Rows = Sequence[Row]
Figure = Callable[[Row], Fraction | None]
"""A figure of the sums of rows."""
Ties = dict[tuple[str, str], tuple[float, float]]
"""Of each tested pair p alone, and p of the family."""
Interval = tuple[float, float] | None

DRAWS = 10_000
CLOSE = 1e-9
"""As extreme: T not below the observed one by more than this share of it."""


def sums(rows: Rows) -> Row:
    return tuple(sum(column) for column in zip(*rows, strict=True))


def rate(total: Row) -> Fraction | None:
    """A rate θ = Y / X (sums over units). Denominator 0: null."""
    return Fraction(total[0]) / Fraction(total[1]) if total[1] else None


def f_beta(beta: Fraction | int = 1) -> Figure:
    """(1 + b²)PR / (b²P + R) of the micro rates, 0 where both are 0, null where there is nothing on either side."""
    square = Fraction(beta) ** 2

    def figure(total: Row) -> Fraction | None:
        if not counts(total):
            return None
        precision, recall = rate(total[:2]) or Fraction(0), rate(total[2:]) or Fraction(0)
        below = square * precision + recall
        return (1 + square) * precision * recall / below if below else Fraction(0)

    return figure


def figure_of(rows: Rows, beta: Fraction | int = 1) -> Figure:
    """The figure that rows of this width are of."""
    return rate if len(rows[0]) == 2 else f_beta(beta)


def one_to_one_f_beta(matched: int, comments: int, references: int, beta: Fraction | int = 1) -> Row:
    """One-to-one, F-beta is Y / X with Y = matched, X = (comments + b²·references) / (1 + b²)."""
    square = Fraction(beta) ** 2
    return (matched, (comments + square * references) / (1 + square))


def counts(row: Row) -> bool:
    """One of the n units with x > 0."""
    return any(row[1::2])


def jackknife_variance(values: Sequence[Fraction]) -> Fraction:
    """SE² = (n-1)/n · Σ(θ(i) - mean)², the θ(i) with each unit left out in turn."""
    n = len(values)
    mean = sum(values, Fraction(0)) / n
    return Fraction(n - 1, n) * sum((value - mean) ** 2 for value in values)


def without_each(rows: Rows) -> list[Row]:
    """The sums with each unit left out in turn."""
    total = sums(rows)
    return [tuple(whole - part for whole, part in zip(total, row, strict=True)) for row in rows]


def interval(rows: Rows, beta: Fraction | int = 1, runs: Sequence[Rows] = ()) -> Interval:
    """logit(θ) ± t(n-1, 0.975) · SE / (θ(1-θ)), back-transformed; θ of 0 or 1, or SE 0: Clopper-Pearson by Beta
    quantiles with n trials and θ·n successes. One pull request: null, never a point.

    `runs`: the rows of each of R repeated runs on the pull requests that all have. Then SE² = J + s²/R, and t has
    ν = SE⁴ / (J²/(n-1) + (s²/R)²/(R-1)).
    """
    rows = [row for row in rows if counts(row)]
    n = len(rows)
    if n < 2:
        return None
    figure = figure_of(rows, beta)
    theta = _number(figure(sums(rows)))
    variance = jackknife_variance([_number(figure(rest)) for rest in without_each(rows)])
    between = between_runs(runs, beta)
    if theta in (0, 1) or variance + sum(between) == 0:
        return clopper_pearson(float(theta) * n, n)
    error, freedom = combined_error(variance, n, [(between, len(runs))])
    reach = float(stats.t.ppf(0.975, freedom)) * error / float(theta * (1 - theta))
    centre = math.log(theta / (1 - theta))
    return 1 / (1 + math.exp(reach - centre)), 1 / (1 + math.exp(-reach - centre))


def clopper_pearson(successes: float, trials: int) -> Interval:
    """Clopper-Pearson by Beta quantiles, the successes a real number."""
    low = float(stats.beta.ppf(0.025, successes, trials - successes + 1)) if successes > 0 else 0.0
    high = float(stats.beta.ppf(0.975, successes + 1, trials - successes)) if successes < trials else 1.0
    return low, high


def between_runs(runs: Sequence[Rows], beta: Fraction | int = 1) -> list[Fraction]:
    """s²/R, s² the variance (R-1) of the R runs' figures on the pull requests that all runs have. One run: none."""
    if len(runs) < 2:
        return []
    figures = [figure_of(rows, beta)(sums(rows)) for rows in runs]
    known = [each for each in figures if each is not None]
    if len(known) < len(runs):
        return []
    mean = sum(known, Fraction(0)) / len(runs)
    return [sum((each - mean) ** 2 for each in known) / (len(runs) - 1) / len(runs)]


def combined_error(
    variance: Fraction, n: int, between: Sequence[tuple[Sequence[Fraction], int]]
) -> tuple[float, float]:
    """SE and ν of SE² = J + Σ s²/R: ν = SE⁴ / (J²/(n-1) + Σ (s²/R)²/(R-1))."""
    terms = [(variance, n - 1)] + [(part, runs - 1) for parts, runs in between for part in parts]
    total = sum(part for part, _ in terms)
    freedom = total**2 / sum(part**2 / degrees for part, degrees in terms) if total else Fraction(n - 1)
    return math.sqrt(total), float(freedom)


def _number(value: Fraction | None) -> Fraction:
    if value is None:
        raise ZeroDivisionError("A figure with a denominator of 0.")
    return value


def difference_interval(
    a: Rows, b: Rows, beta: Fraction | int = 1, runs_a: Sequence[Rows] = (), runs_b: Sequence[Rows] = ()
) -> Interval:
    """Interval of a difference: jackknife over the units, t; differences add both sides' s²/R.

    Units are those that count on either side. A side that is undefined without one of its units has no jackknife.
    """
    both = [row_a + row_b for row_a, row_b in zip(a, b, strict=True) if counts(row_a) or counts(row_b)]
    n = len(both)
    if n < 2:
        return None
    figure, width = figure_of(a, beta), len(a[0])

    def difference(total: Row) -> Fraction:
        return _number(figure(total[width:])) - _number(figure(total[:width]))

    centre = float(difference(sums(both)))
    try:
        left_out = [difference(rest) for rest in without_each(both)]
    except ZeroDivisionError:
        return None
    between = [(between_runs(runs, beta), len(runs)) for runs in (runs_a, runs_b)]
    error, freedom = combined_error(jackknife_variance(left_out), n, between)
    reach = float(stats.t.ppf(0.975, freedom)) * error
    return centre - reach, centre + reach


def whole(a: Rows, b: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Both sides' rows as whole numbers: a common factor of all y, or of all x, changes no T."""
    columns = []
    for at in range(len(a[0])):
        values = [Fraction(row[at]) for row in (*a, *b)]
        factor = math.lcm(*(value.denominator for value in values))
        columns.append([int(value * factor) for value in values])
    table = np.array(columns, dtype=np.int64).T
    return table[: len(a)], table[len(a) :]


def exchanged_statistics(a: Rows, b: Rows, bits: np.ndarray, beta: float = 1.0) -> np.ndarray:
    """T of each row of bits: the two rows of each unit with a 1 are exchanged, and T is worked out anew."""
    first, second = whole(a, b)
    swap = bits.astype(bool)[:, :, None]
    side_a, side_b = np.where(swap, second, first), np.where(swap, first, second)
    return _rate_statistics(side_a, side_b) if first.shape[1] == 2 else _harmonic_statistics(side_a, side_b, beta)


def _rate_statistics(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """T = |θ_B - θ_A| / sqrt(Σψ²), ψ_i = (y_Bi - θ_B·x_Bi) / X_B - (y_Ai - θ_A·x_Ai) / X_A. A draw with X = 0 on a
    side counts as extreme.

    In whole numbers: ψ_i·X_A²·X_B² = X_A²(y_Bi·X_B - Y_B·x_Bi) - X_B²(y_Ai·X_A - Y_A·x_Ai).
    """
    ya, xa, yb, xb = (side.sum(axis=1) for side in (a[:, :, 0], a[:, :, 1], b[:, :, 0], b[:, :, 1]))
    rest_a = a[:, :, 0] * xa[:, None] - ya[:, None] * a[:, :, 1]
    rest_b = b[:, :, 0] * xb[:, None] - yb[:, None] * b[:, :, 1]
    psi = xa[:, None] ** 2 * rest_b - xb[:, None] ** 2 * rest_a
    difference = np.abs(yb * xa - ya * xb).astype(float) * xa * xb
    statistics = _studentised(difference, (psi.astype(float) ** 2).sum(axis=1))
    return np.where((xa == 0) | (xb == 0), np.inf, statistics)


def _harmonic_statistics(a: np.ndarray, b: np.ndarray, beta: float) -> np.ndarray:
    """ψ = [2R²·(y1 - P·x1)/X1 + 2P²·(y2 - R·x2)/X2] / (P + R)², of B minus that of A; 0 where P + R = 0. For F-beta
    the two derivatives are (1 + b²)R² / (b²P + R)² and (1 + b²)b²P² / (b²P + R)²."""
    sides = [_harmonic_side(side, beta) for side in (a, b)]
    psi = sides[1][1] - sides[0][1]
    psi[np.abs(psi) < 1e-13 * (np.abs(sides[1][1]) + np.abs(sides[0][1]))] = 0
    difference = np.abs(sides[1][0] - sides[0][0])
    difference[difference < 1e-13] = 0
    return _studentised(difference, (psi**2).sum(axis=1))


def _harmonic_side(side: np.ndarray, beta: float) -> tuple[np.ndarray, np.ndarray]:
    square = beta * beta
    total = side.sum(axis=1).astype(float)
    y1, x1, y2, x2 = (total[:, at] for at in range(4))
    with np.errstate(divide="ignore", invalid="ignore"):
        precision, recall = np.where(x1 > 0, y1 / x1, 0.0), np.where(x2 > 0, y2 / x2, 0.0)
        below = square * precision + recall
        figure = np.where(below > 0, (1 + square) * precision * recall / below, 0.0)
        by_precision = np.where(below > 0, (1 + square) * recall**2 / below**2 / x1, 0.0)
        by_recall = np.where(below > 0, (1 + square) * square * precision**2 / below**2 / x2, 0.0)
    rest1 = (side[:, :, 0] * x1[:, None] - y1[:, None] * side[:, :, 1]) / np.maximum(x1, 1)[:, None]
    rest2 = (side[:, :, 2] * x2[:, None] - y2[:, None] * side[:, :, 3]) / np.maximum(x2, 1)[:, None]
    return figure, by_precision[:, None] * rest1 + by_recall[:, None] * rest2


def _studentised(difference: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """0 / 0: T = 0; Σψ² = 0 with a difference: infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(squares > 0, difference / np.sqrt(squares), np.where(difference > 0, np.inf, 0.0))


def reaches(statistics: np.ndarray, observed: float) -> np.ndarray:
    """As extreme: T not below the observed one by more than 1e-9 of it."""
    return statistics >= (observed if math.isinf(observed) else observed * (1 - CLOSE))


def exchange_p(a: Rows, b: Rows, beta: float = 1.0) -> tuple[float, bool]:
    """p, and whether it is exact. n: the units whose two rows differ. n <= 13: all 2^n, p = c / 2^n with the identity
    among them; else 10,000 draws (seed 0), (1 + c) / (1 + 10,000). Equal runs: 1."""
    differing = [at for at, (row_a, row_b) in enumerate(zip(a, b, strict=True)) if row_a != row_b]
    if not differing:
        return 1.0, True
    exact = len(differing) <= 13
    if exact:
        chosen = np.array(list(itertools.product((0, 1), repeat=len(differing))), dtype=np.int8)
    else:
        chosen = np.random.default_rng(0).integers(0, 2, size=(DRAWS, len(differing)), dtype=np.int8)
    bits = np.zeros((len(chosen), len(a)), dtype=np.int8)
    bits[:, differing] = chosen
    observed = float(exchanged_statistics(a, b, np.zeros((1, len(a)), dtype=np.int8), beta)[0])
    extreme = sum(
        int(reaches(exchanged_statistics(a, b, part, beta), observed).sum()) for part in np.array_split(bits, 8)
    )
    return (extreme / len(chosen), True) if exact else ((1 + extreme) / (1 + DRAWS), False)


def too_few_matches(a: Rows, b: Rows) -> bool:
    """θ0 = (Y_A + Y_B) / (X_A + X_B). θ0·min(X_A, X_B) < 5: no test."""
    (ya, xa), (yb, xb) = sums(a), sums(b)
    return Fraction(ya + yb) * min(xa, xb) < 5 * (xa + xb)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm over the metrics shown, each distinct one once."""
    corrected, greatest = {}, 0.0
    for at, name in enumerate(sorted(p_values, key=lambda each: p_values[each])):
        greatest = max(greatest, min(1.0, (len(p_values) - at) * p_values[name]))
        corrected[name] = greatest
    return corrected


def ranked(prs: Mapping[str, set[str]], share: Fraction = Fraction(4, 5)) -> set[str]:
    """Ranked are the reviewers that have at least 80 % of the pull requests that any of them has."""
    anywhere = set().union(*prs.values())
    return {name for name, own in prs.items() if len(own) >= share * len(anywhere)}


def pairwise_ties(rows: Mapping[str, Rows], beta: float = 1.0, not_tested: Collection[tuple[str, str]] = ()) -> Ties:
    """Of each pair p alone and p of the family: T as above, 10,000 draws (seed 0) of one random bit per unit, the same
    for all pairs; step-down: pairs in order of T, p of the k-th = the greatest so far of (1 + draws in which any of
    the pairs from the k-th on reaches it) / (1 + draws)."""
    units = len(next(iter(rows.values())))
    bits = np.random.default_rng(0).integers(0, 2, size=(DRAWS, units), dtype=np.int8)
    nothing = np.zeros((1, units), dtype=np.int8)
    observed, drawn = {}, {}
    for a, b in itertools.combinations(rows, 2):
        if (a, b) not in not_tested:
            observed[a, b] = float(exchanged_statistics(rows[a], rows[b], nothing, beta)[0])
            parts = [exchanged_statistics(rows[a], rows[b], part, beta) for part in np.array_split(bits, 8)]
            drawn[a, b] = np.concatenate(parts)
    alone = {pair: (1 + int(reaches(drawn[pair], observed[pair]).sum())) / (1 + DRAWS) for pair in observed}
    result, greatest = {}, 0.0
    order = sorted(observed, key=lambda pair: -observed[pair])
    for at, pair in enumerate(order):
        highest = np.max([drawn[other] for other in order[at:]], axis=0)
        greatest = max(greatest, (1 + int(reaches(highest, observed[pair]).sum())) / (1 + DRAWS))
        result[pair] = alone[pair], greatest
    return result


def too_few_by_any_reading(a: Rows, b: Rows, beta: Fraction | int = 1) -> set[bool]:
    """Too few matches of a rate or of a harmonic mean, for which the definitions leave θ0 open: Y the mean of matched
    and covered, or the figure of the pooled sums, either with X = (comments + b²·references) / (1 + b²)."""
    if len(a[0]) == 2:
        return {too_few_matches(a, b)}
    square = Fraction(beta) ** 2
    sides = [
        [((row[0] + square * row[2]) / (1 + square), (row[1] + square * row[3]) / (1 + square)) for row in rows]
        for rows in (a, b)
    ]
    pooled = f_beta(beta)(sums([*a, *b])) or Fraction(0)
    return {too_few_matches(*sides), pooled * min(sums(side)[1] for side in sides) < 5}


def week(moment: datetime) -> date:
    """The Monday of the ISO week (UTC)."""
    return moment.date() - timedelta(days=moment.weekday())


def blocks_of_weeks(moments: Sequence[datetime]) -> tuple[int, list[int]] | None:
    """L and the block of each moment: blocks of L consecutive calendar weeks, W weeks from the first with a pull
    request to the last; blocks from the first on, the last one takes what is left over; L = max(4, round(√W)), lowered
    until there are 10 blocks, never below 2. Null with fewer than 20 weeks."""
    first = min(week(moment) for moment in moments)
    at = [(week(moment) - first).days // 7 for moment in moments]
    weeks = max(at) + 1
    if weeks < 20:
        return None
    length = max(4, round(math.sqrt(weeks)))
    while weeks // length < 10 and length > 2:
        length -= 1
    return length, [min(each // length, weeks // length - 1) for each in at]


def kaplan_meier_median(waits: Sequence[int], censored: Sequence[int]) -> Fraction | None:
    """The Kaplan-Meier median, with the never reviewed censored; where S is exactly 1/2 between two events, the
    midpoint between them, so that without censoring it equals the median; 1/2 to the end: the first of them."""
    survival, half = Fraction(1), None
    for time in sorted(set(waits)):
        at_risk = sum(wait >= time for wait in waits) + sum(wait >= time for wait in censored)
        survival *= 1 - Fraction(waits.count(time), at_risk)
        if survival < Fraction(1, 2):
            return Fraction(time) if half is None else Fraction(half + time, 2)
        if survival == Fraction(1, 2):
            half = time
    return None if half is None else Fraction(half)


def two_samples_p(
    shared: Sequence[tuple[Row, Row]], only_a: Rows, only_b: Rows, limit: int = 50_000
) -> tuple[float, bool]:
    """p, and whether it is exact. Units that both sides have are exchanged; the others are dealt anew to the two sides
    (sizes kept); T = |θ_B - θ_A| / sqrt(V), worked out each time; 10,000 draws (seed 0), or all arrangements where
    these are at most `limit`."""
    pool = len(only_a) + len(only_b)
    exact = math.comb(pool, len(only_a)) * 2 ** len(shared) <= limit
    if exact:
        chosen = itertools.product(
            itertools.product((0, 1), repeat=len(shared)), itertools.combinations(range(pool), len(only_a))
        )
        sides = np.array([[*bits, *(at not in dealt for at in range(pool))] for bits, dealt in chosen], dtype=bool)
    else:
        rng = np.random.default_rng(0)
        bits = rng.integers(0, 2, size=(DRAWS, len(shared)), dtype=np.int8)
        dealt = rng.permuted(np.tile(np.arange(pool) >= len(only_a), (DRAWS, 1)), axis=1)
        sides = np.hstack([bits, dealt]).astype(bool)
    identity = np.array([[False] * (len(shared) + len(only_a)) + [True] * len(only_b)])
    units = [*(a + b for a, b in shared), *((*row, 0, 0) for row in (*only_a, *only_b))]
    table = np.array([[float(value) for value in unit] for unit in units])
    observed = float(two_samples_statistics(table, identity)[0])
    extreme = int(reaches(two_samples_statistics(table, sides), observed).sum())
    return (extreme / len(sides), True) if exact else ((1 + extreme) / (1 + DRAWS), False)


def two_samples_statistics(table: np.ndarray, exchanged: np.ndarray) -> np.ndarray:
    """T = |θ_B - θ_A| / sqrt(V), V the jackknife's over all units, of each row of `exchanged`. A unit of the table has
    its row on its own side, then its row on the other, which is (0, 0) where that has none. A draw with X = 0 on a
    side counts as extreme."""
    swap = exchanged[:, :, None]
    a, b = np.where(swap, table[:, 2:], table[:, :2]), np.where(swap, table[:, :2], table[:, 2:])
    total_a, total_b = a.sum(axis=1, keepdims=True), b.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = (total_b[:, 0, 0] / total_b[:, 0, 1]) - (total_a[:, 0, 0] / total_a[:, 0, 1])
        rest_a, rest_b = total_a - a, total_b - b
        left_out = rest_b[:, :, 0] / rest_b[:, :, 1] - rest_a[:, :, 0] / rest_a[:, :, 1]
        n = len(table)
        squares = ((left_out - left_out.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
        variance = (n - 1) / n * np.where(squares < 1e-24, 0, squares)
        statistics = _studentised(np.where(np.abs(difference) < 1e-12, 0, np.abs(difference)), variance)
    return np.where(np.isfinite(left_out).all(axis=1) & np.isfinite(difference), statistics, np.inf)
