"""What a judge is asked, what it answers, and what a judge is.

A judge decides on meaning alone: by the time it is asked, pairs whose locations cannot match are gone.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

from metareview.model.comment import LONG_NOTE as LONG_NOTE

if TYPE_CHECKING:  # so that help texts, which list judges by name, need not wait for NumPy
    import numpy as np
    from numpy.typing import NDArray

Parameters = Mapping[str, object]
Progress = Callable[[int, int], None]  # called with how much is done, and how much there is to do


@runtime_checkable
class Notable(Protocol):
    """Whoever is told how far something is, and also takes a line on why it goes no further."""

    def note(self, line: str) -> None: ...


SAME, DIFFERENT, UNDECIDED = 1, 0, -1
JUDGED_LENGTH = 20_000


def judged_part(note: str) -> str:
    """What a judge reads of a note: all of it, or the first 20,000 characters of one over 100,000."""
    return note if len(note) <= LONG_NOTE else note[:JUDGED_LENGTH]


@dataclass(frozen=True, slots=True)
class Question:
    """One reviewer's notes on one pull request, the references there, and the pairs to decide.

    All notes are given, also those in no pair: they are the rivals that a pair can stand out from.
    """

    generated: Sequence[str]
    reference: Sequence[str]
    pairs: NDArray[np.int64]  # shape (n, 2): index in `generated`, index in `reference`
    pr: str = ""  # the pull request and the reviewer, where they are known: stored verdicts are found by them
    reviewer: str = ""
    negative: bool = False  # whether `reference` are negatives
    generated_at: Sequence[int] = ()  # the positions that the notes have in the input, where they are known
    reference_at: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The verdicts on one question's pairs, in their order."""

    score: NDArray[np.float64]  # from 0 to 1; NaN where undecided
    match: NDArray[np.int8]  # SAME, DIFFERENT or UNDECIDED. An undecided pair is an error, never a mismatch
    reason: Sequence[str] | str = ""  # one per pair, or one for all of them
    by: Sequence[str] | str = "judge"  # who decided (judge, model, cache or label): one per pair, or one for all


def one_per_pair(texts: Sequence[str] | str, count: int) -> list[str]:
    """The reasons of an answer, or who decided, for each of so many pairs."""
    return [texts] * count if isinstance(texts, str) else list(texts)


@dataclass(slots=True)
class Usage:
    """What a model has cost so far. Tokens are those that the server reports, also for answers without a verdict."""

    llm_calls: int = 0  # what the server was asked: each pair, list or batch of notes once, however often it was sent
    cached: int = 0  # pairs that the cache answered
    prompt_tokens: int = 0
    completion_tokens: int = 0
    requests: int = 0  # every request that reached the server, repeated ones included


CHARACTERS_PER_TOKEN = 4
"""What an estimate of tokens goes by: about right for English and code, too low for most other scripts."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What a model would be asked, after the cache: at most so many calls, with so much text in them."""

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
    call, so that it can work on all pull requests at once. Whoever opens a judge by its name closes it.
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
        """Lets go of files and connections."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@runtime_checkable
class ModelJudge(Judge, Protocol):
    """A judge that asks a model, which costs time and money: what it cost, and what it would cost, can be known.

    Any other judge counts as free, and is also asked about pairs that a wider line distance would bring in.
    """

    usage: Usage
    progress: Progress | None = None  # called in the thread that called `judge`, while the model is being asked

    @property
    def warnings(self) -> Sequence[str]:
        """What the reader of a run should know about how the model was asked."""
        return ()

    @abstractmethod
    def planned_calls(self, questions: Sequence[Question]) -> int:
        """How many calls it would take at most to judge these questions, after the cache. Asks nothing."""

    def planned(self, questions: Sequence[Question]) -> Planned:
        """The same, with how much text the calls would hold where the judge knows. Asks nothing."""
        return Planned(self.planned_calls(questions))


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
class SummedRemarks(Protocol):
    """A judge that can say the same from parts: what it can tell of some questions, and then the sentences on all."""

    def remark_facts(self, questions: Sequence[Question], *, ask: bool = True) -> object:
        """What there is to tell of these questions."""

    def remarks_of(self, parts: Sequence[Any], *, ask: bool = True) -> Sequence[str]:
        """The remarks, from the facts of all parts in their order."""


@runtime_checkable
class Remarking(Protocol):
    """A judge that has something to say about its answers as a whole."""

    def remarks(self, questions: Sequence[Question], *, ask: bool = True) -> Sequence[str]:
        """What the reader of a run with these questions should know. Without `ask`, nobody is asked anything for it."""
