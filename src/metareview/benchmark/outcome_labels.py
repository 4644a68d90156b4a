"""A run of outcomes against the labels in its folder: how far its judge agrees with people, people with each other, and
what that makes of its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote

from metareview.benchmark.calibrate import FIGURES
from metareview.benchmark.people import compare_people
from metareview.comparison.outcome_corrected import OutcomeCorrection, outcome_correction_of, outcome_correction_to_dict
from metareview.comparison.outcome_queue import HeldOutcomeLabels, outcome_labels_of
from metareview.errors import UsageError
from metareview.model.addressed import ADDRESSED_VERDICTS, FULLY, LABEL, NOT, PARTLY, UNKNOWN, Addressed
from metareview.model.label import Labels, OutcomeKey, OutcomeLabel
from metareview.outcomes.addressed import NOBODY
from metareview.runs.files import JsonObject, as_json
from metareview.runs.run import OutcomesRun

UNDECIDED = "undecided"
_GRADE = {FULLY: 1.0, PARTLY: 0.5, NOT: 0.0}
Said = tuple[str, str]
"""What two say of one comment."""


@dataclass(frozen=True, slots=True)
class OutcomeAgreement:
    """Two who say what became of the same comments. A comment on which either cannot tell is in the table alone."""

    n: int
    """Comments on which both decided."""
    kappa: float | None
    """On addressed, fully or partly, against not; None where both say one thing throughout."""
    kappa_grades: float | None
    """On fully, partly and not."""
    accuracy: float | None
    """Where they agree on addressed or not."""
    precision: float | None
    """Of what the judge calls addressed, the share that people do."""
    recall: float | None
    """Of what people call addressed, the share that the judge does."""

    @classmethod
    def of(cls, said: Iterable[Said]) -> OutcomeAgreement:
        """From what people say, and what the judge does."""
        both = [pair for pair in said if pair[0] in _GRADE and pair[1] in _GRADE]
        yes = [(label != NOT, judged != NOT) for label, judged in both]
        agree, hits = sum(a == b for a, b in yes), sum(a and b for a, b in yes)
        of_label, of_judge = sum(a for a, _ in yes), sum(b for _, b in yes)
        return cls(
            len(both),
            cohen(yes),
            cohen(both),
            agree / len(both) if both else None,
            hits / of_judge if of_judge else None,
            hits / of_label if of_label else None,
        )


def cohen(said: Sequence[tuple[object, object]]) -> float | None:
    """Cohen's kappa of two who sort the same things; None where chance alone explains all agreement there can be.

    >>> cohen([("a", "a"), ("a", "b"), ("b", "b"), ("b", "b")])
    0.5
    """
    n = len(said)
    if not n:
        return None
    first, second = Counter(a for a, _ in said), Counter(b for _, b in said)
    expected = sum(first[kind] * second[kind] for kind in first) / n**2
    observed = sum(a == b for a, b in said) / n
    return (observed - expected) / (1 - expected) if expected < 1 else None


@dataclass(frozen=True, slots=True)
class JudgedOutcome:
    """A comment that people labelled, and what the judge made of it."""

    label: OutcomeLabel
    verdict: str
    """What people hold."""
    judged: Addressed

    @property
    def said(self) -> str:
        return self.judged.verdict or UNDECIDED

    @property
    def distance(self) -> float | None:
        """How far apart the two are: 1 between fully and not; None where either cannot tell."""
        if self.verdict not in _GRADE or self.said not in _GRADE:
            return None
        return abs(_GRADE[self.verdict] - _GRADE[self.said])

    def to_dict(self) -> JsonObject:
        label = self.label
        where = {"pr": label.pr, "reviewer": label.reviewer, "position": label.position, "note": label.note}
        judged = {"judged": self.judged.verdict, "by": self.judged.by, "reason": self.judged.reason}
        return {**where, "label": self.verdict, **judged, "distance": self.distance}


@dataclass(frozen=True)
class TwoOutcomePeople:
    """Two people who labelled some of the same comments."""

    a: str
    b: str
    comments: int
    agreement: OutcomeAgreement
    differ: Sequence[tuple[OutcomeLabel, OutcomeLabel]]

    def to_dict(self) -> JsonObject:
        differ = [
            {"pr": a.pr, "reviewer": a.reviewer, "position": a.position, "note": a.note}
            | {"verdicts": [a.verdict, b.verdict]}
            for a, b in self.differ
        ]
        kappas = {"kappa": self.agreement.kappa, "kappa_grades": self.agreement.kappa_grades}
        return {"people": [self.a, self.b], "comments": self.comments, **kappas, "differ": differ}


@dataclass(frozen=True)
class OutcomeCalibration:
    """What `metareview calibrate --run` says of a run of outcomes."""

    run: OutcomesRun
    agreement: OutcomeAgreement
    judged: Sequence[JudgedOutcome]
    """Each labelled comment that the judge had a verdict of its own on."""
    decided_by_labels: int
    """Labelled comments that the run had a label for already: they say nothing of its judge, and are left out."""
    people: Sequence[TwoOutcomePeople]
    people_not_compared: int
    held: HeldOutcomeLabels
    correction: OutcomeCorrection | None

    @property
    def judge(self) -> str:
        return self.run.result.config.judge

    @property
    def errors(self) -> int:
        """Labelled comments that the judge left undecided."""
        return sum(each.judged.verdict is None for each in self.judged)

    @property
    def figures(self) -> dict[str, float | None]:
        """What a gate can be set on, by name."""
        return {measure.name: getattr(self.agreement, measure.name, None) for measure in FIGURES}

    def confusion(self) -> dict[str, dict[str, int]]:
        """By people's verdict, then by the judge's: how many comments."""
        counted = Counter((each.verdict, each.said) for each in self.judged)
        return {
            label: {said: counted[label, said] for said in (*ADDRESSED_VERDICTS, UNDECIDED)}
            for label in ADDRESSED_VERDICTS
        }

    def disagreements(self) -> list[JudgedOutcome]:
        """The furthest apart first, then those of which one could tell and the other not, undecided ones last."""
        differ = [each for each in self.judged if each.verdict != each.said]
        return sorted(differ, key=lambda each: (each.judged.verdict is None, -(each.distance or 0.0)))

    def to_dict(self) -> JsonObject:
        document: JsonObject = {
            "schema": "metareview.calibrate.outcomes/1",
            "run": str(self.run.folder),
            "judge": self.judge,
            "parameters": dict(self.run.result.config.judge_parameters),
            "n": len(self.judged),
            "decided": self.agreement.n,
            "errors": self.errors,
            **{name: getattr(self.agreement, name) for name in ("kappa", "kappa_grades", "accuracy")},
            **{name: getattr(self.agreement, name) for name in ("precision", "recall")},
            "confusion": self.confusion(),
            "decided_by_labels": self.decided_by_labels,
            "stale_labels": self.held.stale,
            "people": [each.to_dict() for each in self.people],
            "people_not_compared": self.people_not_compared,
            "frame": None,
            "corrected": {},
            "lines_changed": {},
        }
        if self.correction is not None:
            document |= outcome_correction_to_dict(self.correction)
        return as_json(document)


def calibrate_outcomes(run: OutcomesRun) -> OutcomeCalibration:
    """The judge of a run of outcomes, if it has one, against what people said of its comments."""
    held = outcome_labels_of(run)
    verdicts = held.labels.outcome_verdicts()
    if not verdicts:
        raise UsageError(f"{run.label} has no labels yet. Give some: metareview label {quote(run.label)}")
    of_judge = _judged(run, verdicts)
    latest = {label.key: label for label in held.labels.outcomes}
    judged = [
        JudgedOutcome(latest[key], verdict, of_judge[key])
        for key, verdict in verdicts.items()
        if key in of_judge and of_judge[key].by != LABEL
    ]
    return OutcomeCalibration(
        run,
        OutcomeAgreement.of((each.verdict, each.said) for each in judged),
        judged,
        sum(each.by == LABEL for each in of_judge.values()),
        *people_outcomes(held.labels),
        held,
        outcome_correction_of(run),
    )


def _judged(run: OutcomesRun, wanted: Mapping[OutcomeKey, str]) -> dict[OutcomeKey, Addressed]:
    """What the run says of these comments; nothing where it asked nobody."""
    if run.result.config.judge == NOBODY:
        return {}
    return {
        key: outcome.verdict
        for record in run.read_records()
        for outcome in record.comments
        if (key := (*record.key, outcome.position)) in wanted and outcome.verdict is not None
    }


def people_outcomes(labels: Labels) -> tuple[list[TwoOutcomePeople], int]:
    """Every two people who labelled some of the same comments, and how many more people are not compared."""
    shared, not_compared = compare_people(labels.outcomes, lambda label: label.verdict)
    found = []
    for two in shared:
        agreement = OutcomeAgreement.of((one.verdict or UNKNOWN, other.verdict or UNKNOWN) for one, other in two.both)
        differ = [pair for pair in two.both if pair[0].verdict != pair[1].verdict]
        found.append(TwoOutcomePeople(two.a, two.b, len(two.both), agreement, differ))
    return found, not_compared
