"""What labels make of a run's figures, in tables and sentences that every report shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from metareview.comments.measures import f1, positive_match_rate, positive_recall_rate
from metareview.comparison.corrected import GOAL, CorrectedFigures, Correction, Plan
from metareview.model.words import plural
from metareview.report.numbers import count, interval, rate
from metareview.report.tables import INTERVAL, Column, Table

CORRECTED_REMARK = (
    "As judged: by the run's judge alone. Corrected: what people's labels of a random sample of blocks make of it; its"
    " interval is over pull requests and over which blocks were drawn."
)


def corrected_table(figures: Mapping[str, CorrectedFigures]) -> Table:
    """One row per reviewer, in the order given."""
    rows = list(figures.values())
    columns = [Column("reviewer", list(figures), text=True)]
    for measure, optional in ((f1, 0), (positive_match_rate, 2), (positive_recall_rate, 3)):
        name = measure.name
        columns += [
            Column(f"{measure.label} as judged", [rate(each.judged[name]) for each in rows], optional=optional),
            Column(f"{measure.label} corrected", [rate(each.metrics[name]) for each in rows], optional=optional),
        ]
        columns += [
            Column(INTERVAL, [interval(each.intervals[name]) for each in rows], optional=1 if measure is f1 else 4)
        ]
    return columns


def correction_lines(correction: Correction, figures: Mapping[str, CorrectedFigures]) -> Iterator[str]:
    """How far the labelling is, and what more labels would bring."""
    labelled, held = correction.labelled, correction.held
    drawn = len(labelled.frame.drawn)
    yield f"{count(labelled.done)} of {plural(drawn, 'drawn block')} labelled; the run has {count(labelled.frame.blocks)}."
    if labelled.missing:
        yield f"Corrected figures need {plural(labelled.missing, 'more labelled block')}: two of every stratum."
    if labelled.skipped:
        yield (
            f"{plural(labelled.skipped, 'drawn block')} passed over, though later ones are labelled: if these are the"
            " hard ones, the corrected figures are off."
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
    return (
        f"{now}. No number of labels brings that to ±{GOAL:g}: with every block labelled it would be"
        f" ±{plan.at_best:.3f}, because there are too few pull requests; about {count(plan.prs)} would do."
    )
