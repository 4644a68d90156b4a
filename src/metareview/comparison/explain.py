"""What made a difference between two competitors: which pull requests, which kinds of issue, what each one found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import ClassVar

import numpy as np

from metareview.comments.measures import whole
from metareview.comments.records import DIMENSIONS, CommentRecord, ScoredReference
from metareview.comparison.competitors import Competitor
from metareview.exchange import ROUNDING, Array
from metareview.model.comment import Comment
from metareview.model.measure import Formula, Measure
from metareview.routing.records import RouterAnswer, RoutingRecord
from metareview.runs.files import JsonObject
from metareview.runs.run import is_comments

EXCERPT = 240
"""Characters of a note that are quoted."""
SHOWN_PULL_REQUESTS = 5
SHOWN_UNMATCHED = 3
SHOWN_CANDIDATES = 5


@dataclass(frozen=True, slots=True)
class ReviewerPair:
    """Two reviewers on one pull request."""

    DIMENSIONS: ClassVar = (*DIMENSIONS, "language", "pr_category")

    a: CommentRecord
    b: CommentRecord
    effect: float
    """How much the pull request adds to the difference, as `effects` says."""

    @property
    def pr(self) -> str:
        return self.a.pr

    def references(self) -> list[tuple[ScoredReference, ScoredReference]]:
        """Each reference that counts, as A and as B raised it or not."""
        both = zip(self.a.references, self.b.references, strict=True)
        return [(ours, theirs) for ours, theirs in both if ours.kept]

    def only_a(self) -> list[ScoredReference]:
        """References that only A raised; with repeated runs, in one of them at least."""
        return [of_a for of_a, of_b in self.references() if of_a.covered and not of_b.covered]

    def only_b(self) -> list[ScoredReference]:
        return [of_b for of_a, of_b in self.references() if of_b.covered and not of_a.covered]

    def same_answer(self) -> bool:
        """The same comments at the same locations, in any order."""
        content = itemgetter("path", "side", "from_line", "to_line", "note")
        ours, theirs = (Counter(content(each.comment) for each in record.comments) for record in (self.a, self.b))
        return ours == theirs

    def found(self) -> Iterator[tuple[JsonObject, bool, bool]]:
        for of_a, of_b in self.references():
            shares = {"found_in": {"a": of_a.share, "b": of_b.share}} if of_a.runs or of_b.runs else {}
            yield {"pr": self.pr, **_reference_to_json(of_a), **shares}, of_a.covered, of_b.covered

    def kinds(self) -> Iterator[tuple[tuple[str | None, ...], float, float]]:
        """Each reference by the dimensions, and in what share of their runs A and B raised it."""
        for of_a, of_b in self.references():
            own = (getattr(of_a.comment, field) for field in DIMENSIONS.values())
            yield (*own, self.a.language, self.a.pr_category), whole(of_a.share), whole(of_b.share)

    def to_dict(self) -> JsonObject:
        return {
            "pr": self.pr,
            "effect": self.effect,
            "references": len(self.references()),
            "a": _reviewer_to_json(self.a),
            "b": _reviewer_to_json(self.b),
            "only_a": [_raised_to_json(each, self.a) for each in self.only_a()],
            "only_b": [_raised_to_json(each, self.b) for each in self.only_b()],
        }


@dataclass(frozen=True, slots=True)
class RouterPair:
    """Two routers on one pull request."""

    DIMENSIONS: ClassVar = ("repo",)

    record: RoutingRecord
    a: RouterAnswer
    b: RouterAnswer
    effect: float

    @property
    def pr(self) -> str:
        return self.record.name

    def same_answer(self) -> bool:
        return self.a.candidates == self.b.candidates and self.a.rank == self.b.rank

    def found(self) -> Iterator[tuple[str, bool, bool]]:
        """The pull request, if it has a truth, and whether A and B had a target anywhere in the list."""
        if self.record.truth.targets:
            yield self.pr, self.a.rank > 0, self.b.rank > 0

    def kinds(self) -> Iterator[tuple[tuple[str | None, ...], float, float]]:
        """The repository, and whether A and B put a target first."""
        yield (self.record.repo,), self.a.rank == 1, self.b.rank == 1

    def to_dict(self) -> JsonObject:
        sides = {
            side: {"rank": answer.rank or None, "candidates": answer.candidates[:SHOWN_CANDIDATES]}
            for side, answer in (("a", self.a), ("b", self.b))
        }
        return {"pr": self.pr, "effect": self.effect, "truth": self.record.truth.targets, **sides}


@dataclass(frozen=True, slots=True)
class OutcomePair:
    """A pull request of A, of B, or of both, and what became of the comments on it."""

    pr: str
    a: tuple[int, int] | None
    """Of how many comments the figure is true, and over how many it is; None where A has none there."""
    b: tuple[int, int] | None
    effect: float
    """What it adds to the difference: how far it lies from what one common rate would bring."""

    def to_dict(self) -> JsonObject:
        sides = {
            side: None if told is None else {"true": told[0], "known": told[1]}
            for side, told in (("a", self.a), ("b", self.b))
        }
        return {"pr": self.pr, "effect": self.effect, **sides}


PullRequestPair = ReviewerPair | RouterPair | OutcomePair


@dataclass(frozen=True, slots=True)
class KindTally:
    """References of one kind and how many A and B raised, on average over their runs; or pull requests, and on how many
    a target was first."""

    total: int = 0
    a: float = 0
    b: float = 0


@dataclass(frozen=True)
class Explanation:
    """The pull requests with the largest effects, those where the answers differ, and who found what."""

    gains: Sequence[PullRequestPair]
    losses: Sequence[PullRequestPair]
    differing: Sequence[str]
    kinds: Mapping[str, Mapping[str, KindTally]]
    """By dimension, then by its value, the largest difference first."""
    found: Mapping[str, Sequence[JsonObject | str]]
    """`only_a`, `only_b`, `both`, `neither`: references as JSON has them, or pull requests with a truth."""


def explain(a: Competitor, b: Competitor, prs: Sequence[str], measure: Measure) -> Explanation:
    """What made the difference in this measure on these pull requests; both competitors have their records."""
    added = effects(a.counts(prs), b.counts(prs), measure).tolist()
    records = [(a.rows[key].record, b.rows[key].record, effect) for key, effect in zip(prs, added, strict=True)]
    pairs: Sequence[ReviewerPair | RouterPair]
    if is_comments(a.run):
        pairs = [ReviewerPair(*each) for each in records]
    else:
        pairs = [RouterPair(one, one.answers[a.name], other.answers[b.name], effect) for one, other, effect in records]
    # Effects that are equal but for rounding go by name.
    ranked = sorted(zip(prs, pairs, strict=True), key=lambda item: (-np.round(abs(item[1].effect), 12), item[0]))
    found: dict[str, list[JsonObject | str]] = {"only_a": [], "only_b": [], "both": [], "neither": []}
    for item, by_a, by_b in (each for pair in pairs for each in pair.found()):
        finders = ("both" if by_b else "only_a") if by_a else ("only_b" if by_b else "neither")
        found[finders].append(item)
    return Explanation(
        gains=[pair for _, pair in ranked if pair.effect > 0][:SHOWN_PULL_REQUESTS],
        losses=[pair for _, pair in ranked if pair.effect < 0][:SHOWN_PULL_REQUESTS],
        differing=[pair.pr for pair in pairs if not pair.same_answer()],
        kinds=_kinds(pairs),
        found=found,
    )


def _kinds(pairs: Sequence[ReviewerPair | RouterPair]) -> dict[str, dict[str, KindTally]]:
    tallies: dict[str, dict[str, KindTally]] = {name: {} for name in pairs[0].DIMENSIONS}
    for values, by_a, by_b in (each for pair in pairs for each in pair.kinds()):
        for of_dimension, value in zip(tallies.values(), values, strict=True):
            old = of_dimension.get(value or "unknown", KindTally())
            of_dimension[value or "unknown"] = KindTally(old.total + 1, whole(old.a + by_a), whole(old.b + by_b))
    return {
        name: dict(sorted(kinds.items(), key=lambda item: (-abs(item[1].b - item[1].a), item[0])))
        for name, kinds in tallies.items()
    }


def effects(a: Array, b: Array, metric: Formula) -> Array:
    """How much each pull request adds to metric(b) - metric(a).

    Half of what the difference would lose if A and B were exchanged there. For a mean over pull requests these are
    exactly its parts; for a metric of sums, such as F1, they add up to nearly the whole.
    """
    sums_a, sums_b = a.sum(axis=0), b.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        whole = metric(sums_b) - metric(sums_a)
        exchanged = metric(sums_b - b + a) - metric(sums_a - a + b)
        added = np.nan_to_num((whole - exchanged) / 2)
    return np.where(np.abs(added) > ROUNDING, added, 0.0)  # what is 0 on paper is 0


def excerpt(text: str, length: int = EXCERPT) -> str:
    """The beginning of a note on one line, cut between words where that is possible."""
    line = " ".join(text[: 4 * length].split())
    if len(line) <= length and len(text) <= 4 * length:
        return line
    head = line[:length]
    return (head.rsplit(" ", 1)[0] if " " in head[length // 2 :] else head).rstrip(" ,;:.") + " …"


def _comment_to_json(comment: Comment) -> JsonObject:
    location = {name: comment[name] for name in ("path", "from_line", "to_line") if comment[name] is not None}
    return {**location, "note": excerpt(comment.note)}


def _reference_to_json(reference: ScoredReference) -> JsonObject:
    comment = reference.comment
    kind = {name: comment[name] for name in ("category", "context", "severity") if comment[name] is not None}
    return {"reference": reference.position, **_comment_to_json(comment), **kind}


def _raised_to_json(reference: ScoredReference, record: CommentRecord) -> JsonObject:
    comments = {scored.position: scored.comment for scored in record.comments}
    raised_by = [comments[comment] for comment, position in record.matches if position == reference.position]
    return {**_reference_to_json(reference), "comments": [_comment_to_json(each) for each in raised_by]}


def _reviewer_to_json(record: CommentRecord) -> JsonObject:
    unmatched = [each.comment for each in record.comments if not each.matched and not each.left_out]
    return {
        "comments": record.counts.generated,
        "matched": record.counts.matched,
        "covered": record.counts.covered,
        "unmatched": [_comment_to_json(comment) for comment in unmatched[:SHOWN_UNMATCHED]],
    }
