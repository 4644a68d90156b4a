"""Conditions that end asking early: the user's limit on calls, and a model that gives no usable answer."""

from __future__ import annotations

import threading

from metareview.http.secret import Secret
from metareview.judges.remote.answers import JsonObject
from metareview.judges.remote.pool import StopAsking
from metareview.model.words import one_line

_MOST_UNUSABLE = 24
"""The attempts of three questions: eight each."""
_EXCERPT = 200


class Budget:
    """The requests that may still reach the server, repeated ones included. Safe for threads."""

    def __init__(self, most: int | None) -> None:
        self.most = most
        self._taken = 0
        self._lock = threading.Lock()

    @property
    def used_up(self) -> bool:
        return self.most is not None and self._taken >= self.most

    def left(self, wanted: int) -> int:
        """How many of the wanted requests it still allows."""
        return wanted if self.most is None else max(0, min(wanted, self.most - self._taken))

    def take(self) -> None:
        """Count a request that is about to be sent; raises StopAsking where none may be."""
        with self._lock:
            if self.used_up:
                raise StopAsking(self.reason(), sent=False)
            self._taken += 1

    def give_back(self) -> None:
        """Uncount a request that did not reach the server."""
        with self._lock:
            self._taken -= 1

    def reason(self, *, again: bool = False) -> str:
        """The reason of a question without an answer; `again`: it was asked before."""
        return f"not asked{' again' if again else ''}: the limit of {self.most} model calls was reached"


class UsableAnswers:
    """Stops asking a model of whose first answers none was usable. Safe for threads."""

    def __init__(self, model: str, key: Secret) -> None:
        self._model, self._key = model, key
        self._ever = False
        self._unusable = 0
        self._reason = self._excerpt = ""
        self._lock = threading.Lock()

    def check(self) -> None:
        """Raise StopAsking after too many unusable answers without a usable one."""
        if self._stopped:
            raise StopAsking(f"given up: {self._what}", sent=False)

    def used(self) -> None:
        """Record an answer that is usable, at least in part."""
        self._ever = True

    def unusable(self, reason: str, reply: JsonObject | None = None) -> None:
        """Record an unusable answer; raises StopAsking after too many."""
        # An error of the server's, such as a gateway may tell in a 200, is none of the model's answers.
        if self._ever or (reply is not None and reply.get("error")):
            return
        with self._lock:
            if not self._stopped:
                self._unusable += 1
                self._reason, self._excerpt = reason, self._shown(_content(reply or {}))
        if self._stopped:
            raise StopAsking(f"given up: {self._what}")

    @property
    def warnings(self) -> list[str]:
        if not self._stopped:
            return []
        excerpt = f' The model said: "{self._excerpt}".' if self._excerpt else ""
        return [
            f"{self._what[0].upper()}{self._what[1:]}, so {self._model} was asked no more and the rest is undecided."
            f"{excerpt} Check the settings, or use a model that answers in JSON as it is told to; then run the same"
            " command again with the same --out."
        ]

    @property
    def _stopped(self) -> bool:
        return not self._ever and self._unusable >= _MOST_UNUSABLE

    @property
    def _what(self) -> str:
        return f"none of {_MOST_UNUSABLE} answers could be used ({self._reason})"

    def _shown(self, text: str) -> str:
        text = text[: 100 * _EXCERPT]
        return "(left out: it repeats a part of the key)" if self._key.is_in(text) else one_line(text, _EXCERPT)


def _content(reply: JsonObject) -> str:
    """The text that a model wrote; empty where there is none."""
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, str) else ""
