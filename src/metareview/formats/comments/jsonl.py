"""`jsonl`: metareview's own, one line per pull request and reviewer. Holds everything that a review can have.

A field that is not known is refused: silently dropped, a misspelt `path` would make a comment match anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import orjson

from metareview.errors import InputError
from metareview.formats.json_lines import hashed_lines, line_record, records_since
from metareview.formats.line_comments import LineIndex
from metareview.formats.plain_comments import is_plain, plain_comment
from metareview.formats.protocol import CommentFormat
from metareview.formats.record import OWN_NAMES, Record
from metareview.formats.source import Source
from metareview.model.comment import ChangedFile, Comment, Commit, Review

_RECORD_FIELDS = (
    *("pr", "reviewer", "language", "pr_category", "run", "author", "merged_at", "closed_at"),
    *("cost", "tokens", "seconds", "meta", "comments", "commits"),
)
_COMMIT_FIELDS = frozenset({"sha", "at", "author", "parents", "files"})
_FILE_FIELDS = frozenset({"path", "previous_path", "status", "patch"})
_COMMENT_FIELDS = frozenset(OWN_NAMES)
_PLAIN: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("reviewer", "language", "pr_category", "author"), (str, type(None))),
    **dict.fromkeys(("cost", "tokens", "seconds"), (int, float, type(None))),
    **dict.fromkeys(("merged_at", "closed_at", "meta", "commits"), (type(None),)),
    "pr": (str,),
    "run": (str, int, type(None)),
    "comments": (list, type(None)),
}
"""The types of fields that can be taken as they are; whatever else a line has is looked at with care."""
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
_CommentsOf = Callable[[Sequence[Mapping[str, Any]], int, bytes], Sequence[Comment]]
"""What the comments of a line become: their values, where the line begins, and the line."""
_OWN = "Whatever else you keep goes into meta, an object."


def sniff(source: Source) -> bool:
    if not source.looks_like_json:
        return False
    value = source.documents[0].value
    return isinstance(value, dict) and "pr" in value


def read(source: Source) -> Iterator[Review]:
    return _reviews(source, lambda values, offset, line: tuple(map(plain_comment, values)))


def index(source: Source) -> Iterator[Review]:
    """The same reviews; ordinary comments are read when they are asked for."""
    return _reviews(source, LineIndex(source.path).comments)


def _reviews(source: Source, comments_of: _CommentsOf) -> Iterator[Review]:
    if source.opening is None:
        yield from map(_careful_review, source.records("a line"))
        return
    for number, offset, line in hashed_lines(source):
        value = _quick_value(line)
        if value is not None and _is_plain(value):
            yield _plain_review(value, comments_of(value.get("comments") or (), offset, line), source.name)
        elif line.strip(b" \t\r\n"):
            record = line_record(source, number, line)
            try:
                if record is None:  # no line of its own: from here on a document may fill several, or share one
                    yield from map(_careful_review, records_since(source, offset, "a line"))
                    break
                review = _careful_review(record)
            except InputError:
                _check_text(source)
                raise
            yield review


def _quick_value(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except ValueError:  # blank, broken, or something of which only the other parser makes sense
        return None


def _is_plain(value: Any) -> bool:
    """Whether every field can be taken as it is, so that no message can be due."""
    if type(value) is not dict or not value.get("pr"):
        return False
    for name, each in value.items():
        if type(each) not in _PLAIN.get(name, ()):
            return False
    if not ("cost" in value or "tokens" in value or "seconds" in value) or _spends_plainly(value):
        return all(map(is_plain, value.get("comments") or ()))
    return False


def _spends_plainly(value: Mapping[str, Any]) -> bool:
    """A whole number that is too large for the quick parser is a float to it."""
    return all(0 <= (value.get(name) or 0) < 2**63 for name in ("cost", "tokens", "seconds"))


def _plain_review(value: Mapping[str, Any], comments: Sequence[Comment], source: str) -> Review:
    run = value.get("run")
    return Review(
        pr=value["pr"],
        comments=comments,
        reviewer=value.get("reviewer") or None,
        language=value.get("language"),
        pr_category=value.get("pr_category"),
        source=source,
        run=str(run) if type(run) is int else run,
        author=value.get("author"),
        cost=value.get("cost"),
        tokens=value.get("tokens"),
        seconds=value.get("seconds"),
    )


def _check_text(source: Source) -> None:
    """InputError where a later line is no UTF-8: of all that is wrong in a file, this is said first."""
    if source.text:
        source.forget_text()


def _careful_review(record: Record) -> Review:
    record.check_fields(frozenset(_RECORD_FIELDS), _MEANT_OF_RECORD, _OWN)
    return Review(
        pr=record.required("pr", "the pull request's address"),
        comments=tuple(map(_comment, record.children("comments", "a comment"))),
        reviewer=record.text("reviewer") or None,
        language=record.text("language"),
        pr_category=record.text("pr_category"),
        source=record.source.name,
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
    """A time as it is written, if it is one."""
    if record.value.get(key) is None:
        return None
    record.instant(key)
    return record.text(key)


def _commits(record: Record) -> tuple[Commit, ...] | None:
    if record.value.get("commits") is None:
        return None
    return tuple(map(_commit, record.children("commits", "a commit")))


def _commit(record: Record) -> Commit:
    record.check_fields(_COMMIT_FIELDS, {}, _OWN)
    files = None
    if record.value.get("files") is not None:
        files = tuple(map(_changed_file, record.children("files", "a file")))
    parents = record.strings("parents", "hashes", '["0a1b"]') if record.value.get("parents") is not None else ()
    sha = record.required("sha", "the commit's hash")
    return Commit(sha, _time(record, "at"), record.text("author"), parents, files)


def _changed_file(record: Record) -> ChangedFile:
    record.check_fields(_FILE_FIELDS, {}, _OWN)
    path = record.required("path", "the file's name")
    return ChangedFile(path, *(record.text(name) for name in ("previous_path", "status", "patch")))


def write(reviews: Iterable[Review]) -> dict[str, str]:
    lines = []
    for review in reviews:
        line = {name: getattr(review, name) for name in _RECORD_FIELDS}
        line["comments"] = [comment.to_dict() for comment in review.comments]
        if review.commits is not None:
            line["commits"] = [_commit_to_dict(commit) for commit in review.commits]
        lines.append(json.dumps(_known(line), ensure_ascii=False) + "\n")
    return {"": "".join(lines)}


def _commit_to_dict(commit: Commit) -> dict[str, object]:
    files = None if commit.files is None else [_known(asdict(file)) for file in commit.files]
    named = {name: getattr(commit, name) for name in ("sha", "at", "author")}
    return _known({**named, "parents": list(commit.parents), "files": files})


def _known(fields: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value is not None}


SUMMARY = "metareview's own, a line per review: {pr, reviewer, language, pr_category, comments: [{note, path, …}]}"
PLUGIN = CommentFormat(SUMMARY, sniff, read, write, index=index)
