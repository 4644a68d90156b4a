"""What a comment run keeps: one record per pull request and reviewer, and one row per judged pair.

Positions count from 0 in the order of the input. Comments without a note are not counted and have no row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter

from metareview.comments.costs import Spent
from metareview.comments.measures import Counts, Rates
from metareview.model.address import repository_and_number
from metareview.model.comment import Comment


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said of a pair."""

    score: float | None
    match: bool | None
    """None: undecided, which is an error and never a mismatch."""
    by: str
    """judge, model, cache or label."""
    reason: str


@dataclass(frozen=True, slots=True)
class Pair:
    """One judged pair of a comment and a reference, or of a comment and a negative."""

    pr: str
    reviewer: str
    generated: int
    reference: int
    """The position among the references, or among the negatives."""
    negative: bool
    gap: int | None
    """Lines between the two; None where locations are not compared."""
    eligible: bool
    """Whether the two may match by location; the others were judged only for curves over the line distance."""
    verdict: Verdict
    aligned: bool
    """Whether it was counted."""
    run: str | None = None
    """Which of the reviewer's repeated runs the comment is of."""


@dataclass(frozen=True, slots=True)
class PairBlock:
    """Judged pairs of one reviewer on one pull request, column by column. The fields are those of `Pair`."""

    pr: str
    reviewer: str
    negative: bool
    generated: Sequence[int]
    reference: Sequence[int]
    gap: Sequence[int | None]
    eligible: Sequence[bool]
    score: Sequence[float | None]
    match: Sequence[bool | None]
    by: Sequence[str]
    reason: Sequence[str]
    aligned: Sequence[bool]
    run: str | None = None

    def rows(self) -> Iterator[Pair]:
        verdicts = map(Verdict, self.score, self.match, self.by, self.reason)
        columns = (self.generated, self.reference, self.gap, self.eligible, verdicts, self.aligned)
        for generated, reference, gap, eligible, verdict, aligned in zip(*columns, strict=True):
            yield Pair(
                self.pr, self.reviewer, generated, reference, self.negative, gap, eligible, verdict, aligned, self.run
            )


@dataclass(frozen=True, slots=True)
class ScoredComment:
    """A comment of the reviewer, and what it was paired with."""

    position: int
    comment: Comment
    line_match: bool | None
    """Whether it points where a reference does: one that it is aligned with by location, or the one that it matches.
    None where locations are not compared."""
    semantic_match: bool | None
    """Whether it raises the issue of a reference; None where meaning was not asked."""
    left_out: bool
    """It was right about a reference that a filter drops, or that is neutral: it counts neither for nor against."""
    reference: int | None = None
    line_reference: int | None = None
    negative: int | None = None
    verdict: Verdict | None = None
    """On the pair that counts: with the reference, or else with the negative."""
    run: str | None = None
    """Which run it is of, in a record of several runs."""
    repeats: int | None = None
    """Of a comment that matches nothing: another comment of the same review that says the same."""

    @property
    def matched(self) -> bool:
        """Whether it counts as a match."""
        return self.reference is not None


@dataclass(frozen=True, slots=True)
class ScoredReference:
    """A reference, and whether it was raised."""

    position: int
    comment: Comment
    kept: bool
    """False: a filter drops it, or it is neutral."""
    covered: bool
    """In a record of several runs: by one of them at least."""
    line_covered: bool | None
    found_in: int | None = None
    """In how many of `runs` it was raised; None in a record of a single run."""
    runs: int | None = None

    @property
    def share(self) -> float:
        """Of the runs, those that raised it."""
        return float(self.covered) if self.found_in is None or not self.runs else self.found_in / self.runs


@dataclass(frozen=True, slots=True)
class Negative:
    """A comment that annotators rejected."""

    position: int
    comment: Comment


@dataclass(frozen=True, slots=True)
class Comparison:
    """The judge's verdict on a comment and a reference that may match by location."""

    generated: int
    reference: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Tally:
    """References of one kind: how many, how many were raised, and how many some comment points at."""

    references: float = 0
    covered: float = 0
    line_covered: float = 0

    def values(self) -> tuple[float, float, float]:
        """All of them, in order."""
        return self.references, self.covered, self.line_covered

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.references + other.references, self.covered + other.covered, self.line_covered + other.line_covered
        )


DIMENSIONS: Mapping[str, str] = {
    "comment_category": "category",
    "context": "context",
    "severity": "severity",
    "producer": "made_by",
    "is_ai_comment": "ai_or_people",
}
"""How references are sliced: the slice's name, and the comment's attribute."""


@dataclass(frozen=True, slots=True)
class RunCounts:
    """What one of several repeated runs counts on a pull request."""

    counts: Counts
    slices: Mapping[str, Mapping[str, Tally]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CommentRecord:
    """One reviewer on one pull request: what was counted, and the pairing behind it.

    Of repeated runs there is a record for each, and `averaged` makes one of them all.
    """

    pr: str
    reviewer: str
    language: str | None
    pr_category: str | None
    references_before_filters: int
    references_after_filters: int
    skip_reason: str | None = None
    """Why a filter drops the pull request; everything below is then empty."""
    counts: Counts = field(default_factory=Counts)
    rates: Rates = field(default_factory=dict)
    left_out: float = 0
    judged_pairs: int = 0
    slices: Mapping[str, Mapping[str, Tally]] = field(default_factory=dict)
    """By dimension, then by its value."""
    comments: Sequence[ScoredComment] = ()
    matches: tuple[tuple[int, int], ...] = ()
    """(comment, reference) of the aligned pairs."""
    comparisons: Sequence[Comparison] = ()
    references: tuple[ScoredReference, ...] = ()
    negatives: tuple[Negative, ...] = ()
    bounds: tuple[Counts, Counts] | None = None
    """Where pairs are undecided: the counts with the fewest and with the most matches, if that is worked out."""
    run: str | None = None
    """Which of the reviewer's repeated runs it is of."""
    runs: tuple[str, ...] = ()
    """The runs that it is the mean of, where it is one."""
    of_runs: tuple[RunCounts, ...] = ()
    """What each of them counts."""
    repeated: float | None = None
    """How many of the unmatched comments say again what an earlier one says; None in a run that did not note it."""
    spent: Spent = field(default_factory=Spent)

    @property
    def key(self) -> tuple[str, str]:
        return (self.pr, self.reviewer)

    @property
    def run_key(self) -> tuple[str, ...]:
        """What no other record of a run's folder has."""
        return self.key if self.run is None else (*self.key, self.run)

    @property
    def skipped(self) -> bool:
        return self.skip_reason is not None

    @property
    def evaluation_id(self) -> str:
        name = repository_and_number(self.pr)
        return f"{name[0]}_{name[1]}" if name else self.pr

    def without_notes(self) -> CommentRecord:
        """What the figures need, whatever the number of comments."""
        return CommentRecord(**dict(zip(_FIELDS, _VALUES(self), strict=True)) | _NO_NOTES)


_FIELDS = tuple(field.name for field in fields(CommentRecord))
_VALUES = attrgetter(*_FIELDS)
_NO_NOTES: dict[str, tuple[()]] = dict.fromkeys(("comments", "matches", "comparisons", "references", "negatives"), ())
