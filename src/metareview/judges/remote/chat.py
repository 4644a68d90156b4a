"""Questions to a chat model, OpenAI-compatible, at temperature 0: each once, from the cache where it has the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Generic, TypeVar

from metareview.judges.remote import context
from metareview.judges.remote.model import OTHER_PROCESS, Job, RemoteModel
from metareview.judges.remote.pool import NotYet
from metareview.judges.remote.prompt import request_code
from metareview.judges.remote.quotation import Quotable
from metareview.judges.remote.verdict import AddressedAnswer, IssueAnswer, JsonObject, Malformed, ModelAnswer, Shown

PARAMETERS: JsonObject = {"temperature": 0}
Told = TypeVar("Told", ModelAnswer, IssueAnswer, AddressedAnswer)


@dataclass(frozen=True, slots=True)
class Chat(Generic[Job, Told]):
    """One kind of question: how it is put, and how its answer is read and, from the cache, checked again."""

    messages: Callable[[Job, str], list[dict[str, str]]]
    """Of a job, and of the code of its request."""
    response_format: JsonObject
    read: Callable[[str, Iterable[str], Shown, str], Told]
    """Of what a model wrote, the notes that it was asked about, what may be kept of a reason, and the code."""
    notes: Callable[[Job], Iterable[str]]
    """All that a stranger wrote in the question of a job."""
    check: Callable[[object], Told]

    def kept(self, stored: Mapping[str, JsonObject], keys: Mapping[Job, str]) -> dict[Job, Told]:
        """The answers to these jobs among stored values: a value that is none is asked for anew. So is one that a note
        holds, which is from before such answers were refused."""
        answers = {}
        for job, key in keys.items():
            with suppress(Malformed):
                if key in stored and not Quotable(self.notes(job)).holds(stored[key]):
                    answers[job] = self.check(stored[key])
        return answers


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Told]):
    """What came of a question: the answer and who gave it (model or cache), or the reason why there is none."""

    answer: Told | None
    by: str = "model"
    reason: str = ""


class ChatModel(RemoteModel):
    """A chat model, asked one question per call."""

    kind, operation = "LLM", "chat/completions"
    optional_fields = ("response_format", "temperature")

    def _chat(self, chat: Chat[Job, Told], keys: Mapping[Job, str]) -> dict[Job, Outcome[Told]]:
        """What comes of each question, by its job; `keys` are those of the cache."""
        by = "model" if self.cache is None else "cache"
        known = chat.kept(self._stored(keys.values()), keys)
        outcomes = {job: Outcome(answer, by) for job, answer in known.items()}
        if outcomes:
            # Its answers are here: what the server refuses now, it refuses for the question's sake.
            self._endpoint.trusted = True
        unknown = [job for job in keys if job not in outcomes]
        allowed = self._calls_left(len(unknown))
        outcomes.update((job, Outcome(None, reason=self._limit_reached())) for job in unknown[allowed:])
        request = {"model": self.settings.model, **PARAMETERS, "response_format": chat.response_format}
        sent: set[Job] = set()

        def attempt(job: Job) -> None:
            key = keys[job]
            claim = self._claim([key])
            if answers := chat.kept(claim.known, {job: key}):
                outcomes[job] = Outcome(answers[job], "cache")
                return
            if key not in claim.mine and key not in claim.known:
                raise NotYet(OTHER_PROCESS, sent=False)
            with self._asking([key]):
                code = request_code(*chat.notes(job))
                reply = self._post(job, {**request, "messages": chat.messages(job, code)}, sent)
                with self._reading(reply):
                    answer = chat.read(content_of(reply), chat.notes(job), self._shown, code)
                self._keep(key, asdict(answer))
            outcomes[job] = Outcome(answer)

        def give_up(job: Job, reason: str) -> None:
            outcomes[job] = Outcome(None, reason=reason)

        self._send(unknown[:allowed], attempt, give_up, sent)
        return outcomes

    def _shown(self, text: str) -> str:
        """What may be shown and kept of a text that the model wrote."""
        return self.settings.api_key.line_of(text, instead="(left out: it repeats a part of the key)")

    def _unanswered(self, chat: Chat[Job, Told], keys: Mapping[Job, str]) -> list[Job]:
        """Those of these jobs that the cache has no answer to."""
        known = chat.kept(self._stored(keys.values()), keys)
        return [job for job in keys if job not in known]


def content_of(reply: JsonObject) -> str:
    """The text of the first choice, its parts joined. Nothing else that the server says is shown."""
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices:
        raise Malformed("the reply has an error and no choices" if reply.get("error") else "the reply has no choices")
    if cut := context.cut_answer(reply):
        raise cut
    message = choices[0].get("message") if isinstance(choices[0], dict) else None
    message = message if isinstance(message, dict) else {}
    content, refusal = message.get("content"), message.get("refusal")
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(text for text in texts if isinstance(text, str))
    if not content and isinstance(refusal, str):
        raise Malformed("the model declines to answer")
    if not isinstance(content, str) or not content.strip():
        raise Malformed("the answer is empty")
    return content
