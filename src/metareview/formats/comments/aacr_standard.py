"""`aacr-standard`: AACR-Bench's newer files: the references of its instances, and a reviewer's results on them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from metareview.errors import InputError
from metareview.formats.comments import claude_code, codex
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
_NAMES = {"note": ("text",), "from_line": ("start_line",), "to_line": ("end_line",)}
"""What a reference's field is called, where it is not called as in `aacr`."""
_NAMES_OF_RESULT = {
    "note": ("content",), "path": ("path",), "from_line": ("start_line",), "to_line": ("end_line",), "side": ("side",)
}  # fmt: skip
_RUN_AGAIN = "Run this review again, or leave the file out."


def sniff(file: InputFile) -> bool:
    value = file.json.first.value if file.json.looks_like_json else None
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return False
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
    """What a record holds, which is one of three things; InputError where it is none of them."""
    if _REFERENCES in record.value:
        return map(_reference, _items(record, _REFERENCES, "a comment"))
    if _REVIEW in record.value:
        return map(_result, _items(record.object(_REVIEW, _REVIEW), "comments", "a comment"))
    if _OUTPUT not in record.value:
        record.fail(None, f"neither {_REFERENCES}, {_REVIEW} nor {_OUTPUT}", SEE_FORMATS)
    return (_finding(each.as_object("a finding")) for each in _output(record))


def _tokens(record: Record) -> float | None:
    """What the summary of a review, or of its output, says."""
    held = next((key for key in (_REVIEW, _OUTPUT) if isinstance(record.value.get(key), dict)), None)
    return record.optional_object(held).optional_object("summary").number("total_tokens") if held else None


def _items(record: Record, key: str, what: str) -> Iterator[Record]:
    """The objects of a list that must be there."""
    if not isinstance(record.value.get(key), list):
        record.refuse(key, "a list", SEE_FORMATS)
    return record.objects(key, what)


def _output(record: Record) -> Iterator[Record]:
    """The findings of a reviewer's output: a list, an object that has one, or either of these as text."""
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
    """The JSON that a text holds, alone or in a fence."""
    try:
        value: object = InputFile.of_text(text, record.file.name).json.only_value
    except InputError:
        value = None
    if value is None:
        record.fail(_OUTPUT, f"{_OUTPUT} is text, and not JSON alone", _RUN_AGAIN)
    return value


def _reference(record: Record) -> Comment:
    return record.comment({**OWN_NAMES, **_present(record, _NAMES)})


def _result(record: Record) -> Comment:
    comment = record.comment(_present(record, _NAMES_OF_RESULT))
    if "content" not in record.value:
        record.fail(None, "a comment without content", SEE_FORMATS)
    return comment


def _finding(record: Record) -> Comment:
    """As Codex or Claude Code writes it, or as a comment of `review`."""
    if "code_location" in record.value:
        return codex.finding(record)
    if "file" in record.value and any(key in record.value for key in claude_code.NOTE):
        return claude_code.finding(record)
    return _result(record)


def _present(record: Record, names: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Which of its names each field has here."""
    found = {field: next((key for key in keys if key in record.value), None) for field, keys in names.items()}
    return {field: key for field, key in found.items() if key}


def _names(record: Record) -> list[str]:
    """What the pull request goes by, the surest name first: its address, its instance, repository and commit, or, of
    results, what the file is named after."""
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
    """The first of these fields that is a text with something in it."""
    found = (value for key in keys if isinstance(value := record.value.get(key), str))
    return next((text for text in found if text), None)


SUMMARY = "AACR-Bench's newer files: {instance_id, repo, head_commit, reference_comments, review or review_output}"
PLUGIN = CommentFormat(SUMMARY, sniff, read)
