"""`aacr-standard`: AACR-Bench's newer files: the references of its instances, and a reviewer's results on them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from metareview.errors import InputError
from metareview.formats.comments import claude_code, codex
from metareview.formats.findings import leading_object
from metareview.formats.input_file import InputFile
from metareview.formats.protocol import CommentFormat
from metareview.formats.record import OWN_NAMES, SEE_FORMATS, Record
from metareview.model.address import repository_and_number
from metareview.model.comment import Comment, Review

_REFERENCES, _REVIEW, _OUTPUT = "reference_comments", "review", "review_output"
_ADDRESS = ("githubPrUrl", "pr_url", "pull_request_url", "html_url", "url")
_REPOSITORY = ("repo", "repository", "repo_name", "repo_full_name", "full_name", "project", "clone_url")
_COMMIT = ("head_commit", "head_sha", "target_commit", "commit", "commit_id", "head")
_NUMBER = ("pr_number", "pull_number", "number")
_HOST = re.compile(r"^(?:\w+://[^/]+/|git@[^:/]+:)")
_RESULT = {"note": "content", "path": "path", "from_line": "start_line", "to_line": "end_line", "side": "side"}
_OTHER_NAMES = {"note": "text", "from_line": "start_line", "to_line": "end_line"}
"""Names of a reference's fields that `aacr` does not have."""
_RUN_AGAIN = "Run this review again, or leave the file out."


def sniff(file: InputFile) -> bool:
    first = leading_object(file)
    named = "instance_id" in first or {"repo", "head_commit"} <= first.keys()
    return _REFERENCES in first or (named and (_REVIEW in first or _OUTPUT in first))


def read(file: InputFile) -> Iterator[Review]:
    for record in file.json.records("a record", depth=1):
        name, *others = _names(record)
        yield Review(
            pr=name,
            comments=tuple(_comments(record)),
            language=_first(record, ("project_main_language", "language")),
            pr_category=_first(record, ("category", "pr_category")),
            source=file.name,
            other_names=tuple(others),
            tokens=_tokens(record),
            seconds=record.number("duration_seconds"),
        )


def _comments(record: Record) -> Iterable[Comment]:
    """The comments of a record: references, a review, or a reviewer's output; InputError if it has none of them."""
    if _REFERENCES in record.value:
        return map(_reference, _items(record, _REFERENCES, "a comment"))
    if _REVIEW in record.value:
        return map(_result, _items(record.object(_REVIEW, _REVIEW), "comments", "a comment"))
    if _OUTPUT not in record.value:
        record.fail(None, f"neither {_REFERENCES}, {_REVIEW} nor {_OUTPUT}", SEE_FORMATS)
    return (_finding(each.as_object("a finding")) for each in _output(record))


def _tokens(record: Record) -> float | None:
    """The tokens in the summary of a review, or of its output."""
    key = next((key for key in (_REVIEW, _OUTPUT) if isinstance(record.value.get(key), dict)), None)
    return record.optional_object(key).optional_object("summary").number("total_tokens") if key else None


def _items(record: Record, key: str, what: str) -> Iterator[Record]:
    """The objects of a required list."""
    if not isinstance(record.value.get(key), list):
        record.refuse(key, "a list", SEE_FORMATS)
    return record.objects(key, what)


def _output(record: Record) -> Iterator[Record]:
    """The findings of a reviewer's output: a list, an object with a list, or either of these as text."""
    value, line = record.value[_OUTPUT], 0
    if isinstance(value, str):
        value, line = _json_of(record, value), record.line_of(_OUTPUT)
    found = Record(record.file, value, line or record.line, (*record.path, _OUTPUT))
    if isinstance(value, list):
        return found.items()
    key = next((key for key in ("findings", "comments") if isinstance(value, dict) and key in value), None)
    if key is None:
        record.fail(_OUTPUT, f"{_OUTPUT} must be a list of findings, or an object with findings", _RUN_AGAIN)
    return _items(found, key, "a finding")


def _json_of(record: Record, text: str) -> object:
    """The JSON of a text, alone or in a fence."""
    try:
        value: object = InputFile.of_text(text, record.file.name).json.only_value
    except InputError:
        value = None
    if value is None:
        record.fail(_OUTPUT, f"{_OUTPUT} is text, and not JSON alone", _RUN_AGAIN)
    return value


def _reference(record: Record) -> Comment:
    return record.comment({**OWN_NAMES, **{field: key for field, key in _OTHER_NAMES.items() if key in record.value}})


def _result(record: Record) -> Comment:
    comment = record.comment({field: key for field, key in _RESULT.items() if key in record.value})
    if "content" not in record.value:
        record.fail(None, "a comment without content", SEE_FORMATS)
    return comment


def _finding(record: Record) -> Comment:
    """A finding of Codex or Claude Code, or a comment of `review`."""
    if "code_location" in record.value:
        return codex.finding(record)
    if "file" in record.value and any(key in record.value for key in claude_code.NOTE):
        return claude_code.finding(record)
    return _result(record)


def _names(record: Record) -> list[str]:
    """The names of the pull request, the surest first: its address, its instance, repository and commit, or, of
    results, the one in the file's name."""
    address = _first(record, _ADDRESS)
    repository = _HOST.sub("", _first(record, _REPOSITORY) or "").removesuffix(".git").strip("/")
    commit = _first(record, _COMMIT)
    number = next((value for key in _NUMBER if type(value := record.value.get(key)) is int and value > 0), None)
    names = [address if address and repository_and_number(address) else None]
    if repository.count("/") == 1 and number:
        names.append(f"https://github.com/{repository}/pull/{number}")
    names.append(_first(record, ("instance_id",)))
    names.append(f"{repository}@{commit}" if repository and commit else None)
    known = list(dict.fromkeys(name for name in names if name))
    if not known and _REFERENCES not in record.value and record.file.pull_request:
        known = [record.file.pull_request]
    if not known:
        fix = "Give instance_id, or repo and head_commit, or githubPrUrl."
        record.fail(None, "nothing says which pull request it is about", fix)
    return known


def _first(record: Record, keys: tuple[str, ...]) -> str | None:
    """The first of these fields that is a text and not empty."""
    return next((text for key in keys if isinstance(text := record.value.get(key), str) and text), None)


SUMMARY = "AACR-Bench's newer files: {instance_id, repo, head_commit, reference_comments, review or review_output}"
PLUGIN = CommentFormat(SUMMARY, sniff, read)
