"""Reviews as SARIF: a file per pull request, a run per review, other fields in property bags."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from metareview.formats.file_names import file_names
from metareview.formats.sarif.bag import BAG, REVIEW_FIELDS, comment_bag
from metareview.formats.sarif.messages import message_template, message_text
from metareview.model.comment import Comment, Review

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_GUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-5][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}")
_LEVELS = {
    **dict.fromkeys(("error", "critical", "blocker", "high", "p0", "p1"), "error"),
    **dict.fromkeys(("note", "info", "low", "minor", "nit", "trivial", "suggestion", "p3"), "note"),
}
_UNNAMED = "reviewer"
_PLAIN_PATH = re.compile(r"(?!\.{0,2}/|\.{1,2}\Z|.*//|.*/\.{1,2}(?:/|\Z)).+", re.DOTALL)


def write(reviews: Iterable[Review]) -> dict[str, str]:
    """One file where all reviews are of one pull request; else one for each, named after it."""
    by_key: dict[str, list[Review]] = {}
    for review in reviews:
        by_key.setdefault(review.key, []).append(review)
    names = file_names([group[0] for group in by_key.values()], ".sarif", "sarif")
    return {name: _log(group) for name, group in zip(names, by_key.values(), strict=True)}


def _log(reviews: Iterable[Review]) -> str:
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(review) for review in reviews]}
    return json.dumps(document, ensure_ascii=False) + "\n"


def _run(review: Review) -> dict[str, object]:
    categories = dict.fromkeys(comment.category for comment in review.comments if comment.category)
    rules = {category: place for place, category in enumerate(categories)}
    bag = {name: value for name in REVIEW_FIELDS if (value := getattr(review, name)) is not None}
    if not review.reviewer:
        bag["reviewer"] = None
    driver: dict[str, object] = {"name": review.reviewer or _UNNAMED}
    if rules:
        driver["rules"] = [{"id": category} for category in rules]
    results = [_result(comment, rules) for comment in review.comments]
    return {"tool": {"driver": driver}, "results": results, "properties": {BAG: bag}}


def _result(comment: Comment, rules: dict[str, int]) -> dict[str, object]:
    text = message_template(comment.note)
    result: dict[str, Any] = {}
    if comment.category:
        result |= {"ruleId": comment.category, "ruleIndex": rules[comment.category]}
    severity = (comment.severity or "").strip().casefold()
    level = _LEVELS.get(severity, "warning")
    result |= {"level": level, "message": {"text": text}}
    plain = comment.path is not None and _PLAIN_PATH.fullmatch(comment.path)
    path = comment.path if plain else None
    start, end = comment.span if comment.from_line or comment.to_line else (None, None)
    if comment.path:
        physical: dict[str, object] = {"artifactLocation": {"uri": _uri(comment.path)}}
        if start is not None:
            physical["region"] = {"startLine": start, "endLine": end}
        result["locations"] = [{"physicalLocation": physical}]
    if guid := comment.id if comment.id and _GUID.fullmatch(comment.id) else None:
        result["guid"] = guid
    placed = start is not None and comment.path
    as_read = Comment(message_text(text), path, None, start if placed else None, end if placed else None, guid,
                      comment.category or None, severity=level)  # fmt: skip
    if bag := comment_bag(comment, as_read):
        result["properties"] = {BAG: bag}
    return result


def _uri(path: str) -> str:
    """The path as a URI reference: its colons begin no scheme, and an absolute path becomes a file's URI."""
    drive = re.match(r"[A-Za-z]:/", path)
    if drive:
        return f"file:///{drive[0]}{quote(path[3:])}"
    return f"file://{quote(path)}" if path.startswith("/") else quote(path)
