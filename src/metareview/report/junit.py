"""The report as JUnit XML, so that a build server shows it beside the tests.

One test suite a reviewer (or router). In it, one test case for each gate, which fails where the gate is missed, and
one for each pull request: an error where the judge left pairs undecided, skipped where a filter dropped it, passed
otherwise. A pull request cannot fail by itself: how good is good enough is what a gate says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from metareview.report.numbers import hit_names, plural, pull_request_name, ranked, ranked_routers, rate
from metareview.report.page.markup import clean
from metareview.report.source import Run


class Gate(Protocol):
    """A figure that must be reached: `metric` at least `limit`, or at most where `over`."""

    @property
    def metric(self) -> str: ...
    @property
    def limit(self) -> float: ...
    @property
    def over(self) -> bool: ...
    def missed_by(self, value: float | None) -> bool: ...


def as_junit(run: Run, gates: Sequence[Gate] = ()) -> str:
    """The whole document."""
    root = Element("testsuites", name="metareview")
    suites = _routing_suites(run, gates) if run.kind == "routing" else _comment_suites(run, gates)
    for suite in suites:
        _count(suite)
        root.append(suite)
    for key in ("tests", "failures", "errors", "skipped"):
        root.set(key, str(sum(int(suite.get(key, "0")) for suite in root)))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, "unicode") + "\n"


def _suite(name: str, figures: Mapping[str, Any], gates: Sequence[Gate]) -> Element:
    suite = Element("testsuite", name=clean(name))
    properties = SubElement(suite, "properties")
    for metric, value in figures.items():
        SubElement(properties, "property", name=metric, value="null" if value is None else repr(value))
    for gate in gates:
        value = figures.get(gate.metric)
        asked = f"{gate.metric} {'at most' if gate.over else 'at least'} {gate.limit:g}"
        case = _case(suite, asked, f"{name}.gates")
        if gate.missed_by(value):
            SubElement(
                case, "failure", message=f"{gate.metric} is {rate(value)}, asked for: {asked}", type="gate"
            )
    return suite


def _case(suite: Element, name: str, group: str) -> Element:
    return SubElement(suite, "testcase", name=clean(name), classname=clean(group), time="0")


def _count(suite: Element) -> None:
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    for key, child in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(key, str(sum(case.find(child) is not None for case in cases)))


def _comment_suites(run: Run, gates: Sequence[Gate]) -> Iterator[Element]:
    blocks = run.summary["reviewers"]
    suites = {n: _suite(n, blocks[n]["metrics"], gates) for n in ranked(blocks)}
    for record in run.records():
        reviewer = record["reviewer"]
        case = _case(
            suites[reviewer], pull_request_name(record["github_pr_url"]), f"{reviewer}.pull_requests"
        )
        if record["skipped"]:
            SubElement(case, "skipped", message=clean(record["skip_reason"] or "left out by a filter"))
            continue
        undecided = record["judge_error_nums"]
        if undecided:
            told = f"{plural(undecided, 'pair')} stayed undecided"
            SubElement(case, "error", message=told, type="undecided")
        SubElement(case, "system-out").text = (
            f"{record['positive_match_nums']} of {record['total_generated_nums']} comments matched; "
            f"{record['positive_covered_nums']} of {record['positive_expected_nums']} references raised"
        )
    yield from suites.values()


def _routing_suites(run: Run, gates: Sequence[Gate]) -> Iterator[Element]:
    routers = run.summary["routers"]
    metrics = ["mrr", *hit_names(run.summary)]
    names = ranked_routers(run.summary)
    suites = {n: _suite(n, {m: routers[n][m] for m in metrics}, gates) for n in names}
    for record in run.records():
        for router, suite in suites.items():
            case = _case(suite, f"{record['repo']}#{record['pr']}", f"{router}.pull_requests")
            state = record["truth"]["state"]
            if state != "observed":
                SubElement(case, "skipped", message=f"truth: {state.replace('_', ' ')}; counted as a miss")
                continue
            rank = record["routers"][router]["rank"]
            SubElement(case, "system-out").text = f"rank {rank}" if rank else "not on the list"
    yield from suites.values()
