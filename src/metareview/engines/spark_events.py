"""Events as Spark's data frames: read by Spark, understood by our own formats.

An event's `position` is that of its file among the files, and its own in that file: it decides between events that are
alike in all else that orders them.
"""

from __future__ import annotations

import gc
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from metareview.engines.spark import Frame, Session, told
from metareview.engines.spark_rows import SCHEMA, batch_of
from metareview.errors import InputError, UsageError
from metareview.formats.gzip_lines import GZIP
from metareview.formats.histories.events import event_of
from metareview.formats.parquet import cells_of
from metareview.formats.protocol import Reading, TextsWanted
from metareview.formats.record import Record
from metareview.formats.registry import history_formats
from metareview.formats.remarks import Remarks
from metareview.formats.source import Source
from metareview.model.event import Event

SPECIAL = ""
"""The kind of rows that are no events, which all have one; the actor says what they are."""
REACHES, REFUSED, REMARKED = "reaches", "refused", "remarked"
"""How far a file tells of anything (by `at`), what is wrong with it, and what was corrected in it (in `body`)."""
_FILE_BITS = 44
"""A position's lower bits are those within its file."""
_HADOOP_GLOB = str.maketrans({letter: f"\\{letter}" for letter in "{}[]*?\\"})


@dataclass(frozen=True)
class Files:
    """The files of a history in their order, by what Spark calls them."""

    numbers: Mapping[str, int]
    """By absolute path."""
    names: Sequence[str]
    """As the user wrote them, and messages do."""

    @classmethod
    def of_paths(cls, files: Sequence[Path]) -> Files:
        return cls({str(file.absolute()): number for number, file in enumerate(files)}, [str(file) for file in files])

    def of(self, address: str) -> tuple[int, str]:
        """A file's number and its name; KeyError where it is none of these."""
        path = urlsplit(address).path if address.startswith("file:") else address
        number = self.numbers.get(path)
        number = self.numbers[unquote(path)] if number is None else number
        return number, self.names[number]


@dataclass
class _Lines(Source):
    """Lines that somebody else read from a file, as a source of their own."""

    held: Sequence[bytes] = ()
    first: int = 1
    """The number of the first."""

    def raw_lines(self) -> Iterator[tuple[int, bytes]]:
        return enumerate(self.held, self.first)

    def line_batches(self) -> Iterator[tuple[int, list[bytes]]]:
        yield self.first, list(self.held)


@dataclass(frozen=True)
class TextReader:
    """Makes events of lines, wherever in which files they stand."""

    files: Files
    format: str
    texts: TextsWanted = field(default_factory=TextsWanted)

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        gc.disable()  # Lines become events without any cycle, and looking for some takes a third of the time.
        try:
            yield from self._read(batches)
        finally:
            gc.enable()

    def _read(self, batches: Iterable[Any]) -> Iterator[Any]:
        reading = Reading(self.texts)
        seen: dict[tuple[int, int], tuple[int, int]] = {}
        """By file and block, how many lines were read and how many events were made of them."""
        remarks: dict[tuple[int, int], Remarks] = {}
        for batch in batches:
            for address, block, start, end in _runs(batch.column(1), batch.column(2)):
                number, path = self.files.of(address)
                held = batch.column(0).slice(start, end - start).cast("binary").to_pylist()
                read, made = seen.get((number, block), (0, 0))
                # A line is at least as long as its events are many, so that those of the next block come after these.
                begin = (number << _FILE_BITS) + 2 * block + made
                try:
                    events, found = self._parse(Path(path), block, read, held, reading)
                except InputError as error:
                    yield refused(error, begin)
                    return
                seen[number, block] = read + len(held), made + len(events)
                if found.counts:
                    remarks[number, block] = remarks.get((number, block), Remarks())
                    remarks[number, block] += found
                if events:
                    yield batch_of(events, range(begin, begin + len(events)))
        for (number, block), of_block in remarks.items():
            yield remarked(of_block, (number << _FILE_BITS) + 2 * block)
        if reading.end is not None:
            yield batch_of([Event("", 0, reading.end, SPECIAL, REACHES)], [0])

    def _parse(
        self, path: Path, block: int, read: int, held: list[bytes], reading: Reading
    ) -> tuple[list[Event], Remarks]:
        """The events of some lines of a block. Where a message names a line of a later block, it is only then counted
        how many there are before."""
        [known] = history_formats(self.format).values()
        assert known.events is not None
        source = _Lines(path, held=held, first=read + (1 if block == 0 else 2))
        try:
            events = list(known.events(source, reading))
            if block == 0 or not source.remarks.counts:
                return events, source.remarks
        except InputError as error:
            if block == 0:
                raise told(error) from None
        source = _Lines(path, held=held, first=_lines_before(path, block) + read + 1)
        try:
            return list(known.events(source, reading)), source.remarks
        except InputError as error:
            raise told(error) from None


def _runs(addresses: Any, blocks: Any) -> Iterator[tuple[str, int, int, int]]:
    """Rows that are of one block of one file: its address, where the block begins, and the rows' ends."""
    import pyarrow.compute as pc

    start = 0
    runs = pc.run_end_encode(addresses)
    for address, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
        inner = pc.run_end_encode(blocks.slice(start, end - start))
        before = start
        for block, within in zip(inner.values.to_pylist(), inner.run_ends.to_pylist(), strict=True):
            yield address, block, before, start + within
            before = start + within
        start = end


def _lines_before(path: Path, start: int) -> int:
    """The lines before the first one that Spark reads for a block: it leaves that at its beginning to whoever reads
    the one before."""
    lines = 1
    with path.open("rb") as file:
        while start and (block := file.read(min(start, 1 << 20))):
            start -= len(block)
            lines += block.count(b"\n")
    return lines


@dataclass(frozen=True)
class RowReader:
    """Makes events of rows with an event's columns, from Parquet or whatever else a data frame is of."""

    names: Sequence[str]
    """The columns that are an event's, which come first; where there are files, then the file's address and the row."""
    files: Files | None = None
    """None for a frame that is of no files: its rows are then numbered by partition."""
    nanoseconds: bool = False
    """Whether the times are whole numbers of these, because Spark has no such type."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        numbers = count(1)
        placeless = partition() if self.files is None else 0
        for batch in batches:
            columns = []
            for name, column in zip(self.names, batch.columns, strict=False):
                if name == "at" and self.nanoseconds:
                    column = column.cast(pa.timestamp("ns", tz="UTC"))
                columns.append(cells_of(pa, column))
            files, rows = (
                (batch.column(at).to_pylist() for at in (len(self.names), len(self.names) + 1))
                if self.files is not None
                else ([], [])
            )
            events, positions = [], []
            sources: dict[int, Source] = {}
            for at, values in enumerate(zip(*columns, strict=True)):
                number, path = (placeless, "the data frame") if self.files is None else self.files.of(files[at])
                row = next(numbers) if self.files is None else rows[at] + 1
                source = sources.setdefault(number, Source(Path(path)))
                positions.append((number << _FILE_BITS) + row)
                try:
                    events.append(event_of(Record(source, dict(zip(self.names, values, strict=True)), row)))
                except InputError as error:
                    yield refused(told(error), positions[-1])
                    return
            if events:
                yield batch_of(events, positions)


def partition() -> int:
    """The number of the one that this task works on."""
    from pyspark import TaskContext

    task = TaskContext.get()
    return 0 if task is None else int(task.partitionId())


def refused(error: InputError, position: int) -> Any:
    """A row that says what is wrong, for the driver to raise."""
    said = {"problem": error.problem, "file": error.file, "line": error.line, "fix": error.fix}
    return batch_of([Event("", 0, 0, SPECIAL, REFUSED, body=json.dumps(said))], [position])


def refusal(body: bytes) -> InputError:
    """What such a row says."""
    said = json.loads(body)
    return InputError(said["problem"], file=said["file"], line=said["line"], fix=said["fix"])


def remarked(remarks: Remarks, position: int) -> Any:
    """A row with what was corrected in a block."""
    said = {"counts": remarks.counts, "located": remarks.located}
    return batch_of([Event("", 0, 0, SPECIAL, REMARKED, body=json.dumps(said))], [position])


def remarks_by_file(rows: Iterable[tuple[int, bytes]]) -> dict[int, Remarks]:
    """What such rows say, of each file by its number; they come by position."""
    found: dict[int, Remarks] = {}
    for position, body in rows:
        said = json.loads(body)
        remarks = Remarks(Counter(said["counts"]), [(kind, sentence) for kind, sentence in said["located"]])
        number = position >> _FILE_BITS
        found[number] = found.get(number, Remarks())
        found[number] += remarks
    return found


def read_text(session: Session, files: Sequence[Path], format: str, texts: TextsWanted) -> Frame:
    """Of JSON lines or the like, plain or packed with gzip."""
    for file in files:
        packed = Source(file).begins_with(GZIP)
        if packed != (file.suffix.lower() == ".gz"):
            what = "is packed with gzip" if packed else "is not packed with gzip"
            raise UsageError(f"{file} {what}, and Spark goes by the name. Rename it to end in .gz or not.")
    lines = session.read.option("lineSep", "\n").text([_escaped(file) for file in files])
    chosen = _with_files(lines, files, ["value"], "file_block_start")
    return chosen.mapInArrow(TextReader(Files.of_paths(files), format, texts), SCHEMA)


def read_parquet(session: Session, files: Sequence[Path]) -> Frame:
    """Of files with an event's columns."""
    from pyspark.errors import AnalysisException

    paths = [_escaped(file) for file in files]
    read, nanoseconds = session.read.option("mergeSchema", "true"), False
    try:
        rows = read.parquet(*paths)
    except AnalysisException as error:
        if "NANOS" not in str(error):
            raise
        session.conf.set("spark.sql.legacy.parquet.nanosAsLong", "true")
        rows, nanoseconds = read.parquet(*paths), True
    names = [name for name in rows.columns if name in Event._fields]
    chosen = _with_files(rows, files, names, "row_index")
    return chosen.mapInArrow(RowReader(names, Files.of_paths(files), nanoseconds), SCHEMA)


def read_frame(frame: Frame) -> Frame:
    """Of a data frame of the user's, with an event's columns; its rows are taken in the order that they have."""
    names = [name for name in frame.columns if name in Event._fields]
    return frame.select(*names).mapInArrow(RowReader(names), SCHEMA)


def _with_files(frame: Frame, files: Sequence[Path], columns: Sequence[str], place: str) -> Frame:
    """The columns, and which file a row is of and where it stands there; UsageError where Spark passes one over."""
    from pyspark.sql import functions as f

    known = Files.of_paths(files)
    lacking = {*range(len(files))} - {known.of(address)[0] for address in frame.inputFiles()}
    if lacking:
        name = known.names[min(lacking)]
        raise UsageError(f"Spark does not read {name}: names that begin with _ or . are hidden to it. Rename it.")
    of_file, within = f.col("_metadata.file_path"), f.col(f"_metadata.{place}").cast("bigint")
    return frame.select(*columns, of_file.alias("its_file"), within.alias("its_place"))


def _escaped(file: Path) -> str:
    """The path, in which Spark would find patterns."""
    return str(file.absolute()).translate(_HADOOP_GLOB)
