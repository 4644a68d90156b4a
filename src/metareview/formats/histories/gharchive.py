"""`gharchive`: GH Archive's hours, one event of GitHub's public timeline per line, packed with gzip or plain.

Read are pull requests, reviews, review comments and comments on pull requests; everything else only shows how far the
archive reaches. Since October 2025 the timeline has less of a pull request (no title, no text, no author): what is
missing stays unknown, and the actor who opened it is its author. Times are the archive's, not the payload's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from sys import intern
from typing import Any, NamedTuple

from metareview.formats.input_file import InputFile
from metareview.formats.json_values import object_of_line
from metareview.formats.protocol import HistoryContext, HistoryFormat
from metareview.formats.record import Record
from metareview.model.event import Event

_KEYS = {"id", "type", "actor", "repo", "payload", "created_at"}
_SAME = ("opened", "edited", "ready_for_review", "converted_to_draft", "review_requested", "review_request_removed")
_KINDS = {name: name for name in (*_SAME, "closed", "merged", "reopened")} | {"synchronize": "pushed"}
"""By the action of the payload."""
# How the archive writes a line: the type comes first, the time after the payload. Most lines are of other types, and
# need not be parsed to know that. A line that is written otherwise is parsed.
_TYPE = re.compile(rb'\{"id":"\d+","type":"(\w+)"')
_PUBLIC = b',"public":'
_TIME = re.compile(rb',"public":(?:true|false),"created_at":"([^"]+)"')
_FIX = "Give the lines of GH Archive as they are."


class _Line(NamedTuple):
    """The fields of every line."""

    repo: str
    at: int
    actor: str | None
    id: str

    def event(self, pr: int, kind: str, user: Record | None, **fields: Any) -> Event:
        """An event by the actor, whose type is known where the payload's `user` is the actor."""
        actor_type = user.text("type") if user and user.text("login") == self.actor else None
        return Event(self.repo, pr, self.at, kind, self.actor, actor_type, self.id, **fields)


def sniff(file: InputFile) -> bool:
    first = file.json.first_object
    return len(_KEYS & first.keys()) >= 4 and isinstance(first.get("repo"), dict) and "kind" not in first


def events(file: InputFile, reading: HistoryContext) -> Iterator[Event]:
    """The events on pull requests; InputError names the line that cannot be read."""
    has_bodies = False
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
                # A router that reads texts needs a history with bodies: one body of all the others is kept.
                body = event.body if event.kind in ("opened", "edited") and not has_bodies else None
                has_bodies |= bool(body)
                event = event._replace(title=None, body=body, files=None, base_sha=None, target=None)
            yield event


def _events(record: Record | None, reading: HistoryContext) -> tuple[Event, ...]:
    """The events of a line: none, one, or two for a merge, which also closes."""
    if record is None:
        return ()
    at = record.instant("created_at")
    reading.reaches(at)
    read = _READERS.get(record.required("type", "PullRequestEvent, for example").encode())
    if read is None:
        return ()
    actor = _optional(record, "actor")
    login = actor.text("login") if actor else None
    repo = _required(record, "repo").required("name", "owner/name")
    line = _Line(intern(repo), at, (intern(login.strip()) or None) if login else None, record.identifier("id") or "")
    return read(_required(record, "payload"), line)


def _pull_request(payload: Record, line: _Line) -> tuple[Event, ...]:
    kind = _KINDS.get(payload.text("action") or "")
    if kind is None:
        return ()
    pull = _required(payload, "pull_request")
    number = (payload if payload.value.get("number") is not None else pull).whole_number("number")
    user, base, draft = _optional(pull, "user"), _optional(pull, "base"), pull.value.get("draft")
    event = line.event(number, kind, user)
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
        return (event._replace(target=_requested_reviewer(payload, line.repo)),)
    if kind == "merged" or (kind == "closed" and pull.value.get("merged") is True):
        return event._replace(kind="merged"), event._replace(kind="closed")
    return (event,)


def _requested_reviewer(payload: Record, repo: str) -> str | None:
    """A login, or `org/team`."""
    if person := _optional(payload, "requested_reviewer"):
        return person.text("login")
    team = _optional(payload, "requested_team")
    slug = team.text("slug") if team else None
    return f"{repo.partition('/')[0]}/{slug}" if slug else None


def _response(kind: str, subject: str, part: str, payload: Record, line: _Line) -> tuple[Event, ...]:
    """A response of this kind, which stands under the key `part`, to the pull request under the key `subject`."""
    pull = _required(payload, subject)
    is_issue = subject == "issue" and not pull.value.get("pull_request")
    if payload.text("action") not in ("created", "submitted") or is_issue:
        return ()
    response, number = _required(payload, part), pull.whole_number("number")
    state = response.text("state") if kind == "review_submitted" else None
    path = response.text("path") if kind == "review_comment" else None
    fields = {
        "state": state.upper() if state else None,
        "body": response.text("body"),
        "files": (path,) if path else None,
    }
    return (line.event(number, kind, _optional(response, "user"), **fields),)


def _optional(record: Record, key: str) -> Record | None:
    """The object at `key`, None where it is absent or null."""
    return None if record.value.get(key) is None else record.object(key, key)


def _required(record: Record, key: str) -> Record:
    return _optional(record, key) or record.refuse(key, "an object", _FIX)


_READERS: dict[bytes, Callable[[Record, _Line], tuple[Event, ...]]] = {
    b"PullRequestEvent": _pull_request,
    b"PullRequestReviewEvent": partial(_response, "review_submitted", "pull_request", "review"),
    b"PullRequestReviewCommentEvent": partial(_response, "review_comment", "pull_request", "comment"),
    b"IssueCommentEvent": partial(_response, "comment", "issue", "comment"),
}

PLUGIN = HistoryFormat.of_events("GH Archive's hours (JSON lines, plain or gzip), a file or a folder", sniff, events)
