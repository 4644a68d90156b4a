"""A reviewer's comments on a pull request, each with the references that it was compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metareview.comments.records import Pair, ScoredComment, Verdict
from metareview.model.comment import Comment
from metareview.model.words import format_score, plural
from metareview.report.names import excerpt
from metareview.report.page.blocks import name, tag, where
from metareview.report.page.charts import barred
from metareview.report.page.markup import Html, html, join
from metareview.report.page.notes import note
from metareview.viewer.board import Board
from metareview.viewer.links import anchor, within
from metareview.viewer.words import word_differences

NEAREST = 3
"""Pairs of a comment without a match that are in sight, the highest score first."""
MOST_PAIRS = 20
"""Pairs of a comment that are behind a click; all of them on a page of their own."""
_REASON, _QUOTED = 400, 240
_CARD = (
    '<article class="card" id="{id}"><div class="head"><h3><a href="#{id}">{label}</a></h3> {tags}</div>\n'
    '<p class="where">{about}</p>{note}\n{compared}</article>\n'
)
_PAIR = '<li class="compared" id="{id}"><p class="verdict">{verdict}</p>{quoted}{words}{form}</li>\n'
_QUOTE = '<p class="quoted" dir="auto"><bdi>{}</bdi></p>'
_WORDS = (
    '<details class="words"{}><summary>Word by word</summary><div class="versus">'
    '<div><p class="where"><b>{}</b> what only the comment says is marked</p><p class="plain" dir="auto">{}</p></div>'
    '<div><p class="where"><b>{}</b> what only the reference says is marked</p><p class="plain" dir="auto">{}</p></div>'
    "</div></details>"
)
_FORM = (
    '<form class="label" method="post" action="{action}">{hidden}<span class="ask">{ask}</span> '
    '<button name="verdict" value="same"{same}>Same</button>'
    '<button name="verdict" value="different"{different}>Different</button>{clear}</form>'
)
_HIDDEN = '<input type="hidden" name="{}" value="{}">'
_CLEAR = Html('<button name="verdict" value="clear">Clear</button>')
_OPEN = Html(" open")
_PRESSED, _NOT_PRESSED = Html(' aria-pressed="true"'), Html(' aria-pressed="false"')


def about(comment: Comment) -> Html:
    """Where a comment points, and what its writer said of its kind."""
    author = comment.author or comment.made_by
    kinds = [comment.category, comment.context, comment.severity]
    parts = [where(comment), *map(name, filter(None, kinds)), html("by {}", name(author)) if author else None]
    return join([part for part in parts if part], " · ")


def comment_card(board: Board, scored: ScoredComment) -> Html:
    position = scored.position
    return html(
        _CARD,
        id=anchor(position),
        label=board.comment_labels[position],
        tags=join(_tags(board, scored), " "),
        about=join(
            [about(scored.comment), *([name(scored.run)] if scored.run and len(board.record.runs) > 1 else [])], " · "
        ),
        note=note(scored.comment.note),
        compared=list(_compared(board, scored)),
    )


def _tags(board: Board, scored: ScoredComment) -> Iterator[Html]:
    if scored.matched:
        for reference in board.partners(scored.position):
            yield board.marker(scored.position, reference, at_comment=True)
        return
    if board.undecided(scored.position):
        yield tag("undecided", "warn")
    elif scored.negative is not None:
        yield tag("repeats a rejected comment", "bad")
    else:
        yield tag("not counted" if scored.left_out else "no match")
    if scored.repeats is not None:
        yield tag(f"says again what {board.comment_labels[scored.repeats]} says")
    if scored.line_match:
        yield tag("right location")


def _compared(board: Board, scored: ScoredComment) -> Iterator[Html]:
    """Its partners, then what stayed open, then what came near; the others behind a click."""
    position = scored.position
    partners = board.partners(position)
    others = [pair for pair in board.pairs(position) if pair.reference not in partners]
    if partners:
        matches = [_partner(board, scored, reference) for reference in partners]
        yield html('<ul class="pairs">{}</ul>\n', matches)
    if scored.negative is not None:
        yield _repeated(board, position, scored.negative)
    if scored.left_out:
        yield html('<p class="where">About a reference that is neutral, or that a filter of this run leaves out.</p>')
    undecided = [pair for pair in others if pair.verdict.match is None and pair.eligible]
    decided = [pair for pair in others if pair not in undecided]
    if undecided:
        yield _listed(board, "Undecided", undecided[:MOST_PAIRS])
        decided = [*undecided[MOST_PAIRS:], *decided]
    if not (partners or undecided or decided):
        yield html('<p class="where">No reference is near enough to compare it with.</p>')
    near = [] if partners else [pair for pair in decided if _is_near(board, pair)][:NEAREST]
    if near:
        yield _listed(board, "Near misses", near)
        decided = [pair for pair in decided if pair not in near]
    if decided:
        yield _rest(board, position, decided)


def _is_near(board: Board, pair: Pair) -> bool:
    """Whether it is worth a look: the judge says yes and it did not count, or its score comes near the threshold."""
    score = pair.verdict.score
    return bool(pair.verdict.match) or (score is not None and score >= board.near)


def _listed(board: Board, title: str, pairs: Sequence[Pair]) -> Html:
    return html('<h4>{}</h4><ul class="pairs">{}</ul>\n', title, [_pair(board, pair) for pair in pairs])


def _rest(board: Board, position: int, pairs: Sequence[Pair]) -> Html:
    whole = board.shown_whole == position
    shown = pairs if whole else pairs[:MOST_PAIRS]
    left = len(pairs) - len(shown)
    address = board.address(all=position, fragment=anchor(position))
    more = html("<p>{}</p>", within(address, f"Show {left:,} more")) if left else None
    also = "Also compared" if len(pairs) < len(board.pairs(position)) else "Compared"
    title = f"{also} with {plural(len(pairs), 'reference')}"
    items = [_pair(board, pair, words=whole) for pair in shown]
    return html(
        '<details{}><summary>{}</summary><ul class="pairs">{}</ul>{}</details>\n',
        _OPEN if whole else None,
        title,
        items,
        more,
    )


def _partner(board: Board, scored: ScoredComment, reference: int) -> Html:
    verdict = board.verdict(scored.position, reference)
    said = _said(tag("same issue", "good"), verdict, _to_reference(board, reference))
    return _block(board, scored.position, reference, said, quoted=None, words=True)


def _pair(board: Board, pair: Pair, *, words: bool = True) -> Html:
    verdict = pair.verdict
    tags: list[Html] = [tag("undecided", "warn") if verdict.match is None else tag("different")]
    if verdict.match:
        # The judge calls a pair the same, and the alignment could not count it.
        why = "counted with another comment" if pair.eligible else "too far away to count"
        tags = [tag("same issue", "warn"), html("{}", why)]
    if not pair.eligible and pair.gap is not None:
        tags.append(html("{} apart", plural(pair.gap, "line")))
    quoted = html(_QUOTE, excerpt(board.references[pair.reference].note, _QUOTED))
    said = _said(join(tags, " "), verdict, _to_reference(board, pair.reference))
    return _block(board, pair.generated, pair.reference, said, quoted=quoted, words=words)


def _block(board: Board, generated: int, reference: int, said: Html, *, quoted: Html | None, words: bool) -> Html:
    shown = _words(board, generated, reference) if words else None
    form = label_form(board, generated, reference)
    return html(_PAIR, id=anchor(generated, reference), verdict=said, quoted=quoted, words=shown, form=form)


def _repeated(board: Board, generated: int, negative: int) -> Html:
    pair = board.rejected(generated)
    verdict = pair.verdict if pair else board.comments[generated].verdict
    said = _said(
        tag("rejected by annotators", "bad"), verdict, html('<a href="#n{n}">N{k}</a>', n=negative, k=negative + 1)
    )
    quoted = html(_QUOTE, excerpt(board.negatives[negative].note, _QUOTED))
    return html('<ul class="pairs"><li class="compared"><p class="verdict">{}</p>{}</li></ul>\n', said, quoted)


def _to_reference(board: Board, reference: int) -> Html:
    return html('<a href="#{}">{}</a>', anchor(reference=reference), board.reference_labels[reference])


def _said(tags: Html, verdict: Verdict | None, other: Html) -> Html:
    """The verdict in one line: with whom, how sure, by whom, and why."""
    parts: list[Html] = []
    if verdict is not None:
        if verdict.score is not None:
            parts.append(
                html('<span class="score">{}</span>', barred(f"score {format_score(verdict.score)}", verdict.score))
            )
        parts += [html("by {}", name(verdict.by))] if verdict.by else []
        parts += [name(excerpt(verdict.reason, _REASON))] if verdict.reason else []
    return html("{} {} {}", tags, other, join(parts, " · "))


def _words(board: Board, generated: int, reference: int) -> Html:
    ours, theirs = word_differences(board.comments[generated].comment.note, board.references[reference].note)
    labels = board.comment_labels[generated], board.reference_labels[reference]
    return html(_WORDS, _OPEN if board.words_open else None, labels[0], ours, labels[1], theirs)


def label_form(board: Board, generated: int, reference: int) -> Html:
    """Two buttons for a person's verdict on the pair, the present one pressed, and a third that takes it back."""
    label = board.labels.get((board.pr, board.reviewer, generated, reference))
    fields = {
        "token": board.run.token,
        "pr": board.pr,
        "reviewer": board.reviewer,
        "generated": generated,
        "reference": reference,
        "next": board.address(fragment=anchor(generated, reference)),
    }
    ask = "The same issue?" if label is None else f"Labelled {'same' if label else 'different'}"
    return html(
        _FORM,
        action=f"{board.run.address()}/labels",
        hidden=[html(_HIDDEN, *item) for item in fields.items()],
        ask=ask if label is None else tag(ask, "good" if label else "bad"),
        same=_PRESSED if label is True else _NOT_PRESSED,
        different=_PRESSED if label is False else _NOT_PRESSED,
        clear=None if label is None else _CLEAR,
    )
