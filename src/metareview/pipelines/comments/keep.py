"""Keep: each record as soon as it is made, in a folder or in memory, so that a killed run can go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from metareview.comments.pairs import pair_blocks, pairs_of
from metareview.comments.records import CommentRecord, Pair
from metareview.comments.summary import CommentsSummary
from metareview.judges.protocol import ModelJudge
from metareview.pipelines.comments.answer import answer_in_batches
from metareview.pipelines.comments.count import count, records_of
from metareview.pipelines.comments.plan import Plan
from metareview.runs.comments_json import config_to_json
from metareview.runs.run import COMMENTS, CommentsRun, Key, Manifest, Run, now
from metareview.runs.writer import RunWriter

Progress = Callable[[int, int], None]


def carry_out(
    plan: Plan, *, out: Path | None = None, overwrite: bool = False, progress: Progress | None = None
) -> CommentsRun:
    """Judge, align and count what was planned. A run that was killed in this folder before is continued."""
    config = config_to_json(plan.config)
    opened: RunWriter[CommentsSummary, CommentRecord] | nullcontext[None] = (
        nullcontext() if out is None else RunWriter(out, COMMENTS, config, plan.inputs.hashes, overwrite=overwrite)
    )
    with opened as writer:
        if writer is not None and writer.finished is not None:
            return writer.finished
        if writer is not None and plan.examples is not None:
            writer.keep_examples(plan.examples.verdicts)  # before anything is judged by them
        figures: dict[Key, CommentRecord] = {
            key: record.without_notes() for key, record in (writer.done if writer else {}).items()
        }
        left = [case for case in plan.cases if case.key not in figures]
        kept: list[CommentRecord] = []
        kept_pairs: list[Callable[[], Iterator[Pair]]] = []
        if isinstance(plan.judge, ModelJudge):
            # A model is asked about all pull requests at once: what moves is the number of its answers.
            plan.judge.progress, progress = progress, None
        if progress:
            progress(len(figures), len(plan.cases))
        for case, judged, record in records_of(answer_in_batches(left, plan.judge)):
            if writer is not None:
                writer.append(record, pair_blocks(judged, record) if judged else ())
            else:
                kept.append(record)
                if judged:
                    kept_pairs.append(partial(pairs_of, judged, record))
            figures[case.key] = record.without_notes()
            if progress:
                progress(len(figures), len(plan.cases))
        order = [case.key for case in plan.cases]
        summary = count(plan, [figures[key] for key in order], writer.answered if writer else 0)
        if writer is not None:
            return writer.finish(summary, order)
        manifest = Manifest(COMMENTS.name, config, plan.inputs.hashes, started=now(), status="finished")
        return Run(COMMENTS, summary, manifest, None, kept, kept_pairs)
