"""The work of a chunk of pull requests: a pure function, so that it can be done in any process.

A worker gives back the lines of the run's files as they are to be written, with the little of each record that the
figures need.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from metareview.collector import garbage_collection_paused
from metareview.comments.case import Case, Rules
from metareview.comments.decide import JudgedCase
from metareview.comments.pairs import pair_blocks
from metareview.comments.records import CommentRecord
from metareview.engines.local import chunks_by_size
from metareview.judges.labelled import LabelIndex, WarningData, warning_data
from metareview.judges.protocol import Judge
from metareview.pipelines.comments.answer import answer_in_batches
from metareview.pipelines.comments.count import records_of
from metareview.pipelines.comments.light import LightRow, packed
from metareview.pipelines.comments.tasks import Task, eligible_questions
from metareview.runs.comments_kind import KIND as COMMENTS
from metareview.runs.files import PAIRS, RESULTS, to_bytes

CHUNK = 10_000
"""The size of a chunk: some hundred pull requests, a second or so of work, a few megabytes of lines."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """What is the same for every chunk."""

    rules: Rules
    judge: Judge
    labels: LabelIndex | None = None

    def warning_data(self, cases: Iterable[Case]) -> WarningData:
        """The data of the pairs that can count, for the run's warnings."""
        return warning_data(self.judge, self.labels, eligible_questions(cases))


@dataclass(frozen=True, slots=True)
class Chunk:
    """Tasks in the order of the run. Those that are done are only looked at for what the judge has to say of them."""

    tasks: Sequence[Task]
    done: Sequence[bool]
    is_giant: bool = False
    """Whether a single task in it has so many pairs that nobody should hold all of its lines."""

    def cases(self, rules: Rules) -> list[Case]:
        return [task.case(rules) for task in self.tasks]


@dataclass(frozen=True, slots=True)
class Scored:
    """What became of a chunk."""

    lines: Sequence[tuple[str, bytes]]
    """By the name of the file that they belong to, pairs before the records that they are of."""
    records: Sequence[LightRow]
    warning_data: WarningData


def chunks_of(tasks: Iterable[tuple[Task, bool]]) -> Iterator[Chunk]:
    """Tasks, each with whether it is done, in chunks that are the same however many there are to do them."""
    for part in chunks_by_size(tasks, lambda each: each[0].size, CHUNK):
        first, first_done = part[0]
        is_giant = len(part) == 1 and first.is_giant and not first_done  # It is larger than any chunk.
        yield Chunk([task for task, _ in part], [done for _, done in part], is_giant)


def score(scoring: Scoring, chunk: Chunk) -> Scored | None:
    """All of a chunk; None for a giant, of which nobody should hold all lines."""
    if chunk.is_giant:
        return None
    lines: dict[str, list[bytes]] = {PAIRS: [], RESULTS: []}
    records = []
    with garbage_collection_paused():
        cases = chunk.cases(scoring.rules)
        for judged, record in scored(scoring, chunk, cases):
            for name, text in COMMENTS.pieces(record, pair_blocks(judged, record) if judged else ()):
                lines[name].append(to_bytes(text))
            lines[RESULTS].append(b"\n")
            records.append(packed(record))
    written = [(name, b"".join(texts)) for name, texts in lines.items() if texts]
    return Scored(written, records, scoring.warning_data(cases))


def scored(scoring: Scoring, chunk: Chunk, cases: Sequence[Case]) -> Iterator[tuple[JudgedCase | None, CommentRecord]]:
    """The verdicts and the record of each case that is still to do, in order."""
    left = (case for case, done in zip(cases, chunk.done, strict=True) if not done)
    for _, judged, record in records_of(answer_in_batches(left, scoring.judge, scoring.labels)):
        yield judged, record
