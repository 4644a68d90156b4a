"""`jsonl`: metareview's own, one line per pull request and reviewer. Holds everything that a review can have.

A field that is not known is refused: silently dropped, a misspelt `path` would make a comment match anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from metareview.formats.protocol import CommentFormat
from metareview.formats.record import Record
from metareview.formats.source import Source
from metareview.model.comment import Comment, Review

# Those that are accepted and not used yet are there so that one file serves every command.
_RECORD_FIELDS = frozenset({
    "pr", "reviewer", "language", "pr_category", "comments",
    "run", "author", "merged_at", "closed_at", "commits", "cost", "tokens", "seconds", "meta",
})  # fmt: skip
_COMMENT_FIELDS = frozenset({
    "id", "path", "side", "from_line", "to_line", "note", "category", "context", "severity",
    "author", "at", "commit", "in_reply_to", "resolved", "outdated", "reactions", "neutral", "producer",
    "source_model", "is_ai_comment", "meta",
})  # fmt: skip
_MEANT_OF_RECORD = {
    **dict.fromkeys(("url", "pr_url", "github_pr_url", "githubprurl", "pull_request", "html_url"), "pr"),
    **dict.fromkeys(("tool", "bot", "user", "login", "name"), "reviewer"),
    **dict.fromkeys(("project_main_language", "lang"), "language"),
    **dict.fromkeys(("category", "type"), "pr_category"),
    **dict.fromkeys(("findings", "issues", "review_comments", "results"), "comments"),
}
MEANT_OF_COMMENT = {
    **dict.fromkeys(("file", "filename", "file_path", "filepath", "file_name"), "path"),
    **dict.fromkeys(("line", "from", "start", "start_line", "line_start", "line_number", "lineno"), "from_line"),
    **dict.fromkeys(("to", "end", "end_line", "line_end"), "to_line"),
    **dict.fromkeys(("body", "comment", "text", "message", "content", "description"), "note"),
    **dict.fromkeys(("priority", "level"), "severity"),
    **dict.fromkeys(("user", "login"), "author"),
}
"""What other formats call a field of ours, in small letters."""
_OWN = "Whatever else you keep goes into meta, an object."


def sniff(source: Source) -> bool:
    if not source.looks_like_json:
        return False
    value = source.documents[0].value
    return isinstance(value, dict) and "pr" in value


def read(source: Source) -> Iterator[Review]:
    for record in source.records("a line"):
        _check(record, _RECORD_FIELDS, _MEANT_OF_RECORD)
        yield Review(
            pr=record.required("pr", "the pull request's address"),
            comments=tuple(map(_comment, record.children("comments", "a comment"))),
            reviewer=record.text("reviewer") or None,
            language=record.text("language"),
            pr_category=record.text("pr_category"),
            source=source.name,
        )


def _comment(record: Record) -> Comment:
    _check(record, _COMMENT_FIELDS, MEANT_OF_COMMENT)
    return record.comment()


def _check(record: Record, known: frozenset[str], meant: Mapping[str, str]) -> None:
    record.check_fields(known, meant, _OWN)
    if record.value.get("meta") is not None:
        record.child("meta", "meta")


def write(reviews: Iterable[Review]) -> dict[str, str]:
    lines = []
    for review in reviews:
        line = {
            "pr": review.pr,
            "reviewer": review.reviewer,
            "language": review.language,
            "pr_category": review.pr_category,
            "comments": [comment.to_dict() for comment in review.comments],
        }
        lines.append(json.dumps({k: v for k, v in line.items() if v is not None}, ensure_ascii=False) + "\n")
    return {"": "".join(lines)}


SUMMARY = "metareview's own, a line per review: {pr, reviewer, language, pr_category, comments: [{note, path, …}]}"
PLUGIN = CommentFormat(SUMMARY, sniff, read, write)
