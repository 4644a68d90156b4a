"""The HTML report of a routing run: who finds the right reviewer, at which rank, and at what cost to people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from metareview.model.words import plural
from metareview.report.names import in_words
from metareview.report.numbers import count, duration, interval, ranked, rate
from metareview.report.page import blocks
from metareview.report.page.blocks import Section, behind, name, paragraph, table_of
from metareview.report.page.charts import SERIES, barred, curves, headed, histogram, interval_bar, legend, scale_end
from metareview.report.page.comments import INTERVAL_TERM, meaning
from metareview.report.page.evidence import settings_table
from metareview.report.page.gates import gates_section
from metareview.report.page.markup import Html, html, join
from metareview.report.tables import merged_rates, queue_times
from metareview.routing.summary import RoutingSummary
from metareview.runs.run import RoutingRun

MOST_RANK = 10
"""Ranks that have their own bar; later ones share one."""
MOST_LISTED = 1_000
"""Pull requests in the last table."""
MOST_PEOPLE = 40
"""How far the load curve goes."""
_DECLARATIONS = {
    "issue": "Names an issue",
    "ai_disclosure": "Discloses the use of AI",
    "provenance": "Declares provenance",
}
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
    return [
        _answer(run.result),
        gates_section(run.result.build_gates),
        _ranks(run),
        _queue(run.result),
        _declarations(run.result),
        _load(run),
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
        cells = []
        for router, (value, ends) in zip(names, column, strict=True):
            bar = interval_bar(f"{router}: {measure.label}", value, ends, end)
            cells.append(html('{} <span class="muted">{}</span>{}', rate(value), ends and interval(ends), bar))
        columns.append((headed(measure.label, end), "bar", cells))
        among = [rate(block.observed_metrics[measure.name]) for block in routers.values()]
        observed.append((measure.label, "num", among))
    of_observed = table_of("Over pull requests with a truth only", observed)
    parts = [
        paragraph(_headline(summary, names), css="lead") if names else None,
        table_of("Routers, the best MRR first; bars are 95 % intervals", columns),
        blocks.facts(
            ("Pull requests", count(summary.prs)),
            ("With a truth", count(summary.truth.observed)),
            ("Nobody responded", count(summary.truth.no_response)),
            ("Not known yet", count(summary.truth.unknown)),
        ),
        behind("The same over pull requests with a truth only", of_observed),
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


def _ranks(run: RoutingRun) -> Section | None:
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


def _queue(summary: RoutingSummary) -> Section | None:
    """How long pull requests waited, by the risk that a router gave them."""
    buckets = queue_times(summary)
    if not buckets:
        return None
    times = [bucket for _, _, bucket in buckets]
    medians = [bucket.ttfr_seconds_median for bucket in times]
    longest = max(median or 0.0 for median in medians) or 1.0
    bars = [barred(duration(median), median, longest) for median in medians]
    columns: list[blocks.Cells] = [
        ("Router and risk", "name", [html("{}, {} risk", name(router), risk) for router, risk, _ in buckets]),
        ("Pull requests", "num", [count(bucket.n) for bucket in times]),
        ("Reviewed", "num", [count(bucket.ttfr_n) for bucket in times]),
        ("Median time to first review", "wide", bars),
        ("Mean", "num", [duration(bucket.ttfr_seconds_mean) for bucket in times]),
    ]
    text = "From the cutoff to the first review, over the pull requests that were reviewed at all."
    if any(bucket.ttfc_seconds_mean is not None for bucket in times):
        columns += [("Median time to first comment", "num", [duration(bucket.ttfc_seconds_median) for bucket in times])]
        columns += [("Mean", "num", [duration(bucket.ttfc_seconds_mean) for bucket in times])]
        text += " Times to the first comment are over those that were commented on."
    shown = table_of("Waiting times by risk", columns)
    return Section("queue", "The queue by risk", join([paragraph(text), shown]))


def _declarations(summary: RoutingSummary) -> Section | None:
    """What pull requests declare, and how often those that do and do not were merged."""
    declared = summary.declarations.values()
    if not any(block.n for block in declared):
        return None
    columns: list[blocks.Cells] = [
        ("Declaration", "name", [_DECLARATIONS.get(key, in_words(key)) for key in summary.declarations]),
        ("Declared", "num", [count(block.present_n) for block in declared]),
        ("Missing", "num", [count(block.missing_n) for block in declared]),
        ("Missing rate", "slice", [barred(rate(block.missing_rate), block.missing_rate) for block in declared]),
    ]
    for head, rates in merged_rates(summary).items():
        columns.append((head, "slice", [barred(rate(value), value) for value in rates]))
    text = paragraph(
        "Descriptive only: that merged pull requests declare it more often does not mean that it got them merged."
    )
    shown = table_of("Declarations, as of the cutoff; bars run from 0 to 1", columns)
    return Section("declarations", "What pull requests declare", join([text, shown]))


def _load(run: RoutingRun) -> Section | None:
    """How first recommendations are spread: the share that the busiest person, the two busiest … get."""
    names = ranked(run.metrics, "mrr")
    loads = [run.result.routers[router].load for router in names]
    firsts = {router: Counter[str]() for router in names}
    for record in run.read_records():
        for router in names:
            if candidates := record.answers[router].candidates:
                firsts[router][candidates[0].casefold()] += 1
    most = min(max((len(people) for people in firsts.values()), default=0), MOST_PEOPLE)
    if not most:
        return None
    xs = list(range(-(-most // 4) * 4 + 1))  # to a multiple of 4, so that the axis has whole numbers
    lines = {router: _shares(firsts[router], xs) for router in names[:SERIES] if firsts[router]}
    columns: list[blocks.Cells] = [
        ("Router", "name", map(name, names)),
        ("Gini", "num", [rate(each.gini) for each in loads]),
        ("Share of the busiest", "num", [rate(each.top1_share) for each in loads]),
        ("People recommended first", "num", [count(len(people)) for people in firsts.values()]),
    ]
    shares: list[blocks.Cells] = [("Busiest people", "", map(count, xs))]
    shares += [(name(router), "num", map(rate, values)) for router, values in lines.items()]
    text = paragraph(
        "The share of all first recommendations that the busiest people get: the sooner a line is at 1, the fewer "
        "people carry the load."
        + (f" The {SERIES} best of {len(names)} routers are drawn." if len(names) > SERIES else "")
    )
    label = "Share of first recommendations of the busiest people; the table has the figures"
    chart = curves(label, "busiest people", "share of the load", xs, lines, None)
    loads_table = table_of("Load of first recommendations", columns)
    figures = html('<div class="figures"><figure>{}</figure><div>{}</div></div>', chart, loads_table)
    data = behind("The figures of this chart", table_of("Share of first recommendations", shares))
    body = join([text, legend(lines), figures, data])
    return Section("load", "Who carries the load", body)


def _shares(firsts: Counter[str], xs: Sequence[int]) -> list[float]:
    counts = sorted(firsts.values(), reverse=True)
    return [sum(counts[:x]) / sum(counts) for x in xs]


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
