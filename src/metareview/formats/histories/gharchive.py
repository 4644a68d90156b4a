"""`gharchive`: GH Archive's hours, one event of GitHub's public timeline per line, packed with gzip or plain.

Of pull requests, reviews, review comments and comments on pull requests; everything else only shows how far the
archive reaches. Since October 2025 the timeline tells less of a pull request (no title, no text, no author): what is
not there stays unknown, and whoever opened it is its author. An event's time is the archive's, not the payload's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from sys import intern
from typing import NamedTuple

from metareview.formats.input_file import InputFile
from metareview.formats.json_values import object_of_line
from metareview.formats.protocol import HistoryContext, HistoryFormat
from metareview.formats.record import Record
from metareview.model.event import Event

_KEYS = {"id", "type", "actor", "repo", "payload", "created_at"}
_ACTIONS = {
    "opened": "opened",
    "edited": "edited",
    "synchronize": "pushed",
    "ready_for_review": "ready_for_review",
    "converted_to_draft": "converted_to_draft",
    "review_requested": "review_requested",
    "review_request_removed": "review_request_removed",
    "closed": "closed",
    "merged": "merged",
    "reopened": "reopened",
}
_WRITTEN = ("created", "submitted")
# How the archive writes a line: what it is comes first, when it was comes after the payload. Most lines are of other
# types, and need not be parsed to know that. A line that is written otherwise is parsed.
_TYPE = re.compile(rb'\{"id":"\d+","type":"(\w+)"')
_PUBLIC = b',"public":'
_TIME = re.compile(rb',"public":(?:true|false),"created_at":"([^"]+)"')
_FIX = "Give the lines of GH Archive as they are."


class Line(NamedTuple):
    """What every line has."""

    repo: str
    at: int
    actor: str | None
    id: str

    def event(self, pr: int, kind: str, user: Record | None = None) -> Event:
        """An event by the actor, whose type the payload's `user` may tell."""
        told = user is not None and user.text("login") == self.actor
        return Event(self.repo, pr, self.at, kind, self.actor, user.text("type") if told and user else None, self.id)


def sniff(file: InputFile) -> bool:
    first = file.json.first_object
    return len(_KEYS & first.keys()) >= 4 and isinstance(first.get("repo"), dict) and "kind" not in first


def events(file: InputFile, reading: HistoryContext) -> Iterator[Event]:
    """The events on pull requests; InputError names the line that cannot be read."""
    body_kept = False
    times: dict[bytes, int] = {}
    for number, line in file.lines():
        kind = _TYPE.match(line)
        if kind and kind[1] not in _READERS and line.rstrip().endswith(b"}"):
            time = _TIME.match(line, line.rfind(_PUBLIC))
            if time and time[1] in times:  # An hour has 3,600 seconds.
                continue
            if time and (record := object_of_line(file, number, line)):
                times[time[1]] = record.instant("created_at")
                reading.reaches(times[time[1]])
                continue
        for event in _events(object_of_line(file, number, line), reading):
            if not reading.texts(event.repo, event.at):
                # Whether any pull request has a body decides what can be said; one of all the others is enough.
                body = event.body if event.kind in ("opened", "edited") and not body_kept else None
                body_kept |= bool(body)
                event = event._replace(title=None, body=body, files=None, base_sha=None, target=None)
            yield event


def _events(record: Record | None, reading: HistoryContext) -> tuple[Event, ...]:
    """What a line tells of a pull request: nothing, one event, or that it was merged and closed."""
    if record is None:
        return ()
    at = record.instant("created_at")
    reading.reaches(at)
    read = _READERS.get(record.required("type", "PullRequestEvent, for example").encode())
    if read is None:
        return ()
    actor = _part(record, "actor")
    login = actor.text("login") if actor else None
    repo = _needed(record, "repo").required("name", "owner/name")
    line = Line(intern(repo), at, (intern(login.strip()) or None) if login else None, record.identifier("id") or "")
    return read(_needed(record, "payload"), line)


def _pull_request(payload: Record, line: Line) -> tuple[Event, ...]:
    kind = _ACTIONS.get(payload.text("action") or "")
    if kind is None:
        return ()
    pull = _needed(payload, "pull_request")
    number = (payload if payload.value.get("number") is not None else pull).whole_number("number")
    user = _part(pull, "user")
    event = line.event(number, kind, user)
    base, draft = _part(pull, "base"), pull.value.get("draft")
    base_sha = base.text("sha") if base else None
    if kind == "opened":
        if user and (author := (user.text("login") or "").strip()):
            event = event._replace(actor=intern(author), actor_type=user.text("type"))
        event = event._replace(draft=draft if type(draft) is bool else None)
    if kind in ("opened", "edited"):
        return (event._replace(title=pull.text("title"), body=pull.text("body"), base_sha=base_sha),)
    if kind == "pushed":
        return (event._replace(base_sha=base_sha),)
    if kind in ("review_requested", "review_request_removed"):
        return (event._replace(target=_asked(payload, line.repo)),)
    if kind == "merged" or (kind == "closed" and pull.value.get("merged") is True):
        return event._replace(kind="merged"), event._replace(kind="closed")
    return (event,)


def _asked(payload: Record, repo: str) -> str | None:
    """Who is asked for a review: a login, or `org/team`."""
    person, team = _part(payload, "requested_reviewer"), _part(payload, "requested_team")
    if person:
        return person.text("login")
    slug = team.text("slug") if team else None
    return f"{repo.partition('/')[0]}/{slug}" if slug else None


def _review(payload: Record, line: Line) -> tuple[Event, ...]:
    if payload.text("action") not in _WRITTEN:
        return ()
    review, number = _needed(payload, "review"), _needed(payload, "pull_request").whole_number("number")
    event = line.event(number, "review_submitted", _part(review, "user"))
    return (event._replace(state=(review.text("state") or "").upper() or None, body=review.text("body")),)


def _review_comment(payload: Record, line: Line) -> tuple[Event, ...]:
    if payload.text("action") not in _WRITTEN:
        return ()
    comment, number = _needed(payload, "comment"), _needed(payload, "pull_request").whole_number("number")
    event = line.event(number, "review_comment", _part(comment, "user"))
    path = comment.text("path")
    return (event._replace(body=comment.text("body"), files=(path,) if path else None),)


def _comment(payload: Record, line: Line) -> tuple[Event, ...]:
    issue = _needed(payload, "issue")
    if payload.text("action") not in _WRITTEN or not issue.value.get("pull_request"):
        return ()
    comment = _needed(payload, "comment")
    event = line.event(issue.whole_number("number"), "comment", _part(comment, "user"))
    return (event._replace(body=comment.text("body")),)


def _part(record: Record, key: str) -> Record | None:
    """The object at `key`, None where it is absent or null."""
    return None if record.value.get(key) is None else record.object(key, key)


def _needed(record: Record, key: str) -> Record:
    part = _part(record, key)
    if part is None:
        record.refuse(key, "an object", _FIX)
    return part


_READERS: dict[bytes, Callable[[Record, Line], tuple[Event, ...]]] = {
    b"PullRequestEvent": _pull_request,
    b"PullRequestReviewEvent": _review,
    b"PullRequestReviewCommentEvent": _review_comment,
    b"IssueCommentEvent": _comment,
}

PLUGIN = HistoryFormat.of_events("GH Archive's hours (JSON lines, plain or gzip), a file or a folder", sniff, events)
