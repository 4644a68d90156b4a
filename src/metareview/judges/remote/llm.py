"""`llm`: a chat model says whether two comments raise the same issue. OpenAI-compatible, temperature 0.

It is asked about each distinct pair of notes, or about each reviewer and pull request in a list; over all pull requests
at once, each question once, and what the cache knows is not asked. An answer is in the cache before it is handed on. A
pair without an answer is undecided, with the reason, and the next run asks about it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, Unpack

from metareview.judges.protocol import Answer, Planned, Question
from metareview.judges.registry import PAIR, REVIEW, JudgeOptions, check_ask
from metareview.judges.remote.chat import PARAMETERS, Chat, Outcome
from metareview.judges.remote.judge import Pair, RemoteJudge, RemoteKeywords, as_answer, keywords_of, sendable_pairs
from metareview.judges.remote.list_chat import ListModel
from metareview.judges.remote.lists import VERSION as LIST_VERSION
from metareview.judges.remote.prompt import RESPONSE_FORMAT, VERSION, load_prompt
from metareview.judges.remote.settings import ModelSettings
from metareview.judges.remote.verdict import ModelAnswer, Verdict, check_answer, read_answer

_CHAT: Chat[Pair, ModelAnswer] = Chat(
    lambda pair, code: load_prompt().messages(*pair, code),
    RESPONSE_FORMAT,
    read_answer,
    lambda pair: pair,
    check_answer,
)


class LlmJudge(ListModel, RemoteJudge):
    """Asks a chat model: with `ask="pair"` one call per distinct pair of notes; with `ask="review"` one per question,
    that is, per reviewer and pull request, which holds all notes that are in a pair.

    `threshold` replaces the model's own `match`: a pair is the same where its score reaches it.
    """

    name = "llm"

    def __init__(
        self, settings: ModelSettings | None = None, *, ask: str = PAIR, **options: Unpack[RemoteKeywords]
    ) -> None:
        check_ask(ask)
        self._in_lists = ask == REVIEW
        self.parameters = {"prompt": LIST_VERSION if self._in_lists else VERSION, **PARAMETERS}
        super().__init__(settings, **options)
        if self._in_lists:  # left out for pairs, so that runs from before there was a choice go on
            self.parameters = {**self.parameters, "ask": REVIEW}

    @classmethod
    def of(cls, options: JudgeOptions) -> Self:
        return cls(ask=options.ask or PAIR, **keywords_of(options))

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        if not self._in_lists:
            return super().judge(questions)
        answers = []
        for outcomes in self._ask_lists([sendable_pairs(question) for question in questions]):
            verdicts = list(map(self._verdict, outcomes))
            self.usage.cached += sum(verdict.by == "cache" for verdict in verdicts)
            answers.append(as_answer(verdicts))
        return answers

    def planned(self, questions: Sequence[Question]) -> Planned:
        if not self._in_lists:
            return super().planned(questions)
        return self._planned_lists([sendable_pairs(question) for question in questions])

    def _ask(self, pairs: Sequence[Pair]) -> list[Verdict]:
        outcomes = self._chat(_CHAT, self._keys(pairs))
        verdicts = {pair: self._verdict(outcome) for pair, outcome in outcomes.items()}
        return [verdicts[pair] for pair in pairs]

    def _calls(self, pairs: Sequence[Pair]) -> list[int]:
        return load_prompt().characters(self._unanswered(_CHAT, self._keys(pairs)))

    def _verdict(self, outcome: Outcome[ModelAnswer]) -> Verdict:
        if outcome.answer is None:
            return Verdict.undecided(outcome.reason)
        return Verdict.of(outcome.answer, self.threshold, outcome.by)

    def _keys(self, pairs: Sequence[Pair]) -> dict[Pair, str]:
        return {pair: self._key(pair) for pair in dict.fromkeys(pairs)}

    def _key(self, pair: Pair) -> str:
        return self._verdict_key(VERSION, PARAMETERS, pair)
