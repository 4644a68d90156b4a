"""P+, R+ and F1+ against known truth: how often their intervals hold it, and how far off they are on average.

Four reviewers of unequal skill and volume look at 50 pull requests. Each of these has references, right issues that the
references lack, and traps that several reviewers fall into; how much there is, and how hard it is to see, differs from
one pull request to the next. Issues are drawn and labelled as `label --unlisted` does, 150 of them. The truth is that
of the population which the pull requests come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.stats

from bench.data import MARTIAN
from bench.measure import Result, Row, seconds
from metareview.comments.measures import Counts
from metareview.comments.records import CommentRecord
from metareview.comparison.unlisted import draw_unlisted
from metareview.comparison.unlisted_figures import unlisted_figures
from metareview.comparison.unlisted_grouping import group_run
from metareview.model.label import IssueLabel, IssueVerdict, Labels
from metareview.model.unlisted import Issue
from metareview.runs.run import COMMENTS, CommentsRun, Manifest, Run

MEASURES = ("precision_plus", "recall_plus", "f1_plus")
REVIEWERS: Mapping[str, tuple[float, float]] = {
    "careful": (0.30, 0.6),
    "keen": (0.55, 4.0),
    "middling": (0.40, 1.5),
    "noisy": (0.20, 6.0),
}
"""How much of what is there each finds, and how many wrong comments of its own it makes on a pull request."""
_REFERENCES, _UNLISTED, _SHARED_TRAPS = 2.5, 2.0, 0.8
"""How much there is on a pull request of mean size."""
_TRAPPED, _TWICE, _MOST_FOUND = 0.35, 0.1, 0.95
"""How often a reviewer falls into a trap that is there for all; says an unlisted issue twice; finds what it can."""
PULL_REQUESTS, BUDGET = 50, 150


class World:
    """Pull requests of one kind: what is there, who says what, and what of it is right."""

    def __init__(self, rng: np.random.Generator, pull_requests: int) -> None:
        self.records: list[CommentRecord] = []
        self.issues: list[Issue] = []
        self.verdicts: dict[str, IssueVerdict] = {}
        for number in range(pull_requests):
            self._add(rng, f"pr{number}")

    def _add(self, rng: np.random.Generator, pr: str) -> None:
        size, seen = rng.gamma(3, 1 / 3), rng.beta(6, 6) * 2
        references, unlisted, traps = rng.poisson(np.array([_REFERENCES, _UNLISTED, _SHARED_TRAPS]) * size)
        by_issue: dict[str, list[tuple[str, int]]] = {}
        for name, (skill, noise) in REVIEWERS.items():
            found = min(_MOST_FOUND, skill * seen)
            covered = int(rng.binomial(references, found))
            position = 0

            own: list[str] = [f"{pr}/right{issue}" for issue in range(unlisted) if rng.random() < found]
            right = len(own)
            own += [f"{pr}/trap{issue}" for issue in range(traps) if rng.random() < _TRAPPED]
            own += [f"{pr}/{name}{issue}" for issue in range(rng.poisson(noise * size))]
            for number, issue in enumerate(own):
                if issue not in self.verdicts:
                    wrong: IssueVerdict = "repeat" if rng.random() < 0.2 else "invalid"
                    self.verdicts[issue] = "valid" if number < right else wrong
                for _ in range(1 + (rng.random() < _TWICE)):
                    by_issue.setdefault(issue, []).append((name, position))
                    position += 1
            counts = Counts(
                expected=int(references),
                generated=covered + position,
                matched=covered,
                covered=covered,
                unmatched=position,
            )
            self.records.append(CommentRecord(pr, name, None, None, int(references), int(references), counts=counts))
        self.issues += [Issue(name, pr, tuple(sorted(comments))) for name, comments in by_issue.items()]

    def run(self) -> CommentsRun:
        result: Any = SimpleNamespace(config=SimpleNamespace(alignment="optimal"))
        return Run(COMMENTS, result, Manifest("comments", {}, {}, started=""), None, self.records)

    def labels(self, names: Iterable[str]) -> Labels:
        return Labels(issues=[IssueLabel(name, "", (), "", self.verdicts[name], "") for name in names])


def truth() -> dict[tuple[str, str], float]:
    """The figures of each reviewer in the population, in expectations; only what is seen needs an integral."""
    steps = 20_000
    seen = scipy.stats.beta(6, 6).ppf((np.arange(steps) + 0.5) / steps) * 2
    found = {name: np.minimum(_MOST_FOUND, skill * seen) for name, (skill, _) in REVIEWERS.items()}
    there = _REFERENCES + _UNLISTED * float(1 - np.prod([1 - each for each in found.values()], axis=0).mean())
    figures = {}
    for name, (_, noise) in REVIEWERS.items():
        share = float(found[name].mean())
        right = (_REFERENCES + _UNLISTED) * share
        unmatched = _UNLISTED * share + _SHARED_TRAPS * _TRAPPED + noise
        generated = _REFERENCES * share + (1 + _TWICE) * unmatched
        values = right / generated, right / there, 2 * right / (generated + there)
        figures.update({(name, measure): value for measure, value in zip(MEASURES, values, strict=True)})
    return figures


def simulate(trials: int, seed: int = 0, budget: int = BUDGET) -> dict[str, Any]:
    """For each measure its coverage over all trials and reviewers, that of each reviewer, and the greatest bias."""
    rng = np.random.default_rng(seed)
    true = truth()
    held = dict.fromkeys(true, 0)
    off: dict[tuple[str, str], list[float]] = {key: [] for key in true}
    widths: dict[tuple[str, str], list[float]] = {key: [] for key in true}
    sizes = []
    for trial in range(trials):
        world = World(rng, PULL_REQUESTS)
        unlisted = draw_unlisted(world.issues, budget, seed=trial)
        sizes.append(len(world.issues))
        found = unlisted_figures(world.run(), unlisted, world.labels(unlisted.drawn))
        for (name, measure), value in true.items():
            reviewer = found.reviewers[name]
            low, high = reviewer.intervals[measure] or (0.0, 1.0)
            held[name, measure] += low <= value <= high
            off[name, measure].append((reviewer.metrics[measure] or 0.0) - value)
            widths[name, measure].append(high - low)
    result: dict[str, Any] = {"issues": float(np.mean(sizes))}
    for measure in MEASURES:
        keys = [(name, measure) for name in REVIEWERS]
        result[measure] = {
            "coverage": sum(held[key] for key in keys) / (trials * len(keys)),
            "by_reviewer": {key[0]: held[key] / trials for key in keys},
            "bias": {key[0]: float(np.mean(off[key])) for key in keys},
            "width": float(np.mean([widths[key] for key in keys])),
        }
    return result


def run() -> Result:
    found = simulate(1_000)
    rows: list[Row] = []
    for measure in MEASURES:
        of_measure = found[measure]
        shares = [*of_measure["by_reviewer"].values()]
        bias = max(map(abs, of_measure["bias"].values()))
        rows += [
            Row(f"{measure}: coverage, worst reviewer", min(shares), "", "0.92 to 0.98", min(shares) >= 0.92),
            Row(f"{measure}: coverage, best reviewer", max(shares), "", "0.92 to 0.98", max(shares) <= 0.98),
            Row(f"{measure}: bias, worst reviewer", round(bias, 4), "", "<= 0.005", bias <= 0.005),
            Row(f"{measure}: width", round(of_measure["width"], 4)),
        ]
    if MARTIAN.exists():
        from metareview.api import evaluate_comments

        published = evaluate_comments(MARTIAN / "candidates.json", reference=sorted(MARTIAN.glob("golden_*.json")))
        rows.append(Row.below("grouping 12 tools on 30 pull requests", seconds(lambda: group_run(published)), "s", 3))
        rows.append(Row("issues of theirs", len(group_run(published))))
    return Result("Unlisted issues: 4 reviewers, 50 pull requests, 150 labels, 1,000 trials", rows)
