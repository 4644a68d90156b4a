"""The JSON of comment runs, to and from objects. The keys, many of them AACR-Bench's, are known only here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, fields
from typing import Any

from metareview.comments.costs import KINDS, Spent
from metareview.comments.filters import FilterConfig
from metareview.comments.measures import MEASURES, Counts
from metareview.comments.records import (
    DIMENSIONS,
    CommentRecord,
    Comparison,
    Negative,
    Pair,
    ScoredComment,
    ScoredReference,
    Tally,
    Verdict,
)
from metareview.comments.summary import (
    CommentsConfig,
    CommentsSummary,
    Intervals,
    Macro,
    PullRequestSlice,
    ReferenceSlice,
    ReviewerSummary,
)
from metareview.comments.units import PULL_REQUEST
from metareview.judges.offline.trust import HeldOut, parse_held_out
from metareview.model.build_gates import GateResult
from metareview.model.comment import COMMENT_FIELDS, Comment, Skipped
from metareview.runs.costs_json import costs_from_json, costs_to_json
from metareview.runs.files import JsonObject
from metareview.runs.judge_json import judge_from_json, judge_to_json
from metareview.runs.repeats_json import repeats_from_json, repeats_to_json
from metareview.runs.stored_items import COMPARISONS, StoredItems

SCHEMA = "metareview.comments/1"
COUNT_KEYS = (
    "positive_expected_nums",
    "total_generated_nums",
    "positive_line_match_nums",
    "positive_match_nums",
    "positive_covered_nums",
    "positive_line_covered_nums",
    "unmatched_nums",
    "negative_expected_nums",
    "negative_match_nums",
    "judge_error_nums",
)
_BODY_KEYS = (
    *COUNT_KEYS,
    *(measure.name for measure in MEASURES),
    "left_out_nums",
    "repeated_nums",
    "judged_pairs",
    "reference_slices",
    "match_details",
    "matched_reference_comments",
    "llm_comparisons",
    "reference_comments",
    "negative_comments",
)
"""What a record has beyond its head; all null where a filter drops the pull request."""
_PARTNERS = ("left_out", "reference", "line_reference", "negative")
_PAIR_HEAD = ("pr", "reviewer", "generated", "reference", "negative", "gap", "eligible")


def counts_to_json(counts: Counts) -> JsonObject:
    return dict(zip(COUNT_KEYS, counts.values(), strict=True))


def _counts(stored: JsonObject) -> Counts:
    return Counts(*(stored[key] for key in COUNT_KEYS))


def _comment(stored: JsonObject) -> Comment:
    return Comment(**{name: stored[name] for name in COMMENT_FIELDS if name in stored})


def _verdict_to_json(verdict: Verdict) -> JsonObject:
    return {"score": verdict.score, "match": verdict.match, "by": verdict.by, "reason": verdict.reason}


def _verdict(stored: JsonObject) -> Verdict:
    return Verdict(stored["score"], stored["match"], stored["by"], stored["reason"])


def record_to_json(
    record: CommentRecord, *, compared: bool = True, listed: Callable[[Iterable[JsonObject]], Any] = list
) -> JsonObject:
    """A line of results.jsonl; unless `compared`, with none of its comparisons. `listed` makes what holds its comments,
    references and negatives, of which there may be too many to hold."""
    head = {
        "github_pr_url": record.pr,
        "evaluation_id": record.evaluation_id,
        **{name: getattr(record, name) for name in ("reviewer", "language", "pr_category", "skipped", "skip_reason")},
        "original_good_comments_count": record.references_before_filters,
        "filtered_good_comments_count": record.references_after_filters,
    }
    if record.run is not None:
        head["run"] = record.run
    if record.runs:
        head["runs"] = list(record.runs)
    if record.skipped:
        return head | dict.fromkeys(_BODY_KEYS)
    references = {each.position: each.comment for each in record.references}
    body = {
        **counts_to_json(record.counts),
        **record.rates,
        "left_out_nums": record.left_out,
        "repeated_nums": record.repeated,
        "judged_pairs": record.judged_pairs,
        "reference_slices": {
            name: {value: list(tally.values()) for value, tally in tallies.items()}
            for name, tallies in record.slices.items()
        },
        "match_details": listed(_scored_comment_to_json(each) for each in record.comments),
        "matched_reference_comments": [
            {"reference": reference, **references[reference].to_dict(), "generated": generated}
            for generated, reference in record.matches
        ],
        "llm_comparisons": [
            {"generated": each.generated, "reference": each.reference, **_verdict_to_json(each.verdict)}
            for each in (record.comparisons if compared else ())
        ],
        "reference_comments": listed(
            {
                "reference": each.position,
                **each.comment.to_dict(),
                "kept": each.kept,
                "covered": each.covered,
                "line_covered": each.line_covered,
                **({} if each.runs is None else {"found_in": each.found_in, "runs": each.runs}),
            }
            for each in record.references
        ),
        "negative_comments": listed({"negative": each.position, **each.comment.to_dict()} for each in record.negatives),
    }
    if record.spent.known:
        body |= asdict(record.spent)
    if record.bounds is not None:
        body["undecided_bounds"] = [counts_to_json(end) for end in record.bounds]
    return head | body


def _scored_comment_to_json(scored: ScoredComment) -> JsonObject:
    document: JsonObject = {"generated": scored.position}
    if scored.run is not None:
        document["run"] = scored.run
    document |= scored.comment.to_dict()
    document["line_match"] = scored.line_match
    document["semantic_match"] = scored.semantic_match
    document["left_out"] = scored.left_out
    document["reference"] = scored.reference
    document["line_reference"] = scored.line_reference
    document["negative"] = scored.negative
    if scored.verdict is not None:
        document |= _verdict_to_json(scored.verdict)
    if scored.repeats is not None:
        document["repeats"] = scored.repeats
    return document


def record_from_json(stored: JsonObject) -> CommentRecord:
    head = {
        "pr": stored["github_pr_url"],
        "reviewer": stored["reviewer"],
        "language": stored["language"],
        "pr_category": stored["pr_category"],
        "references_before_filters": stored["original_good_comments_count"],
        "references_after_filters": stored["filtered_good_comments_count"],
        "skip_reason": stored["skip_reason"],
        "run": stored.get("run"),
    }
    if stored["skip_reason"] is not None:
        return CommentRecord(**head)
    bounds = stored.get("undecided_bounds")
    return CommentRecord(
        **head,
        counts=_counts(stored),
        rates={measure.name: stored[measure.name] for measure in MEASURES},
        left_out=stored["left_out_nums"],
        judged_pairs=stored["judged_pairs"],
        slices={
            name: {value: Tally(*tally) for value, tally in tallies.items()}
            for name, tallies in stored["reference_slices"].items()
        },
        comments=StoredItems(stored["match_details"], _scored_comment),
        matches=tuple((each["generated"], each["reference"]) for each in stored["matched_reference_comments"]),
        comparisons=StoredItems(stored[COMPARISONS], _comparison),
        references=tuple(
            ScoredReference(each["reference"], _comment(each), each["kept"], each["covered"], each["line_covered"])
            for each in stored["reference_comments"]
        ),
        negatives=tuple(Negative(each["negative"], _comment(each)) for each in stored["negative_comments"]),
        bounds=None if bounds is None else (_counts(bounds[0]), _counts(bounds[1])),
        repeated=stored.get("repeated_nums"),
        spent=Spent(*(stored.get(kind) for kind in KINDS)),
    )


def _scored_comment(stored: JsonObject) -> ScoredComment:
    return ScoredComment(
        stored["generated"],
        _comment(stored),
        stored["line_match"],
        stored["semantic_match"],
        **{name: stored[name] for name in _PARTNERS},
        verdict=_verdict(stored) if "by" in stored else None,
        repeats=stored.get("repeats"),
    )


def _comparison(stored: JsonObject) -> Comparison:
    return Comparison(stored["generated"], stored["reference"], _verdict(stored))


def pair_to_json(pair: Pair) -> JsonObject:
    """A line of pairs.jsonl."""
    head = {name: getattr(pair, name) for name in _PAIR_HEAD}
    run = {} if pair.run is None else {"run": pair.run}
    return {**head, **_verdict_to_json(pair.verdict), "aligned": pair.aligned, **run}


def pair_from_json(stored: JsonObject) -> Pair:
    head = {name: stored[name] for name in _PAIR_HEAD}
    return Pair(**head, verdict=_verdict(stored), aligned=stored["aligned"], run=stored.get("run"))


def config_to_json(config: CommentsConfig) -> JsonObject:
    stored = {field.name: getattr(config, field.name) for field in fields(config)}
    stored |= {"judge_parameters": dict(config.judge_parameters), "filters": config.filters.to_dict()}
    stored |= {name: list(stored[name]) for name in ("reviewer", "reference_reviewer")}
    for name, default in (("repeat", False), ("unit", PULL_REQUEST)):
        if stored[name] == default:
            del stored[name]
    return {"place" if name == "location" else name: value for name, value in stored.items()}


def config_from_json(stored: JsonObject) -> CommentsConfig:
    known = dict(stored)
    location, filters = known.pop("place"), FilterConfig(**known.pop("filters"))
    known |= {name: tuple(known.get(name, ())) for name in ("reviewer", "reference_reviewer")}
    return CommentsConfig(**known, location=location, filters=filters)


def summary_to_json(summary: CommentsSummary, folder: str | None) -> JsonObject:
    """What `--json` prints and summary.json holds."""
    return {
        "schema": SCHEMA,
        "run": folder,
        "config": config_to_json(summary.config),
        "prs": summary.prs,
        "reviewers": {name: _reviewer_to_json(block) for name, block in summary.reviewers.items()},
        "judge": judge_to_json(summary.judge),
        "warnings": list(summary.warnings),
        "skipped": [asdict(each) for each in summary.skipped],
        "unreviewed": dict(summary.unreviewed),
        "build_gates": [asdict(each) for each in summary.build_gates],
        **({} if summary.trust is None else {"trust": asdict(summary.trust)}),
    }


def _reviewer_to_json(block: ReviewerSummary) -> JsonObject:
    return {
        "prs": block.prs,
        "prs_with_references": block.prs_with_references,
        **counts_to_json(block.counts),
        "repeated_nums": block.repeated,
        "metrics": dict(block.metrics),
        "intervals": _intervals_to_json(block.intervals),
        **(
            {"repository_intervals": _intervals_to_json(block.repository_intervals)}
            if block.repository_intervals
            else {}
        ),
        "bounds": _intervals_to_json(block.bounds),
        "macro": {**block.macro.means, "nulls": dict(block.macro.nulls)},
        **costs_to_json(block.costs),
        "slices": {
            **{
                name: {
                    value: {"prs": part.prs, **counts_to_json(part.counts), **_figures_to_json(part)}
                    for value, part in parts.items()
                }
                for name, parts in block.by_pull_request.items()
            },
            **{
                name: {
                    value: {
                        "prs": part.prs,
                        "positive_expected_nums": part.expected,
                        "positive_covered_nums": part.covered,
                        "positive_line_covered_nums": part.line_covered,
                        **_figures_to_json(part),
                    }
                    for value, part in parts.items()
                }
                for name, parts in block.by_reference.items()
            },
        },
        **({} if block.repeats is None else {"repeats": repeats_to_json(block.repeats)}),
    }


def _figures_to_json(part: PullRequestSlice | ReferenceSlice) -> JsonObject:
    return {"metrics": dict(part.metrics), "intervals": _intervals_to_json(part.intervals)}


def _intervals_to_json(intervals: Intervals) -> JsonObject:
    return {name: None if ends is None else list(ends) for name, ends in intervals.items()}


def summary_from_json(stored: JsonObject) -> CommentsSummary:
    reviewers = {name: _reviewer_from_json(block) for name, block in stored["reviewers"].items()}
    return CommentsSummary(
        config_from_json(stored["config"]),
        reviewers,
        judge_from_json(stored["judge"]),
        # Runs of before coverage was counted: at least as many as the reviewer with the most.
        stored.get("prs", max((block.prs for block in reviewers.values()), default=0)),
        tuple(stored["warnings"]),
        tuple(Skipped(each["file"], each["reason"]) for each in stored["skipped"]),
        stored.get("unreviewed", {}),
        tuple(GateResult(**each) for each in stored.get("build_gates", ())),
        _trust(stored["trust"]) if "trust" in stored else None,
    )


def _trust(stored: JsonObject) -> HeldOut:
    return parse_held_out(str(stored["weights"]), stored["threshold"], stored)


def _reviewer_from_json(stored: JsonObject) -> ReviewerSummary:
    macro = dict(stored["macro"])
    nulls = macro.pop("nulls")
    slices = stored["slices"]
    return ReviewerSummary(
        prs=stored["prs"],
        prs_with_references=stored.get("prs_with_references"),
        counts=_counts(stored),
        metrics=stored["metrics"],
        intervals=_intervals(stored["intervals"]),
        bounds=_intervals(stored["bounds"]),
        macro=Macro(macro, nulls),
        by_pull_request={
            name: {
                value: PullRequestSlice(
                    part["prs"], _counts(part), part["metrics"], _intervals(part.get("intervals", {}))
                )
                for value, part in slices[name].items()
            }
            for name in ("language", "pr_category")
        },
        by_reference={
            name: {
                value: ReferenceSlice(
                    part.get("prs"),
                    part["positive_expected_nums"],
                    part["positive_covered_nums"],
                    part["positive_line_covered_nums"],
                    part["metrics"],
                    _intervals(part.get("intervals", {})),
                )
                for value, part in slices.get(name, {}).items()
            }
            for name in DIMENSIONS
        },
        repeats=repeats_from_json(stored["repeats"]) if "repeats" in stored else None,
        repeated=stored.get("repeated_nums"),
        costs=costs_from_json(stored.get("costs")),
        repository_intervals=_intervals(stored.get("repository_intervals", {})),
    )


def _intervals(stored: JsonObject) -> Intervals:
    return {name: None if ends is None else (ends[0], ends[1]) for name, ends in stored.items()}
