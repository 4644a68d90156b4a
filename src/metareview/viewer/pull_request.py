"""The page of a pull request: a reviewer's comments and the references side by side, with lines between the pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from metareview.comments.records import CommentRecord, ScoredComment, ScoredReference
from metareview.model.label import PairKey
from metareview.model.words import plural
from metareview.report.headline import order
from metareview.report.names import pull_request_name
from metareview.report.numbers import count, rate
from metareview.report.page.blocks import facts, name, paragraph, remark, tag
from metareview.report.page.markup import Html, html, join, link
from metareview.report.page.notes import note
from metareview.runs.run import is_comments
from metareview.viewer.board import Board, Group
from metareview.viewer.comment_cards import about, comment_card
from metareview.viewer.controls import number, pager
from metareview.viewer.links import address_with, anchor, number_in, steps, within
from metareview.viewer.page import Page
from metareview.viewer.run_view import RunView

PAGE = 100
"""Pairs and comments on one page."""
MOST_REFERENCES = 500
_NAMED = 6
"""Reviewers that are named beside a reference; the others are counted."""
_GUTTER = '<div class="gutter"><svg class="threads" aria-hidden="true" focusable="false"></svg></div>'
_ROW = '<div class="row"><div>{}</div>' + _GUTTER + "<div>{}</div></div>\n"
_BESIDE = "Each comment is beside the reference that it was aligned with; equal numbers belong together."
_PAIRED = '<section aria-labelledby="pairs"><h2 id="pairs">{}</h2>{}{}</section>\n'
_ALONE = (
    '<div class="row alone"><section aria-labelledby="unpaired"><h2 id="unpaired">{}</h2>{}</section><div></div>\n'
    '<section aria-labelledby="missed"><h2 id="missed">{}</h2>{}</section></div>\n'
)
_REFERENCE = (
    '<article class="card" id="{id}"><div class="head"><h3><a href="#{id}">{label}</a></h3> {tags}</div>\n'
    '<p class="where">{about}</p>{note}\n{raised}</article>\n'
)
_NEGATIVE = (
    '<article class="card" id="n{}"><div class="head"><h3>N{}</h3> {}</div><p class="where">{}</p>{}</article>\n'
)
_NEGATIVES = (
    '<section aria-labelledby="negatives"><h2 id="negatives">Rejected comments</h2>{}'
    '<div class="lists">{}</div></section>\n'
)


def pull_request_page(
    run: RunView, pr: str, *, query: Mapping[str, str], labels: Mapping[PairKey, bool] | None = None
) -> Page:
    """What `query` has: `reviewer`, `words=open`, `all` (a comment of which every pair is shown) and `page`."""
    title, crumbs = pull_request_name(pr), [("Runs", "/"), (run.title, run.address())]
    best_first = order(run.run.result).names if is_comments(run.run) else []
    records = [record for record in run.records_of(pr) if isinstance(record, CommentRecord)]
    records.sort(key=lambda record: best_first.index(record.reviewer))
    wanted = query.get("reviewer", "")
    record = next((each for each in records if each.reviewer == wanted), records[0] if records else None)
    if record is None:
        return Page(title, paragraph("This run has nothing on this pull request."), crumbs)
    board = Board(run, record, records, labels or {}, query.get("words") == "open", number_in(query, "all", -1))
    unknown = f"{wanted} has nothing on this pull request; this is {record.reviewer}."
    parts = [
        steps(run, pr, {"reviewer": wanted}),
        paragraph(link(pr, pr), *_kinds(record)),
        remark(unknown) if wanted and wanted != record.reviewer else None,
        _reviewers(board),
        _body(board, query),
    ]
    return Page(title, join(parts), crumbs)


def _kinds(record: CommentRecord) -> Iterator[Html]:
    for kind in filter(None, (record.language, record.pr_category)):
        yield html(" · {}", name(kind))


def _reviewers(board: Board) -> Html | None:
    """A link for each reviewer, with how many of its comments matched; nothing for a lone one."""
    if len(board.everybody) < 2:
        return None
    items = []
    for record in board.everybody:
        counted = f"{count(record.counts.matched)}/{count(record.counts.generated)}"
        text = html('{} <span class="small">{}</span>', name(record.reviewer), counted)
        address = board.address(reviewer=record.reviewer)
        items.append(html("<li>{}</li>", within(address, text, current=record is board.record)))
    return html('<nav class="choices" aria-label="Reviewers: comments that matched, of all"><ul>{}</ul></nav>\n', items)


def _body(board: Board, query: Mapping[str, str]) -> Html:
    record = board.record
    if record.skipped:
        return remark(f"A filter of this run leaves this pull request out: {record.skip_reason}.")
    counts = record.counts
    figures = [
        ("Comments that matched", f"{count(counts.matched)} of {count(counts.generated)}"),
        ("References raised", f"{count(counts.covered)} of {count(counts.expected)}"),
        ("F1", rate(record.rates.get("f1"))),
        *([("Undecided pairs", count(counts.undecided))] if counts.undecided else []),
        *([("Not counted", count(record.left_out))] if record.left_out else []),
        *([("On average over", ", ".join(record.runs))] if len(record.runs) > 1 else []),
    ]
    return join([facts(*figures), _words_switch(board), *_sides(board, query), _negatives(board)])


def _sides(board: Board, query: Mapping[str, str]) -> Iterator[Html | None]:
    """The pairs side by side, one row for what hangs together; then the comments and references without a partner."""
    record = board.record
    alone = sorted((each for each in record.comments if not each.matched), key=board.kind)
    units: list[Group | ScoredComment] = [*board.groups, *alone]
    pages = -(-len(units) // PAGE) or 1
    page = number(query, "page", 1, pages)
    shown = units[(page - 1) * PAGE : page * PAGE]
    references = {each.position: each for each in record.references}
    rows = []
    for group in shown:
        if not isinstance(group, ScoredComment):
            ours = [comment_card(board, board.comments[position]) for position in group[0]]
            rows.append(html(_ROW, ours, [_reference(board, references[position]) for position in group[1]]))
    if rows:
        title = html("What {} and the references both say", name(record.reviewer))
        yield html(_PAIRED, title, paragraph(_BESIDE, css="muted"), rows)
    unpaired = [comment_card(board, each) for each in shown if isinstance(each, ScoredComment)]
    of = html("Comments of {} without a match", name(record.reviewer))
    yield html(_ALONE, of, unpaired or _none_unpaired(board), "References without a match", _missed(board))
    kept = {name: value for name, value in query.items() if name in ("reviewer", "words")}
    yield pager(board.run.address(board.pr), kept, page, len(units), PAGE)


def _none_unpaired(board: Board) -> Html:
    if board.record.comments:
        return paragraph("Every comment matched." if board.numbers else "None on this page.", css="muted")
    return paragraph(name(board.reviewer), " said nothing on this pull request.", css="muted")


def _missed(board: Board) -> Html:
    """What was missed, then what does not count."""
    if not board.references:
        return paragraph("This pull request has no references.", css="muted")
    raised = {reference for _, reference in board.numbers}
    missed = sorted((each for each in board.record.references if each.position not in raised), key=_not_kept)
    if not missed:
        return paragraph("Every reference was raised.", css="muted")
    left = len(missed) - MOST_REFERENCES
    more = (
        remark(f"{plural(left, 'more reference is', 'more references are')} left out here; the run has them all.")
        if left > 0
        else None
    )
    return join([*(_reference(board, each) for each in missed[:MOST_REFERENCES]), more])


def _not_kept(reference: ScoredReference) -> bool:
    return not reference.kept


def _words_switch(board: Board) -> Html | None:
    if not (board.record.comments and board.references):
        return None
    text = "Hide the words of pairs" if board.words_open else "Show all pairs word by word"
    other = address_with(
        board.run.address(board.pr), {"reviewer": board.reviewer, "words": None if board.words_open else "open"}
    )
    return paragraph(within(other, text))


def _reference(board: Board, reference: ScoredReference) -> Html:
    position, comment = reference.position, reference.comment
    partners = [generated for generated, paired in board.numbers if paired == position]
    if partners:
        tags = [board.marker(generated, position, at_comment=False) for generated in partners]
    elif comment.neutral or not reference.kept:
        tags = [tag("neutral" if comment.neutral else "left out by a filter")]
    else:
        tags = [tag("missed", "bad")] + ([tag("right location")] if reference.line_covered else [])
    if (reference.runs or 1) > 1 and reference.kept:
        whole = "good" if reference.share == 1 else "bad" if not reference.found_in else "warn"
        tags.append(tag(f"found in {reference.found_in} of {plural(reference.runs or 1, 'run')}", whole))
    return html(
        _REFERENCE,
        id=anchor(reference=position),
        label=board.reference_labels[position],
        tags=join(tags, " "),
        about=about(comment),
        note=note(comment.note),
        raised=_raised(board, reference),
    )


def _raised(board: Board, reference: ScoredReference) -> Html | None:
    """Who else raised it, each with a link to where."""
    others = [record for record in board.everybody if record is not board.record and not record.skipped]
    if not others or not reference.kept:
        return None
    at = anchor(reference=reference.position)
    raised = [record.reviewer for record in others if _covers(record, reference.position)]
    who = [within(board.address(reviewer=each, fragment=at), name(each)) for each in raised[:_NAMED]]
    more = f" and {len(raised) - _NAMED} more" if len(raised) > _NAMED else ""
    also = "Also raised" if reference.covered else "Raised"
    if not who:
        text = html("No other of {} raised it.", plural(len(others), "reviewer"))
    else:
        text = html("{} by {} of {}: {}{}", also, len(raised), plural(len(others), "other"), join(who, ", "), more)
    return html('<p class="verdict">{}</p>', text)


def _covers(record: CommentRecord, position: int) -> bool:
    return any(each.covered for each in record.references if each.position == position)


def _negatives(board: Board) -> Html | None:
    if not board.negatives:
        return None
    repeated: dict[int, list[int]] = {}
    for each in board.record.comments:
        if each.negative is not None:
            repeated.setdefault(each.negative, []).append(each.position)
    items = []
    for position, comment in board.negatives.items():
        by = [html('<a href="#{}">{}</a>', anchor(c), board.comment_labels[c]) for c in repeated.get(position, ())]
        told = html("{} {}", tag("repeated by", "bad"), join(by, ", ")) if by else tag("not repeated", "good")
        items.append(html(_NEGATIVE, position, position + 1, told, about(comment), note(comment.note)))
    text = "Comments on this pull request that annotators rejected: a reviewer should not have said them."
    return html(_NEGATIVES, paragraph(text), items)
