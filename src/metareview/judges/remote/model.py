"""The common base of everything that asks a model server: its settings, limits, cache, usage and warnings."""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Self, TypedDict, TypeVar, Unpack

from metareview.errors import UsageError
from metareview.judges.protocol import Parameters, Progress
from metareview.judges.registry import JudgeOptions
from metareview.judges.remote.asking import AnswerStore, AskLoop
from metareview.judges.remote.cache import VerdictCache
from metareview.judges.remote.endpoint import CHAT, Operation
from metareview.judges.remote.pool import BACKOFF
from metareview.judges.remote.prompt import Prompt
from metareview.judges.remote.server import RemoteServer
from metareview.judges.remote.settings import ModelSettings

Q = TypeVar("Q")
A = TypeVar("A")


class RemoteOptions(TypedDict, total=False):
    """The keywords of every judge that asks a server, besides the server's settings."""

    threshold: float | None
    concurrency: int
    """Requests at once; 16."""
    cache: VerdictCache | None
    """None: answers are kept in memory alone."""
    max_calls: int | None
    """The requests that may reach the server in the judge's life, repeated ones included."""
    progress: Progress | None
    timeout: float | None
    """The seconds that a request may take; by default those of the settings."""
    backoff: float
    """The longest first pause between two attempts, in seconds."""


class RemoteModel:
    """Asks the server of `settings` (default: the environment's).

    What the options or the server leave open is undecided, and its reason says so. `close` lets go of the connections
    and of the cache's file; both open again if the model is used again.
    """

    name: str  # part of the cache keys
    kind: str = "LLM"  # whose settings it takes: LLM or EMBEDDING
    operation: Operation = CHAT
    parameters: Parameters = MappingProxyType({})

    def __init__(self, settings: ModelSettings | None = None, **options: Unpack[RemoteOptions]) -> None:
        if unknown := sorted(options.keys() - RemoteOptions.__annotations__.keys()):
            raise TypeError(f"{type(self).__name__} has no option {', '.join(unknown)}")
        concurrency, max_calls = options.get("concurrency", 16), options.get("max_calls")
        timeout, backoff = options.get("timeout"), options.get("backoff", BACKOFF)
        if concurrency < 1:
            raise UsageError(f"a concurrency of {concurrency} asks nothing. Give 1 or more.")
        if max_calls is not None and max_calls < 0:
            raise UsageError(f"at most {max_calls} model calls make no sense. Give 0 or more.")
        if timeout is not None and not timeout > 0:
            raise UsageError(f"a time-out of {timeout} s leaves no time to answer. Give more than 0.")
        self.settings = settings or ModelSettings.load(self.kind)
        timeout = self.settings.timeout if timeout is None else timeout
        self.parameters: Parameters = {"model": self.settings.model, "server": self.settings.server, **self.parameters}
        self.cache, self.progress = options.get("cache"), options.get("progress")
        self._server = RemoteServer(self.settings, self.operation, max_calls, concurrency, timeout, backoff)
        self._store = AnswerStore(self.cache, self.name, self.settings.model, self.settings.server)
        self.usage = self._server.usage

    @classmethod
    def of(cls, options: JudgeOptions) -> Self:
        """With the settings of the environment."""
        return cls(**remote_options(options))

    @property
    def warnings(self) -> list[str]:
        return self._server.warnings

    @property
    def settings_from(self) -> str:
        return self.settings.origin

    def close(self) -> None:
        self._server.endpoint.close()
        if self.cache is not None:
            self.cache.close()

    def key(self, prompt: Prompt[Q, A], question: Q) -> str:
        """The cache key of this model's answer to a question."""
        return self._store.key(prompt, question)

    def ask_loop(self, prompt: Prompt[Q, A], questions: Iterable[Q]) -> AskLoop[Q, A]:
        """The loop that asks these questions, or plans to."""
        return AskLoop(prompt, questions, self._server, self._store)


def remote_options(options: JudgeOptions) -> RemoteOptions:
    return {
        "threshold": options.threshold,
        "concurrency": options.concurrency,
        "cache": VerdictCache(options.cache),
        "max_calls": options.max_llm_calls,
    }
