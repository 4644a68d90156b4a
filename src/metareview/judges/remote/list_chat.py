"""Asking a chat model list questions: each list once, from the cache where it has the answer.

What an answer leaves open is asked again in a smaller list; so is a list that the server refuses, such as for its
length, and one whose answers cannot be read twice in a row, so that one bad note does not cost the others their
verdicts. What was answered is kept, also where a part stayed open or a list was divided: the next run asks for what is
missing and no more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace

from metareview.judges.protocol import Planned
from metareview.judges.remote.chat import PARAMETERS, ChatModel, Outcome, content_of
from metareview.judges.remote.judge import Pair
from metareview.judges.remote.list_answer import DIVIDED, ListAnswer, kept_list_answer, read_list_answer
from metareview.judges.remote.lists import RESPONSE_FORMAT, VERSION, NoteList, cut
from metareview.judges.remote.model import OTHER_PROCESS
from metareview.judges.remote.pool import GiveUp, NotYet
from metareview.judges.remote.verdict import JsonObject, Malformed, ModelAnswer

UNREADABLE = 2
"""After so many answers that cannot be read, a list is divided."""

Outcomes = dict[Pair, Outcome[ModelAnswer]]


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """A list to ask about, and where its verdicts go: to those of the list that it was a part of."""

    notes: NoteList
    key: str
    outcomes: Outcomes = field(default_factory=dict)
    divided: tuple[str, ...] = ()
    """The keys of the lists that were divided into this one and others, where the cache does not know of it yet."""

    @property
    def divisible(self) -> bool:
        return len(self.notes.asked) > 1


class ListModel(ChatModel):
    """A chat model that is asked one list of notes per call."""

    def _ask_lists(self, questions: Sequence[Sequence[Pair]]) -> list[list[Outcome[ModelAnswer]]]:
        """What comes of each pair, in its question and in their order."""
        parts, jobs = self._jobs(questions)
        unanswered = self._look_up(jobs.values())
        if {job.key for job in unanswered} != jobs.keys():
            # Its answers are here: what the server refuses now, it refuses for the question's sake.
            self._endpoint.trusted = True
        self._ask_jobs(unanswered)
        return [
            [jobs[key].outcomes[pair] for pair, key in zip(pairs, keys, strict=True)]
            for pairs, keys in zip(questions, parts, strict=True)
        ]

    def _planned_lists(self, questions: Sequence[Sequence[Pair]]) -> Planned:
        unanswered = self._look_up(self._jobs(questions)[1].values())
        allowed = self._calls_left(len(unanswered))
        return Planned(allowed, sum(job.notes.characters for job in unanswered[:allowed]))

    def _jobs(self, questions: Sequence[Sequence[Pair]]) -> tuple[list[list[str]], dict[str, _Job]]:
        """The key of the list that each pair is in, by question; and the lists by key, equal ones once."""
        jobs: dict[str, _Job] = {}
        keys: list[list[str]] = []
        for pairs in questions:
            found: dict[Pair, str] = {}
            for notes in cut(pairs):
                job = self._job(notes)
                found |= dict.fromkeys(notes.asked, job.key)
                if job.key in jobs:  # the same notes, of which other pairs may be asked about
                    job = replace(job, notes=replace(notes, asked=notes.asked | jobs[job.key].notes.asked))
                jobs[job.key] = job
            keys.append([found[pair] for pair in pairs])
        return keys, jobs

    def _job(self, notes: NoteList, outcomes: Outcomes | None = None, divided: tuple[str, ...] = ()) -> _Job:
        key = self._verdict_key(VERSION, PARAMETERS, notes.content)
        return _Job(notes, key, {} if outcomes is None else outcomes, divided)

    def _look_up(self, jobs: Iterable[_Job]) -> list[_Job]:
        """Settles what was answered before; the lists that are left to ask about, smaller ones in place of divided
        ones."""
        unanswered: list[_Job] = []
        looked_for = list(jobs)
        by = "model" if self.cache is None else "cache"
        while looked_for:
            stored = self._stored({job.key for job in looked_for})
            further: list[_Job] = []
            for job in looked_for:
                answer = _kept(stored, job)
                if answer is None:
                    unanswered.append(job)
                else:
                    further += self._settle(job, answer, by)
            looked_for = further
        return unanswered

    def _settle(self, job: _Job, answer: ListAnswer, by: str, divided: tuple[str, ...] = ()) -> list[_Job]:
        """Takes over what was answered; what it leaves open, in smaller lists."""
        verdicts = answer.verdicts(job.notes)
        job.outcomes.update((pair, Outcome(each, by)) for pair, each in verdicts.items() if each is not None)
        left = [pair for pair, each in verdicts.items() if each is None]
        return [self._job(notes, job.outcomes, divided) for notes in job.notes.smaller(left)] if left else []

    def _ask_jobs(self, jobs: Sequence[_Job]) -> None:
        """Asks the model until each pair of these lists has an outcome."""
        request = {"model": self.settings.model, **PARAMETERS, "response_format": RESPONSE_FORMAT}
        sent: set[_Job] = set()
        unreadable: Counter[_Job] = Counter()
        under_way: set[str] = set()

        def attempt(job: _Job) -> list[_Job]:
            with self._alone(job.key, under_way):
                claim = self._claim([job.key])
                known = _kept(self._stored([job.key]) if self.cache is None else claim.known, job)
                if known is not None:
                    return self._settle(job, known, "model" if self.cache is None else "cache")
                if job.key not in claim.mine and job.key not in claim.known:
                    raise NotYet(OTHER_PROCESS, sent=False)
                with self._asking([job.key]):
                    answer = self._answer(job, request, sent, unreadable)
                    if answer is DIVIDED:
                        # Not kept before a part was answered: it may be the server that is at fault, not the list.
                        return self._settle(job, answer, "model", (*job.divided, job.key))
                    for key in job.divided:
                        self._keep(key, DIVIDED.to_json())
                    self._keep(job.key, answer.to_json())
            return self._settle(job, answer, "model")

        def give_up(job: _Job, reason: str) -> None:
            job.outcomes.update(dict.fromkeys(job.notes.asked, Outcome(None, reason=reason)))

        allowed = self._calls_left(len(jobs))
        for job in jobs[allowed:]:
            give_up(job, self._limit_reached())
        self._send(jobs[:allowed], attempt, give_up, sent)

    def _answer(self, job: _Job, request: JsonObject, sent: set[_Job], unreadable: Counter[_Job]) -> ListAnswer:
        """The model's answer; that the list is divided where there will be none."""
        try:
            reply = self._post(job, {**request, "messages": job.notes.messages}, sent, divisible=job.divisible)
        except GiveUp:
            if not job.divisible:
                raise
            return DIVIDED
        try:
            with self._reading(reply):
                return read_list_answer(_whole_content(reply), job.notes, self._shown)
        except Malformed:
            unreadable[job] += 1
            if not job.divisible or unreadable[job] < UNREADABLE:
                raise
            return DIVIDED

    @contextmanager
    def _alone(self, key: str, under_way: set[str]) -> Iterator[None]:
        """Two lists may leave the same smaller one: the second waits for the answer to the first."""
        with self._lock:
            if key in under_way:
                raise NotYet("asked already", sent=False)
            under_way.add(key)
        try:
            yield
        finally:
            with self._lock:
                under_way.discard(key)


def _kept(stored: Mapping[str, JsonObject], job: _Job) -> ListAnswer | None:
    """The answer among stored values: a value that is none is asked for anew."""
    with suppress(Malformed):
        return kept_list_answer(stored[job.key], job.notes) if job.key in stored else None
    return None


def _whole_content(reply: JsonObject) -> str:
    """The text of a reply that was not cut off: what is not listed is a no, so the end must be there."""
    content = content_of(reply)
    if reply["choices"][0].get("finish_reason") in ("length", "content_filter"):
        raise Malformed("the answer was cut off")
    return content
