"""Questions to a chat model whose answer is one of a few words and a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Generic, Self, TypeVar

from metareview.judges.protocol import Planned
from metareview.judges.remote.answers import JsonObject, Redact, Word, WordAnswer, WordVerdicts
from metareview.judges.remote.asking import AskResult
from metareview.judges.remote.model import RemoteModel
from metareview.judges.remote.prompt import TEMPERATURE, TemplatePrompt, not_an_echo, strict_format

Q = TypeVar("Q")


class OneWordPrompt(TemplatePrompt[Q, WordAnswer[Word]]):
    """A prompt whose answer is a word and a reason."""

    verdicts: WordVerdicts[Word]

    def __init__(self) -> None:
        words = {"type": "string", "enum": list(self.verdicts.words)}
        self.response_format = strict_format("verdict", verdict=words, reason={"type": "string"})

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
        super().__init_subclass__()
        cls.parameters = {"prompt": cls.prompt.version, **TEMPERATURE}

    def results(self, questions: Sequence[Q]) -> list[AskResult[WordAnswer[Word]]]:
        """The result of each question, in their order."""
        results = self._ask_questions(self.prompt, questions)
        found = [results[question] for question in questions]
        self.usage.cached += sum(result.by == "cache" for result in found)
        return found

    def planned(self, questions: Sequence[Q]) -> Planned:
        """The calls to come at most, after the cache. Asks nothing."""
        return self._planned_calls(self.prompt, questions)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
