"""What a router is, and how it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from metareview.model.event import Event, PullRequest

Candidates: TypeAlias = Sequence[tuple[str, float]]


class Ranking(NamedTuple):
    """Everybody that a router has a score for, best first, and the risk that the pull request waits.

    >>> Ranking([("octocat", 2.0), ("hubot", 1.0)], "low").candidates[0]
    ('octocat', 2.0)
    """

    candidates: Candidates
    risk: str = "unknown"
    """`low`, `medium`, `high` or `unknown`."""
    evidence: Any = None
    """What it went by: anything that JSON can hold, such as {login: reason}. Kept with the answer, never scored."""
    notes: str | Sequence[str] = ()
    """Remarks on the answer as a whole, kept likewise."""


class PlainRouter(Protocol):
    """The least that a router of yours must have; what else a Router has, it may have."""

    def observe(self, event: Event, /) -> None:
        """Learn from an event. Called for every event of the repository, in order."""

    def rank(self, pull_request: PullRequest, /) -> Ranking | tuple[Candidates, str] | Candidates:
        """Rank people for a pull request, when everything up to its cutoff has been observed."""


@runtime_checkable
class Router(PlainRouter, Protocol):
    """Ranks the people who should review a pull request, from what it has observed and nothing else.

    One router serves one repository: a history of several gets a new router for each. A class that inherits from
    Router needs to define `observe` and `rank` only.
    """

    name: str = ""
    """What results call it; empty: as the user names it, or its class."""
    needs_files: bool = False
    """Whether it cannot rank a pull request without changed files; their number is warned of."""
    needs_bodies: bool = False
    """The same for bodies. A router that had what it needs on no pull request is not applicable, and has no figures."""
    learns: bool = True
    """Whether events tell it anything; one that goes by the pull request alone need not be shown any."""

    def rank(self, pull_request: PullRequest, /) -> Ranking: ...


@runtime_checkable
class CountsMissing(Protocol):
    """A router that counts what pull requests did not have."""

    @property
    def missing(self) -> Mapping[str, int]:
        """What, with how many: the run warns that "N of M pull requests have no …"."""


class LookupRouter(Protocol):
    """A router of the routing harness, which reads the history by itself; its other arguments have defaults."""

    def route(self, *, repo: str, pr_number: int, as_of: datetime) -> object:
        """Candidates, each with a target and a score, for a pull request as of then."""


RouterSpec: TypeAlias = str | PlainRouter | LookupRouter | Callable[..., PlainRouter | LookupRouter]
"""A router's name, `package.module:factory`, an object, or what makes one."""
