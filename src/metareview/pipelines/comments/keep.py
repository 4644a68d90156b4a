"""Keep: each record as soon as it is made, in a folder or in memory, so that a killed run can go on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from metareview.collector import garbage_collection_paused
from metareview.comments.pairs import pair_blocks, pairs_of
from metareview.comments.records import CommentRecord, Pair
from metareview.comments.summary import CommentsSummary
from metareview.engines.choice import SPARK, local_engine
from metareview.judges.labelled import WarningData, has_warnings, merged_warnings
from metareview.judges.protocol import ModelJudge, settings_from
from metareview.pipelines.comments.answer import answer_in_batches
from metareview.pipelines.comments.count import count, records_of
from metareview.pipelines.comments.light import unpacked
from metareview.pipelines.comments.plan import Plan
from metareview.pipelines.comments.tasks import Task
from metareview.pipelines.comments.work import Chunk, Scoring, chunks_of, score, scored
from metareview.runs.comments_json import config_to_json
from metareview.runs.comments_kind import KIND as COMMENTS
from metareview.runs.kind import Key
from metareview.runs.run import CommentsRun, Manifest, Run, now
from metareview.runs.writer import RunWriter

Progress = Callable[[int, int], None]
CommentsWriter = RunWriter[CommentsSummary, CommentRecord]
PAYS = 50_000
"""The size from which other processes pay, which take about a second to begin: some thirty thousand comments."""


def carry_out(
    plan: Plan, *, out: Path | None = None, overwrite: bool = False, progress: Progress | None = None
) -> CommentsRun:
    """Judge, align and count what was planned. A run that was killed in this folder before is continued.

    On a cluster only what can be sent there: a judge that asks a model has one pool of requests, wherever it is.
    """
    if out is not None:
        for task in plan.tasks:
            task.check_pairs(plan.rules)
    if plan.engine == SPARK and plan.may_be_sent:
        from metareview.engines.spark import spark_session
        from metareview.pipelines.comments.on_spark import carry_out_on_spark

        with spark_session(plan.spark_master) as session:
            return carry_out_on_spark(session, plan, out=out, overwrite=overwrite, progress=progress)
    config, origin = config_to_json(plan.config), settings_from(plan.judge)
    opened: CommentsWriter | nullcontext[None] = (
        nullcontext()
        if out is None
        else RunWriter(out, COMMENTS, config, plan.inputs.hashes, overwrite=overwrite, settings_from=origin)
    )
    with opened as writer:
        if writer is not None and writer.finished is not None:
            return writer.finished
        if writer is not None and plan.examples is not None:
            writer.keep_examples(plan.examples.verdicts)  # before anything is judged by them
        figures: dict[Key, CommentRecord] = dict(writer.done) if writer else {}
        kept: list[CommentRecord] = []
        kept_pairs: list[Callable[[], Iterator[Pair]]] = []
        if isinstance(plan.judge, ModelJudge):
            # A model is asked about all pull requests at once: what moves is the number of its answers.
            plan.judge.progress, progress = progress, None
        if progress:
            progress(len(figures), len(plan.tasks))

        def take(records: Iterable[CommentRecord]) -> None:
            for record in records:
                figures[record.run_key] = record
                if progress:
                    progress(len(figures), len(plan.tasks))

        if plan.may_be_sent and writer is not None:
            remarks = _in_chunks(plan, writer, figures.keys(), take)
        else:
            left = (task.case(plan.rules) for task in plan.tasks if task.key not in figures)
            for _, judged, record in records_of(answer_in_batches(left, plan.judge, plan.labels)):
                if writer is not None:
                    writer.append(record, pair_blocks(judged, record) if judged else ())
                else:
                    kept.append(record)
                    if judged:
                        kept_pairs.append(partial(pairs_of, judged, record))
                take([record.without_notes()])
            remarks = plan.remarks()
        order = [task.key for task in plan.tasks]
        summary = count(plan, [figures[key] for key in order], writer.answered if writer else 0, remarks)
        if writer is not None:
            return writer.finish(summary, order)
        manifest = Manifest(
            COMMENTS.name, config, plan.inputs.hashes, started=now(), status="finished", settings_from=origin
        )
        return Run(COMMENTS, summary, manifest, None, kept, kept_pairs)


def _in_chunks(
    plan: Plan, writer: CommentsWriter, before: Container[Key], take: Callable[[Iterable[CommentRecord]], None]
) -> Sequence[str]:
    """Score what is left, in other processes where that pays; what the judge has to say of all pairs."""
    scoring = Scoring(plan.rules, plan.judge, plan.labels)
    tasks = [(task, task.key in before) for task in plan.tasks]
    engine = local_engine(plan.workers, worthwhile=plan.workers is None and _pays(tasks))
    all_chunks = has_warnings(plan.judge, plan.labels)
    chunks = chunks_of((task, done) for task, done in tasks if all_chunks or not done)
    parts: list[WarningData] = []
    if engine.workers == 1:
        parts += (_here(scoring, chunk, writer, take) for chunk in chunks)
    else:
        sent: deque[Chunk] = deque()
        with garbage_collection_paused():  # What comes back is kept, and forms no cycle.
            for result in engine.map(score, scoring, _noted(chunks, sent)):
                chunk = sent.popleft()
                if result is None:
                    parts.append(_here(scoring, chunk, writer, take))
                    continue
                writer.append_lines(result.lines)
                take(map(unpacked, result.records))
                parts.append(result.warning_data)
    return merged_warnings(plan.judge, plan.labels, parts)


def _pays(tasks: Iterable[tuple[Task, bool]]) -> bool:
    """Whether so much is left to do that can be sent away that other processes pay."""
    return sum(task.size for task, done in tasks if not done and not task.is_giant) >= PAYS


def _noted(chunks: Iterable[Chunk], sent: deque[Chunk]) -> Iterator[Chunk]:
    for chunk in chunks:
        sent.append(chunk)
        yield chunk


def _here(
    scoring: Scoring, chunk: Chunk, writer: CommentsWriter, take: Callable[[Iterable[CommentRecord]], None]
) -> WarningData:
    """Score a chunk in this process, each record written as soon as it is made."""
    cases = chunk.cases(scoring.rules)
    for judged, record in scored(scoring, chunk, cases):
        writer.append(record, pair_blocks(judged, record) if judged else ())
        take([record.without_notes()])
    return scoring.warning_data(cases)
