"""P+, R+ and F1+ against known truth: how often their intervals hold it, and how far off they are on average. And what
Chao's floor says of issues that no source found, against how many there are.

Four reviewers of unequal skill and volume look at 50 pull requests. Each of these has references, right issues that the
references lack, and traps that several reviewers fall into; how much there is, and how hard it is to see, differs from
one pull request to the next. Issues are drawn and labelled as `label --unlisted` does, 150 of them. The truth is that
of the population which the pull requests come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import scipy.stats

from bench.data import MARTIAN
from bench.measure import Result, Row, seconds
from metareview.comments.measures import Counts
from metareview.comments.records import CommentRecord, ScoredReference
from metareview.comparison.unlisted import draw_unlisted
from metareview.comparison.unlisted_figures import unlisted_figures
from metareview.comparison.unlisted_grouping import Unmatched, group_pool, group_run
from metareview.comparison.unseen import Unseen
from metareview.model.comment import Comment
from metareview.model.label import IssueLabel, IssueVerdict, Labels
from metareview.model.unlisted import CommentKey, Issue, Unlisted
from metareview.runs.comments_kind import KIND as COMMENTS
from metareview.runs.run import CommentsRun, Manifest, Run
from metareview.stats import Array

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
_RARE = 0.3
"""How many right issues the references lack where they lack few."""
_TRAPPED, _TWICE, _STRICT, _MOST_FOUND = 0.35, 0.2, 0.5, 0.95
"""How often a reviewer falls into a trap that is there for all; raises an unlisted issue twice; repeats itself by its
words where it does; finds what it can."""
PULL_REQUESTS, BUDGET, SMALL_BUDGET = 50, 150, 30
Cell = Literal["ordinary", "rare", "grown"]
"""As above; with few right issues and 30 labels, so that all labels of a stratum are often alike; with a sample that
was drawn when a fifth of the issues were not there."""
_NO_NOTE = Comment("")


class World:
    """Pull requests of one kind: what is there, what reviewers say, and what of it is right."""

    def __init__(self, rng: np.random.Generator, pull_requests: int, unlisted: float = _UNLISTED) -> None:
        self.records: list[CommentRecord] = []
        self.issues: list[Issue] = []
        self.verdicts: dict[str, IssueVerdict] = {}
        self.missed = 0
        """Right issues that are neither among the references nor found by any reviewer."""
        for number in range(pull_requests):
            self._add(rng, f"pr{number}", unlisted)

    def _add(self, rng: np.random.Generator, pr: str, unlisted: float) -> None:
        size, seen = rng.gamma(3, 1 / 3), rng.beta(6, 6) * 2
        references, right, traps = rng.poisson(np.array([_REFERENCES, unlisted, _SHARED_TRAPS]) * size)
        by_issue: dict[str, list[CommentKey]] = {}
        repeats: set[CommentKey] = set()
        for name, (skill, noise) in REVIEWERS.items():
            found = min(_MOST_FOUND, skill * seen)
            covered = rng.random(references) < found
            own = [f"{pr}/right{issue}" for issue in range(right) if rng.random() < found]
            own += [f"{pr}/trap{issue}" for issue in range(traps) if rng.random() < _TRAPPED]
            own += [f"{pr}/{name}{issue}" for issue in range(rng.poisson(noise * size))]
            position = 0
            for issue in own:
                if issue not in self.verdicts:
                    wrong: IssueVerdict = "repeat" if rng.random() < 0.2 else "invalid"
                    self.verdicts[issue] = "valid" if "/right" in issue else wrong
                for again in range(1 + (rng.random() < _TWICE)):
                    by_issue.setdefault(issue, []).append((name, position))
                    if again and rng.random() < _STRICT:
                        repeats.add((name, position))
                    position += 1
            matched = int(covered.sum())
            counts = Counts(
                expected=int(references),
                generated=matched + position,
                matched=matched,
                covered=matched,
                unmatched=position,
            )
            scored = tuple(ScoredReference(at, _NO_NOTE, True, bool(hit), None) for at, hit in enumerate(covered))
            self.records.append(
                CommentRecord(pr, name, None, None, len(scored), len(scored), counts=counts, references=scored)
            )
        self.missed += int(right) - sum("/right" in issue for issue in by_issue)
        self.issues += [
            Issue(name, pr, tuple(sorted(comments)), repeats=frozenset(repeats & set(comments)))
            for name, comments in by_issue.items()
        ]

    def run(self) -> CommentsRun:
        result: Any = SimpleNamespace(config=SimpleNamespace(alignment="optimal", unit="pr"))
        return Run(COMMENTS, result, Manifest("comments", {}, {}, started=""), None, self.records)

    def labels(self, names: Iterable[str]) -> Labels:
        return Labels(issues=[IssueLabel(name, "", (), "", self.verdicts[name], "") for name in names])

    def sample(self, rng: np.random.Generator, cell: Cell, budget: int, seed: int) -> Unlisted:
        if cell != "grown":
            return draw_unlisted(self.issues, budget, seed)
        early = [issue for issue in self.issues if rng.random() < 0.8]
        return draw_unlisted(self.issues, budget, seed, before=draw_unlisted(early, budget // 2, seed))


def truth(unlisted: float = _UNLISTED) -> dict[tuple[str, str], float]:
    """The figures of each reviewer in the population, in expectations; only what is seen needs an integral."""
    steps = 20_000
    seen = scipy.stats.beta(6, 6).ppf((np.arange(steps) + 0.5) / steps) * 2
    found = {name: np.minimum(_MOST_FOUND, skill * seen) for name, (skill, _) in REVIEWERS.items()}
    there = _REFERENCES + unlisted * float(1 - np.prod([1 - each for each in found.values()], axis=0).mean())
    figures = {}
    for name, (_, noise) in REVIEWERS.items():
        share = float(found[name].mean())
        unmatched = unlisted * share + _SHARED_TRAPS * _TRAPPED + noise
        generated = _REFERENCES * share + (1 + _TWICE) * unmatched
        no_repeats = _REFERENCES * share + unlisted * share * (1 + _TWICE * (1 - _STRICT))
        precision, recall = no_repeats / generated, (_REFERENCES + unlisted) * share / there
        values = precision, recall, 2 * precision * recall / (precision + recall)
        figures.update({(name, measure): value for measure, value in zip(MEASURES, values, strict=True)})
    return figures


def simulate(trials: int, seed: int = 0, cell: Cell = "ordinary") -> dict[str, Any]:
    """For each measure its coverage over all trials and reviewers, that of each reviewer, and the greatest bias; and
    how many issues no source found, beside Chao's floor."""
    rng = np.random.default_rng(seed)
    unlisted, budget = (_RARE, SMALL_BUDGET) if cell == "rare" else (_UNLISTED, BUDGET)
    true = truth(unlisted)
    held = dict.fromkeys(true, 0)
    off: dict[tuple[str, str], list[float]] = {key: [] for key in true}
    widths: dict[tuple[str, str], list[float]] = {key: [] for key in true}
    sizes, missed, floors = [], [], []
    for trial in range(trials):
        world = World(rng, PULL_REQUESTS, unlisted)
        sample = world.sample(rng, cell, budget, trial)
        sizes.append(len(world.issues))
        found = unlisted_figures(world.run(), sample, world.labels(sample.drawn))
        assert found.unseen is not None
        missed.append(world.missed)
        floors.append(found.unseen.floor)
        for (name, measure), value in true.items():
            reviewer = found.reviewers[name]
            low, high = reviewer.intervals[measure] or (0.0, 1.0)
            held[name, measure] += low <= value <= high
            off[name, measure].append((reviewer.metrics[measure] or 0.0) - value)
            widths[name, measure].append(high - low)
    result: dict[str, Any] = {name: float(np.mean(of)) for name, of in (("issues", sizes), ("missed", missed))}
    result["floor"] = float(np.mean(floors))
    for measure in MEASURES:
        keys = [(name, measure) for name in REVIEWERS]
        result[measure] = {
            "coverage": sum(held[key] for key in keys) / (trials * len(keys)),
            "by_reviewer": {key[0]: held[key] / trials for key in keys},
            "bias": {key[0]: float(np.mean(off[key])) for key in keys},
            "width": float(np.mean([widths[key] for key in keys])),
        }
    return result


def floor_and_truth(kind: str, trials: int, seed: int = 0) -> tuple[float, float]:
    """Chao's floor and how many of 200 issues none of six sources found, on average.

    `alike`: all sources find every issue equally often. `unequal`: some sources find far more than others, issues are
    alike. `hard`: some issues are hard for all sources. `families`: three pairs of sources that find the same.
    """
    rng = np.random.default_rng(seed)
    issues, sources = 200, 6
    floors, missed = [], []
    for _ in range(trials):
        skill: Array = np.array([0.6, 0.4, 0.2, 0.2, 0.1, 0.1]) if kind == "unequal" else np.full(sources, 0.3)
        ease = rng.beta(0.6, 1.4, (issues, 1)) / 0.3 if kind == "hard" else np.ones((issues, 1))
        luck = rng.random((issues, sources))
        if kind == "families":
            luck[:, 1::2] = luck[:, ::2]
        times = (luck < np.minimum(1, ease * skill)).sum(axis=1)
        floors.append(Unseen(float((times == 1).sum()), float((times == 2).sum()), sources).floor)
        missed.append(float((times == 0).sum()))
    return float(np.mean(floors)), float(np.mean(missed))


def crowd(comments: int) -> list[Unmatched]:
    """Comments of ten reviewers on one pull request, without places: of ten issues, each in words of its own."""
    rng = np.random.default_rng(comments)
    words = [[f"{stem}{number}" for number in range(12)] for stem in "abcdefghij"]
    notes = (" ".join(rng.permutation(words[number % 10])[:8]) + f" in item {number}" for number in range(comments))
    return [Unmatched(f"r{number % 10}", number, Comment(note)) for number, note in enumerate(notes)]


def run() -> Result:
    rows: list[Row] = []
    cells: Mapping[Cell, tuple[int, float, float]] = {
        "ordinary": (1_000, 0.92, 0.005),
        "grown": (400, 0.91, 0.01),
        "rare": (400, 0.90, 0.01),
    }
    for cell, (trials, least, most) in cells.items():
        found = simulate(trials, cell=cell)
        for measure in MEASURES:
            of_measure = found[measure]
            shares = [*of_measure["by_reviewer"].values()]
            bias = max(map(abs, of_measure["bias"].values()))
            target = f"{least} to 1"
            rows += [
                Row(f"{cell}, {measure}: coverage, worst reviewer", min(shares), "", target, min(shares) >= least),
                Row(f"{cell}, {measure}: coverage, best reviewer", max(shares)),
                Row(f"{cell}, {measure}: bias, worst reviewer", round(bias, 4), "", f"<= {most}", bias <= most),
                Row(f"{cell}, {measure}: width", round(of_measure["width"], 4)),
            ]
        rows.append(Row(f"{cell}: issues that no source found", round(found["missed"], 1)))
        rows.append(Row(f"{cell}: Chao's floor", round(found["floor"], 1)))
    for kind in ("alike", "unequal", "hard", "families"):
        floor, missed = floor_and_truth(kind, 1_000)
        rows.append(Row(f"six sources, {kind}: issues that none found", round(missed, 1)))
        rows.append(Row(f"six sources, {kind}: Chao's floor", round(floor, 1)))
    small, large = (seconds(partial(group_pool, "pr", crowd(size), 1, anywhere=True)) for size in (250, 1_000))
    rows.append(Row.below("grouping 1,000 comments on one pull request", large, "s", 5))
    rows.append(Row.below("as many times as long as 250", large / small, "", 25))
    if MARTIAN.exists():
        from metareview.api import evaluate_comments

        published = evaluate_comments(MARTIAN / "candidates.json", reference=sorted(MARTIAN.glob("golden_*.json")))
        rows.append(Row.below("grouping 12 tools on 30 pull requests", seconds(lambda: group_run(published)), "s", 3))
        issues = group_run(published)
        rows.append(Row("issues of theirs", len(issues)))
        rows.append(Row("comments of the largest", max(len(issue.comments) for issue in issues)))
    return Result("Unlisted issues: 4 reviewers, 50 pull requests, 150 labels", rows)
