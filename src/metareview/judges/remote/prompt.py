"""Prompts: for each kind of question what is asked, the parts of its cache key, and how an answer is read.

Notes are hostile input. Each is quoted verbatim, once; quotations carry a random code that occurs in no note, so that
no note can close its own quotation or open another. The instruction comes before the notes and again after them. The
answer repeats the code: one to another request does not count. Wordings are data files; their versions are in every
cache key.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import count
from string import Template
from typing import Generic, TypeVar

from metareview.judges.protocol import judged_part
from metareview.judges.remote import context
from metareview.judges.remote.answers import ECHOES, ChatReply, JsonObject, Malformed, Redact, answer_in
from metareview.judges.remote.echoed_notes import EchoedNotes
from metareview.model.words import one_line

Q = TypeVar("Q")
A = TypeVar("A")
TEMPERATURE: JsonObject = {"temperature": 0}
_CODE_LENGTH = 16
_SALT = secrets.token_hex()


class PartlyRead(Malformed, Generic[Q, A]):
    """The reply answers only some of its questions."""

    def __init__(self, reason: str, answers: Mapping[Q, A]) -> None:
        super().__init__(reason)
        self.answers = answers


class Prompt(ABC, Generic[Q, A]):
    """One kind of question. Questions are hashable and compared by value; a request holds `batch` of them."""

    version = ""
    parameters: Mapping[str, object] = {}
    """Of the request; part of the cache key."""
    batch = 1
    """Questions per request; fewer once the server has refused so many."""
    largest_served = 0

    @abstractmethod
    def key_parts(self, question: Q) -> Sequence[str]:
        """The texts of a question that its cache key is made of."""

    @abstractmethod
    def characters(self, question: Q) -> int:
        """The length of the messages about a question, for estimates."""

    @abstractmethod
    def body(self, batch: Sequence[Q]) -> JsonObject:
        """The request about these questions, but for the model's name."""

    @abstractmethod
    def read(self, batch: Sequence[Q], reply: JsonObject, redact: Redact) -> Mapping[Q, A]:
        """The answer to each question of the batch; raises Malformed."""

    @abstractmethod
    def to_json(self, answer: A) -> JsonObject:
        """The value that the cache keeps."""

    @abstractmethod
    def from_json(self, question: Q, value: JsonObject) -> A:
        """A kept value, checked again; raises Malformed, and the question is then asked anew."""

    def divided(self, question: Q) -> A | None:
        """The answer that stands for "asked in parts"; None for a question that cannot be divided."""
        return None

    def parts(self, question: Q, answer: A) -> Sequence[Q]:
        """The smaller questions about the rest that an answer leaves open."""
        return ()


class ChatPrompt(Prompt[Q, A]):
    """A prompt for a chat model: two messages about one question, and an object with the answer under a key."""

    parameters = TEMPERATURE
    response_format: JsonObject
    key: str
    in_words: str
    """The name of an answer in words, for messages."""
    lone_words: Mapping[str, bool] = {}
    """The words that are an answer on their own, and whether a comment gains by each: it then does not count if a note
    says it."""

    @abstractmethod
    def texts(self, question: Q) -> Sequence[str]:
        """All foreign text in a question."""

    @abstractmethod
    def messages(self, question: Q) -> list[dict[str, str]]:
        """The system and the user message."""

    @abstractmethod
    def check(self, value: JsonObject, question: Q, redact: Redact = one_line) -> A:
        """The answer in an object, its fields checked; raises Malformed. A missing reason is allowed."""

    def of_word(self, word: str) -> JsonObject:
        """The object that a lone word stands for."""
        raise NotImplementedError

    def parse(self, text: str, question: Q, redact: Redact = one_line) -> A:
        """The answer in what a model wrote; raises Malformed."""
        notes = EchoedNotes(self.texts(question))
        found = answer_in(text, self.key, notes, self.lone_words, self.in_words, self.code(question))
        if isinstance(found, str):
            found = {**self.of_word(found), "reason": f"The model answered only: {found}."}
        return self.check(found, question, redact)

    def from_json(self, question: Q, value: JsonObject) -> A:
        # Earlier versions kept answers that a note holds.
        if EchoedNotes(self.texts(question)).contain(value):
            raise Malformed(ECHOES)
        return self.check(value, question)

    def code(self, question: Q) -> str:
        """The code of the request, which the answer repeats."""
        return request_code(*self.texts(question))

    def key_parts(self, question: Q) -> Sequence[str]:
        return self.texts(question)

    def characters(self, question: Q) -> int:
        return sum(len(message["content"]) for message in self.messages(question))

    def body(self, batch: Sequence[Q]) -> JsonObject:
        [question] = batch
        return {**self.parameters, "response_format": self.response_format, "messages": self.messages(question)}

    def read(self, batch: Sequence[Q], reply: JsonObject, redact: Redact) -> dict[Q, A]:
        [question] = batch
        return {question: self.parse(content_of(reply), question, redact)}


class TemplatePrompt(ChatPrompt[Q, A]):
    """A chat prompt whose user message is a template with places for foreign text."""

    @abstractmethod
    def places(self, question: Q, code: str) -> Mapping[str, str]:
        """The texts of a question by their place in the wording."""

    @property
    def file(self) -> str:
        """The name of the wording."""
        return self.version

    def messages(self, question: Q) -> list[dict[str, str]]:
        code = self.code(question)
        # One pass over the template: `$code` in a note is never replaced.
        user = _user_template(self.file).substitute(self.places(question, code), request=code)
        return system_and_user(wording(self.file)["system"], user)


def system_and_user(system: str, user: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def quoted(kind: str, code: str, text: str) -> str:
    """A text between two marker lines."""
    return f"<<<{kind} {code}\n{text}\n{kind} {code}>>>"


def answer_object(**fields: JsonObject) -> JsonObject:
    """The schema of an object with these fields, all of them required."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def strict_format(name: str, **fields: JsonObject) -> JsonObject:
    """The `response_format` of an answer with these fields and the code of its request."""
    schema = answer_object(request={"type": "string"}, **fields)
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


@cache
def wording(file: str) -> Mapping[str, str]:
    """The wording of a question in `data/FILE.json`, by the part of the messages."""
    text = (resources.files("metareview") / "data" / f"{file}.json").read_text(encoding="utf-8")
    parts: dict[str, str] = json.loads(text)
    return parts


@cache
def _user_template(file: str) -> Template:
    return Template(wording(file)["user"])


def sendable(note: str) -> str:
    """The part of a note that a model gets to read.

    Halves of surrogate pairs, which JSON can hold but no request can carry, become U+FFFD.
    """
    note = judged_part(note)
    return note if note.isascii() else note.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def shortened(text: str, length: int, mark: str) -> str:
    """The first characters of a text, sendable, with a mark where it was cut."""
    text = sendable(text[: length + 1])
    return text if len(text) <= length else text[:length] + mark


def request_code(*notes: str) -> str:
    """16 random hexadecimal digits that occur in none of the notes; for the same notes always the same in a process."""
    text = json.dumps([_SALT, *notes])
    codes = (hashlib.sha256(f"{attempt} {text}".encode()).hexdigest()[:_CODE_LENGTH] for attempt in count())
    return next(code for code in codes if not any(code in note for note in notes))


def content_of(reply: JsonObject) -> str:
    """The text of a reply's first choice, its parts joined; raises Malformed. No other text of the server is shown."""
    if not isinstance(choices := reply.get("choices"), list) or not choices:
        raise Malformed("the reply has an error and no choices" if reply.get("error") else "the reply has no choices")
    if cut := context.cut_answer(reply):
        raise cut
    answer = ChatReply.of(reply)
    if answer.declined:
        raise Malformed("the model declines to answer")
    if not answer.content.strip():
        raise Malformed("the answer is empty")
    return answer.content
