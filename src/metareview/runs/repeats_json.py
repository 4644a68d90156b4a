"""JSON of how far the repeated runs of a reviewer differ."""

from __future__ import annotations

from dataclasses import asdict

from metareview.comments.measures import MAIN
from metareview.comments.repeated_runs import Repeats, Spread, VarianceShares
from metareview.runs.files import JsonObject
from metareview.stats import Variance


def repeats_to_json(repeats: Repeats) -> JsonObject:
    """How far a reviewer's repeated runs differ, and what its intervals are of."""
    stored = {"runs": repeats.runs, **asdict(repeats), "names": list(repeats.names)}
    return stored | {"interval_of": repeats.interval_label}


def repeats_from_json(stored: JsonObject) -> Repeats:
    return Repeats(
        tuple(stored["names"]),
        {name: all_measures(stored["metrics"][name]) for name in stored["names"]},
        {name: None if each is None else Spread(**each) for name, each in all_measures(stored["spread"]).items()},
        {
            name: None if each is None else VarianceShares(**each)
            for name, each in all_measures(stored["variance"]).items()
        },
        stored["prs_per_run"],
        # Runs of before it was taken in have intervals without.
        {name: Variance(**each) for name, each in stored.get("run_variance", {}).items()},
    )


def all_measures(stored: JsonObject) -> JsonObject:
    """By measure; KeyError where one is missing that every run has."""
    return {**stored, **{measure.name: stored[measure.name] for measure in MAIN}}
