"""The figures of a comment run: the answer, precision against recall, location against meaning."""

from __future__ import annotations

from collections.abc import Sequence

from metareview.comments.measures import f1, line_f1, positive_match_rate, positive_recall_rate
from metareview.comments.summary import CommentsSummary
from metareview.model.measure import Measure
from metareview.model.words import plural
from metareview.report.names import capital
from metareview.report.numbers import count, interval, p_value, ranked, rate, share
from metareview.report.page.bars import dumbbell, interval_bar, scale_end
from metareview.report.page.blocks import (
    Column,
    Section,
    behind,
    facts,
    headed,
    name,
    paragraph,
    ranked_name,
    remark,
    table,
    terms,
)
from metareview.report.page.charts import MOST_CROSSES, Point, plane
from metareview.report.page.markup import Html, html, join
from metareview.report.page.ties import ALPHA, MOST_REVIEWERS, Ties, ties
from metareview.runs.run import CommentsRun

INTERVAL_TERM = (
    "95 % interval",
    "What the figure might have been with other pull requests of the same kind: a bootstrap over pull requests.",
)
_TIES_TERM = (
    "Ties",
    "Two reviewers that share a letter cannot be told apart on F1: a paired permutation test on the pull "
    f"requests that both have, Holm's correction over all pairs, level {ALPHA:g}.",
)


def meaning(measure: Measure) -> tuple[str, str]:
    """A measure's name and definition, as a reader of the page needs them."""
    lower = " Lower is better." if measure.lower_is_better else ""
    label = measure.label if measure.label == measure.name else capital(measure.label)  # hit@5 as it is written
    return label, f"{capital(measure.definition).rstrip('.')}.{lower}"


def answer(run: CommentsRun) -> Section:
    """Who is best, by how much, and whether that could be chance."""
    summary = run.result
    names = ranked(summary.metrics, f1.name)
    tied = ties(run.read_records(), names)
    undecided = sum(block.counts.undecided for block in summary.reviewers.values())
    parts = [paragraph(_headline(summary, names, tied), css="lead")]
    if undecided:
        parts.append(
            remark(
                f"{plural(undecided, 'pair')} stayed undecided and counted as no match; the bounds show how far "
                "the figures could move."
            )
        )
    parts.append(_leaderboard(summary, names, tied))
    if len(names) > MOST_REVIEWERS:
        why = f"With more than {MOST_REVIEWERS} reviewers not every pair is tested, so there are no letters for ties."
        parts.append(paragraph(why, css="muted"))
    parts += [_key_facts(summary), terms([*map(meaning, summary.measures), INTERVAL_TERM, _TIES_TERM])]
    return Section("answer", "The answer", join(parts))


def _headline(summary: CommentsSummary, names: Sequence[str], tied: Ties | None) -> Html:
    if not names:
        return html("No reviewer has a pull request in this run.")
    best = summary.reviewers[names[0]]
    if len(names) > 1 and not best.counts.matched:
        return html("None of the {n} reviewers has a comment that matches a reference.", n=len(names))
    value = best.metrics[f1.name]
    equal = sum(summary.reviewers[other].metrics[f1.name] == value for other in names[1:])
    start = html(
        "<strong>{name}</strong> {verb} an F1 of {f1} (95 % interval {interval}): of {comments} comments {matched} "
        "match a reference, and of {expected} references {covered} were raised.",
        name=name(names[0]),
        verb="has" if len(names) == 1 else f"has, like {plural(equal, 'other')}," if equal else "leads with",
        f1=rate(value),
        interval=interval(best.intervals[f1.name]),
        comments=count(best.counts.generated),
        matched=count(best.counts.matched),
        expected=count(best.counts.expected),
        covered=count(best.counts.covered),
    )
    return join([start, _lead_over_others(names, tied)], " ")


def _lead_over_others(names: Sequence[str], tied: Ties | None) -> Html | None:
    if tied is None:
        return None
    best = names[0]
    level = [other for other in names[1:] if set(tied.letters[best]) & set(tied.letters[other])]
    p = tied.p[best, names[1]]
    if not level:
        shown = "" if p is None else f" (p {p_value(p)} against the next)"
        return html("Its lead over everybody else is larger than chance{shown}.", shown=shown)
    listed = join([name(other) for other in level[:4]], ", ")
    more = f" and {len(level) - 4} more" if len(level) > 4 else ""
    return html("The data cannot tell it from {listed}{more}.", listed=listed, more=more)


def _leaderboard(summary: CommentsSummary, names: Sequence[str], tied: Ties | None) -> Html:
    blocks = summary.reviewers
    end = scale_end(
        value for block in blocks.values() for value in (block.metrics[f1.name], *(block.intervals[f1.name] or ()))
    )
    # Line measures have a section of their own.
    others = [measure for measure in summary.measures if measure is not f1 and measure.needs != "location"]
    undecided = any(block.counts.undecided for block in blocks.values())
    columns = [Column("Reviewer", "name"), Column(f1.label, "num")]
    columns += [Column(headed(f"95 % interval of {f1.label}", end), "wide")]
    columns += [Column("Ties")] if tied else []
    columns += [Column(capital(measure.label), "num") for measure in others]
    columns += [Column("Comments", "num"), Column("Pull requests", "num")]
    columns += [Column("Undecided", "num"), Column(f"{f1.label} bounds", "num")] if undecided else []
    rows = []
    for rank, reviewer in enumerate(names, 1):
        block = blocks[reviewer]
        value = block.metrics[f1.name]
        row: list[object] = [ranked_name(rank, reviewer), rate(value)]
        row += [interval_bar(f"{reviewer}: {f1.label}", value, block.intervals[f1.name], end)]
        row += [tied.letters[reviewer]] if tied else []
        row += [rate(block.metrics[measure.name]) for measure in others]
        row += [count(block.counts.generated), count(block.prs)]
        row += [count(block.counts.undecided), interval(block.bounds[f1.name])] if undecided else []
        rows.append(row)
    return table(f"Reviewers, the best {f1.label} first", columns, rows)


def _key_facts(summary: CommentsSummary) -> Html:
    blocks, config = summary.reviewers.values(), summary.config
    near = f"within {plural(config.line_distance, 'line')}" if config.location else "any location"
    return facts(
        [
            ("Reviewers", count(len(blocks))),
            ("Pull requests", count(max((block.prs for block in blocks), default=0))),
            ("References", count(max((block.counts.expected for block in blocks), default=0))),
            ("Judge", summary.judge.name),
            ("Pairs judged", count(summary.judge.pairs)),
            ("A match needs", near),
        ]
    )


def precision_recall(summary: CommentsSummary) -> Section | None:
    """The plane: who comments little and is right, who comments much and finds more."""
    names = ranked(summary.metrics, f1.name)
    shown = (positive_match_rate, positive_recall_rate)
    points, rows = [], []
    for rank, reviewer in enumerate(names, 1):
        block = summary.reviewers[reviewer]
        (precision, up), (recall, across) = (
            (block.metrics[measure.name], block.intervals[measure.name]) for measure in shown
        )
        if precision is not None and recall is not None:
            points.append(Point(rank, recall, precision, across, up))
        figures = [rate(precision), interval(up), rate(recall), interval(across)]
        rows.append([ranked_name(rank, reviewer), *figures])
    if not points:
        return None
    columns = [Column("Reviewer", "name")]
    for measure in shown:
        columns += [Column(capital(measure.label), "num"), Column("95 %", "num")]
    text = paragraph(
        "Up is fewer wrong comments, right is more issues found; reviewers on one dashed line have the same F1. "
        "Numbers are ranks in the leaderboard"
        + (", crosses are 95 % intervals." if len(points) <= MOST_CROSSES else ".")
    )
    label = f"Precision against recall of {plural(len(points), 'reviewer')}; the table has the figures"
    items = [html("<li>{name}</li>", name=name(reviewer)) for reviewer in names]
    body = html(
        '{text}<div class="figures"><figure>{chart}</figure><div><ol>{items}</ol></div></div>{data}',
        text=text,
        chart=plane(label, points),
        items=items,
        data=behind("The figures of this chart", table("Precision and recall", columns, rows)),
    )
    return Section("plane", "Precision against recall", body)


def location_and_meaning(summary: CommentsSummary) -> Section | None:
    """Location alone against a full match: how much of the credit comes from pointing at the right lines."""
    blocks = summary.reviewers
    names = [n for n in ranked(summary.metrics, f1.name) if blocks[n].metrics[line_f1.name] is not None]
    if not names:
        return None
    end = scale_end(blocks[n].metrics[measure.name] for n in names for measure in (line_f1, f1))
    columns = [Column("Reviewer", "name"), Column(capital(line_f1.label), "num"), Column(f1.label, "num")]
    columns += [Column(headed("F1 (dot) and line F1 (ring)", end), "wide")]
    columns += [Column("Right location", "num"), Column("Right issue", "num"), Column("Kept", "num")]
    rows: list[Sequence[object]] = []
    for reviewer in names:
        block = blocks[reviewer]
        line, full = block.metrics[line_f1.name], block.metrics[f1.name]
        near, matched = block.counts.line_matched, block.counts.matched
        bar = dumbbell(f"{reviewer}: line F1 {rate(line)}, F1 {rate(full)}", line, full, end)
        rows.append([name(reviewer), rate(line), rate(full), bar, count(near), count(matched), share(matched, near)])
    text = paragraph(
        "Pointing at the right lines is easier than raising the right issue. The ring is what a reviewer gets "
        "for the location alone, the dot what is left when the judge also reads the notes."
    )
    body = join([text, table("Location alone against location and meaning", columns, rows)])
    return Section("location", "Right location, right issue", body)
