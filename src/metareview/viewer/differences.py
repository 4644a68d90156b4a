"""What differs between two reviewers, or two routers, pull request by pull request: the largest change first.

A is what was before, B what came after.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from metareview.comments.records import CommentRecord, ScoredComment, ScoredReference, Verdict
from metareview.comparison import competitors
from metareview.comparison.competitors import Competitor
from metareview.comparison.explain import effects
from metareview.model.comment import Comment
from metareview.routing.records import RoutingRecord

Key = tuple[Hashable, int]
"""The content of a comment, and how many like it came before."""
Item = TypeVar("Item", ScoredComment, ScoredReference)


@dataclass(frozen=True, slots=True)
class JudgedTwice:
    """A pair that both runs have, with the same notes, and two verdicts that are not the same."""

    comment: Comment
    reference: Comment
    places: tuple[tuple[int, int], tuple[int, int]]
    """The positions of comment and reference, in A and in B."""
    a: Verdict
    b: Verdict


@dataclass(frozen=True, slots=True)
class ReviewerChange:
    """Two reviewers on one pull request."""

    a: CommentRecord
    b: CommentRecord
    effect: float | None
    """How much it adds to the difference in the main measure; None where the two cannot be compared."""
    found: Sequence[ScoredReference]
    """References that B raised and A did not, as B has them; a reference that only one run has is not among them."""
    lost: Sequence[ScoredReference]
    """The other way round, as A has them."""
    new: Sequence[ScoredComment]
    gone: Sequence[ScoredComment]
    verdicts: Sequence[JudgedTwice]
    other_references: bool
    """Whether the references are not the same in both."""

    def __bool__(self) -> bool:
        return bool(self.found or self.lost or self.new or self.gone or self.verdicts or self.other_references)

    @property
    def size(self) -> tuple[float, int, int, int]:
        effect = 0.0 if self.effect is None else round(abs(self.effect), 12)
        return effect, len(self.found) + len(self.lost), len(self.verdicts), len(self.new) + len(self.gone)


@dataclass(frozen=True, slots=True)
class RouterChange:
    """Two routers on one pull request."""

    a: RoutingRecord
    b: RoutingRecord
    ranks: tuple[int, int]
    candidates: tuple[tuple[str, ...], tuple[str, ...]]
    effect: float | None

    def __bool__(self) -> bool:
        return self.ranks[0] != self.ranks[1] or self.candidates[0] != self.candidates[1]

    @property
    def size(self) -> tuple[float, int]:
        effect = 0.0 if self.effect is None else round(abs(self.effect), 12)
        return effect, int(self.ranks[0] != self.ranks[1])


Change = ReviewerChange | RouterChange


@dataclass(frozen=True)
class Changes:
    """Every pull request that both have and that is not the same, the largest change first."""

    changed: Sequence[Change]
    same: int
    """Pull requests that both have and on which nothing differs."""
    only_a: Sequence[str]
    only_b: Sequence[str]


def changes_between(a: Competitor, b: Competitor, *, comparable: bool) -> Changes:
    """`comparable`: whether their figures mean the same, so that a pull request can add to a difference."""
    a, b = competitors.spelled_alike([a, b])
    shared = [key for key in a.rows if key in b.rows]
    added: list[float | None] = [None] * len(shared)
    if comparable and shared:
        measure = competitors.with_beta(a.run, None)[competitors.main_measure(a.run)]
        added = effects(a.counts(shared), b.counts(shared), measure).tolist()
    changes = [_change(a, b, key, effect) for key, effect in zip(shared, added, strict=True)]
    changed = sorted((each for each in changes if each), key=lambda each: each.size, reverse=True)
    only = [[key for key in one.rows if key not in other.rows] for one, other in ((a, b), (b, a))]
    return Changes(changed, len(shared) - len(changed), *only)


def _change(a: Competitor, b: Competitor, key: str, effect: float | None) -> Change:
    ours, theirs = a.rows[key].record, b.rows[key].record
    if isinstance(ours, RoutingRecord):
        answers = ours.answers[a.name], theirs.answers[b.name]
        ranks, lists = (answers[0].rank, answers[1].rank), (answers[0].candidates, answers[1].candidates)
        return RouterChange(ours, theirs, ranks, lists, effect)
    return _reviewers(ours, theirs, effect)


def _reviewers(a: CommentRecord, b: CommentRecord, effect: float | None) -> ReviewerChange:
    before, after = _by_content(a.references), _by_content(b.references)
    both = [(before[key], after[key]) for key in before if key in after]
    counted = [(ours, theirs) for ours, theirs in both if ours.kept and theirs.kept]
    said_before, said_after = _by_content(a.comments), _by_content(b.comments)
    return ReviewerChange(
        a,
        b,
        effect,
        found=[theirs for ours, theirs in counted if theirs.covered and not ours.covered],
        lost=[ours for ours, theirs in counted if ours.covered and not theirs.covered],
        new=[said_after[key] for key in said_after if key not in said_before],
        gone=[said_before[key] for key in said_before if key not in said_after],
        verdicts=_judged_twice((a, said_before, before), (b, said_after, after)),
        other_references=before.keys() != after.keys(),
    )


def _by_content(items: Iterable[Item]) -> dict[Key, Item]:
    """Each by what it says and where; of equal ones the first, the second and so on."""
    seen: Counter[Hashable] = Counter()
    found: dict[Key, Item] = {}
    for item in items:
        content = item.comment.content_key
        found[content, seen[content]] = item
        seen[content] += 1
    return found


_Side = tuple[CommentRecord, Mapping[Key, ScoredComment], Mapping[Key, ScoredReference]]


def _judged_twice(a: _Side, b: _Side) -> list[JudgedTwice]:
    """The pairs that both judges were asked about and did not answer alike; undecided is an answer of its own."""
    before, after = _verdicts(*a), _verdicts(*b)
    found = []
    for pair, (places, verdict) in before.items():
        if pair in after and after[pair][1].match != verdict.match:
            comment, reference = a[1][pair[0]].comment, a[2][pair[1]].comment
            found.append(JudgedTwice(comment, reference, (places, after[pair][0]), verdict, after[pair][1]))
    return found


def _verdicts(
    record: CommentRecord, comments: Mapping[Key, ScoredComment], references: Mapping[Key, ScoredReference]
) -> dict[tuple[Key, Key], tuple[tuple[int, int], Verdict]]:
    ours = {item.position: key for key, item in comments.items()}
    theirs = {item.position: key for key, item in references.items()}
    return {
        (ours[pair.generated], theirs[pair.reference]): ((pair.generated, pair.reference), pair.verdict)
        for pair in record.comparisons
        if pair.generated in ours and pair.reference in theirs
    }
