"""GraphQL queries as data: connections with the fields of their nodes, page by page at every level.

Cost: GitHub counts a point for a hundred connections that a query may open, at the page sizes in it, so
outer pages are small. Comments have their numbers in their addresses alone, since `databaseId` ends at 32 bits and
older servers have no other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

LIMIT = "rateLimit { limit remaining resetAt cost }"
_ACTOR = "{ __typename login }"
_REACTIONS = "reactionGroups { content reactors { totalCount } }"
_SMALLEST_PAGE = 3


@dataclass(frozen=True, slots=True)
class Connection:
    """A list that comes in pages: where it hangs, its name, and the fields of its nodes."""

    parent: str
    """The GraphQL type that has it."""
    name: str
    first: int
    """Nodes per page."""
    fields: str
    arguments: str = ""
    inner: tuple[Connection, ...] = ()
    """Connections of its nodes, whose fields then have an `id`."""

    def selection(self, scale: int, after: str = "") -> str:
        """The part of a query for one page; every step of `scale` halves the page."""
        size = max(_SMALLEST_PAGE, self.first >> scale)
        arguments = ", ".join(part for part in (f"first: {size}", after, self.arguments) if part)
        inside = " ".join([self.fields, *(each.selection(scale) for each in self.inner)])
        return f"{self.name}({arguments}) {{ pageInfo {{ hasNextPage endCursor }} nodes {{ {inside} }} }}"

    def further(self, scale: int) -> str:
        """The query for the page after `$after` of the node `$id`."""
        page = self.selection(scale, "after: $after")
        return f"query($id: ID!, $after: String) {{ {LIMIT} node(id: $id) {{ ... on {self.parent} {{ {page} }} }} }}"


@dataclass(frozen=True, slots=True)
class PullRequestQuery:
    """A query for whole pull requests: their fields and lists."""

    fields: str
    connections: tuple[Connection, ...]
    batch: int
    """Pull requests per query."""

    def query(self, numbers: Iterable[int], scale: int) -> str:
        parts = " ".join(f"p{number}: pullRequest(number: {number}) {{ ...Whole }}" for number in numbers)
        inside = " ".join([self.fields, *(each.selection(scale) for each in self.connections)])
        return (
            f"query($owner: String!, $name: String!) {{ {LIMIT} "
            f"repository(owner: $owner, name: $name) {{ nameWithOwner {parts} }} }} "
            f"fragment Whole on PullRequest {{ {inside} }}"
        )


LISTING_PAGE = 100


def listing(scale: int) -> str:
    """Numbers and times of pull requests, the latest first."""
    size = max(_SMALLEST_PAGE, LISTING_PAGE >> scale)
    return (
        f"query($owner: String!, $name: String!, $after: String) {{ {LIMIT} "
        "repository(owner: $owner, name: $name) { nameWithOwner "
        f"pullRequests(first: {size}, after: $after, orderBy: {{field: CREATED_AT, direction: DESC}}) "
        "{ pageInfo { hasNextPage endCursor } nodes { number createdAt } } } }"
    )


_BASICS = f"id number url createdAt mergedAt closedAt author {_ACTOR}"

COMMENTS = PullRequestQuery(
    _BASICS,
    (
        Connection(
            "PullRequest",
            "reviewThreads",
            20,
            "id isResolved isOutdated path line startLine originalLine originalStartLine diffSide subjectType",
            inner=(
                Connection(
                    "PullRequestReviewThread",
                    "comments",
                    10,
                    f"id url author {_ACTOR} body createdAt state commit {{ oid }} originalCommit {{ oid }} "
                    f"replyTo {{ url }} {_REACTIONS}",
                ),
            ),
        ),
        Connection(
            "PullRequest", "reviews", 20, f"id url author {_ACTOR} body state submittedAt commit {{ oid }} {_REACTIONS}"
        ),
        Connection("PullRequest", "comments", 20, f"id url author {_ACTOR} body createdAt {_REACTIONS}"),
        Connection(
            "PullRequest",
            "commits",
            30,
            # Ten parents are enough to tell a merge from other commits.
            "commit { oid committedDate author { name user { login } } parents(first: 10) { nodes { oid } } }",
        ),
    ),
    batch=10,
)

_EVENT = f"id createdAt actor {_ACTOR}"
_SIMPLE_EVENTS = {
    "ReadyForReviewEvent": "READY_FOR_REVIEW_EVENT",
    "ConvertToDraftEvent": "CONVERT_TO_DRAFT_EVENT",
    "MergedEvent": "MERGED_EVENT",
    "ClosedEvent": "CLOSED_EVENT",
    "ReopenedEvent": "REOPENED_EVENT",
    "HeadRefForcePushedEvent": "HEAD_REF_FORCE_PUSHED_EVENT",
}


def _timeline(teams: bool) -> Connection:
    team = " ... on Team { combinedSlug }" if teams else ""
    reviewer = f"requestedReviewer {{ __typename ... on Actor {{ login }}{team} }}"
    items = {
        **{kind: ("", item) for kind, item in _SIMPLE_EVENTS.items()},
        "ReviewRequestedEvent": (reviewer, "REVIEW_REQUESTED_EVENT"),
        "ReviewRequestRemovedEvent": (reviewer, "REVIEW_REQUEST_REMOVED_EVENT"),
        "RenamedTitleEvent": ("previousTitle currentTitle", "RENAMED_TITLE_EVENT"),
        "ReviewDismissedEvent": ("previousReviewState review { id }", "REVIEW_DISMISSED_EVENT"),
    }
    parts = [f"... on {kind} {{ {_EVENT} {fields} }}" for kind, (fields, _) in items.items()]
    parts += [
        f"... on PullRequestReview {{ id url author {_ACTOR} body state submittedAt }}",
        f"... on IssueComment {{ id url author {_ACTOR} body createdAt }}",
        "... on PullRequestCommit { id commit { oid committedDate author { user { __typename login } } } }",
    ]
    kinds = [*(item for _, item in items.values()), "PULL_REQUEST_REVIEW", "ISSUE_COMMENT", "PULL_REQUEST_COMMIT"]
    wanted = f"itemTypes: [{', '.join(kinds)}]"
    return Connection("PullRequest", "timelineItems", 50, " ".join(["__typename", *parts]), wanted)


def history(teams: bool) -> PullRequestQuery:
    """With the names of teams that a review was requested of, which not every token may read, or without."""
    return PullRequestQuery(
        f"{_BASICS} title body includesCreatedEdit isDraft baseRefOid",
        (
            Connection("PullRequest", "files", 50, "path"),
            Connection("PullRequest", "userContentEdits", 10, f"id editedAt diff editor {_ACTOR}"),
            _timeline(teams),
            Connection(
                "PullRequest",
                "reviewThreads",
                20,
                "id",
                inner=(
                    Connection(
                        "PullRequestReviewThread",
                        "comments",
                        20,
                        f"id url author {_ACTOR} body createdAt publishedAt state",
                    ),
                ),
            ),
        ),
        batch=10,
    )
