"""The evidence behind a comment run's figures: what was missed, what is noise, what nearly matched, the worst first.

Pairs are streamed and only the best of each list are kept, so that a run of a million pairs can be looked at. Records
are read twice: for what counts, and, once the entries are chosen, for their notes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from metareview.comparison.evidence_search import LISTS, Item, ListName, Search
from metareview.comparison.quotes import Entry, Quotes
from metareview.errors import UsageError
from metareview.runs.files import JsonObject
from metareview.runs.run import AnyRun, CommentsRun, is_comments

TOP = 10
"""Entries of a list that are shown."""


@dataclass(frozen=True)
class Evidence:
    """How long each list is, and the worst entries of those that were asked for."""

    run: CommentsRun
    reviewers: tuple[str, ...]
    """Whose comments are looked at, in the order of the run."""
    everybody: bool
    """Whether these are all reviewers of the run."""
    prs: tuple[str, ...]
    """The pull requests that were asked for; empty: all."""
    counts: Mapping[ListName, int]
    lists: Mapping[ListName, Sequence[Entry]]

    @property
    def threshold(self) -> float | None:
        return self.run.result.config.threshold

    @property
    def unreviewed(self) -> tuple[int, int]:
        """Pull requests that no reviewer has a file for, and how many references they have: nobody was asked."""
        beyond = self.run.result.unreviewed if not self.prs else {}
        return len(beyond), sum(beyond.values())

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


def comments_run(run: AnyRun) -> CommentsRun:
    """The run, if it is one of comments."""
    if is_comments(run):
        return run
    raise UsageError(
        f"{run.label} is a run of {run.kind.name}, which has no comments to show."
        " `metareview report RUN -o report.html` lists each pull request with every router's candidates."
    )


def evidence(
    run: AnyRun,
    lists: Collection[ListName] = LISTS,
    *,
    reviewers: Sequence[str] = (),
    prs: Sequence[str] = (),
    top: int = TOP,
) -> Evidence:
    """The worst `top` (0: all) of each of these lists, and how many there are of every list.

    `reviewers` are names of the run, `prs` addresses, `owner/repo#5`, or numbers that only one pull request has.
    UsageError where one of them is not known, with what was perhaps meant.

    - missed: references that none of these reviewers raised, or not in every run of those that are repeated. Those
      found in the fewest runs first, then the most severe, then those that a comment came nearest to.
    - noise: comments without a partner. Those that repeat a negative first, then those that claim to be most severe,
      then those that are furthest from any reference.
    - near: pairs that may match by location and that the judge calls different, the highest score first.
    - matched: the pairs that were counted, the lowest score first.
    - undecided: pairs that could count and have no verdict.
    """
    known = comments_run(run)
    if top < 0:
        raise UsageError(f"--top must be 0 (all) or more, found {top}.")
    found = Search(known, reviewers, prs, top)
    chosen = {name: found.best(name) for name in LISTS if name in lists}
    records = quoted(known, [each for items in chosen.values() for each in items])

    def entry(item: Item) -> Entry:
        quotes = records[item.pr, item.reviewer]
        entry = quotes.entry(item.pr, item.reviewer, item.comment, item.other, item.pair)
        entry = replace(entry, found_in=item.found_in)
        if entry.rejected or item.other is None:
            return entry
        return replace(entry, raised_by=tuple(found.ledger.raised.get((item.pr, item.other), ())))

    return Evidence(
        known,
        found.reviewers,
        everybody=len(found.reviewers) == len(known.result.reviewers),
        prs=found.ledger.asked_for,
        counts={name: found.count(name) for name in LISTS},
        lists={name: [entry(item) for item in items] for name, items in chosen.items()},
    )


def quoted(run: CommentsRun, items: Sequence[Item]) -> dict[tuple[str, str], Quotes]:
    """The notes of the records that these items are from, by pull request and reviewer."""
    wanted = {(item.pr, item.reviewer) for item in items}
    return {record.key: Quotes(record) for record in run.read_records() if record.key in wanted} if wanted else {}
