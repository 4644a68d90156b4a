"""An entry of the evidence: a comment and what it was compared with, quoted from the record that has them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from metareview.comments.records import CommentRecord, Negative, Pair, ScoredComment, ScoredReference, Verdict
from metareview.model.comment import Comment
from metareview.runs.files import JsonObject


@dataclass(frozen=True, slots=True)
class Quoted:
    """A comment, reference or negative, with its position in the input."""

    position: int
    comment: Comment
    run: str | None = None
    """Which of the reviewer's repeated runs it is of."""


@dataclass(frozen=True, slots=True)
class FoundIn:
    """In how many of its runs a reviewer raised a reference."""

    reviewer: str
    found: int
    runs: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A comment, a reference, or the two side by side, and what is known of them."""

    pr: str
    reviewer: str | None
    """Whose the comment is; None where there is none."""
    comment: Quoted | None
    other: Quoted | None
    """The reference, or the negative that the comment was compared with."""
    rejected: bool = False
    """Whether the other is a negative."""
    verdict: Verdict | None = None
    """On the two, where they were judged."""
    gap: int | None = None
    eligible: bool = True
    """Whether the two may match by location."""
    raised_by: tuple[str, ...] = ()
    """Everybody in the run who raises the reference."""
    comment_raises: Quoted | None = None
    """Another reference, which the comment is counted for."""
    raised_instead: Quoted | None = None
    """Another comment of this reviewer, which is counted for the reference."""
    found_in: FoundIn | None = None
    """Of a reference that not every run raised: by whoever raised it most."""
    repeats: Quoted | None = None
    """An earlier comment of this reviewer, which the comment says again, where it matches nothing."""

    @property
    def by(self) -> str | None:
        """Whose the comment is, with its run where that is one of several."""
        run = self.comment.run if self.comment else None
        return f"{self.reviewer} ({run})" if run is not None else self.reviewer

    def to_dict(self) -> JsonObject:
        verdict = self.verdict
        kind = "negative" if self.rejected else "reference"
        return {
            "pr": self.pr,
            "reviewer": self.reviewer,
            "comment": self.comment
            and {
                "generated": self.comment.position,
                **({} if self.comment.run is None else {"run": self.comment.run}),
                **self.comment.comment.to_dict(),
            },
            kind: self.other and {kind: self.other.position, **self.other.comment.to_dict()},
            "score": verdict and verdict.score,
            "match": verdict and verdict.match,
            "by": verdict and verdict.by,
            "reason": verdict and verdict.reason,
            "gap": self.gap,
            "eligible": self.eligible if verdict else None,
            "raised_by": list(self.raised_by),
            "comment_raises": self.comment_raises and self.comment_raises.position,
            "raised_instead": self.raised_instead and self.raised_instead.position,
            **({} if self.found_in is None else {"found_in": self.found_in.found, "runs": self.found_in.runs}),
            **({} if self.repeats is None else {"repeats": self.repeats.position}),
        }


class Quotes:
    """The notes of one record, by their positions, and what was counted for what."""

    def __init__(self, record: CommentRecord) -> None:
        self._comments = _by_position(record.comments, repeated=len(record.runs) > 1)
        self._references = _by_position(record.references)
        self._negatives = _by_position(record.negatives)
        self._matches = record.matches
        self._repeats: dict[int | None, Quoted] = {
            each.position: self._comments[each.repeats] for each in record.comments if each.repeats is not None
        }

    def entry(self, pr: str, reviewer: str, comment: int | None, other: int | None, pair: Pair | None) -> Entry:
        """The entry of these two, or of one of them; the pair, where they were judged."""
        rejected = pair is not None and pair.negative
        others = self._negatives if rejected else self._references
        entry = Entry(
            pr,
            None if comment is None else reviewer,
            None if comment is None else self._comments[comment],
            None if other is None else others[other],
            rejected,
            repeats=self._repeats.get(comment),
        )
        if pair is None:
            return entry
        return replace(
            entry,
            verdict=pair.verdict,
            gap=pair.gap,
            eligible=pair.eligible,
            comment_raises=self._comment_raises(pair),
            raised_instead=self._raised_instead(pair),
        )

    def _comment_raises(self, pair: Pair) -> Quoted | None:
        mine = [reference for comment, reference in self._matches if comment == pair.generated]
        if not mine or (pair.reference in mine and not pair.negative):
            return None
        return self._references[mine[0]]

    def _raised_instead(self, pair: Pair) -> Quoted | None:
        if pair.negative:
            return None
        # By a comment of the same run: in another run, another one may well be counted for it.
        theirs = [
            comment
            for comment, reference in self._matches
            if reference == pair.reference and self._comments[comment].run in (None, pair.run)
        ]
        return None if not theirs or pair.generated in theirs else self._comments[theirs[0]]


def _by_position(
    scored: Iterable[ScoredComment | ScoredReference | Negative], *, repeated: bool = False
) -> dict[int, Quoted]:
    return {
        each.position: Quoted(
            each.position, each.comment, each.run if repeated and isinstance(each, ScoredComment) else None
        )
        for each in scored
    }
