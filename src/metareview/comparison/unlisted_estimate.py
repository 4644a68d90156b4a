"""The number of valid unlisted issues, estimated from labels of those that were drawn, and who gave these labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metareview.comparison.strata import Sample, estimated, passed_over
from metareview.model.label import IssueVerdict, Labels
from metareview.model.unlisted import Issue, Unlisted
from metareview.stats import Array

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
    issues: frozenset[str]
    """The issues of the sample with a label that estimates rest on."""
    sample: Sample
    """How many issues of each stratum are labelled. Where a model alone labelled: by people, whose labels would correct
    it."""


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
    stratum = [stratum_of(issue) for issue in issues]
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
        issues=frozenset(of_sample),
        sample=_sample(
            unlisted,
            stratum,
            value,
            passed_over((stratum_of(issue), issue.id in of_sample) for issue in unlisted.queue),
        ),
    )
    y = predicted if y is None else y
    if y is None:
        return None, labelled
    values = dict.fromkeys((issue.id for issue in unlisted.issues), 0.0)  # what is known to be invalid stays at that
    values.update((issue.id, each) for issue, each in zip(issues, y.tolist(), strict=True))
    return values, labelled


def _sample(unlisted: Unlisted, stratum: Sequence[int], value: Array, over: int) -> Sample:
    sizes = np.bincount(np.array(stratum, np.int64), minlength=len(unlisted.strata)).tolist()
    known = ~np.isnan(value)
    return Sample.of(sizes, np.array(stratum, np.int64)[known], value[known], over)


def stratum_of(issue: Issue) -> int:
    """The stratum of an open issue; ValueError where no sample was drawn that it could be in."""
    if issue.stratum is None:
        raise ValueError(f"issue {issue.id} is in no stratum")
    return issue.stratum


def _value(verdict: IssueVerdict | None) -> float:
    return np.nan if verdict is None else float(verdict == "valid")


def _models(labels: Labels, used: Mapping[str, IssueVerdict]) -> dict[str, int]:
    """How many of these labels each model gave: the one that spoke last of an issue."""
    last = {label.issue: label.model for label in labels.issues if label.model is not None and label.issue in used}
    return dict(sorted(Counter(last.values()).items()))
