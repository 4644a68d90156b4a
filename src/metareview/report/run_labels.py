"""What the labels in a run's folder say of it, read once for all formats of a report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from metareview.comments.measures import f1
from metareview.model.words import plural
from metareview.report.numbers import count, interval, rate
from metareview.runs.run import CommentsRun

if TYPE_CHECKING:
    from metareview.benchmark.run_labels import RunCalibration
    from metareview.comparison.corrected import CorrectedFigures
    from metareview.comparison.unlisted_figures import UnlistedFigures


@dataclass(frozen=True)
class RunLabels:
    """Nothing of both where nobody has labelled and no unlisted issues were grouped."""

    calibration: RunCalibration | None
    """None without a frame, or without a label of one of the run's pairs."""
    unlisted: UnlistedFigures | None
    judged: RunCalibration | None = None
    """The same where labels are of no random sample: they still tell how far the judge agrees with people."""

    @property
    def corrected(self) -> dict[str, CorrectedFigures]:
        """Each reviewer's figures, the best corrected F1 first; empty where too little is labelled."""
        from metareview.report.labels import best_first

        return best_first(self.calibration.corrected) if self.calibration else {}

    def sentence(self) -> str:
        """For the answer of a lone reviewer, which is as judged: its corrected F1, where enough is labelled."""
        from metareview.comparison.corrected import named_corrected

        correction = self.calibration.correction if self.calibration else None
        if correction is None or not correction.complete or len(self.corrected) != 1:
            return ""
        (figures,) = self.corrected.values()
        ends = figures.intervals[f1.name]
        figure = rate(figures.metrics[f1.name]) + (f" (95 % interval {interval(ends)})" if ends else "")
        return f"Corrected by labels: {named_corrected(f1).label} {figure}."

    def agreement(self) -> Iterator[str]:
        """How far the judge agrees with the labels, and people with each other."""
        from metareview.report.agreement_of_people import people_lines
        from metareview.report.labels import agreement_remarks, people_line

        if self.calibration is None:
            return
        found, judge = self.calibration.agreement, self.calibration.run.result.judge.name
        if found.n:
            agrees = f"kappa {rate(found.kappa)}, accuracy {rate(found.accuracy)}"
            yield f"The judge {judge} against {plural(found.n, 'labelled pair')}: {agrees}."
        if found.errors:
            yield f"{count(found.errors)} of them it left undecided."
        yield from agreement_remarks(self.calibration)
        people, not_compared = self.calibration.people, self.calibration.people_not_compared
        yield from people_lines(people, not_compared, lambda two: [people_line(two)])

    def progress(self) -> Iterator[str]:
        """How far the labelling is, and what more would bring."""
        from metareview.report.labels import correction_lines

        if self.calibration is not None and self.calibration.correction is not None:
            yield from correction_lines(self.calibration.correction, self.corrected)


def read_labels(run: CommentsRun) -> RunLabels:
    """What there is; reads nothing but small files where there is nothing."""
    if not run.has_labels:
        return RunLabels(None, None)
    from metareview.benchmark.run_labels import calibrate_run
    from metareview.comparison.corrected import correction_of
    from metareview.comparison.held_labels import labels_of
    from metareview.comparison.run_unlisted import known_figures

    correction = correction_of(run)
    held = correction.held if correction is not None else labels_of(run)
    if not held.labels.pair_verdicts():
        return RunLabels(None, known_figures(run))
    calibration = calibrate_run(run)
    return RunLabels(calibration if correction is not None else None, calibration.unlisted, calibration)
