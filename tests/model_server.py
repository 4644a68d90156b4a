"""An OpenAI-compatible server over real HTTP, in a thread, that answers by a script and keeps a log.

    with ModelServer(lambda exchange: verdict(True)) as server:
        judge = LlmJudge(server.settings())

A script gets each request as an `Exchange` and returns a `Reply`. Nagle's algorithm is off. Run as a program,
it serves verdicts after a latency from a process of its own and prints its address: `model_server.py 0.05`, with
`lists` for answers to list questions.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from metareview.http.secret import Secret
from metareview.judges.remote.settings import ModelSettings

KEY = "sk-test-0123456789-very-secret"
_QUOTED = re.compile(
    r"<<<REFERENCE (\w+)\n(?P<reference>.*?)\nREFERENCE \1>>>.*"
    r"<<<CANDIDATE \1\n(?P<candidate>.*?)\nCANDIDATE \1>>>",
    re.DOTALL,
)


@dataclass
class Reply:
    status: int = 200
    body: object = b""
    """Bytes and strings go out as they are, everything else as JSON."""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False
    """Close the connection instead of answering."""
    cut: int | None = None
    """Close it after so many bytes of the body."""
    drip: float = 0.0
    """Seconds between two bytes of the body."""
    chunked: bool = False
    """Send the body in chunks of seven bytes, without its length."""


@dataclass
class Exchange:
    number: int
    path: str
    headers: dict[str, str]
    body: dict
    started: float
    ended: float = 0.0
    reply: Reply | None = None

    @property
    def notes(self) -> tuple[str, str]:
        """(generated, reference), read back from the prompt."""
        found = _QUOTED.search(self.body["messages"][-1]["content"])
        return found["candidate"], found["reference"]

    @property
    def is_list(self) -> bool:
        """Whether it asks about a list of notes, not about a pair."""
        return self.body["messages"][-1]["content"].startswith('{"references":')

    @property
    def listed(self) -> tuple[list[str], list[str]]:
        """(references, comments) of a list question, by id."""
        message = json.loads(self.body["messages"][-1]["content"])
        assert list(message) == ["references", "comments", "request", "task"]
        sides = {name: message[name] for name in ("references", "comments")}
        for entries in sides.values():
            assert [list(entry) for entry in entries] == [["id", "note"]] * len(entries)
            assert [entry["id"] for entry in entries] == list(range(len(entries)))
        references, comments = ([entry["note"] for entry in entries] for entries in sides.values())
        return references, comments

    @property
    def code(self) -> str:
        """What the answer should repeat."""
        content = self.body["messages"][-1]["content"]
        return json.loads(content)["request"] if self.is_list else re.findall(r'"request" is "(\w+)"', content)[-1]

    @property
    def served(self) -> bool:
        """Whether the script meant this as a good answer."""
        return self.reply is not None and self.reply.headers.get("x-good") == "yes"


def chat(content: object, **more: object) -> Reply:
    """A chat completion with this content."""
    message = {"role": "assistant", "content": content}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return Reply(200, {"choices": [{"index": 0, "message": message}], "usage": usage, **more})


def verdict(match: bool, confidence: float = 0.9, reason: str = "because") -> Reply:
    reply = chat(json.dumps({"match": match, "confidence": confidence, "reason": reason}))
    reply.headers["x-good"] = "yes"
    return reply


def matches(*found: tuple[int, int] | dict, confidence: float = 0.9) -> Reply:
    """The answer to a list question: (reference, comment), or entries as they are."""
    entries = [
        entry
        if isinstance(entry, dict)
        else {"reference": entry[0], "comment": entry[1], "confidence": confidence, "reason": "because"}
        for entry in found
    ]
    reply = chat(json.dumps({"matches": entries}))
    reply.headers["x-good"] = "yes"
    return reply


def always(match: bool) -> Callable[[Exchange], Reply]:
    """A script that calls every pair the same, or every pair different, in whatever way it is asked."""

    def answer(exchange: Exchange) -> Reply:
        if not exchange.is_list:
            return verdict(match)
        references, comments = exchange.listed
        return matches(*((r, c) for r in range(len(references)) for c in range(len(comments)) if match))

    return answer


def error(status: int, message: str = "no", **headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, {"error": {"message": message}}, named)


class ModelServer:
    """Serves until the `with` block ends. `log` has every exchange, `peak` the most at once."""

    def __init__(self, script: Callable[[Exchange], Reply], latency: float = 0.0) -> None:
        self.script = script
        self.latency = latency
        self.log: list[Exchange] = []
        self.peak = 0
        self.under_way = 0
        self.connections = 0
        self._ready = threading.Event()

    def __enter__(self) -> ModelServer:
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def settings(self, kind: str = "LLM", key: str = KEY, model: str = "test-model") -> ModelSettings:
        return ModelSettings(self.url, model, Secret(key), kind)

    def served(self) -> Counter[tuple[str, str]]:
        """How often each pair of notes was given a good answer."""
        return Counter(exchange.notes for exchange in self.log if exchange.served)

    def served_lists(self) -> Counter[str]:
        """How often each list was given a good answer."""
        return Counter(json.dumps(exchange.listed) for exchange in self.log if exchange.served)

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._end = asyncio.Event()
        self._tasks: set[asyncio.Task] = set()
        server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._end.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        self._tasks.add(task)
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {n.lower(): v.strip() for n, _, v in (line.partition(":") for line in lines if line)}
        body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))))
        exchange = Exchange(len(self.log), first.split()[1], headers, body, time.monotonic())
        self.log.append(exchange)
        self.under_way += 1
        self.peak = max(self.peak, self.under_way)
        try:
            reply = await self._reply(exchange, reader)
        finally:
            self.under_way -= 1
        exchange.reply = reply
        alive = await self._answer(reply, writer)
        exchange.ended = time.monotonic()
        return alive

    async def _reply(self, exchange: Exchange, reader: asyncio.StreamReader) -> Reply:
        reply = self.script(exchange)
        await asyncio.sleep(self.latency + reply.delay)
        return reply

    async def _answer(self, reply: Reply, writer: asyncio.StreamWriter) -> bool:
        if reply.drop:
            writer.transport.abort()
            return False
        data = reply.body
        if isinstance(data, str):
            data = data.encode()
        if not isinstance(data, bytes):
            data = json.dumps(data).encode()
        headers = {"content-type": "application/json", "content-length": str(len(data)), **reply.headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        if reply.chunked:
            parts = [data[i : i + 7] for i in range(0, len(data), 7)]
            data = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in [*parts, b""])
            lines = lines.replace("content-length:", "transfer-encoding: chunked\r\nx-length:")
        head = f"HTTP/1.1 {reply.status} X\r\n{lines}\r\n".encode()
        if reply.drip:
            writer.write(head)
            for byte in data:
                writer.write(bytes([byte]))
                await asyncio.sleep(reply.drip)
            return True
        writer.write(head + data[: reply.cut])
        await writer.drain()
        return reply.cut is None


class MixingServer(ModelServer):
    """Hands each of two requests that are under way at once the answer to the other, as often as `swaps` says."""

    def __init__(self, script, swaps=1):
        super().__init__(script)
        self.swaps = swaps
        self._waiting = None

    async def _reply(self, exchange, reader):
        reply = await super()._reply(exchange, reader)
        if not self.swaps:
            return reply
        mine = asyncio.get_running_loop().create_future()
        if self._waiting is None:
            self._waiting = (mine, reply)
            return await mine
        (theirs, other), self._waiting = self._waiting, None
        self.swaps -= 1
        theirs.set_result(reply)
        return other


class ReplayModel:
    """A script that gives the verdicts of a real model, from a Code Review Bench evaluations file.

    A pair is the same if the file lists it as a true positive, with that verdict's confidence and reasoning;
    everything else is not.
    """

    def __init__(self, evaluations: Path) -> None:
        self.matches: dict[tuple[str, str], dict] = {}
        for tools in json.loads(evaluations.read_text(encoding="utf-8")).values():
            for result in tools.values():
                for hit in result.get("true_positives", ()):
                    self.matches[hit["matched_candidate"], hit["golden_comment"]] = hit

    def __call__(self, exchange: Exchange) -> Reply:
        if exchange.is_list:
            return self.listed(exchange)
        hit = self.matches.get(exchange.notes)
        if hit is None:
            return verdict(False, 0.9, "listed as no match")
        return verdict(True, hit["confidence"], hit["reasoning"])

    def listed(self, exchange: Exchange) -> Reply:
        """The same verdicts as the answer to a list question."""
        references, comments = exchange.listed
        hits = [
            (r, c, hit)
            for r, reference in enumerate(references)
            for c, comment in enumerate(comments)
            if (hit := self.matches.get((comment, reference))) is not None
        ]
        entries = [
            {"reference": r, "comment": c, "confidence": hit["confidence"], "reason": hit["reasoning"]}
            for r, c, hit in hits
        ]
        return matches(*entries)


if __name__ == "__main__":
    answer = matches((0, 0)) if "lists" in sys.argv else verdict(True)
    with ModelServer(lambda exchange: answer, latency=float(sys.argv[1])) as running:
        print(running.url, flush=True)
        sys.stdin.read()  # until whoever started this closes the pipe
        times = [exchange.started for exchange in running.log]
        span = max(exchange.ended for exchange in running.log) - min(times)
        print(json.dumps({"requests": len(times), "seconds": span, "peak": running.peak}), flush=True)
