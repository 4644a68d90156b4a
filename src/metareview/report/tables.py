"""Tables and sentences that the terminal, Markdown and notebooks show alike, each in its own way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from metareview.comments.costs import Costs
from metareview.comments.measures import (
    f1,
    false_positive_rate,
    line_f1,
    positive_line_match_rate,
    positive_line_recall_rate,
    unmatched_rate,
)
from metareview.comments.repeated_runs import Repeats
from metareview.comments.summary import CommentsSummary, JudgeSummary
from metareview.comments.units import REPOSITORY
from metareview.model.measure import Measure
from metareview.model.words import plural
from metareview.report.costs import PER, WORDS, amount, amounts, cost_columns
from metareview.report.headline import order
from metareview.report.names import capital, in_words
from metareview.report.numbers import between_runs, count, duration, interval, of_all, ranked, rate

if TYPE_CHECKING:
    from metareview.comparison.standings import Leaderboard
    from metareview.routing.queue import QueueTimes
    from metareview.routing.summary import RoutingSummary


@dataclass(frozen=True, slots=True)
class Column:
    head: str
    cells: Sequence[str]
    text: bool = False
    """Set to the left; numbers are set to the right."""
    optional: int = 0
    """Above 0: may be left out where there is no room for all; the highest first, of equal ones the last first."""
    from_data: bool = False
    """The head is somebody's name, not a word of ours."""


Table = Sequence[Column]
FIRST_WARNINGS = 5
"""Warnings that stand before the figures; the others are counted there."""
PULL_REQUESTS, INTERVAL, BUSIEST = "pull requests", "95 % interval", "share of the busiest"
BETWEEN_RUNS = "between runs"
"""Heads that stand in several tables."""
REPEATED = "of which repeated"
"""The head of the part of the noise that a reviewer had said before, right behind the noise."""
_OPTIONAL = {false_positive_rate.name: 4, line_f1.name: 5, unmatched_rate.name: 6}


def between_runs_columns(repeats: Sequence[Repeats | None], metric: str) -> list[Column]:
    """A column beside the interval, where somebody's runs are repeated."""
    return [Column(BETWEEN_RUNS, [between_runs(each, metric) for each in repeats], optional=1)] if any(repeats) else []


def rows(table: Table) -> list[tuple[str, ...]]:
    return list(zip(*(column.cells for column in table), strict=True))


def reviewers_table(summary: CommentsSummary, board: Leaderboard | None = None, *, kinds_of_cost: int = 2) -> Table:
    """One row per reviewer, the best F1 first; those with too few of the pull requests last.

    With the run's leaderboard in its order, and with the figures that order comes from where they are others. Of what
    reviews took the first kinds that are known; `costs_table` holds them all.
    """
    standings = [*board.rows, *board.unranked] if board else []
    names = [row.name for row in standings] or order(summary).names
    blocks = [summary.reviewers[name] for name in names]
    columns = [
        Column("reviewer", names, text=True),
        Column(PULL_REQUESTS, [of_all(block.prs, block.prs_with_references) for block in blocks]),
        Column("comments", [count(block.counts.generated) for block in blocks], optional=2),
    ]
    for measure in summary.measures:
        if measure.name in (positive_line_match_rate.name, positive_line_recall_rate.name):
            continue  # line F1 holds both
        rates = [rate(block.metrics[measure.name]) for block in blocks]
        columns.append(Column(measure.label, rates, optional=_OPTIONAL.get(measure.name, 0)))
        if measure.name == unmatched_rate.name and any(block.repeated for block in blocks):
            columns.append(Column(REPEATED, [rate(block.repeated_rate) for block in blocks], optional=7))
        if measure.name == f1.name:
            columns.append(Column(INTERVAL, [interval(block.intervals[f1.name]) for block in blocks], optional=1))
            columns += between_runs_columns([block.repeats for block in blocks], f1.name)
            columns += ranking_columns(board) if board else []
            costs = cost_columns([block.costs for block in blocks], kinds_of_cost)
            columns += [Column(head, cells, optional=1) for head, cells in costs]
    if any(block.counts.undecided for block in blocks):
        columns.append(Column("undecided", [count(block.counts.undecided) for block in blocks]))
        columns.append(Column("F1 bounds", [interval(block.bounds[f1.name]) for block in blocks], optional=3))
    return columns


def ranking_columns(board: Leaderboard) -> list[Column]:
    """The figure that ranks, where it is not the one of the run: corrected by labels, or on other pull requests."""
    if not board.scope and not board.labelled:
        return []
    figures = [board.compared(row).metrics[board.sort.name] for row in (*board.rows, *board.unranked)]
    return [Column(f"{board.sort.label}{board.scope}", [rate(figure) for figure in figures])]


def costs_table(everybody: Iterable[tuple[str, int, Costs | None]], per: str = PER["per_valid_finding"]) -> Table:
    """What reviews took, a row per reviewer and kind; no columns where nothing is known. Given by the name, the pull
    requests and the figures of each; `per`: what a cost is set against beside pull requests."""
    known = [
        (name, kind, of_all(costs.prs[kind], prs), costs)
        for name, prs, costs in everybody
        for kind in WORDS
        if costs and kind in costs.prs
    ]
    if not known:
        return []
    return [
        Column("reviewer", [name for name, _, _, _ in known], text=True),
        Column("took", [WORDS[kind] for _, kind, _, _ in known], text=True),
        Column("known for", [prs for _, _, prs, _ in known]),
        Column("per pull request", [amount(kind, costs.per_pr[kind]) for _, kind, _, costs in known]),
        Column(INTERVAL, [amounts(kind, costs.per_pr_intervals[kind]) for _, kind, _, costs in known], optional=2),
        Column(per, [amount(kind, costs.per_valid_finding[kind]) for _, kind, _, costs in known]),
        Column(
            f"{INTERVAL} {per}",
            [amounts(kind, costs.per_valid_finding_intervals[kind]) for _, kind, _, costs in known],
            optional=1,
        ),
        Column("in all", [amount(kind, costs.total[kind]) for _, kind, _, costs in known], optional=3),
    ]


def costs_of_reviewers(summary: CommentsSummary) -> list[tuple[str, int, Costs | None]]:
    """The name, pull requests and costs of each reviewer, in the order of its table."""
    blocks = summary.reviewers
    return [(name, blocks[name].prs, blocks[name].costs) for name in order(summary).names]


def routers_table(summary: RoutingSummary, *, all_intervals: bool = False) -> Table:
    """One row per router, the best MRR first; intervals of every measure, or of MRR alone.

    Measures of whole lists have a table of their own.
    """
    names = ranked(summary.metrics, "mrr")
    blocks = [summary.routers[name] for name in names]
    columns = [
        Column("router", names, text=True),
        Column("answered", [of_all(block.answered, summary.prs) for block in blocks], optional=2),
    ]
    from metareview.routing.measures import RankMeasure

    for measure in summary.measures:
        if not isinstance(measure, RankMeasure):
            continue
        columns.append(Column(measure.label, [rate(block.metrics[measure.name]) for block in blocks]))
        if all_intervals or measure.name == "mrr":
            ends = [interval(block.intervals.get(measure.name)) for block in blocks]
            columns.append(Column(INTERVAL, ends, optional=1 if measure.name == "mrr" else 5))
    return [
        *columns,
        Column("MRR with a truth", [rate(block.observed_metrics["mrr"]) for block in blocks], optional=2),
        Column("Gini", [rate(block.load.gini) for block in blocks], optional=4),
        Column(BUSIEST, [rate(block.load.top1_share) for block in blocks], optional=3),
    ]


def queue_times(summary: RoutingSummary) -> list[tuple[str, str, QueueTimes]]:
    """Router, risk and times, where a pull request has that risk; the best router first.

    A router that is not applicable told no risk.
    """
    return [
        (router, risk, times)
        for router in ranked(summary.metrics, "mrr")
        for risk, times in summary.routers[router].queue.items()
        if times.n and not summary.routers[router].not_applicable
    ]


QUEUE_REMARK = (
    "From the cutoff to the first review. Mean and median are over the pull requests that were reviewed; the median of "
    "all is Kaplan and Meier's: those still waiting when the history ended count as waiting up to then."
)


def queue_table(summary: RoutingSummary) -> Table:
    """How long pull requests waited for a review, by router and risk; no columns where there is no such wait."""
    buckets = queue_times(summary)
    if not buckets:
        return []
    times = [bucket for _, _, bucket in buckets]
    table = [
        Column("router", [router for router, _, _ in buckets], text=True),
        Column("risk", [risk for _, risk, _ in buckets], text=True),
        Column(PULL_REQUESTS, [count(bucket.n) for bucket in times]),
        Column("reviewed", [count(bucket.ttfr_n) for bucket in times]),
        Column("median time to first review", [duration(bucket.ttfr_seconds_median) for bucket in times], optional=1),
        Column("median of all", [duration(bucket.ttfr_seconds_km_median) for bucket in times]),
        Column("mean time to first review", [duration(bucket.ttfr_seconds_mean) for bucket in times], optional=2),
    ]
    if summary.config.ttfc:
        medians = [duration(bucket.ttfc_seconds_median) for bucket in times]
        means = [duration(bucket.ttfc_seconds_mean) for bucket in times]
        table += [
            Column("median time to first comment", medians, optional=1),
            Column("mean time to first comment", means, optional=3),
        ]
    return table


def merged_rates(summary: RoutingSummary) -> dict[str, list[float | None]]:
    """Columns by head: the share merged of those that declare it, and of those that do not, per declaration.

    Empty without --merged-within: almost nothing is merged at the cutoff, which reads as if almost nothing ever was.
    """
    within = [block.merged_within for block in summary.declarations.values() if block.merged_within]
    if not within:
        return {}
    head = f"Merged within {summary.config.merged_within}"
    return {
        f"{head}, declared": [rates.merged_rate_present for rates in within],
        f"{head}, missing": [rates.merged_rate_missing for rates in within],
    }


def definition(measure: Measure) -> str:
    """As a sentence, with which way is better where that is downwards."""
    lower = " Lower is better." if measure.lower_is_better else ""
    return f"{capital(measure.definition).rstrip('.')}.{lower}"


def judged_by(summary: CommentsSummary, name: str = "") -> str:
    """Who decided, and what intervals are over. `name`: the judge's, as the format needs it."""
    judge, unit = summary.judge, "repositories" if summary.config.unit == REPOSITORY else "pull requests"
    calls = f" ({plural(judge.llm_calls, 'model call')}, {count(judge.cached)} from the cache)"
    undecided = f", {plural(judge.errors, 'pair')} undecided" if judge.errors else ""
    return (
        f"Judged by {name or judge.name}: {plural(judge.pairs, 'pair')}"
        f"{calls if judge.llm_calls or judge.cached else ''}{undecided}.{learned(judge)}"
        f" Intervals are over {unit}."
    )


def learned(judge: JudgeSummary) -> str:
    """The known verdicts that the judge was given, as a sentence after another; nothing where there were none."""
    known = judge.learned_from
    if known is None:
        return ""
    people = f" of {plural(known.reviewers, 'reviewer')}" if known.reviewers else ""
    verdicts = plural(known.verdicts, "known verdict")
    return f" It learned from {verdicts}{people} on {plural(known.references, 'reference')}."


def cohort(summary: RoutingSummary) -> str:
    truth = summary.truth
    without = {"where nobody responded": truth.no_response, "not known yet": truth.unknown}
    misses = " and ".join(f"{count(number)} {why}" for why, number in without.items() if number)
    with_truth = f"{plural(summary.prs, 'pull request')}: {count(truth.observed)} with a truth"
    return f"{with_truth}; {misses} count as misses." if misses else f"{with_truth}."


def declarations(summary: RoutingSummary) -> list[str]:
    """How often declarations are missing and, where --merged-within was given, how often which were merged."""
    blocks = {in_words(name): block for name, block in summary.declarations.items()}
    if not any(block.n for block in blocks.values()):
        return [f"Pull requests without {', '.join(blocks)}: not known, the history has no bodies"]
    missing = [f"{name} {rate(block.missing_rate)}" for name, block in blocks.items()]
    merged = [
        f"{name} {rate(within.merged_rate_missing)} and {rate(within.merged_rate_present)}"
        for name, block in blocks.items()
        if (within := block.merged_within)
    ]
    lines = [f"Pull requests without: {', '.join(missing)}"]
    within_what = f"Merged within {summary.config.merged_within}, without and with"
    return lines + ([f"{within_what}: {', '.join(merged)}"] if merged else [])
