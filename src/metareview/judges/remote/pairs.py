"""The common base of the judges that ask a server about pairs of notes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Unpack

from metareview.judges.pair_verdicts import PairVerdict, answer_of
from metareview.judges.protocol import Answer, ModelJudge, Planned, Question, check_threshold
from metareview.judges.remote.model import RemoteModel, RemoteOptions
from metareview.judges.remote.prompt import sendable
from metareview.judges.remote.settings import ModelSettings

Pair = tuple[str, str]  # a generated note and a reference's note


class RemoteJudge(RemoteModel, ModelJudge):
    """A judge that asks a server. The pairs that `max_calls` leaves open are undecided, and their reason says so."""

    def __init__(self, settings: ModelSettings | None = None, **options: Unpack[RemoteOptions]) -> None:
        threshold = check_threshold(options.get("threshold"))
        super().__init__(settings, **options)
        if threshold is not None:
            self.threshold = threshold

    @abstractmethod
    def _verdicts(self, reviews: Sequence[Sequence[Pair]]) -> Sequence[Sequence[PairVerdict]]:
        """The verdicts on pairs of sendable notes, by question and in their order."""

    @abstractmethod
    def _planned(self, reviews: Sequence[Sequence[Pair]]) -> Planned:
        """The calls that `_verdicts` would make for these pairs."""

    def ask(self, pairs: Sequence[Pair]) -> Sequence[PairVerdict]:
        """The verdicts on pairs of (generated note, reference's note), in their order."""
        return self._counted([_sendable(pairs)])[0]

    def uncached(self, pairs: Sequence[Pair]) -> int:
        """How many calls `ask` would make for these pairs, after the cache, if none has to be repeated."""
        return self._planned([_sendable(pairs)]).calls

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        return list(map(answer_of, self._counted(list(map(_sendable_pairs, questions)))))

    def planned(self, questions: Sequence[Question]) -> Planned:
        return self._planned(list(map(_sendable_pairs, questions)))

    def _counted(self, reviews: Sequence[Sequence[Pair]]) -> Sequence[Sequence[PairVerdict]]:
        """The verdicts, those from the cache counted."""
        verdicts = self._verdicts(reviews)
        self.usage.cached += sum(verdict.by == "cache" for of_one in verdicts for verdict in of_one)
        return verdicts


def _sendable(pairs: Sequence[Pair]) -> list[Pair]:
    return [(sendable(generated), sendable(reference)) for generated, reference in pairs]


def _sendable_pairs(question: Question) -> list[Pair]:
    """The notes of a question's pairs, as a model gets to read them."""
    generated, reference = (list(map(sendable, notes)) for notes in (question.generated, question.reference))
    return [(generated[g], reference[r]) for g, r in question.pairs.tolist()]
