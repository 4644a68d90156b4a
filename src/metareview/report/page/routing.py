"""The HTML report of a routing run: who finds the right reviewer, at which rank, and at what cost to people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice

from metareview.model.words import plural
from metareview.report.headline import headline
from metareview.report.names import capital, excerpt, in_words
from metareview.report.numbers import count, interval, of_all, ranked, rate
from metareview.report.page import blocks
from metareview.report.page.blocks import Section, behind, name, paragraph, table_of
from metareview.report.page.charts import barred, headed, histogram, interval_bar
from metareview.report.page.comments import INTERVAL_TERM, meaning
from metareview.report.page.evidence import settings_table
from metareview.report.page.gates import gates_section
from metareview.report.page.load import load_section
from metareview.report.page.markup import Html, html, join
from metareview.report.page.routing_outcomes import expertise_section, lists_section, requests_section
from metareview.report.tables import QUEUE_REMARK, merged_rates, queue_table
from metareview.routing.list_measures import ListMeasure
from metareview.routing.measures import RankMeasure
from metareview.routing.records import RouterAnswer, RoutingRecord
from metareview.routing.summary import RoutingSummary
from metareview.runs.run import RoutingRun

MOST_RANK = 10
"""Ranks that have their own bar; later ones share one."""
MOST_LISTED = 1_000
"""Pull requests in the last table."""
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
        "the figures “over pull requests with a truth only” leave it out.",
    ),
    INTERVAL_TERM,
    ("Gini", "How unevenly first recommendations are spread over people: 0 evenly, 1 all on one."),
)


_DESCRIPTIVE = (
    "Descriptive only: that merged pull requests declare it more often does not mean that it got them merged."
)


def sections(run: RoutingRun) -> list[Section | None]:
    return [*figures(run), _pull_requests(run)]


def figures(run: RoutingRun) -> list[Section | None]:
    """All but the list of pull requests."""
    return [
        _answer(run),
        gates_section(run.result.build_gates),
        _ranks(run),
        lists_section(run.result),
        expertise_section(run.result),
        _queue(run.result),
        _declarations(run.result),
        load_section(run),
        requests_section(run.result),
        Section("settings", "Settings", settings_table(run)),
    ]


def _answer(run: RoutingRun) -> Section:
    summary = run.result
    names = ranked(summary.metrics, "mrr")
    routers = {router: summary.routers[router] for router in names}
    of_rank = [measure for measure in summary.measures if isinstance(measure, RankMeasure)]
    measures = sorted(of_rank, key=lambda measure: measure.name != "mrr")  # MRR, then hit@k by rising k
    whole = [measure for measure in summary.measures if isinstance(measure, ListMeasure)]
    figures = {
        measure: [(block.metrics[measure.name], block.intervals.get(measure.name)) for block in routers.values()]
        for measure in measures
    }
    figured = [router for router in names if not routers[router].not_applicable]
    lacking = [html("{}: not applicable", name(router)) for router in names[len(figured) :]]
    columns: list[blocks.Cells] = [("Router", "name", [*blocks.ranked_names(figured), *lacking])]
    columns += [("Answered", "num", [of_all(block.answered, summary.prs) for block in routers.values()])]
    observed: list[blocks.Cells] = [("Router", "name", map(name, names))]
    observed += [("Pull requests", "num", [count(block.observed_prs) for block in routers.values()])]
    for measure, column in figures.items():
        cells = []
        for router, (value, ends) in zip(names, column, strict=True):
            bar = interval_bar(f"{router}: {measure.label}", value, ends)
            cells.append(html('{} <span class="muted">{}</span>{}', rate(value), ends and interval(ends), bar))
        columns.append((headed(measure.label), "bar", cells))
        among = [rate(block.observed_metrics[measure.name]) for block in routers.values()]
        observed.append((measure.label, "num", among))
    of_observed = table_of("Over pull requests with a truth only", observed)
    parts = [
        paragraph(headline(run), css="lead"),
        blocks.warnings(summary.warnings),
        table_of("Routers, the best MRR first; bars are 95 % intervals", columns),
        blocks.facts(
            ("Pull requests", count(summary.prs)),
            ("With a truth", count(summary.truth.observed)),
            ("Nobody responded", count(summary.truth.no_response)),
            ("Not known yet", count(summary.truth.unknown)),
        ),
        behind("The same over pull requests with a truth only", of_observed),
        blocks.terms([*map(meaning, [*measures, *whole]), *_TERMS]),
    ]
    return Section("answer", "The answer", join(parts))


def _ranks(run: RoutingRun) -> Section | None:
    names = [router for router in ranked(run.metrics, "mrr") if not run.result.routers[router].not_applicable]
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
    most = max(number for tally in tallies.values() for number in tally.values())
    for router, tally in tallies.items():
        label = f"Ranks of the right person in the lists of {router}; the table has the figures"
        chart = histogram(label, "rank of the right person", tally, most)
        charts.append(html("<figure><figcaption>{}</figcaption>{}</figure>", name(router), chart))
    columns: list[blocks.Cells] = [("Rank", "", bins)]
    columns += [(name(router), "num", map(count, tally.values())) for router, tally in tallies.items()]
    text = paragraph(
        f"Over the {plural(observed, 'pull request')} with a truth, on one scale; “none”: the list did not have them."
    )
    data = behind("The figures of these charts", table_of("Pull requests by rank of the right person", columns))
    body = html('{}<div class="figures">{}</div>{}', text, charts, data)
    return Section("ranks", "Where on the list the right person was", body)


def _queue(summary: RoutingSummary) -> Section | None:
    """How long pull requests waited, by the risk that a router gave them."""
    waits = queue_table(summary)
    if not waits:
        return None
    columns = [(capital(each.head), "name" if each.text else "num", each.cells) for each in waits]
    text = QUEUE_REMARK
    if summary.config.ttfc:
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
    merged = merged_rates(summary)
    for head, rates in merged.items():
        columns.append((head, "slice", [barred(rate(value), value) for value in rates]))
    parts = [table_of("Declarations, as of the cutoff; bars run from 0 to 1", columns)]
    if merged:
        parts.insert(0, paragraph(_DESCRIPTIVE))
    return Section("declarations", "What pull requests declare", join(parts))


def _pull_requests(run: RoutingRun) -> Section:
    names = ranked(run.metrics, "mrr")
    most = max(run.result.config.k)
    records = list(islice(run.read_records(), MOST_LISTED))
    missed = [_is_missed(record, most) for record in records]
    columns = [("Pull request", "name"), ("Right person", "slice"), *((name(router), "slice") for router in names)]
    total = run.result.prs
    parts = [paragraph(f"The first {_CANDIDATES} of each router's list, and the rank of the right person.")]
    if total > len(records):
        shown = f"The first {count(len(records))} of {count(total)} pull requests are shown"
        parts.append(blocks.remark(f"{shown}; {count(total - len(records))} are left out. The run has them all."))
    rows = [_cells(run, record, names, most) for record in records]
    kinds = ["" if is_missed else "found" for is_missed in missed]
    answers = blocks.table("Pull requests and what each router answered", columns, rows, kinds=kinds)
    if any(missed):
        among = plural(sum(missed), "pull request")
        what = f"Only misses: {among} where no router has the right person among its first {most}"
        answers = blocks.only_misses(what, answers)
    parts.append(behind(f"Show {plural(len(rows), 'pull request')}", answers))
    return Section("pull-requests", "Every pull request", join(parts))


def _is_missed(record: RoutingRecord, most: int) -> bool:
    found = any(0 < answer.rank <= most for answer in record.answers.values())
    return record.truth.state == "observed" and not found


def _cells(run: RoutingRun, record: RoutingRecord, names: Sequence[str], most: int) -> list[object]:
    targets = record.truth.targets
    missed = blocks.tag("not listed" if targets else "no truth")
    cells: list[object] = [name(record.name), name(", ".join(targets) or in_words(record.truth.state))]
    for router in names:
        answer = record.answers[router]
        verdict = blocks.tag(f"rank {answer.rank}", "good" if answer.rank <= most else "") if answer.rank else missed
        verdict = blocks.tag("not applicable") if run.result.routers[router].not_applicable else verdict
        listed = ", ".join(answer.candidates[:_CANDIDATES]) or "nobody"
        cells.append(html("{} {}{}", verdict, name(listed), _remarks(answer)))
    return cells


def _remarks(answer: RouterAnswer) -> Html | None:
    """What the router said about its answer."""
    evidence = [] if answer.evidence is None else [json.dumps(answer.evidence, ensure_ascii=False)]
    said = [excerpt(text) for text in (*answer.notes, *evidence)]
    return html('<br><span class="muted">{}</span>', join(map(name, said), "; ")) if said else None
