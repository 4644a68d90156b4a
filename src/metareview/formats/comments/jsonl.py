"""`jsonl`: metareview's own format, one line per pull request and reviewer. It holds every field of a review.

An unknown field is refused: if it were dropped, a comment with a misspelt `path` would match anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict

from metareview.formats.input_file import InputFile
from metareview.formats.jsonl_line import review_of_line
from metareview.formats.protocol import CommentFormat
from metareview.formats.record import OWN_NAMES, Record
from metareview.model.comment import ChangedFile, Comment, Commit, Review

_RECORD_FIELDS = (
    *("pr", "reviewer", "language", "pr_category", "run", "author", "merged_at", "closed_at"),
    *("cost", "tokens", "seconds", "meta", "commits", "comments"),
)
_COMMENT_ORDER = (
    *("id", "path", "side", "from_line", "to_line", "note", "author", "at", "commit", "in_reply_to"),
    *("resolved", "outdated", "category", "context", "severity", "reactions"),
    *("neutral", "producer", "source_model", "is_ai_comment", "meta"),
)
_COMMIT_FIELDS = frozenset({"sha", "at", "author", "parents", "files"})
_FILE_FIELDS = frozenset({"path", "previous_path", "status", "patch"})
_COMMENT_FIELDS = frozenset(OWN_NAMES)
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
"""From names of other formats, case-folded, to ours."""
_OWN = "Whatever else you keep goes into meta, an object."


def sniff(file: InputFile) -> bool:
    if not file.json.looks_like_json:
        return False
    value = file.json.first.value
    if (
        isinstance(value, list) and value and isinstance(value[0], dict)
    ):  # `read` refuses it and shows how to convert it.
        return {"pr", "comments"} <= value[0].keys()
    return isinstance(value, dict) and "pr" in value


def read(file: InputFile) -> Iterator[Review]:
    return file.json.decoded(lambda line: review_of_line(line, file.name), _review, "a line")


def _review(record: Record) -> Review:
    record.check_fields(frozenset(_RECORD_FIELDS), _MEANT_OF_RECORD, _OWN)
    return Review(
        pr=record.required("pr", "the pull request's address"),
        comments=tuple(map(_comment, record.objects("comments", "a comment"))),
        reviewer=record.text("reviewer") or None,
        language=record.text("language"),
        pr_category=record.text("pr_category"),
        source=record.file.name,
        run=record.identifier("run"),
        author=record.text("author"),
        merged_at=_time(record, "merged_at"),
        closed_at=_time(record, "closed_at"),
        commits=_commits(record),
        cost=record.number("cost"),
        tokens=record.number("tokens"),
        seconds=record.number("seconds"),
        meta=record.mapping("meta"),
    )


def _comment(record: Record) -> Comment:
    record.check_fields(_COMMENT_FIELDS, MEANT_OF_COMMENT, _OWN)
    return record.comment()


def _time(record: Record, key: str) -> str | None:
    """The checked time, as it is written."""
    if record.value.get(key) is None:
        return None
    record.instant(key)
    return record.text(key)


def _commits(record: Record) -> tuple[Commit, ...] | None:
    if record.value.get("commits") is None:
        return None
    return tuple(map(_commit, record.objects("commits", "a commit")))


def _commit(record: Record) -> Commit:
    record.check_fields(_COMMIT_FIELDS, {}, _OWN)
    files = None
    if record.value.get("files") is not None:
        files = tuple(map(_changed_file, record.objects("files", "a file")))
    parents = record.strings("parents", "hashes", '["0a1b"]') if record.value.get("parents") is not None else ()
    sha = record.required("sha", "the commit's hash")
    return Commit(sha, _time(record, "at"), record.text("author"), parents, files)


def _changed_file(record: Record) -> ChangedFile:
    record.check_fields(_FILE_FIELDS, {}, _OWN)
    path = record.required("path", "the file's name")
    return ChangedFile(path, *(record.text(name) for name in ("previous_path", "status", "patch")))


def write(reviews: Iterable[Review]) -> dict[str, str]:
    return {"": "".join(map(line_of, reviews))}


def line_of(review: Review) -> str:
    """The line of a review, with a line break."""
    line = {name: getattr(review, name) for name in _RECORD_FIELDS}
    line["comments"] = [
        _known({name: getattr(comment, name) for name in _COMMENT_ORDER}) for comment in review.comments
    ]
    if review.commits is not None:
        line["commits"] = [_commit_to_dict(commit) for commit in review.commits]
    return json.dumps(_known(line), ensure_ascii=False, separators=(",", ":")) + "\n"


def _commit_to_dict(commit: Commit) -> dict[str, object]:
    files = None if commit.files is None else [_known(asdict(file)) for file in commit.files]
    named = {name: getattr(commit, name) for name in ("sha", "at", "author")}
    return _known({**named, "parents": list(commit.parents) or None, "files": files})


def _known(fields: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}


SUMMARY = "metareview's own, a line per review: {pr, reviewer, language, pr_category, comments: [{note, path, …}]}"
PLUGIN = CommentFormat(SUMMARY, sniff, read, write)
