"""The parts of a routing report about people's time: the queue by risk, what pull requests declare, the load."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from metareview.report.names import in_words
from metareview.report.numbers import count, duration, ranked, rate
from metareview.report.page.bars import cell_bar
from metareview.report.page.blocks import Column, Section, barred, behind, name, paragraph, table
from metareview.report.page.charts import SERIES, Curve, curves, legend
from metareview.report.page.markup import html, join
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
    buckets = [
        (router, risk, bucket)
        for router in ranked(summary.metrics, "mrr")
        for risk, bucket in summary.routers[router].queue.items()
        if bucket.n
    ]
    if not buckets:
        return None
    longest = max(bucket.ttfr_seconds_median or 0.0 for _, _, bucket in buckets) or 1.0
    ttfc = any(bucket.ttfc_seconds_mean is not None for _, _, bucket in buckets)
    rows = []
    for router, risk, bucket in buckets:
        median = bucket.ttfr_seconds_median
        row = [
            html("{router}, {risk} risk", router=name(router), risk=risk),
            count(bucket.n),
            count(bucket.ttfr_n),
            html("{text}{bar}", text=duration(median), bar=cell_bar(median, longest)),
            duration(bucket.ttfr_seconds_mean),
        ]
        comments = [duration(bucket.ttfc_seconds_median), duration(bucket.ttfc_seconds_mean)]
        rows.append([*row, *comments] if ttfc else row)
    columns = [Column("Router and risk", "name"), Column("Pull requests", "num"), Column("Reviewed", "num")]
    columns += [Column("Median time to first review", "wide"), Column("Mean", "num")]
    columns += [Column("Median time to first comment", "num"), Column("Mean", "num")] if ttfc else []
    over = "From the cutoff to the first review, over the pull requests that were reviewed at all."
    text = paragraph(over + " Times to the first comment are over those that were commented on." * ttfc)
    return Section("queue", "The queue by risk", join([text, table("Waiting times by risk", columns, rows)]))


def declarations(summary: RoutingSummary) -> Section | None:
    """What pull requests declare, and how often those that do and do not were merged."""
    blocks = {key: block for key, block in summary.declarations.items() if block.n}
    if not blocks:
        return None
    columns = [Column("Declaration", "name"), Column("Declared", "num"), Column("Missing", "num")]
    columns += [Column("Missing rate", "slice")]
    columns += [Column("Merged, declared", "slice"), Column("Merged, missing", "slice")]
    within = summary.config.merged_within
    if within is not None:
        by_then = f"Merged within {within}"
        columns += [Column(f"{by_then}, declared", "slice"), Column(f"{by_then}, missing", "slice")]
    rows = []
    for key, block in blocks.items():
        figures = [block.missing_rate]
        for merged in (block.merged, block.merged_within):
            figures += [merged.merged_rate_present, merged.merged_rate_missing] if merged else []
        title = _DECLARATIONS.get(key, in_words(key))
        rows.append([title, count(block.present_n), count(block.missing_n), *map(barred, figures)])
    text = paragraph(
        "Descriptive only: that merged pull requests declare it more often does not mean that it got them merged."
    )
    shown = table("Declarations, as of the cutoff; bars run from 0 to 1", columns, rows)
    return Section("declarations", "What pull requests declare", join([text, shown]))


def load(run: RoutingRun) -> Section | None:
    """How first recommendations are spread: the share that the busiest person, the two busiest … get."""
    routers = run.result.routers
    names = ranked(run.metrics, "mrr")
    firsts = {router: Counter[str]() for router in names}
    for record in run.read_records():
        for router in names:
            if candidates := record.answers[router].candidates:
                firsts[router][candidates[0].casefold()] += 1
    most = min(max((len(people) for people in firsts.values()), default=0), MOST_PEOPLE)
    if not most:
        return None
    xs = list(range(-(-most // 4) * 4 + 1))  # to a multiple of 4, so that the axis has whole numbers
    lines = [Curve(r, _shares(firsts[r], xs)) for r in names[:SERIES] if firsts[r]]
    columns = [Column("Router", "name"), Column("Gini", "num"), Column("Share of the busiest", "num")]
    columns += [Column("People recommended first", "num")]
    rows = [
        [name(r), rate(routers[r].load.gini), rate(routers[r].load.top1_share), count(len(firsts[r]))] for r in names
    ]
    heads = [Column("Busiest people"), *(Column(name(line.name), "num") for line in lines)]
    shares = [[count(x), *(rate(line.values[x]) for line in lines)] for x in xs]
    text = paragraph(
        "The share of all first recommendations that the busiest people get: the sooner a line is at 1, the fewer "
        "people carry the load."
        + (f" The {SERIES} best of {len(names)} routers are drawn." if len(names) > SERIES else "")
    )
    label = "Share of first recommendations of the busiest people; the table has the figures"
    body = html(
        '{text}{legend}<div class="figures"><figure>{chart}</figure><div>{table}</div></div>{data}',
        text=text,
        legend=legend([line.name for line in lines]),
        chart=curves(label, "busiest people", "share of the load", xs, lines, None),
        table=table("Load of first recommendations", columns, rows),
        data=behind("The figures of this chart", table("Share of first recommendations", heads, shares)),
    )
    return Section("load", "Who carries the load", body)


def _shares(firsts: Counter[str], xs: Sequence[int]) -> list[float]:
    counts = sorted(firsts.values(), reverse=True)
    return [sum(counts[:x]) / sum(counts) for x in xs]
