"""Repeated runs among the reviews: which review is of which run, and what a reader of the figures must know of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from metareview.comments.repeated_runs import run_order
from metareview.formats.folders import is_run_folder
from metareview.model.comment import Review
from metareview.model.words import plural
from metareview.pipelines.comments.doubts import Doubt

FIRST_RUN = "run-1"
"""What the run of a reviewer is called who has only one, and no name for it."""
_NO_RUN = "(no run)"
_NAMED = 4


def by_named_runs(reviews: Sequence[Review]) -> Iterator[Review]:
    """The reviews, each with the name of its run."""
    repeated = {review.reviewer for review in reviews if review.run}
    for review in reviews:
        yield replace(review, run=review.run or (_NO_RUN if review.reviewer in repeated else FIRST_RUN))


def doubts_about_named_runs(reviews: Iterable[Review]) -> Iterator[Doubt]:
    """With --repeat: reviews of no run beside those of named ones."""
    for reviewer, runs in _runs(reviews).items():
        if None in runs and len(runs) > 1:
            named = _listed([run for run in runs if run])
            problem = f"it has a review of {reviewer} that is of no run, beside {named}"
            fix = "Put each run's files below its own subfolder (run-1, run-2 …), or give each record its run"
            yield Doubt(runs[None], problem, fix)


def doubts_about_runs(reviews: Sequence[Review]) -> Iterator[Doubt]:
    """Without --repeat: several runs of a reviewer on one pull request, which would be counted as one long review."""
    on_one: dict[tuple[str, str | None], dict[str | None, str]] = {}
    for review in reviews:
        on_one.setdefault((review.key, review.reviewer), {}).setdefault(review.run, review.source)
    several = {reviewer: runs for (_, reviewer), runs in on_one.items() if len(runs) > 1}
    for reviewer, runs in several.items():
        all_runs = [run for run in _runs(review for review in reviews if review.reviewer == reviewer)[reviewer] if run]
        problem = f"{_listed(all_runs)} of {reviewer} would be counted as one review that says all that they say"
        yield Doubt(next(iter(runs.values())), problem, "Pass --repeat, which counts repeated runs by their mean")


def _runs(reviews: Iterable[Review]) -> dict[str | None, dict[str | None, str]]:
    """By reviewer, the runs, each with a file that has it."""
    found: dict[str | None, dict[str | None, str]] = {}
    for review in reviews:
        found.setdefault(review.reviewer, {}).setdefault(review.run, review.source)
    return found


def _listed(runs: Sequence[str]) -> str:
    names = sorted(runs, key=run_order)
    return f"{plural(len(names), 'run')} ({', '.join(names[:_NAMED])}{', …' if len(names) > _NAMED else ''})"


def reviewers_like_runs(reviewers: Iterable[str]) -> Iterator[str]:
    """Without --repeat: reviewers that are called as the runs of one would be."""
    names = sorted(filter(is_run_folder, reviewers), key=run_order)
    if len(names) > 1:
        shown = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
        yield f"reviewers are called {shown}: if these are runs of one reviewer, --repeat makes them one"


def run_warnings(reviews: Iterable[tuple[str, str, str | None]]) -> Iterator[str]:
    """With --repeat: pull requests that only some runs have, and runs that are not repeated."""
    having: dict[str, dict[str, set[str | None]]] = {}
    for key, reviewer, run in reviews:
        having.setdefault(reviewer, {}).setdefault(key, set()).add(run)
    runs = {reviewer: len(set().union(*prs.values())) for reviewer, prs in having.items()}
    for reviewer, prs in having.items():
        if lacking := sum(len(of_pr) < runs[reviewer] for of_pr in prs.values()):
            yield (
                f"{reviewer}: {lacking:,} of {plural(len(prs), 'pull request')} are not in all {runs[reviewer]} runs;"
                " each counts by the mean over the runs that have it"
            )
    if having and max(runs.values()) < 2:
        yield (
            "--repeat, and no reviewer has more than one run: runs are subfolders run-1, run-2 … of a reviewer's"
            " folder, or run in the records"
        )
