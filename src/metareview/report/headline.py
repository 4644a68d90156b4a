"""What a run says in a sentence or two, in the same words everywhere, and in which order its reviewers are listed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from metareview.comments.measures import f1
from metareview.comments.measures import table as count_table
from metareview.comments.records import CommentRecord
from metareview.comments.summary import MIN_COVERAGE, CommentsSummary
from metareview.model.words import plural
from metareview.report.numbers import count, interval, of_all, p_value, ranked, rate
from metareview.routing.summary import RoutingSummary
from metareview.runs.run import AnyRun, CommentsRun, is_comments
from metareview.stats import Array, pairwise_tests, tie_letters

ALPHA = 0.05
MOST_TESTED = 20
"""Beyond this there are too many pairs for a test of each to be worth much, and to wait for."""
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
    few = {name for name in names if summary.reviewers[name].prs < MIN_COVERAGE * summary.prs}
    return Order([name for name in names if name not in few], [name for name in names if name in few])


@dataclass(frozen=True)
class Ties:
    """`letters`: two reviewers that share one cannot be told apart; `p`: Holm's p value of each pair."""

    letters: Mapping[str, str]
    p: Mapping[tuple[str, str], float | None]


def ties(records: Iterable[CommentRecord], names: Sequence[str]) -> Ties | None:
    """Each pair of reviewers tested on the pull requests that both have; None where there is nothing to test."""
    if not 2 <= len(names) <= MOST_TESTED:
        return None
    tables: dict[str, dict[str, Array]] = {name: {} for name in names}
    for record in records:
        if not record.skipped and record.reviewer in tables:
            tables[record.reviewer][record.pr] = count_table([record.counts])[0]
    p = {pair: test.p_holm for pair, test in pairwise_tests(tables, f1).items()}
    return Ties(tie_letters(names, [pair for pair, value in p.items() if value is not None and value <= ALPHA]), p)


def headline(run: AnyRun) -> str:
    """The sentence. "Leads" is only said of a reviewer with enough pull requests whose lead is larger than chance."""
    return _of_comments(run) if is_comments(run) else _of_routing(run.result)


def _of_comments(run: CommentsRun) -> str:
    summary, names = run.result, order(run.result)
    if not names.names:
        return "No reviewer has a pull request in this run."
    if len(names.names) == 1:
        return _lone(summary, names.names[0])
    if not any(block.counts.matched for block in summary.reviewers.values()):
        return f"None of the {len(names.names)} reviewers has a comment that matches a reference."
    first = _first(summary, names.ranked, ties(run.read_records(), names.ranked))
    few = [f"{name} ({_prs(summary, name)})" for name in names.unranked]
    rest = f" Too few of the pull requests to be ranked: {_listed(few)}." if few else ""
    return f"{first}{rest}"


def _lone(summary: CommentsSummary, name: str) -> str:
    counts = summary.reviewers[name].counts
    said = f"{plural(counts.generated, 'comment')}, {count(counts.matched)} of which match a reference"
    raised = f"{count(counts.covered)} of {plural(counts.expected, 'reference')} raised"
    return f"{name} has F1 {_f1(summary, name)} on {_prs(summary, name)} pull requests: {said}; {raised}."


def _first(summary: CommentsSummary, names: Sequence[str], tied: Ties | None) -> str:
    best = names[0]
    if len(names) == 1:
        return f"{best} has F1 {_f1(summary, best)}."
    if tied is None:
        untested = f"with more than {MOST_TESTED} reviewers no difference was tested"
        return f"{best} has the highest F1, {_f1(summary, best)}; {untested}."
    level = [name for name in names if set(tied.letters[best]) & set(tied.letters[name])]
    if len(level) > 1:
        return f"{_listed(level)} cannot be told apart at the top; {best} has the highest F1, {_f1(summary, best)}."
    p = tied.p[best, names[1]]
    against = f" (p {p_value(p)} against {names[1]}, the next)"
    return f"{best} leads with F1 {_f1(summary, best)}, by more than chance{against}."


def _f1(summary: CommentsSummary, name: str) -> str:
    block = summary.reviewers[name]
    ends = block.intervals[f1.name]
    return rate(block.metrics[f1.name]) + (f" (95 % interval {interval(ends)})" if ends else "")


def _prs(summary: CommentsSummary, name: str) -> str:
    block = summary.reviewers[name]
    return of_all(block.prs, block.prs_with_references)


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    shown = [*names[:_NAMED], f"{more} more"] if more > 0 else list(names)
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _of_routing(summary: RoutingSummary) -> str:
    names = ranked(summary.metrics, "mrr")
    best = summary.routers[names[0]] if names else None
    value = best.metrics["mrr"] if best else None
    if best is None or not value:
        return "No router found a right person on any pull request."
    equal = [router for router in names if summary.routers[router].metrics["mrr"] == value]
    ends = best.intervals.get("mrr")
    figure = rate(value) + (f" (95 % interval {interval(ends)})" if ends else "")
    with_truth = plural(best.observed_prs, "pull request")
    among = f" Over the {with_truth} with a truth it is {rate(best.observed_metrics['mrr'])}."
    verb = "has" if len(equal) == 1 else "share"
    return f"{_listed(equal)} {verb} the highest MRR, {figure}.{'' if best.observed_prs == summary.prs else among}"
