"""Corrected figures against known truth: how often their intervals hold it, for good and for useless judges.

Made-up pull requests: how many issues they have and how often the reviewer finds them differs from one to the next.
Comments and references fall into blocks of one to a few pairs; a judge scores each pair, well or badly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench.measure import Result, Row
from metareview.comments.blocks import Block, matching_number
from metareview.comments.measures import Counts, measured, table
from metareview.comparison.corrected import Correction, corrected_row, figures_of_counts
from metareview.comparison.frame import LabelledFrame, frame_of
from metareview.comparison.held_labels import HeldLabels
from metareview.model.label import Labels, PairKey
from metareview.stats import Array

MEASURES = measured(location=False, negatives=False, alignment="optimal")
F1 = next(measure for measure in MEASURES if measure.name == "f1")
Judge = Callable[[np.random.Generator, Array], Array]
"""Scores of pairs, from whether each is the same issue; 0.5 divides yes from no."""


def _beta_judge(of_same: tuple[float, float], of_different: tuple[float, float]) -> Judge:
    def scores(rng: np.random.Generator, same: Array) -> Array:
        return np.where(same > 0, rng.beta(*of_same, len(same)), rng.beta(*of_different, len(same)))

    return scores


def sure_judge(missed: float) -> Judge:
    """Scores near 0 and 1 that never call different issues the same, and miss this share of what is the same."""

    def scores(rng: np.random.Generator, same: Array) -> Array:
        yes = (same > 0) & (rng.random(len(same)) >= missed)
        return np.where(yes, 1.0, 0.0) + np.where(yes, -0.01, 0.01) * rng.random(len(same))

    return scores


JUDGES: dict[str, Judge] = {
    "good": _beta_judge((6, 1.2), (1, 8)),
    "lenient": _beta_judge((6, 1), (2.2, 2.2)),
    "strict": _beta_judge((1.6, 2.0), (1, 9)),
    "random": _beta_judge((1, 1), (1, 1)),
}


@dataclass(frozen=True)
class World:
    """What happened on some pull requests: the truth, and the blocks as a judge has them."""

    counts: Array
    """True counts, one row per pull request."""
    blocks: list[Block]
    truth: dict[PairKey, bool]

    @property
    def judged(self) -> Array:
        """The counts as the judge has them."""
        matches = np.zeros(len(self.counts))
        for block in self.blocks:
            matches[int(block.pr)] += block.judged
        return np.array([corrected_row(row, m, m) for row, m in zip(self.counts.tolist(), matches, strict=True)])


@dataclass(frozen=True)
class Cell:
    """Matches that a sure judge misses, so rarely that the labels of a stratum may show none of them."""

    prs: int
    budget: int
    found: tuple[float, float]
    """How often a place is a match: the parameters of a beta distribution over pull requests."""
    missed: float
    """Of the matches, the share that the judge misses."""

    @property
    def what(self) -> str:
        a, b = self.found
        hidden = a / (a + b) * self.missed
        share = hidden / (hidden + b / (a + b))
        sizes = f"{self.prs} pull requests, {self.budget} blocks"
        return f"a sure judge, matches in {share:.0%} of where it sees none, {sizes}"


RARE = (
    Cell(100, 40, (0.3, 5.7), 0.5),
    Cell(300, 40, (0.3, 5.7), 0.5),
    Cell(300, 40, (0.6, 5.4), 0.5),
    Cell(300, 120, (0.3, 5.7), 0.5),
    Cell(300, 40, (2.0, 2.5), 0.1),
)
FOUND = (2.0, 2.5)
SHAPES = ((1, 1), (2, 1), (1, 2), (2, 2))
"""Comments and references at one place."""


def world(rng: np.random.Generator, judge: Judge, prs: int = 200, found_by: tuple[float, float] = FOUND) -> World:
    places = 1 + rng.poisson(2.2, prs)  # with comments and references
    found = np.repeat(rng.beta(*found_by, prs), places)
    of_place = np.repeat(np.arange(prs), places)
    shape = rng.choice(len(SHAPES), len(of_place), p=(0.62, 0.16, 0.12, 0.10))
    sizes = np.array([wide * high for wide, high in SHAPES])[shape]
    chance = np.repeat(np.where(shape == 0, found, 0.6 * found), sizes)
    same = (rng.random(len(chance)) < chance).astype(float)
    scores = judge(rng, same)
    alone, missed = rng.poisson(1.5, prs), rng.poisson(1.2, prs)  # comments and references that nothing is near
    ours, theirs, matched = np.zeros(prs, int), np.zeros(prs, int), np.zeros(prs, int)
    blocks: list[Block] = []
    truth: dict[PairKey, bool] = {}
    start = 0
    for pr, kind, size in zip(of_place.tolist(), shape.tolist(), sizes.tolist(), strict=True):
        wide, high = SHAPES[kind]
        pairs = [(ours[pr] + g, theirs[pr] + r) for g in range(wide) for r in range(high)]
        is_same, score = same[start : start + size].tolist(), scores[start : start + size].tolist()
        start += size
        order = sorted(range(size), key=lambda at, score=score: -score[at])
        judged = matching_number([pair for pair, each in zip(pairs, score, strict=True) if each >= 0.5])
        unsure = max(each * (1 - each) for each in score)
        in_order, ordered = tuple(pairs[at] for at in order), tuple(score[at] for at in order)
        blocks.append(Block(str(pr), "r", "matches", in_order, ordered, judged, unsure))
        truth |= {(str(pr), "r", *pair): bool(each) for pair, each in zip(pairs, is_same, strict=True)}
        matched[pr] += matching_number([pair for pair, each in zip(pairs, is_same, strict=True) if each])
        ours[pr], theirs[pr] = ours[pr] + wide, theirs[pr] + high
    counts = map(Counts, theirs + missed, ours + alone, np.zeros(prs), matched, matched)
    return World(table(counts), blocks, truth)


def true_f1(seed: int = 99, prs: int = 200_000, found_by: tuple[float, float] = FOUND) -> float:
    """Over very many pull requests: the truth that intervals are held to. No judge changes it."""
    return float(F1(world(np.random.default_rng(seed), JUDGES["random"], prs, found_by).counts.sum(axis=0)))


@dataclass(frozen=True)
class Trial:
    """What many draws gave: how often the interval held the truth, its mean width, the mean error."""

    coverage: float
    width: float
    bias: float
    judged_bias: float
    """That of the judge's own figure."""


def trials(
    judge: Judge,
    truth: float,
    repeats: int,
    *,
    budget: int = 120,
    strata: bool = True,
    seed: int = 0,
    prs: int = 200,
    found_by: tuple[float, float] = FOUND,
) -> Trial:
    """`strata` False: blocks drawn at random from all, as if there were no judge."""
    rng = np.random.default_rng(seed)
    held, widths, errors, judged_errors = [], [], [], []
    for repeat in range(repeats):
        made = world(rng, judge, prs, found_by)
        blocks = made.blocks
        if not strata:
            blocks = [Block(b.pr, b.reviewer, b.counted, b.pairs, b.scores, 0, 0.0) for b in blocks]
        labelled = LabelledFrame(frame_of(blocks, budget=budget, seed=repeat), made.truth)
        matches = labelled.estimate("matches")
        correction = Correction(labelled, HeldLabels(Labels(), 0), matches, matches)
        counts = {(str(pr), "r"): row for pr, row in enumerate(made.counts.tolist())}
        figures = figures_of_counts(MEASURES, correction, {"r": counts})["r"]
        low, high = figures.intervals["f1"] or (np.nan, np.nan)
        held.append(low <= truth <= high)
        widths.append(high - low)
        errors.append((figures.metrics["f1"] or 0.0) - truth)
        judged_errors.append(float(F1(made.judged.sum(axis=0))) - truth)
    return Trial(*(float(np.mean(each)) for each in (held, widths, errors, judged_errors)))


def rare_trials(cell: Cell, repeats: int, *, prs: int = 50_000, seed: int = 0) -> Trial:
    """`prs`: how many the truth is taken from."""
    return trials(
        sure_judge(cell.missed),
        true_f1(prs=prs, found_by=cell.found),
        repeats,
        budget=cell.budget,
        seed=seed,
        prs=cell.prs,
        found_by=cell.found,
    )


def run(repeats: int = 1000) -> Result:
    """Each judge on 200 pull requests with 120 labelled blocks, then a sure judge that misses rare matches."""
    truth = true_f1()
    rows: list[Row] = []
    alone = trials(JUDGES["good"], truth, repeats, strata=False)
    for name, judge in JUDGES.items():
        trial = trials(judge, truth, repeats)
        held = 100 * trial.coverage
        what = f"a {name} judge, 200 pull requests, 120 blocks"
        own = f"F1; the judge's own {trial.judged_bias:+.3f}"
        rows += [
            held_row(f"{what}: intervals of F1 that hold the truth", held),
            Row(f"{what}: their width", round(trial.width, 3), "F1", f"labels alone {alone.width:.3f}"),
            Row(f"{what}: mean error", round(trial.bias, 4), own),
        ]
    for cell in RARE:
        trial = rare_trials(cell, repeats // 4)
        held = round(100 * trial.coverage, 1)
        rows += [
            Row(f"{cell.what}: intervals of F1 that hold the truth", held, "%", "90 % or more", held >= 90),
            Row(f"{cell.what}: their width", round(trial.width, 3), "F1"),
        ]
    return Result("Corrected figures against a known truth", rows)


def held_row(what: str, percent: float) -> Row:
    """How often intervals of 95 % hold the truth."""
    return Row(what, round(percent, 1), "%", "92 to 98 %", 92 <= percent <= 98)
