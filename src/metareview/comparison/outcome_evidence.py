"""The evidence behind a run of outcomes: which comments were heeded, which were not, which were turned down."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from metareview.comparison.evidence_search import Best, known_pull_requests, known_reviewers, place
from metareview.errors import UsageError
from metareview.model.severity import severity_rank
from metareview.outcomes.records import CommentOutcome
from metareview.outcomes.references import rejecting_words
from metareview.runs.files import JsonObject
from metareview.runs.outcomes_json import outcome_to_json
from metareview.runs.run import OutcomesRun

TOP = 10
"""Entries of a list that are shown."""


def turned_down(outcome: CommentOutcome) -> bool:
    """By a reaction, or in the words of somebody's answer."""
    return bool(outcome.disliked.value) or any(rejecting_words(reply.note) for reply in outcome.replies)


LISTS: Mapping[str, Callable[[CommentOutcome], bool]] = {
    "heeded": lambda outcome: outcome.heeded,
    "unheeded": lambda outcome: outcome.unheeded,
    "rejected": turned_down,
    "repeated": lambda outcome: bool(outcome.repeated.value),
    "cannot-tell": lambda outcome: outcome.lines_changed.value is None and outcome.addressed is None,
    "undecided": lambda outcome: outcome.undecided,
}
"""Which comments each list holds."""


@dataclass(frozen=True, slots=True)
class OutcomeEntry:
    """A comment, and what became of it."""

    pr: str
    reviewer: str
    outcome: CommentOutcome

    def to_dict(self) -> JsonObject:
        return {"pr": self.pr, "reviewer": self.reviewer, **outcome_to_json(self.outcome)}


@dataclass(frozen=True)
class OutcomeEvidence:
    """How long each list is, and the first entries of those that were asked for."""

    run: OutcomesRun
    reviewers: tuple[str, ...]
    prs: tuple[str, ...]
    """The pull requests that were asked for; empty: all."""
    counts: Mapping[str, int]
    lists: Mapping[str, Sequence[OutcomeEntry]]

    def to_dict(self) -> JsonObject:
        folder = self.run.folder
        return {
            "schema": "metareview.show/1",
            "run": None if folder is None else str(folder),
            "reviewers": list(self.reviewers),
            "prs": list(self.prs),
            "counts": dict(self.counts),
            **{name: [entry.to_dict() for entry in entries] for name, entries in self.lists.items()},
        }


def outcome_evidence(
    run: OutcomesRun,
    lists: Collection[str] = tuple(LISTS),
    *,
    reviewers: Sequence[str] = (),
    prs: Sequence[str] = (),
    top: int = TOP,
) -> OutcomeEvidence:
    """The first `top` (0: all) of each of these lists, the most severe first, and how many there are of every list."""
    if top < 0:
        raise UsageError(f"--top must be 0 (all) or more, found {top}.")
    names = known_reviewers(run, reviewers)
    asked_for = known_pull_requests(_pull_requests(run), prs, run.label) if prs else ()
    best = {name: Best[OutcomeEntry](top) for name in LISTS}
    for entry in _entries(run, names, asked_for):
        severity = severity_rank(entry.outcome.comment.severity)
        key = (severity, *place(entry.pr), entry.reviewer, entry.outcome.position)
        for name, holds in LISTS.items():
            if holds(entry.outcome):
                best[name].add(key, entry)
    return OutcomeEvidence(
        run,
        names,
        asked_for,
        {name: each.total for name, each in best.items()},
        {name: best[name].items() for name in LISTS if name in lists},
    )


def _pull_requests(run: OutcomesRun) -> list[str]:
    return list(dict.fromkeys(record.pr for record in run.read_records()))


def _entries(run: OutcomesRun, names: Collection[str], prs: Collection[str]) -> Iterator[OutcomeEntry]:
    for record in run.read_records():
        if record.reviewer in names and (not prs or record.pr in prs):
            for outcome in record.comments:
                yield OutcomeEntry(record.pr, record.reviewer, outcome)
