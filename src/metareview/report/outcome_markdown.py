"""What became of single comments as Markdown: not heeded, turned down, heeded, ten of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from metareview.comparison.outcome_evidence import TOP, OutcomeEntry, OutcomeEvidence, outcome_evidence
from metareview.report.evidence_words import about
from metareview.report.names import capital, excerpt, location, pull_request_name
from metareview.report.outcome_lines import OVERVIEW
from metareview.report.outcome_words import ORDERING, became, title
from metareview.report.plain_notes import one_line_note
from metareview.runs.run import OutcomesRun

_NOTE, _REPLY, _REPLIES = 280, 200, 2


def outcome_section(run: OutcomesRun, safe: Callable[[object], str]) -> list[str]:
    """`safe`: what makes others' text harmless in Markdown."""
    found = outcome_evidence(run, OVERVIEW, top=TOP)
    lines = [line for name in OVERVIEW if found.lists[name] for line in _list(name, found, safe)]
    return ["## The evidence", "", *lines] if lines else []


def _list(name: str, found: OutcomeEvidence, safe: Callable[[object], str]) -> Iterator[str]:
    entries = found.lists[name]
    more = f" The first {len(entries)}:" if len(entries) < found.counts[name] else ""
    yield from (f"### {safe(title(name, found))}", "", f"{capital(ORDERING)}.{more}", "")
    for number, entry in enumerate(entries, 1):
        yield from _entry(number, entry, safe)
    yield ""


def _entry(number: int, entry: OutcomeEntry, safe: Callable[[object], str]) -> Iterator[str]:
    comment = entry.outcome.comment
    parts = [pull_request_name(entry.pr), location(comment), *about(comment), f"by {entry.reviewer}"]
    head = " · ".join(part for part in parts if part)
    yield f"{number}. **{safe(head)}** {safe(excerpt(one_line_note(comment.note), _NOTE))}"
    indent = " " * len(f"{number}. ")
    yield f"{indent}- {safe(capital('; '.join(became(entry.outcome))))}"
    for reply in entry.outcome.replies[:_REPLIES]:
        said = excerpt(one_line_note(reply.note), _REPLY)
        yield f"{indent}- {safe(reply.author or 'somebody')} answered: {safe(said)}"
