"""What labels make of a run's figures, in tables and sentences that every report shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from shlex import quote

from metareview.benchmark.run_labels import RunCalibration, TwoPeople
from metareview.comments.measures import f1, positive_match_rate, positive_recall_rate
from metareview.comparison.corrected import CorrectedFigures, Correction, corrected_to_dict, named_corrected
from metareview.comparison.label_errors import Disagreement
from metareview.comparison.label_plan import GOAL, Plan
from metareview.model.words import plural
from metareview.report.agreement_of_people import people_lines
from metareview.report.numbers import count, interval, ranked, rate
from metareview.report.plain_notes import cut_line, one_line_note
from metareview.report.samples import FEWEST_NEEDED, LEAST_NEEDED, labelled_of
from metareview.report.tables import INTERVAL, Column, Table
from metareview.report.unlisted import plus_lines, plus_table
from metareview.runs.files import JsonObject
from metareview.runs.run import CommentsRun

_NAMED_BIASES = 4
"""Reviewers whose bias by wrong labels is written out."""
_SAID = {True: "the same", False: "different"}
CORRECTED_REMARK = (
    "As judged: by the run's judge alone. Corrected: estimated from people's labels of a random sample of blocks (what"
    " one reviewer says at one location, beside the references there); the interval allows for both which pull requests"
    " there were and which blocks the sample has."
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
            Column(named_corrected(measure).label, [rate(each.metrics[name]) for each in rows], optional=optional),
        ]
        columns += [
            Column(
                f"its {INTERVAL}", [interval(each.intervals[name]) for each in rows], optional=1 if measure is f1 else 5
            )
        ]
    return columns


def corrected_document(run: CommentsRun, correction: Correction, figures: Mapping[str, CorrectedFigures]) -> JsonObject:
    """For JSON: how far the labelling is, and each reviewer's figures."""
    return {"schema": "metareview.labels/1", "run": str(run.folder), **corrected_to_dict(correction, figures)}


def correction_lines(correction: Correction, figures: Mapping[str, CorrectedFigures]) -> Iterator[str]:
    """How far the labelling is, and what more labels would bring."""
    labelled, held = correction.labelled, correction.held
    drawn, all_blocks = len(labelled.frame.drawn), labelled.frame.blocks
    yield f"{labelled_of(labelled.done, drawn, 'block')}; the run has {count(all_blocks)} in all."
    if labelled.sample.missing:
        yield f"Corrected figures need {plural(labelled.sample.missing, 'more labelled block')}: {FEWEST_NEEDED}."
    elif labelled.sample.thin:
        yield f"Provisional: intervals need {plural(labelled.sample.thin, 'more labelled block')}: {LEAST_NEEDED}."
    if labelled.sample.passed_over and correction.known:
        yield (
            f"Provisional: {plural(labelled.sample.passed_over, 'block')} of the sample passed over, though later ones"
            " are labelled. Without these, what is labelled is no random sample."
        )
    if held.stale:
        yield f"{plural(held.stale, 'label')} of other notes, from an earlier run in this folder, not used."
    if held.labels.damaged:
        yield f"{plural(held.labels.damaged, 'line')} of labels.jsonl cannot be read, as a kill may leave one."
    if correction.disagreement is not None and correction.known:
        biases = {name: (each.label_bias or {}).get(positive_recall_rate.name) for name, each in figures.items()}
        yield _wrong_labels(correction.disagreement, biases)
    for reviewer, each in figures.items():
        if each.plan is not None:
            yield _planned(reviewer if len(figures) > 1 else "", each.plan, all_blocks)


def _wrong_labels(two: Disagreement, biases: Mapping[str, float | None]) -> str:
    """How often two people disagree, and how far recall may be off if each is wrong as often as that implies."""
    if not two.differ:
        return f"Two people agree on all {plural(two.blocks, 'block')} that both labelled."
    often = f"Two people disagree on {count(two.differ)} of {plural(two.blocks, 'block')} ({100 * two.rate:.0f} %)"
    if two.error_rate is None:
        return f"{often}: so often that their labels tell nothing of the truth."
    if not (known := {name: bias for name, bias in biases.items() if bias is not None}):
        return f"{often}."
    errs = f"{often}: if each errs as often as that implies ({100 * two.error_rate:.0f} %), recall"
    shown = [name for name in known if round(abs(known[name]), 2) > 0]
    if not shown:
        return f"{errs} is off by less than 0.01."
    largest = sorted(shown, key=lambda name: -abs(known[name]))[:_NAMED_BIASES]
    parts = [_off(known[name]) + (f" ({name})" if len(known) > 1 else "") for name in largest]
    others = ", that of the others by less" if len(known) > len(largest) else ""
    return f"{errs} may be {', '.join(parts)}{others}."


def _off(bias: float) -> str:
    """A bias in words.

    >>> _off(0.041), _off(-0.1)
    ('too high by 0.04', 'too low by 0.10')
    """
    return f"too {'high' if bias > 0 else 'low'} by {abs(bias):.2f}"


def _planned(reviewer: str, plan: Plan, all_blocks: int) -> str:
    whose = f"{reviewer}: " if reviewer else ""
    now = f"{whose}{named_corrected(f1).label} is known to ±{plan.half_width:.3f}"
    if plan.half_width <= GOAL:
        return f"{now}."
    if plan.blocks is not None:
        needed = f"all {plural(all_blocks, 'block')}" if plan.blocks >= all_blocks else plural(plan.blocks, "block")
        return f"{now}; ±{GOAL:g} would take labels of {'' if plan.blocks >= all_blocks else 'about '}{needed}."
    if round(plan.half_width - plan.at_best, 3) <= 0:
        needed = plural(plan.prs or 0, "pull request")
        return f"{now}. More labels will not narrow that; ±{GOAL:g} would take about {needed}."
    return (
        f"{now}. Labels alone cannot reach ±{GOAL:g}: with every block labelled it would be ±{plan.at_best:.3f},"
        f" because there are too few pull requests; about {count(plan.prs)} would do."
    )


def calibration_parts(result: RunCalibration, width: int, top: int) -> Iterator[str | Table]:
    """What a run's labels say, below the agreement of its judge. `top`: how many pairs are listed on which two people
    differ; 0: only their number."""
    yield from agreement_remarks(result)
    yield from people_lines(result.people, result.people_not_compared, lambda two: _two_people_lines(two, width, top))
    if result.correction is None:
        label = f"metareview label {quote(result.run.label)}"
        yield f"These labels are of no random sample, so that they correct no figure. Label one: {label}"
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
            + (" Corrected figures allow for how the sample was drawn." if result.corrected else "")
        )


def people_line(two: TwoPeople) -> str:
    """How far two people agree."""
    value = "not defined, one verdict was given throughout" if two.kappa is None else rate(two.kappa)
    both = plural(two.pairs, "pair")
    return f"{two.a} and {two.b} both labelled {both}: kappa {value}, {count(len(two.differ))} seen differently."


def _two_people_lines(two: TwoPeople, width: int, top: int) -> Iterator[str]:
    yield people_line(two)
    for number, (a, b) in enumerate(two.differ[:top], 1):
        yield cut_line(
            f"{number:>3}. {two.a}: {_SAID[bool(a.match)]}, {two.b}: {_SAID[bool(b.match)]} ({a.reviewer}, {a.pr})",
            width,
        )
        yield cut_line(f"     reference  {one_line_note(a.reference_note)}", width)
        yield cut_line(f"     comment    {one_line_note(a.comment_note)}", width)
