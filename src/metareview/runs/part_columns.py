"""What stands beside the records of Parquet parts, for whoever queries them: `SELECT avg(ttfr_seconds) …`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metareview.comments.measures import Counts
from metareview.model.time import parse_time
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


def _routing_row(line: bytes) -> tuple[Any, ...]:
    stored = parsed_line(line)
    return (
        _text(stored["repo"]),
        stored["pr"],
        _text(stored["author"]),
        parse_time(stored["created_at"]) // 1000,
        parse_time(stored["cutoff"]) // 1000,
        stored["truth"]["state"],
        [_text(each) for each in stored["truth"]["targets"]],
        stored["ttfr_seconds"],
        stored["ttfc_seconds"],
        stored["merged"],
        [(_text(name), _answer(answer)) for name, answer in stored["routers"].items()],
    )


def _answer(stored: JsonObject) -> JsonObject:
    """The figures by their names in results.jsonl: `routers['popularity'].figures['hit@1']`."""
    return {
        "rank": stored["rank"],
        "listed": stored["listed"],
        "risk": _text(stored["risk"]),
        "candidates": [_text(each) for each in stored["candidates"]],
        "figures": [(key, None if value is None else float(value)) for key, value in stored.items() if is_figure(key)],
    }


def _comment_types(pa: Any) -> Mapping[str, Any]:
    names = ("pr", "reviewer", "run", "language", "pr_category")
    return (
        {name: pa.string() for name in names}
        | {"skipped": pa.bool_()}
        | {name: pa.int64() for name in (*_COUNTS, "judged_pairs")}
    )


def _comment_row(line: bytes) -> tuple[Any, ...]:
    get = parsed_record(line).get
    texts = (get("github_pr_url"), get("reviewer"), get("run"), get("language"), get("pr_category"))
    return (*map(_text, texts), get("skipped"), *map(get, _COUNTS), get("judged_pairs"))


def _pair_types(pa: Any) -> Mapping[str, Any]:
    text, number, truth = pa.string(), pa.int64(), pa.bool_()
    kinds = (number, number, truth, number, truth, pa.float64(), truth, text, truth)
    return {"pr": text, "reviewer": text, "run": text} | dict(zip(_PAIR, kinds, strict=True))


def _pair_row(line: bytes) -> tuple[Any, ...]:
    get = parsed_line(line).get
    return (*map(_text, (get("pr"), get("reviewer"), get("run"))), *map(get, _PAIR))


def _text(text: str | None) -> str | None:
    """Without half characters, which Parquet cannot hold."""
    return text if text is None or text.isascii() else text.encode("utf-8", "replace").decode()


ROUTING_COLUMNS = Columns(_routing_types, _routing_row)
COMMENT_COLUMNS = Columns(_comment_types, _comment_row)
PAIR_COLUMNS = Columns(_pair_types, _pair_row)
