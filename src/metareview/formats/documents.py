"""The JSON values of a file's text: one after the other, and where in the text a value within one begins."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from metareview.formats.record import Record

if TYPE_CHECKING:
    from metareview.formats.source import Source

_SPACE = " \t\r\n\ufeff"
decode_at = json.JSONDecoder().raw_decode
"""The value that begins at an offset of a text, and where it ends."""


class Documents:
    """The JSON values of a file, each parsed when it is come to: only the first is kept, so that JSON lines take no
    more memory than their longest.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._start, self._end = source.json_ends

    @cached_property
    def _first(self) -> tuple[Record, int]:
        record, end = self._source.document_at(self._start, is_first=True)
        if end >= self._end:
            self._source.forget_text()
        return record, end

    def __bool__(self) -> bool:
        return self._start < self._end

    @property
    def are_one(self) -> bool:
        """Whether there is exactly one."""
        return bool(self) and self._first[1] >= self._end

    def __getitem__(self, place: int) -> Record:
        return self._first[0] if place == 0 and self else list(self)[place]

    def __iter__(self) -> Iterator[Record]:
        if self:
            record, at = self._first
            yield record
            while at < self._end:
                record, at = self._source.document_at(at, is_first=False)
                yield record


def skip_space(text: str, at: int, characters: str = _SPACE) -> int:
    """The next offset at which none of these characters stands."""
    while at < len(text) and text[at] in characters:
        at += 1
    return at


def offset_within(text: str, parent: int, step: str | int) -> int:
    """Where the value at this key or place begins, in a JSON text that is known to be sound; the parent if absent."""
    at, in_list, index = parent, text[parent] == "[", 0
    cursor = skip_space(text, parent + 1)
    while text[cursor] not in "}]":
        name: str | int = index
        if not in_list:
            name, cursor = decode_at(text, cursor)
            cursor = skip_space(text, cursor, _SPACE + ":")
        if name == step:
            at = cursor  # the last of equal keys counts, as in json.loads
            if in_list:
                break
        cursor = skip_space(text, decode_at(text, cursor)[1], _SPACE + ",")
        index += 1
    return at
