"""Finds the optional fields of a request that a server does not support, and leaves them out.

A server may say so (400, 422, 501). Or it fails over them: a schema that it cannot make a grammar of is an internal
error for some, and for others an answer that never ends. So a request that failed twice, or had no answer in time where
no schema was ever served, is tried once without it.
"""

from __future__ import annotations

import hashlib
import json
import threading

from metareview.judges.remote.answers import JsonObject

_REFUSALS = frozenset({400, 422, 501})
_SCHEMA = "response_format"
_FAILURES = 2
_SPARED = 3


class UnsupportedFields:
    """Outcomes of requests with and without optional fields. Safe for threads."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._accepted: set[str] = set()
        self._done_without: set[str] = set()
        self._failures: dict[str, int] = {}  # of requests with a schema, by what they ask
        self._spared = 0  # how many such requests were served once they had none
        self._lock = threading.Lock()

    @property
    def left_out(self) -> set[str]:
        """The fields that requests were served without, and none was served with."""
        with self._lock:
            schema = {_SCHEMA} if self._spared >= _SPARED else set()
            return (self._done_without | schema) - self._accepted

    def of(self, body: JsonObject) -> JsonObject:
        """The request as it is sent: without what is left out, and without its schema where it failed with it."""
        left_out = self.left_out
        with self._lock:
            if self._failures and self._failures.get(key := _key(body)) == _FAILURES:
                self._failures[key] += 1
                left_out = {*left_out, _SCHEMA}
        return {name: value for name, value in body.items() if name not in left_out}

    def served(self, whole: JsonObject, body: JsonObject, refused: set[str]) -> None:
        """Record that a request was served as this body, after it was refused with those fields."""
        with self._lock:
            self._done_without |= refused
            self._accepted |= body.keys() & set(self._names)
            if self._failures and self._failures.pop(_key(whole), 0) > _FAILURES:
                self._spared += _SCHEMA not in body

    def failed(self, whole: JsonObject, body: JsonObject, *, unanswered: bool) -> None:
        """Record that the server failed over this body, or left it unanswered.

        The latter says nothing where other schemas are served, since the server may be busy; where none is, there may
        be no time for a second attempt before the server counts as dead.
        """
        with self._lock:
            if _SCHEMA in body and not (unanswered and _SCHEMA in self._accepted):
                key = _key(whole)
                before = self._failures.get(key, 0)
                self._failures[key] = max(_FAILURES, before + 1) if unanswered else before + 1

    def refused(self, status: int, data: bytes, body: JsonObject) -> str | None:
        """The field to try without: one that the refusal names, or else the one that most servers lack."""
        fields = [name for name in self._names if name in body] if status in _REFUSALS else []
        words = data.decode("utf-8", "replace").lower().replace("schema", _SCHEMA)
        named = [name for name in fields if name in words]
        return next(iter(named + [name for name in fields if name == _SCHEMA]), None)


def _key(body: JsonObject) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
