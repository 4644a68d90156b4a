"""The JSON values of a file's text: one after the other, and where in the text a value within one begins."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from metareview.formats.json_lines import SPACE, decode_at, ends_with_opening, skip_space
from metareview.formats.record import Record

if TYPE_CHECKING:
    from metareview.formats.source import Source


class Documents:
    """The JSON values of a file, each parsed when it is come to: only the first is kept, so that JSON lines take no
    more memory than their longest.
    """

    def __init__(self, source: Source) -> None:
        self._source = source

    @cached_property
    def _ends(self) -> tuple[int, int]:
        return self._source.json_ends

    @cached_property
    def _first(self) -> tuple[Record, int]:
        """The first, and where the next one begins."""
        source = self._source
        if source.opening is not None:
            return source.opening
        record, end = source.document_at(self._ends[0], is_first=True)
        if end >= self._ends[1]:
            source.forget_text()
        return record, end

    def __bool__(self) -> bool:
        return self._source.opens_with_object or self._ends[0] < self._ends[1]

    @cached_property
    def are_one(self) -> bool:
        """Whether there is exactly one."""
        if self._source.opens_with_object:
            return ends_with_opening(self._source)
        return bool(self) and self._first[1] >= self._ends[1]

    def __getitem__(self, place: int) -> Record:
        return self._first[0] if place == 0 and self else list(self)[place]

    def __iter__(self) -> Iterator[Record]:
        if self:
            record, at = self._first
            yield record
            if not self.are_one:
                yield from self.since(at)

    def since(self, at: int) -> Iterator[Record]:
        """Those from this offset of the text on."""
        at = skip_space(self._source.text, at)
        while at < self._ends[1]:
            record, at = self._source.document_at(at, is_first=False)
            yield record


def offset_within(text: str, parent: int, step: str | int) -> int:
    """Where the value at this key or place begins, in a JSON text that is known to be sound; the parent if absent."""
    at, in_list, index = parent, text[parent] == "[", 0
    cursor = skip_space(text, parent + 1)
    while text[cursor] not in "}]":
        name: str | int = index
        if not in_list:
            name, cursor = decode_at(text, cursor)
            cursor = skip_space(text, cursor, SPACE + ":")
        if name == step:
            at = cursor  # the last of equal keys counts, as in json.loads
            if in_list:
                break
        cursor = skip_space(text, decode_at(text, cursor)[1], SPACE + ",")
        index += 1
    return at
