"""A pull request's commits with the patches that it takes to follow the lines of its comments."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import takewhile
from typing import Protocol

from metareview.model.comment import Comment, Commit
from metareview.model.time import parse_time

_MOST_STEPS = 20
"""How far a line of commits that was replaced is followed back."""


class CommitSource(Protocol):
    """Fetches commits of a repository, each with one request or more."""

    def with_files(self, commit: Commit) -> Commit:
        """The commit with the files that it changed; as it is if not all of them are available."""

    def commit(self, sha: str) -> Commit | None:
        """A commit with its parents, and its files if they are available; None if it is gone."""

    def only_in(self, sha: str, head: str) -> Collection[str]:
        """The commits that lead to this one and not to `head`; none if that is unknown."""


def with_patches(
    commits: list[Commit], comments: Iterable[Comment], repository: CommitSource, bases: Collection[str] = ()
) -> list[Commit]:
    """The commits, with files from the first one that a comment on lines could have led to: others tell nothing.

    Where a comment stands on a commit that a force push took away, that one is added, and those before it, back to a
    commit of the pull request or of what it is based on (`bases`, and the parents of the commits).
    """
    on_lines = [each for each in comments if each.to_line is not None and each.in_reply_to is None]
    if not commits or not on_lines:
        return commits
    replaced = _replaced(commits, on_lines, repository, bases)
    first = _first_wanted(commits, replaced, on_lines)
    return _in_order([*commits[:first], *map(repository.with_files, commits[first:])], replaced)


def _replaced(
    commits: list[Commit], on_lines: list[Comment], repository: CommitSource, bases: Collection[str]
) -> dict[str, Commit]:
    """The commits that comments stand on and that are not listed any more, with those before them.

    The list holds all commits that the base lacks, so an unlisted parent of a listed commit is the base's, and ends
    the way back. Where the base has moved meanwhile, the server must say which commits are not on it.
    """
    known = {commit.sha for commit in commits}.union(bases, *(commit.parents for commit in commits))
    found: dict[str, Commit] = {}
    for start in dict.fromkeys(each.commit for each in on_lines if each.commit is not None):
        own: Collection[str] | None = None
        sha = start
        for _ in range(_MOST_STEPS):
            if sha in known or sha in found:
                break
            if sha != start:
                own = repository.only_in(start, commits[-1].sha) if own is None else own
                if sha not in own:
                    break
            commit = repository.commit(sha)
            if commit is None:
                break
            found[sha] = commit
            if not commit.parents:
                break
            sha = commit.parents[0]
    return found


def _first_wanted(commits: list[Commit], replaced: dict[str, Commit], on_lines: list[Comment]) -> int:
    """The place of the first commit that comes after one that a comment on lines stands on, or is later than a comment.

    A comment whose lines are still there stands on the latest commit, whenever it was made. One on a commit that
    is gone may have been anywhere.
    """
    place = {commit.sha: index for index, commit in enumerate(commits)}
    earliest = min(map(_instant, on_lines))
    later = len(list(takewhile(lambda commit: _instant(commit) <= earliest, commits)))
    return min([later, *(_next(each.commit, place, replaced) for each in on_lines if each.commit is not None)])


def _instant(each: Comment | Commit) -> int:
    """Its time, which every answer of an API has."""
    return parse_time(each.at or "")


def _next(sha: str, place: dict[str, int], replaced: dict[str, Commit]) -> int:
    """The place of the first commit that is not before this one."""
    before = [each for each in _back(sha, replaced) if each in place]
    return place[before[0]] + 1 if before else 0


def _back(sha: str, replaced: dict[str, Commit]) -> list[str]:
    """The commit and those before it, as far as they were replaced, and the one that they began from."""
    way = [sha]
    while way[-1] in replaced and len(way) <= len(replaced):
        way.append(next(iter(replaced[way[-1]].parents), ""))
    return way


def _in_order(commits: list[Commit], replaced: dict[str, Commit]) -> list[Commit]:
    """All of them, oldest first: each that was replaced stands after its parents and before the first that is newer.
    The order of the others is the server's, and the latest of them stays the last."""
    ordered = list(commits)
    for commit in sorted(replaced.values(), key=lambda commit: len(_back(commit.sha, replaced))):
        at = _instant(commit)
        newer = (index for index, each in enumerate(ordered) if _instant(each) > at)
        after = (index + 1 for index, each in enumerate(ordered) if each.sha in commit.parents)
        ordered.insert(min(len(ordered) - 1, max([next(newer, len(ordered)), *after])), commit)
    return ordered
