"""One reviewer on one pull request: the comments that count, and the pairs that a judge must decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from metareview.comments.align import Mode
from metareview.comments.costs import Spent
from metareview.comments.filters import FilterConfig
from metareview.comments.location import Candidates, candidate_pairs
from metareview.judges.protocol import LONG_NOTE, SAME, Answer, Question, judged_part
from metareview.model.comment import Comment, Review

FREE_REACH = 20
"""A judge that costs nothing also judges pairs up to this many lines apart. They count for nothing; they are kept so
that figures can be drawn as functions of the line distance without judging again."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How pairs become counts: everything that can change a record but the judge's verdicts."""

    line_distance: int = 1
    reach: int = 0
    """Pairs up to this many lines apart are judged, though those beyond `line_distance` are not eligible."""
    alignment: Mode = "optimal"
    location: bool = True
    """Whether locations are compared at all."""
    meaning: bool = True
    """Whether the judge decides anything; `none` does not."""
    filters: FilterConfig = field(default_factory=FilterConfig)
    negatives: bool = False
    """Whether there are negatives, so that `false_positive_rate` means something."""


@dataclass(frozen=True, slots=True)
class Notes:
    """Comments that count, with their positions in the input."""

    positions: Sequence[int]
    comments: Sequence[Comment]

    @classmethod
    def of(cls, comments: Sequence[Comment], first: int = 0) -> Notes:
        """`first`: the position of the first of them in the input."""
        kept = [(position, comment) for position, comment in enumerate(comments, first) if comment.counted]
        return cls([position for position, _ in kept], [comment for _, comment in kept])

    def judged(self) -> list[str]:
        notes = [comment.note for comment in self.comments]
        return notes if max(map(len, notes), default=0) <= LONG_NOTE else list(map(judged_part, notes))


@dataclass(frozen=True)
class Case:
    """One reviewer's comments on one pull request, beside its references and negatives."""

    reviewer: str
    reference_review: Review
    language: str | None
    pr_category: str | None
    generated: Notes
    reference: Notes
    negative: Notes
    rules: Rules
    skipped: bool
    """Whether a filter drops the pull request."""
    candidates: Candidates
    negative_candidates: Candidates
    run: str | None = None
    """Which of the reviewer's repeated runs it is of."""
    spent: Spent = field(default_factory=Spent)

    @classmethod
    def of(
        cls,
        reviewer: str,
        generated: Review,
        reference: Review,
        negative: Review | None,
        rules: Rules,
        *,
        first: int = 0,
    ) -> Case:
        """The case, with the pairs that may match by location. `first`: the position of its first comment, which is
        not 0 where earlier runs of the reviewer have comments on the pull request."""
        language = reference.language or generated.language
        pr_category = reference.pr_category or generated.pr_category
        skipped = not rules.filters.keeps_pull_request(language, pr_category)
        ours, theirs = Notes.of(generated.comments, first), Notes.of(reference.comments)
        rejected = Notes.of(negative.comments if negative else ())

        def candidates(others: Notes) -> Candidates:
            return candidate_pairs(
                () if skipped else ours.comments,
                others.comments,
                max(rules.reach, rules.line_distance),
                anywhere=not rules.location,
            )

        return cls(
            reviewer,
            reference,
            language,
            pr_category,
            ours,
            theirs,
            rejected,
            rules,
            skipped,
            candidates(theirs),
            candidates(rejected),
            generated.run,
            Spent.of(generated),
        )

    @property
    def pr(self) -> str:
        return self.reference_review.pr

    @property
    def key(self) -> tuple[str, ...]:
        """The `run_key` of its record."""
        return (self.pr, self.reviewer) if self.run is None else (self.pr, self.reviewer, self.run)

    def eligible(self, candidates: Candidates) -> NDArray[np.bool_]:
        """Which of these pairs may match by location; the others are only judged, never counted."""
        return candidates.gap <= self.rules.line_distance

    def eligible_pairs(self) -> int:
        return sum(
            int(np.count_nonzero(self.eligible(pairs)))
            for pairs in (self.candidates, self.negative_candidates)
            if len(pairs)
        )

    def kept_references(self) -> list[bool]:
        """Which references count: those that the filters keep and that are not neutral."""
        filters = self.rules.filters
        if not filters.drops_comments:
            return [not comment.neutral for comment in self.reference.comments]
        return [not comment.neutral and filters.keeps_comment(comment) for comment in self.reference.comments]

    def neutral_references(self) -> NDArray[np.bool_]:
        """Which references are neutral: a comment that matches one counts neither for nor against."""
        return np.array([bool(comment.neutral) for comment in self.reference.comments], bool)

    def question(self) -> Question:
        """The pairs that may match a reference."""
        return self._question(self.reference, self.candidates, negative=False)

    def negative_question(self) -> Question:
        """The pairs that may match a negative; negatives are judged apart from references."""
        return self._question(self.negative, self.negative_candidates, negative=True)

    def eligible_questions(self) -> list[Question]:
        """Both, with the pairs that can count alone; of negatives, none where there are no pairs."""
        near, negative_near = (
            pairs.only(self.eligible(pairs)) if len(pairs) else pairs
            for pairs in (self.candidates, self.negative_candidates)
        )
        questions = [self._question(self.reference, near, negative=False)]
        if len(negative_near):
            questions.append(self._question(self.negative, negative_near, negative=True))
        return questions

    def _question(self, others: Notes, candidates: Candidates, *, negative: bool) -> Question:
        return Question(
            self.generated.judged(),
            others.judged(),
            candidates.pairs(),
            self.pr,
            self.reviewer,
            negative,
            self.generated.positions,
            others.positions,
        )

    def unexplained(self, answer: Answer) -> Case:
        """The case with negatives compared only with the comments that match no reference."""
        if not len(self.negative_candidates):
            return self
        same = (answer.match == SAME) & self.eligible(self.candidates)
        explained = self.are_among(self.candidates.generated[same])
        keep = ~explained[self.negative_candidates.generated]
        return replace(self, negative_candidates=self.negative_candidates.only(keep))

    def are_among(self, comments: NDArray[np.int64]) -> NDArray[np.bool_]:
        """For each of the reviewer's comments whether it is one of these."""
        among = np.zeros(len(self.generated.comments), bool)
        among[comments] = True
        return among
