"""Comments scored on a cluster, by pull request: tasks write the lines as Parquet parts, and counts come back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path

from metareview.comments.pairs import pair_blocks
from metareview.comments.records import CommentRecord, Pair
from metareview.engines.spark import Session, SparkEngine
from metareview.judges.labelled import WarningData, merged_warnings
from metareview.pipelines.comments.count import count
from metareview.pipelines.comments.light import packed, unpacked
from metareview.pipelines.comments.plan import Plan
from metareview.pipelines.comments.work import Chunk, Scored, Scoring, chunks_of, score, scored
from metareview.runs.comments_json import config_to_json, pair_from_json, record_from_json
from metareview.runs.comments_kind import KIND as COMMENTS
from metareview.runs.files import PAIRS, RESULTS, parsed_line, to_bytes
from metareview.runs.part_columns import COMMENT_COLUMNS, PAIR_COLUMNS
from metareview.runs.parts import Columns, parts_of, write_part
from metareview.runs.run import CommentsRun, Manifest, Run, now, run_key
from metareview.runs.writer import RunWriter

Progress = Callable[[int, int], None]
_COLUMNS: dict[str, Columns] = {RESULTS: COMMENT_COLUMNS, PAIRS: PAIR_COLUMNS}


def carry_out_on_spark(
    session: Session, plan: Plan, *, out: Path | None = None, overwrite: bool = False, progress: Progress | None = None
) -> CommentsRun:
    """Judge, align and count what was planned, by a judge that can be sent.

    A run that was cut off is begun anew; a finished one that is there already is taken as it is.
    """
    config = config_to_json(plan.config)
    if out is None:
        records, remarks, lines = _scored(session, plan, None, progress)
        summary = count(plan, records, 0, remarks)
        manifest = Manifest(COMMENTS.name, config, plan.inputs.hashes, started=now(), status="finished")
        kept = [record_from_json(parsed_line(line)) for line in lines[RESULTS]]
        pairs = [partial(iter, group) for group in _by_record(lines[PAIRS])]
        return Run(COMMENTS, summary, manifest, None, kept, pairs)
    with RunWriter(out, COMMENTS, config, plan.inputs.hashes, overwrite=overwrite, in_parts=True) as writer:
        if writer.finished is not None:
            return writer.finished
        if plan.examples is not None:
            writer.keep_examples(plan.examples.verdicts)
        for name in _COLUMNS:
            writer.parts_folder(name)
        records, remarks, _ = _scored(session, plan, out.absolute(), progress)
        return writer.finish_written(count(plan, records, 0, remarks), len(records))


def _scored(
    session: Session, plan: Plan, folder: Path | None, progress: Progress | None
) -> tuple[list[CommentRecord], Sequence[str], dict[str, list[bytes]]]:
    """What the figures need of each record, what the judge has to say, and all lines where no folder takes them."""
    work = PartScoring(Scoring(plan.rules, plan.judge, plan.labels), folder)
    chunks = enumerate(chunks_of((task, False) for task in plan.tasks))
    records: list[CommentRecord] = []
    parts: list[WarningData] = []
    lines: dict[str, list[bytes]] = {name: [] for name in _COLUMNS}
    for result in SparkEngine(session).map(score_part, work, chunks):
        records += map(unpacked, result.records)
        parts.append(result.warning_data)
        for name, text in result.lines:
            lines[name] += text.splitlines()
        if progress:
            progress(len(records), len(plan.tasks))
    return records, merged_warnings(plan.judge, plan.labels, parts), lines


@dataclass(frozen=True)
class PartScoring:
    """What is the same for every chunk."""

    scoring: Scoring
    folder: Path | None
    """The run's, where the lines go as parts; None: they come back."""


def score_part(work: PartScoring, numbered: tuple[int, Chunk]) -> Scored:
    """All of a chunk, whose number is that of its parts."""
    number, chunk = numbered
    result = score(work.scoring, chunk) or _giant(work.scoring, chunk)
    if work.folder is None:
        return result
    lines = dict(result.lines)
    for name, columns in _COLUMNS.items():
        write_part(parts_of(work.folder / name), number, lines.get(name, b"").splitlines(), columns)
    return replace(result, lines=())


def _giant(scoring: Scoring, chunk: Chunk) -> Scored:
    """A single task with more pairs than anybody should hold the lines of: nobody else can do it here."""
    cases = chunk.cases(scoring.rules)
    lines: dict[str, list[bytes]] = {name: [] for name in _COLUMNS}
    records = []
    for judged, record in scored(scoring, chunk, cases):
        for name, text in COMMENTS.pieces(record, pair_blocks(judged, record) if judged else ()):
            lines[name].append(to_bytes(text))
        records.append(packed(record))
    written = [(name, b"".join(texts)) for name, texts in lines.items()]
    return Scored(written, records, scoring.warning_data(cases))


def _by_record(lines: Sequence[bytes]) -> Iterator[list[Pair]]:
    """The pairs of each record that has any, which are in the order of the records."""
    pairs = (pair_from_json(parsed_line(line)) for line in lines)
    for _, group in groupby(pairs, key=run_key):
        yield list(group)
