"""The parts of a routing report about people's time: the queue by risk, what pull requests declare, the load."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from metareview.report.names import in_words
from metareview.report.numbers import count, duration, ranked, rate
from metareview.report.page.blocks import Cells, Section, barred, behind, name, paragraph, table_of
from metareview.report.page.charts import SERIES, cell_bar, curves, legend
from metareview.report.page.markup import html, join
from metareview.report.tables import merged_rates, queue_times
from metareview.routing.summary import RoutingSummary
from metareview.runs.run import RoutingRun

MOST_PEOPLE = 40
"""How far the load curve goes."""
_DECLARATIONS = {
    "issue": "Names an issue",
    "ai_disclosure": "Discloses the use of AI",
    "provenance": "Declares provenance",
}


def queue(summary: RoutingSummary) -> Section | None:
    """How long pull requests waited, by the risk that a router gave them."""
    buckets = queue_times(summary)
    if not buckets:
        return None
    times = [bucket for _, _, bucket in buckets]
    medians = [bucket.ttfr_seconds_median for bucket in times]
    longest = max(median or 0.0 for median in medians) or 1.0
    bars = [html("{}{}", duration(median), cell_bar(median, longest)) for median in medians]
    columns: list[Cells] = [
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


def declarations(summary: RoutingSummary) -> Section | None:
    """What pull requests declare, and how often those that do and do not were merged."""
    blocks = summary.declarations.values()
    if not any(block.n for block in blocks):
        return None
    columns: list[Cells] = [
        ("Declaration", "name", [_DECLARATIONS.get(key, in_words(key)) for key in summary.declarations]),
        ("Declared", "num", [count(block.present_n) for block in blocks]),
        ("Missing", "num", [count(block.missing_n) for block in blocks]),
        ("Missing rate", "slice", [barred(block.missing_rate) for block in blocks]),
    ]
    columns += [(head, "slice", map(barred, rates)) for head, rates in merged_rates(summary).items()]
    text = paragraph(
        "Descriptive only: that merged pull requests declare it more often does not mean that it got them merged."
    )
    shown = table_of("Declarations, as of the cutoff; bars run from 0 to 1", columns)
    return Section("declarations", "What pull requests declare", join([text, shown]))


def load(run: RoutingRun) -> Section | None:
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
    columns: list[Cells] = [
        ("Router", "name", map(name, names)),
        ("Gini", "num", [rate(each.gini) for each in loads]),
        ("Share of the busiest", "num", [rate(each.top1_share) for each in loads]),
        ("People recommended first", "num", [count(len(people)) for people in firsts.values()]),
    ]
    shares: list[Cells] = [("Busiest people", "", map(count, xs))]
    shares += [(name(router), "num", map(rate, values)) for router, values in lines.items()]
    text = paragraph(
        "The share of all first recommendations that the busiest people get: the sooner a line is at 1, the fewer "
        "people carry the load."
        + (f" The {SERIES} best of {len(names)} routers are drawn." if len(names) > SERIES else "")
    )
    label = "Share of first recommendations of the busiest people; the table has the figures"
    body = html(
        '{}{}<div class="figures"><figure>{}</figure><div>{}</div></div>{}',
        text,
        legend(lines),
        curves(label, "busiest people", "share of the load", xs, lines, None),
        table_of("Load of first recommendations", columns),
        behind("The figures of this chart", table_of("Share of first recommendations", shares)),
    )
    return Section("load", "Who carries the load", body)


def _shares(firsts: Counter[str], xs: Sequence[int]) -> list[float]:
    counts = sorted(firsts.values(), reverse=True)
    return [sum(counts[:x]) / sum(counts) for x in xs]
