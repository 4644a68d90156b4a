"""Enough of GitLab's REST API over real HTTP, and a project to serve: plain data, in the shapes that GitLab writes.

    with GitLabServer(project()) as server:
        server.environment()  # what a command needs to find it

A merge request is what `merge_requests/N` answers, with its `discussions` and `commits` (oldest first) added; they are
served at addresses of their own, in pages, and commits as GitLab has them there: the latest first, without parents.
"""

from __future__ import annotations

import re
from datetime import datetime
from urllib.parse import parse_qs, unquote, urlsplit

from scripted_server import Exchange, Reply, Script, ScriptedServer

TOKEN = "glpat-test0123456789verysecretindeed"
PATH = "group/sub/shop"
_SIMPLE = ("id", "iid", "project_id", "title", "description", "state", "created_at", "updated_at", "web_url")
_ROUTE = re.compile(r"/api/v4/projects/([^/]+)(?:/(.*))?")


class GitLabServer(ScriptedServer):
    """`largest_page` is the most items of a page, whatever is asked for; `next_page_header` a proxy may leave out."""

    def __init__(
        self,
        project: dict,
        script: Script = lambda exchange: None,
        *,
        largest_page: int = 100,
        latency: float = 0.0,
        next_page_header: bool = True,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(script, latency)
        self.project = project
        self.largest_page = largest_page
        self.next_page_header = next_page_header
        self.headers = headers or {}
        self._numbered = {each["iid"]: each for each in project["merge_requests"]}

    def environment(self, token: str = TOKEN) -> dict[str, str]:
        return {"GITLAB_HOST": self.url.partition("://")[2], "GITLAB_TOKEN": token}

    def _reply(self, exchange: Exchange) -> Reply:
        if exchange.method != "GET":
            return Reply(405, {"error": "405 Not Allowed"})
        if exchange.headers.get("private-token") != TOKEN:
            return Reply(401, {"message": "401 Unauthorized"})
        parts = urlsplit(exchange.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        route = _ROUTE.fullmatch(parts.path)
        if not route or unquote(route[1]) != self.project["path_with_namespace"]:
            return Reply(404, {"message": "404 Project Not Found"})
        found = self._found((route[2] or "").split("/"), query)
        if found is None:
            return Reply(404, {"message": "404 Not Found"})
        return self._page(found, parts.path, query) if isinstance(found, list) else Reply(200, found, self.headers)

    def _found(self, steps: list[str], query: dict[str, str]) -> dict | list | None:
        match steps:
            case [""]:
                return {"id": 1, "path_with_namespace": self.project["path_with_namespace"]}
            case ["merge_requests"]:
                return self._listed(query)
            case ["merge_requests", number]:
                one = self._numbered.get(int(number))
                return one and {name: value for name, value in one.items() if name not in ("discussions", "commits")}
            case ["merge_requests", number, "discussions"]:
                return self._numbered[int(number)]["discussions"]
            case ["merge_requests", number, "commits"]:
                listed = [self._commit(sha) for sha in reversed(self._numbered[int(number)]["commits"])]
                return [{**commit, "parent_ids": []} for commit in listed]
            case ["repository", "compare"] if {query["from"], query["to"]} <= set(self.project["commits"]):
                known = set(self._history(query["from"]))
                more = [sha for sha in reversed(self._history(query["to"])) if sha not in known]
                return {"commits": [self._commit(sha) for sha in more if sha in self.project["commits"]], "diffs": []}
            case ["repository", "commits", sha] if sha in self.project["commits"]:
                return self._commit(sha)
            case ["repository", "commits", sha, "diff"] if sha in self.project["commits"]:
                return self.project["commits"][sha]["diff"]
        return None

    def _history(self, sha: str) -> list[str]:
        found = [sha]
        for each in found:
            parents = self.project["commits"].get(each, {}).get("parent_ids", ())
            found += [parent for parent in parents if parent not in found]
        return found

    def _commit(self, sha: str) -> dict:
        return {name: value for name, value in self.project["commits"][sha].items() if name != "diff"}

    def _listed(self, query: dict[str, str]) -> list[dict]:
        assert (query["order_by"], query["sort"], query["state"]) == ("created_at", "asc", "all")
        first, last = (
            datetime.fromisoformat(query.get(name, default))
            for name, default in (("created_after", "1970-01-01T00:00Z"), ("created_before", "9999-01-01T00:00Z"))
        )
        chosen = [
            each
            for each in self.project["merge_requests"]
            if first <= datetime.fromisoformat(each["created_at"]) <= last
        ]
        chosen.sort(key=lambda each: each["created_at"])
        return [{name: each[name] for name in _SIMPLE if name in each} for each in chosen]

    def _page(self, items: list, path: str, query: dict[str, str]) -> Reply:
        number, size = int(query.get("page", 1)), min(int(query.get("per_page", 20)), self.largest_page)
        more = number * size < len(items)
        headers = dict(self.headers)
        if self.next_page_header:
            headers["x-next-page"] = str(number + 1) if more else ""
        if more:
            headers["link"] = f'<https://elsewhere.example{path}?page={number + 1}>; rel="next"'
        return Reply(200, items[(number - 1) * size : number * size], headers)


def note(number: int, author: str | None, body: str, at: str = "12:00", **more: object) -> dict:
    return {
        "id": number,
        "type": None,
        "body": body,
        "author": author and {"id": 1, "username": author, "state": "active"},
        "created_at": f"2026-03-02T{at}:00.000Z",
        "system": False,
        "noteable_type": "MergeRequest",
        "resolvable": False,
        **more,
    }


def on_line(line: int, head: str, path: str = "src/cart.py", **more: object) -> dict:
    """What a note on a line of the new file has more than others."""
    position = {"base_sha": "b0", "start_sha": "b0", "head_sha": head, "position_type": "text"}
    place = {"old_path": path, "new_path": path, "old_line": None, "new_line": line}
    return {"type": "DiffNote", "resolvable": True, "resolved": False, "position": position | place | more}


def discussion(*notes: dict) -> dict:
    return {"id": f"d{notes[0]['id']}", "individual_note": len(notes) == 1, "notes": list(notes)}


def merge_request(number: int, *discussions: dict, commits: tuple[str, ...] = (), **more: object) -> dict:
    return {
        "id": 1_000 + number,
        "iid": number,
        "title": f"Change {number}",
        "state": "opened",
        "created_at": f"2026-03-{number:02d}T09:00:00.000Z",
        "merged_at": None,
        "closed_at": None,
        "author": {"id": 2, "username": "ana"},
        "web_url": f"https://gitlab.example/{PATH}/-/merge_requests/{number}",
        "diff_refs": {"base_sha": "b0", "head_sha": commits[-1] if commits else "b0", "start_sha": "b0"},
        "discussions": list(discussions),
        "commits": list(commits),
        **more,
    }


def commit(sha: str, at: str, *diff: dict, parents: tuple[str, ...] = ("b0",)) -> dict:
    dates = {"created_at": f"2026-03-02T{at}:00.000+00:00", "committed_date": f"2026-03-02T{at}:00.000+00:00"}
    return {"id": sha, "author_name": "Ana Ng", "parent_ids": list(parents), "title": "x", **dates, "diff": list(diff)}


def changed(path: str, diff: str = "@@ -1 +1 @@\n-a\n+b\n", **more: object) -> dict:
    flags = {"new_file": False, "renamed_file": False, "deleted_file": False}
    return {"diff": diff, "new_path": path, "old_path": path, "a_mode": "100644", "b_mode": "100644", **flags, **more}


def project(*merge_requests: dict, commits: tuple[dict, ...] = ()) -> dict:
    return {
        "path_with_namespace": PATH,
        "merge_requests": list(merge_requests),
        "commits": {each["id"]: each for each in commits},
    }


def sample() -> dict:
    """Five merge requests: a thread that led to a change and one that is outdated, a bot, an approval without a word, a
    deleted account, system notes, a force push, and one on which nobody said anything.
    """
    return project(
        merge_request(
            1,
            discussion(
                note(11, "project_12_bot_9f", "The coupon is applied twice.", "10:00", **on_line(14, "c2")),
                note(14, "ana", "Good catch.", "10:40", **on_line(14, "c2")),
            ),
            discussion(note(12, "ben", "Name it.", "10:10", **on_line(3, "c1"))),
            discussion(note(13, None, "Please split this.", "10:05")),
            discussion(note(15, "chloe", "approved this merge request", "11:00", system=True)),
            discussion(note(16, "ana", "added 1 commit", "10:50", system=True)),
            commits=("c1", "c2"),
            state="merged",
            merged_at="2026-03-02T12:00:00.000Z",
        ),
        merge_request(
            2, discussion(note(21, "ben", "   ")), discussion(note(22, "ben", "assigned to @ben", system=True))
        ),
        merge_request(
            3,
            discussion(note(31, "ben", "Off by one.", "09:30", **on_line(7, "gone", path="src/tax.py"))),
            commits=("c3", "c4"),
            closed_at="2026-03-05T12:00:00.000Z",
        ),
        merge_request(4, discussion(note(41, "chloe", "Why?", "09:00")), author=None),
        merge_request(5),
        commits=(
            commit("c1", "09:00", changed("src/cart.py")),
            commit("c2", "10:45", changed("src/cart.py"), parents=("c1",)),
            commit("c3", "09:10", changed("src/tax.py"), changed("logo.png", "Binary files a/l and b/l differ\n")),
            commit(
                "c4",
                "09:20",
                changed("src/new.py", new_file=True),
                changed("src/to.py", "", old_path="src/from.py", renamed_file=True, too_large=False, collapsed=False),
                changed("src/b.py", "", old_path="src/a.py", renamed_file=True),
                changed("src/old.py", "@@ -1 +0,0 @@\n-a\n", deleted_file=True),
                changed("data.csv", "", too_large=True),
                changed("more.csv", "@@ -1 +1 @@\n", collapsed=True),
                parents=("c3", "m9"),
            ),
        ),
    )
