"""Conditions that end asking early: the user's limit on calls, and signs that no request will get an answer."""

from __future__ import annotations

import threading

from metareview.judges.remote.answers import ChatReply, JsonObject
from metareview.judges.remote.pool import StopAsking
from metareview.judges.remote.settings import ModelSettings
from metareview.model.words import one_line

_REFUSALS = 3
_SILENCES = 8
_MOST_UNUSABLE = 24
"""The attempts of three questions: eight each."""
_EXCERPT = 200


class StopConditions:
    """Sees each request and its outcome, and raises StopAsking once no more is to be sent. Safe for threads.

    A server counts as silent once it left two requests in a row unanswered for each that may be under way at once, and
    eight at least. A model of whose first 24 answers none was usable is asked no more. Settings are wrong if none of
    the requests that went out first was served.
    """

    def __init__(self, settings: ModelSettings, max_calls: int | None, concurrency: int, timeout: float) -> None:
        self.max_calls = max_calls
        """The requests that may reach the server, repeated ones included; None for any number."""
        self.trusted = False
        """True once the server has served us: a refusal then is about the request, not the settings."""
        self.last_refusal: tuple[str, int] | None = None
        """The reason and status of the last refusal that may be for the settings' sake."""
        self._settings = settings
        self._taken = self._started = self._silences = self._unusable = 0
        self._most_silences = max(_SILENCES, 2 * concurrency)
        self._silence = f"no answer to {self._most_silences} requests in a row within {timeout:g} s each"
        self._silent = self._silent_before = self._ever_usable = False
        self._first = max(_REFUSALS, concurrency)
        self._first_refused: set[int] = set()
        self._reason = self._excerpt = ""
        self._lock = threading.Lock()

    @property
    def limit_reached(self) -> bool:
        return self.max_calls is not None and self._taken >= self.max_calls

    def left(self, wanted: int) -> int:
        """How many of the wanted requests the limit still allows."""
        return wanted if self.max_calls is None else max(0, min(wanted, self.max_calls - self._taken))

    def limit_reason(self, *, again: bool = False) -> str:
        """The reason of a question without an answer; `again`: it was asked before."""
        return f"not asked{' again' if again else ''}: the limit of {self.max_calls} model calls was reached"

    def new_run(self) -> None:
        """Record that other questions follow: those in vain are then not asked, rather than given up."""
        self._silent_before = self._silent

    def start(self, *, divisible: bool) -> int:
        """Number a request; raises StopAsking where it would be in vain. A `divisible` one takes no number."""
        if self._all_unusable:
            raise StopAsking(f"given up: {self._unusable_reason}", sent=False)
        if self._silent:
            raise StopAsking(f"{'not asked' if self._silent_before else 'given up'}: {self._silence}", sent=False)
        with self._lock:
            self._started += not divisible
            return self._started

    def take(self) -> None:
        """Count a request that is about to be sent; raises StopAsking where the limit is reached."""
        with self._lock:
            if self.limit_reached:
                raise StopAsking(self.limit_reason(), sent=False)
            self._taken += 1

    def give_back(self) -> None:
        """Uncount a request that did not reach the server."""
        with self._lock:
            self._taken -= 1

    def replied(self) -> None:
        """Record a reply of any kind."""
        with self._lock:
            self._silences = 0

    def unanswered(self) -> None:
        """Record a request that ran out of time; raises StopAsking after too many in a row."""
        with self._lock:
            self._silences += 1
            self._silent = self._silent or self._silences >= self._most_silences
        if self._silent:
            raise StopAsking(f"given up: {self._silence}")

    def refused(self, reason: str, status: int, number: int) -> bool:
        """Record a refusal; True if no request will be served, by all that went out first, in whatever order."""
        with self._lock:
            self.last_refusal = (reason, status)
            self._first_refused |= {number} if number <= self._first else set()
            return not self.trusted and len(self._first_refused) == self._first

    def usable(self) -> None:
        """Record an answer that is usable, at least in part."""
        self._ever_usable = True

    def unusable(self, reason: str, reply: JsonObject | None = None) -> None:
        """Record an unusable answer; raises StopAsking after too many without a usable one."""
        # An error of the server's, such as a gateway may tell in a 200, is none of the model's answers.
        if self._ever_usable or (reply is not None and reply.get("error")):
            return
        with self._lock:
            if not self._all_unusable:
                self._unusable += 1
                self._reason, self._excerpt = reason, self._shown(ChatReply.of(reply or {}).content)
        if self._all_unusable:
            raise StopAsking(f"given up: {self._unusable_reason}")

    @property
    def warnings(self) -> list[str]:
        warnings = []
        if self._silent:
            warnings.append(
                f"{self._settings.server_name} gave {self._silence}, so it was asked no more and the rest is "
                "undecided. Check that it is running and not overloaded (a lower --concurrency may help), then run the "
                "same command again with the same --out."
            )
        if self._all_unusable:
            why = self._unusable_reason
            excerpt = f' The model said: "{self._excerpt}".' if self._excerpt else ""
            warnings.append(
                f"{why[0].upper()}{why[1:]}, so {self._settings.model} was asked no more and the rest is undecided."
                f"{excerpt} Check the settings, or use a model that answers in JSON as it is told to; then run the same"
                " command again with the same --out."
            )
        return warnings

    @property
    def _all_unusable(self) -> bool:
        return not self._ever_usable and self._unusable >= _MOST_UNUSABLE

    @property
    def _unusable_reason(self) -> str:
        return f"none of {_MOST_UNUSABLE} answers could be used ({self._reason})"

    def _shown(self, text: str) -> str:
        text = text[: 100 * _EXCERPT]
        if self._settings.api_key.is_in(text):
            return "(left out: it repeats a part of the key)"
        return one_line(text, _EXCERPT)
