"""Enough of GitHub's API over real HTTP, in a thread: GraphQL with pages and cursors, REST for what commits changed.

    with GitHubServer(repository) as server:
        server.environment()  # what a command needs to find it

A repository is plain data: `{"nameWithOwner": …, "pullRequests": [{…}]}`, where a list is a connection if the schema
below says so. Queries are parsed and checked against the schema, so that a field that GitHub does not have is refused
here too. `script` may answer a request instead, to misbehave. Run as a program, it serves the repository that
docs/github.md is about, and prints what to set: `python tests/github_server.py`.
"""

from __future__ import annotations

import base64
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from scripted_server import Exchange, Reply, ScriptedServer

TOKEN = "ghp_test0123456789verysecretindeed"
_LEXEME = re.compile(r'"[^"]*"|\$\w+|\.\.\.|[A-Za-z_]\w*|\d+|[{}()\[\]:,!]')

ACTOR = {"login": None}
EVENT = {"id": None, "createdAt": None, "actor": "Actor"}
# By type: fields, each with the type of its objects; ["T"] is a connection of them, ("T",) a plain list.
SCHEMA: dict[str, dict[str, object]] = {
    "Query": {"rateLimit": "RateLimit", "repository": "Repository", "node": "Node"},
    "RateLimit": dict.fromkeys(("limit", "remaining", "resetAt", "cost")),
    "Repository": {"nameWithOwner": None, "pullRequest": "PullRequest", "pullRequests": ["PullRequest"]},
    "Node": {"id": None},
    "Actor": ACTOR, "User": ACTOR, "Bot": ACTOR, "Mannequin": ACTOR,
    "Team": {"combinedSlug": None},
    "PullRequest": {
        **dict.fromkeys(("id", "number", "url", "createdAt", "mergedAt", "closedAt", "title", "body", "isDraft")),
        **dict.fromkeys(("baseRefOid", "includesCreatedEdit")),
        "author": "Actor", "reviewThreads": ["PullRequestReviewThread"], "reviews": ["PullRequestReview"],
        "comments": ["IssueComment"], "commits": ["PullRequestCommit"], "files": ["PullRequestChangedFile"],
        "userContentEdits": ["UserContentEdit"], "timelineItems": ["PullRequestTimelineItems"],
    },
    "PullRequestReviewThread": {
        **dict.fromkeys(("id", "isResolved", "isOutdated", "path", "line", "startLine", "originalLine", "diffSide")),
        **dict.fromkeys(("originalStartLine", "subjectType")),
        "comments": ["PullRequestReviewComment"],
    },
    "PullRequestReviewComment": {
        **dict.fromkeys(("id", "url", "body", "createdAt", "publishedAt", "state", "outdated")),
        "author": "Actor", "commit": "Commit", "originalCommit": "Commit", "replyTo": "PullRequestReviewComment",
        "reactionGroups": ("ReactionGroup",),
    },
    "PullRequestReview": {
        **dict.fromkeys(("id", "url", "body", "state", "submittedAt")),
        "author": "Actor", "commit": "Commit", "reactionGroups": ("ReactionGroup",),
    },
    "IssueComment": {
        **dict.fromkeys(("id", "url", "body", "createdAt")), "author": "Actor", "reactionGroups": ("ReactionGroup",),
    },
    "ReactionGroup": {"content": None, "reactors": "ReactorConnection"},
    "ReactorConnection": {"totalCount": None},
    "PullRequestCommit": {"id": None, "commit": "Commit"},
    "Commit": {"oid": None, "committedDate": None, "author": "GitActor", "parents": ["Commit"]},
    "GitActor": {"name": None, "user": "User"},
    "PullRequestChangedFile": {"path": None},
    "UserContentEdit": {"id": None, "editedAt": None, "diff": None, "editor": "Actor"},
    "PullRequestTimelineItems": {},
    **dict.fromkeys(("ReadyForReviewEvent", "ConvertToDraftEvent", "HeadRefForcePushedEvent"), EVENT),
    **dict.fromkeys(("MergedEvent", "ClosedEvent", "ReopenedEvent"), EVENT),
    "ReviewRequestedEvent": {**EVENT, "requestedReviewer": "RequestedReviewer"},
    "ReviewRequestRemovedEvent": {**EVENT, "requestedReviewer": "RequestedReviewer"},
    "RequestedReviewer": {},
    "RenamedTitleEvent": {**EVENT, "previousTitle": None, "currentTitle": None},
    "ReviewDismissedEvent": {**EVENT, "previousReviewState": None, "review": "PullRequestReview"},
}  # fmt: skip
_ACTORS = ("User", "Bot", "Mannequin", "Organization")


@dataclass(frozen=True)
class Selected:
    """A field of a query, or a fragment (`on`) with fields of its own."""

    name: str
    alias: str = ""
    arguments: dict = field(default_factory=dict)
    inner: tuple[Selected, ...] = ()
    on: str = ""


class Invalid(Exception):
    pass


class Query:
    """A parser of the part of GraphQL that is used here."""

    def __init__(self, text: str) -> None:
        self._lexemes = _LEXEME.findall(text)
        self._at = 0
        self.fragments: dict[str, tuple[Selected, ...]] = {}
        self.selected: tuple[Selected, ...] = ()
        while self._at < len(self._lexemes):
            if self._next() == "fragment":
                name = self._next()
                self._take("on")
                self._next()
                self.fragments[name] = self._set()
            else:
                if self._peek() == "(":
                    self._skip_variables()
                self.selected = self._set()

    def _peek(self) -> str:
        return self._lexemes[self._at] if self._at < len(self._lexemes) else ""

    def _next(self) -> str:
        self._at += 1
        return self._lexemes[self._at - 1]

    def _take(self, wanted: str) -> None:
        found = self._next()
        if found != wanted:
            raise Invalid(f"expected {wanted}, found {found}")

    def _skip_variables(self) -> None:
        while self._next() != ")":
            pass

    def _set(self) -> tuple[Selected, ...]:
        self._take("{")
        found = []
        while self._peek() != "}":
            found.append(self._selected())
        self._take("}")
        return tuple(found)

    def _selected(self) -> Selected:
        name = self._next()
        if name == "...":
            if self._peek() == "on":
                self._next()
                kind = self._next()
                return Selected("", on=kind, inner=self._set())
            return Selected(self._next(), on="*")
        alias = name
        if self._peek() == ":":
            self._next()
            name = self._next()
        arguments = {}
        if self._peek() == "(":
            self._next()
            while self._peek() != ")":
                key = self._next()
                self._take(":")
                arguments[key] = self._value()
                if self._peek() == ",":
                    self._next()
            self._next()
        return Selected(name, alias, arguments, self._set() if self._peek() == "{" else ())

    def _value(self) -> object:
        found = self._next()
        if found == "[":
            items = []
            while self._peek() != "]":
                items.append(self._value())
                if self._peek() == ",":
                    self._next()
            self._next()
            return items
        if found == "{":
            fields = {}
            while self._peek() != "}":
                key = self._next()
                self._take(":")
                fields[key] = self._value()
                if self._peek() == ",":
                    self._next()
            self._next()
            return fields
        return int(found) if found.isdigit() else found


class GitHubServer(ScriptedServer):
    """Serves until the `with` block ends. `log` has every request.

    `patches` are the files of commits by hash, `commits` the rest of what REST tells of them; without files, a commit
    is not there. `largest_page` is the most nodes of a page, whatever is asked for.
    """

    def __init__(
        self,
        *repositories: dict,
        patches: dict[str, list[dict]] | None = None,
        commits: dict[str, dict] | None = None,
        script: Callable[[Exchange], Reply | None] = lambda exchange: None,
        largest_page: int = 100,
        latency: float = 0.0,
    ) -> None:
        self.repositories = {each["nameWithOwner"].casefold(): each for each in repositories}
        self.patches = patches or {}
        self.commits = commits or {}
        super().__init__(script, latency)
        self.largest_page = largest_page
        self.remaining = 5_000
        self.resets_at = "2030-01-01T00:00:00Z"
        self._nodes = {}
        for repository in repositories:
            for pull in repository["pullRequests"]:
                self._nodes[pull["id"]] = ("PullRequest", pull)
                for thread in pull.get("reviewThreads", ()):
                    self._nodes[thread["id"]] = ("PullRequestReviewThread", thread)
        self._numbered = {
            name: {pull["number"]: pull for pull in each["pullRequests"]} for name, each in self.repositories.items()
        }

    def environment(self, token: str = TOKEN) -> dict[str, str]:
        return {"GITHUB_API_URL": self.url, "GITHUB_GRAPHQL_URL": f"{self.url}/graphql", "GITHUB_TOKEN": token}

    def _reply(self, exchange: Exchange) -> Reply:
        if not exchange.headers.get("authorization", "").startswith("Bearer "):
            return Reply(401, {"message": "Bad credentials"})
        if exchange.path.endswith("/graphql"):
            return self._graphql(exchange.body)
        return self._rest(exchange.path)

    def _rest(self, path: str) -> Reply:
        parts = urlsplit(path)
        if found := re.fullmatch(r"(?:/api/v3)?/repos/[^/]+/[^/]+/compare/(\w+)\.\.\.(\w+)", parts.path):
            return self._compared(found[1], found[2])
        found = re.fullmatch(r"(?:/api/v3)?/repos/[^/]+/[^/]+/commits/(\w+)", parts.path)
        if not found or found[1] not in self.patches:
            return Reply(404, {"message": "Not Found"})
        files = self.patches[found[1]]
        page = int(parse_qs(parts.query).get("page", ["1"])[0])
        size = min(self.largest_page, 300)
        headers = {}
        if page * size < len(files):
            headers["link"] = f'<https://elsewhere.example{parts.path}?page={page + 1}>; rel="next"'
        known = {"sha": found[1], **self.commits.get(found[1], {})}
        return Reply(200, {**known, "files": files[(page - 1) * size : page * size]}, headers)

    def _compared(self, base: str, head: str) -> Reply:
        """What `head` has more than `base`, oldest first."""
        if not {base, head} <= set(self.commits):
            return Reply(404, {"message": "Not Found"})
        more = [sha for sha in self._history(head) if sha not in set(self._history(base))]
        return Reply(200, {"status": "diverged", "commits": [{"sha": sha} for sha in reversed(more)], "files": []})

    def _history(self, sha: str) -> list[str]:
        found = [sha]
        for each in found:
            parents = [parent["sha"] for parent in self.commits.get(each, {}).get("parents", ())]
            found += [parent for parent in parents if parent not in found]
        return found

    def _graphql(self, body: dict) -> Reply:
        errors: list[dict] = []
        self.remaining -= 1
        try:
            query = Query(body["query"])
            data = self._object("Query", {}, query.selected, query.fragments, body.get("variables", {}), [], errors)
        except Invalid as problem:
            return Reply(200, {"errors": [{"message": str(problem), "extensions": {"code": "undefinedField"}}]})
        return Reply(200, {"data": data, **({"errors": errors} if errors else {})})

    def _object(self, kind, value, selected, fragments, variables, path, errors):
        found = {}
        for each in selected:
            if each.on == "*":
                found |= self._object(kind, value, fragments[each.name], fragments, variables, path, errors)
            elif each.on:
                self._check_known(each.on, each, fragments)
                actual = value.get("__typename", kind)
                if each.on in (kind, actual) or (each.on == "Actor" and actual in _ACTORS):
                    found |= self._object(each.on, value, each.inner, fragments, variables, path, errors)
            elif each.name == "__typename":
                found["__typename"] = value.get("__typename", kind)
            else:
                where = [*path, each.alias]
                found[each.alias] = self._field(kind, value, each, fragments, variables, where, errors)
        return found

    def _check_known(self, kind, each, fragments):
        """A fragment's fields exist, whether or not any node is of its type."""
        if kind not in SCHEMA:
            raise Invalid(f"No such type {kind}")
        for inner in each.inner:
            if not inner.on and inner.name != "__typename" and inner.name not in SCHEMA[kind]:
                raise Invalid(f"Field '{inner.name}' doesn't exist on type '{kind}'")

    def _field(self, kind, value, each, fragments, variables, path, errors):
        if each.name not in SCHEMA[kind]:
            raise Invalid(f"Field '{each.name}' doesn't exist on type '{kind}'")
        arguments = {
            name: variables.get(given[1:]) if isinstance(given, str) and given.startswith("$") else given
            for name, given in each.arguments.items()
        }
        inner = SCHEMA[kind][each.name]
        if kind == "Query":
            inner, child = self._root(each.name, arguments)
        elif each.name == "pullRequest":
            child = self._numbered[value["nameWithOwner"].casefold()].get(arguments["number"])
        else:
            child = value.get(each.name)
        if child is None:
            if each.name in ("repository", "pullRequest", "node"):
                errors.append({"type": "NOT_FOUND", "path": path, "message": "Could not resolve"})
            return [] if isinstance(inner, tuple) else self._page([], each, arguments)[0] if (
                isinstance(inner, list) and each.name not in value) else None  # fmt: skip
        if inner is None:
            return child

        def whole(item, at):
            return self._object(at, item, each.inner, fragments, variables, path, errors)

        if isinstance(inner, tuple):
            return [whole(item, inner[0]) for item in child]
        if isinstance(inner, list):
            connection, nodes = self._page(child, each, arguments)
            fields = next((part.inner for part in each.inner if part.name == "nodes"), ())
            kinds = inner[0]
            connection["nodes"] = [
                node and self._object(kinds, node, fields, fragments, variables, [*path, "nodes", i], errors)
                for i, node in enumerate(nodes)
            ]
            return connection
        return whole(child, inner)

    def _root(self, name, arguments):
        if name == "rateLimit":
            limit = {"limit": 5_000, "remaining": self.remaining, "resetAt": self.resets_at, "cost": 1}
            return "RateLimit", limit
        if name == "node":
            return self._nodes.get(arguments["id"], ("Node", None))
        return "Repository", self.repositories.get(f"{arguments['owner']}/{arguments['name']}".casefold())

    def _page(self, items, each, arguments):
        """The page of a list that is asked for, with where the next begins."""
        first = arguments.get("first")
        if not isinstance(first, int) or not 1 <= first <= 100:
            raise Invalid(f"You must provide a `first` value of 1 to 100 on {each.name}")
        if "orderBy" in arguments:
            assert arguments["orderBy"] == {"field": "CREATED_AT", "direction": "DESC"}
            items = sorted(items, key=lambda item: (item["createdAt"], item["number"]), reverse=True)
        if "itemTypes" in arguments:
            wanted = {item.replace("_", "").casefold() for item in arguments["itemTypes"]}
            items = [item for item in items if item["__typename"].casefold() in wanted]
        after = arguments.get("after")
        start = int(base64.b64decode(after).decode().partition(":")[2]) if after else 0
        end = start + min(first, self.largest_page)
        cursor = base64.b64encode(f"cursor:{end}".encode()).decode()
        page = {"pageInfo": {"hasNextPage": end < len(items), "endCursor": cursor}, "nodes": []}
        return page, items[start:end]


if __name__ == "__main__":
    from github_data import sample_server

    with sample_server() as running:
        print("\n".join(f"export {name}={value}" for name, value in running.environment().items()), flush=True)
        threading.Event().wait()
