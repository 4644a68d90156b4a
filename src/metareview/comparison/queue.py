"""What a person is asked next about a run, in a terminal or in the viewer, and what becomes of the answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from metareview.comments.blocks import Block, Frame, Position
from metareview.comments.records import CommentRecord, Verdict
from metareview.comparison.frame import LabelledFrame
from metareview.comparison.unlisted import Evidence
from metareview.errors import InputError
from metareview.model.comment import Comment
from metareview.model.label import IssueLabel, IssueVerdict, Label, Labels, PairLabel
from metareview.model.unlisted import Issue, Unlisted
from metareview.runs.run import CommentsRun, now

RecordOf = Callable[[str, str], CommentRecord]
"""The record of a pull request and a reviewer."""
_DRAW_ANEW = "Delete frame.json in the run's folder to draw anew; labels stay."


@dataclass(frozen=True, slots=True)
class PairQuestion:
    """Do this comment and this reference raise the same issue?"""

    number: int
    """Of the block in the order of asking, from 1."""
    of: int
    """Blocks that were drawn."""
    block: Block
    pair: Position
    comment: Comment
    reference: Comment
    verdict: Verdict | None
    """The judge's. To be shown only once the question is answered: who has read it is no second opinion."""

    def label(self, match: bool | None, name: str | None) -> PairLabel:
        return PairLabel(
            self.block.pr,
            self.block.reviewer,
            *self.pair,
            comment_note=self.comment.note,
            reference_note=self.reference.note,
            match=match,
            at=now(),
            name=name,
        )


@dataclass(frozen=True)
class PairQueue:
    """The blocks of a frame, as far as one person has labelled them. Everybody goes through all of them, so that what
    two people say of the same pairs can be compared; whoever gives no name shares the work with the others who do not.
    """

    frame: Frame
    labels: Labels
    """Everybody's."""
    name: str | None
    record_of: RecordOf

    @property
    def labelled(self) -> LabelledFrame:
        return LabelledFrame(self.frame, self.labels.of(self.name).pair_verdicts())

    def next(self, skipped: Collection[int] = ()) -> PairQuestion | None:
        """The pair to ask about now; None at the end. `skipped`: numbers of blocks to pass over."""
        return next((self._question(*each) for each in self.labelled.questions() if each[0] + 1 not in skipped), None)

    def at(self, number: int) -> PairQuestion | None:
        """The pair to ask about in one block: its next one, or its first where it is known."""
        if not 1 <= number <= len(self.frame.drawn):
            return None
        block = self.frame.drawn[number - 1][1]
        settled = self.labelled.settled[number - 1]
        return self._question(number - 1, block, settled.ask or block.pairs[0])

    def _question(self, at: int, block: Block, ask: Position) -> PairQuestion:
        record = self.record_of(block.pr, block.reviewer)
        generated, reference = ask
        comment = next((each.comment for each in record.comments if each.position == generated), None)
        other = next((each.comment for each in record.references if each.position == reference), None)
        if comment is None or other is None:
            problem = f"the sample has a pair that the run has not (comment {generated} and reference {reference})"
            raise InputError(f"{problem} of {block.reviewer} on {block.pr}", fix=_DRAW_ANEW)
        judged = (each.verdict for each in record.comparisons if (each.generated, each.reference) == ask)
        return PairQuestion(at + 1, len(self.frame.drawn), block, ask, comment, other, next(judged, None))


@dataclass(frozen=True, slots=True)
class IssueQuestion:
    """Is what these comments say, and no reference covers, valid?"""

    number: int
    of: int
    """Issues that were drawn."""
    issue: Issue
    evidence: Evidence

    def label(self, verdict: IssueVerdict | None, name: str | None) -> IssueLabel:
        note = self.evidence.comments[0].comment.note
        return IssueLabel(self.issue.id, self.issue.pr, self.issue.comments, note, verdict, now(), name)


@dataclass(frozen=True)
class IssueQueue:
    """The drawn unlisted issues, as far as one person has labelled them; a model's labels are nobody's."""

    unlisted: Unlisted
    labels: Labels
    name: str | None
    evidence: Callable[[Issue], Evidence]

    @property
    def known(self) -> dict[str, IssueVerdict]:
        return self.labels.of(self.name).issue_verdicts()

    @property
    def done(self) -> int:
        known = self.known
        return sum(name in known for name in self.unlisted.drawn)

    def next(self, skipped: Collection[int] = ()) -> IssueQuestion | None:
        known = self.known
        for number, issue in enumerate(self.unlisted.queue, 1):
            if issue.id not in known and number not in skipped:
                return self.at(number)
        return None

    def at(self, number: int) -> IssueQuestion | None:
        if not 1 <= number <= len(self.unlisted.drawn):
            return None
        issue = self.unlisted.queue[number - 1]
        return IssueQuestion(number, len(self.unlisted.drawn), issue, self.evidence(issue))


def last_label(labels: Sequence[Label], name: str | None) -> Label | None:
    """What this person said last and still holds; None where there is nothing to take back."""
    in_force: dict[object, Label] = {}
    for label in labels:
        if label.name != name or (isinstance(label, IssueLabel) and label.model is not None):
            continue
        in_force.pop(label.key, None)
        if said(label) is not None:
            in_force[label.key] = label
    return next(reversed(in_force.values()), None)


def said(label: Label) -> bool | str | None:
    """The verdict; None where a label takes one back."""
    return label.match if isinstance(label, PairLabel) else label.verdict


def taken_back(label: Label) -> Label:
    """The label that takes this one back."""
    return (
        replace(label, match=None, at=now()) if isinstance(label, PairLabel) else replace(label, verdict=None, at=now())
    )


def records_of(run: CommentsRun, keys: Iterable[tuple[str, str]]) -> RecordOf:
    """The records of these pull requests and reviewers, read in one go."""
    wanted = set(keys)
    records = {record.key: record for record in run.read_records() if record.key in wanted}

    def record_of(pr: str, reviewer: str) -> CommentRecord:
        if (pr, reviewer) not in records:
            raise InputError(f"the sample has {reviewer} on {pr}, and the run has not", file=run.label, fix=_DRAW_ANEW)
        return records[pr, reviewer]

    return record_of
