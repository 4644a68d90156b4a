"""The figures of a comment run: the answer, precision against recall, location against meaning."""

from __future__ import annotations

from metareview.comments.measures import f1, line_f1, positive_match_rate, positive_recall_rate
from metareview.comments.summary import CommentsSummary
from metareview.comparison.leaderboard import leaderboard
from metareview.comparison.standings import MIN_COVERAGE, TIES_AT, Leaderboard
from metareview.model.measure import Measure
from metareview.model.words import plural
from metareview.report.costs import MEANING as COSTS
from metareview.report.costs import cost_columns
from metareview.report.headline import headline, order
from metareview.report.names import capital
from metareview.report.numbers import between_runs, count, interval, of_all, rate, share
from metareview.report.page import blocks
from metareview.report.page.blocks import Section, name, paragraph, ranked_names, table_of
from metareview.report.page.charts import dumbbell, headed, interval_bar
from metareview.report.page.markup import Html, html, join
from metareview.report.page.plane import MOST_CROSSES, MOST_MARKS, Point, plane
from metareview.report.repeats import REMARK, repeats_table, summary_interval_lines
from metareview.report.tables import costs_of_reviewers, costs_table, definition, ranking_columns
from metareview.runs.run import CommentsRun

INTERVAL_TERM = ("95 % interval", "What the figure might have been with other pull requests of the same kind.")
_TERMS = (
    INTERVAL_TERM,
    (
        "Pull requests",
        "How many of the pull requests of the reference set the reviewer has. Ranked are those with at least "
        f"{MIN_COVERAGE:.0%} of the pull requests that anybody has, on those that all of them have.",
    ),
    (
        "Ties",
        "Two reviewers that share a letter cannot be told apart on F1: a paired test over all pairs at once, at "
        f"{TIES_AT:g}, or too few matches to be tested.",
    ),
)
_REPEATED = (
    "Repeated",
    "Of the comments, the share that match no reference and say again what the reviewer said before on the same pull "
    "request: a part of the noise, on its own pull requests. Lower is better.",
)
_BY_LABELS = "Ranks and ties go by the corrected figures; all other columns and charts are as judged."


def meaning(measure: Measure) -> tuple[str, str]:
    """A measure's name and definition, as a reader of the page needs them."""
    written = measure.label.casefold() == measure.name  # hit@5 and nDCG@5 as they are
    label = measure.label if written else capital(measure.label)
    return label, definition(measure)


def answer(run: CommentsRun, corrected: str = "") -> Section:
    """Who is best, by how much, whether that could be chance, and what to know before believing it.

    `corrected`: what labels make of the F1 of a lone reviewer.
    """
    summary = run.result
    board = leaderboard([run]) if summary.reviewers else None
    parts = [paragraph(headline(run, board), css="lead"), paragraph(corrected, css="lead") if corrected else None]
    parts.append(blocks.warnings(summary.warnings))
    if undecided := sum(block.counts.undecided for block in summary.reviewers.values()):
        no_match = "stayed undecided and counted as no match; the bounds show how far the figures could move."
        parts.append(blocks.remark(f"{plural(undecided, 'pair')} {no_match}"))
    if board is not None:
        parts.append(_leaderboard(summary, board))
        parts.append(_costs(summary))
        if board.labelled:
            parts.append(paragraph(_BY_LABELS, css="muted"))
    repeated = [_REPEATED] if any(block.repeated for block in summary.reviewers.values()) else []
    costs = [COSTS] if any(block.costs for block in summary.reviewers.values()) else []
    parts += [_key_facts(summary), blocks.terms([*map(meaning, summary.measures), *repeated, *costs, *_TERMS])]
    return Section("answer", "The answer", join(parts))


def _leaderboard(summary: CommentsSummary, board: Leaderboard) -> Html:
    """Everybody's figures, each on its own pull requests; what ranks them beside, where that is another figure."""
    rows = [*board.rows, *board.unranked]
    of_run = [summary.reviewers[row.name] for row in rows]
    bars = [
        interval_bar(f"{row.label}: {f1.label}", block.metrics[f1.name], block.intervals[f1.name])
        for row, block in zip(rows, of_run, strict=True)
    ]
    unranked = [html("–\u00a0{}", name(row.label)) for row in board.unranked]
    columns: list[blocks.Cells] = [
        ("Reviewer", "name", [*ranked_names(row.label for row in board.rows), *unranked]),
        ("Pull requests", "num", [of_all(row.prs, row.of) for row in rows]),
        (f1.label, "num", [rate(block.metrics[f1.name]) for block in of_run]),
        (headed(f"95 % interval of {f1.label}"), "wide", bars),
    ]
    if any(row.repeats for row in rows):
        columns += [("Between runs", "num", [between_runs(row.repeats, f1.name) for row in rows])]
    columns += [(capital(column.head), "num", column.cells) for column in ranking_columns(board)]
    columns += [("Ties", "", [row.ties or "–" for row in rows])] if len(board.rows) > 1 else []
    columns += [(capital(head), "num", cells) for head, cells in cost_columns([each.costs for each in of_run], 2)]
    for measure in summary.measures:
        if measure.name != f1.name and measure.needs != "location":  # line measures have a section of their own
            columns.append((capital(measure.label), "num", [rate(block.metrics[measure.name]) for block in of_run]))
    if any(block.repeated for block in of_run):
        columns += [("Repeated", "num", [rate(block.repeated_rate) for block in of_run])]
    columns += [("Comments", "num", [count(block.counts.generated) for block in of_run])]
    if any(block.counts.undecided for block in of_run):
        columns += [("Undecided", "num", [count(block.counts.undecided) for block in of_run])]
        columns += [(f"{f1.label} bounds", "num", [interval(block.bounds[f1.name]) for block in of_run])]
    few = "; after a dash those that are not ranked" if unranked else ""
    return table_of(f"Reviewers, the best {board.sort.label}{board.scope} first{few}", columns)


def repeats_section(summary: CommentsSummary) -> Section | None:
    """How far the repeated runs of each reviewer differ; None where nothing is repeated."""
    names = order(summary).names
    table, intervals = repeats_table(summary, names), summary_interval_lines(summary, names)
    if not intervals:
        return None
    body = [paragraph(line) for line in intervals]
    if table:
        columns: list[blocks.Cells] = [
            (capital(column.head), "words" if column.text else "num", map(name, column.cells)) for column in table[:-1]
        ]
        columns.append((capital(table[-1].head), "words wide", table[-1].cells))
        body += [paragraph(REMARK), table_of("Repeated runs of one reviewer", columns)]
    return Section("runs", "Between runs", join(body))


def _costs(summary: CommentsSummary) -> Html | None:
    """What reviews took, of every kind and with intervals."""
    columns = costs_table(costs_of_reviewers(summary))
    if not columns:
        return None
    cells: list[blocks.Cells] = [
        (capital(column.head), "words" if column.text else "num", column.cells) for column in columns[1:]
    ]
    return table_of("What the reviews took", [("Reviewer", "name", map(name, columns[0].cells)), *cells])


def _key_facts(summary: CommentsSummary) -> Html:
    reviewers, config = summary.reviewers.values(), summary.config
    return blocks.facts(
        ("Reviewers", count(len(reviewers))),
        ("Pull requests", of_all(summary.prs, summary.prs_with_references)),
        ("References", count(max((block.counts.expected for block in reviewers), default=0))),
        ("Judge", summary.judge.name),
        ("Pairs judged", count(summary.judge.pairs)),
        ("A match needs", f"within {plural(config.line_distance, 'line')}" if config.location else "any location"),
    )


def precision_recall(summary: CommentsSummary) -> Section | None:
    """The plane: who comments little and is right, who comments much and finds more."""
    names = order(summary).names
    rows = [summary.reviewers[each] for each in names]
    points = []
    for each, row in zip(names, rows, strict=True):
        precision, recall = row.metrics[positive_match_rate.name], row.metrics[positive_recall_rate.name]
        if precision is not None and recall is not None:
            across, up = row.intervals[positive_recall_rate.name], row.intervals[positive_match_rate.name]
            points.append(Point(each, recall, precision, across, up))
    if not points:
        return None
    columns: list[blocks.Cells] = [("Reviewer", "name", map(name, names))]
    columns += [("Pull requests", "num", [of_all(row.prs, row.prs_with_references) for row in rows])]
    for measure in (positive_match_rate, positive_recall_rate):
        columns += [(capital(measure.label), "num", [rate(row.metrics[measure.name]) for row in rows])]
        columns += [("95 % interval", "num", [interval(row.intervals[measure.name]) for row in rows])]
    crosses = " Crosses are 95 % intervals." if len(points) <= MOST_CROSSES else ""
    some = f" The first {MOST_MARKS} of {len(points)} are drawn." if len(points) > MOST_MARKS else ""
    text = paragraph(
        "Up is fewer wrong comments, right is more issues found; reviewers on one dashed line have the same F1."
        f"{crosses}{some}"
    )
    label = f"Precision against recall of {plural(len(points), 'reviewer')}; the table has the figures"
    data = blocks.behind("The figures of this chart", table_of("Precision and recall", columns))
    return Section("plane", "Precision against recall", join([text, plane(label, points), data]))


def location_and_meaning(summary: CommentsSummary) -> Section | None:
    """Location alone against a full match: how much of the credit comes from pointing at the right lines."""
    reviewers = summary.reviewers
    names = [n for n in order(summary).names if reviewers[n].metrics[line_f1.name] is not None]
    if not names:
        return None
    columns = [("Reviewer", "name"), *blocks.numeric(capital(line_f1.label), f1.label)]
    columns += [(headed("F1 (dot) and line F1 (ring)"), "wide")]
    columns += blocks.numeric("Right location", "Right issue", "Kept")
    rows = []
    for reviewer in names:
        row = reviewers[reviewer]
        line, full = row.metrics[line_f1.name], row.metrics[f1.name]
        near, matched = row.counts.line_matched, row.counts.matched
        bar = dumbbell(f"{reviewer}: line F1 {rate(line)}, F1 {rate(full)}", line, full)
        rows.append([name(reviewer), rate(line), rate(full), bar, count(near), count(matched), share(matched, near)])
    text = paragraph(
        "Pointing at the right lines is easier than raising the right issue. The ring is what a reviewer gets "
        "for the location alone, the dot what is left when the judge also reads the notes."
    )
    body = join([text, blocks.table("Location alone against location and meaning", columns, rows)])
    return Section("location", "Right location, right issue", body)
