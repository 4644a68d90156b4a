"""Questions to a chat model whose answer is one of a few words and a reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Generic, Self, TypeVar

from metareview.judges.protocol import Planned
from metareview.judges.remote.answers import JsonObject, Malformed, Redact
from metareview.judges.remote.asking import AskResult
from metareview.judges.remote.model import RemoteModel
from metareview.judges.remote.prompt import TEMPERATURE, TemplatePrompt, strict_format
from metareview.model.words import one_line

Q = TypeVar("Q")
Word = TypeVar("Word", bound=str)


@dataclass(frozen=True, slots=True)
class WordAnswer(Generic[Word]):
    """A model's checked verdict that is one of a few words. The cache keeps these two fields."""

    verdict: Word
    reason: str


class OneWordPrompt(TemplatePrompt[Q, WordAnswer[Word]]):
    """A prompt whose answer is a word and a reason."""

    words: Sequence[Word]
    """The words that a verdict may be."""
    key, in_words = "verdict", "a verdict"

    def __init__(self) -> None:
        words = {"type": "string", "enum": list(self.words)}
        self.response_format = strict_format("verdict", verdict=words, reason={"type": "string"})

    def of_word(self, word: str) -> JsonObject:
        return {"verdict": word}

    def check(self, value: JsonObject, question: Q, redact: Redact = one_line) -> WordAnswer[Word]:
        given = value.get("verdict")
        verdict = next((word for word in self.words if word == given), None)
        if verdict is None:
            raise Malformed(f'the answer\'s "verdict" is none of {", ".join(self.words)}')
        return WordAnswer(verdict, redact(str(value.get("reason") or "")))

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
        results = self.ask_loop(self.prompt, questions).run(self.progress)
        found = [results[question] for question in questions]
        self.usage.cached += sum(result.by == "cache" for result in found)
        return found

    def planned(self, questions: Sequence[Q]) -> Planned:
        """The calls to come at most, after the cache. Asks nothing."""
        return self.ask_loop(self.prompt, questions).planned()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
