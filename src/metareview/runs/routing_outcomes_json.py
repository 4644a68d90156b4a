"""The parts of a routing run's `summary.json` about expertise, files at risk and requests; null where not known."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from metareview.routing.expertise import ActualExpertise, RouterExpertise
from metareview.routing.responses import PersonResponses, RequestCounts, Responses
from metareview.routing.turnover import ACTIVE_DAYS, FilesAtRisk, RecommendedRisk
from metareview.runs.files import JsonObject
from metareview.stats import Interval


def _ends(stored: Any) -> Interval | None:
    return None if stored is None else (stored[0], stored[1])


def router_expertise_to_json(found: RouterExpertise | None) -> JsonObject | None:
    if found is None:
        return None
    return {
        "prs": found.prs,
        **found.metrics,
        "intervals": {name: ends and list(ends) for name, ends in found.intervals.items()},
        "observed_only": {"prs": found.observed_prs, **found.observed_metrics},
    }


def router_expertise_from_json(block: JsonObject | None) -> RouterExpertise | None:
    if block is None:
        return None
    intervals, observed = block["intervals"], block["observed_only"]
    return RouterExpertise(
        block["prs"],
        {name: block[name] for name in intervals},
        {name: _ends(stored) for name, stored in intervals.items()},
        observed["prs"],
        {name: observed[name] for name in intervals},
    )


def expertise_to_json(found: ActualExpertise | None) -> JsonObject | None:
    """Of the pull requests, and of those who really responded."""
    if found is None:
        return None
    actual = {
        "prs": found.observed_prs,
        "expertise": found.expertise,
        "interval": found.interval and list(found.interval),
    }
    return {"prs": found.prs, "unknown": found.unknown, "actual": actual}


def expertise_from_json(block: JsonObject | None) -> ActualExpertise | None:
    if block is None:
        return None
    actual = block["actual"]
    return ActualExpertise(
        block["prs"], block["unknown"], actual["prs"], actual["expertise"], _ends(actual["interval"])
    )


def risk_to_json(risk: FilesAtRisk | None) -> JsonObject | None:
    if risk is None:
        return None
    actual = {"at_risk": risk.at_risk, "share": risk.share}
    return {"files": risk.files, "active_people": risk.active_people, "active_days": ACTIVE_DAYS, "actual": actual}


def risk_from_json(block: JsonObject | None) -> FilesAtRisk | None:
    if block is None:
        return None
    return FilesAtRisk(block["files"], block["active_people"], block["actual"]["at_risk"])


def router_risk_to_json(risk: RecommendedRisk | None) -> JsonObject | None:
    return None if risk is None else asdict(risk) | {"share": risk.share}


def router_risk_from_json(block: JsonObject | None) -> RecommendedRisk | None:
    return None if block is None else RecommendedRisk(block["files"], block["at_risk"], block["replaced"])


def responses_to_json(responses: Responses | None) -> JsonObject | None:
    if responses is None:
        return None
    return {
        **_counts_to_json(responses.counts),
        "teams": responses.teams,
        "not_eligible": responses.not_eligible,
        "people": [{"login": each.login, **_counts_to_json(each.counts)} for each in responses.people],
    }


def _counts_to_json(counts: RequestCounts) -> JsonObject:
    rates = {"rate": counts.rate, "rate_ever": counts.rate_ever}
    return {"requests": counts.requests, **asdict(counts), **rates}


def responses_from_json(block: JsonObject | None) -> Responses | None:
    if block is None:
        return None
    people = tuple(PersonResponses(each["login"], _counts_from_json(each)) for each in block["people"])
    return Responses(_counts_from_json(block), block["teams"], block["not_eligible"], people)


def _counts_from_json(block: JsonObject) -> RequestCounts:
    names = ("responded", "responded_late", "no_response", "withdrawn", "unknown")
    return RequestCounts(**{name: block[name] for name in names})
