"""Comparisons and leaderboards: their tables, what made a difference in lines of text, and their Markdown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from metareview.comments.costs import CostDifference, Costs
from metareview.comparison.explain import OutcomePair, PullRequestPair, RouterPair
from metareview.comparison.standings import TIES_AT, Leaderboard
from metareview.comparison.verdict import Comparison, LeftOut, MetricDifference
from metareview.model.measure import Measure
from metareview.model.words import plural
from metareview.report.build_gates import loss_gates_table
from metareview.report.costs import PER, WORDS, amount, cost_columns, signed_amount, signed_amounts
from metareview.report.markdown import as_lines, document, safe
from metareview.report.names import capital, excerpt, in_words
from metareview.report.numbers import NOT_DEFINED, count, interval, of_all, p_value, rate, signed, signed_interval
from metareview.report.outcomes import IN_BRACKETS
from metareview.report.repeats import interval_lines
from metareview.report.tables import INTERVAL, PULL_REQUESTS, Column, Table, between_runs_columns, costs_table

_ADDRESS = re.compile(r"https?://[A-Za-z0-9./-]+")
_NAMED = 5
"""Pull requests with differing answers that are listed by name."""
MOST_SLICES = 20
"""Kinds of comments that a table lists."""


def ties_remark(result: Leaderboard) -> str:
    """What the letters mean, or why there are none; and what the intervals are of, where runs are repeated."""
    return " ".join([_letters(result), *_of_intervals(result)])


def _letters(result: Leaderboard) -> str:
    if not result.tested:
        return "No letters: the pairs of so many grow with the square of their number."
    untested, pairs = len(result.untested), len(result.pairs)
    if pairs and untested == pairs:
        return f"A shared letter tells nothing here: there are too few {result.evidence} to test any pair."
    how = "paired test over all pairs at once" if result.paired else "two independent samples, Holm over all pairs"
    units = f"these {result.units.words}" if result.units else "these pull requests"
    units = units if result.paired else "these samples of pull requests"
    remark = f"A shared letter: {units} cannot tell them apart ({how}, {TIES_AT:g})."
    if not untested:
        return remark
    share = plural(untested, "pair shares", "pairs share")
    return f"{remark} {share} a letter untested, with too few {result.evidence}."


def _of_intervals(result: Leaderboard) -> list[str]:
    return interval_lines((row.label, row.repeats) for row in (*result.rows, *result.unranked))


def comparison_table(result: Comparison) -> Table:
    """Each measure, then each kind of cost: of these an interval, but no test. Of outcomes only those that the data of
    either side can tell."""
    shown = {name: metric for name, metric in result.metrics.items() if _told(result, name)}
    metrics = shown.values()
    labels = [metric.measure.label + (" ↓" if metric.measure.lower_is_better else "") for metric in metrics]
    known = [] if result.samples is None else [result.samples.known[name] for name in shown]
    # Of two samples, the sentence below says how many pull requests each has.
    compared = "pull request" if result.left_out == LeftOut() else "shared pull request"
    head = "outcome" if result.samples and not result.samples.paired else plural(result.prs, compared)
    return _with_costs(_differences_table(result, head, labels, metrics, known), list(_compared(result)))


def _told(result: Comparison, name: str) -> bool:
    return result.samples is None or name == result.main or any(result.samples.known[name])


def slice_tables(result: Comparison) -> Iterator[tuple[str, Table]]:
    """The main metric by each dimension that was asked for, under a line that says what it is."""
    label = result.metrics[result.main].measure.label
    for dimension, values in (result.samples.slices if result.samples else {}).items():
        shown = list(values.items())[:MOST_SLICES]
        more = len(values) - len(shown)
        rest = f"; the {MOST_SLICES} with the most comments, --json has {more} more" if more > 0 else ""
        table = _differences_table(
            result,
            in_words(dimension),
            [value for value, _ in shown],
            [each.metric for _, each in shown],
            [each.known for _, each in shown],
        )
        yield f"{capital(label)} by {in_words(dimension)}{rest}:", table


def _differences_table(
    result: Comparison,
    head: str,
    labels: Sequence[str],
    metrics: Collection[MetricDifference],
    known: Sequence[tuple[int, int]],
) -> Table:
    """`known`: for outcomes, how many comments of A and of B each figure is over, which then stand in brackets."""
    figures_a, figures_b = [metric.a for metric in metrics], [metric.b for metric in metrics]
    return [
        Column(head, labels, text=True),
        Column(result.a.label, _rates(figures_a, [a for a, _ in known]), from_data=True),
        Column(result.b.label, _rates(figures_b, [b for _, b in known]), from_data=True),
        Column("B - A", [signed(metric.diff) for metric in metrics]),
        Column(INTERVAL, [signed_interval(metric.interval) for metric in metrics], optional=True),
        Column("p", [p_value(metric.p) for metric in metrics], optional=True),
        Column("p (Holm)", [p_value(metric.p_holm) for metric in metrics]),
    ]


def _rates(figures: Sequence[float | None], known: Sequence[int]) -> list[str]:
    """Each figure, for outcomes with how many comments it is over."""
    if not known:
        return [rate(figure) for figure in figures]
    return [
        NOT_DEFINED if figure is None else f"{rate(figure)} ({count(number)})"
        for figure, number in zip(figures, known, strict=True)
    ]


def _with_costs(table: Table, costs: Sequence[tuple[str, str, CostDifference]]) -> Table:
    """The table with a row for each of these."""
    if not costs:
        return table
    none = [NOT_DEFINED] * len(costs)
    added = [
        [label for label, _, _ in costs],
        [amount(kind, each.a) for _, kind, each in costs],
        [amount(kind, each.b) for _, kind, each in costs],
        [signed_amount(kind, each.diff) for _, kind, each in costs],
        [signed_amounts(kind, each.interval) for _, kind, each in costs],
        none,
        none,
    ]
    return [replace(column, cells=[*column.cells, *more]) for column, more in zip(table, added, strict=True)]


def _compared(result: Comparison) -> Iterator[tuple[str, str, CostDifference]]:
    """Label, kind and difference of each cost that both sides know."""
    for kind, word in WORDS.items():
        if kind in result.costs:
            of_kind = result.costs[kind]
            known = "" if of_kind.prs == result.prs else f" (on {count(of_kind.prs)})"
            yield f"{word} {PER['per_pr']}{known} ↓", kind, of_kind.per_pr
            yield f"{word} {PER['per_valid_finding']}{known} ↓", kind, of_kind.per_valid_finding


def leaderboard_table(result: Leaderboard, *, kinds_of_cost: int = 2) -> Table:
    """The measure that decides with its interval and ties, what reviews took (the first kinds that are known), then
    the other measures that somebody has."""
    rows, sort, scope = [*result.rows, *result.unranked], result.sort, result.scope
    shown = [result.compared(row) for row in rows]

    def figures(measure: Measure) -> list[str]:
        known = [] if result.paired else [row.figures.known[measure.name] for row in rows]
        return _rates([each.metrics[measure.name] for each in shown], known)

    columns = [
        Column("", [NOT_DEFINED if row.rank is None else str(row.rank) for row in rows]),
        Column("name", [row.label for row in rows], text=True),
        Column(PULL_REQUESTS, [of_all(row.prs, row.of) if result.paired else count(row.prs) for row in rows]),
        Column(f"{sort.label}{scope}", figures(sort)),
        Column(INTERVAL, [interval(each.intervals[sort.name]) for each in shown]),
        *between_runs_columns([row.repeats for row in rows], sort.name),
        Column("ties", [row.ties for row in rows], text=True),
    ]
    if scope:
        own = [rate(row.own.metrics[sort.name]) for row in rows]
        columns.append(Column(f"{sort.label} on its own pull requests", own, optional=True))
    costs = cost_columns([each.costs for each in shown], kinds_of_cost)
    columns += [Column(f"{head}{scope}", cells, optional=1) for head, cells in costs]
    for measure in result.measures:
        if measure.name != sort.name and any(each.metrics[measure.name] is not None for each in shown):
            columns.append(Column(f"{measure.label}{scope}", figures(measure), optional=True))
    return columns


def costs_of_standings(result: Leaderboard) -> list[tuple[str, int, Costs | None]]:
    """The name, the pull requests that figures are over, and the costs of each, in the order of the table."""
    return [
        (row.label, row.prs if row.rank is None else result.prs, row.figures.costs)
        for row in (*result.rows, *result.unranked)
    ]


def found_line(result: Comparison) -> str:
    """Who found what; nothing for outcomes, which have no references to be found."""
    if result.samples is not None:
        return ""
    numbers = {name: count(len(items)) for name, items in result.explanation.found.items()}
    return (
        f"{'References' if result.kind == 'comments' else 'Pull requests'} found by both: {numbers['both']}; "
        f"only by {result.a.label}: {numbers['only_a']}; only by {result.b.label}: {numbers['only_b']}; "
        f"by neither: {numbers['neither']}."
    )


def comparison_lines(result: Comparison) -> list[str]:
    """What stands below the table on a terminal."""
    found = found_line(result)
    return ["", result.verdict, *([found] if found else []), *explanation_lines(result)]


def explanation_lines(result: Comparison) -> Iterator[str]:
    """Which kinds of issue and which pull requests made the difference."""
    yield from _kind_lines(result)
    differing = _differing(result)
    if differing:
        yield f"The answers differ on {len(differing)} of {plural(result.prs, 'pull request')}:"
        yield from (f"  {pr}" for pr in differing)
    for title, pairs in _effects(result):
        yield ""
        yield title
        for pair in pairs:
            yield f"  {signed(pair.effect)}  {pair.pr}"
            yield from (f"          {line}" for line in _pair_lines(pair, result, most=2))


def _kind_lines(result: Comparison) -> Iterator[str]:
    """By each dimension the kind of issue that the two differ on most."""
    for dimension, kinds in result.explanation.kinds.items():
        known = [(kind, tally) for kind, tally in kinds.items() if kind != "unknown" and tally.a != tally.b]
        for kind, tally in known[:1]:
            yield f"By {in_words(dimension)}, most on {kind}: {count(tally.a)} and {count(tally.b)} of {tally.total}."


def _differing(result: Comparison) -> Sequence[str]:
    """The pull requests with differing answers, where they are few enough to be listed."""
    differing = result.explanation.differing
    return differing if len(differing) <= _NAMED and len(differing) < result.prs else []


def _effects(result: Comparison) -> Iterator[tuple[str, Iterable[PullRequestPair]]]:
    why = result.explanation
    for word, pairs in (("gains", why.gains), ("losses", why.losses)):
        if pairs:
            yield f"Largest {word} of {result.b.label}, by what each adds to the difference:", pairs


def _pair_lines(pair: PullRequestPair, result: Comparison, most: int) -> Iterator[str]:
    if isinstance(pair, OutcomePair):
        label = result.metrics[result.main].measure.label
        sides = ((result.a.label, pair.a), (result.b.label, pair.b))
        told = [f"{told[0]} of {plural(told[1], 'comment')} of {side}" for side, told in sides if told is not None]
        yield f"{label}: {' and '.join(told)}"
        return
    if isinstance(pair, RouterPair):
        ranks = [str(answer.rank or "none") for answer in (pair.a, pair.b)]
        yield f"rank of {', '.join(pair.record.truth.targets)}: {ranks[0]} and {ranks[1]}"
        return
    a, b = (of_all(record.counts.matched, record.counts.generated) for record in (pair.a, pair.b))
    kept = sum(reference.kept for reference in pair.a.references)
    yield f"comments that match: {a} and {b}; {plural(kept, 'reference')}"
    for label, references in ((result.a.label, pair.only_a()), (result.b.label, pair.only_b())):
        yield from (f"only {label}: {excerpt(reference.comment.note, 84)}" for reference in references[:most])
        if len(references) > most:
            yield f"only {label}: {len(references) - most} more"


def comparison_section(result: Comparison) -> str:
    """A comparison for the page of a build: the verdict, the figures, the pull requests that made the difference."""
    lines = [f"### {safe(result.b.label)} against {safe(result.a.label)}", ""]
    lines += [f"**{safe(result.verdict, longest=1_000)}**", "", *as_lines(comparison_table(result))]
    lines += [f"↓ lower is better. {safe(found_line(result))}".rstrip(), ""]
    if result.samples is not None:
        lines += [IN_BRACKETS, ""]
    for title, table in slice_tables(result):
        lines += [safe(title), "", *as_lines(table)]
    if kinds := [f"- {safe(line)}" for line in _kind_lines(result)]:
        lines += [*kinds, ""]
    if differing := _differing(result):
        lines += [f"The answers differ on {len(differing)} of {plural(result.prs, 'pull request')}:", ""]
        lines += [*(f"- {_address(pr)}" for pr in differing), ""]
    for title, pairs in _effects(result):
        lines += [safe(title), ""]
        for pair in pairs:
            lines.append(f"- {signed(pair.effect)} {_address(pair.pr)}")
            lines += [f"  - {safe(line)}" for line in _pair_lines(pair, result, most=3)]
        lines.append("")
    lines += [f"- {safe(warning)}" for warning in result.warnings]
    lines += [""] if result.warnings else []
    gates = ["**Gates**", "", *as_lines(loss_gates_table(result))] if result.gates else []
    return document([*lines, *gates])


def _address(pr: str) -> str:
    """A link where it is one, and nothing that acts otherwise."""
    return pr if _ADDRESS.fullmatch(pr) else safe(pr)


def leaderboard_section(result: Leaderboard) -> str:
    """A leaderboard for the page of a build."""
    lines = [
        "### Leaderboard",
        "",
        f"**{safe(result.headline, longest=1_000)}**",
        "",
        *as_lines(leaderboard_table(result)),
    ]
    costs = costs_table(costs_of_standings(result))
    lines += as_lines(costs) if costs else []
    lines += [_letters(result), ""] if result.paired else [_letters(result), "", IN_BRACKETS, ""]
    if intervals := [f"- {safe(line, longest=1_000)}" for line in _of_intervals(result)]:
        lines += [*intervals, ""]
    return document([*lines, *(f"- {safe(warning)}" for warning in result.warnings)])
