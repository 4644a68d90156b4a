"""The figures of a run of outcomes, counted anew from its records."""

from __future__ import annotations

from collections.abc import Iterable

from metareview.outcomes.summary import OutcomeFigures, OutcomesSummary, groups_of, summarise, tally
from metareview.runs.files import JsonObject
from metareview.runs.outcomes_json import record_from_json
from metareview.runs.recount import hold, hold_names, hold_rates


def check_outcomes(summary: OutcomesSummary, lines: Iterable[JsonObject]) -> None:
    """OtherFiguresError where a figure is not that of the records, which are read once."""
    tallies = [tally(record_from_json(line), summary.config.by) for line in lines]
    found = summarise(tallies, summary.config)
    hold_names("reviewer", summary.reviewers, found)
    for name, block in summary.reviewers.items():
        counted = found[name]
        _check_outcome_figures(name, block.figures, counted.figures)
        hold(f"{name}: undecided", block.undecided, counted.undecided)
        hold_names(f"{name}: slices by", block.slices, counted.slices)
        for dimension, values in block.slices.items():
            hold_names(f"{name}: {dimension}", values, counted.slices[dimension])
            for value, figures in values.items():
                _check_outcome_figures(f"{name}, {value}", figures, counted.slices[dimension][value])
    groups = groups_of(tallies, found, summary.config)
    hold_names("group", summary.groups, groups)
    for name, figures in summary.groups.items():
        _check_outcome_figures(name, figures, groups[name])
    hold("pull requests", summary.prs, len({each.pr for each in tallies}))


def _check_outcome_figures(who: str, told: OutcomeFigures, counted: OutcomeFigures) -> None:
    hold(f"{who}: pull requests", told.prs, counted.prs)
    hold(f"{who}: comments", told.comments, counted.comments)
    hold_rates(who, told.metrics, counted.metrics)
    hold_rates(f"{who}: comments of which the data can tell", told.known, counted.known)
