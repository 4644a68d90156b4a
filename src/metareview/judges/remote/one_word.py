"""Questions to a chat model whose answer is one of a few words and a reason."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Generic, Self, TypeVar

from metareview.judges.protocol import Planned
from metareview.judges.remote.answers import JsonObject, Redact, Word, WordAnswer, WordVerdicts
from metareview.judges.remote.asking import Outcome
from metareview.judges.remote.model import RemoteModel
from metareview.judges.remote.prompt import (
    TEMPERATURE,
    ChatPrompt,
    not_an_echo,
    strict_format,
    system_and_user,
    user_template,
    wording,
)

Q = TypeVar("Q")


class OneWordPrompt(ChatPrompt[Q, WordAnswer[Word]]):
    """A prompt whose data file has places for quoted texts."""

    verdicts: WordVerdicts[Word]

    def __init__(self) -> None:
        words = {"type": "string", "enum": list(self.verdicts.words)}
        self.response_format = strict_format("verdict", verdict=words, reason={"type": "string"})

    @abstractmethod
    def places(self, question: Q, code: str) -> Mapping[str, str]:
        """The texts of a question, quoted, by their place in the wording."""

    def messages(self, question: Q) -> list[dict[str, str]]:
        code = self.code(question)
        user = user_template(self.version).substitute(self.places(question, code), request=code)
        return system_and_user(wording(self.version)["system"], user)

    def parse(self, text: str, question: Q, redact: Redact) -> WordAnswer[Word]:
        return self.verdicts.read(text, self.texts(question), redact, self.code(question))

    def from_json(self, question: Q, value: JsonObject) -> WordAnswer[Word]:
        return self.verdicts.check(not_an_echo(value, self.texts(question)))

    def to_json(self, answer: WordAnswer[Word]) -> JsonObject:
        return asdict(answer)


class OneWordModel(RemoteModel, Generic[Q, Word]):
    """Asks a chat model questions of one kind, one call per distinct question."""

    prompt: OneWordPrompt[Q, Word]

    def __init_subclass__(cls) -> None:
        cls.parameters = {"prompt": cls.prompt.version, **TEMPERATURE}

    def outcomes(self, questions: Sequence[Q]) -> list[Outcome[WordAnswer[Word]]]:
        """The outcome of each question, in their order."""
        outcomes = self._ask_questions(self.prompt, questions)
        found = [outcomes[question] for question in questions]
        self.usage.cached += sum(outcome.by == "cache" for outcome in found)
        return found

    def planned(self, questions: Sequence[Q]) -> Planned:
        """The calls to come at most, after the cache. Asks nothing."""
        return self._planned_calls(self.prompt, questions)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
