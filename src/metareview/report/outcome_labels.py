"""What people's labels make of a run of outcomes, and its questions, in tables and lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from metareview.benchmark.outcome_labels import UNDECIDED, JudgedOutcome, OutcomeCalibration, TwoOutcomePeople
from metareview.comparison.outcome_corrected import CORRECTED, OutcomeCorrection
from metareview.comparison.outcome_queue import OutcomeQuestion
from metareview.model.addressed import ADDRESSED_VERDICTS, LINES, NOT, UNKNOWN, Addressed
from metareview.model.words import plural
from metareview.outcomes.addressed import NOBODY
from metareview.outcomes.measures import ADDRESSED
from metareview.report.agreement_of_people import people_lines
from metareview.report.disagreements import worst_first
from metareview.report.label_questions import comment_lines
from metareview.report.names import printable, pull_request_name
from metareview.report.numbers import NOT_DEFINED, count, interval, ranked, rate
from metareview.report.plain_notes import cut_line, one_line_note
from metareview.report.samples import FEWEST_NEEDED, LEAST_NEEDED, labelled_of
from metareview.report.tables import INTERVAL, Column, Table
from metareview.report.terminal import Heading
from metareview.runs.files import JsonObject
from metareview.runs.run import OutcomesRun

OUTCOMES = (
    "Did the later change do what the comment asks? Fully: all of it, in its way or another. Partly: something that it"
    " asks for is left. Not: nothing about it, whatever else changed. k: nobody can tell from what is shown, or it asks"
    " for nothing. Every answer is kept at once; q stops, and the same command goes on."
)
_CODE_LINES, _CHANGE_LINES = 16, 60
_SAID = {NOT: "not addressed", UNKNOWN: "that it cannot tell", UNDECIDED: "nothing (undecided)"}
_LINES = {"changed": "changed", "unchanged": "unchanged", "cannot_tell": "cannot tell"}


def outcome_lines(question: OutcomeQuestion, width: int) -> Iterator[str]:
    """A comment, its code and the later change, without what the judge made of them."""
    unit, outcome = question.unit, question.outcome
    where = f"{pull_request_name(unit.pr)} · {unit.reviewer}"
    yield Heading(cut_line(f"Comment {question.number} of {question.of} · {printable(where)}", width))
    yield from comment_lines("Comment", outcome.comment, width)
    if outcome.code:
        yield "Its lines, before the later change"
        yield from _source_lines(outcome.code, width, _CODE_LINES)
    if outcome.later_change is None:
        yield "The later change is not known."
    elif not outcome.later_change.strip():
        yield "Nothing was changed after the comment."
    else:
        yield "The later change"
        yield from _source_lines(outcome.later_change, width, _CHANGE_LINES)


def _source_lines(text: str, width: int, most: int) -> Iterator[str]:
    lines = text.split("\n")
    for line in lines[:most]:
        yield "  " + _cut(printable(line.expandtabs(4)), max(20, width - 2))
    if len(lines) > most:
        yield f"  … {plural(len(lines) - most, 'more line')}"


def _cut(line: str, width: int) -> str:
    """Code keeps its indentation, and is cut where the terminal ends."""
    return line if len(line) <= width else line[: width - 1] + "…"


def judged_outcome_line(verdict: Addressed | None, said: str) -> str:
    """What the judge had said, once the person has."""
    if verdict is None:
        return "No judge was asked."
    if verdict.verdict is None:
        return "The judge could not decide."
    too = ", too" if verdict.verdict == said else ""
    if verdict.by == LINES:
        return f"The judge was not asked: {verdict.reason}. That counts as {verdict.verdict}{too}."
    return f"The judge says {_SAID.get(verdict.verdict, f'{verdict.verdict} addressed')}{too}."


def corrected_outcomes_document(run: OutcomesRun, document: JsonObject) -> JsonObject:
    return {"schema": "metareview.labels.outcomes/1", "run": str(run.folder), **document}


def corrected_outcomes_table(correction: OutcomeCorrection) -> Table:
    """One row per reviewer, the highest share addressed first."""
    figures = correction.figures
    names = ranked({name: each.metrics for name, each in figures.items()}, ADDRESSED)
    rows = [figures[name] for name in names]
    columns = [Column("reviewer", names, text=True)]
    judged = any(value is not None for each in rows for value in each.judged.values())
    for measure in CORRECTED:
        name, less = measure.name, 0 if measure.name == ADDRESSED else 3
        if judged:
            as_judged = [rate(each.judged[name]) for each in rows]
            columns.append(Column(f"{measure.label} as judged", as_judged, optional=less + 1 if less else 0))
        ends = [interval(each.intervals[name]) for each in rows]
        title = "corrected" if judged else "by labels"
        columns.append(Column(f"{measure.label} {title}", [rate(each.metrics[name]) for each in rows], optional=less))
        columns.append(Column(f"{INTERVAL} of {measure.label}", ends, optional=less + 2 if less else 1))
    of = [f"{each.decidable:,.0f}" for each in rows]
    return [*columns, Column("over comments, about", of, optional=2)]


def outcome_correction_lines(correction: OutcomeCorrection) -> Iterator[str]:
    """How far the labelling is, and what more it takes."""
    labelled, held = correction.labelled, correction.held
    drawn, every = len(labelled.frame.drawn), labelled.frame.comments
    yield f"{labelled_of(labelled.done, drawn, 'comment')}; the run has {count(every)} in all."
    if labelled.sample.missing:
        yield f"Corrected figures need {plural(labelled.sample.missing, 'more labelled comment')}: {FEWEST_NEEDED}."
    elif labelled.sample.thin:
        yield f"Provisional: intervals need {plural(labelled.sample.thin, 'more labelled comment')}: {LEAST_NEEDED}."
    if labelled.sample.passed_over and correction.known:
        yield (
            f"Provisional: {plural(labelled.sample.passed_over, 'comment')} of the sample passed over, though later"
            " ones are labelled. Without these, what is labelled is no random sample."
        )
    if held.stale:
        yield f"{plural(held.stale, 'label')} of other notes, from an earlier run in this folder, not used."
    if held.labels.damaged:
        yield f"{plural(held.labels.damaged, 'line')} of labels.jsonl cannot be read, as a kill may leave one."


def worth_table(correction: OutcomeCorrection) -> Table:
    """What a changed line is worth: how many labelled comments were addressed, by whether their lines changed."""
    worth = correction.worth_of_lines()
    rows = [(name, each) for name, each in worth.items() if each.labelled]
    return [
        Column("lines changed later", [_LINES[name] for name, _ in rows], text=True),
        Column("labelled", [count(each.labelled) for _, each in rows]),
        Column("can be told", [count(each.decidable) for _, each in rows]),
        Column("addressed", [count(each.addressed) for _, each in rows]),
        Column("share of all such comments", [rate(each.rate) for _, each in rows]),
    ]


def corrected_parts(correction: OutcomeCorrection) -> Iterator[str | Table]:
    """The figures, how far the labelling is, and what a changed line is worth."""
    if correction.figures:
        yield corrected_outcomes_table(correction)
    yield from outcome_correction_lines(correction)
    if correction.labelled.done:
        yield ""
        yield worth_table(correction)


def outcome_calibration_parts(result: OutcomeCalibration, width: int, top: int) -> Iterator[str | Table]:
    """What `calibrate --run` prints. `top`: how many disagreements are listed; 0: none was asked for."""
    if result.judge == NOBODY:
        yield "No judge was asked: what follows is people's word alone."
    elif result.judged:
        yield from _agreement_lines(result)
        yield _confusion_table(result)
        if top:
            yield from _disagreement_lines(result, width, top)
    if result.decided_by_labels:
        yield (
            f"{plural(result.decided_by_labels, 'labelled comment')} left out: the run was made with these labels, so"
            " that they say nothing of its judge."
        )
    yield from people_lines(result.people, result.people_not_compared, lambda two: _two_people_lines(two, width, top))
    if result.correction is None:
        label = f"metareview label {quote(result.run.label)}"
        yield f"These labels are of no random sample, so that they correct no figure. Label one: {label}"
    else:
        yield ""
        yield from corrected_parts(result.correction)


def _agreement_lines(result: OutcomeCalibration) -> Iterator[str]:
    found = result.agreement
    figures = {"kappa": found.kappa, "of the three grades": found.kappa_grades, "accuracy": found.accuracy}
    figures |= {"precision": found.precision, "recall": found.recall}
    listed = ", ".join(f"{name} {rate(value)}" for name, value in figures.items())
    yield f"{result.judge} on {plural(found.n, 'comment')} that both decided: {listed}"
    yield (
        "Labelled comments are no random sample of all: this agreement is on what was asked."
        + (" Corrected figures allow for how the sample was drawn." if _has_figures(result) else "")
    )
    yield ""


def _has_figures(result: OutcomeCalibration) -> bool:
    return result.correction is not None and bool(result.correction.figures)


def _confusion_table(result: OutcomeCalibration) -> Table:
    table = result.confusion()
    said = [each for each in (*ADDRESSED_VERDICTS, UNDECIDED) if each != UNDECIDED or result.errors]
    return [
        Column("people say", list(table), text=True),
        *(Column(f"judge: {each}", [count(row[each]) for row in table.values()]) for each in said),
    ]


def _disagreement_lines(result: OutcomeCalibration, width: int, top: int) -> Iterator[str]:
    found = result.disagreements()
    some = worst_first(top) if top < len(found) else ""
    total = plural(len(result.judged), "labelled comment")
    yield f"{result.judge} and the labels differ on {len(found):,} of {total}{some}"
    for number, each in enumerate(found[:top], 1):
        yield from _disagreement(number, each, result.judge, width)


def _disagreement(number: int, each: JudgedOutcome, judge: str, width: int) -> Iterator[str]:
    label = each.label
    by = " (by what changed)" if each.judged.by == LINES else ""
    where = f"{label.reviewer}, {pull_request_name(label.pr)}"
    yield cut_line(printable(f"{number:>3}. labelled {each.verdict}, {judge}: {each.said}{by} ({where})"), width)
    yield cut_line(f"     comment  {one_line_note(label.note)}", width)
    if each.judged.reason:
        yield cut_line(printable(f"     reason   {each.judged.reason}"), width)


def _two_people_lines(two: TwoOutcomePeople, width: int, top: int) -> Iterator[str]:
    agreement = two.agreement
    kappas = f"kappa {rate(agreement.kappa)}, of the three grades {rate(agreement.kappa_grades)}"
    if agreement.kappa is None:
        kappas = f"kappa {NOT_DEFINED} (one verdict was given throughout)"
    both = plural(two.comments, "comment")
    yield f"{two.a} and {two.b} both labelled {both}: {kappas}, {count(len(two.differ))} seen differently."
    for number, (a, b) in enumerate(two.differ[:top], 1):
        said = f"{two.a}: {a.verdict}, {two.b}: {b.verdict}"
        yield cut_line(printable(f"{number:>3}. {said} ({a.reviewer}, {a.pr})"), width)
        yield cut_line(f"     comment  {one_line_note(a.note)}", width)
