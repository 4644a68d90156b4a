"""Tables and sentences of a run of outcomes, for the terminal, Markdown and notebooks alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from metareview.model.measure import Measure
from metareview.model.words import plural
from metareview.outcomes.measures import ADDRESSED
from metareview.outcomes.summary import BOTS, NO_SLICE, PEOPLE, OutcomeFigures, OutcomesSummary
from metareview.report.costs import PER_HEEDED, cost_columns
from metareview.report.names import capital
from metareview.report.numbers import NOT_DEFINED, count, interval, rate
from metareview.report.tables import INTERVAL, PULL_REQUESTS, Column, Table, costs_table

MOST_REVIEWERS = 20
"""Rows of reviewers in a table; the JSON has all."""
MOST_VALUES = 20
_NAMED = 3
"""Reviewers that a sentence names."""
MOST_COLUMNS = 6
EVIDENCE = "A changed line is evidence that a comment was heeded, not proof; a changed file is none."
IN_BRACKETS = "In brackets: the comments that a rate is over, which are those that the data can tell about."
_OPTIONAL = {"liked": 7, "disliked": 6, "suggestion_taken": 3, "repeated": 5, "answered": 2, "resolved": 4}
_SEVERITIES = {"critical": 0, "high": 1, "medium": 2, "low": 3, NO_SLICE: 9}


def main_measure(summary: OutcomesSummary) -> Measure:
    """What a reader looks at first: whether comments were addressed, where somebody was asked; else changed lines."""
    measures = {measure.name: measure for measure in summary.measures}
    return measures.get(ADDRESSED) or measures["lines_changed"]


def order(summary: OutcomesSummary) -> list[str]:
    """The reviewers with the most comments first, ties by name."""
    blocks = summary.reviewers
    return sorted(blocks, key=lambda name: (-blocks[name].figures.comments, name))


def rows_of(summary: OutcomesSummary) -> dict[str, OutcomeFigures]:
    """Bots and people together, where they are several, then every reviewer, by what tables call them."""
    kinds = Counter(BOTS if block.bot else PEOPLE for block in summary.reviewers.values())
    groups = {f"all {kind} ({kinds[kind]})": figures for kind, figures in summary.groups.items() if kinds[kind] > 1}
    return {**groups, **{name: summary.reviewers[name].figures for name in order(summary)[:MOST_REVIEWERS]}}


def cell(figures: OutcomeFigures, name: str) -> str:
    value = figures.metrics[name]
    return NOT_DEFINED if value is None else f"{rate(value)} ({count(figures.known[name])})"


def outcomes_table(summary: OutcomesSummary, *, all_intervals: bool = False) -> Table:
    """One row per reviewer, below those of all bots and all people."""
    blocks = rows_of(summary)
    columns = [
        Column("reviewer", list(blocks), text=True),
        Column(PULL_REQUESTS, [count(block.prs) for block in blocks.values()], optional=1),
        Column("comments", [count(block.comments) for block in blocks.values()]),
    ]
    main = main_measure(summary).name
    for measure in summary.measures:
        if not any(block.known[measure.name] for block in blocks.values()) and measure.name != main:
            continue
        cells = [cell(block, measure.name) for block in blocks.values()]
        columns.append(Column(measure.label, cells, optional=_OPTIONAL.get(measure.name, 0)))
        if all_intervals or measure.name in (main, "lines_changed"):
            ends = [interval(block.intervals[measure.name]) for block in blocks.values()]
            columns.append(Column(INTERVAL, ends, optional=0 if measure.name == main else 8))
    took = [summary.reviewers[name].costs if name in summary.reviewers else None for name in blocks]
    columns += [Column(head, cells, optional=9) for head, cells in cost_columns(took, 1, PER_HEEDED)]
    if any(block.undecided for block in summary.reviewers.values()):
        undecided = {name: count(block.undecided) for name, block in summary.reviewers.items()}
        columns.append(Column("undecided", [undecided.get(name, NOT_DEFINED) for name in blocks]))
    return columns


def outcome_costs(summary: OutcomesSummary) -> Table:
    """What reviews took, per pull request and per heeded comment; no columns where nothing is known."""
    blocks = {name: summary.reviewers[name] for name in order(summary)[:MOST_REVIEWERS]}
    return costs_table([(name, block.figures.prs, block.costs) for name, block in blocks.items()], PER_HEEDED)


def slice_tables(summary: OutcomesSummary) -> dict[str, Table]:
    """By what each is about, such as "Lines changed by severity": a row per value, a column per reviewer."""
    label = capital(main_measure(summary).label)
    few = len(summary.reviewers) > MOST_COLUMNS
    whose = f", of the {MOST_COLUMNS} reviewers with the most comments" if few else ""
    return {f"{label} by {dimension}{whose}": _slices(summary, dimension) for dimension in summary.config.by}


def _slices(summary: OutcomesSummary, dimension: str) -> Table:
    main = main_measure(summary)
    names = order(summary)[:MOST_COLUMNS]
    parts = {name: summary.reviewers[name].slices.get(dimension, {}) for name in names}
    sizes = Counter[str]()
    for values in parts.values():
        sizes.update({value: figures.comments for value, figures in values.items()})
    largest = sorted(sizes, key=lambda value: (-sizes[value], value))[:MOST_VALUES]
    shown = sorted(largest, key=lambda value: (_SEVERITIES.get(value.casefold(), 5), value.casefold()))
    columns = [Column(dimension, shown, text=True), Column("comments", [count(sizes[value]) for value in shown])]
    for name in names:
        cells = [cell(figures, main.name) if (figures := parts[name].get(value)) else NOT_DEFINED for value in shown]
        columns.append(Column(name, cells, optional=1 if name != names[0] else 0, from_data=True))
    return columns


def left_out_of(summary: OutcomesSummary) -> list[str]:
    """What the tables do not show."""
    more = len(summary.reviewers) - MOST_REVIEWERS
    if more <= 0:
        return []
    return [f"The {MOST_REVIEWERS} reviewers with the most comments are shown; --json lists {count(more)} more."]


def outcome_tables(summary: OutcomesSummary) -> list[str | Table]:
    """What the terminal shows."""
    parts: list[str | Table] = [outcomes_table(summary), *left_out_of(summary)]
    if costs := outcome_costs(summary):
        parts += ["", costs]
    for title, table in slice_tables(summary).items():
        parts += ["", f"{title}:", table]
    return parts


def headline_of(summary: OutcomesSummary) -> str:
    """What became of the comments, in a sentence; nobody is called better than another here."""
    main = main_measure(summary)
    reviewers = {name: summary.reviewers[name].figures for name in order(summary)}
    if len(reviewers) <= _NAMED:
        figures = reviewers
    else:
        groups = {f"all {kind}": block for kind, block in summary.groups.items()}
        figures = groups or dict(list(reviewers.items())[:_NAMED])
    told = [_told(name, block, main) for name, block in figures.items() if block.known[main.name]]
    if not told:
        return f"The data cannot tell of any comment whether {_WORDS[main.name]}."
    return f"{'; '.join(told)}. {EVIDENCE}"


_WORDS = {"lines_changed": "its lines changed", ADDRESSED: "it was addressed"}


def _told(name: str, figures: OutcomeFigures, main: Measure) -> str:
    value, known, ends = figures.metrics[main.name], figures.known[main.name], figures.intervals[main.name]
    chance = f", 95 % interval {interval(ends)}" if ends else ""
    some = f"{count(round((value or 0) * known))} of {plural(known, 'comment')}"
    lines = main.name != ADDRESSED
    addressed = f"{some} {'was' if known == 1 else 'were'} addressed"
    what = f"the lines of {some} were changed afterwards" if lines else addressed
    return f"{name}: {what} ({rate(value)}{chance})"


def cannot_tell(summary: OutcomesSummary, name: str) -> dict[str, int]:
    """The reasons why the data cannot tell, over all reviewers, the most frequent first."""
    reasons = Counter[str]()
    for block in summary.reviewers.values():
        reasons.update(block.cannot_tell.get(name, {}))
    return dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0])))


def cannot_tell_sentence(summary: OutcomesSummary) -> list[str]:
    """Of how many comments nobody can say whether their lines changed, and why."""
    reasons = cannot_tell(summary, "lines_changed")
    if not reasons:
        return []
    total, shown = sum(reasons.values()), [f"{reason} ({count(number)})" for reason, number in reasons.items()]
    return [f"Cannot tell whether lines changed for {plural(total, 'comment')}: {'; '.join(shown)}."]


def judged_sentence(summary: OutcomesSummary) -> list[str]:
    judge = summary.judge
    sentences = cannot_tell_sentence(summary)
    if judge is None:
        return [*sentences, f"{IN_BRACKETS} Intervals are over pull requests."]
    calls = f"{plural(judge.llm_calls, 'model call')}, {count(judge.cached)} from the cache"
    undecided = f", {plural(judge.errors, 'comment')} undecided" if judge.errors else ""
    decided = f"Addressed or not, by {judge.name}: {plural(judge.pairs, 'comment')} ({calls}){undecided}."
    return [*sentences, f"{decided} {IN_BRACKETS} Intervals are over pull requests."]


def reasons_table(summary: OutcomesSummary) -> Table:
    """Every reason why the data cannot tell something, and of how many comments."""
    found: list[tuple[str, str, int]] = []
    labels: Mapping[str, str] = {measure.name: measure.label for measure in summary.measures}
    for name, label in labels.items():
        found += [(label, reason, number) for reason, number in cannot_tell(summary, name).items()]
    return (
        [
            Column("Outcome", [label for label, _, _ in found], text=True),
            Column("Why the data cannot tell", [reason for _, reason, _ in found], text=True),
            Column("Comments", [count(number) for _, _, number in found]),
        ]
        if found
        else []
    )
