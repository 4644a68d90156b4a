"""A chat model says whether a later change did what a comment asks: fully, partly, not, or that it cannot tell.

Each distinct question is asked once; answers are kept in the verdict cache. The wording is a data file, and its version
is in every cache key. The comment, its code and the change are quoted verbatim between marker lines with a code that
occurs in none of them. A question has bounded size: each of the three up to a length.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from string import Template
from types import MappingProxyType
from typing import Self

from metareview.judges.protocol import Parameters
from metareview.judges.registry import JudgeOptions
from metareview.judges.remote.cache import VerdictCache
from metareview.judges.remote.chat import PARAMETERS, Chat, ChatModel
from metareview.judges.remote.prompt import sendable, strict_format
from metareview.judges.remote.verdict import AddressedAnswer, check_addressed_answer, read_addressed_answer
from metareview.model.addressed import ADDRESSED_VERDICTS, CACHE, MODEL, Addressed
from metareview.model.comment import Comment

VERSION = "addressed-2"
COMMENT_LENGTH, CODE_LENGTH, CHANGE_LENGTH = 4_000, 3_000, 9_000
"""How many characters of each are shown."""
CUT = "[… cut]"

RESPONSE_FORMAT = strict_format(
    "verdict", verdict={"type": "string", "enum": list(ADDRESSED_VERDICTS)}, reason={"type": "string"}
)


@dataclass(frozen=True, slots=True)
class AddressedQuestion:
    """What is shown of a comment: its note behind a line that says where it points, its code, and the later change."""

    comment: str
    code: str
    """The lines that it points at; empty where they are not known."""
    change: str

    @classmethod
    def of(cls, comment: Comment, code: str | None, change: str) -> AddressedQuestion:
        """As much of each as a question holds."""
        return cls(
            _cut(_with_place(comment), COMMENT_LENGTH), _cut(code or "", CODE_LENGTH), _cut(change, CHANGE_LENGTH)
        )

    def texts(self) -> tuple[str, str, str]:
        """All that a stranger wrote in it."""
        return self.comment, self.code, self.change


def _cut(text: str, length: int) -> str:
    text = sendable(text[: length + 1])
    return text if len(text) <= length else f"{text[:length]}\n{CUT}"


def _with_place(comment: Comment) -> str:
    """The note behind a line that says where it points. The path is a stranger's text like the note."""
    if not comment.path:
        return f"On the pull request as a whole:\n{comment.note}"
    lines = sorted({line for line in (comment.from_line, comment.to_line) if line is not None})
    where = f", line {' to '.join(map(str, lines))}" if lines else ""
    old = " of the old version" if lines and (comment.side or "").strip().casefold() == "left" else ""
    return f"At {comment.path}{where}{old}:\n{comment.note}"


def messages(question: AddressedQuestion, code: str) -> list[dict[str, str]]:
    """The two messages that ask what became of a comment."""
    system, user = _prompt()

    def quoted(kind: str, text: str) -> str:
        return f"<<<{kind} {code}\n{text}\n{kind} {code}>>>"

    # One pass over the template: what a note or a patch holds, `$change` included, is never looked at again.
    text = user.substitute(
        comment=quoted("COMMENT", question.comment),
        code=quoted("CODE", question.code) if question.code else "(they are not known)",
        change=quoted("CHANGE", question.change),
        request=code,
    )
    return [{"role": "system", "content": system}, {"role": "user", "content": text}]


@cache
def _prompt() -> tuple[str, Template]:
    file = resources.files("metareview") / "data" / f"{VERSION}.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    return data["system"], Template(data["user"])


_CHAT: Chat[AddressedQuestion, AddressedAnswer] = Chat(
    messages, RESPONSE_FORMAT, read_addressed_answer, AddressedQuestion.texts, check_addressed_answer
)


class AddressedModel(ChatModel):
    """Asks a chat model what became of comments, one call per distinct question."""

    name = "addressed"
    parameters: Parameters = MappingProxyType({"prompt": VERSION, **PARAMETERS})

    @classmethod
    def of(cls, options: JudgeOptions) -> Self:
        """The model that the options describe, with the settings of the environment."""
        cache = VerdictCache(options.cache)
        return cls(concurrency=options.concurrency, cache=cache, max_calls=options.max_llm_calls)

    def ask(self, questions: Sequence[AddressedQuestion]) -> list[Addressed]:
        """The verdict on each question, in their order; None, with the reason, where none could be had."""
        outcomes = self._chat(_CHAT, self._keys(questions))
        found = [outcomes[question] for question in questions]
        self.usage.cached += sum(outcome.by == CACHE for outcome in found)
        return [
            Addressed(None, MODEL, outcome.reason)
            if outcome.answer is None
            else Addressed(outcome.answer.verdict, outcome.by, outcome.answer.reason)
            for outcome in found
        ]

    def planned_calls(self, questions: Sequence[AddressedQuestion]) -> int:
        """How many calls it would take at most, after the cache. Asks nothing."""
        return self._calls_left(len(self._unanswered(_CHAT, self._keys(questions))))

    def _keys(self, questions: Sequence[AddressedQuestion]) -> dict[AddressedQuestion, str]:
        return {question: self._key(question) for question in dict.fromkeys(questions)}

    def _key(self, question: AddressedQuestion) -> str:
        return self._verdict_key(VERSION, PARAMETERS, question.texts())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
