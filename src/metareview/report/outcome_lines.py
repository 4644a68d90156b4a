"""What became of comments, for a terminal: each entry a heading, the note, and beside or below it what became of it."""

from __future__ import annotations

from collections.abc import Iterator

from metareview.comparison.outcome_evidence import LISTS, OutcomeEntry, OutcomeEvidence
from metareview.model.words import plural
from metareview.report.evidence_lines import beside, half, indented, packed, shown_of, titled
from metareview.report.evidence_words import about
from metareview.report.names import capital, location, printable, pull_request_name
from metareview.report.numbers import count
from metareview.report.outcome_words import ORDERING, became, title, what
from metareview.report.plain_notes import note_lines
from metareview.report.terminal import Heading, broken

OVERVIEW = ("unheeded", "rejected", "heeded")
"""Of which an overview shows the first."""
_NOTE_LINES, _REPLY_LINES, _CHANGE_LINES, _REPLIES = 5, 3, 8, 3


def outcome_evidence_lines(evidence: OutcomeEvidence, width: int) -> Iterator[str]:
    """The lists that were asked for, one after the other."""
    for number, (name, entries) in enumerate(evidence.lists.items()):
        if number:
            yield ""
        yield from titled(f"{title(name, evidence)}{shown_of(len(entries), evidence.counts[name])}", width)
        if len(entries) > 1:
            yield from broken(f"({ORDERING})", width)
        for position, entry in enumerate(entries, 1):
            yield ""
            yield from _entry(position, entry, width)


def outcome_overview_lines(evidence: OutcomeEvidence, width: int) -> Iterator[str]:
    """How much there is of each list, and how to see it; then the first entries of the three that matter most."""
    for name in LISTS:
        lead = f"{count(evidence.counts[name]):>7}  {'--' + name:<15}"
        for at, line in enumerate(broken(what(name, evidence).partition(" ")[2], max(width - len(lead), 20))):
            yield (lead if at == 0 else " " * len(lead)) + line
    yield ""
    yield from outcome_evidence_lines(evidence, width)


def _entry(position: int, entry: OutcomeEntry, width: int) -> Iterator[str]:
    lead = f"{position}. "
    inside, indent = width - len(lead), " " * len(lead)
    comment = entry.outcome.comment
    parts = [pull_request_name(entry.pr), location(comment), " · ".join(about(comment)), f"by {entry.reviewer}"]
    for number, line in enumerate(packed([printable(part) for part in parts if part], inside)):
        yield Heading(indented(lead if number == 0 else indent, line))
    note = note_lines(comment.note, half(inside), _NOTE_LINES)
    yield from (indented(indent, line) for line in beside(note, list(_became(entry, half(inside))), inside))


def _became(entry: OutcomeEntry, width: int) -> Iterator[str]:
    outcome = entry.outcome
    yield from broken(printable(capital("; ".join(became(outcome)))) + ".", width)
    for reply in outcome.replies[:_REPLIES]:
        yield from broken(printable(f"{reply.author or 'somebody'} answered:"), width)
        yield from ("  " + line for line in note_lines(reply.note, width - 2, _REPLY_LINES))
    if more := len(outcome.replies) - _REPLIES:
        yield from [f"({plural(more, 'more answer')})"] * (more > 0)
    change = outcome.later_change if outcome.lines_changed.value else None
    lines = [printable(line.expandtabs(4)) for line in (change or "").splitlines()]
    for line in lines[:_CHANGE_LINES]:
        yield "  " + (line if len(line) <= width - 2 else line[: max(width - 3, 1)] + "…")
    if len(lines) > _CHANGE_LINES:
        yield f"  … {plural(len(lines) - _CHANGE_LINES, 'more line')} of the later change"
