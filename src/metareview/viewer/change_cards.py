"""What changed on one pull request: references newly found and lost, comments new and gone, verdicts that differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from metareview.comments.records import CommentRecord, ScoredComment, ScoredReference, Verdict
from metareview.model.words import format_score
from metareview.report.names import excerpt, in_words, pull_request_name
from metareview.report.numbers import of_all, signed
from metareview.report.page.blocks import behind, name, paragraph, tag
from metareview.report.page.markup import Html, html, join
from metareview.report.page.notes import note
from metareview.viewer.comment_cards import about
from metareview.viewer.differences import Change, JudgedTwice, ReviewerChange, RouterChange
from metareview.viewer.links import address_with, anchor, within
from metareview.viewer.run_view import RunView

MOST = 10
"""Items of one kind per pull request; the pages of the pull request have them all."""
_QUOTED, _REASON, _CANDIDATES = 240, 200, 5
_CARD = '<article class="change"><div class="head"><h3>{}</h3> {}</div>\n{}</article>\n'
_GROUP = '<h4>{} <span class="muted">{}</span></h4><ul class="items">{}</ul>{}\n'
_SAID = '<p class="said" dir="auto"><b>{}</b> <bdi>{}</bdi></p>'


@dataclass(frozen=True)
class Sides:
    """The two runs, and who of each."""

    runs: tuple[RunView, RunView]
    names: tuple[str, str]
    measure: str
    """The name of the main measure."""

    def address(self, side: int, pr: str, fragment: str = "") -> str:
        """Of the pull request in A (0) or B (1)."""
        return address_with(self.runs[side].address(pr), {"reviewer": self.names[side]}, fragment)


def change_card(sides: Sides, change: Change) -> Html:
    prs = [change.a.pr, change.b.pr] if isinstance(change, ReviewerChange) else [change.a.name, change.b.name]
    links = [within(sides.address(side, pr), f"in {'AB'[side]}") for side, pr in enumerate(prs)]
    effect = None
    if change.effect:
        css = "gain" if change.effect > 0 else "loss"
        effect = html('<span>adds <b class="{}">{}</b> to {}</span>', css, signed(change.effect), sides.measure.upper())
    body = list(_reviewers(sides, change)) if isinstance(change, ReviewerChange) else _routers(sides, change)
    return html(
        _CARD, name(pull_request_name(prs[0])), join([effect, html("<span>{}</span>", join(links, " · "))], " "), body
    )


def _reviewers(sides: Sides, change: ReviewerChange) -> Iterator[Html]:
    matched = [of_all(record.counts.matched, record.counts.generated) for record in (change.a, change.b)]
    yield paragraph(f"Comments that match: {matched[0]} in A, {matched[1]} in B.", css="where")
    if change.other_references:
        yield paragraph("The references of this pull request are not the same in A and B.", css="remark")
    found = [_reference(sides, 1, change.b, each) for each in change.found[:MOST]]
    lost = [_reference(sides, 0, change.a, each) for each in change.lost[:MOST]]
    verdicts = [_twice(sides, change, each) for each in change.verdicts[:MOST]]
    new = [_comment(sides, 1, change.b, each) for each in change.new[:MOST]]
    gone = [_comment(sides, 0, change.a, each) for each in change.gone[:MOST]]
    if found:
        yield _group(tag("newly found", "good"), len(change.found), found)
    if lost:
        yield _group(tag("newly lost", "bad"), len(change.lost), lost)
    if verdicts:
        yield _group(tag("verdicts that differ", "warn"), len(change.verdicts), verdicts)
    for side, number, items in (("B", len(change.new), new), ("A", len(change.gone), gone)):
        if items:
            listed = html('<ul class="items">{}</ul>{}', items, _left(number))
            yield behind(f"Comments only in {side} ({number:,})", listed)


def _group(title: Html, number: int, items: Sequence[Html]) -> Html:
    return html(_GROUP, title, f"{number:,}", items, _left(number))


def _left(number: int) -> Html | None:
    return paragraph(f"{number - MOST:,} more; the page of the pull request has them all.") if number > MOST else None


def _reference(sides: Sides, side: int, record: CommentRecord, reference: ScoredReference) -> Html:
    """A reference, and the comment of that side that raised it."""
    comments = {each.position: each for each in record.comments}
    by = [comments[generated] for generated, paired in record.matches if paired == reference.position]
    raised = [html(_SAID, f"Raised in {'AB'[side]}:", excerpt(each.comment.note, _QUOTED)) for each in by[:2]]
    there = within(sides.address(side, record.pr, anchor(reference=reference.position)), "show")
    return html(
        '<li><p class="where">{} · {}</p>{}{}</li>\n',
        about(reference.comment),
        there,
        note(reference.comment.note),
        raised,
    )


def _comment(sides: Sides, side: int, record: CommentRecord, scored: ScoredComment) -> Html:
    outcome = tag("matched", "good") if scored.matched else tag("not counted" if scored.left_out else "no match")
    there = within(sides.address(side, record.pr, anchor(scored.position)), "show")
    text = html('<p class="quoted" dir="auto"><bdi>{}</bdi></p>', excerpt(scored.comment.note, _QUOTED))
    return html('<li><p class="where">{} {} · {}</p>{}</li>\n', outcome, about(scored.comment), there, text)


def _twice(sides: Sides, change: ReviewerChange, pair: JudgedTwice) -> Html:
    verdicts = []
    for side, (record, verdict) in enumerate(((change.a, pair.a), (change.b, pair.b))):
        there = within(sides.address(side, record.pr, anchor(*pair.places[side])), "show")
        verdicts.append(html('<p class="verdict"><b>{}</b> {} · {}</p>', "AB"[side], _verdict(verdict), there))
    return html(
        '<li><p class="where">{}</p>{}{}{}</li>\n',
        about(pair.comment),
        html(_SAID, "Comment:", excerpt(pair.comment.note, _QUOTED)),
        html(_SAID, "Reference:", excerpt(pair.reference.note, _QUOTED)),
        verdicts,
    )


def _verdict(verdict: Verdict) -> Html:
    words = {True: ("same issue", "good"), False: ("different", ""), None: ("undecided", "warn")}
    parts = [tag(*words[verdict.match]), None if verdict.score is None else f"score {format_score(verdict.score)}"]
    parts += [html("by {}", name(verdict.by)), verdict.reason and name(excerpt(verdict.reason, _REASON))]
    return join([part for part in parts if part], " · ")


def _routers(sides: Sides, change: RouterChange) -> Html:
    targets = ", ".join(change.a.truth.targets)
    right = html("Right: {}", name(targets)) if targets else html("{}", in_words(change.a.truth.state).capitalize())
    rows = []
    for side, (rank, people) in enumerate(zip(change.ranks, change.candidates, strict=True)):
        verdict = tag(f"rank {rank}", "good") if rank else tag("not listed" if targets else "no truth")
        listed = ", ".join(people[:_CANDIDATES]) or "nobody"
        rows.append(html("<li><b>{}</b> {} {} {}</li>", "AB"[side], name(sides.names[side]), verdict, name(listed)))
    return html('<p class="where">{}</p><ul class="items">{}</ul>', right, rows)
