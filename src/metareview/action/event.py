"""Which pull request a build is about: what the file of its event says, or the input `pull-request`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from metareview.errors import UsageError
from metareview.formats.api_node import Node, UnexpectedReply

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
        event = json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        raise UsageError("the file of the event (GITHUB_EVENT_PATH) cannot be read.") from None
    if not isinstance(event, dict):
        return None
    try:
        found = Node(event).child("pull_request")
        issue = Node(event).child("issue")
        if found is None and issue is not None and issue.child("pull_request") is not None:
            found = issue
        number = None if found is None else found.number("number")
    except UnexpectedReply:
        return None
    return number if number is not None and 0 < number < 10**9 else None
