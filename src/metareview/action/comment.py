"""Keeps one comment on a pull request up to date: found again by a hidden first line, created only where there is none.

A comment that could not be written is a warning, never a failed build: a fork's pull request has a token that only
reads, and the figures are on the page of the job all the same.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from metareview.action.event import pull_request_of
from metareview.action.kept_comment import CommentApi, Patience
from metareview.action.page import bounded
from metareview.action.runner import annotate
from metareview.cli.output import say
from metareview.errors import UsageError
from metareview.sources.access import Access, github_access, server_host
from metareview.sources.targets import PullTarget

LONGEST = 65_536
"""Characters of a comment that GitHub takes; counted in UTF-16, so that no way of counting finds more."""
_LONGEST_KEY = 200
_ENVIRONMENT = ("GITHUB_SERVER_URL", "GITHUB_API_URL", "GITHUB_GRAPHQL_URL")
WHEN = ("true", "false", "on-failure")


def main() -> int:
    """The step. 2 where an input is wrong; 0 otherwise, with a warning where there is no comment."""
    when = os.environ.get("INPUT_COMMENT", "").strip().lower() or "true"
    try:
        if when not in WHEN:
            raise UsageError(f"comment is {when!r}, and must be one of {', '.join(WHEN)}.")
        marker = marker_of(os.environ)
        place = pull_request_of(os.environ)
    except UsageError as error:
        annotate("error", str(error))
        return error.exit_code
    if when == "false":
        return 0
    if place is None:
        event = os.environ.get("GITHUB_EVENT_NAME", "")
        about = f"The event {event} is" if event.replace("_", "").isalnum() else "This build is"
        say(f"{about} about no pull request: there is nothing to comment on.")
        return 0
    try:
        text = Path(os.environ.get("COMMENT_FILE", "")).read_text("utf-8", "replace")
        api = CommentApi(_access(place.repository, os.environ), Patience(), say)
        try:
            create = when == "true" or os.environ.get("EXIT_CODE", "") != "0"
            kept = api.keep(place, marker, body_of(marker, text), create=create)
        finally:
            api.close()
    except (UsageError, OSError) as error:
        annotate("warning", f"the comment on pull request {place.number} is not written: {_reason(error)}")
        return 0
    say(kept)
    return 0


def marker_of(environ: Mapping[str, str]) -> str:
    """The first line of the comment, which nobody sees: which use of the Action it belongs to.

    The key is the user's, or the workflow's name, the job and the command. Whatever it holds cannot end the line.

    >>> marker_of({"INPUT_COMMENT_KEY": "nightly --> @all"})
    '<!-- metareview: nightly%20%2D%2D%3E%20%40all -->'
    """
    own = (environ.get(name, "") for name in ("GITHUB_WORKFLOW", "GITHUB_JOB", "INPUT_COMMAND"))
    key = environ.get("INPUT_COMMENT_KEY", "").strip() or "/".join(part.strip() for part in own)
    if len(key) > _LONGEST_KEY:
        raise UsageError(f"comment-key is longer than {_LONGEST_KEY} characters. Set a shorter one.")
    return f"<!-- metareview: {quote(key, safe='/', errors='replace').replace('-', '%2D')} -->"


def body_of(marker: str, text: str) -> str:
    """The comment as it is sent, cut where GitHub would refuse it."""
    return bounded(f"{marker}\n{text}", LONGEST, lambda part: len(part.encode("utf-16-le", "replace")) // 2)


def _access(repository: str, environ: Mapping[str, str]) -> Access:
    """With the token of the input and no other."""
    token = environ.get("INPUT_GITHUB_TOKEN", "").strip()
    if not token:
        raise UsageError("there is no token. Set github-token, or leave it out to use the job's own.")
    owner, _, name = repository.partition("/")
    known = {variable: environ[variable] for variable in _ENVIRONMENT if environ.get(variable)}
    return github_access(PullTarget(server_host(known), owner, name), environ={**known, "GITHUB_TOKEN": token,
                                                                          "GH_ENTERPRISE_TOKEN": token})  # fmt: skip


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{error.strerror or type(error).__name__}."
    return str(error)
