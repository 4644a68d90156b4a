"""A run against the labels in its folder: how far its judge agrees with people, people with each other, and what that
makes of its figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from shlex import quote

from metareview.benchmark.calibrate import FIGURES, Agreement, Slices, agreement_by_kind, agreement_of, slices_to_dict
from metareview.benchmark.disagreements import Disagreement, JudgedLabel, disagreements
from metareview.benchmark.people import compare_people
from metareview.comments.records import Verdict
from metareview.comparison.corrected import (
    CorrectedFigures,
    Correction,
    corrected_figures,
    corrected_to_dict,
    correction_of,
)
from metareview.comparison.held_labels import HeldLabels, labels_of
from metareview.comparison.run_unlisted import known_figures
from metareview.comparison.unlisted_figures import UnlistedFigures
from metareview.errors import UsageError
from metareview.model.comment import Comment
from metareview.model.label import Labels, PairKey, PairLabel
from metareview.runs.files import JsonObject, as_json
from metareview.runs.run import AnyRun, CommentsRun, is_comments
from metareview.stats import kappa


@dataclass(frozen=True)
class TwoPeople:
    """Two people who labelled some of the same pairs."""

    a: str
    b: str
    pairs: int
    kappa: float | None
    """None where both said the same of all, or of none: there is no agreement beyond chance to speak of."""
    differ: Sequence[tuple[PairLabel, PairLabel]]

    def to_dict(self) -> JsonObject:
        differ = [
            {"pr": a.pr, "reviewer": a.reviewer, "generated": a.generated, "reference": a.reference}
            | {"a": a.reference_note, "b": a.comment_note, "verdicts": [a.match, b.match]}
            for a, b in self.differ
        ]
        return {"people": [self.a, self.b], "pairs": self.pairs, "kappa": self.kappa, "differ": differ}


@dataclass(frozen=True)
class RunCalibration:
    """What `metareview calibrate --run` says."""

    run: CommentsRun
    agreement: Agreement
    judged: Sequence[JudgedLabel]
    decided_by_labels: int
    """Labelled pairs that the run had a label for already: they say nothing of its judge, and are left out."""
    not_judged: int
    """Labelled pairs that the run has no verdict of, because they cannot match by location."""
    people: Sequence[TwoPeople]
    people_not_compared: int
    held: HeldLabels
    correction: Correction | None
    corrected: Mapping[str, CorrectedFigures]
    slices: Slices
    unlisted: UnlistedFigures | None
    """None where unlisted issues were not grouped."""

    @property
    def figures(self) -> dict[str, float | None]:
        """What a gate can be set on, by name."""
        return {measure.name: getattr(self.agreement, measure.name) for measure in FIGURES}

    def disagreements(self) -> list[Disagreement]:
        return disagreements(self.judged)

    def to_dict(self) -> JsonObject:
        document = {
            "schema": "metareview.calibrate/1",
            "run": str(self.run.folder),
            "judge": self.run.result.judge.name,
            "parameters": dict(self.run.result.config.judge_parameters),
            **asdict(self.agreement),
            "slices": slices_to_dict(self.slices),
            "decided_by_labels": self.decided_by_labels,
            "not_judged": self.not_judged,
            "stale_labels": self.held.stale,
            "people": [each.to_dict() for each in self.people],
            "people_not_compared": self.people_not_compared,
            "frame": None,
            "corrected": {},
        }
        if self.correction is not None:
            document |= corrected_to_dict(self.correction, self.corrected)
        return as_json(document | {"unlisted": None if self.unlisted is None else self.unlisted.to_dict()})


def calibrate_run(run: AnyRun) -> RunCalibration:
    """The judge of a run against what people said of its pairs."""
    if not is_comments(run):
        raise UsageError(f"{run.label} is a run of {run.kind.name}; labels are about runs of comments and of outcomes.")
    held = labels_of(run)
    verdicts = held.labels.pair_verdicts()
    if not verdicts and not held.labels.issues:
        raise UsageError(f"{run.label} has no labels yet. Give some: metareview label {quote(run.label)}")
    of_judge, decided, notes = _judged(run, verdicts), 0, {label.key: label for label in held.labels.pairs}
    references = _references(run, verdicts)
    judged = []
    for key, label in verdicts.items():
        said = of_judge.get(key)
        if said is None:
            continue
        if said.by == "label":
            decided += 1
            continue
        pr, reviewer, _, position = key
        text = notes[key].reference_note, notes[key].comment_note
        reference = references.get((pr, reviewer, position), Comment(note=text[0]))
        kinds = reference.severity, reference.category, reference.context
        judged.append(JudgedLabel(*text, label, said.match, said.score, said.reason, f"{pr} {reviewer}", pr, *kinds))
    threshold = run.result.config.threshold
    correction = correction_of(run)
    return RunCalibration(
        run,
        agreement_of(judged, threshold),
        judged,
        decided,
        len(verdicts) - decided - len(judged),
        *people_pairs(held.labels),
        held,
        correction,
        {} if correction is None else corrected_figures(run, correction),
        agreement_by_kind(judged, threshold),
        known_figures(run),
    )


def _references(run: CommentsRun, wanted: Iterable[PairKey]) -> dict[tuple[str, str, int], Comment]:
    """The references of labelled pairs, by pull request, reviewer and position."""
    of = {(pr, reviewer, reference) for pr, reviewer, _, reference in wanted}
    records = {key[:2] for key in of}
    return {
        (*record.key, each.position): each.comment
        for record in run.read_records()
        if record.key in records
        for each in record.references
        if (*record.key, each.position) in of
    }


def _judged(run: CommentsRun, wanted: Mapping[PairKey, bool]) -> dict[PairKey, Verdict]:
    pairs = run.read_pairs({(pr, reviewer) for pr, reviewer, _, _ in wanted})
    keyed = (((pair.pr, pair.reviewer, pair.generated, pair.reference), pair) for pair in pairs if not pair.negative)
    return {key: pair.verdict for key, pair in keyed if key in wanted}


def people_pairs(labels: Labels) -> tuple[list[TwoPeople], int]:
    """Every two people who labelled some of the same pairs, and how many more people are not compared."""
    shared, not_compared = compare_people(labels.pairs, lambda label: label.match)
    found = []
    for two in shared:
        yes = [(bool(one.match), bool(other.match)) for one, other in two.both]
        tp, of_a, of_b = (sum(each) for each in zip(*((x and y, x, y) for x, y in yes), strict=True))
        value = float(kappa(tp, of_a, of_b, len(yes)))
        differ = [pair for pair in two.both if pair[0].match != pair[1].match]
        found.append(TwoPeople(two.a, two.b, len(yes), None if value != value else value, differ))
    return found, not_compared
