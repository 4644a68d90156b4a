"""`revfinder`: whoever reviewed similar paths (Thongtanunam et al., SANER 2015)."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from metareview.model.event import RESPONSES, Event, PullRequest, fold
from metareview.routing.paths import PREFIX, RUN, SUBSEQUENCE, SUFFIX, Places, split_path
from metareview.routing.protocol import Ranking, Router
from metareview.routing.ranking import People, Scored, best_first

_CHUNK = 256


class RevFinder(Router):
    """Four path similarities, each a ranking of everybody seen so far, joined by a Borda count.

    The similarity of two paths is what they have in common over the greater number of parts: common prefix, suffix,
    longest run and longest subsequence of parts. A past review scores the mean over all pairs of new and old files, and
    gives it to each of its reviewers. Under each of the four everybody is ranked by score, zeros included, ties by
    first appearance, and gets (number of people - position) points; the sum decides.

    Nobody visits past reviews one by one: the sum over them regroups into one weight for each old path and reviewer, a
    past review of n files giving 1/n to each of its paths.

    Risk: low where the first candidate reviewed a path with a common prefix, medium where not, high where nobody has
    reviewed anything or the pull request has no files.
    """

    needs_files = True

    def __init__(self) -> None:
        self._people = People()
        self._past: dict[int, _Past] = {}
        self._weights = _PathWeights()

    def observe(self, event: Event) -> None:
        past = self._past.get(event.pr)
        if past is None:
            past = self._past[event.pr] = _Past()
        if event.kind == "opened":
            past.author = event.actor
        if event.files is not None and event.files != past.files and event.kind not in RESPONSES:
            for reviewer in past.reviewers:
                self._weights.add(past.files, reviewer, -1.0)
                self._weights.add(event.files, reviewer, 1.0)
            past.files = event.files
        if event.kind == "review_submitted" and event.actor is not None:
            if past.author is not None and fold(event.actor) == fold(past.author):
                return
            reviewer = self._people.number(event.actor)
            if reviewer not in past.reviewers:
                past.reviewers[reviewer] = None
                self._weights.add(past.files, reviewer, 1.0)

    def rank(self, pull_request: PullRequest) -> Ranking:
        people = len(self._people)
        if not people or not pull_request.files:
            return Ranking([], "high")
        scores = self._weights.scores(pull_request.files, people)
        points = np.zeros(people, dtype=np.int64)
        for measure in scores:
            points[best_first(measure)] += np.arange(people - 1, -1, -1)
        order = np.argsort(-points, kind="stable")
        risk = "low" if scores[PREFIX, order[0]] > 0 else "medium"
        return Ranking(Scored(self._people, order, points[order].astype(np.float64)), risk)


@dataclass(slots=True)
class _Past:
    """A past pull request: its files, and who reviewed them."""

    author: str | None = None
    files: tuple[str, ...] = ()
    reviewers: dict[int, None] = field(default_factory=dict)


class _Sparse:
    """Weights by (place, reviewer): only the pairs that occur, as three columns."""

    __slots__ = ("_index", "_places", "_reviewers", "_weights")

    def __init__(self) -> None:
        self._index: dict[tuple[int, int], int] = {}
        self._places, self._reviewers, self._weights = array("q"), array("q"), array("d")

    def add(self, place: int, reviewer: int, weight: float) -> None:
        index = self._index.setdefault((place, reviewer), len(self._weights))
        if index < len(self._weights):
            self._weights[index] += weight
        else:
            self._places.append(place)
            self._reviewers.append(reviewer)
            self._weights.append(weight)

    def columns(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """The columns without a copy: drop them before the next add."""
        return (
            np.frombuffer(self._places, dtype=np.int64),
            np.frombuffer(self._reviewers, dtype=np.int64),
            np.frombuffer(self._weights, dtype=np.float64),
        )


_Spot = tuple[int, str | None]
"""Where a path is held: its place, and its name if the place leaves it open."""


class _PathWeights:
    """The weight of each old path for each reviewer, and the four similarity sums over them."""

    def __init__(self) -> None:
        self._places = Places()
        self._folders: set[str] = set()
        self._names: set[str] = set()
        self._held = _Sparse()
        self._by_name: dict[str, _Sparse] = {}
        self._folder_of: dict[int, tuple[str, ...]] = {}
        self._spot_of: dict[str, _Spot] = {}

    def add(self, files: tuple[str, ...], reviewer: int, sign: float) -> None:
        for place, name in self._spots(files):
            self._held.add(place, reviewer, sign / len(files))
            if name is not None:
                self._by_name.setdefault(name, _Sparse()).add(place, reviewer, sign / len(files))

    def _spots(self, files: Iterable[str]) -> list[_Spot]:
        for path in [path for path in files if path not in self._spot_of]:
            for folder in split_path(path)[:-1]:
                if folder not in self._folders:
                    self._folders.add(folder)
                    self._make_whole(folder)
        known = self._spot_of
        return [known.get(path) or known.setdefault(path, self._spot(split_path(path))) for path in files]

    def _spot(self, parts: tuple[str, ...]) -> _Spot:
        name = parts[-1]
        if name in self._folders:
            return self._places.number(parts, named=True), None
        place = self._places.number(parts[:-1], named=False)
        self._folder_of[place] = parts[:-1]
        self._names.add(name)
        return place, name

    def _make_whole(self, name: str) -> None:
        """The name has turned up as a folder: give the paths that end in it places of their own."""
        held = self._by_name.pop(name, None)
        if name in self._names:
            self._spot_of.clear()
        if held is not None:
            for place, reviewer, weight in zip(*(column.tolist() for column in held.columns()), strict=True):
                self._held.add(place, reviewer, -weight)
                self._held.add(self._spot((*self._folder_of[place], name))[0], reviewer, weight)

    def scores(self, files: tuple[str, ...], people: int) -> NDArray[np.float64]:
        """Each reviewer's mean similarity sum over the files, under the four measures."""
        spots = self._spots(files)
        repeats = Counter(place for place, _ in spots)
        names: dict[int, list[str]] = {}
        for place, name in spots:
            if name is not None and name in self._by_name:
                names.setdefault(place, []).append(name)
        total = np.zeros((4, people))
        distinct = list(repeats)
        for start in range(0, len(distinct), _CHUNK):
            chunk = distinct[start : start + _CHUNK]
            common = self._places.common(chunk)
            self._add_places(total, chunk, common, repeats)
            self._add_names(total, chunk, common, names)
        return total / len(files)

    def _add_places(
        self, total: NDArray[np.float64], chunk: list[int], common: NDArray[np.uint8], repeats: Counter[int]
    ) -> None:
        """Every new path against every old one, as if no two had the same open name."""
        places, reviewers, weights = self._held.columns()
        lengths, named = self._places.lengths, self._places.named
        share = np.array([[float(repeats[place])] for place in chunk]) / np.maximum(lengths[chunk][:, None], lengths)
        similar = np.zeros((4, len(lengths)))
        np.einsum("kij,ij->kj", common[:SUFFIX], share, out=similar[:SUFFIX])
        mine = named[chunk]
        if mine.any():  # Only where both names are parts can two paths end alike.
            similar[SUFFIX] = np.einsum("ij,ij->j", common[SUFFIX][mine], share[mine]) * named
        people = total.shape[1]
        for measure in range(4) if mine.any() else range(SUFFIX):
            total[measure] += np.bincount(reviewers, similar[measure][places] * weights, people)

    def _add_names(
        self, total: NDArray[np.float64], chunk: list[int], common: NDArray[np.uint8], names: dict[int, list[str]]
    ) -> None:
        """What an equal name adds: one more part to suffix and subsequence, and to a run up to the end."""
        columns = []
        for row, place in enumerate(chunk):
            for name in names.get(place, ()):
                places, reviewers, weights = self._by_name[name].columns()
                columns.append((np.full(len(places), row), places, reviewers, weights))
        if not columns:
            return
        rows, places, reviewers, weights = (np.concatenate(column) for column in zip(*columns, strict=True))
        lengths = self._places.lengths
        own = np.array(chunk)[rows]
        weights = weights / np.maximum(lengths[own], lengths[places])
        suffix = common[SUFFIX, rows, places].astype(np.float64) + 1.0
        run = common[RUN, rows, places]
        for measure, gain in (
            (PREFIX, (own == places).astype(np.float64)),
            (SUFFIX, suffix),
            (RUN, np.maximum(suffix - run, 0.0)),
            (SUBSEQUENCE, np.ones(len(places))),
        ):
            total[measure] += np.bincount(reviewers, weights=gain * weights, minlength=total.shape[1])


PLUGIN = RevFinder
