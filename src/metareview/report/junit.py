"""The report as JUnit XML, so that a build server shows it beside the tests.

One test suite per reviewer (or router). In it, one test case per gate, which fails where the gate is missed, and one
per pull request: an error where the judge left pairs undecided, skipped where a filter dropped it, passed otherwise.
A pull request cannot fail by itself: how good is good enough is for a gate to say.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from metareview.model.words import plural
from metareview.report.costs import cost_properties
from metareview.report.headline import order
from metareview.report.names import clean, in_words, pull_request_name
from metareview.report.numbers import ranked, rate
from metareview.runs.run import AnyRun, CommentsRun, RoutingRun, is_comments

_COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def as_junit(run: AnyRun) -> str:
    names = order(run.result).names if is_comments(run) else ranked(run.metrics, "mrr")
    suites = {name: _suite(run, name) for name in names}
    if is_comments(run):
        _add_comment_cases(run, suites)
    else:
        _add_routing_cases(run, suites)
    root = Element("testsuites", name="metareview")
    root.extend(suites.values())
    for element in (*suites.values(), root):
        element.set("tests", str(len(element.findall(".//testcase"))))
        for key, child in _COUNTED.items():
            element.set(key, str(len(element.findall(f".//{child}"))))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, "unicode") + "\n"


def _suite(run: AnyRun, name: str) -> Element:
    suite = Element("testsuite", name=clean(name))
    properties = SubElement(suite, "properties")
    costs = cost_properties(run.result.reviewers[name].costs) if is_comments(run) else {}
    for key, value in {**_coverage(run, name), **run.metrics[name], **costs}.items():
        SubElement(properties, "property", name=key, value="null" if value is None else repr(value))
    for gate in run.result.build_gates:
        if gate.name != name:
            continue
        case = _case(suite, f"{gate.metric} {gate.demand}", f"{name}.gates")
        if not gate.passed:
            problem = f"{gate.metric} is {rate(gate.value)}, must be {gate.demand}"
            SubElement(case, "failure", message=problem, type="gate")
    return suite


def _coverage(run: AnyRun, name: str) -> dict[str, int | None]:
    """Over how many pull requests the figures are, and for a reviewer of how many."""
    if not is_comments(run):
        return {"prs": run.result.prs}
    block = run.result.reviewers[name]
    repeated = {"repeated_nums": block.repeated} if block.repeated else {}
    return {"prs": block.prs, "prs_with_references": block.prs_with_references, **repeated}


def _case(suite: Element, name: str, group: str) -> Element:
    return SubElement(suite, "testcase", name=clean(name), classname=clean(group), time="0")


def _add_comment_cases(run: CommentsRun, suites: dict[str, Element]) -> None:
    for record in run.read_records():
        name, counts = record.reviewer, record.counts
        case = _case(suites[name], pull_request_name(record.pr), f"{name}.pull_requests")
        if record.skipped:
            SubElement(case, "skipped", message=clean(record.skip_reason or "left out by a filter"))
            continue
        if counts.undecided:
            SubElement(case, "error", message=f"{plural(counts.undecided, 'pair')} stayed undecided", type="undecided")
        matched = f"{counts.matched} of {counts.generated} comments matched"
        raised = f"{counts.covered} of {counts.expected} references raised"
        SubElement(case, "system-out").text = f"{matched}; {raised}"


def _add_routing_cases(run: RoutingRun, suites: dict[str, Element]) -> None:
    for record in run.read_records():
        for name, suite in suites.items():
            case = _case(suite, record.name, f"{name}.pull_requests")
            if why := run.result.routers[name].not_applicable:
                SubElement(case, "skipped", message=clean(f"{name} is not applicable: {why}"))
            elif record.truth.state == "observed":
                rank = record.answers[name].rank
                SubElement(case, "system-out").text = f"rank {rank}" if rank else "not on the list"
            else:
                SubElement(case, "skipped", message=f"truth: {in_words(record.truth.state)}; counted as a miss")
