"""The HTML report of a routing run: who finds the right reviewer, and at which rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from metareview.model.measure import Measure
from metareview.model.words import plural
from metareview.report.names import in_words
from metareview.report.numbers import count, interval, ranked, rate
from metareview.report.page import routing_flow
from metareview.report.page.bars import interval_bar, scale_end
from metareview.report.page.blocks import (
    Column,
    Section,
    behind,
    capped,
    facts,
    headed,
    name,
    paragraph,
    ranked_name,
    remark,
    table,
    tag,
    terms,
)
from metareview.report.page.charts import histogram
from metareview.report.page.comments import INTERVAL_TERM, meaning
from metareview.report.page.evidence import MOST_ITEMS, settings_table
from metareview.report.page.markup import Html, html, join
from metareview.routing.summary import RouterSummary, RoutingSummary
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


def _main_first(summary: RoutingSummary) -> list[Measure]:
    """MRR, then hit@k by rising k."""
    return sorted(summary.measures, key=lambda measure: measure.name != "mrr")


def _answer(summary: RoutingSummary) -> Section:
    names, measures = ranked(summary.metrics, "mrr"), _main_first(summary)
    blocks = summary.routers
    # One scale for all columns, so that a longer bar is a higher figure in any of them.
    end = scale_end(
        value
        for block in blocks.values()
        for measure in measures
        for value in (block.metrics[measure.name], *(block.intervals.get(measure.name) or ()))
    )
    columns = [Column("Router", "name"), *(Column(headed(m.label, end), "bar") for m in measures)]
    rows = [
        [ranked_name(rank, router), *(_bar_cell(router, blocks[router], m, end) for m in measures)]
        for rank, router in enumerate(names, 1)
    ]
    parts = [
        paragraph(_headline(summary, names), css="lead") if names else None,
        table("Routers, the best MRR first; bars are 95 % intervals", columns, rows),
        facts(
            [
                ("Pull requests", count(summary.prs)),
                ("With a truth", count(summary.truth.observed)),
                ("Nobody responded", count(summary.truth.no_response)),
                ("Not known yet", count(summary.truth.unknown)),
            ]
        ),
        behind("The same over pull requests with a truth only", _observed_only(summary, names, measures)),
        terms([*map(meaning, measures), *_TERMS]),
    ]
    return Section("answer", "The answer", join(parts))


def _headline(summary: RoutingSummary, names: Sequence[str]) -> Html:
    best = summary.routers[names[0]]
    value, observed = best.metrics["mrr"], best.observed_metrics["mrr"]
    if not value:
        return html("No router found a right person on any pull request.")
    equal = [router for router in names if summary.routers[router].metrics["mrr"] == value]
    among = (
        ""
        if best.observed_prs == summary.prs
        else f" Over the {plural(best.observed_prs, 'pull request')} with a truth it is {rate(observed)}."
    )
    return html(
        "<strong>{who}</strong> {verb} the highest MRR, {mrr} (95 % interval {interval}).{among}",
        who=join([name(router) for router in equal], ", "),
        verb="has" if len(equal) == 1 else "share",
        mrr=rate(value),
        interval=interval(best.intervals.get("mrr")),
        among=among,
    )


def _bar_cell(router: str, block: RouterSummary, measure: Measure, end: float) -> Html:
    value, ends = block.metrics[measure.name], block.intervals.get(measure.name)
    return html(
        '{value} <span class="muted">{interval}</span>{bar}',
        value=rate(value),
        interval=interval(ends) if ends else None,
        bar=interval_bar(f"{router}: {measure.label}", value, ends, end),
    )


def _observed_only(summary: RoutingSummary, names: Sequence[str], measures: Sequence[Measure]) -> Html:
    columns = [Column("Router", "name"), Column("Pull requests", "num")]
    columns += [Column(measure.label, "num") for measure in measures]
    rows = []
    for router in names:
        block = summary.routers[router]
        figures = (rate(block.observed_metrics[measure.name]) for measure in measures)
        rows.append([name(router), count(block.observed_prs), *figures])
    return table("Over pull requests with a truth only", columns, rows)


def _ranks(run: RoutingRun) -> Section | None:
    """At which rank the right person was."""
    names = ranked(run.metrics, "mrr")
    bins = [*(str(k) for k in range(1, MOST_RANK + 1)), f"{MOST_RANK + 1}+", "none"]
    tallies = {router: Counter[str]() for router in names}
    observed = 0
    for record in run.read_records():
        if record.truth.state != "observed":
            continue
        observed += 1
        for router in names:
            tallies[router][_bin(record.answers[router].rank)] += 1
    if not observed:
        return None
    charts = [
        html(
            "<figure><figcaption>{router}</figcaption>{chart}</figure>",
            router=name(router),
            chart=histogram(
                f"Ranks of the right person in the lists of {router}; the table has the figures",
                "rank of the right person",
                bins,
                [tallies[router][b] for b in bins],
            ),
        )
        for router in names
    ]
    rows = [[b, *(count(tallies[router][b]) for router in names)] for b in bins]
    columns = [Column("Rank"), *(Column(name(router), "num") for router in names)]
    text = paragraph(f"Over the {plural(observed, 'pull request')} with a truth; “none”: the list did not have them.")
    data = behind("The figures of these charts", table("Pull requests by rank of the right person", columns, rows))
    body = html('{text}<div class="figures">{charts}</div>{data}', text=text, charts=charts, data=data)
    return Section("ranks", "Where on the list the right person was", body)


def _bin(rank: int) -> str:
    if not rank:
        return "none"
    return str(rank) if rank <= MOST_RANK else f"{MOST_RANK + 1}+"


def _left_out(run: RoutingRun) -> Section:
    warnings = run.result.warnings
    text = (
        capped(warnings, MOST_ITEMS, len(warnings), "warnings")
        if warnings
        else paragraph("Nothing was left out, and there is no warning.")
    )
    return Section("left-out", "Warnings and settings", join([text, settings_table(run)]))


def _pull_requests(run: RoutingRun) -> Section:
    names = ranked(run.metrics, "mrr")
    columns = [Column("Pull request", "name"), Column("Right person", "slice")]
    columns += [Column(name(router), "slice") for router in names]
    rows = list(islice(_pull_request_rows(run, names), MOST_LISTED))
    total = run.result.prs
    parts = [paragraph(f"The first {_CANDIDATES} of each router's list, and the rank of the right person.")]
    if total > len(rows):
        shown = f"The first {count(len(rows))} of {count(total)} pull requests are shown"
        parts.append(remark(f"{shown}; {count(total - len(rows))} are left out. The run has them all."))
    answers = table("Pull requests and what each router answered", columns, rows)
    parts.append(behind(f"Show {plural(len(rows), 'pull request')}", answers))
    return Section("pull-requests", "Every pull request", join(parts))


def _pull_request_rows(run: RoutingRun, names: Sequence[str]) -> Iterator[list[object]]:
    for record in run.read_records():
        targets = record.truth.targets
        cells = []
        for router in names:
            answer = record.answers[router]
            verdict = (
                tag(f"rank {answer.rank}", "good") if answer.rank else tag("not listed" if targets else "no truth")
            )
            listed = ", ".join(answer.candidates[:_CANDIDATES]) or "nobody"
            cells.append(html("{verdict} {listed}", verdict=verdict, listed=name(listed)))
        yield [name(record.name), name(", ".join(targets) or in_words(record.truth.state)), *cells]
