"""What labels make of a run's figures, in tables and sentences that every report shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from metareview.benchmark.run_labels import RunCalibration, TwoPeople
from metareview.comments.measures import f1, positive_match_rate, positive_recall_rate
from metareview.comparison.corrected import GOAL, CorrectedFigures, Correction, Plan, corrected_to_dict
from metareview.model.words import plural
from metareview.report.numbers import count, interval, ranked, rate
from metareview.report.plain_notes import cut_line, one_line_note
from metareview.report.tables import INTERVAL, Column, Table
from metareview.report.unlisted import plus_lines, plus_table
from metareview.runs.files import JsonObject
from metareview.runs.run import CommentsRun

_SAID = {True: "the same", False: "different"}
CORRECTED_REMARK = (
    "As judged: by the run's judge alone. Corrected: what people's labels of a random sample of blocks make of it; its"
    " interval is over pull requests and over which blocks were drawn."
)


def best_first(figures: Mapping[str, CorrectedFigures]) -> dict[str, CorrectedFigures]:
    """The reviewers by corrected F1, the highest first."""
    return {name: figures[name] for name in ranked({name: each.metrics for name, each in figures.items()}, f1.name)}


def corrected_table(figures: Mapping[str, CorrectedFigures]) -> Table:
    """One row per reviewer, in the order given."""
    rows = list(figures.values())
    columns = [Column("reviewer", list(figures), text=True)]
    # Where there is no room, the last to go is a corrected figure: beside F1, those as judged go before.
    for measure, optional in ((f1, 0), (positive_match_rate, 2), (positive_recall_rate, 3)):
        name, less = measure.name, 4 if optional else 0
        columns += [
            Column(f"{measure.label} as judged", [rate(each.judged[name]) for each in rows], optional=less),
            Column(f"{measure.label} corrected", [rate(each.metrics[name]) for each in rows], optional=optional),
        ]
        columns += [
            Column(INTERVAL, [interval(each.intervals[name]) for each in rows], optional=1 if measure is f1 else 5)
        ]
    return columns


def corrected_document(run: CommentsRun, correction: Correction, figures: Mapping[str, CorrectedFigures]) -> JsonObject:
    """For JSON: how far the labelling is, and each reviewer's figures."""
    return {"schema": "metareview.labels/1", "run": str(run.folder), **corrected_to_dict(correction, figures)}


def correction_lines(correction: Correction, figures: Mapping[str, CorrectedFigures]) -> Iterator[str]:
    """How far the labelling is, and what more labels would bring."""
    labelled, held = correction.labelled, correction.held
    drawn = len(labelled.frame.drawn)
    all_blocks = count(labelled.frame.blocks)
    yield f"{count(labelled.done)} of {plural(drawn, 'drawn block')} labelled; the run has {all_blocks} in all."
    if labelled.missing:
        yield f"Corrected figures need {plural(labelled.missing, 'more labelled block')}: two of every stratum."
    elif labelled.sample.thin:
        more = plural(labelled.sample.thin, "more labelled block")
        yield f"Provisional: intervals come with {more}, at eight or all of every stratum."
    if labelled.skipped and correction.known:
        yield (
            f"Provisional: {plural(labelled.skipped, 'drawn block')} passed over, though later ones are labelled."
            " Without these, what is labelled is no random sample."
        )
    if held.stale:
        yield f"{plural(held.stale, 'label')} of other notes, from an earlier run in this folder, not used."
    if held.labels.damaged:
        yield f"{plural(held.labels.damaged, 'line')} of labels.jsonl cannot be read, as a kill may leave one."
    for reviewer, each in figures.items():
        if each.plan is not None:
            yield _planned(reviewer if len(figures) > 1 else "", each.plan)


def _planned(reviewer: str, plan: Plan) -> str:
    whose = f"{reviewer}: " if reviewer else ""
    now = f"{whose}F1 is known to ±{plan.half_width:.3f}"
    if plan.half_width <= GOAL:
        return f"{now}."
    if plan.blocks is not None:
        return f"{now}; ±{GOAL:g} would take about {plural(plan.blocks, 'labelled block')}."
    if round(plan.half_width - plan.at_best, 3) <= 0:
        return f"{now}. More labels bring that no nearer to ±{GOAL:g}: about {count(plan.prs)} pull requests would do."
    return (
        f"{now}. No number of labels brings that to ±{GOAL:g}: with every block labelled it would be"
        f" ±{plan.at_best:.3f}, because there are too few pull requests; about {count(plan.prs)} would do."
    )


def calibration_parts(result: RunCalibration, width: int, top: int) -> Iterator[str | Table]:
    """What a run's labels say, below the agreement of its judge. `top`: how many pairs are listed on which two people
    differ; 0: only their number."""
    yield from agreement_remarks(result)
    for two in result.people:
        yield from _people_lines(two, width, top)
    if result.correction is None:
        yield f"No frame was drawn, so no figure is corrected: metareview label {result.run.label}"
    elif result.corrected:
        yield ""
        yield corrected_table(best_first(result.corrected))
    if result.correction is not None:
        yield from correction_lines(result.correction, best_first(result.corrected))
    if result.unlisted is not None:
        yield ""
        yield plus_table(result.unlisted)
        yield from plus_lines(result.unlisted)


def agreement_remarks(result: RunCalibration) -> Iterator[str]:
    """What to know before believing the agreement of the judge with the labels."""
    if result.decided_by_labels:
        yield (
            f"{plural(result.decided_by_labels, 'labelled pair')} left out: the run was made with these labels, so that"
            " they say nothing of its judge."
        )
    if result.not_judged:
        yield f"{plural(result.not_judged, 'labelled pair')} left out: the run has no verdict on them."
    if result.agreement.n:
        yield (
            "Labelled pairs are no random sample of all pairs: this agreement is on what was asked."
            + (" Corrected figures allow for how it was drawn." if result.corrected else "")
        )


def people_line(two: TwoPeople) -> str:
    """How far two people agree."""
    value = "not defined, one verdict was given throughout" if two.kappa is None else rate(two.kappa)
    both = plural(two.pairs, "pair")
    return f"{two.a} and {two.b} both labelled {both}: kappa {value}, {count(len(two.differ))} seen differently."


def _people_lines(two: TwoPeople, width: int, top: int) -> Iterator[str]:
    yield people_line(two)
    for number, (a, b) in enumerate(two.differ[:top], 1):
        yield cut_line(
            f"{number:>3}. {two.a}: {_SAID[bool(a.match)]}, {two.b}: {_SAID[bool(b.match)]} ({a.reviewer}, {a.pr})",
            width,
        )
        yield cut_line(f"     reference  {one_line_note(a.reference_note)}", width)
        yield cut_line(f"     comment    {one_line_note(a.comment_note)}", width)
