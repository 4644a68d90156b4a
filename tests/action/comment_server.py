"""The part of GitHub's API that a comment on a pull request needs; it keeps comments, and refuses what GitHub does."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from scripted_server import Exchange, Reply, ScriptedServer

BOT = {"login": "github-actions[bot]", "type": "Bot"}
_ISSUE = re.compile(r"/repos/acme/shop/issues/(\d+)/comments")
_COMMENT = re.compile(r"/repos/acme/shop/issues/comments/(\d+)")


class CommentServer(ScriptedServer):
    """`comments` by number of the pull request, oldest first; who asks is `me`, with `token`."""

    def __init__(
        self, token: str, *, me: dict = BOT, script: Callable[[Exchange], Reply | None] = lambda exchange: None
    ) -> None:
        super().__init__(script)
        self.token, self.me = token, me
        self.comments: dict[int, list[dict]] = {7: []}
        self._next = 1_000

    def add(self, body: str, user: dict | None = BOT, number: int = 7) -> dict:
        self._next += 1
        address = f"https://github.com/acme/shop/pull/{number}#issuecomment-{self._next}"
        comment = {"id": self._next, "body": body, "user": user, "html_url": address}
        self.comments[number].append(comment)
        return comment

    @property
    def bodies(self) -> list[str]:
        return [comment["body"] for comment in self.comments[7]]

    @property
    def written(self) -> list[tuple[str, str]]:
        """(method, path) of what was to change something."""
        return [(each.method, each.path) for each in self.log if each.method != "GET" and each.path != "/graphql"]

    def _reply(self, exchange: Exchange) -> Reply:
        if exchange.headers.get("authorization") != f"Bearer {self.token}":
            return Reply(401, {"message": "Bad credentials"})
        if exchange.path == "/graphql":
            assert exchange.query == "query { viewer { login } }"
            return Reply(200, {"data": {"viewer": {"login": self.me["login"]}}})
        assert exchange.headers["accept"] == "application/vnd.github+json"
        assert exchange.headers["user-agent"].startswith("metareview/")
        parts = urlsplit(exchange.path)
        if found := _ISSUE.fullmatch(parts.path):
            return self._of_pull_request(exchange, int(found[1]), parse_qs(parts.query))
        if (found := _COMMENT.fullmatch(parts.path)) and exchange.method == "PATCH":
            return self._edit(int(found[1]), exchange.body)
        return Reply(404, {"message": "Not Found"})

    def _of_pull_request(self, exchange: Exchange, number: int, query: dict) -> Reply:
        if number not in self.comments:
            return Reply(404, {"message": "Not Found"})
        if exchange.method == "POST":
            return self._refused(exchange.body) or Reply(201, self.add(exchange.body["body"], self.me, number))
        size, page = int(query["per_page"][0]), int(query["page"][0])
        assert size <= 100
        listed = self.comments[number]
        headers = {}
        if page * size < len(listed):
            headers["link"] = f'<{self.url}/elsewhere?page={page + 1}>; rel="next"'
        return Reply(200, listed[(page - 1) * size : page * size], headers)

    def _edit(self, number: int, body: dict) -> Reply:
        for comment in (each for listed in self.comments.values() for each in listed):
            if comment["id"] == number:
                if refused := self._refused(body):
                    return refused
                comment["body"] = body["body"]
                return Reply(200, comment)
        return Reply(404, {"message": "Not Found"})

    def _refused(self, body: dict) -> Reply | None:
        assert set(body) == {"body"}
        if len(body["body"].encode("utf-16-le")) // 2 > 65_536:
            return Reply(422, {"message": "Validation Failed"})
        return None
