"""`llm`: a chat model says whether two comments raise the same issue. OpenAI-compatible, temperature 0.

Each distinct pair of notes is asked about once, over all pull requests at once; what the cache knows is not asked. An
answer is in the cache before it is handed on. A pair without an answer is undecided, with the reason, and the next run
asks about it again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from types import MappingProxyType

from metareview.judges.protocol import Parameters
from metareview.judges.remote.cache import verdict_key
from metareview.judges.remote.judge import OTHER_PROCESS, Pair, RemoteJudge
from metareview.judges.remote.pool import NotYet
from metareview.judges.remote.prompt import RESPONSE_FORMAT, VERSION, load_prompt
from metareview.judges.remote.verdict import JsonObject, Malformed, ModelAnswer, Verdict, check_answer, read_answer

PARAMETERS: JsonObject = {"temperature": 0}


class LlmJudge(RemoteJudge[Pair]):
    """Asks a chat model, one call per distinct pair of notes.

    `threshold` replaces the model's own `match`: a pair is the same where its score reaches it.
    """

    name, kind, operation = "llm", "LLM", "chat/completions"
    optional_fields = ("response_format", "temperature")
    parameters: Parameters = MappingProxyType({"prompt": VERSION, **PARAMETERS})

    def _ask(self, pairs: Sequence[Pair]) -> list[Verdict]:
        keys = {pair: self._key(pair) for pair in dict.fromkeys(pairs)}
        known = self._known(keys.values())
        by = "model" if self.cache is None else "cache"
        verdicts = {pair: Verdict.of(known[key], self.threshold, by) for pair, key in keys.items() if key in known}
        if verdicts:
            # Its answers are here: what the server refuses now, it refuses for the pair's sake.
            self._endpoint.trusted = True
        unknown = [pair for pair in keys if pair not in verdicts]
        allowed = self._calls_left(len(unknown))
        verdicts.update(dict.fromkeys(unknown[allowed:], Verdict.undecided(self._limit_reached())))
        request = {"model": self.settings.model, **PARAMETERS, "response_format": RESPONSE_FORMAT}
        sent: set[Pair] = set()

        def attempt(pair: Pair) -> None:
            key = keys[pair]
            claim = self._claim([key])
            with suppress(Malformed):
                if key in claim.known:
                    verdicts[pair] = Verdict.of(check_answer(claim.known[key]), self.threshold, "cache")
                    return
            if key not in claim.mine and key not in claim.known:
                raise NotYet(OTHER_PROCESS, sent=False)
            with self._asking([key]):
                reply = self._post(pair, {**request, "messages": load_prompt().messages(*pair)}, sent)
                answer = read_answer(_content(reply))
                if self.settings.api_key.is_in(answer.reason):
                    answer = replace(answer, reason="(left out: it repeats a part of the key)")
                self._keep(key, asdict(answer))
            verdicts[pair] = Verdict.of(answer, self.threshold)

        def give_up(pair: Pair, reason: str) -> None:
            verdicts[pair] = Verdict.undecided(reason)

        self._send(unknown[:allowed], attempt, give_up, sent)
        return [verdicts[pair] for pair in pairs]

    def _calls(self, pairs: Sequence[Pair]) -> int:
        keys = {self._key(pair) for pair in pairs}
        return len(keys) - len(self._known(keys))

    def _key(self, pair: Pair) -> str:
        return verdict_key(self.name, self.settings.model, VERSION, PARAMETERS, pair)

    def _known(self, keys: Collection[str]) -> dict[str, ModelAnswer]:
        """The answers that were kept, checked again: a value that is none is asked for anew."""
        answers = {}
        for key, value in self._stored(keys).items():
            with suppress(Malformed):
                answers[key] = check_answer(value)
        return answers


def _content(reply: JsonObject) -> str:
    """The text of the first choice, its parts joined. Nothing else that the server says is shown."""
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices:
        raise Malformed("the reply has an error and no choices" if reply.get("error") else "the reply has no choices")
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
