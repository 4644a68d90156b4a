"""Runs of reviewer routing, as a kind of run."""

from __future__ import annotations

from metareview.routing.records import RoutingRecord
from metareview.routing.summary import RoutingSummary
from metareview.runs.files import PARTS, RESULTS
from metareview.runs.kind import Kind
from metareview.runs.routing_json import (
    record_from_json,
    record_line,
    record_to_json,
    summary_from_json,
    summary_to_json,
)
from metareview.runs.routing_parts import RoutingParts
from metareview.runs.routing_recount import check_routing, check_routing_record

KIND: Kind[RoutingSummary, RoutingRecord] = Kind(
    "routing",
    summary_to_json,
    summary_from_json,
    record_to_json,
    record_from_json,
    key=lambda record: (record.repo, str(record.pr)),
    check_figures=check_routing,
    check_record=check_routing_record,
    has_parts=lambda folder: RoutingParts(folder / PARTS).is_begun(),
    remove_parts=lambda folder: RoutingParts(folder / PARTS).remove(),
    pieces=lambda record, _: iter([(RESULTS, record_line(record).decode().rstrip("\n"))]),
)
