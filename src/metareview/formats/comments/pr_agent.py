"""`pr-agent`: PR-Agent's review (`key_issues_to_review`) and suggestions (`code_suggestions`) as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator

from metareview.formats.findings import paragraphs, review_of
from metareview.formats.input_file import InputFile
from metareview.formats.protocol import CommentFormat
from metareview.formats.record import Record
from metareview.model.comment import Comment, Review

_ISSUES, _SUGGESTIONS = "key_issues_to_review", "code_suggestions"
_ISSUE = {"path": "relevant_file", "from_line": "start_line", "to_line": "end_line", "category": "issue_header"}
_LINES = {"from_line": "relevant_lines_start", "to_line": "relevant_lines_end"}
_SUGGESTION = {"path": "relevant_file", "category": "label", **_LINES}
_YAML = re.compile(rf"(?:```\w*\s*)?(?:review|{_SUGGESTIONS}):[ \t]*\r?\n")
_NOTHING = re.compile(r"(?i:no|none|no (?:\w+ ){0,3}issues(?: (?:detected|found|identified|to review))?)?\.?")
"""Texts that its model writes in place of an empty list."""


def sniff(file: InputFile) -> bool:
    if not file.json.looks_like_json and _YAML.match(file.text.lstrip()):  # `read` refuses it with the fix.
        return f"{_ISSUES}:" in file.text or f"{_SUGGESTIONS}:" in file.text
    value = file.json.only_value
    inner = value.get("review") if isinstance(value, dict) else None
    return any(isinstance(each, dict) and (_ISSUES in each or _SUGGESTIONS in each) for each in (value, inner))


def read(file: InputFile) -> Iterator[Review]:
    if not file.json.looks_like_json:
        fix = "Write the review as JSON, as PR-Agent's GitHub action puts it out."
        file.fail(1, "PR-Agent's YAML is not read", fix)
    for record in file.json.records("a review"):
        found: list[Comment] = []
        for holder in (record, record.optional_object("review")):
            issues = holder.value.get(_ISSUES)
            if not (isinstance(issues, str) and _NOTHING.fullmatch(issues.strip())):
                found += map(_issue, holder.objects(_ISSUES, "an issue"))
            found += map(_suggestion, holder.objects(_SUGGESTIONS, "a suggestion"))
        yield review_of(file, found)


def _issue(record: Record) -> Comment:
    note = paragraphs(record.optional_text("issue_header"), record.optional_text("issue_content"))
    return record.comment(_ISSUE, note)


def _suggestion(record: Record) -> Comment:
    note = paragraphs(record.optional_text("one_sentence_summary"), record.optional_text("suggestion_content"))
    return record.comment(_SUGGESTION, note)


SUMMARY = "PR-Agent's JSON: {review: {key_issues_to_review: [{relevant_file, issue_content, start_line, …}]}}"
PLUGIN = CommentFormat(SUMMARY, sniff, read, by_tools=True)
