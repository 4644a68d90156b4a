"""A chat model says of an issue that no reference covers whether it is valid, invalid or a repeat.

Each distinct issue is asked about once; answers are kept in the verdict cache. The wording is a data file, and its
version is in every cache key. Notes are quoted verbatim between marker lines with a code that occurs in none of them,
as those of pairs are. A question has bounded size: the first comments of an issue and the first references of its pull
request, each up to a length.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from string import Template
from types import MappingProxyType
from typing import Self

from metareview.judges.protocol import Parameters
from metareview.judges.registry import JudgeOptions
from metareview.judges.remote.cache import VerdictCache
from metareview.judges.remote.chat import PARAMETERS, Chat, ChatModel, Outcome
from metareview.judges.remote.prompt import sendable, strict_format
from metareview.judges.remote.verdict import IssueAnswer, check_issue_answer, read_issue_answer
from metareview.model.label import ISSUE_VERDICTS

VERSION = "validity-2"
COMMENTS, COMMENT_LENGTH = 8, 4_000
"""How many comments of an issue are shown, and how many characters of each."""
REFERENCES, REFERENCE_LENGTH = 40, 600
"""The same of the pull request's references."""

RESPONSE_FORMAT = strict_format(
    "verdict", verdict={"type": "string", "enum": list(ISSUE_VERDICTS)}, reason={"type": "string"}
)


@dataclass(frozen=True, slots=True)
class IssueQuestion:
    """What is shown of an issue: notes of its comments and of the references, each with its place in a first line."""

    comments: tuple[str, ...]
    references: tuple[str, ...]

    @classmethod
    def of(cls, comments: Sequence[str], references: Sequence[str]) -> IssueQuestion:
        """Equal notes once, as many and as much of each as a question holds."""
        return cls(
            tuple(dict.fromkeys(_cut(note, COMMENT_LENGTH) for note in comments))[:COMMENTS],
            tuple(dict.fromkeys(_cut(note, REFERENCE_LENGTH) for note in references))[:REFERENCES],
        )

    def notes(self) -> tuple[str, ...]:
        return self.comments + self.references


def _cut(note: str, length: int) -> str:
    note = sendable(note[: length + 1])
    return note if len(note) <= length else note[:length] + " […]"


def messages(question: IssueQuestion, code: str) -> list[dict[str, str]]:
    """The two messages that ask about an issue."""
    system, user = _prompt()

    def quoted(kind: str, notes: Sequence[str]) -> Iterator[str]:
        for number, note in enumerate(notes, 1):
            yield f"<<<{kind} {number} {code}\n{note}\n{kind} {number} {code}>>>"

    # One pass over the template: what a note holds, `$comments` included, is never looked at again.
    text = user.substitute(
        comments="\n".join(quoted("COMMENT", question.comments)),
        references="\n".join(quoted("REFERENCE", question.references)) or "(there are none)",
        request=code,
    )
    return [{"role": "system", "content": system}, {"role": "user", "content": text}]


@cache
def _prompt() -> tuple[str, Template]:
    file = resources.files("metareview") / "data" / f"{VERSION}.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    return data["system"], Template(data["user"])


_CHAT: Chat[IssueQuestion, IssueAnswer] = Chat(
    messages, RESPONSE_FORMAT, read_issue_answer, IssueQuestion.notes, check_issue_answer
)


class ValidityModel(ChatModel):
    """Asks a chat model about unlisted issues, one call per distinct one."""

    name = "validity"
    parameters: Parameters = MappingProxyType({"prompt": VERSION, **PARAMETERS})

    @classmethod
    def of(cls, options: JudgeOptions) -> Self:
        """The model that the options describe, with the settings of the environment."""
        cache = VerdictCache(options.cache)
        return cls(concurrency=options.concurrency, cache=cache, max_calls=options.max_llm_calls)

    def ask(self, questions: Sequence[IssueQuestion]) -> list[Outcome[IssueAnswer]]:
        """What comes of each question, in their order: the answer, or the reason why there is none."""
        outcomes = self._chat(_CHAT, self._keys(questions))
        found = [outcomes[question] for question in questions]
        self.usage.cached += sum(outcome.by == "cache" for outcome in found)
        return found

    def planned_calls(self, questions: Sequence[IssueQuestion]) -> int:
        """How many calls it would take at most, after the cache. Asks nothing."""
        return self._calls_left(len(self._unanswered(_CHAT, self._keys(questions))))

    def _keys(self, questions: Sequence[IssueQuestion]) -> dict[IssueQuestion, str]:
        return {question: self._key(question) for question in dict.fromkeys(questions)}

    def _key(self, question: IssueQuestion) -> str:
        notes = [str(len(question.comments)), *question.notes()]
        return self._verdict_key(VERSION, PARAMETERS, notes)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
