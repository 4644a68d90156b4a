"""Count: a record per case, and the figures of all records together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from metareview.comments.case import Case
from metareview.comments.decide import JudgedCase
from metareview.comments.outcome import make_records, skip_record
from metareview.comments.records import CommentRecord
from metareview.comments.summary import CommentsSummary, JudgeSummary, reviewer_table, summarise
from metareview.comments.units import interval_warnings
from metareview.judges.offline.published_accuracy import held_out
from metareview.judges.protocol import ModelJudge, Usage
from metareview.pipelines.comments.answer import Answered
from metareview.pipelines.comments.plan import Plan

TOGETHER = 5_000
"""How many comments are looked through for repeated ones at a time: many small reviews take no longer than a large."""


def records_of(batches: Iterable[Iterable[Answered]]) -> Iterator[tuple[Case, JudgedCase | None, CommentRecord]]:
    """Each case with its verdicts and its record, in order. Those of a batch are made before the next is asked for."""
    for part in (part for batch in batches for part in _parts(batch)):
        records = iter(make_records([judged for _, judged in part if judged is not None]))
        for case, judged in part:
            yield case, judged, skip_record(case) if judged is None else next(records)


def _parts(answered: Iterable[Answered]) -> Iterator[list[Answered]]:
    part: list[Answered] = []
    comments = 0
    for case, judged in answered:
        part.append((case, judged))
        comments += len(case.generated.comments)
        if comments >= TOGETHER:
            yield part
            part, comments = [], 0
    if part:
        yield part


def count(
    plan: Plan, records: Sequence[CommentRecord], answered_before: int, remarks: Sequence[str]
) -> CommentsSummary:
    """The figures per reviewer; `answered_before`: pairs that a model had answered when the run was continued;
    `remarks`: what the judge has to say of all pairs."""
    reviewers: dict[str, list[CommentRecord]] = {}
    for record in records:
        reviewers.setdefault(record.reviewer, []).append(record)
    prs = len({record.pr for record in records if not record.skipped})
    of_all = prs + len(plan.unreviewed)
    judge = plan.judge
    usage = judge.usage if isinstance(judge, ModelJudge) else Usage()
    figures = {name: summarise(block, plan.config, of_all) for name, block in reviewers.items()}
    return CommentsSummary(
        config=plan.config,
        reviewers=figures,
        judge=JudgeSummary(
            name=judge.name,
            pairs=sum(record.judged_pairs for record in records),
            llm_calls=usage.llm_calls,
            # Stored verdicts may be a model's, too, and no cache has answered them.
            cached=usage.cached + answered_before * isinstance(judge, ModelJudge),
            errors=round(sum(record.counts.undecided for record in records)),
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            learned_from=plan.learned,
        ),
        prs=prs,
        warnings=(
            *plan.inputs.warnings,
            *(judge.warnings if isinstance(judge, ModelJudge) else ()),
            *remarks,
            *interval_warnings(
                [reviewer_table(name, block, figures[name]) for name, block in reviewers.items()],
                plan.config.measures,
                plan.config.unit,
            ),
        ),
        skipped=plan.inputs.skipped,
        unreviewed=plan.unreviewed,
        trust=held_out() if judge.name == "offline" else None,
    )
