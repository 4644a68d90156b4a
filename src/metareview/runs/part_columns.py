"""What stands beside the records of Parquet parts, for whoever queries them: `SELECT avg(ttfr_seconds) …`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from metareview.comments.measures import Counts
from metareview.model.time import parse_times
from metareview.routing.answers import is_figure
from metareview.runs.comments_json import counts_to_json
from metareview.runs.files import JsonObject, parsed_line
from metareview.runs.parts import Columns
from metareview.runs.stored_items import parsed_record

_COUNTS = tuple(counts_to_json(Counts()))
_PAIR = ("generated", "reference", "negative", "gap", "eligible", "score", "match", "by", "aligned")


def _routing_types(pa: Any) -> Mapping[str, Any]:
    instant = pa.timestamp("us", tz="UTC")
    answer = pa.struct(
        [
            ("rank", pa.int64()),
            ("listed", pa.int64()),
            ("risk", pa.string()),
            ("candidates", pa.list_(pa.string())),
            ("figures", pa.map_(pa.string(), pa.float64())),
        ]
    )
    return {
        "repo": pa.string(),
        "pr": pa.int64(),
        "author": pa.string(),
        "created_at": instant,
        "cutoff": instant,
        "truth_state": pa.string(),
        "targets": pa.list_(pa.string()),
        "ttfr_seconds": pa.float64(),
        "ttfc_seconds": pa.float64(),
        "merged": pa.bool_(),
        "routers": pa.map_(pa.string(), answer),
    }


def _routing_cells(lines: Sequence[bytes]) -> list[list[Any]]:
    stored = [parsed_line(line) for line in lines]
    truths = [each["truth"] for each in stored]
    return [
        [each["repo"] for each in stored],
        [each["pr"] for each in stored],
        [each["author"] for each in stored],
        [at // 1000 for at in parse_times([each["created_at"] for each in stored])],
        [at // 1000 for at in parse_times([each["cutoff"] for each in stored])],
        [truth["state"] for truth in truths],
        [truth["targets"] for truth in truths],
        [each["ttfr_seconds"] for each in stored],
        [each["ttfc_seconds"] for each in stored],
        [each["merged"] for each in stored],
        [[(name, _answer(answer)) for name, answer in each["routers"].items()] for each in stored],
    ]


def _answer(stored: JsonObject) -> JsonObject:
    """The figures by their names in results.jsonl: `routers['popularity'].figures['hit@1']`."""
    figures = [(key, stored[key]) for key in _figures(tuple(stored))]
    return {
        "rank": stored["rank"],
        "listed": stored["listed"],
        "risk": stored["risk"],
        "candidates": stored["candidates"],
        "figures": [(key, None if value is None else float(value)) for key, value in figures],
    }


@lru_cache(maxsize=100)
def _figures(keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(key for key in keys if is_figure(key))


def _comment_types(pa: Any) -> Mapping[str, Any]:
    names = ("pr", "reviewer", "run", "language", "pr_category")
    return (
        {name: pa.string() for name in names}
        | {"skipped": pa.bool_()}
        | {name: pa.int64() for name in (*_COUNTS, "judged_pairs")}
    )


def _comment_cells(lines: Sequence[bytes]) -> list[list[Any]]:
    names = ("github_pr_url", "reviewer", "run", "language", "pr_category", "skipped", *_COUNTS, "judged_pairs")
    stored = [parsed_record(line) for line in lines]
    return [[each.get(name) for each in stored] for name in names]


def _pair_types(pa: Any) -> Mapping[str, Any]:
    text, number, truth = pa.string(), pa.int64(), pa.bool_()
    kinds = (number, number, truth, number, truth, pa.float64(), truth, text, truth)
    return {"pr": text, "reviewer": text, "run": text} | dict(zip(_PAIR, kinds, strict=True))


def _pair_cells(lines: Sequence[bytes]) -> list[list[Any]]:
    stored = [parsed_line(line) for line in lines]
    return [[each.get(name) for each in stored] for name in ("pr", "reviewer", "run", *_PAIR)]


ROUTING_COLUMNS = Columns(_routing_types, _routing_cells)
COMMENT_COLUMNS = Columns(_comment_types, _comment_cells)
PAIR_COLUMNS = Columns(_pair_types, _pair_cells)
