"""Blocks: parts of a reviewer's pairs on a pull request whose matches add up, so that they can be sampled.

A block is a connected part of the graph of pairs that may match by location; without locations, the pull request. Pairs
themselves cannot be sampled: a second yes for one reference adds nothing to a one-to-one matching. Under `coverage`
each reference is a block of its own, for recall, and so is each comment, for precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from metareview.comments.records import CommentRecord, Pair

Position = tuple[int, int]
"""Of a comment and of a reference in the input."""
RecordKey = tuple[str, str]
"""The pull request and the reviewer."""
Counted = Literal["matches", "references", "comments"]
"""What the number of a block counts: pairs that are matched one-to-one, or under `coverage` references, comments."""
BlockKey = tuple[str, str, Counted, Position]
"""Pull request, reviewer, what is counted, and the first pair of a block, whatever the judge says of it."""


@dataclass(frozen=True, slots=True)
class Block:
    """A part of the pairs of one reviewer on one pull request."""

    pr: str
    reviewer: str
    counted: Counted
    pairs: tuple[Position, ...]
    """In the order of their scores, the highest first."""
    scores: tuple[float | None, ...]
    judged: int
    """How many matches the judge gives it."""
    unsure: float
    """The greatest s(1 - s) of its scores s; 0.25 for a pair without a verdict."""

    @property
    def key(self) -> BlockKey:
        return self.pr, self.reviewer, self.counted, min(self.pairs)


@dataclass(frozen=True, slots=True)
class Stratum:
    """Blocks that are alike; None where they were not told apart by that."""

    counted: Counted
    reviewer: str | None
    judged: bool | None
    """Whether the judge gives it a match."""
    unsure: int | None
    """0, 1 or 2 by the cuts."""
    size: int


@dataclass(frozen=True)
class Frame:
    """What was drawn, and from how many blocks."""

    run: str
    """The fingerprint of the run that it was drawn from."""
    seed: int
    budget: int
    strata: Sequence[Stratum]
    members: Mapping[RecordKey, Sequence[int]]
    """How many blocks of each stratum a reviewer has on a pull request; without those that have none."""
    drawn: Sequence[tuple[int, Block]]
    """The stratum of each drawn block, and the block, in the order in which to ask."""
    stratum: Mapping[BlockKey, int] = field(default_factory=dict)
    """The stratum of every block, drawn or not; empty in files of older versions."""
    runs: Mapping[RecordKey, int] = field(default_factory=dict)
    """Of how many repeated runs the blocks of a reviewer on a pull request are; 1 where nothing is said."""

    @property
    def blocks(self) -> int:
        """All of them, drawn or not."""
        return sum(stratum.size for stratum in self.strata)


@dataclass(frozen=True, slots=True)
class Settled:
    """What labels say of a block: its number of matches, or else the pair to ask about next."""

    number: int | None
    ask: Position | None


def settle(block: Block, verdicts: Mapping[Position, bool]) -> Settled:
    """Pairs are asked about in order until the number is the same with the others as matches and as none."""
    same = [pair for pair in block.pairs if verdicts.get(pair)]
    unknown = [pair for pair in block.pairs if pair not in verdicts]
    least = matching_number(same)
    if not unknown or least == matching_number([*same, *unknown]):
        return Settled(least, None)
    return Settled(None, unknown[0])


def matching_number(pairs: Sequence[Position]) -> int:
    """How many of these pairs can be chosen so that no comment and no reference is in two of them."""
    comments, references = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
    if min(len(comments), len(references)) < 2:
        return min(1, len(pairs))
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    # Indices of 32 bits: older versions of SciPy take no others here.
    rows, columns = (np.unique(each, return_inverse=True)[1].astype(np.int32) for each in zip(*pairs, strict=True))
    graph = coo_array((np.ones(len(pairs), np.int8), (rows, columns))).tocsr()
    return int((maximum_bipartite_matching(graph, perm_type="column") >= 0).sum())


def countable(record: CommentRecord, pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs of a record that could count: with a reference that is kept, by a comment that is not left out, at the
    same location."""
    kept = {each.position for each in record.references if each.kept}
    left_out = {each.position for each in record.comments if each.left_out}
    return [
        pair
        for pair in pairs
        if pair.eligible and not pair.negative and pair.reference in kept and pair.generated not in left_out
    ]


def blocks_of(record: CommentRecord, pairs: Iterable[Pair], *, coverage: bool) -> Iterator[Block]:
    """The blocks of a record: of the pairs that could count."""
    could_count = countable(record, pairs)
    # Likeliest first; a pair without a verdict is as unsure as can be.
    could_count.sort(key=lambda pair: (-_score(pair), pair.reference, pair.generated))
    if not coverage:
        yield from (_block(record, "matches", part) for part in _connected(could_count))
        return
    yield from (_block(record, "references", part) for part in _grouped(could_count, lambda pair: pair.reference))
    yield from (_block(record, "comments", part) for part in _grouped(could_count, lambda pair: pair.generated))


def _grouped(pairs: Iterable[Pair], end: Callable[[Pair], int]) -> list[list[Pair]]:
    groups: dict[int, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(end(pair), []).append(pair)
    return [groups[at] for at in sorted(groups)]


def _score(pair: Pair) -> float:
    return 0.5 if pair.verdict.score is None else pair.verdict.score


def _block(record: CommentRecord, counted: Counted, pairs: Sequence[Pair]) -> Block:
    aligned = sum(pair.aligned for pair in pairs)
    return Block(
        record.pr,
        record.reviewer,
        counted,
        tuple((pair.generated, pair.reference) for pair in pairs),
        tuple(pair.verdict.score for pair in pairs),
        judged=aligned if counted == "matches" else min(1, aligned),
        unsure=max(_score(pair) * (1 - _score(pair)) for pair in pairs),
    )


def _connected(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """The connected parts, in order of their first reference; each keeps the order of its pairs."""
    leader: dict[tuple[bool, int], tuple[bool, int]] = {}

    def find(vertex: tuple[bool, int]) -> tuple[bool, int]:
        while (above := leader.setdefault(vertex, vertex)) != vertex:
            leader[vertex] = leader[above]
            vertex = leader[vertex]
        return vertex

    for pair in pairs:
        leader[find((True, pair.generated))] = find((False, pair.reference))
    parts: dict[tuple[bool, int], list[Pair]] = {}
    for pair in pairs:
        parts.setdefault(find((True, pair.generated)), []).append(pair)
    return sorted(parts.values(), key=lambda part: min((pair.reference, pair.generated) for pair in part))
