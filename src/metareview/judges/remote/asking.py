"""The ask loop of every kind of question: claim → known already? → ask → parse → keep.

Each distinct question is asked once, and not at all if the cache has its answer. An answer is in the cache before it is
handed on. A question without an answer is undecided, with the reason; the next run asks about it again.

A request may hold several questions, and some questions can be asked in parts. So what a server refuses, such as for
its length, is divided, and so is a question whose answer cannot be parsed twice in a row: one bad note does not cost
the others their verdicts. The pairs that an answer leaves open are asked about again as a smaller question.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from metareview.judges.protocol import Planned, Progress
from metareview.judges.remote.answers import JsonObject, Malformed
from metareview.judges.remote.cache import Claim, VerdictCache, verdict_key
from metareview.judges.remote.pool import GiveUp, NotYet
from metareview.judges.remote.prompt import PartlyRead, Prompt
from metareview.judges.remote.server import RemoteServer

Q = TypeVar("Q")
A = TypeVar("A")
LEASE, RENEWED_EVERY = 60.0, 15.0
"""The seconds for which a question is claimed: how long others wait for a process of another machine that is gone."""
_UNREADABLE = 2
"""The unreadable answers after which a question is asked in parts, where it can be."""


@dataclass(frozen=True, slots=True)
class AskResult(Generic[A]):
    """A question's answer and who gave it (model or cache), or the reason why there is none."""

    answer: A | None
    by: str = "model"
    reason: str = ""


class AnswerStore:
    """The kept answers: in the verdict cache or, without one, in the memory of this judge."""

    def __init__(self, cache: VerdictCache | None, judge: str, model: str, server: str) -> None:
        self.cache = cache
        self.by = "model" if cache is None else "cache"
        """Who decided the answers that are found here."""
        self._of = {"judge": judge, "model": model, "server": server}
        self._answers: dict[str, JsonObject] = {}
        self._renewed = 0.0

    def key(self, prompt: Prompt[Q, A], question: Q) -> str:
        """The cache key of the answer to a question."""
        return verdict_key(
            **self._of, prompt=prompt.version, parameters=prompt.parameters, notes=prompt.key_parts(question)
        )

    def get(self, keys: Collection[str]) -> dict[str, JsonObject]:
        if self.cache is None:
            return {key: self._answers[key] for key in keys if key in self._answers}
        return self.cache.get_many(list(keys))

    def keep(self, key: str, value: JsonObject) -> None:
        if self.cache is None:
            self._answers[key] = value
        else:
            self.cache.put(key, value, **self._of)

    def claim(self, keys: Collection[str]) -> Claim:
        """Claim keys that are about to be asked for, so that no other process asks for them meanwhile.

        This writes to the cache, so that one that is not writable is noticed before anything was paid for.
        """
        if self.cache is None:
            return Claim(self.get(keys), frozenset(keys))
        return self.cache.claim(list(keys), LEASE)

    @contextmanager
    def claims_released_on_error(self, keys: Collection[str]) -> Iterator[None]:
        try:
            yield
        except BaseException:
            if self.cache is not None:
                self.cache.release(keys)
            raise

    def renew(self) -> None:
        """Renew the claims now and then; called often."""
        if self.cache is not None and time.monotonic() - self._renewed >= RENEWED_EVERY:
            self._renewed = time.monotonic()
            self.cache.renew(LEASE)


class AskLoop(Generic[Q, A]):
    """Asks a server questions of one kind. `results` has each question's, those of its parts included."""

    def __init__(self, prompt: Prompt[Q, A], questions: Iterable[Q], server: RemoteServer, store: AnswerStore) -> None:
        self._prompt, self._server, self._store = prompt, server, store
        self.results: dict[Q, AskResult[A]] = {}
        self._keys: dict[Q, str] = {}
        self._divided: dict[Q, Mapping[str, JsonObject]] = {}
        """The values to keep once a question is answered: those of the questions that it is a part of."""
        self._unreadable: Counter[Q] = Counter()
        self._under_way: set[str] = set()
        self._sent: set[tuple[Q, ...]] = set()
        self._lock = threading.Lock()
        self.unknown = self._look_up(dict.fromkeys(questions))
        self._batches = _in_batches(self.unknown, prompt.batch)
        self._allowed = server.stop.left(len(self._batches))

    def planned(self) -> Planned:
        """The calls to come and their length."""
        allowed = self._batches[: self._allowed]
        return Planned(len(allowed), sum(self._prompt.characters(each) for batch in allowed for each in batch))

    def run(self, progress: Progress | None) -> dict[Q, AskResult[A]]:
        """Ask until each question has a result."""
        if self.results:
            # Its answers are here: what the server refuses now, it refuses for the question's sake.
            self._server.stop.trusted = True
        for batch in self._batches[self._allowed :]:
            self._give_up(batch, self._server.stop.limit_reason())
        allowed = self._batches[: self._allowed]
        self._server.run(allowed, self._attempt, self._give_up, self._sent, progress, self._store.renew)
        return self.results

    def _give_up(self, batch: Sequence[Q], reason: str) -> None:
        self.results.update(dict.fromkeys(batch, AskResult(None, reason=reason)))

    def _look_up(self, questions: Iterable[Q]) -> list[Q]:
        """Take over kept answers; returns the questions that are left, smaller ones in place of divided ones."""
        unknown: dict[Q, None] = {}
        looked_for = list(questions)
        while looked_for:
            known = self._known(self._store.get([self._key(each) for each in looked_for]), looked_for)
            further: list[Q] = []
            for question in looked_for:
                if question in known:
                    further += self._settle(question, known[question], self._store.by)
                else:
                    unknown[question] = None
            looked_for = further
        return list(unknown)

    def _key(self, question: Q) -> str:
        if question not in self._keys:
            self._keys[question] = self._store.key(self._prompt, question)
        return self._keys[question]

    def _known(self, stored: Mapping[str, JsonObject], questions: Iterable[Q]) -> dict[Q, A]:
        """The valid answers among stored values."""
        answers: dict[Q, A] = {}
        for question in questions:
            with suppress(Malformed):
                if (key := self._key(question)) in stored:
                    answers[question] = self._prompt.from_json(question, stored[key])
        return answers

    def _settle(self, question: Q, answer: A, by: str, above: Mapping[str, JsonObject] | None = None) -> list[Q]:
        """Take over an answer; returns the smaller questions about the rest that it leaves open."""
        self.results[question] = AskResult(answer, by)
        parts = [part for part in self._prompt.parts(question, answer) if part not in self.results]
        self._divided.update((part, above) for part in parts if above)
        return parts

    def _attempt(self, batch: tuple[Q, ...]) -> list[tuple[Q, ...]]:
        """Answer a batch from the store or the model; returns the batches that are left to do instead."""
        if len(batch) > self._prompt.batch:
            return _halves(batch)
        keys = {question: self._key(question) for question in batch}
        with self._alone(keys.values()):
            claim = self._store.claim(keys.values())
            known = self._known(claim.known, batch)
            further = [(part,) for each, answer in known.items() for part in self._settle(each, answer, self._store.by)]
            unknown = [question for question in batch if question not in known]
            mine = tuple(each for each in unknown if keys[each] in claim.mine or keys[each] in claim.known)
            others = tuple(each for each in unknown if each not in mine)
            if others and not mine and not known:
                raise NotYet("another process is asking", sent=False)
            if known or others:
                return [*further, *(part for part in (mine, others) if part)]
            with self._store.claims_released_on_error(keys.values()):
                return self._ask(batch)

    def _ask(self, batch: tuple[Q, ...]) -> list[tuple[Q, ...]]:
        divided = self._prompt.divided(batch[0]) if len(batch) == 1 else None
        divisible = len(batch) > 1 or divided is not None
        body = {"model": self._server.settings.model, **self._prompt.body(batch)}
        try:
            reply = self._server.post(batch, body, self._sent, divisible=divisible)
        except GiveUp:
            if len(batch) > 1:
                return self._halved(batch)
            if divided is None:
                raise
            return self._in_parts(batch[0], divided)
        self._prompt.largest_served = max(self._prompt.largest_served, len(batch))
        try:
            answers = self._prompt.read(batch, reply, self._server.redact)
        except PartlyRead as problem:
            self._keep(problem.answers)
            rest = tuple(each for each in batch if each not in problem.answers)
            raise self._server.retry(problem, reply, rest) from None
        except Malformed as problem:
            retry = self._server.retry(problem, reply)
            self._unreadable[batch[0]] += 1
            if divided is None or self._unreadable[batch[0]] < _UNREADABLE:
                raise retry from None
            return self._in_parts(batch[0], divided)
        return self._keep(answers)

    def _keep(self, answers: Mapping[Q, A]) -> list[tuple[Q, ...]]:
        """Keep answers and take them over; returns the smaller questions about the rest that they leave open."""
        if answers:
            self._server.stop.usable()
        further: list[tuple[Q, ...]] = []
        for question, answer in answers.items():
            for key, value in self._divided.get(question, {}).items():
                self._store.keep(key, value)
            self._store.keep(self._key(question), self._prompt.to_json(answer))
            further += ((part,) for part in self._settle(question, answer, "model"))
        return further

    def _in_parts(self, question: Q, divided: A) -> list[tuple[Q, ...]]:
        """Ask in parts. Not kept before one is answered: the server may be at fault, not the question."""
        above = {**self._divided.get(question, {}), self._key(question): self._prompt.to_json(divided)}
        return [(part,) for part in self._settle(question, divided, "model", above)]

    def _halved(self, batch: tuple[Q, ...]) -> list[tuple[Q, ...]]:
        if len(batch) > self._prompt.largest_served:  # too many for this server, as far as is known
            self._prompt.batch = min(self._prompt.batch, len(batch) // 2)
        return _halves(batch)

    @contextmanager
    def _alone(self, keys: Collection[str]) -> Iterator[None]:
        """Two questions may leave the same smaller one: the second waits for the answer to the first."""
        with self._lock:
            if not self._under_way.isdisjoint(keys):
                raise NotYet("asked already", sent=False)
            self._under_way.update(keys)
        try:
            yield
        finally:
            with self._lock:
                self._under_way.difference_update(keys)


def _in_batches(questions: Sequence[Q], size: int) -> list[tuple[Q, ...]]:
    return [tuple(questions[start : start + size]) for start in range(0, len(questions), size)]


def _halves(batch: tuple[Q, ...]) -> list[tuple[Q, ...]]:
    return [batch[: len(batch) // 2], batch[len(batch) // 2 :]]
