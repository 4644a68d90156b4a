"""Commits of a pull request made from whole files: their patches as GitHub gives them."""

import difflib
from collections.abc import Mapping, Sequence
from itertools import pairwise

from metareview.model.comment import ChangedFile, Comment, Commit


def patch_of(before: Sequence[str], after: Sequence[str], context: int = 3) -> str:
    """A patch without file headers. Lines have no line feeds."""
    lines = list(difflib.unified_diff(list(before), list(after), n=context, lineterm=""))
    return "\n".join(lines[2:])


def day(number: float) -> str:
    """A day of January 2026, at midnight; `2.5` is noon of the second."""
    whole, hours = divmod(round(number * 24), 24)
    return f"2026-01-{whole:02d}T{hours:02d}:00:00Z"


def commit(sha: str, *files: ChangedFile, at: float | None = None, author: str | None = None, parents=()) -> Commit:
    return Commit(sha, None if at is None else day(at), author, tuple(parents), files)


def change(path: str, before: str, after: str, **more) -> ChangedFile:
    """A file that was changed from one text of lines to another, or added; a letter is a line."""
    if not before:
        more = {"status": "added", **more}
    return ChangedFile(path, patch=patch_of(lines_of(before), lines_of(after)), **more)


def lines_of(text: str) -> list[str]:
    """The lines of a text: one per letter, or as they are where there are line feeds."""
    return text.split("\n") if "\n" in text else list(text)


def history(*texts: str, path: str = "a.py", author: str | None = "dev", more: Mapping | None = None) -> list[Commit]:
    """A commit per text, from the second text on: `c1` of day 1 makes the second of the first."""
    return [
        commit(f"c{number}", change(path, before, after, **(more or {})), at=number, author=author)
        for number, (before, after) in enumerate(pairwise(texts), start=1)
    ]


def comment_on(
    first: int | None, last: int | None = None, *, commit: str | None = "c1", note: str = "?", **more
) -> Comment:
    """A comment on lines of a.py, by a bot, half a day after the first commit."""
    known = {"path": "a.py", "author": "helper[bot]", "at": day(1.5), "commit": commit, **more}
    return Comment(note=note, from_line=first, to_line=first if last is None else last, **known)
