"""What was said on a pull request as `jsonl` records: one per reviewer, in the order in which they first spoke."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from metareview.model.selection import Selection

JsonObject = dict[str, Any]


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
    """One record per chosen reviewer, then one per person who only answered them: what nobody answered is known only
    where all answers are kept. The pull request's commits, asked for with all these comments, are in the first.

    `about` is what all records have; those who are `silent` reviewed, and have a record even if they wrote nothing:
    silence is an answer.
    """
    in_order = sorted(said, key=lambda each: (each.at, each.comment["id"]))
    chosen = _by_reviewer(each for each in in_order if each.reviewer in reviewers)
    for name in silent:
        if name in reviewers:
            chosen.setdefault(name, [])
    if not chosen:
        return []
    begun = {each["id"] for theirs in chosen.values() for each in theirs if "in_reply_to" not in each}
    others = (each for each in in_order if each.reviewer not in reviewers)
    chosen |= _by_reviewer(each for each in others if each.comment.get("in_reply_to") in begun)
    pr, *shared = present(about).items()
    result = [dict([pr, ("reviewer", name), *shared, ("comments", theirs)]) for name, theirs in chosen.items()]
    comments_last = result[0].pop("comments")
    every = [comment for theirs in chosen.values() for comment in theirs]
    result[0] |= {"commits": commits(every), "comments": comments_last}
    return result


def _by_reviewer(said: Iterable[Said]) -> dict[str, list[JsonObject]]:
    comments: dict[str, list[JsonObject]] = {}
    for each in said:
        comments.setdefault(each.reviewer, []).append(each.comment)
    return comments


def present(fields: JsonObject) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}
