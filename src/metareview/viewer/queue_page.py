"""The labelling queues: one question at a time, answered with the mouse or with single keys."""

from __future__ import annotations

from metareview.comments.blocks import Frame
from metareview.comments.records import Verdict
from metareview.comparison.queue import IssueQuestion, PairQuestion
from metareview.comparison.strata import LEAST
from metareview.model.label import Labels, PairLabel
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
from metareview.viewer.queue_parts import CARD, QUEUE, buttons, draw, form, progress, steps, who
from metareview.viewer.run_page import RUNS

_MOST_COMMENTS = 12


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
        return Page("Label pairs", join([paragraph(text), draw(labelling, PAIRS, "blocks in the sample")]), crumbs)
    chosen = number(query, "n", 0, len(queue.frame.drawn))
    question = queue.at(chosen) if chosen else queue.next()
    done, drawn = queue.labelled.done, len(queue.frame.drawn)
    if question is None:
        finished = paragraph(f"All {plural(drawn, 'block')} in the sample are labelled.")
        parts = [_told_last(labelling), finished, _more(labelling, queue.frame)]
        main = join([*parts, steps(labelling, here, 0, drawn, PAIRS)])
    else:
        main = join([_told_last(labelling), _pair_question(labelling, question, done, here)])
    labels = Labels(labelling.labels.pairs)
    return Page("Label pairs", html(QUEUE, [who(labelling, here, labels), main], pairs_panel(labelling)), crumbs)


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
        html(CARD, "Reference", about(question.reference), note(question.reference.note)),
        html(CARD, "Comment", about(question.comment), note(question.comment.note)),
    ]
    fields = {"kind": PAIRS, "pr": block.pr, "reviewer": block.reviewer, "generated": generated, "reference": reference}
    said = None if known is None else "same" if known else "different"
    answers = buttons({"s": ("same", "The same issue"), "d": ("different", "Different")}, said)
    return join(
        [
            progress(f"Block {question.number}", question.of, done),
            head,
            html('<div class="sides">{}</div>', cards),
            form(labelling, fields, here, answers),
            steps(labelling, here, question.number, question.of, PAIRS),
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
            else draw(labelling, ISSUES, "issues in the sample")
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
        main = join([paragraph(nothing), steps(labelling, here, 0, len(queue.unlisted.drawn), ISSUES)])
    else:
        main = _issue_question(labelling, question, queue.done, here)
    drawn = frozenset(queue.unlisted.drawn)
    labels = Labels(issues=[label for label in labelling.labels.issues if label.issue in drawn])
    return Page("Unlisted issues", html(QUEUE, [who(labelling, here, labels), main], issues_panel(labelling)), crumbs)


def _issue_question(labelling: Labelling, question: IssueQuestion, done: int, here: str) -> Html:
    issue, evidence = question.issue, question.evidence
    said_by = f"said by {plural(len(issue.reviewers), 'reviewer')}"
    where = within(labelling.view.address(issue.pr), name(pull_request_name(issue.pr)))
    cards = [
        html(CARD, name(each.reviewer), about(each.comment), note(each.comment.note))
        for each in evidence.comments[:_MOST_COMMENTS]
    ]
    left = len(evidence.comments) - _MOST_COMMENTS
    more = remark(f"{plural(left, 'more comment says', 'more comments say')} it too.") if left > 0 else None
    references = [html(CARD, f"R{k}", about(each), note(each.note)) for k, each in enumerate(evidence.references, 1)]
    held = labelling.labels
    known = held.of(labelling.name).issue_verdicts().get(issue.id)
    by_model = held.model_verdicts().get(issue.id)
    model = None if by_model is None else paragraph(tag(f"a model says {by_model}"))
    keys = {"v": ("valid", "Valid"), "i": ("invalid", "Invalid"), "r": ("repeat", "A repeat")}
    asked = form(labelling, {"kind": ISSUES, "issue": issue.id}, here, buttons(keys, known))
    title = f"The {plural(len(references), 'reference')} of this pull request"
    return join(
        [
            progress(f"Issue {question.number}", question.of, done),
            html('<p class="muted">{} · {}</p>', where, said_by),
            *cards,
            more,
            asked,
            steps(labelling, here, question.number, question.of, ISSUES),
            model if known else None,
            behind(title, references) if references else None,
        ]
    )


def _more(labelling: Labelling, frame: Frame) -> Html | None:
    """A form to draw more, where there is more to draw."""
    if len(frame.drawn) >= frame.blocks:
        return None
    more = min(frame.blocks, frame.budget + max(LEAST, frame.budget // 2))
    return draw(labelling, PAIRS, "blocks in the sample", more)


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
