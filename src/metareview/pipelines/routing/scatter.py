"""The first of two passes over a history too large for one process: its events, repository by repository, on disk.

Each piece of the input is read on its own, by whichever worker is free. Its events go into a file of packed events,
those of a repository together, and what holds for the history as a whole is gathered on the way: every replay needs
that before it can begin.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, count
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from metareview.collector import garbage_collection_paused
from metareview.engines.local import LocalEngine
from metareview.formats.gzip_lines import GZIP
from metareview.formats.history import HistoryInput
from metareview.formats.input_file import InputFile, Progress
from metareview.formats.parquet import MAGIC, group_parts
from metareview.formats.protocol import HistoryContext, TextFilter
from metareview.formats.read_warnings import ReadWarnings
from metareview.formats.registry import history_formats
from metareview.model.event import (
    KINDS,
    RESPONSES,
    Event,
    Outline,
    bots_of,
    display_names_of,
    in_order,
    no_pull_requests,
)
from metareview.model.time import LATEST
from metareview.pipelines.routing.options import RoutingOptions
from metareview.pipelines.routing.packed import pack
from metareview.routing.responses import REQUESTED

_KIND, _ACTOR, _ACTOR_AND_TYPE = itemgetter(3), itemgetter(4), itemgetter(4, 5)

PIECE = 24 * 2**20
"""Bytes of a file of JSON lines that are read by themselves: some hundred megabytes of events."""
PIECE_ROWS = 150_000
"""The same for Parquet."""
BLOCK = 4_000
"""Events of one repository that are packed together."""


class Piece(NamedTuple):
    """A file of the history, or a part of one."""

    number: int
    path: Path
    part: tuple[int, int] | None
    name: str | None = None
    """What messages call the file, where it is not by its path."""


class Slice(NamedTuple):
    """Where packed events of a repository stand, of one piece: all of them, or a block of many, one after the other."""

    piece: int
    offset: int
    length: int
    first: int
    """When the first happened."""


class Opening(NamedTuple):
    """The opened event of a pull request in the cohort. They sort in the order of the history."""

    at: int
    id: str
    piece: int
    position: int
    pr: int


@dataclass(slots=True)
class RepositoryFacts:
    """What is known of a repository before its replay."""

    slices: list[Slice] = field(default_factory=list)
    events: int = 0
    openings: list[Opening] = field(default_factory=list)
    """Of pull requests in the cohort: all where somebody must choose among them, else the first and the last."""
    scored: int = 0
    """Pull requests in the cohort, at the most."""

    def add(self, other: RepositoryFacts, *, keep_all: bool) -> None:
        self.slices += other.slices
        self.events += other.events
        self.openings += other.openings
        self.scored += other.scored
        if not keep_all:
            self.openings = _ends(self.openings)


@dataclass(frozen=True, slots=True)
class Reader:
    """What reading any piece needs."""

    format: str
    texts: TextFilter
    options: RoutingOptions
    folder: Path
    """Where the files of packed events go."""

    @property
    def chooses(self) -> bool:
        """Whether the cohort is chosen among all repositories, so that each opening must be known beforehand."""
        return self.options.limit is not None or self.options.cutoff_rule.policy != "created_at"


@dataclass(slots=True)
class PieceFacts:
    """What one piece tells of the history as a whole."""

    repositories: dict[str, RepositoryFacts] = field(default_factory=dict)
    end: int | None = None
    unknown: Counter[str] = field(default_factory=Counter)
    spellings: dict[str, tuple[int, bool, str]] = field(default_factory=dict)
    """By login as written, where in the history it is first seen."""
    bots: frozenset[str] = frozenset()
    gaps: dict[str, set[str]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    corrections: ReadWarnings = field(default_factory=ReadWarnings)
    kinds: frozenset[str] = frozenset()
    has_bodies: bool = False


@dataclass(frozen=True, slots=True)
class Scattered:
    """A history on disk: what holds for it as a whole, and where the events of each repository are."""

    outline: Outline
    """Its warnings are those from before the events were filtered, and what follows them comes from the replays."""
    repositories: Mapping[str, RepositoryFacts]
    """Those with pull requests in the cohort in the order of the first of them, and then the others."""
    unknown: Counter[str]
    shown: Mapping[str, str]
    """By login as written, the login as shown, of those for whom the two differ."""


def pieces_of(given: HistoryInput) -> Iterator[Piece]:
    """Files of JSON lines and of Parquet in parts; every other file is one piece."""
    numbers = count()
    for file in given.files:
        parts: Sequence[tuple[int, int] | None] = [None]
        if given.name == "events" and file.begins_with(MAGIC):
            parts = group_parts(file, PIECE_ROWS)
        elif given.name == "events" and not file.begins_with(GZIP):
            parts = file.parts(PIECE)
        for part in parts:
            yield Piece(next(numbers), file.path, part, file.name)


def read_piece(reader: Reader, piece: Piece) -> PieceFacts:
    """Pack the events of a piece, and say what they tell of the history as a whole."""
    file = InputFile(piece.path, part=piece.part).for_reading()
    file.name = piece.name or file.name
    reading = HistoryContext(reader.texts)
    read = history_formats(reader.format)[reader.format].events
    assert read is not None
    with garbage_collection_paused():
        facts = pack_piece(reader, piece.number, read(file, reading), reading)
    facts.corrections = file.warnings
    return facts


def pack_piece(reader: Reader, number: int, events: Iterable[Event], reading: HistoryContext) -> PieceFacts:
    """The same of events that somebody reads, in whatever order; `reading` has what they learn besides."""
    ordered = in_order(events)
    if ordered:
        reading.reaches(ordered[-1].at)
    kinds = Counter(map(_KIND, ordered))
    unknown = Counter({kind: times for kind, times in kinds.items() if kind not in KINDS})
    if unknown:
        ordered = [event for event in ordered if event.kind in KINDS]
    first_of = dict(zip(map(_ACTOR, reversed(ordered)), reversed(ordered), strict=True))
    facts = PieceFacts(
        end=reading.end,
        unknown=unknown,
        spellings={actor: (e.at, e.kind != "opened", e.id) for actor, e in first_of.items() if actor is not None},
        bots=bots_of(set(map(_ACTOR_AND_TYPE, ordered))),
        gaps=reading.gaps,
        warnings=reading.warnings,
        kinds=frozenset(kinds - unknown),
        has_bodies=any(event.body for event in ordered if event.kind not in RESPONSES),
    )
    by_repository: defaultdict[str, list[Event]] = defaultdict(list)
    for event in ordered:
        by_repository[event[0]].append(event)
    openings = _openings(ordered, reader, number)
    offset = 0
    with packed_file(reader.folder, number).open("wb") as file:
        for repo, of_repo in by_repository.items():
            slices = []
            for start in range(0, len(of_repo), BLOCK):
                packed = pack(of_repo[start : start + BLOCK])
                file.write(packed)
                slices.append(Slice(number, offset, len(packed), of_repo[start].at))
                offset += len(packed)
            chosen = openings.get(repo, [])
            kept = chosen if reader.chooses else _ends(chosen)
            facts.repositories[repo] = RepositoryFacts(slices, len(of_repo), kept, len(chosen))
    return facts


def packed_file(folder: Path, piece: int) -> Path:
    return folder / f"piece-{piece:05d}"


def _openings(events: Sequence[Event], reader: Reader, piece: int) -> dict[str, list[Opening]]:
    found: dict[str, list[Opening]] = {}
    is_scored = reader.options.is_scored
    for position in compress(count(), map("opened".__eq__, map(_KIND, events))):
        event = events[position]
        if is_scored(event.repo, event.pr, event.at):
            found.setdefault(event.repo, []).append(Opening(event.at, event.id, piece, position, event.pr))
    return found


def _ends(openings: list[Opening]) -> list[Opening]:
    return [min(openings), max(openings)] if len(openings) > 2 else openings


def scatter(reader: Reader, given: HistoryInput, engine: LocalEngine, progress: Progress | None = None) -> Scattered:
    """Read all pieces. InputError where one cannot be read, or where none has a pull request."""
    pieces = list(pieces_of(given))
    sizes = [_megabytes(piece) for piece in pieces]

    def read() -> Iterator[tuple[Piece, PieceFacts]]:
        done = 0
        for piece, facts in zip(pieces, engine.map(read_piece, reader, pieces), strict=True):
            yield piece, facts
            done += sizes[piece.number]
            if progress:
                progress(done, sum(sizes))

    return put_together(reader, given, read())


@garbage_collection_paused()  # There is a row per person and repository of each piece, and no cycle in any.
def put_together(reader: Reader, given: HistoryInput, pieces: Iterable[tuple[Piece, PieceFacts]]) -> Scattered:
    """What the pieces tell, in their order. InputError where none has a pull request."""
    repositories: dict[str, RepositoryFacts] = {}
    warnings = {file.path: file.warnings for file in given.files}
    whole = PieceFacts(warnings=[*given.warnings])
    first_seen: dict[str, tuple[int, bool, str, int]] = {}
    for piece, facts in pieces:
        for repo, of_piece in facts.repositories.items():
            repositories.setdefault(repo, RepositoryFacts()).add(of_piece, keep_all=reader.chooses)
        for login, place in facts.spellings.items():
            before = first_seen.get(login)
            if before is None or place < before[:3]:
                first_seen[login] = (*place, piece.number)
        whole.end = max((end for end in (whole.end, facts.end) if end is not None), default=None)
        whole.unknown.update(facts.unknown)
        whole.bots |= facts.bots
        whole.kinds |= facts.kinds
        whole.has_bodies |= facts.has_bodies
        for repo, resources in facts.gaps.items():
            whole.gaps.setdefault(repo, set()).update(resources)
        whole.warnings += facts.warnings
        warnings[piece.path] += facts.corrections
    if "opened" not in whole.kinds:
        raise no_pull_requests(given.label)
    names, shown = display_names_of(sorted(first_seen, key=first_seen.__getitem__))
    told = [line for file in given.files for line in file.all_warnings()]
    outline = Outline(
        end=whole.end or 0,
        bots=whole.bots,
        names=names,
        warnings=(*told, *whole.warnings),
        gaps={repo: frozenset(resources) for repo, resources in whole.gaps.items()},
        has_bodies=whole.has_bodies,
        has_merges="merged" in whole.kinds,
        has_requests=REQUESTED in whole.kinds,
    )
    never = Opening(LATEST + 1, "", 0, 0, 0)
    order = sorted(repositories, key=lambda repo: min(repositories[repo].openings, default=never))
    return Scattered(outline, {repo: repositories[repo] for repo in order}, whole.unknown, shown)


def _megabytes(piece: Piece) -> int:
    size = piece.path.stat().st_size
    if piece.part is None:
        return size >> 20
    return (piece.part[1] - piece.part[0]) >> 20
