"""A large routing run on its way: the records of some repositories per part, with what they add up to beside them.

A part is there when its sums are, which are written last. So a run that was cut off finds what it had done, and goes
on from there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from metareview.model.event import FilterCounts
from metareview.routing.records import RoutingRecord
from metareview.routing.sums import RoutingSums
from metareview.runs.files import JsonObject, open_unfollowed, parsed_line, read_json, write_whole
from metareview.runs.part_columns import ROUTING_COLUMNS
from metareview.runs.parts import parts_there, read_part, write_part
from metareview.runs.routing_json import record_from_json, record_line
from metareview.runs.routing_sums_json import cells, from_cells

_BLOCK = 2**20
_OURS = re.compile(r"part-\d{5,}\.(jsonl|json(\.[0-9a-f]{8}\.new)?|changed)")


@dataclass(frozen=True, slots=True)
class Replayed:
    """What the replay of some repositories came to, but for their records."""

    repositories: tuple[str, ...]
    records: int
    sums: RoutingSums
    filter_counts: FilterCounts
    unready: int
    cutoffs: tuple[int, int] | None
    """The first and the last."""
    predicted: Mapping[str, int]
    """By router, how many of its predictions are about pull requests of these repositories."""


class PartStore(Protocol):
    """Where the records of parts are kept; it can be sent to whoever makes them."""

    def write(self, number: int, records: Iterable[RoutingRecord], replayed: Callable[[], Replayed]) -> Replayed:
        """Records as they come, and then what they came to, which is asked for when all have come."""

    def read(self, number: int, repositories: Sequence[str]) -> Replayed | None:
        """What an earlier attempt made of these repositories; None where it did not come so far."""

    def change(self, number: int, change: Callable[[RoutingRecord], RoutingRecord]) -> None:
        """Make other records of those of a part."""


class RoutingParts:
    """A folder of the parts as lines."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, number: int, records: Iterable[RoutingRecord], replayed: Callable[[], Replayed]) -> Replayed:
        with open_unfollowed(self._records(number)) as file:
            file.writelines(map(record_line, records))
        found = replayed()
        write_whole(self._sums(number), [msgspec.json.encode(_to_json(found)).decode()])
        return found

    def read(self, number: int, repositories: Sequence[str]) -> Replayed | None:
        try:
            replayed = _from_json(read_json(self._sums(number)))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return replayed if replayed.repositories == tuple(repositories) else None

    def lines(self, numbers: Iterable[int]) -> Iterator[bytes]:
        """The text of all parts, in this order, in blocks."""
        for number in numbers:
            with self._records(number).open("rb") as file:
                while block := file.read(_BLOCK):
                    yield block

    def read_records(self, numbers: Iterable[int]) -> Iterator[RoutingRecord]:
        for number in numbers:
            with self._records(number).open("rb") as file:
                yield from (record_from_json(parsed_line(line)) for line in file)

    def change(self, number: int, change: Callable[[RoutingRecord], RoutingRecord]) -> None:
        changed = self._records(number).with_suffix(".changed")
        with open_unfollowed(changed) as file:
            file.writelines(record_line(change(record)) for record in self.read_records([number]))
        changed.replace(self._records(number))

    def taken(self, number: int) -> bytes | None:
        """The records of a part, for whoever keeps them elsewhere; None where it was not written."""
        return self._records(number).read_bytes() if self._records(number).exists() else None

    def put(self, number: int, lines: bytes) -> None:
        """Keep them."""
        with open_unfollowed(self._records(number)) as file:
            file.write(lines)

    def is_begun(self) -> bool:
        """Whether a part is there."""
        return any(each.suffix == ".json" for each in self._files())

    def remove(self) -> None:
        """Delete all parts, and what was left of any; somebody's own files in the folder stay."""
        for each in self._files():
            each.unlink(missing_ok=True)
        with suppress(OSError):  # it is not there, or somebody keeps something of theirs in it
            self._folder.rmdir()

    def _files(self) -> list[Path]:
        if self._folder.is_symlink() or not self._folder.is_dir():
            return []
        return [each for each in self._folder.iterdir() if _OURS.fullmatch(each.name)]

    def _records(self, number: int) -> Path:
        return self._folder / f"part-{number:05d}.jsonl"

    def _sums(self, number: int) -> Path:
        return self._folder / f"part-{number:05d}.json"


@dataclass(frozen=True, slots=True)
class ParquetParts:
    """A folder of the parts as Parquet, which stay as they are; what they add up to is kept nowhere."""

    folder: Path

    def write(self, number: int, records: Iterable[RoutingRecord], replayed: Callable[[], Replayed]) -> Replayed:
        write_part(self.folder, number, map(record_line, records), ROUTING_COLUMNS)
        return replayed()

    def read(self, number: int, repositories: Sequence[str]) -> Replayed | None:
        return None

    def change(self, number: int, change: Callable[[RoutingRecord], RoutingRecord]) -> None:
        lines = (line for batch in read_part(parts_there(self.folder)[number]) for line in batch)
        changed = (record_line(change(record_from_json(parsed_line(line)))) for line in lines)
        write_part(self.folder, number, changed, ROUTING_COLUMNS)


def _to_json(replayed: Replayed) -> JsonObject:
    return {
        "repositories": list(replayed.repositories),
        "records": replayed.records,
        "cells": list(cells(replayed.sums)),
        "left_out": dict(replayed.filter_counts.left_out),
        "early": replayed.filter_counts.early,
        "never_opened": replayed.filter_counts.never_opened,
        "unready": replayed.unready,
        "cutoffs": replayed.cutoffs and list(replayed.cutoffs),
        "predicted": dict(replayed.predicted),
    }


def _from_json(document: JsonObject) -> Replayed:
    cutoffs = document["cutoffs"]
    return Replayed(
        tuple(document["repositories"]),
        document["records"],
        from_cells((text, number) for text, number in document["cells"]),
        FilterCounts(Counter(document["left_out"]), document["early"], document["never_opened"]),
        document["unready"],
        cutoffs and (cutoffs[0], cutoffs[1]),
        Counter(document["predicted"]),
    )
