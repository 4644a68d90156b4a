"""Who carries the load: the people that routers recommend first, beside those who really responded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from metareview.model.words import plural
from metareview.report.numbers import count, ranked, rate
from metareview.report.page.blocks import Cells, Section, behind, name, paragraph, table_of
from metareview.report.page.charts import SERIES, curves, legend
from metareview.report.page.markup import html, join
from metareview.routing.load import Load, Spread
from metareview.runs.run import RoutingRun

MOST_PEOPLE = 40
"""How far the curves go."""
NAMED_PEOPLE = 15
"""People with a row of their own."""
ACTUAL = "really responded"
Loads = Mapping[str, Counter[str]]
"""For each router, and for what really happened, how many pull requests each person got."""


def loads_of(run: RoutingRun) -> tuple[Loads, dict[str, str]]:
    """First recommendations and truths per person, and each person's name as it was first written."""
    routers = ranked(run.metrics, "mrr")
    loads = {column: Counter[str]() for column in (ACTUAL, *routers)}
    names: dict[str, str] = {}
    for record in run.read_records():
        got = {ACTUAL: record.truth.targets} | {router: record.answers[router].candidates[:1] for router in routers}
        for column, people in got.items():
            for person in people:
                loads[column][person.casefold()] += 1
                names.setdefault(person.casefold(), person)
    return loads, names


def load_section(run: RoutingRun) -> Section | None:
    """How first recommendations are spread: over whom, and how much of them the busiest people get."""
    loads, people = loads_of(run)
    routers = [router for router in loads if router != ACTUAL]
    if not any(loads[router] for router in routers):
        return None
    most = min(max(len(of_one) for of_one in loads.values()), MOST_PEOPLE)
    xs = list(range(most + 1))
    drawn = [column for column in loads if loads[column]][:SERIES]
    lines = {column: _shares(loads[column], xs) for column in drawn}
    of_routers = [run.result.routers[router].load for router in routers]
    blocks: list[Load | Spread] = [*of_routers, of_routers[0].actual]
    columns: list[Cells] = [
        ("Router", "name", [*map(name, routers), ACTUAL.capitalize()]),
        ("Gini", "num", [rate(each.gini) for each in blocks]),
        ("Share of the busiest", "num", [rate(each.top1_share) for each in blocks]),
        ("People", "num", [count(len(loads[column])) for column in (*routers, ACTUAL)]),
    ]
    shares: list[Cells] = [("Busiest people", "", map(count, xs))]
    shares += [(name(column), "num", map(rate, values)) for column, values in lines.items()]
    left = len([column for column in loads if loads[column]]) - len(drawn)
    text = paragraph(
        "The share of all first recommendations that the busiest people get: the sooner a line is at 1, the fewer "
        f"people carry the load. “{ACTUAL.capitalize()}” is the same for the truth."
        + (f" {plural(left, 'more router is', 'more routers are')} in the tables." if left else "")
    )
    label = "Share of first recommendations of the busiest people; the table has the figures"
    chart = curves(label, "busiest people", "share of the load", xs, lines, chosen=None, top=1.0)
    figures = html(
        '<div class="figures"><figure>{}{}</figure><div>{}</div></div>',
        legend(lines),
        chart,
        table_of("Load of first recommendations", columns),
    )
    data = behind("The figures of this chart", table_of("Share of first recommendations", shares))
    return Section("load", "Who carries the load", join([text, figures, _by_person(loads, people), data]))


def _by_person(loads: Loads, people: Mapping[str, str]) -> object:
    """The people with most to do, by any column, then everybody else together."""
    order = sorted(people, key=lambda person: (-max(of_one[person] for of_one in loads.values()), person))
    named, others = order[:NAMED_PEOPLE], order[NAMED_PEOPLE:]
    rest = [plural(len(others), "other")] if others else []
    columns: list[Cells] = [("Person", "name", [*(name(people[person]) for person in named), *rest])]
    for column, of_one in loads.items():
        counts = [of_one[person] for person in named] + ([sum(of_one[person] for person in others)] if rest else [])
        head = ACTUAL.capitalize() if column == ACTUAL else name(column)
        total = of_one.total()
        shown = [f"{count(number)} ({number / total:.0%})" if number else "0" for number in counts]
        columns.append((head, "num", shown))
    return table_of("Pull requests per person: who really responded, and whom each router recommended first", columns)


def _shares(load: Counter[str], xs: Sequence[int]) -> list[float]:
    counts = sorted(load.values(), reverse=True)
    return [sum(counts[:x]) / sum(counts) for x in xs]
