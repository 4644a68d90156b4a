"""How far to trust a run's judge: one sentence, in the same words in every report, and what more is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

from metareview.judges.offline.languages import TRAINED_ON_ENGLISH
from metareview.judges.offline.published_accuracy import HeldOut, held_out
from metareview.model.words import plural
from metareview.report.numbers import interval, rate
from metareview.report.run_labels import RunLabels
from metareview.runs.run import CommentsRun

if TYPE_CHECKING:
    from metareview.benchmark.calibrate import Agreement, Slices

TITLE = "How far to trust the judge"
_BY_RULE = {
    "none": "none reads no notes: whatever is at the same location counts as the same issue.",
    "exact": "exact finds equal notes and no paraphrase.",
}
"""Judges of which there is nothing to measure: what they decide is plain."""
_PAGE = "docs/judges.md"


@dataclass(frozen=True)
class Trust:
    """What is known of the judge that a run's figures rest on."""

    sentence: str
    unknown: str | None = None
    """What labels would tell, to begin the advice with; None where nothing is left to measure."""
    by_rule: bool = False
    shipped: HeldOut | None = None
    """Of the offline judge: what its weights were measured at."""
    measured: Agreement | None = None
    """The judge against people's labels of this run, where there are any."""
    slices: Slices | None = None

    def advice(self, folder: str = "RUN") -> str:
        """How to know more. A report may be read anywhere, so that only a terminal names the run's folder."""
        if self.unknown is None:
            return ""
        run = folder if folder == "RUN" else quote(folder)
        return f"{self.unknown} metareview label {run}, then metareview calibrate --run {run} ({_PAGE})."

    def text(self, folder: str = "RUN") -> str:
        return f"{self.sentence} {self.advice(folder)}".rstrip()

    def line(self, folder: str = "RUN") -> str:
        """For what has no section for it."""
        return f"{TITLE}: {self.text(folder)}"

    @property
    def more(self) -> list[str]:
        """What else the weights file says of the offline judge."""
        known = self.shipped
        if known is None:
            return []
        lines = []
        if (repository := known.kappa_by.get("repository")) is not None:
            lines.append(f"On repositories that it had not seen, kappa is {repository:.2f}.")
        if known.f1_gap is not None:
            lines.append(f"By its verdicts, a tool's F1 is off by {known.f1_gap:.3f} on average.")
        return lines


def trust_of(run: CommentsRun, labels: RunLabels) -> Trust:
    """By people's labels of this run where they tell, else by what the judge was measured at, else not known."""
    judge, config = run.result.judge.name, run.result.config
    measured = labels.judged.agreement if labels.judged is not None and labels.judged.agreement.n else None
    slices = labels.judged.slices if labels.judged is not None and measured is not None else None
    shipped = _shipped(run)
    if measured is not None and measured.kappa is not None and measured.intervals["kappa"] is not None:
        return Trust(_by_labels(judge, measured), None, False, shipped, measured, slices)
    so_far = f" {plural(measured.n, 'labelled pair')} of this run so far, too few to tell." if measured else ""
    if shipped is not None and shipped.kappa is not None:
        in_english = any(each.startswith(TRAINED_ON_ENGLISH) for each in run.result.warnings)
        known = _held_out(shipped, config.threshold, config.judge_parameters, in_english=in_english)
        return Trust(f"{known}{so_far}", "On your own pull requests:", False, shipped, measured, slices)
    if judge in _BY_RULE:
        return Trust(_BY_RULE[judge], None, True, None, measured, slices)
    return Trust(f"not known for {judge} until you calibrate it.{so_far}", "First", False, None, measured, slices)


def _shipped(run: CommentsRun) -> HeldOut | None:
    """As the run noted it; of a run that did not, by the name of its weights."""
    summary = run.result
    if summary.judge.name != "offline":
        return None
    weights = summary.config.judge_parameters.get("weights")
    return summary.trust or (held_out(weights) if isinstance(weights, str) else None)


def _by_labels(judge: str, found: Agreement) -> str:
    from metareview.report.agreement import units_in_words

    ends = f"95 % interval {interval(found.intervals['kappa'])} over {units_in_words(found)}"
    return f"{judge} agrees with people at kappa {rate(found.kappa)} ({ends}) on {plural(found.n, 'labelled pair')}."


def _held_out(known: HeldOut, threshold: float | None, parameters: Mapping[str, object], *, in_english: bool) -> str:
    """`in_english`: some notes of the run are not, so that the sentence must say that those of the figure were."""
    models = "a strong model" if known.models in (None, 1) else f"{known.models} strong models"
    ends = known.kappa_interval
    figure = f"kappa {known.kappa or 0:.2f}" + (f" (95 % interval {ends[0]:.2f}–{ends[1]:.2f})" if ends else "")
    aside = ", all in English" if in_english else ""
    if parameters.get("examples"):
        aside += ", without known verdicts to learn from"
    if known.threshold is not None and threshold is not None and threshold != known.threshold:
        aside += f", at its threshold of {known.threshold:g}, not at {threshold:g}"
    return f"offline agreed with {models} at {figure} on pull requests that it had not seen{aside}."


def curve_of(known: HeldOut) -> Sequence[tuple[float, float, int]]:
    """Mean score, share of matches, pairs: the shipped calibration curve, where it can be drawn."""
    return [point for point in known.reliability if 0 <= point[0] <= 1 and 0 <= point[1] <= 1 and point[2] > 0]
