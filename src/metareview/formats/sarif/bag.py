"""Metareview's property bag in SARIF: the fields of comments and reviews that SARIF has no place for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from metareview.formats.record import Record
from metareview.model.comment import COMMENT_FIELDS, Comment, Review

BAG = "metareview"
REVIEW_TEXTS = ("language", "pr_category", "run", "author", "merged_at", "closed_at")
REVIEW_NUMBERS = ("cost", "tokens", "seconds")
REVIEW_FIELDS = ("pr", *REVIEW_TEXTS, *REVIEW_NUMBERS, "meta")


def bag_of(record: Record) -> Record | None:
    """The bag of a run or a result, if it has one."""
    properties = record.value.get("properties")
    if not isinstance(properties, dict) or not isinstance(properties.get(BAG), dict):
        return None
    return record.optional_object("properties").optional_object(BAG)


def with_bag(comment: Comment, bag: Record) -> Comment:
    """The comment with the fields of its bag; a null there removes a field."""
    kept: Mapping[str, Any] = bag.comment().to_dict()
    fields = {name: kept.get(name) for name in COMMENT_FIELDS if name in bag.value and name != "note"}
    return comment.replace(**fields, note=kept["note"] if "note" in bag.value else comment.note)


def comment_bag(comment: Comment, as_read: Comment) -> dict[str, object]:
    """The fields that `with_bag` needs to restore the comment."""
    return {name: comment[name] for name in COMMENT_FIELDS if comment[name] != as_read[name]}


def review_with_bag(review: Review, bag: Record) -> Review:
    """The review with the fields of its bag."""
    kept: dict[str, Any] = {name: bag.optional_text(name) for name in REVIEW_TEXTS}
    kept |= {name: bag.number(name) for name in REVIEW_NUMBERS}
    pr = bag.optional_text("pr") or review.pr
    reviewer = bag.optional_text("reviewer") or None if "reviewer" in bag.value else review.reviewer
    return replace(review, pr=pr, reviewer=reviewer, meta=bag.mapping("meta"), **kept)
