"""A JSON object from a server, read without trust: a value of another type is an `UnexpectedReply`."""

from __future__ import annotations

from typing import Any

from metareview.model.time import parse_time


class UnexpectedReply(Exception):
    """A reply that breaks the promises of the API."""


class Node:
    """The fields of one object; null counts as absent."""

    __slots__ = ("value",)

    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value

    def text(self, name: str) -> str | None:
        found = self._of(name, str)
        # Half a surrogate pair is in no UTF-8 file.
        return None if found is None else str(found).encode("utf-8", "replace").decode()

    def required(self, name: str) -> str:
        found = self.text(name)
        if found is None:
            raise UnexpectedReply(f"{name} is missing")
        return found

    def number(self, name: str) -> int | None:
        found = self._of(name, int)
        if isinstance(found, bool):
            raise UnexpectedReply(f"{name} is no number")
        return None if found is None else int(found)

    def flag(self, name: str) -> bool:
        return bool(self._of(name, bool))

    def instant(self, name: str) -> str:
        """A time, checked, as it was written."""
        found = self.required(name)
        try:
            parse_time(found)
        except ValueError:
            raise UnexpectedReply(f"{name} is no time") from None
        return found

    def child(self, name: str) -> Node | None:
        found = self._of(name, dict)
        return None if found is None else Node(found)

    def children(self, name: str) -> list[Node]:
        """The objects of a list; null ones, which a token may not read, are left out."""
        found = self._of(name, list) or []
        if not all(each is None or isinstance(each, dict) for each in found):
            raise UnexpectedReply(f"{name} is no list of objects")
        return [Node(each) for each in found if each is not None]

    def nodes(self, name: str) -> list[Node]:
        """The nodes of a connection."""
        connection = self.child(name)
        return [] if connection is None else connection.children("nodes")

    def _of(self, name: str, kind: type) -> Any:
        found = self.value.get(name)
        if found is not None and not isinstance(found, kind):
            raise UnexpectedReply(f"{name} is not what was asked for")
        return found
