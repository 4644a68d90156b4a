"""`rdjsonl`: reviewdog's diagnostics, one per line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from metareview.errors import UsageError
from metareview.formats.file_names import file_names
from metareview.formats.input_file import InputFile
from metareview.formats.protocol import CommentFormat
from metareview.formats.reviewdog import SEVERITIES, read_diagnostics
from metareview.model.comment import Comment, Review

_SUFFIX = ".rdjsonl"
_RIGHT = "right"


def sniff(file: InputFile) -> bool:
    if not file.json.looks_like_json:
        return file.path.suffix.lower() == _SUFFIX and not file.text.strip()
    value = file.json.first.value
    return isinstance(value, dict) and isinstance(value.get("message"), str) and isinstance(value.get("location"), dict)


def read(file: InputFile) -> Iterator[Review]:
    return read_diagnostics(file, file.json.records("a diagnostic"))


def write(reviews: Iterable[Review]) -> dict[str, str]:
    """One file where all reviews are of one pull request; else one for each, named after it."""
    by_key: dict[str, list[Review]] = {}
    for review in reviews:
        if not review.comments:
            whose = f"the silence of {review.reviewer}" if review.reviewer else "silence"
            problem = f"rdjsonl cannot hold {whose} ({review.pr}): it has only lines that say something"
            raise UsageError(f"{problem}. Use jsonl.")
        by_key.setdefault(review.key, []).append(review)
    names = file_names([group[0] for group in by_key.values()], _SUFFIX, "rdjsonl")
    groups = ("".join(map(_lines, group)) for group in by_key.values())
    return dict(zip(names, groups, strict=True))


def _lines(review: Review) -> str:
    return "".join(json.dumps(_diagnostic(review, each), ensure_ascii=False) + "\n" for each in review.comments)


def _diagnostic(review: Review, comment: Comment) -> dict[str, object]:
    if comment.side and comment.side.strip().casefold() != _RIGHT:
        where = f"one here at the {comment.side!r} side ({review.pr})"
        raise UsageError(f"rdjsonl points at the new file only, and {where}.")
    if not comment.note:
        raise UsageError(f"rdjsonl cannot hold a comment without a note ({review.pr}). Use jsonl.")
    location: dict[str, object] = {}
    if comment.path:
        location["path"] = comment.path
    if comment.from_line or comment.to_line:
        start, end = comment.span
        location["range"] = {"start": {"line": start}, "end": {"line": end}}
    diagnostic: dict[str, object] = {"message": comment.note, "location": location}
    severity = (comment.severity or "").strip().upper()
    if severity in SEVERITIES[1:]:
        diagnostic["severity"] = severity
    if review.reviewer:
        diagnostic["source"] = {"name": review.reviewer}
    if comment.category:
        diagnostic["code"] = {"value": comment.category}
    return diagnostic


SUMMARY = "reviewdog's diagnostics, one a line: {message, location: {path, range}, severity, file, code}"
PLUGIN = CommentFormat(SUMMARY, sniff, read, write, by_tools=True)
