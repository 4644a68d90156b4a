"""What a run says in a sentence or two, in the same words everywhere, and in which order its reviewers are listed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from metareview.comments.measures import f1
from metareview.comments.summary import MIN_COVERAGE, CommentsSummary
from metareview.comparison.leaderboard import Leaderboard, leaderboard
from metareview.model.words import plural
from metareview.report.numbers import count, interval, of_all, ranked, rate
from metareview.routing.summary import RoutingSummary
from metareview.runs.run import AnyRun, is_comments

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
    """By each one's figure on its own pull requests; ranked is who has enough of those that anybody has."""
    names = ranked(summary.metrics, f1.name)
    few = {name for name in names if summary.reviewers[name].prs < MIN_COVERAGE * summary.prs}
    return Order([name for name in names if name not in few], [name for name in names if name in few])


def board_of(run: AnyRun) -> Leaderboard | None:
    """The leaderboard of the run alone; None where it holds nobody."""
    return leaderboard([run]) if run.metrics else None


def headline(run: AnyRun, board: Leaderboard | None = None) -> str:
    """Who is best, as far as the tests say so. `board`: the run's leaderboard, where it is known already."""
    if not run.metrics:
        return "There is nobody to score in this run."
    board = board or leaderboard([run])
    return _of_comments(run.result, board) if is_comments(run) else _of_routing(run.result, board)


def _of_comments(summary: CommentsSummary, board: Leaderboard) -> str:
    if len(summary.reviewers) == 1:
        return _lone(summary)
    if not any(block.counts.matched for block in summary.reviewers.values()):
        return f"None of the {len(summary.reviewers)} reviewers has a comment that matches a reference."
    enough = board.min_coverage * summary.prs
    few = [f"{row.label} ({of_all(row.prs, row.of)})" for row in board.unranked if row.prs < enough]
    return board.headline + (f" Too few of the pull requests to be ranked: {_listed(few)}." if few else "")


def _lone(summary: CommentsSummary) -> str:
    [(name, block)] = summary.reviewers.items()
    counts, ends = block.counts, block.intervals[f1.name]
    figure = f"F1 {rate(block.metrics[f1.name])}" + (f" (95 % interval {interval(ends)})" if ends else "")
    said = f"{plural(counts.generated, 'comment')}, {count(counts.matched)} of which match a reference"
    raised = f"{count(counts.covered)} of {plural(counts.expected, 'reference')} raised"
    return f"{name} has {figure} on {of_all(block.prs, block.prs_with_references)} pull requests: {said}; {raised}."


def _of_routing(summary: RoutingSummary, board: Leaderboard) -> str:
    best = summary.routers[board.rows[0].name] if board.rows else None
    if best is None or not best.metrics["mrr"]:
        return "No router found a right person on any pull request."
    with_truth = f"the {plural(best.observed_prs, 'pull request')} with a truth"
    among = f" Over {with_truth}, {board.rows[0].label} has MRR {rate(best.observed_metrics['mrr'])}."
    return board.headline + ("" if best.observed_prs == summary.prs else among)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    shown = [*names[:_NAMED], f"{more} more"] if more > 0 else list(names)
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
