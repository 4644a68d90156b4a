"""People's verdicts: whether two notes raise the same issue, whether a comment that no reference covers is right, and
whether a later change did what a comment asks.

A label is never changed. A later one by the same person on the same thing takes its place, and one whose verdict is
None takes it back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar, get_args

IssueVerdict = Literal["valid", "invalid", "repeat"]
ISSUE_VERDICTS: tuple[IssueVerdict, ...] = get_args(IssueVerdict)
OutcomeKey = tuple[str, str, int]
"""The pull request, the reviewer, and the position of the comment."""
PairKey = tuple[str, str, int, int]
"""The pull request, the reviewer, the position of the comment and that of the reference."""
Verdict = TypeVar("Verdict", bound=Hashable)


@dataclass(frozen=True, slots=True)
class PairLabel:
    """A verdict on a comment and a reference of a run."""

    pr: str
    reviewer: str
    generated: int
    reference: int
    """The positions, as in pairs.jsonl."""
    comment_note: str
    reference_note: str
    """The notes as read: a label holds for these and no others."""
    match: bool | None
    at: str
    """When, in ISO 8601, UTC."""
    name: str | None = None
    """The annotator; None where it is not known."""

    @property
    def key(self) -> PairKey:
        return self.pr, self.reviewer, self.generated, self.reference


@dataclass(frozen=True, slots=True)
class IssueLabel:
    """A verdict on an unlisted issue: an issue in comments that no reference covers."""

    issue: str
    """Its name among the issues of the run."""
    pr: str
    comments: tuple[tuple[str, int], ...]
    """Reviewer and position of each comment that raises it."""
    note: str
    """The note that was read first."""
    verdict: IssueVerdict | None
    at: str
    name: str | None = None
    model: str | None = None
    """The model that gave the verdict; None for a person."""

    @property
    def key(self) -> str:
        return self.issue


@dataclass(frozen=True, slots=True)
class OutcomeLabel:
    """A verdict on what became of a comment."""

    pr: str
    reviewer: str
    position: int
    """The comment's, as in results.jsonl."""
    note: str
    """The note as read: a label holds for this one and no other."""
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
    """All labels of a run, in the order in which they were given."""

    pairs: Sequence[PairLabel] = ()
    issues: Sequence[IssueLabel] = ()
    damaged: int = 0
    """Lines that could not be read, as a kill in the middle of one leaves."""
    outcomes: Sequence[OutcomeLabel] = ()

    def people(self) -> list[str | None]:
        """The annotators in order of appearance, pairs before issues before outcomes; without models."""
        by_people = [label.name for label in self.issues if label.model is None]
        of_outcomes = [label.name for label in self.outcomes]
        return list(dict.fromkeys([*(label.name for label in self.pairs), *by_people, *of_outcomes]))

    def of(self, name: str | None) -> Labels:
        """The labels of one person; without those of models."""
        return Labels(
            [label for label in self.pairs if label.name == name],
            [label for label in self.issues if label.name == name and label.model is None],
            outcomes=[label for label in self.outcomes if label.name == name],
        )

    def in_force(self) -> bool:
        """True if any label of a person is in force; all may have been taken back."""
        return bool(self.pair_verdicts() or self.issue_verdicts() or self.outcome_verdicts())

    def pair_verdicts(self) -> dict[PairKey, bool]:
        """The majority verdict of people per pair; ties go to the latest."""
        return current_verdicts((label.key, label.name, label.match) for label in self.pairs)

    def issue_verdicts(self) -> dict[str, IssueVerdict]:
        """The majority verdict of people per unlisted issue."""
        return current_verdicts(
            (label.issue, label.name, label.verdict) for label in self.issues if label.model is None
        )

    def model_verdicts(self) -> dict[str, IssueVerdict]:
        """The latest verdict of a model per unlisted issue."""
        return current_verdicts((label.issue, None, label.verdict) for label in self.issues if label.model is not None)

    def outcome_verdicts(self) -> dict[OutcomeKey, str]:
        """The majority verdict of people per comment on what became of it."""
        return current_verdicts((label.key, label.name, label.verdict) for label in self.outcomes)


Key = TypeVar("Key", bound=Hashable)


@dataclass
class Votes(Generic[Verdict]):
    """The latest verdict of each person on one thing, in the order in which they were given."""

    latest: dict[str | None, Verdict] = field(default_factory=dict)

    def add(self, name: str | None, verdict: Verdict | None) -> None:
        """Replace the person's earlier verdict; None takes it back."""
        self.latest.pop(name, None)
        if verdict is not None:
            self.latest[name] = verdict

    @property
    def majority(self) -> Verdict | None:
        """The verdict of most people; ties go to the latest. None where all were taken back."""
        in_order = list(self.latest.values())
        return max(reversed(in_order), key=Counter(in_order).__getitem__, default=None)

    def people(self, verdict: Verdict | None) -> tuple[str, ...]:
        """The named people with this verdict."""
        return tuple(name for name, theirs in self.latest.items() if name and theirs == verdict)


def current_verdicts(labels: Iterable[tuple[Key, str | None, Verdict | None]]) -> dict[Key, Verdict]:
    """The majority verdict per item, of labels given as item, person and verdict; ties go to the latest."""
    votes: dict[Key, Votes[Verdict]] = {}
    for key, name, verdict in labels:
        votes.setdefault(key, Votes()).add(name, verdict)
    return {key: verdict for key, each in votes.items() if (verdict := each.majority) is not None}
