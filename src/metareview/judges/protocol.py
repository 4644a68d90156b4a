"""The judge protocol: questions, answers, and the judge.

A judge decides on meaning alone: by the time it is asked, pairs whose locations cannot match are gone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from metareview.errors import UsageError
from metareview.model.comment import LONG_NOTE as LONG_NOTE

if TYPE_CHECKING:  # so that help texts, which list judges by name, need not wait for NumPy
    import numpy as np
    from numpy.typing import NDArray

Parameters = Mapping[str, object]
Progress = Callable[[int, int], None]
"""Progress callback, called with (done, total)."""


@runtime_checkable
class ProgressWithMessages(Protocol):
    """A progress callback that can also show a message, such as why work has stalled."""

    def note(self, line: str) -> None: ...


SAME, DIFFERENT, UNDECIDED = 1, 0, -1
JUDGED_LENGTH = 20_000


def judged_part(note: str) -> str:
    """The part of a note that a judge reads: all of it, or the first 20,000 characters of one over 100,000."""
    return note if len(note) <= LONG_NOTE else note[:JUDGED_LENGTH]


@dataclass(frozen=True, slots=True)
class Question:
    """One reviewer's notes on one pull request, the references there, and the pairs to decide.

    All notes are given, also those in no pair: they are the rivals that a pair can stand out from.
    """

    generated: Sequence[str]
    reference: Sequence[str]
    pairs: NDArray[np.int64]  # shape (n, 2): index in `generated`, index in `reference`
    pr: str = ""  # the pull request and the reviewer, where they are known: verdicts in files are found by them
    reviewer: str = ""
    negative: bool = False  # `reference` are negatives
    generated_at: Sequence[int] = ()  # the positions that the notes have in the input, where they are known
    reference_at: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The verdicts on one question's pairs, in their order."""

    score: NDArray[np.float64]  # from 0 to 1; NaN where undecided
    match: NDArray[np.int8]  # SAME, DIFFERENT or UNDECIDED. An undecided pair is an error, never a mismatch
    reason: Sequence[str] | str = ""  # one per pair, or one for all of them
    by: Sequence[str] | str = "judge"  # who decided (judge, model, cache or label): one per pair, or one for all


def check_threshold(threshold: float | None) -> float | None:
    """The threshold; UsageError for one outside 0..1."""
    if threshold is not None and not 0 <= threshold <= 1:
        raise UsageError(f"--threshold must be from 0 to 1, found {threshold}. Give one that is.")
    return threshold


@dataclass(slots=True)
class Usage:
    """The cost of a model so far. Tokens are those that the server reports, also for answers without a verdict."""

    llm_calls: int = 0  # pairs, lists or batches of notes sent to the server: each once, however often it was sent
    cached: int = 0  # pairs that the cache answered
    prompt_tokens: int = 0
    completion_tokens: int = 0
    requests: int = 0  # every request that reached the server, repeated ones included


CHARACTERS_PER_TOKEN = 4
"""For estimates of tokens: about right for English and code, too low for most other scripts."""


@dataclass(frozen=True, slots=True)
class Planned:
    """The calls to a model that are left after the cache, at most, and the length of their text."""

    calls: int
    prompt_characters: int | None = None
    """Instructions and notes together; None where the judge cannot say."""

    @property
    def prompt_tokens(self) -> int | None:
        """An estimate, by characters: the server's count is known only when it was asked."""
        return None if self.prompt_characters is None else -(-self.prompt_characters // CHARACTERS_PER_TOKEN)


@runtime_checkable
class Judge(Protocol):
    """Decides whether comments raise the same issue as references.

    Inherit from it, set `name` and write `judge`; the other members have defaults. A judge gets many questions in one
    call, so that it can work on all pull requests at once. The caller who opens a judge by its name closes it.
    """

    name: str
    # The score from which a pair counts as the same; None for a judge that decides in another way.
    threshold: float | None = None
    # What decides its answers besides the notes and the threshold; each run keeps it. JSON values.
    parameters: Parameters = MappingProxyType({})

    @abstractmethod
    def judge(self, questions: Sequence[Question]) -> Sequence[Answer]:
        """One answer per question, in their order."""

    def close(self) -> None:
        """Let go of files and connections."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@runtime_checkable
class ModelJudge(Judge, Protocol):
    """A judge that asks a model, which costs time and money: it counts them, and can estimate them beforehand.

    Any other judge counts as free, and is also asked about pairs that a wider line distance would bring in.
    """

    usage: Usage
    progress: Progress | None = None  # called in the thread that called `judge`, while the model is being asked

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings for the reader of a run about how the model was asked."""
        return ()

    @abstractmethod
    def planned(self, questions: Sequence[Question]) -> Planned:
        """The calls that it would take at most to judge these questions, after the cache. Asks nothing."""


@runtime_checkable
class AsksServer(Protocol):
    """A judge that asks the server of some settings; its parameters name the `model` and the `server`."""

    parameters: Parameters

    @property
    def settings_from(self) -> str:
        """Where the settings came from: the environment, or which file; empty where a caller made them."""


def settings_from(judge: object) -> str:
    """Where the settings of a judge's server came from; empty for a judge without any."""
    return judge.settings_from if isinstance(judge, AsksServer) else ""


@runtime_checkable
class HasWarnings(Protocol):
    """A judge that has warnings about its answers as a whole, made from data of some questions each."""

    def warning_data(self, questions: Sequence[Question], *, ask: bool = True) -> object:
        """The data of these questions that warnings are made from. Without `ask`, the judge is not run for them."""

    def remarks_of(self, parts: Sequence[Any], *, ask: bool = True) -> Sequence[str]:
        """Warnings for the reader of a run, from the data of all parts in their order."""
