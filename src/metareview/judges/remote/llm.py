"""`llm`: a chat model says whether two comments raise the same issue. OpenAI-compatible, temperature 0.

It is asked about each distinct pair of notes, or about each reviewer and pull request in a list; over all pull requests
at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import Self, Unpack

from metareview.judges.pair_verdicts import PairVerdict
from metareview.judges.protocol import DIFFERENT, SAME, Planned
from metareview.judges.registry import PAIR, REVIEW, JudgeOptions, check_ask
from metareview.judges.remote.answers import JsonObject, Malformed, PairAnswer, Redact, is_confidence
from metareview.judges.remote.asking import AskResult
from metareview.judges.remote.list_prompt import ListPrompt, ReviewLists
from metareview.judges.remote.model import RemoteOptions, remote_options
from metareview.judges.remote.pairs import Pair, RemoteJudge
from metareview.judges.remote.prompt import TEMPERATURE, TemplatePrompt, strict_format
from metareview.judges.remote.settings import ModelSettings
from metareview.model.words import one_line


class PairPrompt(TemplatePrompt[Pair, PairAnswer]):
    """Do two notes raise the same issue?"""

    version = "2"
    response_format = strict_format(
        "verdict", match={"type": "boolean"}, confidence={"type": "number"}, reason={"type": "string"}
    )
    """Without the range of `confidence`, since several servers refuse `minimum` in a strict schema."""

    key, in_words = "match", "a yes or no"
    lone_words = MappingProxyType({"yes": True, "no": False})

    def texts(self, question: Pair) -> Pair:
        return question

    @property
    def file(self) -> str:
        return f"prompt-{self.version}"

    def places(self, question: Pair, code: str) -> dict[str, str]:
        return {"code": code, "generated": question[0], "reference": question[1]}

    def characters(self, question: Pair) -> int:
        return self._frame + sum(map(len, question))

    @cached_property
    def _frame(self) -> int:
        return super().characters(("", ""))

    def of_word(self, word: str) -> JsonObject:
        return {"match": word == "yes", "confidence": 1.0}

    def check(self, value: JsonObject, question: Pair, redact: Redact = one_line) -> PairAnswer:
        match, confidence = value.get("match"), value.get("confidence")
        if not isinstance(match, bool):
            raise Malformed('the answer\'s "match" is neither true nor false')
        if not is_confidence(confidence):
            raise Malformed('the answer\'s "confidence" is no number from 0 to 1')
        return PairAnswer(match, float(confidence), redact(str(value.get("reason") or "")))

    def to_json(self, answer: PairAnswer) -> JsonObject:
        return asdict(answer)


class LlmJudge(RemoteJudge):
    """Asks a chat model: with `ask="pair"` one call per distinct pair of notes; with `ask="review"` one per question,
    that is, per reviewer and pull request, which holds all notes that are in a pair.

    `threshold` replaces the model's own `match`: a pair is the same where its score reaches it.
    """

    name = "llm"

    def __init__(
        self, settings: ModelSettings | None = None, *, ask: str = PAIR, **options: Unpack[RemoteOptions]
    ) -> None:
        check_ask(ask)
        self._pairs, self._lists = PairPrompt(), ListPrompt()
        self._in_lists = ask == REVIEW
        self.parameters = {"prompt": (self._lists if self._in_lists else self._pairs).version, **TEMPERATURE}
        super().__init__(settings, **options)
        if self._in_lists:  # left out for pairs, so that runs from before there was a choice go on
            self.parameters = {**self.parameters, "ask": REVIEW}

    @classmethod
    def of(cls, options: JudgeOptions) -> Self:
        return cls(ask=options.ask or PAIR, **remote_options(options))

    def _verdicts(self, reviews: Sequence[Sequence[Pair]]) -> list[list[PairVerdict]]:
        if self._in_lists:
            lists = ReviewLists.of(reviews)
            found = lists.by_pair(self._lists, self.ask_loop(self._lists, lists.merged.values()).run(self.progress))
        else:
            results = self.ask_loop(self._pairs, chain.from_iterable(reviews)).run(self.progress)
            found = [results] * len(reviews)
        return [[self._verdict(of_pair[pair]) for pair in pairs] for pairs, of_pair in zip(reviews, found, strict=True)]

    def _planned(self, reviews: Sequence[Sequence[Pair]]) -> Planned:
        if self._in_lists:
            return self.ask_loop(self._lists, ReviewLists.of(reviews).merged.values()).planned()
        return self.ask_loop(self._pairs, chain.from_iterable(reviews)).planned()

    def _verdict(self, result: AskResult[PairAnswer]) -> PairVerdict:
        answer = result.answer
        if answer is None:
            return PairVerdict.undecided(result.reason)
        score = answer.confidence if answer.match else 1.0 - answer.confidence
        if self.threshold is not None:
            return PairVerdict.of_score(score, self.threshold, answer.reason, result.by)
        return PairVerdict(SAME if answer.match else DIFFERENT, score, answer.reason, result.by)
