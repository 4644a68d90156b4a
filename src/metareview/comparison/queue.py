"""What a person is asked next about a run, in a terminal or in the viewer, and what becomes of the answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from metareview.comments.blocks import Block, Frame, Position
from metareview.comments.records import CommentRecord, Verdict
from metareview.comparison.frame import LabelledFrame
from metareview.model.comment import Comment
from metareview.model.label import IssueLabel, Label, Labels, PairLabel
from metareview.runs.run import CommentsRun, now

RecordOf = Callable[[str, str], CommentRecord]
"""The record of a pull request and a reviewer."""


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
        comment = next(each.comment for each in record.comments if each.position == generated)
        other = next(each.comment for each in record.references if each.position == reference)
        judged = (each.verdict for each in record.comparisons if (each.generated, each.reference) == ask)
        return PairQuestion(at + 1, len(self.frame.drawn), block, ask, comment, other, next(judged, None))


def last_label(labels: Sequence[PairLabel] | Sequence[IssueLabel], name: str | None) -> Label | None:
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
    return lambda pr, reviewer: records[pr, reviewer]
