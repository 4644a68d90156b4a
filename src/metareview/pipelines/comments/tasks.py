"""One reviewer on one pull request as a piece of work: small until somebody makes its case, and so can be sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from metareview.comments.case import Case, Rules
from metareview.comments.filters import FilterConfig
from metareview.comments.location import count_candidate_pairs
from metareview.errors import InputError
from metareview.judges.protocol import Question
from metareview.model.comment import Comment, Review, counted
from metareview.model.words import one_line, plural

GIANT = 1_000_000
"""Pairs, from which on the lines of a single task are written piece by piece, and so by the process that writes."""
MOST_PAIRS, PAIRS_PER_COMMENT = 100_000, 50
"""Pairs of one task that a run keeps, and where that is more, for each of its comments and references: else the lines
of a run grow with the square of the input."""
_NAMES = 1_000
"""Characters of the names that each of these lines repeats; where they have more, fewer lines are kept."""
MANY_COMMENTS = 50_000
"""The same by comments."""
_PAIRS_PER_COMMENT = 20
"""How many pairs that are far apart take as long as a comment that is read."""


@dataclass(frozen=True, slots=True)
class Task:
    """What a case is made of. Its comments may still be in their files."""

    reviewer: str
    generated: Review
    reference: Review
    negative: Review | None
    first: int = 0
    """The position of its first comment: not 0 where earlier runs of the reviewer have comments there."""

    @property
    def pr(self) -> str:
        return self.reference.pr

    @property
    def key(self) -> tuple[str, ...]:
        """The `run_key` of its record."""
        run = self.generated.run
        return (self.pr, self.reviewer) if run is None else (self.pr, self.reviewer, run)

    @property
    def most_pairs(self) -> int:
        """As many as there would be if every comment could match everything."""
        ours, theirs = self._comments
        return ours * theirs

    def check_pairs(self, rules: Rules) -> None:
        """InputError where more comments and references stand together than a run can keep pair by pair."""
        names = len(self.pr) + len(self.reviewer) + len(self.generated.run or "")
        most = max(MOST_PAIRS, PAIRS_PER_COMMENT * sum(self._comments)) * _NAMES // max(_NAMES, names)
        if self.most_pairs <= most:
            return
        ours, *others = ([each for _, each in counted(side.comments)] for side in self._sides)
        reach, anywhere = max(rules.reach, rules.line_distance), not rules.location
        pairs = sum(count_candidate_pairs(ours, theirs, reach, anywhere=anywhere) for theirs in others)
        if pairs <= most or self.is_dropped_by(rules.filters):
            return
        who, where = one_line(self.reviewer, 100), one_line(self.pr, 200)
        problem = f"{where}: {plural(pairs, 'pair')} of a comment of {who} and a reference in one place"
        fix = "Leave this pull request out of the input, or look why it has so many comments there."
        raise InputError(f"{problem}, and a run keeps at most {most:,}", fix=fix)

    @property
    def is_giant(self) -> bool:
        """Whether it has so many pairs or comments that nobody should hold all of its lines."""
        return self.most_pairs >= GIANT or sum(self._comments) >= MANY_COMMENTS

    @property
    def size(self) -> int:
        """About how much there is to do, in comments that are read."""
        ours, theirs = self._comments
        return 1 + ours + theirs + ours * theirs // _PAIRS_PER_COMMENT

    @property
    def _sides(self) -> Iterator[Review]:
        return (side for side in (self.generated, self.reference, self.negative) if side is not None)

    @property
    def _comments(self) -> tuple[int, int]:
        """How many there are of the reviewer, and how many that each of them may match."""
        theirs = len(self.reference.comments)
        return len(self.generated.comments), theirs + len(self.negative.comments) if self.negative else theirs

    def is_dropped_by(self, filters: FilterConfig) -> bool:
        language = self.reference.language or self.generated.language
        return not filters.keeps_pull_request(language, self.reference.pr_category or self.generated.pr_category)

    def case(self, rules: Rules) -> Case:
        return Case.of(self.reviewer, self.generated, self.reference, self.negative, rules, first=self.first)

    def __reduce__(self) -> tuple[Any, ...]:
        """How it is sent: the fields of a review that a case is made of, and no others."""
        sides = (None if side is None else _sent(side) for side in (self.generated, self.reference, self.negative))
        return _received, (self.reviewer, self.first, *sides)


def eligible_questions(cases: Iterable[Case]) -> list[Question]:
    """The pairs that can count, of pull requests that no filter drops."""
    return [question for case in cases if not case.skipped for question in case.eligible_questions()]


_Sent = tuple[str, tuple[Comment, ...], str | None, str | None, str | None, float | None, float | None, float | None]


def _sent(review: Review) -> _Sent:
    head = review.pr, review.comments, review.language, review.pr_category
    return (*head, review.run, review.cost, review.tokens, review.seconds)


def _received(reviewer: str, first: int, *sides: _Sent | None) -> Task:
    generated, reference, negative = (None if side is None else _review(*side) for side in sides)
    assert generated is not None
    assert reference is not None
    return Task(reviewer, generated, reference, negative, first)


def _review(
    pr: str,
    comments: tuple[Comment, ...],
    language: str | None,
    pr_category: str | None,
    run: str | None,
    cost: float | None,
    tokens: float | None,
    seconds: float | None,
) -> Review:
    return Review(
        pr, comments, language=language, pr_category=pr_category, run=run, cost=cost, tokens=tokens, seconds=seconds
    )
