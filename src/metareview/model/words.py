"""Counts as people read them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def plural(number: int, one: str, many: str | None = None) -> str:
    """
    >>> plural(1, "reviewer"), plural(1200, "reviewer"), plural(2, "reply", "replies")
    ('1 reviewer', '1,200 reviewers', '2 replies')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def did_you_mean(typed: str, known: Iterable[str]) -> str:
    """The nearest of the known words as a question, with a space before it; nothing where none is near.

    >>> did_you_mean("reveiw_comment", ["review_comment", "comment"])
    ' Did you mean review_comment?'
    """
    by_fold = {word.casefold(): word for word in known}
    near = get_close_matches(typed.casefold(), by_fold, n=1)
    return f" Did you mean {by_fold[near[0]]}?" if near else ""
