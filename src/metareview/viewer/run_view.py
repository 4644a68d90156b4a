"""A finished run as the pages of the viewer see it: its figures whole, its records and pairs read where they stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from metareview.comments.records import CommentRecord, Pair
from metareview.outcomes.records import OutcomeRecord
from metareview.routing.records import RoutingRecord
from metareview.runs.places import Place
from metareview.runs.run import AnyRun
from metareview.viewer.index import Index

Record = CommentRecord | RoutingRecord | OutcomeRecord
Made = TypeVar("Made")
NOBODY = ""
"""The reviewer of a record that is about all routers at once."""


@dataclass(frozen=True)
class RunView:
    """One run, opened. A pull request goes by its address, `pr`, as in the records; in a routing run by `owner/name#7`.

    What a method reads is read anew from the run's files, a few lines at a time and never the whole.
    """

    id: str
    """Its name in addresses of the viewer."""
    folder: Path
    run: AnyRun
    index: Index
    token: str
    """What every form that writes must send as the field `token`."""
    _kept: dict[str, tuple[object, Any]] = field(default_factory=dict, compare=False)
    _locks: dict[str, Lock] = field(default_factory=dict, compare=False)

    def kept(self, name: str, make: Callable[[], Made], stamp: object = None) -> Made:
        """What `make` gives, made once for all requests until the stamp changes; for whatever depends on nothing but
        the run's files and what the stamp is of."""
        with self._locks.setdefault(name, Lock()):
            known = self._kept.get(name)
            if known is None or known[0] != stamp:
                known = self._kept[name] = stamp, make()
            made: Made = known[1]
            return made

    @property
    def title(self) -> str:
        """What pages call it."""
        return self.id

    @property
    def prs(self) -> Sequence[str]:
        """The pull requests in the order of the run; the number of one in addresses is its position here."""
        return self.index.prs

    def records_of(self, pr: str) -> list[Record]:
        """Everybody's record of a pull request, in the order of the run: one per reviewer, or one of all routers.

        Empty where the run has no such pull request.
        """
        return self._read(self.index.record_places(pr))

    def record_of(self, pr: str, reviewer: str = NOBODY) -> Record | None:
        """A reviewer's record of a pull request; None where there is none."""
        return next(iter(self._read(self.index.record_places(pr, reviewer))), None)

    def _read(self, places: Sequence[Place]) -> list[Record]:
        """Repeated runs as one."""
        return list(self.run.kind.together(iter(self.index.read_records(places, self.run.kind.record_from_json))))

    def pairs_of(self, pr: str) -> list[Pair]:
        """Every judged pair of a pull request, of all reviewers, in the order of the run."""
        return self.index.read_pairs(self.index.pair_places(pr))

    def address(self, pr: str | None = None) -> str:
        """Of the run's own page, or of one of its pull requests; KeyError where it has no such pull request."""
        return f"/run/{self.id}" if pr is None else f"/run/{self.id}/pr/{self.index.number_of(pr)}"


FindRun = Callable[[str], RunView | None]
"""How a run is found by its id."""
