"""What is kept of each scored pull request, and the summary that the records add up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metareview.model.event import fold
from metareview.model.time import show_time
from metareview.routing import measures
from metareview.routing.answers import Answer
from metareview.routing.declarations import GATES, Gates, correlate
from metareview.routing.queue import waiting_times
from metareview.routing.truth import Truth


@dataclass(frozen=True, slots=True)
class Record:
    """One pull request: its cutoff, truth, times, gates, and each router's answer."""

    repo: str
    pr: int
    author: str | None
    created_at: int
    cutoff: int
    truth: Truth
    ttfr_seconds: float | None
    ttfc_seconds: float | None
    gates: Gates
    merged: bool
    merged_within: bool | None
    answers: dict[str, Answer]

    def as_json(self) -> dict[str, Any]:
        """The line of `results.jsonl`."""
        return {
            "repo": self.repo,
            "pr": self.pr,
            "author": self.author,
            "created_at": show_time(self.created_at),
            "cutoff": show_time(self.cutoff),
            "truth": {"state": self.truth.state, "targets": list(self.truth.targets)},
            "ttfr_seconds": self.ttfr_seconds,
            "ttfc_seconds": self.ttfc_seconds,
            "gates": self.gates._asdict(),
            "merged": self.merged,
            "merged_within": self.merged_within,
            "routers": {name: answer.as_json() for name, answer in self.answers.items()},
        }


def summarise(
    records: Sequence[Record],
    recommended: Mapping[str, set[str]],
    *,
    k: Sequence[int],
    ttfc: bool,
    merged_within: bool,
    seed: int = 0,
) -> dict[str, Any]:
    """The figures of `metareview.routing/1` that rest on records.

    `recommended` has, for each router, everybody who was ever on one of its lists.
    """
    states = Counter(record.truth.state for record in records)
    observed = np.array([record.truth.state == "observed" for record in records], dtype=bool)
    ranks = {
        name: np.fromiter((record.answers[name].rank for record in records), np.int64, len(records))
        for name in recommended
    }
    # By name, as `leaderboard` reads them back: the same resamples, so the same intervals.
    order = sorted(range(len(records)), key=lambda at: f"{records[at].repo}#{records[at].pr}")
    intervals = _intervals({name: found[order] for name, found in ranks.items()}, k, seed)
    routers = {}
    for name, found in ranks.items():
        firsts = Counter(
            fold(answer.candidates[0]) for record in records if (answer := record.answers[name]).candidates
        )
        loads = [firsts[person] for person in recommended[name]]
        routers[name] = {
            **_figures(found, k),
            "intervals": intervals[name],
            "observed_only": {"prs": int(observed.sum()), **_figures(found[observed], k)},
            "queue": waiting_times(
                ((record.answers[name].risk, record.ttfr_seconds, record.ttfc_seconds) for record in records),
                ttfc=ttfc,
            ),
            "load": {"gini": measures.gini(loads), "top1_share": measures.top1_share(loads)},
        }
    return {
        "prs": len(records),
        "truth": {state: states[state] for state in ("observed", "no_response", "unknown")},
        "routers": routers,
        "gates": {gate: _gate(records, gate, merged_within) for gate in GATES},
    }


def _figures(ranks: measures.Ranks, k: Sequence[int]) -> dict[str, float | None]:
    return {**{f"hit@{each}": measures.hit_at(ranks, each) for each in k}, "mrr": measures.mrr(ranks)}


def _gate(records: Sequence[Record], gate: str, within: bool) -> dict[str, Any]:
    present = [bool(getattr(record.gates, gate)) for record in records]
    figures: dict[str, Any] = correlate(zip(present, (record.merged for record in records), strict=True))
    if within:
        merges = (bool(record.merged_within) for record in records)
        later = correlate(zip(present, merges, strict=True))
        figures["merged_within"] = {
            rate: later[rate] for rate in ("merged_rate_missing", "merged_rate_present")
        }
    return figures


def _intervals(
    ranks: Mapping[str, measures.Ranks], k: Sequence[int], seed: int
) -> dict[str, dict[str, list[float] | None]]:
    """Bootstrap intervals over pull requests; one set of resamples serves all routers."""
    from metareview.stats import bootstrap_intervals

    columns = [np.ones(len(next(iter(ranks.values()), ())))]
    metrics = {}
    for name, found in ranks.items():
        hits = {f"hit@{each}": ((found > 0) & (found <= each)).astype(np.float64) for each in k}
        for metric, values in {**hits, "mrr": measures.reciprocal(found)}.items():
            metrics[f"{name} {metric}"] = _mean_of(len(columns))
            columns.append(values)
    found_intervals = bootstrap_intervals(np.column_stack(columns), metrics, seed=seed)
    result: dict[str, dict[str, list[float] | None]] = {name: {} for name in ranks}
    for key, ends in found_intervals.items():
        name, _, metric = key.rpartition(" ")
        result[name][metric] = None if ends is None else list(ends)
    return result


def _mean_of(column: int) -> Any:
    """The mean over the drawn pull requests; column 0 counts them."""

    def metric(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        mean: NDArray[np.float64] = sums[..., column] / sums[..., 0]
        return mean

    return metric
