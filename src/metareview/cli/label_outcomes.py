"""`metareview label` on a run of outcomes: a person says of a sample of comments what became of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from metareview.cli.asking import Asking
from metareview.cli.label_session import ALSO, folder_of, session
from metareview.cli.output import Screen

if TYPE_CHECKING:
    from metareview.comparison.outcome_queue import OutcomeQuestion, OutcomeQueue
    from metareview.model.label import Label, Labels
    from metareview.runs.run import OutcomesRun

_VERDICTS = {"f": "fully", "p": "partly", "n": "not", "k": "unknown"}
_KEYS = {**_VERDICTS, "k": "can't tell", **ALSO}


def label_outcomes(run: OutcomesRun, name: str | None, budget: int | None, seed: int, screen: Screen) -> None:
    """Ask about the sample of a run, then show its figures by the labels."""
    from metareview.comparison.outcome_corrected import outcome_correction_of, outcome_correction_to_dict
    from metareview.comparison.outcome_frame import open_outcome_frame
    from metareview.comparison.outcome_queue import OutcomeQueue, fitting_outcomes, outcome_records_of
    from metareview.comparison.queue import last_label
    from metareview.report.label_questions import drawn_line
    from metareview.report.outcome_labels import (
        OUTCOMES,
        corrected_outcomes_document,
        corrected_parts,
        judged_outcome_line,
        outcome_lines,
    )
    from metareview.runs.labels import LabelFile

    frame = open_outcome_frame(run, budget=budget, seed=seed)
    records = outcome_records_of(run, {unit.record for _, unit in frame.drawn})
    asking = Asking(screen)

    def queue(labels: Labels) -> OutcomeQueue:
        # Not what was said of other notes, in an earlier run of this folder: that answers nothing here.
        fitting = fitting_outcomes(labels, records).labels
        return OutcomeQueue(frame, fitting, name, lambda pr, reviewer: records[pr, reviewer])

    done = queue(LabelFile(folder_of(run)).read()).labelled.done
    asking.say(f"{drawn_line('comment', len(frame.drawn), frame.comments, done, name)} {OUTCOMES}")

    def ask(labels: Labels, skipped: set[int]) -> OutcomeQuestion | None:
        question = queue(labels).next(skipped)
        if question is not None:
            asking.show(["", *outcome_lines(question, asking.width)])
        return question

    def answer(question: OutcomeQuestion, key: str) -> Label:
        asking.show([judged_outcome_line(question.outcome.verdict, _VERDICTS[key])])
        return question.label(_VERDICTS[key], name)

    def last(labels: Labels) -> Label | None:
        return last_label(fitting_outcomes(labels, records).labels.outcomes, name)

    session(run, asking, _KEYS, "Addressed?", ask, answer, last)
    correction = outcome_correction_of(run)
    assert correction is not None  # a frame has been drawn
    document = corrected_outcomes_document(run, outcome_correction_to_dict(correction))
    screen.show(document, "", *corrected_parts(correction))
