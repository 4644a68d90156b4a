"""`sarif`: SARIF 2.1.0, written by static analysis and many review tools. A run is a review, a result a comment."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from metareview.formats.input_file import InputFile
from metareview.formats.protocol import CommentFormat
from metareview.formats.record import Record
from metareview.formats.sarif.bag import bag_of, review_with_bag, with_bag
from metareview.formats.sarif.places import Places
from metareview.formats.sarif.rules import Rules, result_text
from metareview.formats.sarif.write import write
from metareview.model.comment import Comment, Review
from metareview.model.words import plural

_VERSION = "2.1.0"
_FIX = "Write SARIF 2.1.0; the SARIF Multitool converts older versions."
_REPOSITORY = re.compile(r"(?:\w+://)?(?:[^/@\s]+@)?[^/:\s]+[/:](?P<name>[^\s?#]+/[^\s/?#]+?)(?:\.git)?/?")
_NO_PROBLEM = ("pass", "notApplicable", "informational")
"""Any other kind is a problem, or may be one and needs a review."""
_EXTERNAL_LISTS = ("results", "artifacts", "invocations", "extensions")


def sniff(file: InputFile) -> bool:
    if not file.json.looks_like_json:
        return False
    value = file.json.first.value
    return isinstance(value, dict) and "runs" in value and ("version" in value or "$schema" in value)


def read(file: InputFile) -> Iterator[Review]:
    """A review for each run, by its tool. A run that failed before it found anything is left out, with a warning:
    it is not silence.
    """
    for log in file.json.records("a SARIF log", fix=_FIX):
        version = log.value.get("version")
        if not isinstance(version, str) or not version.startswith(_VERSION):
            log.refuse("version", f'"{_VERSION}"', _FIX, quote=True)
        if log.value.get("runs") is None:
            file.warnings.add_sentence(f"{file.name}: runs is null: whatever was to write it failed")
        elif not log.value["runs"]:
            yield Review(file.required_pull_request(), source=file.name)
        for run in log.objects("runs", "a run"):
            yield from _reviews(_with_inline(run, log.optional_objects("inlineExternalProperties")))


def _with_inline(run: Record, inline: list[Record]) -> Record:
    """The run with its properties from elsewhere in the log; a warning for those in other files."""
    references = run.optional_object("externalPropertyFileReferences")
    if not references.value:
        return run
    tool = run.optional_object("tool")
    holders = {name: tool if name == "extensions" else run for name in _EXTERNAL_LISTS}
    lists: dict[str, list[Any]] = {}
    driver = dict(tool.optional_object("driver").value)
    missing = []
    by_guid = {guid: each for each in reversed(inline) if isinstance(guid := each.value.get("guid"), str)}
    for name, value in references.value.items():
        is_one = isinstance(value, dict)
        for reference in [references.optional_object(name)] if is_one else references.optional_objects(name):
            found = _inline_of(reference, inline, by_guid)
            if found is None:
                missing.append(name)
            elif name in _EXTERNAL_LISTS:
                lists.setdefault(name, list(_list_of(holders[name], name))).extend(_list_of(found, name))
            elif name == "driver":
                driver |= found.optional_object("driver").value
    if missing:
        names = ", ".join(dict.fromkeys(missing))
        run.file.warnings.add_sentence(f"{run.file.name}: {names} of a run are in other files, which are not read")
    extensions = {name: lists.pop(name) for name in ("extensions",) if name in lists}
    return run._replace(value={**run.value, **lists, "tool": {**tool.value, "driver": driver, **extensions}})


def _list_of(properties: Record, name: str) -> list[Any]:
    value = properties.value.get(name)
    return value if isinstance(value, list) else []


def _inline_of(reference: Record, inline: list[Record], by_guid: Mapping[str, Record]) -> Record | None:
    """The properties that a reference names by place in the log, or by guid."""
    uri = reference.optional_object("location").value.get("uri")
    place = re.fullmatch(r"sarif:/inlineExternalPropert\w+/([0-9]{1,6})", uri) if isinstance(uri, str) else None
    if place and int(place[1]) < len(inline):
        return inline[int(place[1])]
    guid = reference.value.get("guid")
    return by_guid.get(guid) if isinstance(guid, str) else None


def _reviews(run: Record) -> Iterator[Review]:
    file = run.file
    driver = run.optional_object("tool").optional_object("driver")
    reviewer = driver.optional_text("name") or None
    failed, error = _failure(run)
    failure = error or "executionSuccessful is false" if failed else None
    what = f"{file.name}: a run of {reviewer or 'a tool'}"
    if run.value.get("results") is None or (failure is not None and not run.value["results"]):
        why = f" ({failure})" if failure else ""
        file.warnings.add_sentence(f"{what} has no results{why}; it is no silence")
        return
    if failure is not None:
        file.warnings.add_sentence(f"{what} failed ({failure}): its results may not be all")
    elif error is not None:
        file.warnings.add_sentence(f"{what} reports an error: {error}")
    names, commit = _names(run)
    comments = tuple(_comments(run, driver, commit))
    review = Review("", comments, reviewer, source=file.name, other_names=names)
    if bag := bag_of(run):
        review = review_with_bag(review, bag)
    own_name = file.pull_request or next(iter(names), None)
    yield replace(review, pr=review.pr or own_name or file.required_pull_request())


def _failure(run: Record) -> tuple[bool, str | None]:
    """Failure of a run, and the first error that it reports."""
    failed, errors = False, list[str | None]()
    for invocation in run.optional_objects("invocations"):
        failed |= invocation.value.get("executionSuccessful") is False
        kinds = map(invocation.optional_objects, ("toolExecutionNotifications", "toolConfigurationNotifications"))
        notes = (note for notes in kinds for note in notes if note.value.get("level") == "error")
        errors += [note.optional_object("message").optional_text("text") for note in notes]
        errors.append(invocation.optional_text("processStartFailureMessage"))
    return failed, next((text[:200] for text in errors if text), None)


def _names(run: Record) -> tuple[tuple[str, ...], str | None]:
    """`owner/repo@commit` of each analysed repository, and the commit if there is only one."""
    names, commits = [], []
    for details in run.optional_objects("versionControlProvenance"):
        repository = _REPOSITORY.fullmatch(details.optional_text("repositoryUri") or "")
        commit = details.optional_text("revisionId")
        if commit:
            commits.append(commit)
        if repository and commit:
            names.append(f"{repository['name']}@{commit}")
    return tuple(dict.fromkeys(names)), commits[0] if len(commits) == 1 else None


def _comments(run: Record, driver: Record, commit: str | None) -> Iterator[Comment]:
    """The comments of a run, with a warning that counts the results that are not comments."""
    rules, places = Rules(run, driver), Places(run)
    left_out = Counter[str]()
    for result in run.objects("results", "a result"):
        kind = result.optional_text("kind") or "fail"
        why = _left_out(result, kind)
        if why:
            left_out[why] += 1
            continue
        rule = rules.of(result)
        path, (start, end) = _place(result, places)
        comment = Comment(
            result.note_or_refusal(result_text(result, rule)),
            path=path,
            from_line=start,
            to_line=end,
            id=result.optional_text("guid"),
            category=_category(result) or rule.id or rule.name,
            severity=rules.level(result, rule, kind),
            commit=commit,
        )
        bag = bag_of(result)
        yield with_bag(comment, bag) if bag else comment
    for why, count in left_out.items():
        run.file.warnings.add_sentence(f"{run.file.name}: {plural(count, 'result')} left out: {why}")


def _left_out(result: Record, kind: str) -> str | None:
    """The reason why a result is not a comment; None where it is one."""
    value = result.value
    suppressions = [each.value for each in result.optional_objects("suppressions")] if value.get("suppressions") else []
    states = {str(each.get("status") or each.get("state") or "accepted") for each in suppressions}
    if states == {"accepted"}:
        return "suppressed"
    if value.get("baselineState") == "absent":
        return "gone since the baseline (absent)"
    return f"of kind {kind}, which is no problem" if kind in _NO_PROBLEM else None


def _category(result: Record) -> str | None:
    return result.optional_text("ruleId") or result.optional_object("rule").optional_text("id")


def _place(result: Record, places: Places) -> tuple[str | None, tuple[int | None, int | None]]:
    """The first location that names a file; without any, the analysed file."""
    for location in result.optional_objects("locations") if result.value.get("locations") else ():
        physical = location.optional_object("physicalLocation")
        if path := places.path(physical.optional_object("artifactLocation")):
            return path, places.lines(physical)
    target = result.value.get("analysisTarget")
    return (None if target is None else places.path(result.optional_object("analysisTarget"))), (None, None)


SUMMARY = "SARIF 2.1.0: a review per run, a comment per result; suppressed and absent results are left out"
PLUGIN = CommentFormat(SUMMARY, sniff, read, write, by_tools=True)
