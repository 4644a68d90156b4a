"""The report as JUnit XML, so that a build server shows it beside the tests.

One test suite per reviewer (or router). In it, one test case per gate, which fails where the gate is missed, and one
per pull request: an error where the judge left pairs undecided, skipped where a filter dropped it, passed otherwise.
A pull request cannot fail by itself: how good is good enough is for a gate to say.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from metareview.comments.measures import f1
from metareview.model.words import plural
from metareview.report.costs import cost_properties
from metareview.report.headline import order
from metareview.report.names import clean, in_words, pull_request_name
from metareview.report.numbers import of_all, ranked, rate
from metareview.report.outcomes import order as outcome_order
from metareview.runs.run import AnyRun, CommentsRun, OutcomesRun, RoutingRun, is_comments, is_outcomes

_COUNTED = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def as_junit(run: AnyRun) -> str:
    suites = {name: _suite(run, name) for name in _names(run)}
    if is_outcomes(run):
        _add_outcome_cases(run, suites)
    elif is_comments(run):
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


def _names(run: AnyRun) -> list[str]:
    if is_outcomes(run):
        return outcome_order(run.result)
    return order(run.result).names if is_comments(run) else ranked(run.metrics, "mrr")


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


def _coverage(run: AnyRun, name: str) -> dict[str, float | None]:
    """Over how many pull requests the figures are, for a reviewer of how many, and how far its repeated runs differ."""
    if is_outcomes(run):
        figures = run.result.reviewers[name].figures
        known = {f"{metric}.known": number for metric, number in figures.known.items()}
        return {"prs": figures.prs, "comments": figures.comments, **known}
    if not is_comments(run):
        return {"prs": run.result.prs}
    block = run.result.reviewers[name]
    coverage: dict[str, float | None] = {"prs": block.prs, "prs_with_references": block.prs_with_references}
    if block.repeats is not None:
        spread = block.repeats.spread[f1.name]
        coverage |= {"runs": block.repeats.runs, "f1_sd_between_runs": None if spread is None else spread.sd}
    if block.repeated:
        coverage["repeated_nums"] = block.repeated
    return coverage


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
        matched = f"{of_all(counts.matched, counts.generated, 'comment')} matched"
        raised = f"{of_all(counts.covered, counts.expected, 'reference')} raised"
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


def _add_outcome_cases(run: OutcomesRun, suites: dict[str, Element]) -> None:
    for record in run.read_records():
        case = _case(suites[record.reviewer], pull_request_name(record.pr), f"{record.reviewer}.pull_requests")
        if record.undecided:
            problem = f"{plural(record.undecided, 'comment')} stayed undecided"
            SubElement(case, "error", message=problem, type="undecided")
        told = [outcome.lines_changed.value for outcome in record.comments]
        known = sum(value is not None for value in told)
        comments = plural(len(record.comments), "comment")
        SubElement(case, "system-out").text = f"{comments}; lines changed after {sum(map(bool, told))} of {known}"
