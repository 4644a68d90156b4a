"""Comparisons and leaderboards as files: Markdown, CSV, LaTeX, one HTML page, JSON."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path

from metareview import __version__
from metareview.comparison.standings import Leaderboard
from metareview.comparison.verdict import Comparison, MetricDifference
from metareview.report import TABLE_FORMATS, check_path, json_text, write_file
from metareview.report.build_gates import loss_gates_table
from metareview.report.comparison import (
    comparison_lines,
    comparison_section,
    comparison_table,
    costs_of_standings,
    leaderboard_section,
    leaderboard_table,
    slice_tables,
    ties_remark,
)
from metareview.report.costs import cost_properties
from metareview.report.csv_table import cell
from metareview.report.names import capital, clean
from metareview.report.outcomes import IN_BRACKETS
from metareview.report.page.blocks import Section
from metareview.report.page.blocks import table as page_table
from metareview.report.page.markup import Html, html, join
from metareview.report.tables import Table, costs_table, rows

Result = Comparison | Leaderboard
_TEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "↓": r"$\downarrow$",
    "–": "--",
    **{each: f"\\{each}" for each in "&%$#_{}"},
}
_TEX_ACTIVE = re.compile("|".join(map(re.escape, _TEX)))


def write_table(result: Result, path: str | Path) -> Path:
    """Write the comparison or leaderboard as the suffix asks, whole or not at all."""
    target = check_path(path, TABLE_FORMATS)
    writers: Mapping[str, Callable[[Result], str]] = {
        ".md": _as_markdown,
        ".csv": _as_csv,
        ".tex": _as_tex,
        ".html": _as_page,
        ".json": lambda result: json_text(result.to_dict()) + "\n",
    }
    return write_file(target, writers[target.suffix.lower()](result))


def _as_markdown(result: Result) -> str:
    return comparison_section(result) if isinstance(result, Comparison) else leaderboard_section(result)


def _as_csv(result: Result) -> str:
    """Numbers are numbers with all their digits, null is an empty cell, and no text can be taken for a formula."""
    lines = list(_metric_rows(result) if isinstance(result, Comparison) else _standing_rows(result))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    columns = list(dict.fromkeys(name for line in lines for name in line))
    writer.writerow([cell(column) for column in columns])
    writer.writerows([cell(line.get(column)) for column in columns] for line in lines)
    return out.getvalue()


def _metric_rows(result: Comparison) -> Iterator[dict[str, object]]:
    """One row per metric, then of outcomes one per kind of comment that was asked for."""
    samples = result.samples
    for name, metric in result.metrics.items():
        yield _metric_row(result, metric, None, None, samples.known[name] if samples else None)
    for kind, costs in result.costs.items():
        for per, figure in (("pr", costs.per_pr), ("valid_finding", costs.per_valid_finding)):
            low, high = figure.interval or (None, None)
            head = {"metric": f"{kind}_per_{per}", "reviewer_a": result.a.label, "reviewer_b": result.b.label}
            yield {**head, "a": figure.a, "b": figure.b, "diff": figure.diff, "low": low, "high": high}
    for dimension, values in (samples.slices if samples else {}).items():
        for value, each in values.items():
            yield _metric_row(result, each.metric, dimension, value, each.known)


def _metric_row(
    result: Comparison,
    metric: MetricDifference,
    dimension: str | None,
    value: str | None,
    known: tuple[int, int] | None,
) -> dict[str, object]:
    low, high = metric.interval or (None, None)
    row: dict[str, object] = {"metric": metric.measure.name}
    if known is not None:
        row |= {"by": dimension, "value": value}
    row |= {"reviewer_a": result.a.label, "reviewer_b": result.b.label, "a": metric.a, "b": metric.b}
    if known is not None:
        row |= {"known_a": known[0], "known_b": known[1]}
    row |= {"diff": metric.diff, "low": low, "high": high, "p": metric.p, "p_holm": metric.p_holm}
    return row | _by_labels(result) | ({"mixed_examples": True} if result.mixed_examples else {})


def _by_labels(result: Result) -> dict[str, object]:
    """That labels correct what they can of a row's figures."""
    return {"corrected": True} if result.labelled else {}


def _standing_rows(result: Leaderboard) -> Iterator[dict[str, object]]:
    for row in (*result.rows, *result.unranked):
        low, high = row.figures.intervals[result.sort.name] or (None, None)
        head = {"rank": row.rank, "name": row.label, "run": row.run, "prs": row.prs, "ties": row.ties}
        costs = cost_properties(row.figures.costs)
        known = {f"{name}_known": number for name, number in row.figures.known.items()}
        mixed = {"mixed_examples": True} if result.mixed_examples else {}
        over = row.prs if row.rank is None or not result.paired else result.prs
        of_own = {"over_prs": over, f"own_{result.sort.name}": row.own.metrics[result.sort.name]}
        figures = {**row.figures.metrics, **of_own, **known, **costs, **_by_labels(result)}
        yield {**head, "sort": result.sort.name, "low": low, "high": high, **figures, **mixed}


def _as_tex(result: Result) -> str:
    """A table for a paper, by `booktabs`; what it rests on stands in comments above it."""
    told = result.verdict if isinstance(result, Comparison) else f"{result.headline} {ties_remark(result)}"
    lines = [f"% {_one_line(told)}", r"% needs \usepackage{booktabs}"]
    for table in _tables(result):
        kinds = "".join("l" if column.text else "r" for column in table)
        lines += [rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", _tex_row(column.head for column in table), r"\midrule"]
        lines += [*map(_tex_row, rows(table)), r"\bottomrule", r"\end{tabular}", ""]
    return "\n".join(lines)


def _tex_row(cells: Iterable[str]) -> str:
    return " & ".join(_TEX_ACTIVE.sub(lambda found: _TEX[found[0]], _one_line(each)) for each in cells) + r" \\"


def _one_line(text: str) -> str:
    return " ".join(clean(text).split())


def _tables(result: Result) -> list[Table]:
    if isinstance(result, Comparison):
        return [comparison_table(result), *(table for _, table in slice_tables(result))]
    costs = costs_table(costs_of_standings(result))
    return [leaderboard_table(result), *([costs] if costs else [])]


def _as_page(result: Result) -> str:
    """One HTML file: no script, no network, nothing but what is in the file."""
    if isinstance(result, Comparison):
        title = f"{result.b.label} against {result.a.label}"
        caption = "Every measure of both, and the difference; ↓ lower is better"
        lines = [line for line in comparison_lines(result) if line and line != result.verdict]
        remark, lead = (IN_BRACKETS if result.samples else ""), result.verdict
        more = [(text.rstrip(":"), table) for text, table in slice_tables(result)]
        table = comparison_table(result)
    else:
        title, caption, lead, remark = "Leaderboard", "Everybody, the best first", result.headline, ties_remark(result)
        costs = costs_table(costs_of_standings(result))
        lines, more, table = [], [("What the reviews took", costs)] if costs else [], leaderboard_table(result)
    answer = [html("<p>{}</p>\n", lead), _html_table(caption, table), html("<p>{}</p>\n", remark)]
    answer += [html("<p>{}</p>\n", f"Warning: {warning}") for warning in result.warnings]
    sections = [Section("answer", "The answer", join(answer))]
    sections += [
        Section(f"by-{number}", text, _html_table("The kinds with the most comments first", of_kind))
        for number, (text, of_kind) in enumerate(more, 1)
    ]
    if isinstance(result, Comparison) and result.gates:
        sections.append(
            Section("gates", "Gates", _html_table("Metrics that must not be worse", loss_gates_table(result)))
        )
    if lines:
        sections.append(Section("why", "What made the difference", join([html("<p>{}</p>\n", line) for line in lines])))
    folder = files("metareview.report.page")
    style = (folder / "style.css").read_text("utf-8")
    return html(
        (folder / "page.html").read_text("utf-8"),
        style=Html(style),  # ours and no data; the content security policy names its hash
        style_hash=b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        version=__version__,
        title=title,
        subtitle="",
        contents=[html('<li><a href="#{}">{}</a></li>', section.id, section.title) for section in sections],
        sections=[section.markup() for section in sections],
        footer=f"Made by metareview {__version__} from the runs’ files; no judge was asked again.",
    )


def _html_table(caption: str, table: Table) -> Html:
    columns = [
        (column.head if column.from_data or column.head in ("p", "p (Holm)") else capital(column.head),
         "name" if column.text else "num")
        for column in table
    ]  # fmt: skip
    return page_table(caption, columns, rows(table))
