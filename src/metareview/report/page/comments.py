"""The figures of a comment run: the answer, the slices, precision against recall, place against meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from metareview.report.numbers import count, p_value, plural, ranked, rate, span
from metareview.report.page.bars import axis, dumbbell, interval_bar, scale_end
from metareview.report.page.blocks import Column, Section, behind, facts, name, paragraph, remark, table
from metareview.report.page.charts import MOST_CROSSES, Point, plane
from metareview.report.page.markup import Html, html, join
from metareview.report.page.ties import ALPHA, MOST_REVIEWERS, Ties, ties
from metareview.report.source import Run

TERMS = (
    ("Precision", "Of the reviewer's comments, the share that raise an issue of the reference set."),
    ("Recall", "Of the references, the share that the reviewer raised."),
    ("F1", "The harmonic mean of precision and recall: high only where both are."),
    ("Noise", "Of the reviewer's comments, the share that match no reference. Lower is better."),
    (
        "Rejected",
        "Of the reviewer's comments, the share that repeat what annotators rejected. Lower is better.",
    ),
    ("Line F1", "F1 where pointing at the right place is enough, whatever the comment says."),
    (
        "95 % interval",
        "What the figure might have been with other pull requests of the same kind: a bootstrap over pull requests.",
    ),
    (
        "Ties",
        "Two reviewers that share a letter cannot be told apart on F1: a paired permutation test on the pull "
        f"requests that both have, Holm's correction over all pairs, level {ALPHA:g}.",
    ),
)

Block = Mapping[str, Any]


def answer(run: Run) -> Section:
    """Who is best, by how much, and whether that could be chance."""
    blocks: Mapping[str, Block] = run.summary["reviewers"]
    names = ranked(blocks)
    found = ties(run.records(), names)
    undecided = sum(block["judge_error_nums"] for block in blocks.values())
    parts = [paragraph(_headline(blocks, names, found), css="lead")]
    if undecided:
        parts.append(
            remark(
                f"{plural(undecided, 'pair')} stayed undecided and counted as no match; the bounds say how far the "
                "figures could move."
            )
        )
    parts.append(_leaderboard(blocks, names, found))
    if len(names) > MOST_REVIEWERS:
        told = f"With more than {MOST_REVIEWERS} reviewers not every pair is tested, so there are no letters for ties."
        parts.append(paragraph(told, css="muted"))
    parts += [
        _key_facts(run, blocks),
        behind("What the figures mean", _terms()),
    ]
    return Section("answer", "The answer", join(parts))


def _headline(blocks: Mapping[str, Block], names: Sequence[str], found: Ties | None) -> Html:
    if not names:
        return html("No reviewer has a pull request in this run.")
    best = names[0]
    block = blocks[best]
    if len(names) > 1 and not block["positive_match_nums"]:
        return html("None of the {n} reviewers has a comment that matches a reference.", n=len(names))
    equal = sum(blocks[n]["metrics"]["f1"] == block["metrics"]["f1"] for n in names[1:])
    start = html(
        "<strong>{name}</strong> {verb} an F1 of {f1} (95 % interval {span}): of {comments} comments {matched} match a "
        "reference, and of {expected} references {covered} were raised.",
        name=name(best),
        verb="has" if len(names) == 1 else f"has, like {plural(equal, 'other')}," if equal else "leads with",
        f1=rate(block["metrics"]["f1"]),
        span=span(block["intervals"]["f1"]),
        comments=count(block["total_generated_nums"]),
        matched=count(block["positive_match_nums"]),
        expected=count(block["positive_expected_nums"]),
        covered=count(block["positive_covered_nums"]),
    )
    return join([start, _lead_over_others(names, found)], " ")


def _lead_over_others(names: Sequence[str], found: Ties | None) -> Html | None:
    if found is None:
        return None
    best = names[0]
    level = [other for other in names[1:] if set(found.letters[best]) & set(found.letters[other])]
    p = found.p[best, names[1]]
    if not level:
        shown = "" if p is None else f" ({p_value(p)} against the next)"
        return html("Its lead over everybody else is larger than chance{shown}.", shown=shown)
    listed = join([name(other) for other in level[:4]], ", ")
    more = f" and {len(level) - 4} more" if len(level) > 4 else ""
    return html("The data cannot tell it from {listed}{more}.", listed=listed, more=more)


def _leaderboard(blocks: Mapping[str, Block], names: Sequence[str], found: Ties | None) -> Html:
    end = scale_end(
        value for n in names for value in (blocks[n]["metrics"]["f1"], *(blocks[n]["intervals"]["f1"] or ()))
    )
    rejected = any(block["metrics"]["false_positive_rate"] is not None for block in blocks.values())
    undecided = any(block["judge_error_nums"] for block in blocks.values())
    columns = [
        Column("Reviewer", "name"),
        Column("F1", "num"),
        Column(_headed("95 % interval of F1", end), "wide"),
    ]
    columns += [Column("Ties")] if found else []
    columns += [Column(title, "num") for title in ("Precision", "Recall", "Noise")]
    columns += [Column("Rejected", "num")] if rejected else []
    columns += [Column("Comments", "num"), Column("Pull requests", "num")]
    columns += [Column("Undecided", "num"), Column("F1 bounds", "num")] if undecided else []
    rows = []
    for rank, reviewer in enumerate(names, 1):
        block = blocks[reviewer]
        metrics, interval = block["metrics"], block["intervals"]["f1"]
        row: list[object] = [
            html("{rank}.\u00a0{name}", rank=rank, name=name(reviewer)),
            rate(metrics["f1"]),
            interval_bar(f"{reviewer}: F1", metrics["f1"], interval, end),
        ]
        row += [found.letters[reviewer]] if found else []
        row += [rate(metrics[m]) for m in ("positive_match_rate", "positive_recall_rate", "unmatched_rate")]
        row += [rate(metrics["false_positive_rate"])] if rejected else []
        row += [count(block["total_generated_nums"]), count(block["prs"])]
        row += [count(block["judge_error_nums"]), span(block["bounds"]["f1"])] if undecided else []
        rows.append(row)
    return table("Reviewers, the best F1 first", columns, rows)


def _headed(title: str, end: float) -> Html:
    return html("{title}{axis}", title=title, axis=axis(end))


def _key_facts(run: Run, blocks: Mapping[str, Block]) -> Html:
    judge, config = run.summary["judge"], run.summary["config"]
    place = f"within {plural(config['line_distance'], 'line')}" if config.get("place") else "place not asked"
    return facts(
        [
            ("Reviewers", count(len(blocks))),
            ("Pull requests", count(max((block["prs"] for block in blocks.values()), default=0))),
            ("References", count(max((b["positive_expected_nums"] for b in blocks.values()), default=0))),
            ("Judge", judge["name"]),
            ("Pairs judged", count(judge["pairs"])),
            ("A match needs", place),
        ]
    )


def _terms() -> Html:
    items = [html("<dt>{term}</dt><dd>{text}</dd>", term=term, text=text) for term, text in TERMS]
    return html('<dl class="terms">{items}</dl>', items=items)


def precision_recall(run: Run) -> Section | None:
    """The plane: who says little and is right, who says much and finds more."""
    blocks: Mapping[str, Block] = run.summary["reviewers"]
    points, rows = [], []
    for rank, reviewer in enumerate(ranked(blocks), 1):
        metrics, intervals = blocks[reviewer]["metrics"], blocks[reviewer]["intervals"]
        precision, recall = metrics["positive_match_rate"], metrics["positive_recall_rate"]
        if precision is not None and recall is not None:
            ends = intervals["positive_recall_rate"], intervals["positive_match_rate"]
            points.append(Point(rank, recall, precision, *ends))
        shown = [rate(precision), span(intervals["positive_match_rate"])]
        shown += [rate(recall), span(intervals["positive_recall_rate"])]
        rows.append([html("{rank}.\u00a0{name}", rank=rank, name=name(reviewer)), *shown])
    if not points:
        return None
    columns = [Column("Reviewer", "name")]
    columns += [Column(c, "num") for c in ("Precision", "95 %", "Recall", "95 %")]
    text = paragraph(
        "Up is fewer wrong comments, right is more issues found; reviewers on one dashed line have the same F1. "
        "Numbers are places in the leaderboard"
        + (", crosses are 95 % intervals." if len(points) <= MOST_CROSSES else ".")
    )
    label = f"Precision against recall of {plural(len(points), 'reviewer')}; the table has the figures"
    body = html(
        '{text}<div class="figures"><figure>{chart}</figure><div>{names}</div></div>{data}',
        text=text,
        chart=plane(label, points),
        names=_numbered(ranked(blocks)),
        data=behind("The figures of this chart", table("Precision and recall", columns, rows)),
    )
    return Section("plane", "Precision against recall", body)


def _numbered(names: Sequence[str]) -> Html:
    items = [html("<li>{name}</li>", name=name(reviewer)) for reviewer in names]
    return html("<ol>{items}</ol>", items=items)


def place_and_meaning(run: Run) -> Section | None:
    """Location only against full match: how much of the credit comes from pointing at the right lines."""
    blocks: Mapping[str, Block] = run.summary["reviewers"]
    names = [n for n in ranked(blocks) if blocks[n]["metrics"]["line_f1"] is not None]
    if not names:
        return None
    end = scale_end(
        value for n in names for value in (blocks[n]["metrics"]["line_f1"], blocks[n]["metrics"]["f1"])
    )
    columns = [Column("Reviewer", "name"), Column("Line F1", "num"), Column("F1", "num")]
    columns += [Column(_headed("F1 (dot) and line F1 (ring)", end), "wide")]
    columns += [Column("Right place", "num"), Column("Right issue", "num"), Column("Kept", "num")]
    rows = list(_place_rows(blocks, names, end))
    body = join(
        [
            paragraph(
                "Pointing at the right lines is easier than raising the right issue. The ring is what a reviewer gets "
                "for place alone, the dot what is left when the judge also reads what was said."
            ),
            table("Place alone against place and meaning", columns, rows),
        ]
    )
    return Section("place", "Right place, right issue", body)


def _place_rows(blocks: Mapping[str, Block], names: Sequence[str], end: float) -> Iterator[Sequence[object]]:
    for reviewer in names:
        block = blocks[reviewer]
        line, full = block["metrics"]["line_f1"], block["metrics"]["f1"]
        near, matched = block["positive_line_match_nums"], block["positive_match_nums"]
        label = f"{reviewer}: line F1 {rate(line)}, F1 {rate(full)}"
        kept = f"{matched / near:.0%}" if near else "n/a"
        bar = dumbbell(label, line, full, end)
        yield [name(reviewer), rate(line), rate(full), bar, count(near), count(matched), kept]
