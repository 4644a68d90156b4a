"""Where asking ends before all is answered: at the limit that the user set, and where a model gives nothing usable."""

from __future__ import annotations

import threading

from metareview.http.secret import Secret
from metareview.judges.remote.pool import StopAsking
from metareview.judges.remote.verdict import JsonObject, Malformed
from metareview.model.words import one_line

_MOST_UNUSABLE = 24
"""As many as three questions may take: eight attempts each."""
_EXCERPT = 200


class Budget:
    """How many requests may still reach the server, repeated ones included. Safe for threads."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._taken = 0
        self._lock = threading.Lock()

    @property
    def used_up(self) -> bool:
        return self._most is not None and self._taken >= self._most

    def left(self, wanted: int) -> int:
        """How many of the requests that are wanted it still allows."""
        return wanted if self._most is None else max(0, min(wanted, self._most - self._taken))

    def take(self) -> None:
        """Before a request is sent; StopAsking where none may be."""
        with self._lock:
            if self.used_up:
                raise StopAsking(self.reason(), sent=False)
            self._taken += 1

    def give_back(self) -> None:
        """It did not reach the server."""
        with self._lock:
            self._taken -= 1

    def reason(self, *, again: bool = False) -> str:
        """Why a question has no answer; `again`: it was asked before."""
        return f"not asked{' again' if again else ''}: the limit of {self._most} model calls was reached"


class Usability:
    """Whether anything that a model answers can be used: where nothing ever could, it is asked no more. Safe for
    threads."""

    def __init__(self, model: str, key: Secret) -> None:
        self._model, self._key = model, key
        self._ever = False
        self._unusable = 0
        self._reason = self._excerpt = ""
        self._lock = threading.Lock()

    def check(self) -> None:
        """StopAsking where nothing could be used so far, and that was often enough."""
        if self._stopped:
            raise StopAsking(f"given up: {self._what}", sent=False)

    def used(self) -> None:
        """An answer could be used, or a part of it."""
        self._ever = True

    def unusable(self, problem: Malformed, reply: JsonObject | None = None) -> None:
        """An answer could not be; StopAsking where that was often enough."""
        # An error of the server's, such as a gateway may tell in a 200, is none of the model's answers.
        if self._ever or (reply is not None and reply.get("error")):
            return
        with self._lock:
            if not self._stopped:
                self._unusable += 1
                self._reason, self._excerpt = problem.reason, self._shown(_content(reply or {}))
        if self._stopped:
            raise StopAsking(f"given up: {self._what}")

    @property
    def warnings(self) -> list[str]:
        if not self._stopped:
            return []
        said = f' The model said: "{self._excerpt}".' if self._excerpt else ""
        return [
            f"{self._what[0].upper()}{self._what[1:]}, so {self._model} was asked no more and the rest is undecided."
            f"{said} Check the settings, or use a model that answers in JSON as it is told to; then run the same"
            " command again with the same --out."
        ]

    @property
    def _stopped(self) -> bool:
        return not self._ever and self._unusable >= _MOST_UNUSABLE

    @property
    def _what(self) -> str:
        return f"none of {_MOST_UNUSABLE} answers could be used ({self._reason})"

    def _shown(self, said: str) -> str:
        said = said[: 100 * _EXCERPT]
        return "(left out: it repeats a part of the key)" if self._key.is_in(said) else one_line(said, _EXCERPT)


def _content(reply: JsonObject) -> str:
    """What a model said, where it is a text."""
    choices = reply.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, str) else ""
