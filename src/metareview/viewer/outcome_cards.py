"""A comment and what became of it: its place, its note, the answers, its code and the later change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from metareview.comparison.outcome_evidence import LISTS
from metareview.model.words import plural
from metareview.outcomes.records import CommentOutcome, OutcomeRecord, Reply
from metareview.report.evidence_words import about
from metareview.report.names import capital, excerpt, pull_request_name
from metareview.report.outcome_words import NAMES, became
from metareview.report.page.blocks import name, tag, where
from metareview.report.page.markup import Html, html, join
from metareview.report.page.notes import note
from metareview.runs.rows import outcomes_at
from metareview.viewer.diffs import code, commit, diff
from metareview.viewer.links import address_with, within
from metareview.viewer.outcome_index import Spot
from metareview.viewer.run_view import RunView
from metareview.viewer.runs_page import when

MOST_REPLIES, MOST_COMMITS = 20, 10
_LONGEST_NAME = 60
TAGS = {"heeded": "good", "rejected": "bad", "repeated": "warn", "undecided": "warn"}
_CARD = (
    '<article class="card outcome" id="{id}"><div class="head"><h2>{title}</h2> {tags}</div>\n'
    '<p class="where">{about}</p>\n{note}<p class="became">{became}</p>\n{rest}</article>\n'
)
_REPLY = '<div class="reply"><p class="where"><b>{}</b> answered{}</p>{}</div>\n'
_FOLDED = "<details{}><summary>{}</summary>{}</details>\n"
_OPEN = Html(" open")


@dataclass(frozen=True)
class Shown:
    """A comment as a page has it."""

    spot: Spot
    record: OutcomeRecord
    outcome: CommentOutcome

    @property
    def anchor(self) -> str:
        return f"c{self.spot.record}-{self.spot.position}"


def read_shown(view: RunView, spots: Sequence[Spot]) -> list[Shown]:
    """The comments at these places, each record read once and nothing of it but these."""
    wanted: dict[int, list[Spot]] = {}
    for spot in spots:
        wanted.setdefault(spot.record, []).append(spot)
    found: dict[tuple[int, int], tuple[OutcomeRecord, CommentOutcome]] = {}
    for number, of_one in wanted.items():
        record = outcomes_at(view.folder, of_one[0].place, {spot.position for spot in of_one})
        for outcome in record.comments:
            found[number, outcome.position] = record, outcome
    return [Shown(spot, *found[spot.record, spot.position]) for spot in spots]


def address_of(view: RunView, pr: str, record: int, position: int) -> str:
    """Of a comment, on the page of its pull request."""
    return address_with(view.address(pr), {"at": f"{record}-{position}"}, f"c{record}-{position}")


def outcome_card(view: RunView, shown: Shown, *, of_pr: bool, opened: bool, label: str | None = None) -> Html:
    """`of_pr`: on the page of its pull request, which need not be named. `opened`: code and change without a click.
    `label`: what people hold of it."""
    record, outcome = shown.record, shown.outcome
    place = where(outcome.comment) if outcome.comment.path else html("The whole pull request")
    here = address_of(view, record.pr, shown.spot.record, outcome.position)
    pr = None if of_pr else within(view.address(record.pr), name(excerpt(pull_request_name(record.pr), _LONGEST_NAME)))
    known = [pr, html("by {}", name(excerpt(record.reviewer, _LONGEST_NAME))), *map(name, about(outcome.comment))]
    if outcome.comment.at:
        known.append(html("{}", when(outcome.comment.at)))
    return html(
        _CARD,
        id=shown.anchor,
        title=within(here, place),
        tags=join(_tags(outcome, label), " "),
        about=join([each for each in known if each], " · "),
        note=note(outcome.comment.note),
        became=list(_became(view, shown)),
        rest=[*_replies(outcome.replies), *evidence(outcome, opened=opened)],
    )


def _tags(outcome: CommentOutcome, label: str | None) -> Iterator[Html]:
    for which, holds in LISTS.items():
        if holds(outcome):
            yield tag(NAMES[which].lower(), TAGS.get(which, ""))
    if label is not None:
        yield tag(f"labelled: {SAID[label]}")


SAID = {"fully": "fully addressed", "partly": "partly addressed", "not": "not addressed", "unknown": "cannot tell"}
"""The verdicts in words."""


def _became(view: RunView, shown: Shown) -> Iterator[object]:
    """In words, with links to the commits that changed its lines and to what it says again."""
    record, outcome = shown.record, shown.outcome
    yield capital("; ".join(became(replace(outcome, changed_by=(), repeats=None)))) or "Nothing is known of it"
    yield ". "
    if outcome.changed_by:
        commits = [commit(record.pr, sha) for sha in outcome.changed_by[:MOST_COMMITS]]
        more = len(outcome.changed_by) - len(commits)
        yield html("Changed by {}{}. ", join(commits, ", "), f" and {more} more" if more > 0 else None)
    if outcome.repeats is not None:
        first = address_of(view, record.pr, shown.spot.record, outcome.repeats)
        yield html("It says again what {} says. ", within(first, "an earlier comment"))


def _replies(replies: Sequence[Reply]) -> Iterator[Html]:
    for reply in replies[:MOST_REPLIES]:
        at = html(" · {}", when(reply.at)) if reply.at else None
        yield html(_REPLY, name(excerpt(reply.author or "somebody", _LONGEST_NAME)), at, note(reply.note))
    if (more := len(replies) - MOST_REPLIES) > 0:
        yield html('<p class="muted fine">{}</p>\n', plural(more, "more answer"))


def evidence(outcome: CommentOutcome, *, opened: bool) -> Iterator[Html]:
    """The code that it points at, and what was done later."""
    is_open = _OPEN if opened else None
    if outcome.code:
        yield html(_FOLDED, is_open, "The lines that it points at", code(outcome.code))
    if outcome.later_change is None:
        yield html('<p class="muted fine">The later change is not known.</p>\n')
    elif not outcome.later_change.strip():
        yield html('<p class="muted fine">Nothing was changed after the comment.</p>\n')
    else:
        yield html(_FOLDED, is_open, "The later change", diff(outcome.later_change))
