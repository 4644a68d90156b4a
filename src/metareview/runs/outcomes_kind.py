"""Runs of outcomes, as a kind of run."""

from __future__ import annotations

from metareview.outcomes.records import OutcomeRecord
from metareview.outcomes.summary import OutcomesSummary
from metareview.runs.files import RESULTS, to_line
from metareview.runs.kind import Kind
from metareview.runs.outcomes_json import record_from_json, record_to_json, summary_from_json, summary_to_json
from metareview.runs.outcomes_recount import check_outcomes

KIND: Kind[OutcomesSummary, OutcomeRecord] = Kind(
    "outcomes",
    summary_to_json,
    summary_from_json,
    record_to_json,
    record_from_json,
    key=lambda record: record.key,
    pieces=lambda record, _: iter([(RESULTS, to_line(record_to_json(record)).rstrip("\n"))]),
    is_complete=lambda record: not record.undecided,
    check_figures=check_outcomes,
)
