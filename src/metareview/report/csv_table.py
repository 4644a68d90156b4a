"""The report as CSV: one row per pull request and reviewer, or per pull request and router, with its figures; of a run
of outcomes, one row per comment.

Columns have the names that the run's own files use.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

from metareview.comments.costs import KINDS
from metareview.comments.measures import MEASURES, Counts
from metareview.outcomes.records import FINDINGS
from metareview.report.names import clean
from metareview.report.numbers import ranked
from metareview.routing.expertise import expertise_measures
from metareview.routing.list_measures import ListMeasure
from metareview.routing.measures import MRR, rank_measures
from metareview.runs.comments_json import counts_to_json, record_to_json
from metareview.runs.outcomes_json import comment_rows
from metareview.runs.routing_json import record_to_json as routing_record_to_json
from metareview.runs.run import AnyRun, CommentsRun, OutcomesRun, RoutingRun, is_comments, is_outcomes

Row = dict[str, object]

_COMMENTS = (
    *("github_pr_url", "reviewer", "language", "pr_category", "skipped", "skip_reason"),
    *counts_to_json(Counts()),
    *(measure.name for measure in MEASURES),
    *("left_out_nums", "judged_pairs", "reviewer_prs", "prs_with_references"),
)
_ROUTING = (
    *("repo", "pr", "author", "created_at", "cutoff", "truth_state", "truth_targets", "router", "rank"),
    *("reciprocal_rank", "risk", "listed", "first_candidate", "ttfr_seconds", "ttfc_seconds", "merged"),
    "merged_within",
)
_OUTCOMES = (
    *("pr", "reviewer", "position", "id", "path", "side", "from_line", "to_line", "at", "severity", "category"),
    *FINDINGS,
    *("addressed", "addressed_by", "changed_by", "cannot_tell", "note"),
)
_FORMULA = ("=", "+", "-", "@", "\t", "\n", "\r", "＝", "＋", "－", "＠")


def as_csv(run: AnyRun) -> str:
    """Numbers are numbers, null is an empty cell, and no text can be taken for a formula."""
    columns: tuple[str, ...] = _COMMENTS
    if is_outcomes(run):
        columns = _OUTCOMES
        rows: Iterable[Row] = _outcome_rows(run)
    elif is_comments(run):
        reviewers = run.result.reviewers.values()
        columns += ("runs",) if run.result.config.repeat else ()
        columns += ("repeated_nums",) if any(block.repeated for block in reviewers) else ()
        columns += tuple(kind for kind in KINDS if any(block.costs and kind in block.costs.prs for block in reviewers))
        rows = _comment_rows(run)
    else:
        hits = [measure for measure in rank_measures(run.result.config.k) if measure.name != MRR.name]
        whole = [measure.figure for measure in run.result.measures if isinstance(measure, ListMeasure)]
        experts = [measure.name for measure in expertise_measures(run.result.config.ks)]
        more = (*whole, *experts, "files", "truth_expertise")
        columns, rows = (*_ROUTING, *(hit.name for hit in hits), *more), _routing_rows(run)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([cell(row.get(column)) for column in columns] for row in rows)
    return out.getvalue()


def cell(value: object) -> object:
    """A text that a spreadsheet would run as a formula gets an apostrophe in front."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    text = clean("" if value is None else str(value))
    return f"'{text}" if text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA) else text


def _comment_rows(run: CommentsRun) -> Iterator[Row]:
    """Each record, with how many of the reference set's pull requests its reviewer has."""
    for record in run.read_records():
        block = run.result.reviewers[record.reviewer]
        coverage = {"reviewer_prs": block.prs, "prs_with_references": block.prs_with_references}
        coverage |= {"runs": len(record.runs)} if record.runs else {}
        yield record_to_json(record.without_notes()) | coverage


def _routing_rows(run: RoutingRun) -> Iterator[Row]:
    names = ranked(run.result.metrics, MRR.name)
    for record in run.read_records():
        facts = routing_record_to_json(record)
        facts |= {"truth_state": record.truth.state, "truth_targets": " ".join(record.truth.targets)}
        for name in names:
            answer = record.answers[name]
            first = next(iter(answer.candidates), None)
            of_router = {"router": name, "risk": answer.risk, "listed": answer.listed, "first_candidate": first}
            yield {**facts, **answer.figures, **of_router, "rank": answer.rank or None}


def _outcome_rows(run: OutcomesRun) -> Iterator[Row]:
    for record in run.read_records():
        yield from comment_rows(record)
