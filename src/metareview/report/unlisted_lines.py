"""The unlisted issues of a run for a terminal: where, what is said, by whom, and what was held of it."""

from __future__ import annotations

from collections.abc import Iterator

from metareview.comparison.unlisted import IssueComment
from metareview.comparison.unlisted_entries import VERDICTS, Held, UnlistedEntries, UnlistedEntry
from metareview.model.words import plural
from metareview.report.evidence_lines import PARTNER_LINES, beside, half, indented, packed, shown_of, titled
from metareview.report.evidence_words import about, listed
from metareview.report.names import location, printable, pull_request_name
from metareview.report.numbers import count
from metareview.report.plain_notes import note_lines
from metareview.report.terminal import Heading, broken

_MOST_LINES, _MOST_COMMENTS = 40, 5
"""Of the first note; and how many comments of an issue are shown."""
_WORDS = {"valid": "valid", "invalid": "invalid", "repeat": "repeats", "unjudged": "not judged"}


def unlisted_lines(found: UnlistedEntries, width: int) -> Iterator[str]:
    """How many there are, what was held of them, and the first."""
    of = "" if found.everybody else f" of {listed(found.reviewers)}"
    what = f"{plural(found.issues, 'issue')}{of} that no reference covers"
    said = f", in {plural(found.comments, 'comment')}" if found.issues else ""
    yield from titled(f"Unlisted: {what}{said}{shown_of(len(found.entries), found.issues)}", width)
    if found.issues:
        counts = ", ".join(f"{count(found.verdicts[name])} {_WORDS[name]}" for name in VERDICTS)
        order = "said by most reviewers first, then by place; " if len(found.entries) > 1 else ""
        yield from broken(f"({order}{counts})", width)
    for position, entry in enumerate(found.entries, 1):
        yield ""
        yield from _entry(position, entry, found, width)


def _entry(position: int, entry: UnlistedEntry, found: UnlistedEntries, width: int) -> Iterator[str]:
    lead = f"{position}. "
    inside, indent = width - len(lead), " " * len(lead)
    first, *others = entry.evidence.comments
    parts = [pull_request_name(entry.issue.pr), location(first.comment), " · ".join(about(first.comment))]
    parts.append(f"by {first.reviewer}")
    for number, line in enumerate(packed([printable(part) for part in parts if part], inside)):
        yield Heading(indented(lead if number == 0 else indent, line))
    note = note_lines(first.comment.note, half(inside), _MOST_LINES)
    right = [line for said in others[: _MOST_COMMENTS - 1] for line in _also(said, first, half(inside))]
    if len(others) >= _MOST_COMMENTS:
        right.append(f"and {plural(len(others) - _MOST_COMMENTS + 1, 'more comment')}")
    yield from (indented(indent, line) for line in beside(note, right, inside))
    who = f"Said by {listed(entry.issue.reviewers)}"
    if len(found.run.result.reviewers) > 1:
        who += f" ({len(entry.issue.reviewers)} of {plural(len(found.run.result.reviewers), 'reviewer')})"
    yield from (indented(indent, line) for line in broken(printable(f"{who}; {held_words(entry.held)}"), inside))


def _also(said: IssueComment, first: IssueComment, width: int) -> Iterator[str]:
    at = location(said.comment)
    where = "" if not at else ", at the same place" if at == location(first.comment) else f", at {at}"
    yield from broken(printable(f"Also {said.reviewer}{where}:"), width)
    yield from ("  " + line for line in note_lines(said.comment.note, width - 2, PARTNER_LINES))


def held_words(held: Held) -> str:
    """What is held of an issue, and by whom: `labelled valid`, `labelled valid by the model m, by no person`."""
    if held.rejected:
        return "invalid, because it repeats a rejected comment"
    if held.verdict is None:
        return "not labelled"
    called = f"labelled {'a repeat' if held.verdict == 'repeat' else held.verdict}"
    return called if held.model is None else f"{called} by the model {held.model}, by no person"
