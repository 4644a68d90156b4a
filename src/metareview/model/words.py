"""Counts as people read them."""

from __future__ import annotations


def plural(number: int, one: str, many: str | None = None) -> str:
    """
    >>> plural(1, "reviewer"), plural(1200, "reviewer"), plural(2, "reply", "replies")
    ('1 reviewer', '1,200 reviewers', '2 replies')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
