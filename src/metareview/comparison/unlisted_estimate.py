"""How many unlisted issues are valid, from the labels of those that were drawn, and who gave these labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from metareview.comparison.strata import estimated, missing, passed_over, thin
from metareview.model.label import IssueVerdict, Labels
from metareview.model.unlisted import Unlisted

Values = Mapping[str, float]
"""For each issue y, so that sums of y estimate how many are valid."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """Who labelled what the figures rest on."""

    people: int
    """Drawn issues that people labelled."""
    models: Mapping[str, int]
    """By the name of a model, the issues whose label by it the figures use."""
    corrected: bool
    """Whether a model labelled every issue, and people's labels on the sample correct it."""
    repeats: int
    """Drawn issues that were labelled a repeat: they count as not valid."""
    missing: int
    """How many labels more it takes before there are figures; where a model alone labelled, before people's correct
    it."""
    thin: int
    """How many labels more it takes until every stratum has as many as it is drawn with at least, or all: until then
    there are no intervals."""
    passed_over: int
    """Drawn issues without a label, though later ones of their stratum have one: until these have one, too, what is
    labelled is no random sample, and there are no intervals either."""

    @property
    def settled(self) -> bool:
        """Whether intervals hold what they promise."""
        return not self.thin and not self.passed_over


def held_verdicts(labels: Labels) -> dict[str, IssueVerdict]:
    """What is held of each issue for display: people's verdict, else a model's."""
    return {**labels.model_verdicts(), **labels.issue_verdicts()}


def estimate(unlisted: Unlisted, labels: Labels) -> tuple[Values | None, Labelled]:
    """What sums of y estimate how many issues are valid, None where too few are labelled yet; and who labelled.

    People's labels count where the issue was drawn. Where a model has labelled every issue, its labels are a prediction
    for all, and people's on the sample correct it. Where it labelled only some, its labels on drawn issues stand in for
    people's.
    """
    issues, drawn = unlisted.open, frozenset(unlisted.drawn)
    people = {name: verdict for name, verdict in labels.issue_verdicts().items() if name in drawn}
    model = {name: verdict for name, verdict in labels.model_verdicts().items() if name in unlisted.by_id}
    stratum = [issue.stratum for issue in issues]
    predicted = None
    if issues and all(issue.id in model for issue in issues):
        predicted = np.array([_value(model[issue.id]) for issue in issues], np.float64)
        of_sample = people
    else:
        model = {name: verdict for name, verdict in model.items() if name in drawn and name not in people}
        of_sample = {**model, **people}
    value = np.array([_value(of_sample.get(issue.id)) for issue in issues], np.float64)
    y = estimated(stratum, value, predicted)
    labelled = Labelled(
        people=len(people),
        models=_models(labels, model),
        corrected=y is not None and predicted is not None,
        repeats=sum({**model, **people}.get(name) == "repeat" for name in drawn),
        missing=missing(stratum, ~np.isnan(value)),
        thin=thin(stratum, ~np.isnan(value)),
        passed_over=passed_over((issue.stratum, issue.id in of_sample) for issue in unlisted.queue),
    )
    y = predicted if y is None else y
    if y is None:
        return None, labelled
    values = dict.fromkeys((issue.id for issue in unlisted.issues), 0.0)  # what is known to be invalid stays at that
    values.update((issue.id, each) for issue, each in zip(issues, y.tolist(), strict=True))
    return values, labelled


def _value(verdict: IssueVerdict | None) -> float:
    return np.nan if verdict is None else float(verdict == "valid")


def _models(labels: Labels, used: Mapping[str, IssueVerdict]) -> dict[str, int]:
    """How many of these labels each model gave: the one that spoke last of an issue."""
    last = {label.issue: label.model for label in labels.issues if label.model is not None and label.issue in used}
    return dict(sorted(Counter(last.values()).items()))
