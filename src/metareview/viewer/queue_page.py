"""The labelling queues: one question at a time, answered with the mouse or with single keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from metareview.comments.blocks import Frame
from metareview.comments.records import Verdict
from metareview.comparison.queue import IssueQuestion, PairQuestion
from metareview.comparison.strata import BUDGET, LEAST
from metareview.model.label import PairLabel
from metareview.model.words import plural
from metareview.report.label_questions import judged_line
from metareview.report.names import pull_request_name
from metareview.report.page.blocks import behind, name, paragraph, remark, tag
from metareview.report.page.markup import Html, html, join
from metareview.report.page.notes import note
from metareview.viewer.comment_cards import about
from metareview.viewer.controls import Query, number
from metareview.viewer.figures_panel import issues_panel, pairs_panel
from metareview.viewer.labelling import ISSUES, PAIRS, Labelling
from metareview.viewer.links import address_with, anchor, within
from metareview.viewer.page import Page
from metareview.viewer.run_page import RUNS

_MOST_COMMENTS, _MOST_NAMES = 12, 8
_HIDDEN = '<input type="hidden" name="{}" value="{}">'
_QUEUE = '<div class="queue"><div class="question">{}</div><div class="beside">{}</div></div>\n'
_CARD = '<article class="card"><div class="head"><h3>{}</h3></div><p class="where">{}</p>{}</article>\n'
_KEY = (
    '<button name="verdict" value="{value}" data-key="{key}" aria-keyshortcuts="{key}"{pressed}>'
    "<kbd>{key}</kbd> {text}</button>"
)
_PROGRESS = (
    '<p class="tally"><span><b>{}</b></span><progress max="{}" value="{}" aria-label="Labelled">{}</progress>'
    "<span>{} of {} labelled</span></p>\n"
)
_DRAW = (
    '<form class="draw" method="post" action="{}"><input type="hidden" name="token" value="{}">'
    '<input type="hidden" name="kind" value="{}">'
    '<label>How many {} <input name="budget" value="{}" inputmode="numeric" size="5" required></label> '
    '<button type="submit">Draw the sample</button></form>\n'
)
_WHO = (
    '<form class="labeller" method="get" action="{}"><label>Labelling as '
    '<input name="name" value="{}" placeholder="nobody in particular" size="16" maxlength="80"></label> '
    '<button type="submit">Change</button></form>\n'
)
_UNDO = (
    '<form class="inline" method="post" action="{}">{}<button data-key="u" aria-keyshortcuts="u"{}><kbd>u</kbd> Undo'
    "</button></form>"
)


def pair_queue_page(labelling: Labelling, query: Query) -> Page:
    """Blocks of pairs; `n` chooses a block, `name` says who labels."""
    view, queue = labelling.view, labelling.pair_queue
    here = f"{view.address()}/label"
    crumbs = [RUNS, (view.title, view.address())]
    if queue is None:
        text = (
            "You are asked about a random sample of the run: do this comment and this reference raise the same issue? "
            "Your labels of the sample correct the run’s figures for the judge’s mistakes; labels of other pairs do "
            "not. Questions come in blocks: what one reviewer says at one location, beside the references "
            "there."
        )
        return Page("Label pairs", join([paragraph(text), _draw(labelling, PAIRS, "blocks in the sample")]), crumbs)
    chosen = number(query, "n", 0, len(queue.frame.drawn))
    question = queue.at(chosen) if chosen else queue.next()
    done, drawn = queue.labelled.done, len(queue.frame.drawn)
    if question is None:
        finished = paragraph(f"All {plural(drawn, 'block')} in the sample are labelled.")
        parts = [_told_last(labelling), finished, _more(labelling, queue.frame)]
        main = join([*parts, _steps(labelling, here, 0, drawn, PAIRS)])
    else:
        main = join([_told_last(labelling), _pair_question(labelling, question, done, here)])
    return Page("Label pairs", html(_QUEUE, [_who(labelling, here), main], pairs_panel(labelling)), crumbs)


def _pair_question(labelling: Labelling, question: PairQuestion, done: int, here: str) -> Html:
    block, (generated, reference) = question.block, question.pair
    view = labelling.view
    known = labelling.labels.of(labelling.name).pair_verdicts().get((block.pr, block.reviewer, generated, reference))
    where = address_with(view.address(block.pr), {"reviewer": block.reviewer}, anchor(generated, reference))
    head = html(
        '<p class="muted">{} · {}{}</p>',
        within(where, name(pull_request_name(block.pr))),
        name(block.reviewer),
        "" if len(block.pairs) == 1 else f" · one of {len(block.pairs)} pairs of this block",
    )
    cards = [
        html(_CARD, "Reference", about(question.reference), note(question.reference.note)),
        html(_CARD, "Comment", about(question.comment), note(question.comment.note)),
    ]
    fields = {"kind": PAIRS, "pr": block.pr, "reviewer": block.reviewer, "generated": generated, "reference": reference}
    said = None if known is None else "same" if known else "different"
    buttons = _buttons({"s": ("same", "The same issue"), "d": ("different", "Different")}, said)
    progress = _progress(f"Block {question.number}", question.of, done)
    form = _form(labelling, fields, here, buttons)
    return join(
        [
            progress,
            head,
            html('<div class="sides">{}</div>', cards),
            form,
            _steps(labelling, here, question.number, question.of, PAIRS),
        ]
    )


def issue_queue_page(labelling: Labelling, query: Query) -> Page:
    """Unlisted issues; `n` chooses one, `name` says who labels."""
    view, queue = labelling.view, labelling.issue_queue
    here = f"{view.address()}/unlisted"
    crumbs = [RUNS, (view.title, view.address())]
    if queue is None:
        text = (
            "Comments that match no reference are noise, or right about something that the references lack. They are "
            "grouped across reviewers into issues, on this computer and without a model, and a random sample is drawn."
        )
        # A mean over repeated runs has no issues of its own.
        repeated = labelling.run.result.config.repeat
        ask = (
            remark("They are not counted over repeated runs. Evaluate one of the runs without --repeat.")
            if repeated
            else _draw(labelling, ISSUES, "issues in the sample")
        )
        return Page("Unlisted issues", join([paragraph(text), ask]), crumbs)
    chosen = number(query, "n", 0, len(queue.unlisted.drawn))
    question = queue.at(chosen) if chosen else queue.next()
    if question is None:
        nothing = (
            "Nothing is unlisted: every comment matches a reference."
            if not queue.unlisted.drawn
            else (f"All {plural(len(queue.unlisted.drawn), 'issue')} in the sample are labelled.")
        )
        main = join([paragraph(nothing), _steps(labelling, here, 0, len(queue.unlisted.drawn), ISSUES)])
    else:
        main = _issue_question(labelling, question, queue.done, here)
    return Page("Unlisted issues", html(_QUEUE, [_who(labelling, here), main], issues_panel(labelling)), crumbs)


def _issue_question(labelling: Labelling, question: IssueQuestion, done: int, here: str) -> Html:
    issue, evidence = question.issue, question.evidence
    said_by = f"said by {plural(len(issue.reviewers), 'reviewer')}"
    where = within(labelling.view.address(issue.pr), name(pull_request_name(issue.pr)))
    cards = [
        html(_CARD, name(each.reviewer), about(each.comment), note(each.comment.note))
        for each in evidence.comments[:_MOST_COMMENTS]
    ]
    left = len(evidence.comments) - _MOST_COMMENTS
    more = remark(f"{left:,} more comments say it too.") if left > 0 else None
    references = [html(_CARD, f"R{k}", about(each), note(each.note)) for k, each in enumerate(evidence.references, 1)]
    held = labelling.labels
    known = held.of(labelling.name).issue_verdicts().get(issue.id)
    by_model = held.model_verdicts().get(issue.id)
    model = None if by_model is None else paragraph(tag(f"a model says {by_model}"))
    keys = {"v": ("valid", "Valid"), "i": ("invalid", "Invalid"), "r": ("repeat", "A repeat")}
    form = _form(labelling, {"kind": ISSUES, "issue": issue.id}, here, _buttons(keys, known))
    title = f"The {plural(len(references), 'reference')} of this pull request"
    return join(
        [
            _progress(f"Issue {question.number}", question.of, done),
            html('<p class="muted">{} · {}</p>', where, said_by),
            *cards,
            more,
            form,
            _steps(labelling, here, question.number, question.of, ISSUES),
            model if known else None,
            behind(title, references) if references else None,
        ]
    )


def _buttons(keys: Mapping[str, tuple[str, str]], pressed: str | None) -> list[Html]:
    return [
        html(
            _KEY,
            value=value,
            key=key,
            text=text,
            pressed=None if pressed is None else html(' aria-pressed="{}"', "true" if value == pressed else "false"),
        )
        for key, (value, text) in keys.items()
    ]


def _form(labelling: Labelling, fields: Mapping[str, object], here: str, buttons: Sequence[Html]) -> Html:
    hidden = [
        html(_HIDDEN, *item) for item in _with_who(labelling, {**fields, "next": _address(labelling, here)}).items()
    ]
    return html(
        '<form class="answers" method="post" action="{}/labels">{}{}</form>\n',
        labelling.view.address(),
        hidden,
        buttons,
    )


def _with_who(labelling: Labelling, fields: Mapping[str, object]) -> dict[str, object]:
    return {"token": labelling.view.token, "name": labelling.name or "", **fields}


def _address(labelling: Labelling, here: str, n: int | None = None) -> str:
    return address_with(here, {"name": labelling.name, "n": n})


def _steps(labelling: Labelling, here: str, at: int, drawn: int, kind: str) -> Html:
    """To the questions before and after this one, and back to before the last answer; `at` 0: after the last."""
    back, later = (at or drawn + 1) - 1, at + 1
    links = [_step("k", "Back", _address(labelling, here, back))] if 1 <= back <= drawn else []
    links += [_step("j", "Later", _address(labelling, here, later))] if at and later <= drawn else []
    fields = _with_who(labelling, {"kind": kind, "next": _address(labelling, here)})
    hidden = [html(_HIDDEN, *item) for item in fields.items()]
    nothing = labelling.last(issues=kind == ISSUES) is None
    undo = html(_UNDO, f"{labelling.view.address()}/undo", hidden, html(" disabled") if nothing else None)
    return html('<div class="moves">{}{}</div>\n', links, undo)


def _step(key: str, text: str, address: str) -> Html:
    return html(
        '<a class="step" href="{}" data-key="{}" aria-keyshortcuts="{}"><kbd>{}</kbd> {}</a>',
        address,
        key,
        key,
        key,
        text,
    )


def _progress(what: str, of: int, done: int) -> Html:
    return html(_PROGRESS, f"{what} of {of:,}", of, done, f"{done} of {of}", f"{done:,}", f"{of:,}")


def _who(labelling: Labelling, here: str) -> Html:
    """Who labels, and who else has: the figures are made of everybody's labels, the queue is one's own."""
    form = html(_WHO, here, labelling.name or "")
    others = [each for each in labelling.labels.people() if each != labelling.name]
    if not others:
        return form
    links = [
        within(address_with(here, {"name": each}), name(each)) if each else html("somebody without a name")
        for each in others[:_MOST_NAMES]
    ]
    more = f" and {len(others) - _MOST_NAMES} more" if len(others) > _MOST_NAMES else ""
    return join([form, html('<p class="muted">Also labelled by {}{}.</p>\n', join(links, ", "), more)])


def _draw(labelling: Labelling, kind: str, what: str) -> Html:
    return html(_DRAW, f"{labelling.view.address()}/draw", labelling.view.token, kind, what, BUDGET)


def _more(labelling: Labelling, frame: Frame) -> Html | None:
    """A form to draw more, where there is more to draw."""
    if len(frame.drawn) >= frame.blocks:
        return None
    more = min(frame.blocks, frame.budget + max(LEAST, frame.budget // 2))
    return html(_DRAW, f"{labelling.view.address()}/draw", labelling.view.token, PAIRS, "blocks in the sample", more)


def _told_last(labelling: Labelling) -> Html | None:
    """What the judge had said of the pair that was answered last: only now, so that the answer is a second opinion."""
    label = labelling.last(issues=False)
    if not isinstance(label, PairLabel) or label.match is None:
        return None
    record = labelling.record_of(label.pr, label.reviewer)
    at = label.generated, label.reference
    verdicts: list[Verdict] = [each.verdict for each in record.comparisons if (each.generated, each.reference) == at]
    said = "the same" if label.match else "different"
    told = judged_line(verdicts[0] if verdicts else None, label.match)
    return html('<p class="told" role="status">Your latest answer: {}. {}</p>\n', said, told)
