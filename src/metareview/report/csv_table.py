"""The report as CSV: one row a pull request and reviewer, or a pull request and router, with its figures."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from metareview.comments.measures import COUNTS, MEASURES
from metareview.report.numbers import hit_names, ranked_routers
from metareview.report.page.markup import clean
from metareview.report.source import Run

_COMMENTS = (
    "github_pr_url",
    "reviewer",
    "language",
    "pr_category",
    "skipped",
    "skip_reason",
    *COUNTS,
    *MEASURES,
    "left_out_nums",
    "judged_pairs",
)
_ROUTING = (
    "repo",
    "pr",
    "author",
    "created_at",
    "cutoff",
    "truth_state",
    "truth_targets",
    "router",
    "rank",
    "reciprocal_rank",
    "risk",
    "listed",
    "first_candidate",
    "ttfr_seconds",
    "ttfc_seconds",
    "merged",
    "merged_within",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\n", "\r", "＝", "＋", "－", "＠")


def as_csv(run: Run) -> str:
    """Numbers are numbers, null is an empty cell, and no text can be taken for a formula."""
    out = io.StringIO()
    hits = hit_names(run.summary) if run.kind == "routing" else []
    columns = (*_ROUTING, *hits) if run.kind == "routing" else _COMMENTS
    writer = csv.DictWriter(out, columns, restval="", extrasaction="ignore", lineterminator="\r\n")
    writer.writeheader()
    rows = _routing_rows(run, hits) if run.kind == "routing" else run.records()
    writer.writerows({key: cell(row.get(key)) for key in columns} for row in rows)
    return out.getvalue()


def cell(value: object) -> object:
    """A text that a spreadsheet would run as a formula gets an apostrophe in front.

    >>> cell("=1+1"), cell(" @x"), cell(-0.5), cell(True)
    ("'=1+1", "' @x", -0.5, 'true')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    text = clean(str(value))
    return f"'{text}" if text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA) else text


def _routing_rows(run: Run, hits: list[str]) -> Iterator[Mapping[str, Any]]:
    names = ranked_routers(run.summary)
    for record in run.records():
        for router in names:
            answer = record["routers"][router]
            rank = answer["rank"]
            yield record | {
                "truth_state": record["truth"]["state"],
                "truth_targets": " ".join(record["truth"]["targets"]),
                "router": router,
                "rank": rank,
                "reciprocal_rank": 1 / rank if rank else 0,
                "risk": answer["risk"],
                "listed": answer["listed"],
                "first_candidate": next(iter(answer["candidates"]), None),
                **{hit: int(bool(rank) and rank <= int(hit.removeprefix("hit@"))) for hit in hits},
            }
