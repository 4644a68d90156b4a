"""`sqlite`: the tables of the routing harness (repos, users, pull_requests, reviews, comments, events, intervals).

A pull request opens at its `created_at`. Reviews and comments are rows of their own tables; merges, closings and
reopenings are rows of `events`. A state that lasts is an interval from one event to another, and becomes an event
where it begins: another head `pushed`, another text `edited`, a draft `ready_for_review` or a pull request
`converted_to_draft`, a review `review_requested` and, where the interval ends, `review_request_removed`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from sys import intern
from typing import Any, NamedTuple, NoReturn

from metareview.errors import InputError
from metareview.formats.database import MAGIC, Database, Row, open_database
from metareview.formats.input_file import InputFile
from metareview.formats.protocol import HistoryContext, HistoryFormat
from metareview.model.event import Event
from metareview.model.time import LATEST, parse_time
from metareview.model.words import plural

_STATES = {
    "pull_request.merged": "merged",
    "pull_request.closed": "closed",
    "issue.closed": "closed",
    "pull_request.reopened": "reopened",
    "issue.reopened": "reopened",
}
_DRAFTS = {
    "pull_request.ready_for_review": "ready_for_review",
    "pull_request.converted_to_draft": "converted_to_draft",
    "pull_request.convert_to_draft": "converted_to_draft",
}
"""Read where a pull request has no draft intervals."""
_NO_RESPONSES = frozenset(
    {"branches", "commits", "labels", "milestones", "pull_request_files", "refs", "releases", "tags"}
)
"""Resources without responses: a gap in one of them hides none."""


def _text(value: object) -> str:
    if type(value) is not str:
        raise ValueError
    return value


def _instant(value: object) -> int:
    at = parse_time(_text(value))
    if not -LATEST <= at <= LATEST:
        raise ValueError
    return at


_TYPES: dict[str, tuple[str, Callable[[object], Any]]] = {
    **dict.fromkeys(("full_name", "owner_login", "name", "login", "type", "slug"), ("text", _text)),
    **dict.fromkeys(("title", "body", "base_sha", "state", "path"), ("text", _text)),
    **dict.fromkeys(("created_at", "merged_at", "closed_at", "submitted_at", "occurred_at"), ("a time", _instant)),
}
"""By a column's name, the type of its cells, which may also be null."""
_REQUIRED = frozenset({("pull_requests", "created_at"), ("events", "occurred_at")})


Person = tuple[str | None, str | None]
"""Login and type."""
_UNKNOWN: Person = (None, None)


class _TableEvent(NamedTuple):
    """A row of `events`, which intervals point to."""

    at: int
    id: str
    actor: Person
    type: str


class _PullRequest(NamedTuple):
    key: Any
    repo: str
    number: int
    opened: int
    author: Person
    issue: Any
    title: str | None
    body: str | None
    base_sha: str | None
    head_sha: Any
    merged_at: int | None
    closed_at: int | None

    def event(self, start: _TableEvent, kind: str, identity: str | None = None, **fields: Any) -> Event:
        return Event(self.repo, self.number, start.at, kind, *start.actor, identity or start.id, **fields)


Interval = tuple[_TableEvent, tuple[Any, ...]]
"""The event with which it begins, and its values."""


def sniff(file: InputFile) -> bool:
    return file.begins_with(MAGIC)


def events(file: InputFile, reading: HistoryContext) -> Iterator[Event]:
    """The events of every repository in the file; InputError names the table and row that cannot be read."""
    with open_database(file) as database:
        yield from _Harness(database, reading).events()


class _Harness:
    """The tables, read once each, in the order in which they refer to one another."""

    def __init__(self, database: Database, reading: HistoryContext) -> None:
        self.database, self.reading = database, reading
        self.left_out: Counter[str] = Counter()
        self.without_heads = 0
        self.repos = {
            key: name or f"{owner or ''}/{own or ''}"
            for key, name, owner, own in self.rows("repos", ["id"], ["full_name", "owner_login", "name"])
        }
        self.people = {
            key: (intern((login or "").strip()) or None, kind)
            for key, login, kind in self.rows("users", ["id", "login"], ["type"])
        }
        self.pulls = {pull.key: pull for pull in self.pull_requests()}
        self.by_issue = {pull.issue: pull.key for pull in self.pulls.values() if pull.issue is not None}
        self.by_event: dict[Any, _TableEvent] = {}
        self.changes: dict[Any, dict[str, list[_TableEvent]]] = defaultdict(lambda: defaultdict(list))
        """By pull request and kind."""
        self.read_events()
        self.drafts = self.intervals("pull_request_draft_intervals", "pull_request_id", ["is_draft"])
        self.heads = self.intervals("pull_request_head_intervals", "pull_request_id", ["head_sha"])
        self.contents = self.intervals("issue_content_intervals", "issue_id", ["title", "body"])
        self.files = self.changed_files()

    # Events

    def events(self) -> Iterator[Event]:
        for pull in self.pulls.values():
            yield from self.changes_of_state(pull)
            yield from self.opening_and_edits(pull)
        yield from self.review_requests()
        yield from self.reviews()
        yield from self.comments()
        if self.without_heads:
            what = plural(self.without_heads, "pull request")
            self.warn(f"{what} without head intervals: the files are those of the last head, whenever it was pushed")
        for why, count in self.left_out.items():
            self.warn(f"{plural(count, 'row')} left out: {why}")
        for repo_id, resource in self.optional_rows("ingestion_gaps", ["repo_id"], ["resource"]):
            name = "anything" if resource is None else str(resource)
            if repo_id in self.repos and name not in _NO_RESPONSES:
                self.reading.gaps.setdefault(self.repos[repo_id], set()).add(name)

    def changes_of_state(self, pull: _PullRequest) -> Iterator[Event]:
        """The pull request merged, closed, reopened, made a draft or ready for review."""
        changes, drafts = self.changes.get(pull.key, {}), self.drafts.get(pull.key, [])
        for kind, at in (("merged", pull.merged_at), ("closed", pull.closed_at)):
            if at is not None and kind not in changes:
                yield Event(pull.repo, pull.number, at, kind)
        for kind, starts in changes.items():
            if not drafts or kind not in _DRAFTS.values():
                yield from (pull.event(start, kind) for start in starts)
        first, later = _at_opening(drafts, pull)
        state = None if first is None else bool(first[0])
        for start, (is_draft,) in later:
            if bool(is_draft) != state:
                state = bool(is_draft)
                yield pull.event(start, "converted_to_draft" if state else "ready_for_review")

    def opening_and_edits(self, pull: _PullRequest) -> Iterator[Event]:
        title, body, head_sha = pull.title, pull.body, pull.head_sha
        contents = [] if pull.issue is None else self.contents.get(pull.issue, [])
        first, later = _at_opening(contents, pull)
        if contents:
            title, body = (first[0] or "", first[1] or "") if first else (None, None)
        for start, (new_title, new_body) in later:
            yield pull.event(start, "edited", title=new_title or "", body=new_body or "")
        heads = self.heads.get(pull.key, [])
        first, later = _at_opening(heads, pull)
        if heads:
            head_sha = first[0] if first else None
        elif self.files.get((pull.key, head_sha)):
            self.without_heads += 1
        for start, (sha,) in later:
            yield pull.event(start, "pushed", files=self.files.get((pull.key, sha)))
        draft, _ = _at_opening(self.drafts.get(pull.key, []), pull)
        yield Event(
            pull.repo,
            pull.number,
            pull.opened,
            "opened",
            *pull.author,
            title=title,
            body=body,
            files=self.files.get((pull.key, head_sha)),
            draft=None if draft is None else bool(draft[0]),
            base_sha=pull.base_sha,
        )

    def review_requests(self) -> Iterator[Event]:
        table = "pull_request_review_request_intervals"
        teams: dict[Any, Any] = dict(self.optional_rows("teams", ["id", "slug"]))
        needed = ["id", "pull_request_id", "reviewer_type", "reviewer_id", "start_event_id", "end_event_id"]
        for key, of, reviewer_type, reviewer, start_id, end_id in self.optional_rows(table, needed):
            pull, start, end = self.pulls.get(of), self.by_event.get(start_id), self.by_event.get(end_id)
            if pull is None or start is None:
                self.left_out[f"{table} without a pull request or a start event"] += 1
                continue
            target = self.people.get(reviewer, _UNKNOWN)[0]
            if str(reviewer_type).casefold() == "team":
                slug = teams.get(reviewer)
                target = f"{pull.repo.partition('/')[0]}/{slug}" if slug else None
            yield pull.event(start, "review_requested", f"{start_id}:{key}", target=target)
            if end is not None and not end.type.startswith("review."):  # A review ends the interval, too.
                yield pull.event(end, "review_request_removed", f"{end_id}:{key}", target=target)

    def reviews(self) -> Iterator[Event]:
        needed, others = ["id", "pull_request_id", "user_id", "submitted_at"], ["state", "body"]
        for key, of, user, at, state, body in self.rows("reviews", needed, others):
            if at is None:  # It is not submitted yet.
                continue
            self.reading.reaches(at)
            if pull := self.pulls.get(of):
                who = self.people.get(user, _UNKNOWN)
                yield Event(pull.repo, pull.number, at, "review_submitted", *who, _identity(key), state, body=body)
            else:
                self.left_out["reviews of a pull request that is not in pull_requests"] += 1

    def comments(self) -> Iterator[Event]:
        """Comments on pull requests: by their own number, or by that of the issue that a pull request also is."""
        needed = ["id", "user_id", "created_at", "pull_request_id"]
        others = ["issue_id", "review_id", "comment_type", "body", "path"]
        for key, user, at, of, issue, review, comment_type, body, path in self.rows("comments", needed, others):
            if at is None:
                self.left_out["comments without created_at"] += 1
                continue
            self.reading.reaches(at)
            if pull := self.pulls.get(of if of is not None else self.by_issue.get(issue)):
                on_code = review is not None or comment_type in ("review", "review_comment", "diff")
                kind = "review_comment" if on_code else "comment"
                who, files = self.people.get(user, _UNKNOWN), (path,) if path else None
                yield Event(pull.repo, pull.number, at, kind, *who, _identity(key), body=body, files=files)

    # Tables

    def pull_requests(self) -> Iterator[_PullRequest]:
        needed = ["id", "repo_id", "number", "created_at", "user_id"]
        others = ["issue_id", "title", "body", "base_sha", "head_sha", "merged_at", "closed_at"]
        for key, repo_id, number, opened, author, *fields in self.rows("pull_requests", needed, others):
            if repo_id not in self.repos:
                self.left_out["pull_requests of a repository that is not in repos"] += 1
                continue
            if type(number) is not int or number < 0:
                self.refuse("pull_requests", key, "number", "a whole number", number)
            person = self.people.get(author, _UNKNOWN)
            yield _PullRequest(key, self.repos[repo_id], number, opened, person, *fields)

    def read_events(self) -> None:
        """Each change of a pull request's state happens once at an instant."""
        needed, others = ["id", "occurred_at", "event_type", "subject_id"], ["subject_type", "actor_id"]
        seen = set()
        kinds = _STATES | _DRAFTS
        for key, at, event_type, subject, subject_type, actor in self.rows("events", needed, others):
            self.reading.reaches(at)
            type_ = event_type if type(event_type) is str else ""
            self.by_event[key] = start = _TableEvent(at, _identity(key), self.people.get(actor, _UNKNOWN), type_)
            kind = kinds.get(type_)
            pull = self.by_issue.get(subject) if subject_type == "issue" else subject
            if kind and pull in self.pulls and (pull, kind, at) not in seen:
                seen.add((pull, kind, at))
                self.changes[pull][kind].append(start)

    def intervals(self, table: str, owner: str, columns: list[str]) -> dict[Any, list[Interval]]:
        """The intervals of each owner, in order of their beginning."""
        found: dict[Any, list[Interval]] = defaultdict(list)
        for _, of, start_id, *values in self.optional_rows(table, ["id", owner, "start_event_id", *columns]):
            if start := self.by_event.get(start_id):
                found[of].append((start, tuple(values)))
            else:
                self.left_out[f"{table} whose start_event_id is not in events"] += 1
        for rows in found.values():
            rows.sort(key=lambda interval: interval[0][:2])
        return found

    def changed_files(self) -> dict[tuple[Any, Any], tuple[str, ...]]:
        """The paths of each head of a pull request."""
        paths: dict[tuple[Any, Any], set[str]] = defaultdict(set)
        for pull, sha, path in self.optional_rows("pull_request_files", ["pull_request_id", "head_sha", "path"]):
            if path:
                paths[pull, sha].add(intern(path))
        return {head: tuple(sorted(of_head)) for head, of_head in paths.items()}

    # Rows

    def optional_rows(self, table: str, needed: Sequence[str], others: Sequence[str] = ()) -> Iterator[Row]:
        """`rows`; none where the table is absent."""
        return self.rows(table, needed, others) if table in self.database.columns else iter(())

    def rows(self, table: str, needed: Sequence[str], others: Sequence[str] = ()) -> Iterator[Row]:
        """The rows of a table; texts are checked, times are nanoseconds."""
        names = (*needed, *others)
        for rows in self.database.batches(table, needed, others):
            columns: list[Sequence[Any]] = list(zip(*rows, strict=True))
            for place, name in enumerate(names):
                if name in _TYPES:
                    columns[place] = self.column(table, name, columns[0], columns[place])
            yield from zip(*columns, strict=True)

    def column(self, table: str, name: str, keys: Sequence[Any], values: Sequence[Any]) -> list[Any]:
        expected, read = _TYPES[name]
        found = []
        for key, value in zip(keys, values, strict=True):
            try:
                found.append(None if value is None and (table, name) not in _REQUIRED else read(value))
            except ValueError:
                self.refuse(table, key, name, expected, value)
        return found

    def refuse(self, table: str, key: object, column: str, expected: str, value: object) -> NoReturn:
        found = repr(value) if len(repr(value)) < 40 else type(value).__name__
        problem = f"table {table}, row {key}: {column} must be {expected}, found {found}"
        raise InputError(problem, file=self.database.file.name, fix="Correct the row, or run the ingestion again.")

    def warn(self, text: str) -> None:
        self.reading.warnings.append(f"{self.database.file.name}: {text}")


def _at_opening(intervals: Sequence[Interval], pull: _PullRequest) -> tuple[tuple[Any, ...] | None, list[Interval]]:
    """The values when the pull request was opened, if known, and the later intervals."""
    later = [interval for interval in intervals if interval[0].at > pull.opened]
    number = len(intervals) - len(later)
    return intervals[number - 1][1] if number else None, later


def _identity(key: object) -> str:
    """The number as text that sorts as numbers do: GitHub's have ten digits, or more."""
    return f"{key:010d}" if type(key) is int else str(key)


PLUGIN = HistoryFormat.of_events("the routing harness's history.sqlite, or a folder of them", sniff, events)
