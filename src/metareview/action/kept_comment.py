"""The requests behind the comment: list, create, edit. They wait for limits and retry, but not for hours."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

from metareview.action.event import PullRequest
from metareview.errors import InputError, UsageError
from metareview.formats.api_reply import number_at
from metareview.formats.record import Record
from metareview.http.connections import HttpReply
from metareview.sources.api import TransientFailure, json_of
from metareview.sources.clock import Clock
from metareview.sources.github.api import GitHubApi, ScopesMissing

_PAGE = 100
_MOST_PAGES = 200
_LONGEST_WAIT = 300.0
_VIEWER = "query { viewer { login } }"
_BOT = "[bot]"


class Patience(Clock):
    """A clock that waits five minutes in all: a build must not stand still for a comment."""

    def __init__(self) -> None:
        self._waited = 0.0

    def sleep(self, seconds: float) -> None:
        self._waited += seconds
        if self._waited > _LONGEST_WAIT:
            raise UsageError("GitHub wants to be asked later than a build should wait. Run the job again then.")
        super().sleep(seconds)


@dataclass(frozen=True, slots=True)
class Existing:
    """A comment that is there."""

    number: int
    body: str


class CommentApi(GitHubApi):
    """GitHub, as far as one comment needs it."""

    kept: ClassVar[str] = "Run the job again to write it."

    def keep(self, place: PullRequest, marker: str, body: str, *, create: bool) -> str:
        """Edits our comment with this marker, or creates it; says what was done.

        What failed on the way is done again from the listing on: a comment may have been created though the reply to
        that was lost, and is then found.
        """
        login = self._own_login()

        def attempt() -> str:
            existing = self._find(place, marker, login)
            if existing is not None and existing.body == body:
                return f"The comment on pull request {place.number} is up to date."
            if existing is not None:
                edited = self._send("PATCH", f"repos/{place.repository}/issues/comments/{existing.number}", body)
                if edited is not None:
                    return f"Updated the comment on pull request {place.number}: {edited}"
            if not create and existing is None:
                return f"Nothing failed: pull request {place.number} gets no comment."
            created = self._send("POST", f"repos/{place.repository}/issues/{place.number}/comments", body)
            if created is None:
                raise UsageError(f"{self._host} has no pull request {place.number} that this token may comment on.")
            return f"Commented on pull request {place.number}: {created}"

        return self.persist(lambda: self._unless_limited(attempt))

    def _own_login(self) -> str | None:
        """Whose token this is; None where the server does not say."""
        try:
            return self.graphql(_VIEWER, {}).data.optional_object("viewer").text("login")
        except (TransientFailure, ScopesMissing, InputError, UsageError):
            return None

    def _find(self, place: PullRequest, marker: str, login: str | None) -> Existing | None:
        """The first of our own comments that begins with the marker. What others wrote is never edited."""
        for page in range(1, _MOST_PAGES + 1):
            path = f"repos/{place.repository}/issues/{place.number}/comments?per_page={_PAGE}&page={page}"
            found = self.get(path, _comments_of)
            if found is None:
                raise UsageError(f"{self._host} has no pull request {place.number} that this token may read.")
            comments, more = found
            for comment in comments:
                existing = _ours(comment, marker, login)
                if existing is not None:
                    return existing
            if not more:
                break
        return None

    def _send(self, method: str, path: str, body: str) -> str | None:
        """The address of the comment that was written; None where there is nothing at the path."""
        headers = {**self._headers, "Content-Type": "application/json"}
        data = json.dumps({"body": body}).encode()
        reply = self._exchange(method, f"{self._base}/{path}", headers, data)
        if reply.status in (404, 410):
            return None
        if not 200 <= reply.status < 300:
            raise UsageError(f"{self._host} does not take the comment (HTTP {reply.status}).")
        try:
            return self._token.line_of(json_of(reply.data).text("html_url") or "", 300)
        except (TransientFailure, InputError):
            return ""  # written, whatever the reply looks like

    def _fix_of_refusal(self, said: str) -> str:
        return (
            "Give the job `permissions: pull-requests: write`. On a pull request from a fork the token only reads, "
            "and the page of the job has the same figures."
        )


def _comments_of(reply: HttpReply) -> tuple[list[Record], bool]:
    comments = [each for each in json_of(reply.data, list).items() if isinstance(each.value, dict)]
    return comments, 'rel="next"' in reply.headers.get("link", "")


def _ours(comment: Record, marker: str, login: str | None) -> Existing | None:
    """The comment, if it is ours: it begins with the marker, and the token's owner wrote it. Where that is not known,
    it was a bot: a person may have copied the marker."""
    try:
        body, number = comment.text("body") or "", number_at(comment, "id", "comment")
        user = comment.optional_object("user")
        lines = body.splitlines()
        if not lines or lines[0].strip() != marker or not user.value:
            return None
        author, is_bot = (user.text("login") or "").casefold(), user.text("type") == "Bot"
    except InputError:
        return None
    if login is None:
        ours = is_bot
    else:
        wanted = login.casefold()
        ours = author == wanted or (is_bot and author == wanted.removesuffix(_BOT) + _BOT)
    return Existing(number, body) if ours else None
