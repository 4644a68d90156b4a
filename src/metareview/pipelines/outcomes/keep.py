"""Keep: each record as soon as it is made, in a folder or in memory, so that a killed run can go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path

from metareview.comments.summary import JudgeSummary
from metareview.judges.protocol import settings_from
from metareview.model.addressed import CACHE, MODEL
from metareview.outcomes.records import OutcomeRecord
from metareview.outcomes.summary import OutcomesSummary, Tally, groups_of, summarise, tally
from metareview.pipelines.outcomes.plan import Plan
from metareview.runs.kind import Key
from metareview.runs.outcomes_json import config_to_json
from metareview.runs.outcomes_kind import KIND as OUTCOMES
from metareview.runs.run import Manifest, OutcomesRun, Run, now
from metareview.runs.writer import RunWriter

Progress = Callable[[int, int], None]


def carry_out(
    plan: Plan, *, out: Path | None = None, overwrite: bool = False, progress: Progress | None = None
) -> OutcomesRun:
    """Follow every comment, and ask the judge if there is one. A run that was killed in this folder is continued."""
    config, origin = config_to_json(plan.config), settings_from(plan.judge)
    opened: RunWriter[OutcomesSummary, OutcomeRecord] | nullcontext[None] = (
        nullcontext()
        if out is None
        else RunWriter(out, OUTCOMES, config, plan.hashes, overwrite=overwrite, settings_from=origin)
    )
    with opened as writer:
        if writer is not None and writer.finished is not None:
            return writer.finished
        done: Mapping[Key, OutcomeRecord] = writer.done if writer else {}
        kept: list[OutcomeRecord] = []
        tallies: list[Tally] = []
        order: list[Key] = []
        answered_before = asked = 0
        if plan.judge is not None:
            # A model is asked about many pull requests at once: what moves is the number of its answers.
            plan.judge.progress, progress = progress, None
        for records in plan.records(done):
            for record in records:
                if writer is not None and record.key not in done:
                    writer.append(record)
                elif writer is None:
                    kept.append(record)
                else:
                    answered_before += _by_model(record)
                asked += sum(outcome.verdict is not None for outcome in record.comments)
                tallies.append(tally(record, plan.config.by))
                order.append(record.key)
            if progress:
                progress(plan.followed, plan.pull_requests)
        if progress:
            progress(plan.pull_requests, plan.pull_requests)  # --since leaves some without a record
        summary = _summary(plan, tallies, asked, answered_before)
        if writer is not None:
            return writer.finish(summary, order)
        manifest = Manifest(OUTCOMES.name, config, plan.hashes, started=now(), status="finished", settings_from=origin)
        return Run(OUTCOMES, summary, manifest, None, kept)


def _by_model(record: OutcomeRecord) -> int:
    return sum(each.verdict is not None and each.verdict.by in (MODEL, CACHE) for each in record.comments)


def _summary(plan: Plan, tallies: list[Tally], asked: int, answered_before: int) -> OutcomesSummary:
    reviewers = summarise(tallies, plan.config)
    judge = None
    if plan.judge is not None:
        usage = plan.judge.usage
        judge = JudgeSummary(
            plan.config.judge,
            asked,
            usage.llm_calls,
            usage.cached + answered_before,
            sum(each.undecided for each in tallies),
            usage.prompt_tokens,
            usage.completion_tokens,
        )
    return OutcomesSummary(
        plan.config,
        reviewers,
        groups_of(tallies, reviewers, plan.config),
        len({each.pr for each in tallies}),
        judge,
        (*plan.inputs.warnings, *plan.remarks()),
        plan.inputs.skipped,
    )
