"""Whether a run's summary says what its records do: a stored figure is counted anew from the lines of results.jsonl.

Counts, rates and means are held to the records, in slices and single runs too, and a record's counts to its own lists.
What only the replay or more time can tell is not: intervals, bounds, parts of the variance, costs, waits, loads.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from metareview.comments.measures import RECALLS, Counts, rates, recall_table, total
from metareview.comments.records import DIMENSIONS
from metareview.comments.summary import CommentsSummary, Macro, ReviewerSummary, macro_of
from metareview.model.event import fold
from metareview.model.measure import Sums
from metareview.outcomes.summary import OutcomeFigures, OutcomesSummary, groups_of, tally
from metareview.outcomes.summary import summarise as summarise_outcomes
from metareview.routing.expertise import RouterExpertise, router_expertise
from metareview.routing.list_measures import SEVERAL, Places
from metareview.routing.rank_figures import RankFigures
from metareview.routing.summary import RouterSummary, RoutingSummary
from metareview.routing.sums import Expert, Ranked
from metareview.runs.comments_json import COUNT_KEYS
from metareview.runs.files import JsonObject
from metareview.runs.outcomes_json import record_from_json as outcome_from_json

_TOLERANCE = 1e-9
"""What another version of a library, or another order of adding, may change."""


class OtherFiguresError(ValueError):
    """A figure is not what the records say."""


def _hold(what: str, told: float | str | None, counted: float | str | None) -> None:
    alike = told == counted
    if not alike and isinstance(told, int | float) and isinstance(counted, int | float):
        alike = abs(told - counted) <= _TOLERANCE * max(1.0, abs(counted))
    if not alike:
        raise OtherFiguresError(f"{what} is {_shown(told)}, and {_shown(counted)} by its records")


def _shown(value: float | str | None) -> str:
    return "null" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _hold_names(what: str, told: Iterable[str], counted: Iterable[str]) -> None:
    if differing := set(told) ^ set(counted):
        raise OtherFiguresError(f"{what} {min(differing)!r} is not in both the summary and the records")


def _hold_rates(what: str, told: Mapping[str, float | None], counted: Mapping[str, float | None]) -> None:
    """Measures that a run of another version has not are not missed here."""
    for name in told.keys() & counted.keys():
        _hold(f"{what}: {name}", told[name], counted[name])


# Comments


def check_comment_record(line: JsonObject) -> None:
    """OtherFiguresError where a record counts something else than it lists."""
    if line["skip_reason"] is not None:
        return
    comments, references = line["match_details"], line["reference_comments"]
    left_out = sum(bool(each["left_out"]) for each in comments)
    generated, matched = len(comments) - left_out, _given(comments, "reference")
    listed: list[float | None] = [
        sum(bool(each["kept"]) for each in references),
        generated,
        None if line["positive_line_match_nums"] is None else _given(comments, "line_reference"),
        matched,
        sum(bool(each["covered"]) for each in references),
        None if line["positive_line_covered_nums"] is None else sum(bool(each["line_covered"]) for each in references),
        generated - matched,
        len(line["negative_comments"]),
        _given(comments, "negative"),
    ]
    for name, number in zip(COUNT_KEYS, listed, strict=False):
        if line[name] != number:
            _hold(f"{name} of {line['reviewer']} on {line['github_pr_url']}", line[name], number)


def _given(items: Iterable[JsonObject], name: str) -> int:
    return sum(each[name] is not None for each in items)


def check_comments(summary: CommentsSummary, lines: Iterable[JsonObject]) -> None:
    """OtherFiguresError where a figure is not that of the records, which are read once."""
    found: dict[str, _Reviewer] = defaultdict(_Reviewer)
    prs: set[str] = set()
    judged = undecided = 0.0
    for (reviewer, pr), group in groupby(lines, key=lambda line: (line["reviewer"], line["github_pr_url"])):
        scored = [line for line in group if line["skip_reason"] is None]
        judged += sum(line["judged_pairs"] for line in scored)
        undecided += sum(line["judge_error_nums"] for line in scored)
        found[reviewer].add(scored, averaged=summary.config.repeat)
        prs.update([pr] if scored else [])
    _hold_names("reviewer", summary.reviewers, found)
    for name, block in summary.reviewers.items():
        found[name].check(name, block, summary)
    _hold("pairs", summary.judge.pairs, judged)
    _hold("undecided pairs", summary.judge.errors, round(undecided))
    if summary.prs != max((block.prs for block in summary.reviewers.values()), default=0):  # as older runs have it
        _hold("pull requests", summary.prs, len(prs))


class _Reviewer:
    """What one reviewer's records count, a row for each pull request."""

    def __init__(self) -> None:
        self._rows: list[Sequence[float | None]] = []
        self._values: dict[str, list[str]] = {"language": [], "pr_category": []}
        self._tallies: dict[str, dict[str, list[Sequence[float]]]] = {name: {} for name in DIMENSIONS}
        self._by_run: dict[str, list[Sequence[float | None]]] = {}
        self._repeated: list[float | None] = []

    def add(self, lines: Sequence[JsonObject], *, averaged: bool) -> None:
        """The records on one pull request: several only of repeated runs, which count by their means."""
        for line in lines:
            self._by_run.setdefault(line.get("run") or "", []).append([line[key] for key in COUNT_KEYS])
        for several in [lines] if averaged and lines else [[line] for line in lines]:
            first = several[0]
            self._rows.append(_means([[line[key] for key in COUNT_KEYS] for line in several]))
            self._repeated += _means([[line.get("repeated_nums")] for line in several])
            for name, values in self._values.items():
                values.append(first[name] or "unknown")
            for name, values_of in self._tallies.items():
                held = [line["reference_slices"].get(name, {}) for line in several]
                for value in dict.fromkeys(value for each in held for value in each):
                    values_of.setdefault(value, []).append(_means([each.get(value, (0, 0, 0)) for each in held]))

    def check(self, who: str, block: ReviewerSummary, summary: CommentsSummary) -> None:
        counts = _table(self._rows)
        _hold(f"{who}: pull requests", block.prs, len(counts))
        _check_counts(who, block.counts, block.metrics, counts, summary)
        if block.repeated is not None and None not in self._repeated:
            _hold(f"{who}: repeated comments", block.repeated, sum(each or 0 for each in self._repeated))
        _check_macro(who, block.macro, macro_of(counts, summary.config.measures))
        for name, parts in block.by_pull_request.items():
            values = np.array(self._values[name], object)
            _hold_names(f"{who}: {name}", parts, self._values[name])
            for value, part in parts.items():
                of_value = counts[values == value]
                _hold(f"{who}, {value}: pull requests", part.prs, len(of_value))
                _check_counts(f"{who}, {value}", part.counts, part.metrics, of_value, summary)
        for name, slices in block.by_reference.items():
            for value, slice_ in slices.items():
                sums = total(recall_table((a, b, c) for a, b, c in self._tallies[name].get(value, [])))
                told = Counts.from_sums(sums, location=summary.config.location)
                for which in ("expected", "covered", "line_covered"):
                    _hold(f"{who}, {value}: {which}", getattr(slice_, which), getattr(told, which))
                _hold_rates(f"{who}, {value}", slice_.metrics, rates(sums, summary.config.measures, RECALLS))
        if block.repeats is not None:
            for run, metrics in block.repeats.metrics.items():
                sums = _table(self._by_run.get(run, [])).sum(axis=0)
                _hold_rates(f"{who}, {run}", metrics, rates(sums, summary.config.measures))


def _means(rows: Sequence[Sequence[Any]]) -> Sequence[Any]:
    """Column by column; None where a row has none."""
    if len(rows) == 1:
        return rows[0]
    return [None if None in column else sum(column) / len(column) for column in zip(*rows, strict=True)]


def _table(rows: Sequence[Sequence[float | None]]) -> Sums:
    """As `table` has it, of values in the order of its columns."""
    counts = np.array(rows, np.float64).reshape(-1, len(COUNT_KEYS))
    counts[np.isnan(counts)] = 0
    return counts


def _check_counts(
    who: str, told: Counts, metrics: Mapping[str, float | None], counts: Sums, summary: CommentsSummary
) -> None:
    sums = total(counts)
    counted = Counts.from_sums(sums, location=summary.config.location)
    for name, stored, number in zip(COUNT_KEYS, told.values(), counted.values(), strict=True):
        _hold(f"{who}: {name}", stored, number)
    _hold_rates(who, metrics, rates(sums, summary.config.measures))


def _check_macro(who: str, told: Macro, counted: Macro) -> None:
    _hold_rates(f"{who}: mean", told.means, counted.means)
    _hold_rates(f"{who}: without a mean", told.nulls, counted.nulls)


# Outcomes


def check_outcomes(summary: OutcomesSummary, lines: Iterable[JsonObject]) -> None:
    """OtherFiguresError where a figure is not that of the records, which are read once."""
    tallies = [tally(outcome_from_json(line), summary.config.by) for line in lines]
    found = summarise_outcomes(tallies, summary.config)
    _hold_names("reviewer", summary.reviewers, found)
    for name, block in summary.reviewers.items():
        counted = found[name]
        _check_outcome_figures(name, block.figures, counted.figures)
        _hold(f"{name}: undecided", block.undecided, counted.undecided)
        _hold_names(f"{name}: slices by", block.slices, counted.slices)
        for dimension, values in block.slices.items():
            _hold_names(f"{name}: {dimension}", values, counted.slices[dimension])
            for value, figures in values.items():
                _check_outcome_figures(f"{name}, {value}", figures, counted.slices[dimension][value])
    groups = groups_of(tallies, found, summary.config)
    _hold_names("group", summary.groups, groups)
    for name, figures in summary.groups.items():
        _check_outcome_figures(name, figures, groups[name])
    _hold("pull requests", summary.prs, len({each.pr for each in tallies}))


def _check_outcome_figures(who: str, told: OutcomeFigures, counted: OutcomeFigures) -> None:
    _hold(f"{who}: pull requests", told.prs, counted.prs)
    _hold(f"{who}: comments", told.comments, counted.comments)
    _hold_rates(who, told.metrics, counted.metrics)
    _hold_rates(f"{who}: comments of which the data can tell", told.known, counted.known)


# Routing


def check_routing_record(line: JsonObject) -> None:
    """OtherFiguresError where a rank is not the place of the first target, as far as the list is kept."""
    targets = set(map(fold, line["truth"]["targets"]))
    for name, answer in line["routers"].items():
        candidates, rank = answer["candidates"], answer["rank"] or 0
        found = (place for place, login in enumerate(candidates, 1) if fold(login) in targets)
        place = next(found, 0) if targets else 0
        if (0 if rank > len(candidates) else rank) != place:
            _hold(f"the rank by {name} on {line['repo']}#{line['pr']}", rank, place)


def check_routing(summary: RoutingSummary, lines: Iterable[JsonObject]) -> None:
    """OtherFiguresError where a figure is not that of the records, which are read once."""
    names, several = summary.config.routers, summary.config.truth == SEVERAL
    _hold_names("router", summary.routers, names)
    states: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    ranked: dict[str, Counter[Ranked]] = {name: Counter() for name in names}
    experts: dict[str, Counter[Expert]] = {name: Counter() for name in names}
    expertise = [(k, f"expertise@{k}") for k in summary.config.ks]
    for line in lines:
        truth, answers = line["truth"], line["routers"]
        observed = truth["state"] == "observed"
        targets = len(truth["targets"])
        states[truth["state"]] += 1
        for name in names:
            answer = answers[name]
            answered[name] += answer["listed"] > 0
            ranks = tuple(answer.get("ranks") or ()) if several else ()
            places = ranks or ((answer["rank"],) if answer["rank"] else ())
            ranked[name][Ranked(0, "", observed, Places(places, targets if several else int(observed)))] += 1
            if line.get("files", 0) > 0:
                first = next((k for k, figure in expertise if answer.get(figure)), 0)
                experts[name][Expert(0, "", observed, first)] += 1
    _hold("pull requests", summary.prs, states.total())
    for state in ("observed", "no_response", "unknown"):
        _hold(f"pull requests with the truth {state}", getattr(summary.truth, state), states[state])
    for name, router in summary.routers.items():
        _hold(f"{name}: answered", router.answered, answered[name])
        _hold(f"{name}: pull requests with a truth", router.observed_prs, states["observed"])
        _check_router(name, router, RankFigures(ranked[name], summary.config.measures))
        if router.expertise is not None and router.not_applicable is None:
            _check_expertise(name, router.expertise, router_expertise(experts[name], summary.config.ks))


def _check_router(name: str, router: RouterSummary, figures: RankFigures) -> None:
    absent = figures.absent()
    lacking = router.not_applicable is not None
    _hold_rates(name, router.metrics, absent if lacking else figures.means())
    _hold_rates(f"{name}, with a truth", router.observed_metrics, absent if lacking else figures.means(observed=True))


def _check_expertise(name: str, told: RouterExpertise, counted: RouterExpertise | None) -> None:
    if counted is None:
        raise OtherFiguresError(f"{name}: expertise is told, and no record has files")
    _hold_rates(name, told.metrics, counted.metrics)
    _hold_rates(f"{name}, with a truth", told.observed_metrics, counted.observed_metrics)
