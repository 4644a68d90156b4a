"""Runs of review comments, as a kind of run."""

from __future__ import annotations

from metareview.comments.averaging import averaged_by_pull_request
from metareview.comments.records import DIMENSIONS, CommentRecord
from metareview.comments.summary import CommentsSummary
from metareview.runs.comments_json import record_from_json, record_to_json, summary_from_json, summary_to_json
from metareview.runs.comments_recount import check_comment_record, check_comments
from metareview.runs.comments_text import pieces
from metareview.runs.kind import Kind
from metareview.runs.stored_items import parsed_record

KIND: Kind[CommentsSummary, CommentRecord] = Kind(
    "comments",
    summary_to_json,
    summary_from_json,
    record_to_json,
    record_from_json,
    key=lambda record: record.run_key,
    check_figures=check_comments,
    check_record=check_comment_record,
    together=averaged_by_pull_request,
    pieces=pieces,
    has_pairs=True,
    light=CommentRecord.without_notes,
    is_complete=lambda record: (
        not record.counts.undecided and (record.skipped or record.slices.keys() >= set(DIMENSIONS))
    ),
    parse=parsed_record,
)
