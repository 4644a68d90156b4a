"""People's verdicts: whether two notes raise the same issue, whether a comment that no reference covers is right, and
whether a later change did what a comment asks.

A label is never changed. A later one by the same person on the same thing takes its place, and one whose verdict is
None takes it back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

IssueVerdict = Literal["valid", "invalid", "repeat"]
ISSUE_VERDICTS: tuple[IssueVerdict, ...] = get_args(IssueVerdict)
OutcomeKey = tuple[str, str, int]
"""The pull request, the reviewer, and the position of the comment."""
PairKey = tuple[str, str, int, int]
"""The pull request, the reviewer, the position of the comment and that of the reference."""
Verdict = TypeVar("Verdict", bound=Hashable)


@dataclass(frozen=True, slots=True)
class PairLabel:
    """Somebody's verdict on a comment and a reference of a run."""

    pr: str
    reviewer: str
    generated: int
    reference: int
    """The positions, as in pairs.jsonl."""
    comment_note: str
    reference_note: str
    """What was read: a label holds for these notes and no others."""
    match: bool | None
    at: str
    """When, in ISO 8601, UTC."""
    name: str | None = None
    """Who; None where nobody said."""

    @property
    def key(self) -> PairKey:
        return self.pr, self.reviewer, self.generated, self.reference


@dataclass(frozen=True, slots=True)
class IssueLabel:
    """Somebody's verdict on an unlisted issue: what comments say that no reference covers."""

    issue: str
    """Its name among the issues of the run."""
    pr: str
    comments: tuple[tuple[str, int], ...]
    """Who says it: reviewer and position of each comment."""
    note: str
    """The note that was read first."""
    verdict: IssueVerdict | None
    at: str
    name: str | None = None
    model: str | None = None
    """The model that said so; None for a person."""

    @property
    def key(self) -> str:
        return self.issue


@dataclass(frozen=True, slots=True)
class OutcomeLabel:
    """Somebody's verdict on what became of a comment."""

    pr: str
    reviewer: str
    position: int
    """The comment's, as in results.jsonl."""
    note: str
    """What was read: a label holds for this note and no other."""
    verdict: str | None
    """One of `ADDRESSED_VERDICTS`."""
    at: str
    name: str | None = None

    @property
    def key(self) -> OutcomeKey:
        return self.pr, self.reviewer, self.position


Label = PairLabel | IssueLabel | OutcomeLabel


@dataclass(frozen=True)
class Labels:
    """Everything that was said about a run, in the order in which it was said."""

    pairs: Sequence[PairLabel] = ()
    issues: Sequence[IssueLabel] = ()
    damaged: int = 0
    """Lines that could not be read, as a kill in the middle of one leaves."""
    outcomes: Sequence[OutcomeLabel] = ()

    def people(self) -> list[str | None]:
        """Who has labelled, in order of appearance, pairs before issues before outcomes; a model is nobody."""
        by_people = [label.name for label in self.issues if label.model is None]
        of_outcomes = [label.name for label in self.outcomes]
        return list(dict.fromkeys([*(label.name for label in self.pairs), *by_people, *of_outcomes]))

    def of(self, name: str | None) -> Labels:
        """What one person said; a model is nobody."""
        return Labels(
            [label for label in self.pairs if label.name == name],
            [label for label in self.issues if label.name == name and label.model is None],
            outcomes=[label for label in self.outcomes if label.name == name],
        )

    def in_force(self) -> bool:
        """Whether people hold anything; all of it may have been taken back."""
        return bool(self.pair_verdicts() or self.issue_verdicts() or self.outcome_verdicts())

    def pair_verdicts(self) -> dict[PairKey, bool]:
        """What people hold of each pair: the verdict of most, and of two that are equally many the latest."""
        return current_verdicts((label.key, label.name, label.match) for label in self.pairs)

    def issue_verdicts(self) -> dict[str, IssueVerdict]:
        """The same of each unlisted issue, by people."""
        return current_verdicts(
            (label.issue, label.name, label.verdict) for label in self.issues if label.model is None
        )

    def model_verdicts(self) -> dict[str, IssueVerdict]:
        """What a model last said of each unlisted issue."""
        return current_verdicts((label.issue, None, label.verdict) for label in self.issues if label.model is not None)

    def outcome_verdicts(self) -> dict[OutcomeKey, str]:
        """What people hold of what became of each comment."""
        return current_verdicts((label.key, label.name, label.verdict) for label in self.outcomes)


Key = TypeVar("Key", bound=Hashable)


def current_verdicts(said: Iterable[tuple[Key, str | None, Verdict | None]]) -> dict[Key, Verdict]:
    """For each thing what most people hold of it now; of equally many, what was said last."""
    now: dict[Key, dict[str | None, Verdict]] = {}
    for key, name, verdict in said:
        of_thing = now.setdefault(key, {})
        of_thing.pop(name, None)  # so that the order is that of the latest words
        if verdict is not None:
            of_thing[name] = verdict
    return {key: majority_verdict(of_thing) for key, of_thing in now.items() if of_thing}


def majority_verdict(verdicts: Mapping[str | None, Verdict]) -> Verdict:
    """What most people hold, given by person in the order of their latest words; of equally many, the latest."""
    in_order = list(verdicts.values())
    times = Counter(in_order)
    return max(reversed(in_order), key=times.__getitem__)
