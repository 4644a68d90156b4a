"""What made a difference between two contenders: which pull requests, which kinds of issue, what each one found.

Functions of the records of two contenders on the same pull requests, in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metareview.comparison.competitors import COMMENTS, ROUTING, Kind, Record
from metareview.stats import Array, Metric

EXCERPT = 240
"""Characters of a note that are quoted."""
SHOWN_UNMATCHED = 3
_DIMENSIONS = {"comment_category": "category", "context": "context", "severity": "severity"}
_OUTCOMES = ("both", "only_a", "only_b", "neither")

Records = Sequence[Record]


def effects(a: Array, b: Array, metric: Metric) -> Array:
    """How much each pull request adds to metric(b) - metric(a).

    Half of what the difference would lose if A and B were exchanged there. For a mean over pull requests these are
    exactly its parts; for a metric of sums, such as F1, they add up to nearly the whole.
    """
    sums_a, sums_b = a.sum(axis=0), b.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = metric(sums_b) - metric(sums_a)
        exchanged = metric(sums_b - b + a) - metric(sums_a - a + b)
        added = np.nan_to_num((whole - exchanged) / 2)
    return np.where((a != b).any(axis=1), added, 0.0)  # equal counts add nothing, whatever the rounding


def excerpt(text: str, length: int = EXCERPT) -> str:
    """The beginning of a note on one line, cut between words where that is possible."""
    line = " ".join(text[: 4 * length].split())
    if len(line) <= length and len(text) <= 4 * length:
        return line
    head = line[:length]
    return (head.rsplit(" ", 1)[0] if " " in head[length // 2 :] else head).rstrip(" ,;:.") + " …"


@dataclass(frozen=True)
class Details:
    """The three lists of a comparison, for one kind of run."""

    pull_request: Callable[[str, str, Record, Record], dict[str, Any]]
    """What A and B did on one pull request: (A's name, B's name, A's record, B's record)."""
    kinds: Callable[[str, str, Records, Records], dict[str, dict[str, Any]]]
    found: Callable[[str, str, Records, Records], dict[str, dict[str, Any]]]
    same: Callable[[str, str, Record, Record], bool]
    """Whether both said the same there."""


# Comments


def _place_and_note(comment: Mapping[str, Any]) -> dict[str, Any]:
    place = {name: comment[name] for name in ("path", "from_line", "to_line") if name in comment}
    return {**place, "note": excerpt(comment["note"])}


def _reference(comment: Mapping[str, Any]) -> dict[str, Any]:
    kind = {name: comment[name] for name in _DIMENSIONS.values() if name in comment}
    return {"reference": comment["reference"], **_place_and_note(comment), **kind}


def _outcomes(a: Record, b: Record) -> Iterator[tuple[dict[str, Any], str]]:
    """Each reference that counts, and who raised it."""
    for ours, theirs in zip(a["reference_comments"], b["reference_comments"], strict=True):
        if ours["kept"]:
            raised = (ours["covered"], theirs["covered"])
            yield ours, _OUTCOMES[(not raised[1]) + 2 * (not raised[0])]


def _raised_by(record: Record, reference: int) -> list[dict[str, Any]]:
    comments = {detail["generated"]: detail for detail in record["match_details"]}
    return [
        _place_and_note(comments[pair["generated"]])
        for pair in record["matched_reference_comments"]
        if pair["reference"] == reference
    ]


def _comment_pull_request(_a: str, _b: str, a: Record, b: Record) -> dict[str, Any]:
    sides: dict[str, Any] = {}
    for side, record in (("a", a), ("b", b)):
        idle = [
            detail
            for detail in record["match_details"]
            if not detail["semantic_match"] and not detail["left_out"]
        ]
        sides[side] = {
            "comments": record["total_generated_nums"],
            "matched": record["positive_match_nums"],
            "covered": record["positive_covered_nums"],
            "unmatched": [_place_and_note(detail) for detail in idle[:SHOWN_UNMATCHED]],
        }
    outcomes = list(_outcomes(a, b))
    only = {
        side: [
            {**_reference(reference), "comments": _raised_by(record, reference["reference"])}
            for reference, outcome in outcomes
            if outcome == side
        ]
        for side, record in (("only_a", a), ("only_b", b))
    }
    return {"references": len(outcomes), **sides, **only}


def _comment_kinds(_a: str, _b: str, a: Records, b: Records) -> dict[str, dict[str, Any]]:
    """By category, context, severity of the reference, and by language and category of the pull request: the
    references, those that A and B raised, and the difference of recall; the largest difference first."""
    tallies: dict[str, dict[str, list[int]]] = {
        name: {} for name in (*_DIMENSIONS, "language", "pr_category")
    }
    for ours, theirs in zip(a, b, strict=True):
        for reference, outcome in _outcomes(ours, theirs):
            values = {name: reference.get(field) for name, field in _DIMENSIONS.items()}
            values |= {name: ours[name] for name in ("language", "pr_category")}
            for name, value in values.items():
                tally = tallies[name].setdefault(value or "unknown", [0, 0, 0])
                tally[0] += 1
                tally[1] += outcome in ("both", "only_a")
                tally[2] += outcome in ("both", "only_b")
    return {name: _largest_first(values) for name, values in tallies.items()}


def _largest_first(tallies: Mapping[str, list[int]]) -> dict[str, Any]:
    ordered = sorted(tallies.items(), key=lambda item: (-abs(item[1][2] - item[1][1]), item[0]))
    return {
        value: {"references": n, "a": raised_a, "b": raised_b, "diff": (raised_b - raised_a) / n}
        for value, (n, raised_a, raised_b) in ordered
    }


def _comment_found(_a: str, _b: str, a: Records, b: Records) -> dict[str, dict[str, Any]]:
    lists: dict[str, list[dict[str, Any]]] = {name: [] for name in ("only_a", "only_b", "both", "neither")}
    for ours, theirs in zip(a, b, strict=True):
        for reference, outcome in _outcomes(ours, theirs):
            lists[outcome].append({"pr": ours["github_pr_url"], **_reference(reference)})
    return {name: {"count": len(items), "references": items} for name, items in lists.items()}


def _same_comments(_a: str, _b: str, a: Record, b: Record) -> bool:
    """The same comments at the same places, in any order."""

    def said(record: Record) -> list[tuple[str, ...]]:
        fields = ("path", "side", "from_line", "to_line", "note")
        return sorted(tuple(str(d.get(name)) for name in fields) for d in record["match_details"])

    return said(a) == said(b)


# Routing


def _router_pull_request(name_a: str, name_b: str, a: Record, b: Record) -> dict[str, Any]:
    sides = {
        side: {"rank": answer["rank"], "candidates": answer["candidates"][:5]}
        for side, answer in (("a", a["routers"][name_a]), ("b", b["routers"][name_b]))
    }
    return {"truth": a["truth"]["targets"], **sides}


def _router_kinds(name_a: str, name_b: str, a: Records, b: Records) -> dict[str, dict[str, Any]]:
    """By repository: the pull requests, and on how many A and B put a target first in the list."""
    tallies: dict[str, list[int]] = {}
    for ours, theirs in zip(a, b, strict=True):
        tally = tallies.setdefault(ours["repo"], [0, 0, 0])
        tally[0] += 1
        tally[1] += ours["routers"][name_a]["rank"] == 1
        tally[2] += theirs["routers"][name_b]["rank"] == 1
    ordered = sorted(tallies.items(), key=lambda item: (-abs(item[1][2] - item[1][1]), item[0]))
    return {
        "repo": {
            repo: {"prs": n, "a": first_a, "b": first_b, "diff": (first_b - first_a) / n}
            for repo, (n, first_a, first_b) in ordered
        }
    }


def _router_found(name_a: str, name_b: str, a: Records, b: Records) -> dict[str, dict[str, Any]]:
    """Pull requests with a truth, by who had a target anywhere in the list."""
    lists: dict[str, list[str]] = {name: [] for name in ("only_a", "only_b", "both", "neither")}
    for ours, theirs in zip(a, b, strict=True):
        if ours["truth"]["targets"]:
            missed = [not ours["routers"][name_a]["rank"], not theirs["routers"][name_b]["rank"]]
            lists[_OUTCOMES[missed[1] + 2 * missed[0]]].append(f"{ours['repo']}#{ours['pr']}")
    return {name: {"count": len(items), "prs": items} for name, items in lists.items()}


def _same_answer(name_a: str, name_b: str, a: Record, b: Record) -> bool:
    ours, theirs = a["routers"][name_a], b["routers"][name_b]
    return bool(ours["candidates"] == theirs["candidates"] and ours["rank"] == theirs["rank"])


_DETAILS = {
    COMMENTS.word: Details(_comment_pull_request, _comment_kinds, _comment_found, _same_comments),
    ROUTING.word: Details(_router_pull_request, _router_kinds, _router_found, _same_answer),
}


def details_of(kind: Kind) -> Details:
    return _DETAILS[kind.word]
