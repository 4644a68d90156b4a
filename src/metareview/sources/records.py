"""What was said on a pull request as `jsonl` records: one per reviewer, in the order in which they first spoke."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from metareview.model.selection import Selection

JsonObject = dict[str, Any]
Patches = Callable[[str], "list[JsonObject] | None"]
"""The files of a commit; None where they cannot be had."""


@dataclass(frozen=True, slots=True)
class Said:
    """A comment, when it was made, and by whom."""

    at: int
    reviewer: str
    comment: JsonObject


def reviewer_records(
    about: JsonObject,
    said: Iterable[Said],
    silent: Iterable[str],
    reviewers: Selection,
    commits: Callable[[list[JsonObject]], list[JsonObject]],
) -> list[JsonObject]:
    """One record per chosen reviewer. The pull request's commits, asked for with all chosen comments, are in the first.

    `about` is what all records have; those who are `silent` reviewed, and have a record even if they wrote nothing:
    silence is an answer.
    """
    comments: dict[str, list[JsonObject]] = {}
    for each in sorted(said, key=lambda each: (each.at, each.comment["id"])):
        comments.setdefault(each.reviewer, []).append(each.comment)
    for name in silent:
        comments.setdefault(name, [])
    chosen = {name: theirs for name, theirs in comments.items() if name in reviewers}
    if not chosen:
        return []
    pr, *shared = present(about).items()
    result = [dict([pr, ("reviewer", name), *shared, ("comments", theirs)]) for name, theirs in chosen.items()]
    comments_last = result[0].pop("comments")
    every = [comment for theirs in chosen.values() for comment in theirs]
    result[0] |= {"commits": commits(every), "comments": comments_last}
    return result


def add_patches(commits: list[JsonObject], comments: list[JsonObject], patches: Patches) -> None:
    """What commits changed, from the first one that a comment on lines could have led to: others tell nothing."""
    for commit in commits[_first_wanted([each["sha"] for each in commits], comments) :]:
        files = patches(commit["sha"])
        if files is not None:
            commit["files"] = files


def _first_wanted(shas: list[str], comments: list[JsonObject]) -> int:
    """The place of the first commit after one that a comment on lines was made on.

    A commit that is not there any more, after a force push, may have been anywhere.
    """
    place = {sha: index for index, sha in enumerate(shas)}
    on_lines = [each for each in comments if "to_line" in each and "in_reply_to" not in each]
    return min((place.get(each.get("commit", ""), -1) + 1 for each in on_lines), default=len(shas))


def present(fields: JsonObject) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}
