"""What comes of recommendations, as tables and sentences: whole lists, expertise, files at risk, load, requests."""

from __future__ import annotations

from collections.abc import Sequence

from metareview.model.words import plural
from metareview.report.numbers import count, interval, of_all, ranked, rate
from metareview.report.tables import INTERVAL, Column, Table
from metareview.routing.list_measures import MAP, ListMeasure
from metareview.routing.load import PersonLoad
from metareview.routing.summary import RoutingSummary
from metareview.routing.turnover import ACTIVE_DAYS

NAMED_PEOPLE = 15
"""People with a row of their own."""
_SHORT = 3
"""People that a line of the terminal names."""
REQUESTS_REMARK = (
    "Whoever was asked responds by a review, a review comment or a comment within the truth window after the request. "
    "Rates are over requests that were neither withdrawn nor are still open."
)
EXPERTISE_REMARK = (
    "expertise@k: the share of pull requests of which one of the first k listed had changed or reviewed a file before. "
    f"A file is at risk if fewer than two people who were active in the last {ACTIVE_DAYS} days know it; counted as if "
    "each first recommendation had reviewed in the place of whoever came first."
)


def lists_table(summary: RoutingSummary, *, all_intervals: bool = False) -> Table:
    """Measures of whole lists, the best MRR first; no columns where they do not apply."""
    measures = [measure for measure in summary.measures if isinstance(measure, ListMeasure)]
    if not measures:
        return []
    names = ranked(summary.metrics, "mrr")
    blocks = [summary.routers[name] for name in names]
    columns = [Column("router", names, text=True)]
    for measure in measures:
        optional = 0 if measure.name == MAP.name else 2 if measure.name.startswith("ndcg") else 3
        columns.append(
            Column(measure.label, [rate(block.metrics[measure.name]) for block in blocks], optional=optional)
        )
        if all_intervals or measure.name == MAP.name:
            ends = [interval(block.intervals.get(measure.name)) for block in blocks]
            columns.append(Column(INTERVAL, ends, optional=1 if measure.name == MAP.name else 5))
    whole = [rate(block.observed_metrics[MAP.name]) for block in blocks]
    return [*columns, Column("MAP with a truth", whole, optional=4)]


def expertise_table(summary: RoutingSummary, *, all_intervals: bool = False) -> Table:
    """Expertise and files at risk of each router that has any; no columns where the history has no files."""
    names = [name for name in ranked(summary.metrics, "mrr") if summary.routers[name].expertise]
    if not names or summary.files_at_risk is None:
        return []
    found = [each for name in names if (each := summary.routers[name].expertise)]
    columns = [Column("router", names, text=True)]
    for measure in found[0].metrics:
        columns.append(Column(measure, [rate(each.metrics[measure]) for each in found]))
        if all_intervals:
            columns.append(Column(INTERVAL, [interval(each.intervals[measure]) for each in found]))
    risks = [summary.routers[name].files_at_risk for name in names]
    shown = [of_all(risk.at_risk, risk.files) if risk else "–" for risk in risks]
    replaced = [count(risk.replaced if risk else None) for risk in risks]
    columns += [Column("files at risk", shown, optional=1), Column("reviewers replaced", replaced, optional=2)]
    return columns


def actual_lines(summary: RoutingSummary) -> list[str]:
    """The same of what really happened, in sentences."""
    lines = []
    if (found := summary.expertise) and found.observed_prs:
        unknown = f"; the files of {plural(found.unknown, 'pull request')} are not known" if found.unknown else ""
        ends = f" (95 % interval {interval(found.interval)})" if found.interval else ""
        lines.append(
            f"Of {plural(found.observed_prs, 'pull request')} with a truth, {rate(found.expertise)}{ends} had somebody"
            f" respond who had worked on a file before{unknown}."
        )
    if risk := summary.files_at_risk:
        one = risk.files == 1
        lines.append(
            f"As it came, {of_all(risk.at_risk, risk.files, 'file')} ({rate(risk.share)}) {'is' if one else 'are'} at"
            f" risk: fewer than two of the {plural(risk.active_people, 'active person', 'active people')} know"
            f" {'it' if one else 'them'}."
        )
    return lines


def requests_line(summary: RoutingSummary) -> list[str]:
    """How many of those asked responded; nothing where the history has no requests."""
    if summary.responses is None:
        return []
    counts = summary.responses.counts
    apart = {"withdrawn": counts.withdrawn, "open when the history ends": counts.unknown}
    rest = "".join(f"; {count(number)} {why}" for why, number in apart.items() if number)
    late = f", {rate(counts.rate_ever)} with those who came later" if counts.responded_late else ""
    return [
        f"{plural(counts.requests, 'request')} for a review: {count(counts.responded)} of {count(counts.known)}"
        f" responded to in time ({rate(counts.rate)}{late}){rest}."
    ]


def requests_table(summary: RoutingSummary, most: int = NAMED_PEOPLE) -> Table:
    """The people who were asked most; no columns where nobody was."""
    people = summary.responses.people[:most] if summary.responses else ()
    if not people:
        return []
    counts = [each.counts for each in people]
    return [
        Column("person", [each.login for each in people], text=True),
        Column("requests", [count(each.requests) for each in counts]),
        Column("in time", [count(each.responded) for each in counts]),
        Column("later", [count(each.responded_late) for each in counts]),
        Column("never", [count(each.no_response) for each in counts]),
        Column("withdrawn", [count(each.withdrawn) for each in counts], optional=1),
        Column("open", [count(each.unknown) for each in counts], optional=1),
        Column("response rate", [rate(each.rate) for each in counts]),
        Column("ever", [rate(each.rate_ever) for each in counts], optional=2),
    ]


def load_lines(summary: RoutingSummary) -> list[str]:
    """Whom each router recommends first most often, with shares, and who really responds."""
    lines = []
    actual: Sequence[PersonLoad] = ()
    for name in ranked(summary.metrics, "mrr"):
        people = summary.routers[name].load.people
        actual = actual or sorted(people, key=lambda each: (-each.actual, each.login))
        if listed := _shares([(each.login, each.recommended) for each in people]):
            lines.append(f"{name} recommends first: {listed}")
    really = _shares([(each.login, each.actual) for each in actual])
    return lines + ([f"Really responded: {really}"] if really else [])


def _shares(people: Sequence[tuple[str, int]]) -> str:
    total = sum(number for _, number in people)
    named = [f"{login} {count(number)} ({number / total:.0%})" for login, number in people[:_SHORT] if number]
    others = sum(number > 0 for _, number in people[_SHORT:])
    return ", ".join([*named, *([plural(others, "other")] if others else [])])


def load_table(summary: RoutingSummary) -> Table:
    """Pull requests per person: who really responded, and whom each router recommends first, with shares."""
    names = ranked(summary.metrics, "mrr")
    loads = {name: {each.login: each for each in summary.routers[name].load.people} for name in names}
    everybody: dict[str, int] = {}
    actual: dict[str, int] = {}
    for of_one in loads.values():
        for login, each in of_one.items():
            everybody[login] = max(everybody.get(login, 0), each.recommended, each.actual)
            actual[login] = each.actual
    people = sorted(everybody, key=lambda login: (-everybody[login], login))[:NAMED_PEOPLE]
    if not people:
        return []
    columns = [Column("person", people, text=True), Column("really responded", _column(people, actual))]
    for name, of_one in loads.items():
        given = {login: each.recommended for login, each in of_one.items()}
        columns.append(Column(name, _column(people, given), from_data=True))
    return columns


def _column(people: Sequence[str], numbers: dict[str, int]) -> list[str]:
    total = sum(numbers.values())
    return [f"{count(number)} ({number / total:.0%})" if (number := numbers.get(who, 0)) else "0" for who in people]
