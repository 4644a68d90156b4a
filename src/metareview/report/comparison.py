"""Comparisons and leaderboards: their tables, what made a difference in lines of text, and their Markdown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from metareview.comparison.explain import OutcomePair, PullRequestPair, RouterPair
from metareview.comparison.standings import Leaderboard
from metareview.comparison.verdict import Comparison, MetricDifference
from metareview.model.words import plural
from metareview.report.markdown import as_lines, document, safe
from metareview.report.names import capital, excerpt, in_words
from metareview.report.numbers import NOT_DEFINED, count, interval, of_all, p_value, rate, signed, signed_interval
from metareview.report.tables import INTERVAL, PULL_REQUESTS, Column, Table, between_runs_columns

_ADDRESS = re.compile(r"https?://[A-Za-z0-9./-]+")
TIES = "A shared letter: these pull requests cannot tell them apart (paired test over all pairs at once, 0.05)."
OVER = "“of A's” and “of B's”: the comments that a figure is over, those of which the data can tell."
SAMPLE_TIES = (
    "A shared letter: these samples of pull requests cannot tell them apart (two independent samples, Holm over all"
    " pairs, 0.05)."
)
_NAMED = 5
"""Pull requests with differing answers that are listed by name."""
MOST_SLICES = 20
"""Kinds of comments that a table lists."""


def ties_remark(result: Leaderboard) -> str:
    """What the letters mean."""
    return TIES if result.paired else SAMPLE_TIES


def comparison_table(result: Comparison) -> Table:
    metrics = result.metrics.values()
    labels = [metric.measure.label + (" ↓" if metric.measure.lower_is_better else "") for metric in metrics]
    known = [] if result.samples is None else [result.samples.known[name] for name in result.metrics]
    return _differences_table(
        result, result.units if known else plural(result.prs, "pull request"), labels, metrics, known
    )


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
    """`known`: for outcomes, how many comments of A and of B each figure is over."""
    over = [[Column(f"of {side}'s", [count(each[at]) for each in known], optional=2)] if known else []
            for at, side in enumerate("AB")]  # fmt: skip
    return [
        Column(head, labels, text=True),
        Column(result.a.label, [rate(metric.a) for metric in metrics], from_data=True),
        *over[0],
        Column(result.b.label, [rate(metric.b) for metric in metrics], from_data=True),
        *over[1],
        Column("B - A", [signed(metric.diff) for metric in metrics]),
        Column(INTERVAL, [signed_interval(metric.interval) for metric in metrics], optional=True),
        Column("p", [p_value(metric.p) for metric in metrics], optional=True),
        Column("p (Holm)", [p_value(metric.p_holm) for metric in metrics]),
    ]


def leaderboard_table(result: Leaderboard) -> Table:
    """The measure that decides with its interval and ties, then the others that somebody has."""
    rows, sort = [*result.rows, *result.unranked], result.sort
    figures = [row.figures.metrics[sort.name] for row in rows]
    own = [row.own.metrics[sort.name] for row in rows]
    columns = [
        Column("", [NOT_DEFINED if row.rank is None else str(row.rank) for row in rows]),
        Column("name", [row.label for row in rows], text=True),
        Column(PULL_REQUESTS, [of_all(row.prs, row.of) if result.paired else count(row.prs) for row in rows]),
        Column(sort.label, [rate(figure) for figure in figures]),
        Column(INTERVAL, [interval(row.figures.intervals[sort.name]) for row in rows]),
        *between_runs_columns([row.repeats for row in rows], sort.name),
        Column("ties", [row.ties for row in rows], text=True),
    ]
    if not result.paired:
        columns.insert(3, Column("comments", [count(row.figures.known[sort.name]) for row in rows]))
    if own != figures:
        columns.append(
            Column(f"{sort.label} on its own pull requests", [rate(figure) for figure in own], optional=True)
        )
    for measure in result.measures:
        others = [row.figures.metrics[measure.name] for row in rows]
        if measure.name != sort.name and any(figure is not None for figure in others):
            columns.append(Column(measure.label, [rate(figure) for figure in others], optional=True))
    return columns


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
    for dimension, kinds in result.explanation.kinds.items():
        known = [(kind, tally) for kind, tally in kinds.items() if kind != "unknown" and tally.a != tally.b]
        for kind, tally in known[:1]:
            yield f"By {in_words(dimension)}, most on {kind}: {count(tally.a)} and {count(tally.b)} of {tally.total}."
    differing = result.explanation.differing
    if 0 < len(differing) < result.prs and len(differing) <= _NAMED:
        yield f"The answers differ on {len(differing)} of {plural(result.prs, 'pull request')}:"
        yield from (f"  {pr}" for pr in differing)
    for title, pairs in _effects(result):
        yield ""
        yield title
        for pair in pairs:
            yield f"  {signed(pair.effect)}  {pair.pr}"
            yield from (f"          {line}" for line in _pair_lines(pair, result, most=2))


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
    lines += [f"**{safe(result.verdict)}**", "", *as_lines(comparison_table(result))]
    lines += [f"↓ lower is better. {safe(found_line(result))}".rstrip(), ""]
    if result.samples is not None:
        lines += [OVER, ""]
    for title, table in slice_tables(result):
        lines += [safe(title), "", *as_lines(table)]
    for title, pairs in _effects(result):
        lines += [safe(title), ""]
        for pair in pairs:
            lines.append(f"- {signed(pair.effect)} {pair.pr if _ADDRESS.fullmatch(pair.pr) else safe(pair.pr)}")
            lines += [f"  - {safe(line)}" for line in _pair_lines(pair, result, most=3)]
        lines.append("")
    return document([*lines, *(f"- {safe(warning)}" for warning in result.warnings)])


def leaderboard_section(result: Leaderboard) -> str:
    """A leaderboard for the page of a build."""
    lines = ["### Leaderboard", "", f"**{safe(result.headline)}**", "", *as_lines(leaderboard_table(result))]
    lines += [ties_remark(result), ""]
    return document([*lines, *(f"- {safe(warning)}" for warning in result.warnings)])
