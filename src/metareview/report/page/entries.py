"""The section of evidence: what was missed, what is noise, what nearly matched, the worst first."""

from __future__ import annotations

from collections.abc import Sequence

from metareview.comparison.evidence import TOP, Evidence, evidence
from metareview.comparison.evidence_search import ListName
from metareview.comparison.quotes import Entry
from metareview.model.words import plural
from metareview.report.evidence_words import (
    about,
    found_in,
    marks,
    nothing_near,
    ordering,
    partner_name,
    raised,
    sides,
    title,
    verdict_words,
)
from metareview.report.names import capital, excerpt, pull_request_name
from metareview.report.page.blocks import Section, behind, name, paragraph, where
from metareview.report.page.markup import Html, html, join, link
from metareview.report.page.notes import note
from metareview.runs.run import CommentsRun

SHOWN: tuple[ListName, ...] = ("missed", "noise", "near")
_IN_SIGHT = 3
"""Entries of a list before the click that shows the others."""
_PARTNER, _REASON = 240, 300


def evidence_section(run: CommentsRun) -> Section | None:
    """Ten of each list over the whole run; None where all of them are empty."""
    found = evidence(run, SHOWN, top=TOP)
    parts = [_list(each, found) for each in SHOWN if found.lists[each]]
    return Section("evidence", "The evidence", join(parts)) if parts else None


def _list(which: ListName, found: Evidence) -> Html:
    entries = found.lists[which]
    first, rest = entries[:_IN_SIGHT], entries[_IN_SIGHT:]
    more = found.counts[which] - len(entries)
    left = html(" {} of them are shown; <code>metareview show</code> has them all.", len(entries)) if more else None
    return join(
        [
            html("<h3>{}</h3>", title(which, found)),
            paragraph(f"{capital(ordering(which, found))}.", left, css="muted"),
            _items(which, first, found),
            behind(f"{plural(len(rest), 'more entry', 'more entries')}", _items(which, rest, found)) if rest else None,
        ]
    )


def _items(which: ListName, entries: Sequence[Entry], found: Evidence) -> Html:
    return html('<ul class="items">{}</ul>\n', [_item(which, entry, found) for entry in entries])


def _item(which: ListName, entry: Entry, found: Evidence) -> Html:
    each = sides(which, entry)
    known = [where(each.main.comment), *about(each.main.comment), *found_in(each, found)]
    if not each.about_reference and (len(found.reviewers) > 1 or entry.by != entry.reviewer):
        known.append(html("by {}", name(entry.by or "")))
    said = [capital(text) for text in (*marks(each), raised(each, found)) if text]
    if each.partner is None or entry.verdict is None:
        beside = html('<p class="where other">{}</p>', capital(f"{nothing_near(each)}."))
    else:
        reason = entry.verdict.reason and name(excerpt(entry.verdict.reason, _REASON))
        verdict = [capital(verdict_words(entry.verdict)), *said, reason]
        beside = html(
            '<div class="other"><p class="where"><b>{}</b> {}</p>{}</div><p class="verdict">{}</p>',
            capital(partner_name(each)),
            where(each.partner.comment),
            note(excerpt(each.partner.comment.note, _PARTNER)),
            join([part for part in verdict if part], " · "),
        )
    return html(
        '<li class="pair"><div><p class="where"><b>{}</b> {}</p>{}</div>{}</li>\n',
        link(entry.pr, pull_request_name(entry.pr)),
        join([part for part in known if part], " · "),
        note(each.main.comment.note),
        beside,
    )
