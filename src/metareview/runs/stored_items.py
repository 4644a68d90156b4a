"""The long parts of a stored record, which few of its readers want: typed, or even parsed, when somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, TypeVar, overload

from metareview.errors import InputError
from metareview.runs.files import JsonObject, parsed_line

COMPARISONS = "llm_comparisons"
_BEGIN, _END = b'"llm_comparisons":[', b'],"reference_comments":['
_ANOTHER_LIST = b'],"'
"""What stands between the two where the keys are in another order than ours: comparisons hold no lists."""
Item = TypeVar("Item")


def parsed_record(line: bytes) -> JsonObject:
    """The object of a record's line, with its comparisons, which are most of it, left as the bytes that they are.

    Inside a string a quotation mark has a backslash before it, so that neither mark can stand in a note. Where they
    are not what they seem, as in a comment's free fields, the shortened line is no JSON, and the whole one is parsed.
    """
    before, begun, rest = line.partition(_BEGIN)
    held, ended, after = rest.partition(_END)
    if begun and ended and held and _ANOTHER_LIST not in held:
        try:
            stored = parsed_line(b"".join((before, begun, ended, after)))
        except (ValueError, RecursionError):
            return parsed_line(line)
        if stored.get(COMPARISONS) == []:
            stored[COMPARISONS] = held
            return stored
    return parsed_line(line)


class StoredItems(Sequence[Item]):
    """Equal to any sequence of the same items. InputError at the first look where they cannot be read."""

    def __init__(self, stored: list[JsonObject] | bytes, make: Callable[[JsonObject], Item]) -> None:
        self._stored, self._make = stored, make

    @cached_property
    def _items(self) -> list[Item]:
        try:
            stored: Any = parsed_line(b"[" + self._stored + b"]") if isinstance(self._stored, bytes) else self._stored
            return [self._make(each) for each in stored]
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError, InputError) as error:
            raise InputError(
                f"a record of this run cannot be read ({type(error).__name__}: {error})",
                fix="Run the evaluation again with --overwrite.",
            ) from None

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        return self._items[index]

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._items == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(tuple(self._items))
