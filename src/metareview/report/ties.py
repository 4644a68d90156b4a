"""Which reviewers the data can tell apart on F1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from metareview.comments.measures import COUNTS, f1
from metareview.stats import holm, permutation_test, tie_letters

ALPHA = 0.05
MOST_REVIEWERS = 20
"""Beyond this there are too many pairs for a test of each to say much, and to wait for."""


@dataclass(frozen=True)
class Ties:
    """`letters`: two reviewers that share one cannot be told apart; `p`: Holm's p value of each pair."""

    letters: Mapping[str, str]
    p: Mapping[tuple[str, str], float | None]


def ties(records: Iterable[Mapping[str, Any]], names: Sequence[str]) -> Ties | None:
    """Each pair of reviewers tested on the pull requests that both have; None where there is nothing to test."""
    if not 2 <= len(names) <= MOST_REVIEWERS:
        return None
    rows: dict[str, dict[str, list[float]]] = {name: {} for name in names}
    for record in records:
        if not record["skipped"]:
            counts = [float(record[name] or 0) for name in COUNTS]
            rows[record["reviewer"]][record["github_pr_url"]] = counts
    # The least p is 1 / permutations; times the number of pairs, as Holm has it, it must still fall below the level.
    permutations = max(10_000, 100 * len(names) * (len(names) - 1) // 2)
    p: dict[tuple[str, str], float | None] = {}
    for a, b in combinations(names, 2):
        shared = [pr for pr in rows[a] if pr in rows[b]]
        one, other = (np.array([rows[name][pr] for pr in shared]).reshape(-1, len(COUNTS)) for name in (a, b))
        p[a, b] = permutation_test(one, other, {"f1": f1}, permutations=permutations)["f1"]
    adjusted = holm(p)
    separated = [pair for pair, value in adjusted.items() if value is not None and value <= ALPHA]
    return Ties(tie_letters(names, separated), adjusted)
