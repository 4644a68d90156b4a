"""The commits of a pull request: their order, who follows whom, and when they were made."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from metareview.model.comment import Comment, Commit
from metareview.model.time import instant
from metareview.outcomes.reasons import AMBIGUOUS_COMMIT, NO_COMMIT_BEFORE, NO_TIME, NOT_IN_LIST

_SHORTEST = 7
"""Characters that an abbreviated hash has at least."""
NEVER = -1
BOT = "[bot]"
"""How the names of bots end on GitHub."""


def one_name(name: str) -> str:
    """A name as it is compared: a bot goes by its name with and without the suffix."""
    return name.strip().casefold().removesuffix(BOT)


class Commits:
    """The commits by place in the list, oldest first.

    `parent` is the place of each one's first parent. Where a commit names its parents they are the truth; else it
    follows the one before it in the list. A parent outside the list is the base branch: `parent` is NEVER, and
    `root` tells one such state from another.
    """

    def __init__(self, commits: Sequence[Commit], until: str | None) -> None:
        self.commits = commits
        self.at = [instant(commit.at) for commit in commits]
        self.until = instant(until)
        self._place: dict[str, int] = {}
        for place, commit in enumerate(commits):
            self._place.setdefault(commit.sha.strip().casefold(), place)
        self._sorted: list[str] | None = None
        self.parent: list[int] = []
        self.root: list[str] = []
        for place, commit in enumerate(commits):
            first = commit.parents[0].strip().casefold() if commit.parents else ""
            found = self.find(first) if first else place - 1
            parent = found if isinstance(found, int) else NEVER
            self.parent.append(parent)
            self.root.append("" if parent != NEVER else first)
        self.circular = any(parent >= place for place, parent in enumerate(self.parent)) and self._has_circle()
        self.final = self._final()
        self._positions: dict[int, int] | None = None
        self._authors: list[str | None] | None = None
        self._chains: dict[int, tuple[int, ...]] = {}

    def _has_circle(self) -> bool:
        safe: set[int] = set()
        for place in range(len(self.parent)):
            seen: set[int] = set()
            while place != NEVER and place not in safe:
                if place in seen:
                    return True
                seen.add(place)
                place = self.parent[place]
            safe |= seen
        return False

    def _final(self) -> int:
        """The last commit of the list that is in time; where another follows on it, the list is out of order."""
        in_time = [place for place in range(len(self.commits)) if not self.is_too_late(place)]
        final = in_time[-1] if in_time else NEVER
        if not self.circular:
            child = {self.parent[place]: place for place in in_time}
            while final != NEVER and final in child:
                final = child[final]
        return final

    def find(self, sha: str) -> int | str:
        """The place of the commit of this hash, full or abbreviated; else the reason why there is none."""
        sha = sha.strip().casefold()
        if sha in self._place:
            return self._place[sha]
        if len(sha) < _SHORTEST:
            return NOT_IN_LIST
        if self._sorted is None:
            self._sorted = sorted(self._place)
        begin = bisect_left(self._sorted, sha)
        # Those that begin with it stand together; one that it begins with was abbreviated in the list.
        longer = [name for name in self._sorted[begin : begin + 2] if name.startswith(sha)]
        shorter = [sha[:size] for size in range(_SHORTEST, len(sha)) if sha[:size] in self._place]
        found = longer + shorter
        return self._place[found[0]] if len(found) == 1 else AMBIGUOUS_COMMIT if found else NOT_IN_LIST

    def anchor(self, comment: Comment) -> int | str:
        """The place of the commit that a comment was made on; else the reason why it cannot be told."""
        if comment.commit is not None and comment.commit.strip():
            return self.find(comment.commit)
        made = instant(comment.at)
        if made is None:
            return NO_TIME
        for place in reversed(range(len(self.at))):
            at = self.at[place]
            if at is not None and at <= made and not self.is_too_late(place):
                return place
        return NO_COMMIT_BEFORE

    def is_too_late(self, place: int) -> bool:
        """Whether the commit is dated after the pull request's end."""
        at = self.at[place]
        return self.until is not None and at is not None and at > self.until

    def is_merge(self, place: int) -> bool:
        return len(self.commits[place].parents) > 1

    def author(self, place: int) -> str | None:
        """The name of its author as it is compared."""
        if self._authors is None:
            self._authors = [None if each.author is None else one_name(each.author) for each in self.commits]
        return self._authors[place]

    def chain(self, place: int) -> tuple[int, ...]:
        """The commit and its first parents, oldest first, back to the base branch."""
        if place != self.final and place in self.positions():
            return self._chains[self.final][: self.positions()[place] + 1]
        found = self._chains.get(place)
        if found is None:
            back = []
            step = place
            while step != NEVER:
                back.append(step)
                step = self.parent[step]
            found = self._chains[place] = tuple(reversed(back))
        return found

    def positions(self) -> dict[int, int]:
        """Where in the chain of the final commit each of its commits is."""
        if self._positions is None:
            chain = self.chain(self.final) if self.final != NEVER else ()
            self._positions = {place: number for number, place in enumerate(chain)}
        return self._positions
