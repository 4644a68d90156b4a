"""How far the figures of a run depend on its line distance and on its judge's threshold.

Computed from the stored pairs; nothing is judged again. At the run's own distance and threshold the curves pass
through the run's own figures. A judge that costs nothing has judged pairs up to 20 lines apart; a paid one has not,
and its curve ends at the run's distance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from metareview.comments.case import FREE_REACH
from metareview.comments.measures import Rates, false_positive_rate, rates
from metareview.comments.records import Pair
from metareview.comparison.competitors import folder_of
from metareview.comparison.recount import Recount, Setting
from metareview.errors import InputError, UsageError
from metareview.model.measure import Sums
from metareview.runs.files import JsonObject
from metareview.runs.run import AnyRun, CommentsRun, is_comments

SCHEMA = "metareview.sensitivity/1"
THRESHOLDS = tuple(round(step / 20, 2) for step in range(1, 20))
RANKED_BY = "f1"


@dataclass(frozen=True, slots=True)
class RankChange:
    """The order at another value, and each [lower, upper] where the lower one overtakes there."""

    value: float
    order: list[str]
    overtakes: list[list[str]]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The order by a metric at the run's own value, and where somebody overtakes somebody."""

    metric: str
    order: list[str]
    stable: bool
    changes: list[RankChange]


@dataclass(frozen=True, slots=True)
class Curves:
    """Every metric of every reviewer at each value of one setting; `at` is the run's own, always among them."""

    values: Sequence[float]
    at: float
    reviewers: dict[str, dict[str, list[float | None]]]
    ranking: Ranking


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The curves of a run. `line_distance` is None where locations were not compared, `threshold` where the judge
    has none."""

    run: str | None
    judge: str
    line_distance: Curves | None
    threshold: Curves | None

    def to_dict(self) -> JsonObject:
        return {"schema": SCHEMA, **asdict(self)}


def sensitivity(run: AnyRun) -> Sensitivity:
    """Every metric of every reviewer as a function of the line distance (0 to 20) and of the threshold (0.05 to 0.95).

    A false positive rate that would need verdicts that were never given (a comment that a reference explained in the
    run, and no longer does) is null.
    """
    if not is_comments(run):
        raise UsageError(f"{run.label} is a run of {run.kind.name}; sensitivity is for runs of comments.")
    config = run.result.config
    recounts = list(_recounts(run))
    distances: list[int] = []
    if config.location:
        reach = FREE_REACH if all(recount.knows_all for recount in recounts) else config.line_distance
        distances = sorted({*range(min(reach, FREE_REACH) + 1), config.line_distance})
    thresholds = [] if config.threshold is None else sorted({*THRESHOLDS, config.threshold})
    settings = [Setting(distance) for distance in distances]
    settings += [Setting(config.line_distance, threshold) for threshold in thresholds]
    sums: dict[str, Sums] = {}
    unknown: dict[str, NDArray[np.bool_]] = {}
    for recount in recounts:
        name = recount.reviewer
        sums[name] = sums.get(name, 0) + np.array([recount.counts(setting) for setting in settings])
        lacking = np.array([recount.lacks_negatives(setting) for setting in settings], bool)
        unknown[name] = unknown.get(name, False) | lacking
    figures: dict[str, list[Rates]] = {
        name: [
            rates(row, config.measures) | ({false_positive_rate.name: None} if lacking else {})
            for row, lacking in zip(rows, unknown[name].tolist(), strict=True)
        ]
        for name, rows in sums.items()
    }
    cut = len(distances)
    return Sensitivity(
        folder_of(run),
        config.judge,
        _curves(distances, config.line_distance, {name: rows[:cut] for name, rows in figures.items()}),
        _curves(thresholds, config.threshold, {name: rows[cut:] for name, rows in figures.items()}),
    )


def _curves(values: Sequence[float], at: float | None, figures: Mapping[str, Sequence[Rates]]) -> Curves | None:
    if at is None or not values:
        return None
    curves = {name: {metric: [row[metric] for row in rows] for metric in rows[0]} for name, rows in figures.items()}
    return Curves(values, at, curves, _ranking(values, at, {n: c[RANKED_BY] for n, c in curves.items()}))


def _ranking(values: Sequence[float], at: float, f1s: Mapping[str, Sequence[float | None]]) -> Ranking:
    """Only strict reversals count: a tie that opens, or a lead that shrinks to a tie, is no change of ranks."""
    home = values.index(at)

    def figure(name: str, index: int) -> float:
        value = f1s[name][index]
        return -1.0 if value is None else value

    def order_at(index: int) -> list[str]:
        return sorted(f1s, key=lambda name: (-figure(name, index), name))

    order = order_at(home)
    changes = []
    for index, value in enumerate(values):
        overtakes = [
            [lower, upper]
            for rank, upper in enumerate(order)
            for lower in order[rank + 1 :]
            if figure(lower, index) > figure(upper, index) and figure(upper, home) > figure(lower, home)
        ]
        if overtakes:
            changes.append(RankChange(value, order_at(index), overtakes))
    return Ranking(RANKED_BY, order, not changes, changes)


def _recounts(run: CommentsRun) -> Iterator[Recount]:
    """One for each record that was scored. Pairs and records are stored in the same order."""
    groups = groupby(run.read_pairs(), key=lambda pair: (pair.pr, pair.reviewer))
    key, group = next(groups, (None, iter(())))
    for record in run.read_records():
        pairs: list[Pair] = []
        if key == record.key:
            pairs = list(group)
            key, group = next(groups, (None, iter(())))
        if not record.skipped:
            yield Recount(record, pairs, run.result.config)
    if key is not None:
        raise InputError(
            f"pairs without a record ({key[1]} on {key[0]})",
            file=run.label,
            fix="Run the evaluation again with --overwrite.",
        )
