"""`llm`: a chat model says whether two comments raise the same issue. OpenAI-compatible, temperature 0.

Each distinct pair of notes is asked about once, over all pull requests at once; what the cache knows is not asked. An
answer is in the cache before it is handed on. A pair without an answer is undecided, with the reason, and the next run
asks about it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Unpack

from metareview.judges.remote.cache import JsonObject, verdict_key
from metareview.judges.remote.judge import Pair, RemoteJudge, RemoteKeywords
from metareview.judges.remote.pool import RetryLater
from metareview.judges.remote.prompt import RESPONSE_FORMAT, load_prompt, sendable
from metareview.judges.remote.settings import ModelSettings
from metareview.judges.remote.verdict import Malformed, ModelAnswer, Verdict, check_answer, one_line, read_answer

PARAMETERS: JsonObject = {"temperature": 0}


class LlmJudge(RemoteJudge[Pair]):
    """Asks the chat model of `settings` (default: the environment's), one call per distinct pair of notes.

    `threshold` replaces the model's own `match`: a pair is the same where its score reaches it.
    """

    name = "llm"

    def __init__(self, settings: ModelSettings | None = None, **keywords: Unpack[RemoteKeywords]) -> None:
        super().__init__(
            settings or ModelSettings.llm(),
            "chat/completions",
            optional_fields=("response_format", "temperature"),
            **keywords,
        )
        self._prompt = load_prompt()
        self._answered: dict[str, ModelAnswer] = {}
        self.parameters = {"model": self.settings.model, "prompt": self._prompt.version, **PARAMETERS}

    def ask(self, pairs: Sequence[Pair]) -> list[Verdict]:
        pairs = [(sendable(generated), sendable(reference)) for generated, reference in pairs]
        keys = {pair: self._key(pair) for pair in dict.fromkeys(pairs)}
        stored = self._stored(list(keys.values()))
        verdicts = {
            pair: Verdict.of(stored[key], self.threshold, "cache") for pair, key in keys.items() if key in stored
        }
        for pair, key in keys.items():
            if key in self._answered:  # earlier in this run, where no cache keeps it
                verdicts[pair] = Verdict.of(self._answered[key], self.threshold)
        if verdicts:
            # Its answers are here: what the server refuses now, it refuses for the pair's sake.
            self._endpoint.trusted = True
        unknown = [pair for pair in keys if pair not in verdicts]
        allowed = self._calls_left(len(unknown))
        verdicts.update(dict.fromkeys(unknown[allowed:], Verdict.undecided(self._limit_reached())))
        if allowed:
            self._ask_model({pair: keys[pair] for pair in unknown[:allowed]}, verdicts)
        in_order = [verdicts[pair] for pair in pairs]
        self.usage.cached += sum(verdict.by == "cache" for verdict in in_order)
        return in_order

    def uncached(self, pairs: Sequence[Pair]) -> int:
        keys = [self._key(pair) for pair in dict.fromkeys(pairs)]
        calls = len(keys) - len(self._stored(keys))
        return calls if self.max_calls is None else min(calls, self.max_calls)

    def _key(self, pair: Pair) -> str:
        notes = [sendable(note) for note in pair]
        return verdict_key(self.name, self.settings.model, self._prompt.version, PARAMETERS, notes)

    def _stored(self, keys: Sequence[str]) -> dict[str, ModelAnswer]:
        """The cache's answers, checked again: a value that is none is asked for anew."""
        answers = {}
        for key, value in (self.cache.get_many(keys) if self.cache else {}).items():
            try:
                answers[key] = check_answer(value)
            except Malformed:
                continue
        return answers

    def _ask_model(self, keys: Mapping[Pair, str], verdicts: dict[Pair, Verdict]) -> None:
        """Asks about every pair of `keys` and adds its verdict to `verdicts`."""
        sent: set[Pair] = set()

        def attempt(pair: Pair) -> None:
            answer = self._read(self._post(pair, self._body(pair), sent))
            self._keep(keys[pair], answer)
            verdicts[pair] = Verdict.of(answer, self.threshold)

        def give_up(pair: Pair, reason: str) -> None:
            verdicts[pair] = Verdict.undecided(reason)

        self._send(list(keys), attempt, give_up, sent)

    def _body(self, pair: Pair) -> JsonObject:
        messages = self._prompt.messages(generated=pair[0], reference=pair[1])
        return {"model": self.settings.model, "messages": messages, **PARAMETERS, "response_format": RESPONSE_FORMAT}

    def _read(self, reply: JsonObject) -> ModelAnswer:
        """The answer in a reply; RetryLater where there is none."""
        hide = self.settings.api_key.hide_in
        try:
            answer = read_answer(_content(reply, hide))
        except Malformed as problem:
            raise RetryLater(str(problem)) from None
        return replace(answer, reason=hide(answer.reason))

    def _keep(self, key: str, answer: ModelAnswer) -> None:
        if self.cache is None:
            self._answered[key] = answer
        else:
            self.cache.put(key, asdict(answer), judge=self.name, model=self.settings.model)


def _content(reply: JsonObject, hide: Callable[[str], str]) -> str:
    """The text of the first choice, its parts joined. What an error repeats goes through `hide`."""
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices:
        error = reply.get("error")
        problem = error.get("message") if isinstance(error, dict) else error
        if isinstance(problem, str):
            raise Malformed(f"the server reports: {one_line(hide(problem), 300)}")
        raise Malformed("the reply has no choices")
    message = choices[0].get("message") if isinstance(choices[0], dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "".join(text for text in texts if isinstance(text, str))
    if isinstance(message, dict) and not content and isinstance(message.get("refusal"), str):
        raise Malformed(f"the model declines to answer: {one_line(hide(message['refusal']), 300)}")
    if not isinstance(content, str) or not content.strip():
        raise Malformed("the answer is empty")
    return content
