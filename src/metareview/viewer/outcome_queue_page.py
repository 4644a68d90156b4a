"""The labelling queue of a run of outcomes: did the later change do what the comment asks?"""

from __future__ import annotations

from metareview.comparison.outcome_queue import OutcomeQuestion
from metareview.comparison.strata import LEAST
from metareview.model.label import OutcomeLabel
from metareview.model.words import plural
from metareview.outcomes.sample import OutcomeFrame
from metareview.report.names import pull_request_name
from metareview.report.outcome_labels import judged_outcome_line
from metareview.report.page.blocks import name, paragraph
from metareview.report.page.markup import Html, html, join
from metareview.report.page.notes import note
from metareview.viewer.comment_cards import about
from metareview.viewer.controls import Query, number
from metareview.viewer.links import within
from metareview.viewer.outcome_cards import SAID, evidence
from metareview.viewer.outcome_figures import labels_panel
from metareview.viewer.outcome_labelling import OutcomeLabelling
from metareview.viewer.page import Page
from metareview.viewer.queue_parts import CARD, QUEUE, buttons, draw, form, progress, steps, who
from metareview.viewer.run_page import RUNS

OUTCOMES = "outcomes"
"""What its forms are about."""
_KEYS = {"f": ("fully", "Fully"), "p": ("partly", "Partly"), "n": ("not", "Not"), "k": ("unknown", "Cannot tell")}
_BACK = "b"
_TITLE = "Label comments"
_DRAWN = "comments in the sample"
_ABOUT = (
    "You are asked about a random sample of the run’s comments: did the later change do what the comment asks? Your "
    "labels of the sample give the share that was addressed, or correct what a judge made of it; and they tell what a "
    "changed line is worth here."
)
_MEANING = (
    "Fully: all of it, in its way or another. Partly: something that it asks for is left. Not: nothing about it, "
    "whatever else changed. Cannot tell: not from what is shown, or it asks for nothing."
)


def outcome_queue_page(labelling: OutcomeLabelling, query: Query) -> Page:
    """Comments one by one; `n` chooses one, `name` says who labels."""
    view, queue = labelling.view, labelling.queue
    here, crumbs = f"{view.address()}/label", [RUNS, (view.title, view.address())]
    if queue is None:
        return Page(_TITLE, join([paragraph(_ABOUT), draw(labelling, OUTCOMES, _DRAWN)]), crumbs)
    drawn = len(queue.frame.drawn)
    chosen = number(query, "n", 0, drawn)
    question = queue.at(chosen) if chosen else queue.next()
    if question is None:
        finished = paragraph(f"All {plural(drawn, 'comment')} in the sample are labelled.")
        rest = [finished, _more(labelling, queue.frame), steps(labelling, here, 0, drawn, OUTCOMES, back_key=_BACK)]
    else:
        rest = [_question(labelling, question, queue.labelled.done, here)]
    main = join([_told_last(labelling), *rest])
    return Page(_TITLE, html(QUEUE, [who(labelling, here, labelling.labels), main], labels_panel(labelling)), crumbs)


def _question(labelling: OutcomeLabelling, question: OutcomeQuestion, done: int, here: str) -> Html:
    """Without what the judge made of it: who has read that gives no second opinion."""
    unit, outcome = question.unit, question.outcome
    known = labelling.labels.of(labelling.name).outcome_verdicts().get(unit.key)
    where = within(labelling.view.address(unit.pr), name(pull_request_name(unit.pr)))
    fields = {"kind": OUTCOMES, "pr": unit.pr, "reviewer": unit.reviewer, "position": unit.position}
    return join(
        [
            progress(f"Comment {question.number}", question.of, done),
            html('<p class="muted">{} · {}</p>', where, name(unit.reviewer)),
            html(CARD, "Comment", about(outcome.comment), note(outcome.comment.note)),
            html('<div class="evidence-of">{}</div>\n', list(evidence(outcome, opened=True))),
            html('<p class="ask"><b>Did the later change do what the comment asks?</b></p>\n'),
            form(labelling, fields, here, buttons(_KEYS, known)),
            steps(labelling, here, question.number, question.of, OUTCOMES, back_key=_BACK),
            paragraph(_MEANING, css="muted fine"),
        ]
    )


def _told_last(labelling: OutcomeLabelling) -> Html | None:
    """What the judge had said of the comment that was answered last: only now."""
    label = labelling.last()
    if not isinstance(label, OutcomeLabel) or label.verdict is None:
        return None
    outcome = labelling.outcome_of(label)
    told = judged_outcome_line(outcome.verdict if outcome else None, label.verdict)
    return html('<p class="told" role="status">Your latest answer: {}. {}</p>\n', SAID[label.verdict], told)


def _more(labelling: OutcomeLabelling, frame: OutcomeFrame) -> Html | None:
    """A form to draw more, where there is more to draw."""
    if len(frame.drawn) >= frame.comments:
        return None
    return draw(labelling, OUTCOMES, _DRAWN, min(frame.comments, frame.budget + max(LEAST, frame.budget // 2)))
