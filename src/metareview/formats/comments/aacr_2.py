"""`aacr-2`: AACR-Bench's later files, whose records have `reference_comments` and no pull request number."""

from __future__ import annotations

import re
from collections.abc import Iterator

from metareview.formats.protocol import CommentFormat
from metareview.formats.record import Record
from metareview.formats.source import Source
from metareview.model.address import repository_and_number
from metareview.model.comment import Review

_COMMENTS = "reference_comments"
_ADDRESS = ("githubPrUrl", "pr_url", "pull_request_url", "html_url", "url")
_REPOSITORY = ("repo", "repository", "repo_name", "repo_full_name", "full_name", "project")
_COMMIT = ("head_commit", "head_sha", "source_commit", "commit", "commit_id", "head")
_NUMBER = ("pr_number", "pull_number", "number")
_HOST = re.compile(r"^(?:\w+://[^/]+/|git@[^:/]+:)")


def sniff(source: Source) -> bool:
    value = source.documents[0].value if source.looks_like_json else None
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and _COMMENTS in first


def read(source: Source) -> Iterator[Review]:
    for record in source.records("a record", depth=1):
        name, *others = _names(record)
        yield Review(
            pr=name,
            comments=tuple(item.comment() for item in record.children(_COMMENTS, "a comment")),
            language=_first(record, ("project_main_language", "language")),
            pr_category=_first(record, ("category", "pr_category")),
            source=source.name,
            other_names=tuple(others),
        )


def _names(record: Record) -> list[str]:
    """What the pull request goes by, the surest name first: its address, its instance, repository and commit."""
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
    if not known:
        fix = "Give repo and head_commit, or githubPrUrl."
        record.fail(None, "nothing says which pull request it is about", fix)
    return known


def _first(record: Record, keys: tuple[str, ...]) -> str | None:
    """The first of these fields that is a text with something in it."""
    found = (record.clean(key, value) for key in keys if isinstance(value := record.value.get(key), str))
    return next((text for text in found if text), None)


SUMMARY = "AACR-Bench's later files: [{repo, head_commit, reference_comments: [{note, path, …}]}]"
PLUGIN = CommentFormat(SUMMARY, sniff, read)
