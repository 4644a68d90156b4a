"""What reviewers of one pull request write as JSON: a list of findings, which is all that a file holds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from metareview.formats.input_file import InputFile
from metareview.model.comment import Comment, Review


def first_object(values: object) -> dict[str, Any]:
    """The first entry of a list, if it is an object; else an empty one."""
    return values[0] if isinstance(values, list) and values and isinstance(values[0], dict) else {}


def review_of(file: InputFile, comments: Iterable[Comment], reviewer: str | None = None) -> Review:
    """All that the file says, on the pull request that the user or its path names."""
    return Review(file.required_pull_request(), tuple(comments), reviewer, source=file.name)


def paragraphs(*texts: str | None) -> str:
    """A headline and what follows it as one note; a headline that the text repeats is said once.

    >>> paragraphs("Leaks", "The handle stays open.")
    'Leaks\\n\\nThe handle stays open.'
    """
    said = ""
    for text in reversed([text.strip() for text in texts if text]):
        said = said if said.startswith(text) else f"{text}\n\n{said}" if said else text
    return said
