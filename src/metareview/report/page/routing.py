"""The HTML report of a routing run: who finds the right reviewer, and at which rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from metareview.model.words import plural
from metareview.report.names import in_words
from metareview.report.numbers import count, interval, ranked, rate
from metareview.report.page import blocks, routing_flow
from metareview.report.page.blocks import Section, behind, name, paragraph, table_of
from metareview.report.page.charts import histogram, interval_bar, scale_end
from metareview.report.page.comments import INTERVAL_TERM, meaning
from metareview.report.page.evidence import settings_table
from metareview.report.page.markup import Html, html, join
from metareview.routing.summary import RoutingSummary
from metareview.runs.run import RoutingRun

MOST_RANK = 10
"""Ranks that have their own bar; later ones share one."""
MOST_LISTED = 1_000
"""Pull requests in the last table."""
_CANDIDATES = 3
_TERMS = (
    (
        "Truth",
        "Who really responded after the cutoff. A pull request without a truth counts as a miss in the main figures; "
        "“observed only” leaves it out.",
    ),
    INTERVAL_TERM,
    ("Gini", "How unevenly first recommendations are spread over people: 0 evenly, 1 all on one."),
)


def sections(run: RoutingRun) -> list[Section | None]:
    """In the order of the page."""
    return [
        _answer(run.result),
        _ranks(run),
        routing_flow.queue(run.result),
        routing_flow.declarations(run.result),
        routing_flow.load(run),
        _left_out(run),
        _pull_requests(run),
    ]


def _answer(summary: RoutingSummary) -> Section:
    names = ranked(summary.metrics, "mrr")
    routers = {router: summary.routers[router] for router in names}
    measures = sorted(summary.measures, key=lambda measure: measure.name != "mrr")  # MRR, then hit@k by rising k
    figures = {
        measure: [(block.metrics[measure.name], block.intervals.get(measure.name)) for block in routers.values()]
        for measure in measures
    }
    # One scale for all columns, so that a longer bar is a higher figure in any of them.
    end = scale_end(each for column in figures.values() for value, ends in column for each in (value, *(ends or ())))
    columns: list[blocks.Cells] = [("Router", "name", blocks.ranked_names(names))]
    observed: list[blocks.Cells] = [("Router", "name", map(name, names))]
    observed += [("Pull requests", "num", [count(block.observed_prs) for block in routers.values()])]
    for measure, column in figures.items():
        cells = [
            _bar_cell(f"{router}: {measure.label}", *of_one, end) for router, of_one in zip(names, column, strict=True)
        ]
        columns.append((blocks.headed(measure.label, end), "bar", cells))
        among = [rate(block.observed_metrics[measure.name]) for block in routers.values()]
        observed.append((measure.label, "num", among))
    parts = [
        paragraph(_headline(summary, names), css="lead") if names else None,
        table_of("Routers, the best MRR first; bars are 95 % intervals", columns),
        blocks.facts(
            ("Pull requests", count(summary.prs)),
            ("With a truth", count(summary.truth.observed)),
            ("Nobody responded", count(summary.truth.no_response)),
            ("Not known yet", count(summary.truth.unknown)),
        ),
        behind(
            "The same over pull requests with a truth only", table_of("Over pull requests with a truth only", observed)
        ),
        blocks.terms([*map(meaning, measures), *_TERMS]),
    ]
    return Section("answer", "The answer", join(parts))


def _headline(summary: RoutingSummary, names: Sequence[str]) -> Html:
    best = summary.routers[names[0]]
    value = best.metrics["mrr"]
    if not value:
        return html("No router found a right person on any pull request.")
    equal = [name(router) for router in names if summary.routers[router].metrics["mrr"] == value]
    with_truth = plural(best.observed_prs, "pull request")
    among = f" Over the {with_truth} with a truth it is {rate(best.observed_metrics['mrr'])}."
    start = html("<strong>{}</strong> {}", join(equal, ", "), "has" if len(equal) == 1 else "share")
    figures = f"the highest MRR, {rate(value)} (95 % interval {interval(best.intervals.get('mrr'))})."
    return html("{} {}{}", start, figures, "" if best.observed_prs == summary.prs else among)


def _bar_cell(label: str, value: float | None, ends: Sequence[float] | None, end: float) -> Html:
    shown = interval(ends) if ends else None
    return html('{} <span class="muted">{}</span>{}', rate(value), shown, interval_bar(label, value, ends, end))


def _ranks(run: RoutingRun) -> Section | None:
    """At which rank the right person was."""
    names = ranked(run.metrics, "mrr")
    bins = [*map(str, range(1, MOST_RANK + 1)), f"{MOST_RANK + 1}+", "none"]
    tallies = {router: dict.fromkeys(bins, 0) for router in names}
    observed = 0
    for record in run.read_records():
        if record.truth.state == "observed":
            observed += 1
            for router in names:
                rank = record.answers[router].rank
                tallies[router][bins[min(rank, MOST_RANK + 1) - 1]] += 1  # rank 0, not on the list, is the last one
    if not observed:
        return None
    charts = []
    for router, tally in tallies.items():
        label = f"Ranks of the right person in the lists of {router}; the table has the figures"
        chart = histogram(label, "rank of the right person", tally)
        charts.append(html("<figure><figcaption>{}</figcaption>{}</figure>", name(router), chart))
    columns: list[blocks.Cells] = [("Rank", "", bins)]
    columns += [(name(router), "num", map(count, tally.values())) for router, tally in tallies.items()]
    text = paragraph(f"Over the {plural(observed, 'pull request')} with a truth; “none”: the list did not have them.")
    data = behind("The figures of these charts", table_of("Pull requests by rank of the right person", columns))
    body = html('{}<div class="figures">{}</div>{}', text, charts, data)
    return Section("ranks", "Where on the list the right person was", body)


def _left_out(run: RoutingRun) -> Section:
    warnings = run.result.warnings
    nothing = paragraph("Nothing was left out, and there is no warning.")
    listed = blocks.capped(warnings, "warnings") if warnings else nothing
    return Section("left-out", "Warnings and settings", join([listed, settings_table(run)]))


def _pull_requests(run: RoutingRun) -> Section:
    names = ranked(run.metrics, "mrr")
    columns = [("Pull request", "name"), ("Right person", "slice"), *((name(router), "slice") for router in names)]
    rows = list(islice(_pull_request_rows(run, names), MOST_LISTED))
    total = run.result.prs
    parts = [paragraph(f"The first {_CANDIDATES} of each router's list, and the rank of the right person.")]
    if total > len(rows):
        shown = f"The first {count(len(rows))} of {count(total)} pull requests are shown"
        parts.append(blocks.remark(f"{shown}; {count(total - len(rows))} are left out. The run has them all."))
    answers = blocks.table("Pull requests and what each router answered", columns, rows)
    parts.append(behind(f"Show {plural(len(rows), 'pull request')}", answers))
    return Section("pull-requests", "Every pull request", join(parts))


def _pull_request_rows(run: RoutingRun, names: Sequence[str]) -> Iterator[list[object]]:
    for record in run.read_records():
        targets = record.truth.targets
        missed = blocks.tag("not listed" if targets else "no truth")
        cells = []
        for router in names:
            answer = record.answers[router]
            verdict = blocks.tag(f"rank {answer.rank}", "good") if answer.rank else missed
            listed = ", ".join(answer.candidates[:_CANDIDATES]) or "nobody"
            cells.append(html("{} {}", verdict, name(listed)))
        yield [name(record.name), name(", ".join(targets) or in_words(record.truth.state)), *cells]
