"""The JSON of a routing run: a line of `results.jsonl`, and `summary.json`. Nothing else knows its keys.

What is read back must have exactly the keys that were written: a KeyError, TypeError or ValueError otherwise.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from metareview.model.build_gates import GateResult
from metareview.model.time import parse_time, show_time
from metareview.routing.answers import is_figure
from metareview.routing.list_measures import MAP, ListMeasure
from metareview.routing.load import Load, PersonLoad, Spread
from metareview.routing.queue import QueueTimes
from metareview.routing.records import Declarations, RouterAnswer, RoutingRecord, Truth, TruthEvent
from metareview.routing.summary import (
    DeclarationRates,
    MergedRates,
    RouterSummary,
    RoutingConfig,
    RoutingSummary,
    TruthCounts,
)
from metareview.runs import routing_outcomes_json as outcomes_json
from metareview.runs.files import JsonObject, to_line

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

SCHEMA = "metareview.routing/1"
_KEYS = {"declarations": "gates", "answers": "routers"}
_FIELDS = {key: name for name, key in _KEYS.items()}


def record_to_json(record: RoutingRecord) -> JsonObject:
    """The line of `results.jsonl`."""
    return _fields(record) | {
        "created_at": show_time(record.created_at),
        "cutoff": show_time(record.cutoff),
        "truth": _fields(record.truth) | {"events": [_event_to_json(event) for event in record.truth.events]},
        "gates": _fields(record.declarations),
        "routers": {name: _answer_to_json(answer) for name, answer in record.answers.items()},
    }


def record_line(record: RoutingRecord) -> bytes:
    """The same as a line, in a fifth of the time where a router gave no evidence and no notes, as most do not."""
    if any(answer.evidence is not None or answer.notes for answer in record.answers.values()):
        return _whole_line(record)
    truth, declarations = record.truth, record.declarations
    created_at = show_time(record.created_at)
    document = {
        "repo": record.repo,
        "pr": record.pr,
        "author": record.author,
        "created_at": created_at,
        "cutoff": created_at if record.cutoff == record.created_at else show_time(record.cutoff),
        "truth": {
            "state": truth.state,
            "targets": truth.targets,
            "events": [
                {"id": event.id, "kind": event.kind, "actor": event.actor, "at": show_time(event.at)}
                for event in truth.events
            ],
        },
        "ttfr_seconds": record.ttfr_seconds,
        "ttfc_seconds": record.ttfc_seconds,
        "gates": {
            "issue": declarations.issue,
            "ai_disclosure": declarations.ai_disclosure,
            "provenance": declarations.provenance,
        },
        "merged": record.merged,
        "merged_within": record.merged_within,
        "routers": {name: _plain_answer(answer) for name, answer in record.answers.items()},
        "files": record.files,
        "truth_expertise": record.truth_expertise,
    }
    try:
        return msgspec.json.encode(document) + b"\n"
    except UnicodeEncodeError:  # Half a surrogate pair.
        return _whole_line(record)


def _whole_line(record: RoutingRecord) -> bytes:
    return to_line(record_to_json(record)).encode("utf-8", "backslashreplace")


def _plain_answer(answer: RouterAnswer) -> JsonObject:
    document: JsonObject = {
        "candidates": answer.candidates,
        "scores": answer.scores,
        "listed": answer.listed,
        "rank": answer.rank or None,
        "risk": answer.risk,
        **answer.figures,
    }
    if MAP.figure in answer.figures:
        document["ranks"] = answer.ranks
    return document


def _event_to_json(event: TruthEvent) -> JsonObject:
    return _fields(event) | {"at": show_time(event.at)}


def _answer_to_json(answer: RouterAnswer) -> JsonObject:
    """Figures stand beside the rank; all ranks only where several people may be right, evidence and notes only where
    there are any."""
    document = _fields(answer)
    figures, evidence, notes, ranks = (document.pop(key) for key in ("figures", "evidence", "notes", "ranks"))
    document |= {"rank": answer.rank or None, **figures}
    document |= {"ranks": ranks} if MAP.figure in figures else {}
    document |= {} if evidence is None else {"evidence": evidence}
    return document | ({"notes": notes} if notes else {})


def record_from_json(line: JsonObject) -> RoutingRecord:
    truth = line["truth"]
    typed = {
        "created_at": parse_time(line["created_at"]),
        "cutoff": parse_time(line["cutoff"]),
        "truth": Truth(truth["state"], tuple(truth["targets"]), tuple(map(_event_from_json, truth["events"]))),
        "gates": Declarations(**line["gates"]),
        "routers": {name: _answer_from_json(answer) for name, answer in line["routers"].items()},
    }
    return RoutingRecord(**{_FIELDS.get(key, key): value for key, value in (line | typed).items()})


def _event_from_json(event: JsonObject) -> TruthEvent:
    return TruthEvent(**(event | {"at": parse_time(event["at"])}))


def _answer_from_json(answer: JsonObject) -> RouterAnswer:
    return RouterAnswer(
        tuple(answer["candidates"]),
        None if answer["scores"] is None else tuple(answer["scores"]),
        answer["listed"],
        answer["rank"] or 0,
        answer["risk"],
        {key: value for key, value in answer.items() if is_figure(key)},
        answer.get("evidence"),
        tuple(answer.get("notes", ())),
        tuple(answer.get("ranks", ())),
    )


def _fields(thing: DataclassInstance) -> JsonObject:
    """Its fields by their keys, with lists for tuples; what is inside of them stays."""
    values = {_KEYS.get(each.name, each.name): getattr(thing, each.name) for each in fields(thing)}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}


def config_to_json(config: RoutingConfig) -> JsonObject:
    """The configuration in the summary."""
    return _fields(config)


def manifest_config(config: RoutingConfig) -> JsonObject:
    """The configuration in the manifest: where CODEOWNERS was does not make it another run, what is in it does."""
    return config_to_json(config) | {"codeowners": config.codeowners is not None}


def config_from_json(document: JsonObject) -> RoutingConfig:
    """What `config_to_json` was made from."""
    tuples = {name: tuple(document[name]) for name in ("k", "repos", "prs", "routers", "truth_sources")}
    return RoutingConfig(**(document | tuples))


def summary_to_json(summary: RoutingSummary, folder: str | Path | None = None) -> JsonObject:
    """What `--json` prints and `summary.json` holds."""
    return {
        "schema": SCHEMA,
        "run": None if folder is None else str(folder),
        "config": config_to_json(summary.config),
        "prs": summary.prs,
        "truth": asdict(summary.truth),
        "routers": {
            name: {
                **router.metrics,
                "intervals": {metric: ends and list(ends) for metric, ends in router.intervals.items()},
                "answered": router.answered,
                "observed_only": {"prs": router.observed_prs, **router.observed_metrics},
                "queue": {risk: asdict(times) for risk, times in router.queue.items()},
                "load": _load_to_json(router.load),
                "expertise": outcomes_json.router_expertise_to_json(router.expertise),
                "files_at_risk": outcomes_json.router_risk_to_json(router.files_at_risk),
                **({"not_applicable": router.not_applicable} if router.not_applicable else {}),
            }
            for name, router in summary.routers.items()
        },
        "expertise": outcomes_json.expertise_to_json(summary.expertise),
        "files_at_risk": outcomes_json.risk_to_json(summary.files_at_risk),
        "responses": outcomes_json.responses_to_json(summary.responses),
        "gates": {name: _rates_to_json(rates) for name, rates in summary.declarations.items()},
        "build_gates": [asdict(each) for each in summary.build_gates],
        "warnings": list(summary.warnings),
    }


def _load_to_json(load: Load) -> JsonObject:
    """There may be a hundred thousand people, whom `asdict` would take a second for."""
    return {
        "gini": load.gini,
        "top1_share": load.top1_share,
        "actual": asdict(load.actual),
        "population": load.population,
        "people": [
            {"login": person.login, "recommended": person.recommended, "actual": person.actual}
            for person in load.people
        ],
    }


def _rates_to_json(rates: DeclarationRates) -> JsonObject:
    document = {
        "n": rates.n,
        "missing_n": rates.missing_n,
        "present_n": rates.present_n,
        "missing_rate": rates.missing_rate,
        **asdict(rates.merged),
    }
    return document if rates.merged_within is None else document | {"merged_within": asdict(rates.merged_within)}


def summary_from_json(document: JsonObject) -> RoutingSummary:
    """What `summary_to_json` was made from."""
    if document["schema"] != SCHEMA:
        raise ValueError(f"schema {document['schema']!r} is not {SCHEMA}")
    config = config_from_json(document["config"])
    return RoutingSummary(
        config=config,
        prs=document["prs"],
        truth=TruthCounts(**document["truth"]),
        routers={name: _router_from_json(block, config) for name, block in document["routers"].items()},
        declarations={name: _rates_from_json(block) for name, block in document["gates"].items()},
        warnings=tuple(document["warnings"]),
        expertise=outcomes_json.expertise_from_json(document.get("expertise")),
        files_at_risk=outcomes_json.risk_from_json(document.get("files_at_risk")),
        responses=outcomes_json.responses_from_json(document.get("responses")),
        build_gates=tuple(GateResult(**each) for each in document.get("build_gates", ())),
    )


def _router_from_json(block: JsonObject, config: RoutingConfig) -> RouterSummary:
    # A run of a version that had no measures of whole lists is without them.
    names = [each.name for each in config.measures if not isinstance(each, ListMeasure) or each.name in block]
    observed = block["observed_only"]
    intervals = block["intervals"]
    return RouterSummary(
        metrics={name: block[name] for name in names},
        intervals={name: (ends := intervals[name]) and (ends[0], ends[1]) for name in names},
        answered=block["answered"],
        observed_prs=observed["prs"],
        observed_metrics={name: observed[name] for name in names},
        queue={risk: QueueTimes(**times) for risk, times in block["queue"].items()},
        load=_load_from_json(block["load"]),
        not_applicable=block.get("not_applicable"),
        expertise=outcomes_json.router_expertise_from_json(block.get("expertise")),
        files_at_risk=outcomes_json.router_risk_from_json(block.get("files_at_risk")),
    )


def _load_from_json(block: JsonObject) -> Load:
    typed = {"actual": Spread(**block["actual"]), "people": tuple(PersonLoad(**person) for person in block["people"])}
    return Load(**(block | typed))


def _rates_from_json(block: JsonObject) -> DeclarationRates:
    within = block.get("merged_within")
    return DeclarationRates(
        missing_n=block["missing_n"],
        present_n=block["present_n"],
        merged=MergedRates(block["merged_rate_missing"], block["merged_rate_present"]),
        merged_within=None if within is None else MergedRates(**within),
    )
