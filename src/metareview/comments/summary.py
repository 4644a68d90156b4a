"""From the records of a run to its figures: micro, macro, slices, intervals and bounds, a block for each reviewer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from metareview.comments.measures import (
    COUNTS,
    LINE_COUNTS,
    MEASURES,
    RECALLS,
    Measure,
    Sums,
    measured,
    number,
    rates,
    table,
)
from metareview.model.address import pull_request_key
from metareview.stats import bootstrap_intervals

Record = Mapping[str, Any]


def summarise(records: Sequence[Record], *, place: bool, negatives: bool, seed: int) -> dict[str, Any]:
    """One reviewer's figures over its records that were not skipped."""
    # By pull request, so that the order of the input changes no resample.
    counted = sorted(
        (record for record in records if not record["skipped"]),
        key=lambda record: pull_request_key(record["github_pr_url"]),
    )
    available = measured(place, negatives)
    counts = table(counted)
    sums = counts.sum(axis=0)
    intervals = bootstrap_intervals(counts, available, seed=seed)
    return {
        "prs": len(counted),
        **_counts(sums, place),
        "metrics": rates(sums, available),
        "intervals": {name: _ends(intervals.get(name)) for name in MEASURES},
        "bounds": _bounds(counted, sums, available),
        "macro": _macro(counts, available),
        "slices": {
            "language": _pull_request_slices(counted, "language", available, place),
            "pr_category": _pull_request_slices(counted, "pr_category", available, place),
            **{
                name: _reference_slices(counted, name, place)
                for name in ("comment_category", "context", "severity")
            },
        },
    }


def _counts(sums: Sums, place: bool) -> dict[str, int | None]:
    return {
        name: None if name in LINE_COUNTS and not place else int(value)
        for name, value in zip(COUNTS, sums, strict=True)
    }


def _ends(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else list(interval)


def _bounds(
    records: Sequence[Record], sums: Sums, available: Mapping[str, Measure]
) -> dict[str, list[float] | None]:
    """Each metric with no undecided pair as an edge and with all of them as edges, the lower first."""
    most = table(record.get("counts_if_undecided_match", record) for record in records).sum(axis=0)
    without, with_all = rates(sums, available), rates(most, available)
    return {
        name: None if low is None or high is None else sorted((low, high))
        for name, low, high in ((name, without[name], with_all[name]) for name in MEASURES)
    }


def _macro(counts: Sums, available: Mapping[str, Measure]) -> dict[str, Any]:
    """The mean of the pull requests' rates; `nulls` says how many pull requests had none."""
    means: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    for name in MEASURES:
        values = available[name](counts) if name in available else np.full(len(counts), np.nan)
        defined = values[~np.isnan(values)]
        means[name] = number(defined.mean()) if len(defined) else None
        nulls[name] = int(len(values) - len(defined))
    return means | {"nulls": nulls}


def _pull_request_slices(
    records: Iterable[Record], key: str, available: Mapping[str, Measure], place: bool
) -> dict[str, Any]:
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record[key] or "unknown", []).append(record)
    slices: dict[str, Any] = {}
    for value, group in sorted(groups.items()):
        sums = table(group).sum(axis=0)
        slices[value] = {"prs": len(group), **_counts(sums, place), "metrics": rates(sums, available)}
    return slices


def _reference_slices(records: Iterable[Record], name: str, place: bool) -> dict[str, Any]:
    """Recall and line recall only: a comment that matches nothing belongs to no category."""
    tallies: dict[str, list[int]] = {}
    for record in records:
        for value, tally in record["reference_slices"][name].items():
            tallies[value] = [a + b for a, b in zip(tallies.get(value, [0, 0, 0]), tally, strict=True)]
    slices: dict[str, Any] = {}
    for value, (expected, covered, line_covered) in sorted(tallies.items()):
        by_name = {
            "positive_expected_nums": expected,
            "positive_covered_nums": covered,
            "positive_line_covered_nums": line_covered if place else None,
        }
        sums = table([by_name])[0]
        slices[value] = by_name | {"metrics": rates(sums, measured(place, False), RECALLS)}
    return slices
