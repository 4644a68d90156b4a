"""`codeowners`: whoever the repository's CODEOWNERS names for the changed files."""

from __future__ import annotations

from collections.abc import Mapping

from metareview.formats.codeowners import OwnersByCommit
from metareview.model.event import Event, PullRequest, fold
from metareview.routing.protocol import Ranking, Router


class CodeOwnersRouter(Router):
    """One point for each changed file that a user or team owns; ties by first appearance.

    A team is a candidate named `org/team`. An owner given by an address stays an address: only GitHub knows whose it
    is. Risk: low where every changed file has an owner, medium where some have, high where none has.
    """

    needs_files = True
    learns = False

    def __init__(self, source: OwnersByCommit | None = None) -> None:
        self._source = source
        self.without_rules = 0
        """How many pull requests had no CODEOWNERS for their base commit."""

    @property
    def missing(self) -> Mapping[str, int]:
        return {"CODEOWNERS file for their base commit": self.without_rules}

    def observe(self, event: Event) -> None:
        """Ownership is read at the cutoff: there is nothing to learn."""

    def rank(self, pull_request: PullRequest) -> Ranking:
        rules = None if self._source is None else self._source.find(pull_request.repo, pull_request.base_sha)
        if rules is None:
            self.without_rules += 1
            return Ranking([], "high")
        points: dict[str, float] = {}
        shown: dict[str, str] = {}
        owned = 0
        for path in pull_request.files:
            owners = {fold(owner): owner for owner in rules.owners(path)}
            owned += bool(owners)
            for key, owner in owners.items():
                shown.setdefault(key, owner)
                points[key] = points.get(key, 0.0) + 1.0
        candidates = [(shown[key], points[key]) for key in sorted(points, key=points.__getitem__, reverse=True)]
        risk = "high" if not owned else "low" if owned == len(pull_request.files) else "medium"
        return Ranking(candidates, risk)


PLUGIN = CodeOwnersRouter
