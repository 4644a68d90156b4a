"""The section of evidence as Markdown: what was missed, what is noise, what nearly matched, ten of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from metareview.comparison.evidence import TOP, Evidence, evidence
from metareview.comparison.evidence_search import ListName
from metareview.comparison.quotes import Entry
from metareview.report.evidence_words import (
    about,
    found_in,
    marks,
    nothing_near,
    ordering,
    partner_title,
    raised,
    sides,
    title,
    verdict_words,
)
from metareview.report.names import capital, excerpt, location, pull_request_name
from metareview.report.plain_notes import one_line_note
from metareview.runs.run import CommentsRun

SHOWN: tuple[ListName, ...] = ("missed", "noise", "near")
_NOTE, _PARTNER = 280, 200


def evidence_section(run: CommentsRun, safe: Callable[[object], str]) -> list[str]:
    """`safe`: what makes others' text harmless in Markdown."""
    found = evidence(run, SHOWN, top=TOP)
    lines = [line for name in SHOWN if found.lists[name] for line in _list(name, found, safe)]
    return ["## The evidence", "", *lines] if lines else []


def _list(name: ListName, found: Evidence, safe: Callable[[object], str]) -> Iterator[str]:
    entries = found.lists[name]
    more = f" The first {len(entries)}:" if len(entries) < found.counts[name] else ""
    yield from (f"### {safe(title(name, found))}", "", f"{safe(capital(ordering(name, found)))}.{more}", "")
    for number, entry in enumerate(entries, 1):
        yield from _entry(number, name, entry, found, safe)
    yield ""


def _entry(number: int, name: ListName, entry: Entry, found: Evidence, safe: Callable[[object], str]) -> Iterator[str]:
    each = sides(name, entry)
    comment = each.main.comment
    named = not each.about_reference and (len(found.reviewers) > 1 or entry.by != entry.reviewer)
    by = f"by {entry.by}" if named else ""
    known = [pull_request_name(entry.pr), location(comment), *about(comment), *found_in(each, found), by]
    head, said = " · ".join(part for part in known if part), excerpt(one_line_note(comment.note), _NOTE)
    yield f"{number}. **{safe(head)}** {safe(said)}"
    indent = " " * len(f"{number}. ")
    if each.partner is None or entry.verdict is None:
        yield f"{indent}- {capital(nothing_near(each))}"
    else:
        judged = "; ".join([f"{partner_title(each)}: {verdict_words(entry.verdict)}", *marks(each)])
        yield f"{indent}- {safe(capital(judged))}. {safe(excerpt(one_line_note(each.partner.comment.note), _PARTNER))}"
    if who := raised(each, found):
        yield f"{indent}- {safe(capital(who))}"
