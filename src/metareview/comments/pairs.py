"""Every judged pair of a case, for the record's evidence: column by column, since there may be a million."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from metareview.comments.case import Notes
from metareview.comments.decide import JudgedCase, edges_of
from metareview.comments.location import Indices
from metareview.comments.records import CommentRecord, Pair, PairBlock
from metareview.judges.protocol import SAME, UNDECIDED

BLOCK = 10_000
"""How many pairs are put into words at a time: bounds memory."""
_Position = tuple[int, int | None]


def pairs_of(judged: JudgedCase, record: CommentRecord) -> Iterator[Pair]:
    """Every judged pair, and whether it was counted in the record."""
    return chain.from_iterable(map(PairBlock.rows, pair_blocks(judged, record)))


def pair_blocks(judged: JudgedCase, record: CommentRecord) -> Iterator[PairBlock]:
    """The same, some thousand pairs at a time: those with references, then those with negatives."""
    case = judged.case
    yield from _blocks(judged, False, frozenset(record.matches))
    if not len(case.negative_candidates):
        return
    rejected: Sequence[_Position] = [(each.position, each.negative) for each in record.comments]
    if case.rules.alignment == "coverage":
        edges = edges_of(case, case.negative_candidates, judged.negative_answer, undecided_match=False)
        rejected = list(
            zip(_in_input(case.generated, edges.generated), _in_input(case.negative, edges.reference), strict=True)
        )
    yield from _blocks(judged, True, frozenset(rejected))


def _blocks(judged: JudgedCase, negative: bool, aligned: frozenset[_Position]) -> Iterator[PairBlock]:
    case = judged.case
    candidates = case.negative_candidates if negative else case.candidates
    answer = judged.negative_answer if negative else judged.answer
    others = case.negative if negative else case.reference
    eligible = case.eligible(candidates)
    for start in range(0, len(candidates), BLOCK):
        part = slice(start, min(start + BLOCK, len(candidates)))
        size = part.stop - part.start
        generated = _in_input(case.generated, candidates.generated[part])
        reference = _in_input(others, candidates.reference[part])
        yield PairBlock(
            case.pr,
            case.reviewer,
            negative,
            generated,
            reference,
            gap=candidates.gap[part].tolist() if case.rules.location else [None] * size,
            eligible=eligible[part].tolist(),
            score=[None if score != score else score for score in answer.score[part].tolist()],  # NaN
            match=[None if match == UNDECIDED else match == SAME for match in answer.match[part].tolist()],
            by=[answer.by] * size if isinstance(answer.by, str) else answer.by[part],
            reason=[answer.reason] * size if isinstance(answer.reason, str) else answer.reason[part],
            aligned=[pair in aligned for pair in zip(generated, reference, strict=True)],
            run=case.run,
        )


def _in_input(notes: Notes, numbers: Indices) -> list[int]:
    """The positions that comments have in the input."""
    return [notes.positions[number] for number in numbers.tolist()]
