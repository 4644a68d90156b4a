"""`llm`: a model says whether two comments raise the same issue. OpenAI-compatible, temperature 0.

Each distinct pair of notes is asked about once, over all pull requests at once; what the cache knows is not
asked. An answer is in the cache before it is handed on. A pair without an answer is undecided, with the
reason, and the next run asks about it again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metareview.errors import UsageError
from metareview.judges.protocol import UNDECIDED, Answer, Question, Usage
from metareview.judges.remote.cache import VerdictCache, verdict_key
from metareview.judges.remote.endpoint import Endpoint
from metareview.judges.remote.pool import ATTEMPTS, BACKOFF, Again, Crew, GiveUp
from metareview.judges.remote.prompt import RESPONSE_FORMAT, load_prompt, sendable
from metareview.judges.remote.settings import ModelSettings
from metareview.judges.remote.verdict import Malformed, Verdict, check_answer, one_line, read_answer

Pair = tuple[str, str]
"""A generated note and a reference's note."""

PARAMETERS: dict[str, object] = {"temperature": 0}


@dataclass(slots=True)
class ModelUsage(Usage):
    """What a model has cost. `pairs` = `errors` + `cached` + those that the model decided.

    `llm_calls`: distinct pairs of notes that the server was asked about, however often; `requests`: every
    request that reached it, retries included. Tokens are what it reports, also for answers without a verdict.
    """

    requests: int = 0


class LlmJudge:
    """Asks the model of `settings` (default: the environment's), up to `concurrency` requests at once.

    `threshold` replaces the model's own `match`: a pair is the same where the score reaches it. `max_calls`
    caps how many distinct pairs are asked about in this judge's life; the rest stay undecided, and their
    reason says so. `progress(done, total)` is called in the caller's thread while the model is being asked.
    """

    name = "llm"
    free = False

    def __init__(
        self,
        settings: ModelSettings | None = None,
        *,
        threshold: float | None = None,
        concurrency: int = 16,
        cache: VerdictCache | None = None,
        max_calls: int | None = None,
        timeout: float = 60.0,
        progress: Callable[[int, int], None] | None = None,
        attempts: int = ATTEMPTS,
        backoff: float = BACKOFF,
    ) -> None:
        check_options(threshold, concurrency, max_calls, timeout)
        self.settings = settings or ModelSettings.llm()
        self.threshold = threshold
        self.cache = cache
        self.max_calls = max_calls
        self.progress = progress
        self.usage = ModelUsage()
        self._prompt = load_prompt()
        self._crew: Crew[Pair] = Crew(concurrency, attempts=attempts, backoff=backoff)
        self._endpoint = Endpoint(
            self.settings,
            "chat/completions",
            concurrency=concurrency,
            timeout=timeout,
            optional=("response_format", "temperature"),
            patience=6 * backoff,
        )
        self._answered: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()

    @property
    def parameters(self) -> dict[str, object]:
        """What, besides the notes, decides its answers; a run's manifest has it."""
        return {"model": self.settings.model, "prompt": self._prompt.version, **PARAMETERS}

    @property
    def warnings(self) -> list[str]:
        """What the reader of a run should know of how the model was asked."""
        refused = sorted(self._endpoint.left_out)
        return [f"the model server refuses {field}; it was asked without" for field in refused]

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        """The verdicts on all pairs of all questions."""
        pairs = [(q.generated[g], q.reference[r]) for q in questions for g, r in q.pairs.tolist()]
        verdicts = self.ask(pairs)
        answers = []
        start = 0
        for question in questions:
            part = verdicts[start : start + len(question.pairs)]
            start += len(part)
            answers.append(as_answer(part))
        return answers

    def ask(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """The verdicts on pairs of (generated note, reference's note), in their order."""
        pairs = [(sendable(generated), sendable(reference)) for generated, reference in pairs]
        keys = {pair: self._key(pair) for pair in dict.fromkeys(pairs)}
        stored = self._stored(list(keys.values()))
        known = {
            pair: Verdict.of(stored[key], self.threshold, "cache")
            for pair, key in keys.items()
            if key in stored
        }
        for pair, key in keys.items():
            if key in self._answered:  # earlier in this run, where no cache keeps it
                known[pair] = Verdict.of(self._answered[key], self.threshold)
        if known:
            # Its answers are here: what the server refuses now, it refuses for the pair's sake.
            self._endpoint.trusted = True
        todo = [pair for pair in keys if pair not in known]
        allowed = len(todo)
        if self.max_calls is not None:
            allowed = min(allowed, max(0, self.max_calls - self.usage.llm_calls))
        limited = Verdict.undecided(f"not asked: the limit of {self.max_calls} model calls was reached")
        known.update(dict.fromkeys(todo[allowed:], limited))
        if allowed:
            self._ask_model({pair: keys[pair] for pair in todo[:allowed]}, known)
        verdicts = [known[pair] for pair in pairs]
        self.usage.pairs += len(verdicts)
        self.usage.cached += sum(verdict.by == "cache" for verdict in verdicts)
        self.usage.errors += sum(verdict.match == UNDECIDED for verdict in verdicts)
        return verdicts

    def uncached(self, pairs: Sequence[Pair]) -> int:
        """How many calls `ask` would make for these pairs: the distinct ones that the cache does not know."""
        keys = [self._key(pair) for pair in dict.fromkeys(pairs)]
        calls = len(keys) - len(self._stored(keys))
        return calls if self.max_calls is None else min(calls, self.max_calls)

    def planned_calls(self, questions: Sequence[Question]) -> int:
        """How many calls judging these questions would take, after the cache."""
        return self.uncached(
            [(q.generated[g], q.reference[r]) for q in questions for g, r in q.pairs.tolist()]
        )

    def close(self) -> None:
        """Lets go of the connections. The cache is the caller's."""
        self._endpoint.close()

    def _key(self, pair: Pair) -> str:
        notes = [sendable(note) for note in pair]
        return verdict_key(self.name, self.settings.model, self._prompt.version, PARAMETERS, notes)

    def _stored(self, keys: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The cache's answers, checked again: a value that is no verdict is asked for anew."""
        found = {}
        for key, value in (self.cache.get_many(keys) if self.cache else {}).items():
            try:
                found[key] = check_answer(value)
            except Malformed:
                continue
        return found

    def _ask_model(self, keys: Mapping[Pair, str], known: dict[Pair, Verdict]) -> None:
        """Asks about every pair of `keys` and adds its verdict to `known`."""
        asked: set[Pair] = set()
        requests = self._endpoint.requests

        def attempt(pair: Pair) -> None:
            try:
                reply = self._endpoint.post(self._body(pair))
            except Again as problem:
                asked.update([pair] * problem.sent)
                raise
            except GiveUp:
                asked.add(pair)
                raise
            asked.add(pair)
            answer = self._read(reply)
            self._keep(keys[pair], answer)
            known[pair] = Verdict.of(answer, self.threshold)

        def give_up(pair: Pair, reason: str) -> None:
            known[pair] = Verdict.undecided(reason)

        progress, total = self.progress, len(keys)
        tick = None if progress is None else (lambda done: progress(done, total))
        try:
            self._crew.run(list(keys), attempt, give_up, tick)
        finally:
            self.usage.llm_calls += len(asked)
            self.usage.requests += self._endpoint.requests - requests
        self._endpoint.raise_if_never_served()

    def _body(self, pair: Pair) -> dict[str, Any]:
        messages = self._prompt.messages(generated=pair[0], reference=pair[1])
        return {
            "model": self.settings.model,
            "messages": messages,
            **PARAMETERS,
            "response_format": RESPONSE_FORMAT,
        }

    def _read(self, reply: Mapping[str, Any]) -> dict[str, Any]:
        """The verdict in a reply, and its tokens counted; Again where there is none."""
        hide = self.settings.api_key.hide_in
        tokens = reply.get("usage")
        if isinstance(tokens, dict):
            with self._lock:
                self.usage.prompt_tokens += _count(tokens.get("prompt_tokens"))
                self.usage.completion_tokens += _count(tokens.get("completion_tokens"))
        try:
            answer = read_answer(_content(reply, hide))
        except Malformed as problem:
            raise Again(str(problem)) from None
        return {**answer, "reason": hide(answer["reason"])}

    def _keep(self, key: str, answer: dict[str, Any]) -> None:
        if self.cache is None:
            self._answered[key] = answer
        else:
            self.cache.put(key, answer, judge=self.name, model=self.settings.model)


def check_options(threshold: float | None, concurrency: int, max_calls: int | None, timeout: float) -> None:
    """Refuses options that no judge behind a server can work with."""
    if threshold is not None and not 0 <= threshold <= 1:
        raise UsageError(f"the threshold {threshold} is not between 0 and 1. Give one that is.")
    if concurrency < 1:
        raise UsageError(f"a concurrency of {concurrency} asks nothing. Give 1 or more.")
    if max_calls is not None and max_calls < 0:
        raise UsageError(f"at most {max_calls} model calls make no sense. Give 0 or more.")
    if not timeout > 0:
        raise UsageError(f"a time-out of {timeout} s leaves no time to answer. Give more than 0.")


def as_answer(verdicts: Sequence[Verdict]) -> Answer:
    """One question's verdicts as its answer."""
    return Answer(
        score=np.array([verdict.score for verdict in verdicts], dtype=np.float64),
        match=np.array([verdict.match for verdict in verdicts], dtype=np.int8),
        reason=[verdict.reason for verdict in verdicts],
        by=[verdict.by for verdict in verdicts],
    )


def _content(reply: Mapping[str, Any], hide: Callable[[str], str]) -> str:
    """The text of the first choice, its parts joined. What an error repeats goes through `hide`."""
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices:
        error = reply.get("error")
        said = error.get("message") if isinstance(error, dict) else error
        if isinstance(said, str):
            raise Malformed(f"the server reports: {one_line(hide(said), 300)}")
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


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
