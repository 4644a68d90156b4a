"""The figures of a comment run: the answer, precision against recall, location against meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metareview.comments.measures import f1, line_f1, positive_match_rate, positive_recall_rate
from metareview.comments.summary import CommentsSummary
from metareview.comparison.leaderboard import leaderboard
from metareview.model.measure import Measure
from metareview.model.words import plural
from metareview.report.names import capital
from metareview.report.numbers import count, interval, p_value, ranked, rate, share
from metareview.report.page import blocks
from metareview.report.page.blocks import Section, name, paragraph, ranked_names, table_of
from metareview.report.page.charts import MOST_CROSSES, Point, dumbbell, headed, interval_bar, plane, scale_end
from metareview.report.page.markup import Html, html, join
from metareview.report.tables import definition
from metareview.runs.run import CommentsRun

ALPHA = 0.05
MOST_REVIEWERS = 20
"""Beyond this there are too many pairs for a test of each to be worth much, and to wait for."""
INTERVAL_TERM = (
    "95 % interval",
    "What the figure might have been with other pull requests of the same kind: a bootstrap over pull requests.",
)
_TIES_TERM = (
    "Ties",
    "Two reviewers that share a letter cannot be told apart on F1: a paired permutation test on the pull "
    f"requests that both have, Holm's correction over all pairs, level {ALPHA:g}.",
)
_LEADER = (
    "<strong>{}</strong> {} an F1 of {} (95 % interval {}): of {} comments {} match a reference, "
    "and of {} references {} were raised."
)


@dataclass(frozen=True)
class Ties:
    """`letters`: two reviewers that share one cannot be told apart; `p`: Holm's p value of each pair."""

    letters: Mapping[str, str]
    p: Mapping[tuple[str, str], float | None]


def ties(run: CommentsRun) -> Ties | None:
    """Each pair of ranked reviewers tested on the pull requests that all of them have; None without a pair."""
    board = leaderboard([run])
    if len(board.rows) < 2:
        return None
    letters = {row.label: row.ties for row in (*board.rows, *board.unranked)}
    return Ties(letters, {pair: test.p_family for pair, test in board.pairs.items()})


def meaning(measure: Measure) -> tuple[str, str]:
    """A measure's name and definition, as a reader of the page needs them."""
    label = measure.label if measure.label == measure.name else capital(measure.label)  # hit@5 as it is written
    return label, definition(measure)


def answer(run: CommentsRun) -> Section:
    """Who is best, by how much, and whether that could be chance."""
    summary = run.result
    names = ranked(summary.metrics, f1.name)
    tied = ties(run)
    parts = [paragraph(_headline(summary, names, tied), css="lead")]
    if undecided := sum(block.counts.undecided for block in summary.reviewers.values()):
        no_match = "stayed undecided and counted as no match; the bounds show how far the figures could move."
        parts.append(blocks.remark(f"{plural(undecided, 'pair')} {no_match}"))
    parts.append(_leaderboard(summary, names, tied))
    if len(names) > MOST_REVIEWERS:
        why = f"With more than {MOST_REVIEWERS} reviewers not every pair is tested, so there are no letters for ties."
        parts.append(paragraph(why, css="muted"))
    parts += [_key_facts(summary), blocks.terms([*map(meaning, summary.measures), INTERVAL_TERM, _TIES_TERM])]
    return Section("answer", "The answer", join(parts))


def _headline(summary: CommentsSummary, names: Sequence[str], tied: Ties | None) -> Html:
    if not names:
        return html("No reviewer has a pull request in this run.")
    best = summary.reviewers[names[0]]
    counts, value = best.counts, best.metrics[f1.name]
    if len(names) > 1 and not counts.matched:
        return html("None of the {} reviewers has a comment that matches a reference.", len(names))
    equal = sum(summary.reviewers[other].metrics[f1.name] == value for other in names[1:])
    verb = "has" if len(names) == 1 else f"has, like {plural(equal, 'other')}," if equal else "leads with"
    shown = map(count, (counts.generated, counts.matched, counts.expected, counts.covered))
    start = html(_LEADER, name(names[0]), verb, rate(value), interval(best.intervals[f1.name]), *shown)
    return join([start, _lead_over_others(names, tied)], " ")


def _lead_over_others(names: Sequence[str], tied: Ties | None) -> Html | None:
    if tied is None:
        return None
    best, second, *_ = names
    level = [other for other in names[1:] if set(tied.letters[best]) & set(tied.letters[other])]
    if not level:
        p = tied.p[best, second]
        against = "" if p is None else f" (p {p_value(p)} against the next)"
        return html("Its lead over everybody else is larger than chance{}.", against)
    more = f" and {len(level) - 4} more" if len(level) > 4 else ""
    return html("The data cannot tell it from {}{}.", join(map(name, level[:4]), ", "), more)


def _leaderboard(summary: CommentsSummary, names: Sequence[str], tied: Ties | None) -> Html:
    rows = [summary.reviewers[each] for each in names]
    f1s = [(row.metrics[f1.name], row.intervals[f1.name]) for row in rows]
    end = scale_end(figure for value, ends in f1s for figure in (value, *(ends or ())))
    bars = [interval_bar(f"{each}: {f1.label}", *of_one, end) for each, of_one in zip(names, f1s, strict=True)]
    columns: list[blocks.Cells] = [
        ("Reviewer", "name", ranked_names(names)),
        (f1.label, "num", [rate(value) for value, _ in f1s]),
        (headed(f"95 % interval of {f1.label}", end), "wide", bars),
    ]
    columns += [("Ties", "", [tied.letters[each] for each in names])] if tied else []
    for measure in summary.measures:
        if measure.name != f1.name and measure.needs != "location":  # line measures have a section of their own
            columns.append((capital(measure.label), "num", [rate(row.metrics[measure.name]) for row in rows]))
    columns += [("Comments", "num", [count(row.counts.generated) for row in rows])]
    columns += [("Pull requests", "num", [count(row.prs) for row in rows])]
    if any(row.counts.undecided for row in rows):
        columns += [("Undecided", "num", [count(row.counts.undecided) for row in rows])]
        columns += [(f"{f1.label} bounds", "num", [interval(row.bounds[f1.name]) for row in rows])]
    return table_of(f"Reviewers, the best {f1.label} first", columns)


def _key_facts(summary: CommentsSummary) -> Html:
    reviewers, config = summary.reviewers.values(), summary.config
    return blocks.facts(
        ("Reviewers", count(len(reviewers))),
        ("Pull requests", count(max((block.prs for block in reviewers), default=0))),
        ("References", count(max((block.counts.expected for block in reviewers), default=0))),
        ("Judge", summary.judge.name),
        ("Pairs judged", count(summary.judge.pairs)),
        ("A match needs", f"within {plural(config.line_distance, 'line')}" if config.location else "any location"),
    )


def precision_recall(summary: CommentsSummary) -> Section | None:
    """The plane: who comments little and is right, who comments much and finds more."""
    names = ranked(summary.metrics, f1.name)
    rows = [summary.reviewers[each] for each in names]
    points = []
    for rank, row in enumerate(rows, 1):
        precision, recall = row.metrics[positive_match_rate.name], row.metrics[positive_recall_rate.name]
        if precision is not None and recall is not None:
            across, up = row.intervals[positive_recall_rate.name], row.intervals[positive_match_rate.name]
            points.append(Point(rank, recall, precision, across, up))
    if not points:
        return None
    columns: list[blocks.Cells] = [("Reviewer", "name", ranked_names(names))]
    for measure in (positive_match_rate, positive_recall_rate):
        columns += [(capital(measure.label), "num", [rate(row.metrics[measure.name]) for row in rows])]
        columns += [("95 %", "num", [interval(row.intervals[measure.name]) for row in rows])]
    text = paragraph(
        "Up is fewer wrong comments, right is more issues found; reviewers on one dashed line have the same F1. "
        "Numbers are ranks in the leaderboard"
        + (", crosses are 95 % intervals." if len(points) <= MOST_CROSSES else ".")
    )
    label = f"Precision against recall of {plural(len(points), 'reviewer')}; the table has the figures"
    items = [html("<li>{}</li>", name(reviewer)) for reviewer in names]
    figures = html('<div class="figures"><figure>{}</figure><div><ol>{}</ol></div></div>', plane(label, points), items)
    data = blocks.behind("The figures of this chart", table_of("Precision and recall", columns))
    return Section("plane", "Precision against recall", join([text, figures, data]))


def location_and_meaning(summary: CommentsSummary) -> Section | None:
    """Location alone against a full match: how much of the credit comes from pointing at the right lines."""
    reviewers = summary.reviewers
    names = [n for n in ranked(summary.metrics, f1.name) if reviewers[n].metrics[line_f1.name] is not None]
    if not names:
        return None
    end = scale_end(reviewers[n].metrics[measure.name] for n in names for measure in (line_f1, f1))
    columns = [("Reviewer", "name"), *blocks.numeric(capital(line_f1.label), f1.label)]
    columns += [(headed("F1 (dot) and line F1 (ring)", end), "wide")]
    columns += blocks.numeric("Right location", "Right issue", "Kept")
    rows = []
    for reviewer in names:
        row = reviewers[reviewer]
        line, full = row.metrics[line_f1.name], row.metrics[f1.name]
        near, matched = row.counts.line_matched, row.counts.matched
        bar = dumbbell(f"{reviewer}: line F1 {rate(line)}, F1 {rate(full)}", line, full, end)
        rows.append([name(reviewer), rate(line), rate(full), bar, count(near), count(matched), share(matched, near)])
    text = paragraph(
        "Pointing at the right lines is easier than raising the right issue. The ring is what a reviewer gets "
        "for the location alone, the dot what is left when the judge also reads the notes."
    )
    body = join([text, blocks.table("Location alone against location and meaning", columns, rows)])
    return Section("location", "Right location, right issue", body)
