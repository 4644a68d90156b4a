"""The HTML report of a routing run: who finds the right reviewer, and at which rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from metareview.report.numbers import count, hit_names, plural, ranked_routers, rate, span
from metareview.report.page import routing_flow
from metareview.report.page.bars import axis, interval_bar, scale_end
from metareview.report.page.blocks import (
    Column,
    Section,
    behind,
    capped,
    facts,
    name,
    paragraph,
    remark,
    table,
    tag,
)
from metareview.report.page.charts import histogram
from metareview.report.page.evidence import MOST_ITEMS, settings_table
from metareview.report.page.markup import Html, html, join
from metareview.report.source import Run

MOST_RANK = 10
"""Ranks that have their own bar; later ones share one."""
MOST_LISTED = 1_000
"""Pull requests in the last table."""
_CANDIDATES = 3

TERMS = (
    (
        "hit@k",
        "The share of pull requests where a person who really responded is among the first k of the list.",
    ),
    ("MRR", "The mean of 1 / rank of the first right person; 0 where nobody on the list was right."),
    (
        "Truth",
        "Who really responded after the cutoff. A pull request without a truth counts as a miss in the main figures; "
        "“observed only” leaves it out.",
    ),
    (
        "95 % interval",
        "What the figure might have been with other pull requests of the same kind: a bootstrap.",
    ),
    ("Gini", "How unevenly first recommendations are spread over people: 0 evenly, 1 all on one."),
)

Block = Mapping[str, Any]


def sections(run: Run) -> list[Section | None]:
    """In the order of the page."""
    return [
        _answer(run),
        _ranks(run),
        routing_flow.queue(run),
        routing_flow.gates(run),
        routing_flow.load(run),
        _left_out(run),
        _pull_requests(run),
    ]


def _answer(run: Run) -> Section:
    summary = run.summary
    routers, names, hits = summary["routers"], ranked_routers(summary), hit_names(summary)
    metrics = ["mrr", *hits]
    parts = []
    if names:
        parts.append(paragraph(_headline(routers, names, summary["prs"]), css="lead"))
    # One scale for all columns, so that a longer bar is a higher figure wherever it stands.
    end = scale_end(v for r in names for m in metrics for v in _reach(routers[r], m))
    heads = (html("{title}{axis}", title=_title(m), axis=axis(end)) for m in metrics)
    columns = [Column("Router", "name"), *(Column(head, "bar") for head in heads)]
    rows = [
        [
            html("{rank}.\u00a0{name}", rank=rank, name=name(router)),
            *(_bar_cell(router, routers[router], m, end) for m in metrics),
        ]
        for rank, router in enumerate(names, 1)
    ]
    truth = summary["truth"]
    parts += [
        table("Routers, the best MRR first; bars are 95 % intervals", columns, rows),
        facts(
            [
                ("Pull requests", count(summary["prs"])),
                ("With a truth", count(truth["observed"])),
                ("Nobody responded", count(truth["no_response"])),
                ("Not known yet", count(truth["unknown"])),
            ]
        ),
        behind("The same over pull requests with a truth only", _observed_only(routers, names, metrics)),
        behind("What the figures mean", _terms()),
    ]
    return Section("answer", "The answer", join(parts))


def _headline(routers: Mapping[str, Block], names: Sequence[str], total: int) -> Html:
    best = routers[names[0]]
    if not best["mrr"]:
        return html("No router found a right person on any pull request.")
    equal = [router for router in names if routers[router]["mrr"] == best["mrr"]]
    seen = best["observed_only"]
    among = (
        ""
        if seen["prs"] == total
        else f" Over the {plural(seen['prs'], 'pull request')} with a truth it is {rate(seen['mrr'])}."
    )
    return html(
        "<strong>{who}</strong> {verb} the highest MRR, {mrr} (95 % interval {span}).{among}",
        who=join([name(router) for router in equal], ", "),
        verb="has" if len(equal) == 1 else "share",
        mrr=rate(best["mrr"]),
        span=span(best["intervals"].get("mrr")),
        among=among,
    )


def _title(metric: str) -> str:
    return "MRR" if metric == "mrr" else metric


def _reach(block: Block, metric: str) -> list[float | None]:
    return [block[metric], *(block["intervals"].get(metric) or ())]


def _bar_cell(router: str, block: Block, metric: str, end: float) -> Html:
    interval = block["intervals"].get(metric)
    return html(
        '{value} <span class="muted">{span}</span>{bar}',
        value=rate(block[metric]),
        span=span(interval) if interval else None,
        bar=interval_bar(f"{router}: {_title(metric)}", block[metric], interval, end),
    )


def _observed_only(routers: Mapping[str, Block], names: Sequence[str], metrics: Sequence[str]) -> Html:
    columns = [
        Column("Router", "name"),
        Column("Pull requests", "num"),
        *(Column(_title(m), "num") for m in metrics),
    ]
    rows = []
    for router in names:
        block = routers[router]["observed_only"]
        rows.append([name(router), count(block["prs"]), *(rate(block[m]) for m in metrics)])
    return table("Over pull requests with a truth only", columns, rows)


def _terms() -> Html:
    items = [html("<dt>{term}</dt><dd>{text}</dd>", term=term, text=text) for term, text in TERMS]
    return html('<dl class="terms">{items}</dl>', items=items)


def _ranks(run: Run) -> Section | None:
    """At which rank the right person stood."""
    names = ranked_routers(run.summary)
    bins = [*(str(k) for k in range(1, MOST_RANK + 1)), f"{MOST_RANK + 1}+", "none"]
    tallies = {router: Counter[str]() for router in names}
    observed = 0
    for record in run.records():
        if record["truth"]["state"] != "observed":
            continue
        observed += 1
        for router in names:
            rank = record["routers"][router]["rank"]
            tallies[router][_bin(rank)] += 1
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
    text = paragraph(
        f"Over the {plural(observed, 'pull request')} with a truth; “none”: the list did not have them."
    )
    data = behind(
        "The figures of these charts", table("Pull requests by rank of the right person", columns, rows)
    )
    body = html('{text}<div class="figures">{charts}</div>{data}', text=text, charts=charts, data=data)
    return Section("ranks", "Where on the list the right person stood", body)


def _bin(rank: int | None) -> str:
    if not rank:
        return "none"
    return str(rank) if rank <= MOST_RANK else f"{MOST_RANK + 1}+"


def _left_out(run: Run) -> Section:
    warnings = run.summary.get("warnings", [])
    told = (
        capped(warnings, MOST_ITEMS, len(warnings), "warnings")
        if warnings
        else paragraph("Nothing was left out, and there is no warning.")
    )
    return Section("left-out", "Warnings and settings", join([told, settings_table(run.summary["config"])]))


def _pull_requests(run: Run) -> Section:
    names = ranked_routers(run.summary)
    columns = [Column("Pull request", "name"), Column("Right person", "slice")]
    columns += [Column(name(router), "slice") for router in names]
    rows = list(_pull_request_rows(run, names))
    total = run.summary["prs"]
    parts = [paragraph(f"The first {_CANDIDATES} of each router's list, and the rank of the right person.")]
    if total > len(rows):
        told = f"The first {len(rows):,} of {total:,} pull requests are shown; {total - len(rows):,} are left out."
        parts.append(remark(f"{told} The run has them all."))
    answers = table("Pull requests and what each router answered", columns, rows)
    parts.append(behind(f"Show {plural(len(rows), 'pull request')}", answers))
    return Section("pull-requests", "Every pull request", join(parts))


def _pull_request_rows(run: Run, names: Sequence[str]) -> Iterator[list[object]]:
    for position, record in enumerate(run.records()):
        if position == MOST_LISTED:
            return
        truth = record["truth"]
        targets = ", ".join(truth["targets"]) or truth["state"].replace("_", " ")
        cells = []
        for router in names:
            answer = record["routers"][router]
            rank = answer["rank"]
            verdict = (
                tag(f"rank {rank}", "good") if rank else tag("not listed" if truth["targets"] else "no truth")
            )
            listed = ", ".join(answer["candidates"][:_CANDIDATES]) or "nobody"
            cells.append(html("{verdict} {listed}", verdict=verdict, listed=name(listed)))
        yield [name(f"{record['repo']}#{record['pr']}"), name(targets), *cells]
