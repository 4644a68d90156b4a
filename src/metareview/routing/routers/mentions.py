"""`mentions`: whoever the pull request's body calls."""

from __future__ import annotations

import re

from metareview.model.event import Event, PullRequest, fold
from metareview.routing.protocol import Ranking, Router
from metareview.routing.visible_text import visible_text

_MENTION = re.compile(
    r"@(?<![\w@/.`+-]@)([A-Za-z0-9](?:[A-Za-z0-9_-]{0,38}))"
    r"(?:(/[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,99}))(?![A-Za-z0-9@])|(?![A-Za-z0-9@]|/[A-Za-z0-9]))"
)


class Mentions(Router):
    """@user and @org/team in order of appearance, each once; a team is a candidate named `org/team`.

    A team is one of the repository's owner: `@types/node` is a package, with or without a version. As on GitHub, code
    and HTML comments mention nobody. The score is 1 for the first, 1/2 for the second, and so on. Risk: low where a
    person is mentioned, medium where only teams are, high where nobody is.
    """

    needs_bodies = True
    learns = False

    def observe(self, event: Event) -> None:
        """Bodies are read at the cutoff: there is nothing to learn."""

    def rank(self, pull_request: PullRequest) -> Ranking:
        if "@" not in pull_request.body:
            return Ranking([], "high")
        logins: dict[str, str] = {}
        owner = fold(pull_request.repo.partition("/")[0])
        for match in _MENTION.finditer(visible_text(pull_request.body)):
            user, team = match[1].rstrip("-_"), match[2]
            if team is not None and fold(user) != owner:
                continue
            login = user if team is None else user + team.rstrip("-_.")
            logins.setdefault(fold(login), login)
        candidates = [(login, 1.0 / position) for position, login in enumerate(logins.values(), 1)]
        people = any("/" not in login for login, _ in candidates)
        return Ranking(candidates, "low" if people else "medium" if candidates else "high")


PLUGIN = Mentions
