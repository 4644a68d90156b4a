"""`sqlite`: the tables of the routing harness (repos, users, pull_requests, reviews, comments, events, intervals).

A pull request opens at its `created_at`. Reviews and comments are rows of their own tables; merges, closings and
reopenings are rows of `events`. What held for a while is in intervals from one event to another, and becomes an event
where it begins: another head `pushed`, another text `edited`, a draft `ready_for_review` or a pull request
`converted_to_draft`, a review `review_requested` and, where the interval ends, `review_request_removed`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from operator import itemgetter
from sys import intern
from typing import Any, NamedTuple, NoReturn

from metareview.errors import InputError
from metareview.formats.database import MAGIC, Database, open_database
from metareview.formats.input_file import InputFile
from metareview.formats.protocol import HistoryContext, HistoryFormat
from metareview.model.event import Event
from metareview.model.time import LATEST, parse_time
from metareview.model.words import plural

_KINDS = {
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
"""A gap in one of these hides nobody's response."""


class _Person(NamedTuple):
    login: str | None
    type: str | None


class _Happening(NamedTuple):
    """A row of `events`, for whatever points to it."""

    at: int
    actor: _Person
    type: str


class _PullRequest(NamedTuple):
    repo: str
    number: int
    opened: int


_NOBODY = _Person(None, None)
Intervals = dict[Any, list[tuple[int, int, _Happening, tuple[Any, ...]]]]


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
        rows = database.rows
        self.repos = {
            key: self.text("repos", key, "full_name", name) or "/".join((owner or "", own or ""))
            for key, name, owner, own in rows("repos", ["id"], ["full_name", "owner_login", "name"])
        }
        self.people = {
            key: _Person(
                intern((self.text("users", key, "login", login) or "").strip()) or None,
                self.text("users", key, "type", kind),
            )
            for key, login, kind in rows("users", ["id", "login"], ["type"])
        }
        self.happenings: dict[Any, _Happening] = {}
        self.of_issue: dict[Any, Any] = {}
        self.pulls: dict[Any, _PullRequest] = {}

    def events(self) -> Iterator[Event]:
        pull_requests = self.read_pull_requests()
        state_changes = self.read_happenings()
        drafts = self.intervals("pull_request_draft_intervals", "pull_request_id", ["is_draft"])
        heads = self.intervals("pull_request_head_intervals", "pull_request_id", ["head_sha"])
        contents = self.intervals("issue_content_intervals", "issue_id", ["title", "body"])
        files = self.read_files()
        untold = 0
        for key, issue, title, body, base_sha, head_sha, author, merged_at, closed_at in pull_requests:
            pull = self.pulls[key]
            own = state_changes.get(key, {})
            for kind, at in (("merged", merged_at), ("closed", closed_at)):
                if at is not None and kind not in own:
                    yield Event(pull.repo, pull.number, self.instant("pull_requests", key, f"{kind}_at", at), kind)
            draft, of_drafts = self.drafts_of(pull, drafts.get(key, []))
            if key in drafts:
                own = {kind: rows for kind, rows in own.items() if kind not in _DRAFTS.values()}
            for kind, rows_of_kind in own.items():
                for number, happening in rows_of_kind:
                    yield self.event(pull, happening, kind, number)
            yield from of_drafts
            before, later = _split(contents.get(issue, []) if issue is not None else [], pull.opened)
            if before is not None or later:
                title, body = (before[3][0] or "", before[3][1] or "") if before else (None, None)
            for _, number, happening, (new_title, new_body) in later:
                yield self.event(pull, happening, "edited", number, title=new_title or "", body=new_body or "")
            before, later = _split(heads.get(key, []), pull.opened)
            if before is not None or later:
                head_sha = before[3][0] if before else None
            elif files.get((key, head_sha)):
                untold += 1
            for _, number, happening, (sha,) in later:
                yield self.event(pull, happening, "pushed", number, files=files.get((key, sha)))
            yield Event(
                pull.repo,
                pull.number,
                pull.opened,
                "opened",
                *self.people.get(author, _NOBODY),
                title=self.text("pull_requests", key, "title", title),
                body=self.text("pull_requests", key, "body", body),
                files=files.get((key, head_sha)),
                draft=draft,
                base_sha=self.text("pull_requests", key, "base_sha", base_sha),
            )
        yield from self.read_requests()
        yield from self.read_reviews()
        yield from self.read_comments()
        if untold:
            what = plural(untold, "pull request")
            self.warn(f"{what} without head intervals: the files are those of the last head, whenever it was pushed")
        for why, count in self.left_out.items():
            self.warn(f"{plural(count, 'row')} left out: {why}")
        self.read_gaps()

    def read_pull_requests(self) -> list[tuple[Any, ...]]:
        needed = ["id", "repo_id", "number", "created_at", "user_id"]
        others = ["issue_id", "title", "body", "base_sha", "head_sha", "merged_at", "closed_at"]
        kept = []
        for row in self.database.rows("pull_requests", needed, others):
            key, repo_id, number, created, author, issue, title, body, base_sha, head_sha, merged, closed = row
            repo = self.repos.get(repo_id)
            if repo is None:
                self.left_out["pull_requests of a repository that is not in repos"] += 1
                continue
            if type(number) is not int or number < 0:
                self.refuse("pull_requests", key, "number", "a whole number", number)
            self.pulls[key] = _PullRequest(repo, number, self.instant("pull_requests", key, "created_at", created))
            if issue is not None:
                self.of_issue[issue] = key
            kept.append((key, issue, title, body, base_sha, head_sha, author, merged, closed))
        return kept

    def read_happenings(self) -> dict[Any, dict[str, list[tuple[Any, _Happening]]]]:
        """By pull request and kind, the events that are rows of `events`; each happens once at an instant."""
        needed, others = ["id", "occurred_at", "event_type", "subject_id"], ["subject_type", "actor_id"]
        changes: dict[Any, dict[str, list[tuple[Any, _Happening]]]] = defaultdict(lambda: defaultdict(list))
        seen = set()
        kinds = _KINDS | _DRAFTS
        for key, occurred_at, kind, subject, of_type, actor in self.database.rows("events", needed, others):
            at = self.instant("events", key, "occurred_at", occurred_at)
            happening = _Happening(at, self.people.get(actor, _NOBODY), kind if type(kind) is str else "")
            self.happenings[key] = happening
            ours = kinds.get(happening.type)
            pull = self.of_issue.get(subject) if of_type == "issue" else subject
            if ours and pull in self.pulls and (pull, ours, at) not in seen:
                seen.add((pull, ours, at))
                changes[pull][ours].append((key, happening))
        return changes

    def intervals(self, table: str, owner: str, columns: list[str]) -> Intervals:
        """By owner, the intervals in order of their beginning, each with its number, its first event and its values."""
        if table not in self.database.columns:
            return {}
        found: Intervals = defaultdict(list)
        for key, of, start, *values in self.database.rows(table, ["id", owner, "start_event_id", *columns]):
            happening = self.happenings.get(start)
            if happening is None:
                self.left_out[f"{table} whose start_event_id is not in events"] += 1
                continue
            number = start if type(start) is int else 0
            for name, value in zip(columns, values, strict=True):
                if name != "is_draft":
                    self.text(table, key, name, value)
            found[of].append((happening.at, number, happening, tuple(values)))
        for rows in found.values():
            rows.sort(key=itemgetter(0, 1))
        return found

    def drafts_of(self, pull: _PullRequest, intervals: list[Any]) -> tuple[bool | None, list[Event]]:
        """Whether it was a draft when it was opened (None: not known), and how that changed."""
        before, later = _split(intervals, pull.opened)
        state = at_first = None if before is None else bool(before[3][0])
        changes = []
        for _, number, happening, (is_draft,) in later:
            if bool(is_draft) != state:
                state = bool(is_draft)
                kind = "converted_to_draft" if state else "ready_for_review"
                changes.append(self.event(pull, happening, kind, number))
        return at_first, changes

    def read_files(self) -> dict[tuple[Any, Any], tuple[str, ...]]:
        """The paths of each head of a pull request."""
        table = "pull_request_files"
        if table not in self.database.columns:
            return {}
        paths: dict[tuple[Any, Any], set[str]] = defaultdict(set)
        for pull, sha, path in self.database.rows(table, ["pull_request_id", "head_sha", "path"]):
            if self.text(table, pull, "path", path):
                paths[pull, sha].add(intern(path))
        return {head: tuple(sorted(of_head)) for head, of_head in paths.items()}

    def read_requests(self) -> Iterator[Event]:
        table = "pull_request_review_request_intervals"
        if table not in self.database.columns:
            return
        of_team = self.database.rows("teams", ["id", "slug"]) if "teams" in self.database.columns else ()
        teams: dict[Any, Any] = dict(of_team)
        needed = ["id", "pull_request_id", "reviewer_type", "reviewer_id", "start_event_id", "end_event_id"]
        for key, of, reviewer_type, reviewer, start, end in self.database.rows(table, needed):
            pull = self.pulls.get(of)
            begun, ended = self.happenings.get(start), self.happenings.get(end)
            if pull is None or begun is None:
                self.left_out[f"{table} without a pull request or a start event"] += 1
                continue
            if str(reviewer_type).casefold() == "team":
                slug = self.text("teams", reviewer, "slug", teams.get(reviewer))
                target = f"{pull.repo.partition('/')[0]}/{slug}" if slug else None
            else:
                target = self.people.get(reviewer, _NOBODY).login
            yield self.event(pull, begun, "review_requested", f"{start}:{key}", target=target)
            if ended is not None and not ended.type.startswith("review."):  # Who has reviewed was not taken off.
                yield self.event(pull, ended, "review_request_removed", f"{end}:{key}", target=target)

    def read_reviews(self) -> Iterator[Event]:
        needed, others = ["id", "pull_request_id", "user_id", "submitted_at"], ["state", "body"]
        for key, of, user, submitted, state, body in self.database.rows("reviews", needed, others):
            pull = self.pulls.get(of)
            if submitted is None:  # It is not submitted yet.
                continue
            at = self.instant("reviews", key, "submitted_at", submitted)
            if pull is None:
                self.left_out["reviews of a pull request that is not in pull_requests"] += 1
                continue
            who = self.people.get(user, _NOBODY)
            state, body = self.text("reviews", key, "state", state), self.text("reviews", key, "body", body)
            yield Event(pull.repo, pull.number, at, "review_submitted", *who, _identity(key), state, body=body)

    def read_comments(self) -> Iterator[Event]:
        """Those on pull requests: by their own number, or by that of the issue that a pull request also is."""
        needed = ["id", "user_id", "created_at", "pull_request_id"]
        others = ["issue_id", "review_id", "comment_type", "body", "path"]
        for key, user, created, of, issue, review, kind, body, path in self.database.rows("comments", needed, others):
            pull = self.pulls.get(of if of is not None else self.of_issue.get(issue))
            if created is None:
                self.left_out["comments without created_at"] += 1
                continue
            at = self.instant("comments", key, "created_at", created)
            if pull is None:  # On an issue.
                continue
            on_code = review is not None or kind in ("review", "review_comment", "diff")
            path = self.text("comments", key, "path", path)
            yield Event(
                pull.repo,
                pull.number,
                at,
                "review_comment" if on_code else "comment",
                *self.people.get(user, _NOBODY),
                _identity(key),
                body=self.text("comments", key, "body", body),
                files=(path,) if path else None,
            )

    def read_gaps(self) -> None:
        """What the ingestion knows to be missing; where a response may be, nobody can say that there was none."""
        if "ingestion_gaps" not in self.database.columns:
            return
        for repo_id, resource in self.database.rows("ingestion_gaps", ["repo_id"], ["resource"]):
            name = "anything" if resource is None else str(resource)
            if repo_id in self.repos and name not in _NO_RESPONSES:
                self.reading.gaps.setdefault(self.repos[repo_id], set()).add(name)

    def event(self, pull: _PullRequest, happening: _Happening, kind: str, key: object, **fields: Any) -> Event:
        return Event(pull.repo, pull.number, happening.at, kind, *happening.actor, _identity(key), **fields)

    def instant(self, table: str, key: object, column: str, value: object) -> int:
        try:
            at = parse_time(value if type(value) is str else "")
        except ValueError:
            at = LATEST + 1
        if not -LATEST <= at <= LATEST:
            self.refuse(table, key, column, "a time", value)
        self.reading.reaches(at)
        return at

    def text(self, table: str, key: object, column: str, value: object) -> str | None:
        if value is not None and type(value) is not str:
            self.refuse(table, key, column, "text", value)
        return value if type(value) is str else None

    def refuse(self, table: str, key: object, column: str, expected: str, value: object) -> NoReturn:
        found = repr(value) if len(repr(value)) < 40 else type(value).__name__
        problem = f"table {table}, row {key}: {column} must be {expected}, found {found}"
        raise InputError(problem, file=self.database.file.name, fix="Correct the row, or run the ingestion again.")

    def warn(self, text: str) -> None:
        self.reading.warnings.append(f"{self.database.file.name}: {text}")


def _split(intervals: Iterable[Any], opened: int) -> tuple[Any, list[Any]]:
    """What held when a pull request was opened, and what came later; intervals come in order."""
    before, later = None, []
    for interval in intervals:
        if interval[0] <= opened:
            before = interval
        else:
            later.append(interval)
    return before, later


def _identity(key: object) -> str:
    """The number as text that sorts as numbers do: GitHub's have ten digits, or more."""
    return f"{key:010d}" if type(key) is int else str(key)


PLUGIN = HistoryFormat.of_events("the routing harness's history.sqlite, or a folder of them", sniff, events)
