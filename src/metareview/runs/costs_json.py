"""The JSON of what reviews took."""

from __future__ import annotations

from metareview.comments.costs import KINDS, Costs
from metareview.runs.files import JsonObject

FINDING, HEEDED = "per_valid_finding", "per_heeded_comment"
"""What a cost is set against beside pull requests: in a run of comments, and in one of outcomes."""


def costs_to_json(costs: Costs | None, per: str = FINDING) -> JsonObject:
    """Under the key `costs`, where anything is known."""
    if costs is None:
        return {}
    ends = {"per_pr": costs.per_pr_intervals, per: costs.per_valid_finding_intervals}
    figures = {"prs": costs.prs, "total": costs.total, "per_pr": costs.per_pr, per: costs.per_valid_finding}
    return {
        "costs": {
            **{name: dict(of_kinds) for name, of_kinds in figures.items()},
            "intervals": {
                name: {kind: interval and list(interval) for kind, interval in of_kinds.items()}
                for name, of_kinds in ends.items()
            },
        }
    }


def costs_from_json(stored: JsonObject | None, per: str = FINDING) -> Costs | None:
    """What `costs_to_json` was made from."""
    if stored is None:
        return None
    kinds = [kind for kind in KINDS if kind in stored["prs"]]
    figures = [stored[name] for name in ("prs", "total", "per_pr", per)]
    ends = [
        {kind: interval and (interval[0], interval[1]) for kind, interval in stored["intervals"][name].items()}
        for name in ("per_pr", per)
    ]
    return Costs(*({kind: of_all[kind] for kind in kinds} for of_all in (*figures, *ends)))
