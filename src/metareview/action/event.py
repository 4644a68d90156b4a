"""Which pull request a build is about: what the file of its event says, or the input `pull-request`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from metareview.errors import InputError, UsageError
from metareview.formats.api_reply import number_at, reply_record

_NUMBER = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
_REPOSITORY = re.compile(r"(?!\.)[A-Za-z0-9_.-]{1,100}/(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}", re.ASCII)


@dataclass(frozen=True, slots=True)
class PullRequest:
    """Where to comment. `repository` is safe in an address."""

    repository: str
    number: int


def pull_request_of(environ: Mapping[str, str]) -> PullRequest | None:
    """The pull request, None where the event is about none; UsageError where nothing can be known.

    A pull request of a fork belongs to the repository that the build is of, and so does its comment.
    """
    repository = environ.get("GITHUB_REPOSITORY", "")
    if not _REPOSITORY.fullmatch(repository):
        raise UsageError("GITHUB_REPOSITORY does not name a repository, so there is no pull request to comment on.")
    given = environ.get("INPUT_PULL_REQUEST", "").strip()
    if given:
        if not _NUMBER.fullmatch(given):
            raise UsageError(f"pull-request is {given!r}, and must be a number.")
        return PullRequest(repository, int(given))
    number = _number(environ.get("GITHUB_EVENT_PATH", ""))
    return None if number is None else PullRequest(repository, number)


def _number(path: str) -> int | None:
    """Of `pull_request` in the event, or of an issue that is a pull request (issue_comment)."""
    if not path:
        return None
    try:
        event = reply_record(Path(path).read_bytes())
    except (OSError, ValueError, RecursionError):
        raise UsageError("the file of the event (GITHUB_EVENT_PATH) cannot be read.") from None
    if not isinstance(event.value, dict):
        return None
    try:
        found, issue = event.optional_object("pull_request"), event.optional_object("issue")
        if not found.value and issue.optional_object("pull_request").value:
            found = issue
        number = number_at(found, "number", "pull request")
    except InputError:
        return None
    return number if number < 10**9 else None
