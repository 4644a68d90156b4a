"""Counts as people read them, and strangers' texts as a line of ours may hold them."""

from __future__ import annotations


def counted(number: float) -> str:
    """A number of things; a mean of such numbers with one decimal, unless it is whole.

    >>> counted(1200), counted(2.0), counted(7 / 3)
    ('1,200', '2', '2.3')
    """
    return f"{number:,.0f}" if number == round(number) else f"{number:,.1f}"


def plural(number: float, one: str, many: str | None = None) -> str:
    """
    >>> plural(1, "reviewer"), plural(1200, "reviewer"), plural(2, "reply", "replies")
    ('1 reviewer', '1,200 reviewers', '2 replies')
    """
    return f"{counted(number)} {one if number == 1 else many or one + 's'}"


def none_of(files: int) -> str:
    """
    >>> none_of(1), none_of(3)
    ('its only file is not', 'none of its 3 files is')
    """
    return "its only file is not" if files == 1 else f"none of its {plural(files, 'file')} is"


def format_score(score: float) -> str:
    """A judge's score.

    >>> format_score(0.4567)
    '0.46'
    """
    return f"{score:.2f}"


def one_line(text: str, length: int = 1_000) -> str:
    """A stranger's text, fit for a terminal and UTF-8: one line, no control characters, not endless."""
    if len(text) <= length and text.isprintable() and "  " not in text and text == text.strip():
        return text
    text = text[: 4 * length].encode("utf-8", "replace").decode()
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= length else text[: length - 1] + "…"
