"""A routing evaluation on a cluster: its tasks read pieces and replay repositories as worker processes do.

What the pieces hold of a repository goes through Spark to the one task that replays it, packed, a block at a time. What
comes back is what holds for the history as a whole, and what the replays add up to. The records stay where the tasks
write them, unless the run is to be kept in memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from metareview.engines.local import Chunk, Context, Result, Work
from metareview.engines.spark import Frame, Session, SparkEngine
from metareview.engines.spark_exchange import Bundle, Made, SparkExchange, partition
from metareview.errors import UsageError
from metareview.formats.histories.events import PLUGIN, of_rows
from metareview.formats.history import HistoryInput, open_history
from metareview.formats.input_file import InputFile
from metareview.formats.parquet import cells_of
from metareview.formats.protocol import HistoryContext
from metareview.model.event import Event, History
from metareview.pipelines.routing.count import configured
from metareview.pipelines.routing.gather import Batch, Replaying
from metareview.pipelines.routing.large import Large, Watch, unwatched
from metareview.pipelines.routing.packed import to_bytes
from metareview.pipelines.routing.plan import Plan
from metareview.pipelines.routing.read import Beside, InputFiles, text_filter
from metareview.pipelines.routing.scatter import (
    PIECE_ROWS,
    Piece,
    PieceFacts,
    Reader,
    Scattered,
    Slice,
    pack_piece,
    packed_file,
    pieces_of,
    put_together,
    read_piece,
)
from metareview.pipelines.routing.scratch import in_blocks
from metareview.runs.files import RESULTS, written_to
from metareview.runs.routing_json import manifest_config
from metareview.runs.routing_kind import KIND as ROUTING
from metareview.runs.routing_parts import ParquetParts, RoutingParts
from metareview.runs.run import Manifest, RoutingRun, Run, now
from metareview.runs.writer import RunWriter
from metareview.temporary import TemporaryFolder

_FRAME = "the data frame"
_PIECES = 20
"""A piece of a frame has in its lower bits its number within its partition."""


def evaluate_on_spark(
    session: Session,
    files: InputFiles,
    beside: Beside,
    routers: Plan,
    frame: Frame | None = None,
    *,
    out: Path | None = None,
    overwrite: bool = False,
    watch: Watch = unwatched,
) -> RoutingRun:
    """The whole evaluation of the history of the plan's options, or of the events of a frame.

    With `out` it is kept there, its records as Parquet parts; a finished run of the same inputs that is there already
    is taken as it is. Without, all records come to this process. `routers` is the plan as far as it goes without a
    history.
    """
    options = routers.options
    reader = Reader("events", text_filter(options), options.as_sent(), Path())
    exchange = SparkExchange(session)
    try:
        with watch("reading the history"):
            if frame is None:
                scattered, hashes = _read_files(exchange, reader, files)
            else:
                scattered, of_frame = _read_frame(exchange, reader, frame)
                hashes = {"history": of_frame, **files.hash()}
        inputs = beside.with_history(History.without_events(scattered.outline), scattered.repositories)
        plan = replace(routers, inputs=inputs, options=options.as_sent())
        config = manifest_config(configured(plan))
        if out is None:
            with TemporaryFolder() as folder:
                held = RoutingParts(folder)
                summary, numbers = _large(plan, scattered, exchange, held).replay(held, watch)
                files.check_codeowners()
                records = list(held.read_records(numbers))
            manifest = Manifest(ROUTING.name, config, hashes, started=now(), status="finished")
            return Run(ROUTING, summary, manifest, None, records)
        with RunWriter(out, ROUTING, config, hashes, overwrite=overwrite, in_parts=True) as writer:
            if writer.finished is not None:
                return writer.finished
            parts = ParquetParts(writer.parts_folder(RESULTS).absolute())
            summary, _ = _large(plan, scattered, exchange).replay(parts, watch)
            files.check_codeowners()
            return writer.finish_written(summary, summary.prs)
    finally:
        exchange.close()


# Reading


def _read_files(exchange: SparkExchange, reader: Reader, files: InputFiles) -> tuple[Scattered, dict[str, str]]:
    """Piece by piece, as worker processes do; and the hashes of all inputs."""
    given = open_history(reader.options.history)
    if given.format.events is None:
        raise UsageError(f"--engine spark reads histories of events, and this is {given.name}. Leave --engine out.")
    reader = replace(reader, format=given.name)
    pieces = list(pieces_of(given))
    there = [piece._replace(path=piece.path.absolute(), name=piece.name) for piece in pieces]
    with ThreadPoolExecutor(1) as aside:
        hashing = aside.submit(files.hash)
        numbers = exchange.session.range(0, len(pieces), 1, len(pieces))
        found = exchange.make(_make_of_files, (reader, there), numbers)
        told = zip(pieces, (facts for _, facts in found), strict=True)
        scattered, hashes = put_together(reader, given, told), hashing.result()
    files.check(*hashes)
    return scattered, hashes


def _make_of_files(reading: tuple[Reader, Sequence[Piece]], batches: Iterator[Any]) -> Iterator[Made[PieceFacts]]:
    reader, pieces = reading
    for batch in batches:
        for number in batch.column(0).to_pylist():
            with _folder() as folder:
                facts = read_piece(replace(reader, folder=folder), pieces[number])
                yield Made(number, facts, _bundles(facts, number, folder))


def _read_frame(exchange: SparkExchange, reader: Reader, frame: Frame) -> tuple[Scattered, str]:
    """The rows, taken in the order that they have; and a hash of the events, whatever their order and whoever holds
    them."""
    names = [name for name in frame.columns if name in Event._fields]
    found = exchange.make(_make_of_frame, (reader, names), frame.select(*names))
    file = InputFile(_FRAME)
    number_of_events = hashes = 0

    def pieces() -> Iterator[tuple[Piece, PieceFacts]]:
        nonlocal number_of_events, hashes
        for number, each in found:
            number_of_events += each.events
            hashes += each.hashes
            yield Piece(number, file.path, None), each.facts

    scattered = put_together(reader, HistoryInput("events", PLUGIN, (file,), ()), pieces())
    return scattered, hashlib.sha256(f"{number_of_events} {hashes}".encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _OfFrame:
    """What a piece of a frame tells."""

    facts: PieceFacts
    events: int
    hashes: int
    """A number for each event, added up."""


def _make_of_frame(reading: tuple[Reader, Sequence[str]], batches: Iterator[Any]) -> Iterator[Made[_OfFrame]]:
    reader, names = reading
    for block, events in enumerate(in_blocks(_events_of(names, batches), PIECE_ROWS)):
        number = (partition() << _PIECES) + block
        with _folder() as folder:
            facts = pack_piece(replace(reader, folder=folder), number, events, HistoryContext(reader.texts))
            found = _OfFrame(facts, len(events), sum(map(_hash_of, events)))
            yield Made(number, found, _bundles(facts, number, folder))


def _events_of(names: Sequence[str], batches: Iterable[Any]) -> Iterator[Event]:
    import pyarrow as pa

    file, row = InputFile(_FRAME), 1
    for batch in batches:
        if batch.num_rows:
            columns = {name: cells_of(pa, column) for name, column in zip(names, batch.columns, strict=True)}
            yield from of_rows(file, row, columns)
            row += batch.num_rows


def _hash_of(event: Event) -> int:
    return int.from_bytes(hashlib.blake2b(to_bytes(tuple(event)), digest_size=8).digest(), "big")


@contextmanager
def _folder() -> Iterator[Path]:
    """For as long as a task needs it, on its machine's disk."""
    with TemporaryFolder() as folder, written_to(folder, "Set TMPDIR to a folder with space."):
        yield folder


def _bundles(facts: PieceFacts, piece: int, folder: Path) -> list[Bundle]:
    """What a piece holds of each repository; of where that stood, nothing is told any more."""
    content = packed_file(folder, piece).read_bytes()
    bundles = []
    for repo, of_repo in facts.repositories.items():
        for _, offset, length, first in of_repo.slices:
            bundles.append(Bundle(repo, piece, offset, first, content[offset : offset + length]))
        of_repo.slices = []
    return bundles


# Replaying


def _large(plan: Plan, scattered: Scattered, exchange: SparkExchange, held: RoutingParts | None = None) -> Large:
    return Large(plan, scattered, _Cluster(exchange, held), Path())


@dataclass(frozen=True)
class _Cluster:
    """Its tasks in the place of worker processes."""

    exchange: SparkExchange
    held: RoutingParts | None
    """Where records go that are to come to this process."""

    def map(self, work: Work[Context, Chunk, Result], context: Context, chunks: Iterable[Chunk], /) -> Iterator[Result]:
        if self.held is not None:
            return (work(context, chunk) for chunk in chunks)
        return SparkEngine(self.exchange.session).map(work, context, chunks)

    def map_as_done(
        self, work: Work[Replaying, Batch, Result], replaying: Replaying, batches: Sequence[Batch], /
    ) -> Iterator[tuple[int, Result]]:
        for number, (result, lines) in self.exchange.use(_receive, (work, replaying), batches, _repositories):
            if self.held is not None and lines is not None:
                self.held.put(batches[number].number, lines)
            yield number, result


def _repositories(batch: Batch) -> list[str]:
    return [each.name for each in batch.repositories]


@contextmanager
def _receive(
    doing: tuple[Work[Replaying, Batch, Result], Replaying], bundles: Iterable[Bundle]
) -> Iterator[Callable[[Batch], tuple[Result, bytes | None]]]:
    """Puts what comes on this machine's disk, as it is on that of worker processes, and does their work with it."""
    work, replaying = doing
    with _folder() as folder:
        slices = _written(folder, bundles)
        # What is to come to the driver is written where nobody else can see it.
        own = RoutingParts(folder) if isinstance(replaying.parts, RoutingParts) else None
        replaying = replace(replaying, packed=folder, parts=own or replaying.parts)

        def do(batch: Batch) -> tuple[Result, bytes | None]:
            found = (each._replace(slices=slices[each.name]) for each in batch.repositories)
            result = work(replaying, batch._replace(repositories=tuple(found)))
            return result, None if own is None else own.taken(batch.number)

        yield do


def _written(folder: Path, bundles: Iterable[Bundle]) -> dict[str, tuple[Slice, ...]]:
    """By repository, where its events are, in their order."""
    found: dict[str, list[tuple[int, Slice]]] = {}
    for piece, of_piece in groupby(bundles, key=attrgetter("number")):
        with packed_file(folder, piece).open("ab") as file:
            for each in of_piece:
                slices = found.setdefault(each.key, [])
                slices.append((each.place, Slice(piece, file.tell(), len(each.content), each.first)))
                file.write(each.content)
    return {repo: tuple(each for _, each in sorted(slices, key=_by_piece)) for repo, slices in found.items()}


def _by_piece(placed: tuple[int, Slice]) -> tuple[int, int]:
    return placed[1].piece, placed[0]
