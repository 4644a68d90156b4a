"""A model server as people run one on their own machine, over real HTTP, with what such servers get wrong.

    with LocalServer(same_words, slots=1, seconds=0.05, context=2048, overflow="cut") as server:
        judge = LlmJudge(server.settings(key=""))

It has a model that answers by a rule on two notes, of pairs and of lists, a context of so many tokens, and slots that
answer one request each. A request whose client went away leaves the queue, as in Ollama and llama.cpp. Tokens are words
and signs.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from model_server import Exchange, ModelServer, Reply, error

MODEL = "small:7b"
_TOKEN = re.compile(r"\w+|[^\w\s]")
STYLES = {
    "plain": "{}",
    "fenced": "```json\n{}\n```",
    "thinking": "<think>\nThe reference says one thing, {{the candidate}} another.\n</think>\n\n{}",
    "thinking, its start swallowed": 'It may be {{"match": false}}, but no.\n</think>\n```json\n{}\n```\n',
}
"""In which an answer counts."""
_STYLES = {**STYLES, "chatty": "Sure! Let me compare the two comments.\n\n{}"}


def same_first_word(generated: str, reference: str) -> bool:
    return generated.split()[0] == reference.split()[0]


@dataclass
class Habits:
    """What the server gets wrong; the defaults are a server that gets nothing wrong."""

    style: str = "plain"
    schema: str = "kept"
    """A schema is `kept`, `ignored` (the answer has the style), `refused` (400), `unsupported` (501), a `crash` (500),
    or makes it `hang`."""
    load: float = 0.0
    """Seconds until the model is loaded, from the first request."""
    loading: str = "waits"
    """A request meanwhile: `waits`, or is `503`."""
    slots: int = 16
    seconds: float = 0.0
    """How long an answer takes."""
    context: int = 10**9
    overflow: str = "400"
    """What becomes of a longer question: `400` or `500`, as of llama.cpp; `cut` to the context or to `half` of it, as
    of Ollama, and then answered with yes."""
    predict: int = 10**9
    """How many characters an answer may have."""
    usage: bool = True


class LocalServer(ModelServer):
    """Serves until the `with` block ends. `answered` has how often the model answered each question that it read as a
    whole: a pair (generated, reference), or the notes of a list."""

    def __init__(self, rule: Callable[[str, str], bool] = same_first_word, **habits: object) -> None:
        super().__init__(lambda exchange: Reply())
        self.rule = rule
        self.habits = Habits(**habits)  # type: ignore[arg-type]
        self.answered: Counter[tuple[str, str] | str] = Counter()
        self.left = 0
        """Requests whose client went away before they were answered."""
        self._loaded_at: float | None = None
        self._slots: asyncio.Semaphore | None = None

    def settings(self, kind: str = "LLM", key: str = "", model: str = MODEL):
        return super().settings(kind, key, model)

    async def _reply(self, exchange: Exchange, reader: asyncio.StreamReader) -> Reply:
        self._slots = self._slots or asyncio.Semaphore(self.habits.slots)
        self._loaded_at = self._loaded_at or time.monotonic() + self.habits.load
        work = asyncio.ensure_future(self._work(exchange))
        gone = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                self.left += 1
                raise ConnectionError
            return work.result()
        finally:
            for task in (work, gone):
                task.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)

    def _judge(self, exchange: Exchange) -> tuple[tuple[str, str] | str, dict]:
        """The question, and what the model says to it if it has read all of it."""
        text, sure = exchange.body["messages"][-1]["content"], {"confidence": 0.9, "reason": "by its rule"}
        if not text.startswith("{"):
            return exchange.notes, {"match": self.rule(*exchange.notes), **sure}
        sides = json.loads(text)
        found = [
            {"reference": reference["id"], "comment": comment["id"], **sure}
            for reference in sides["references"]
            for comment in sides["comments"]
            if self.rule(comment["note"], reference["note"])
        ]
        return json.dumps([sides["references"], sides["comments"]]), {"matches": found}

    async def _work(self, exchange: Exchange) -> Reply:
        habits = self.habits
        if exchange.body["model"] != MODEL:
            return error(404, f"model '{exchange.body['model']}' not found, try pulling it first")
        if (left := self._loaded_at - time.monotonic()) > 0:
            if habits.loading == "503":
                body = {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}
                return Reply(503, body)
            await asyncio.sleep(left)
        schema = "response_format" in exchange.body and habits.schema
        if schema in ("refused", "unsupported", "crash"):
            words = {"refused": 'unknown field "response_format"', "unsupported": "not here", "crash": "bad grammar"}
            return error({"refused": 400, "unsupported": 501, "crash": 500}[schema], words[schema])
        tokens = sum(len(_TOKEN.findall(message["content"])) for message in exchange.body["messages"])
        cut = tokens > habits.context
        if cut and habits.overflow.isdigit():
            sizes = {"n_prompt_tokens": tokens, "n_ctx": habits.context}
            words = {"message": "the request exceeds the available context size", "type": "exceed_context_size_error"}
            return Reply(int(habits.overflow), {"error": {"code": int(habits.overflow), **words, **sizes}})
        async with self._slots:
            if schema == "hang":
                await asyncio.sleep(30)
            await asyncio.sleep(habits.seconds)
        if cut:
            tokens = habits.context if habits.overflow == "cut" else habits.context // 2 + 2
        asked, told = self._judge(exchange)
        if cut:
            told = {"match": True, "confidence": 0.9, "reason": "what is the question?", "matches": []}
        else:
            self.answered[asked] += 1
        said = json.dumps(told)
        content = said if schema == "kept" else _STYLES[habits.style].format(said)
        whole = len(content) <= habits.predict
        choice = {
            "message": {"role": "assistant", "content": content[: habits.predict]},
            "finish_reason": "stop" if whole else "length",
        }
        usage = {"usage": {"prompt_tokens": tokens, "completion_tokens": 20}} if habits.usage else {}
        return Reply(200, {"choices": [choice], **usage})
