"""Findings of one reviewer on one pull request, as tools write them in JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from metareview.formats.input_file import InputFile
from metareview.model.comment import Comment, Review


def first_object(values: object) -> dict[str, Any]:
    """The first entry of a list, if it is an object; else an empty one."""
    return values[0] if isinstance(values, list) and values and isinstance(values[0], dict) else {}


def leading_object(file: InputFile) -> dict[str, Any]:
    """The first object of a file, alone or in a list; an empty one where there is none."""
    value = file.json.first.value if file.json.looks_like_json else None
    return value if isinstance(value, dict) else first_object(value)


def review_of(file: InputFile, comments: Iterable[Comment]) -> Review:
    """The one review in a file, on the pull request that the user or the file's path names."""
    return Review(file.required_pull_request(), tuple(comments), source=file.name)


def paragraphs(*texts: str | None) -> str:
    """A headline and its text as one note, without a headline that the text begins with.

    >>> paragraphs("Leaks", "The handle stays open.")
    'Leaks\\n\\nThe handle stays open.'
    """
    note = ""
    for text in reversed([text.strip() for text in texts if text]):
        note = note if note.startswith(text) else f"{text}\n\n{note}" if note else text
    return note
