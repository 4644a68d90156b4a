"""What labels of unlisted issues make of a run's figures, in a table and sentences that every report shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metareview.comparison.plus_measures import PLUS_MEASURES
from metareview.comparison.unlisted_figures import ReviewerPlus, UnlistedFigures
from metareview.comparison.unseen import Unseen
from metareview.model.words import plural
from metareview.report.numbers import count, interval, rate
from metareview.report.samples import FEWEST_NEEDED, LEAST_NEEDED, labelled_of
from metareview.report.tables import Column, Table

PLUS_REMARK = (
    "P+, R+ and F1+ count a valid comment that the references lack as right. R+ is an upper bound of recall: what no"
    " reviewer found is neither among the references nor in the pool, which is what all reviewers of the run say."
)
F1_PLUS = "f1_plus"
KINDS = ("valid", "invalid", "repeated", "unjudged")
"""Of unmatched comments."""
MOST_POOLS = 12
"""Reviewers that are left out of the pool in a table, and reviewers whose figures it has."""


def is_estimated(figures: UnlistedFigures) -> bool:
    """Whether there are estimates; until then there are bounds."""
    return any(each.metrics[F1_PLUS] is not None for each in figures.reviewers.values())


def plus_table(figures: UnlistedFigures, names: Sequence[str] | None = None) -> Table:
    """One row per reviewer: estimates with intervals, or before enough labels what the figures can still become."""
    in_order = list(figures.reviewers) if names is None else list(names)
    rows = [figures.reviewers[name] for name in in_order]
    columns = [Column("reviewer", in_order, text=True)]
    known = is_estimated(figures)
    for measure in PLUS_MEASURES:
        name, label = measure.name, measure.label
        if known:
            columns.append(Column(label, [rate(each.metrics[name]) for each in rows]))
            ends = [interval(each.intervals[name]) for each in rows]
            columns.append(Column(f"95 % interval of {label}", ends, optional=1 if name == F1_PLUS else 4))
        else:
            ends = [interval(each.bounds[name]) for each in rows]
            columns.append(Column(f"{label} between", ends, optional=0 if name == F1_PLUS else 1))
    columns.append(Column("unmatched", [count(each.noise.unmatched) for each in rows], optional=3))
    return [
        *columns,
        *(Column(kind, [count(getattr(each.noise, kind)) for each in rows], optional=2) for kind in KINDS),
    ]


def left_out_table(figures: UnlistedFigures) -> Table | None:
    """F1+ of all with each reviewer left out of the pool in turn; None where there is none to leave out, or no
    estimate."""
    names = list(figures.reviewers)[:MOST_POOLS]
    if len(figures.reviewers) < 2 or not is_estimated(figures):
        return None
    whole = [rate(figures.reviewers[name].metrics[F1_PLUS]) for name in names]
    table = [Column("F1+ of", names, text=True), Column("whole pool", whole)]
    for left_out in names:
        cells = [rate(figures.without[left_out][name][F1_PLUS]) for name in names]
        table.append(Column(f"without {left_out}", cells, from_data=True))
    return table


def plus_lines(figures: UnlistedFigures, *, spans: bool = True) -> Iterator[str]:
    """How far the labelling is, who did it, and what the figures leave open. `spans`: and how far each reviewer's F1+
    moves with the pool."""
    who, sample = figures.labelled, figures.labelled.sample
    yield f"{plural(figures.issues, 'unlisted issue')}, {count(figures.drawn)} of them in the sample."
    if who.people:
        yield f"{labelled_of(who.people, figures.drawn, 'issue')} by people."
    for name, number in who.models.items():
        yield f"{plural(number, 'issue')} labelled by the model {name}."
    if not who.people and not who.models:
        yield "None is labelled yet."
    if who.models:
        yield (
            "People's labels of the sample correct the model's."
            if who.corrected
            else "A model's labels alone: people's labels of a sample would correct them."
        )
    yield from _former(figures)
    if sample.missing and not who.corrected:
        yield f"Estimates by people's labels need {plural(sample.missing, 'more label')}: {FEWEST_NEEDED}."
    elif sample.thin:
        yield f"Provisional: intervals need {plural(sample.thin, 'more label')}: {LEAST_NEEDED}."
    elif sample.passed_over:
        yield (
            f"Provisional: {plural(sample.passed_over, 'issue')} passed over, though later ones are labelled."
            " Without these, what is labelled is no random sample."
        )
    if figures.provisional and figures.provisional_matches:
        yield (
            "Provisional: the matches are corrected by labels of pairs, which are too few for intervals. Label more"
            " pairs: metareview label without --unlisted."
        )
    if figures.unjudged_share:
        yield f"{100 * figures.unjudged_share:.0f} % of the issues are not judged."
    if figures.valid is not None and figures.unseen is not None:
        valid = f"About {plural(round(figures.valid), 'valid issue')}"
        yield f"{valid} beside {plural(figures.references, 'reference')}; {floor_words(figures.unseen)}."
    for name, each in figures.reviewers.items() if spans else ():
        if (span := left_out_span(figures, name)) and each.metrics[F1_PLUS] is not None and len(figures.reviewers) > 1:
            yield f"{name}: F1+ {interval(span)} with one reviewer or another left out of the pool."


def _former(figures: UnlistedFigures) -> Iterator[str]:
    """Labels that were given on issues of another grouping."""
    if figures.moved_labels:
        labels = plural(figures.moved_labels, "label was", "labels were")
        yield f"{labels} given on issues that were grouped otherwise: each holds for the issue of its first comment."
    if figures.stale_labels:
        labels = plural(figures.stale_labels, "label holds", "labels hold")
        yield f"{labels} for no issue any more: the comment that was read first now matches a reference, or is gone."


def floor_words(unseen: Unseen) -> str:
    """Chao's lower bound in words, and how far it moves with the pool."""
    ends = sorted(round(each) for each in unseen.without.values())
    moves = ""
    if ends:
        which = "with any one reviewer left out" if ends[0] == ends[-1] else "with one reviewer or another left out"
        moves = f"; {' to '.join(f'{each:,}' for each in sorted({ends[0], ends[-1]}))} {which}"
    return (
        f"at least about {round(unseen.floor):,} more that no reviewer found (Chao's estimate{moves}): a floor, since"
        " reviewers miss the same things"
    )


def left_out_span(figures: UnlistedFigures, name: str) -> tuple[float, float] | None:
    """The least and the greatest F1+ of a reviewer with each reviewer left out of the pool in turn."""
    values = [of[name][F1_PLUS] for of in figures.without.values() if name in of]
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if known else None


def noise_split(each: ReviewerPlus) -> str:
    """The unmatched comments in a few words."""
    noise = each.noise
    parts = [f"{count(getattr(noise, kind))} {kind}" for kind in KINDS]
    return f"{plural(noise.unmatched, 'unmatched comment')}: {', '.join(parts)}"
