"""What a run says in a sentence or two, in the same words everywhere, and in which order its reviewers are listed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from metareview.comments.measures import f1
from metareview.comments.summary import CommentsSummary
from metareview.comparison.standings import Leaderboard, has_enough
from metareview.model.words import plural
from metareview.report.numbers import count, interval, of_all, ranked, rate
from metareview.runs.run import AnyRun, is_comments

if TYPE_CHECKING:
    from metareview.routing.summary import RoutingSummary

_NAMED = 4
"""Reviewers that a sentence names."""


@dataclass(frozen=True)
class Order:
    """The reviewers, best F1 first: those that are ranked, and those that have too few of the pull requests."""

    ranked: Sequence[str]
    unranked: Sequence[str]

    @property
    def names(self) -> list[str]:
        return [*self.ranked, *self.unranked]


def order(summary: CommentsSummary) -> Order:
    """Ranked is who has at least four in five of the pull requests that any of the reviewers has."""
    names = ranked(summary.metrics, f1.name)
    few = {name for name in names if not has_enough(summary.reviewers[name].prs, summary.prs)}
    return Order([name for name in names if name not in few], [name for name in names if name in few])


def board_of(run: AnyRun) -> Leaderboard | None:
    """The run's own leaderboard, which every "leads" rests on; None where there is nobody to compare or rank.

    It reads all records of the run, which a lone reviewer is spared, and so are routers whose sums by week are at hand.
    """
    if is_comments(run) and len(run.result.reviewers) < 2:
        return None
    from metareview.comparison.leaderboard import leaderboard
    from metareview.comparison.weekly_board import weekly_board

    if is_comments(run):
        return leaderboard([run])
    return (weekly_board(run) or leaderboard([run])) if _applicable(run.result) else None


def headline(run: AnyRun, board: Leaderboard | None = None) -> str:
    """The sentence. "Leads" is only said of whoever has enough pull requests and shares no letter with the next."""
    board = board or board_of(run)
    if is_comments(run):
        return _of_comments(run.result, board)
    return _of_routing(run.result, board)


def _of_comments(summary: CommentsSummary, board: Leaderboard | None) -> str:
    names = order(summary).names
    if not summary.prs:
        return "No reviewer has a pull request in this run."
    if board is None or len(names) == 1:
        return _lone(summary, names[0])
    if not any(block.counts.matched for block in summary.reviewers.values()):
        return f"None of the {len(names)} reviewers has a comment that matches a reference."
    few = [f"{row.label} ({of_all(row.prs, row.of)})" for row in board.unranked]
    return f"{_first(board)}{f' Too few of the pull requests to be ranked: {_listed(few)}.' if few else ''}"


def _first(board: Leaderboard) -> str:
    """The headline with the interval of whoever comes first."""
    if not board.rows:
        return "Nobody has enough of the pull requests to be ranked."
    first = board.rows[0]
    ends = first.figures.intervals[board.sort.name]
    whose = first.label + (f", 95 % interval {interval(ends)}" if ends else "")
    if board.leader or len(board.rows) == 1:
        return board.standing.removesuffix(".") + (f" (95 % interval {interval(ends)})." if ends else ".") + board.basis
    highest = f"the highest is {rate(first.figures.metrics[board.sort.name])} ({whose})"
    return f"{board.standing.removesuffix('.')}; {highest}.{board.basis}"


def _lone(summary: CommentsSummary, name: str) -> str:
    block = summary.reviewers[name]
    counts, ends = block.counts, block.intervals[f1.name]
    figure = rate(block.metrics[f1.name]) + (f" (95 % interval {interval(ends)})" if ends else "")
    match = "matches" if counts.matched == 1 else "match"
    said = f"{plural(counts.generated, 'comment')}, {count(counts.matched)} of which {match} a reference"
    raised = f"{count(counts.covered)} of {plural(counts.expected, 'reference')} raised"
    prs = of_all(block.prs, block.prs_with_references, "pull request")
    return f"{name} has F1 {figure} on {prs}: {said}; {raised}."


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    shown = [*names[:_NAMED], f"{more} more"] if more > 0 else list(names)
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _applicable(summary: RoutingSummary) -> list[str]:
    return [name for name, router in summary.routers.items() if not router.not_applicable]


def _of_routing(summary: RoutingSummary, board: Leaderboard | None) -> str:
    if board is None:
        return "No router had what it needs."
    best = summary.routers[board.rows[0].name] if board.rows else None
    if best is None or not best.metrics["mrr"]:
        return "No router found a right person on any pull request."
    with_truth = plural(best.observed_prs, "pull request")
    among = f" Over the {with_truth} with a truth, {board.rows[0].label} has MRR {rate(best.observed_metrics['mrr'])}."
    return f"{_first(board)}{'' if best.observed_prs == summary.prs else among}"
