"""What a replay that holds little puts on disk meanwhile: bytes at places, events in blocks."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from metareview.model.event import Event
from metareview.pipelines.routing.packed import pack, unpack
from metareview.runs.files import written_to

Item = TypeVar("Item")
BUFFERED = 20_000
"""Events in all that wait for being written by their buckets."""


class Place(NamedTuple):
    """Where something stands."""

    offset: int
    length: int


class Scratch:
    """A file without a name, which is gone with the process that holds it, however that ends."""

    def __init__(self, folder: Path | None) -> None:
        """In this folder, or in that of temporary files."""
        self._folder = Path(tempfile.gettempdir()) if folder is None else folder
        with self._written():
            self._file = tempfile.TemporaryFile(prefix="metareview-", dir=self._folder)  # noqa: SIM115
        self._end = 0

    def write(self, content: bytes) -> Place:
        with self._written():
            self._file.seek(self._end)
            self._file.write(content)
        self._end += len(content)
        return Place(self._end - len(content), len(content))

    def read(self, place: Place) -> bytes:
        with self._written():  # What is still buffered is written first.
            self._file.seek(place.offset)
            return self._file.read(place.length)

    def close(self) -> None:
        self._file.close()

    def _written(self) -> AbstractContextManager[None]:
        return written_to(self._folder, "Set TMPDIR to a folder with space.")


def in_blocks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """The items in order, that many at a time."""
    each = iter(items)
    while block := list(islice(each, size)):
        yield block


class EventBlocks:
    """Events of one repository in the order in which they were added, a block at a time in memory."""

    def __init__(self, scratch: Scratch, repo: str) -> None:
        self._scratch, self._repo = scratch, repo
        self._places: list[Place] = []
        self.number = 0
        """Of events."""

    def add(self, events: Sequence[Event]) -> None:
        """One block."""
        self._places.append(self._scratch.write(pack(events)))
        self.number += len(events)

    def __iter__(self) -> Iterator[Event]:
        for place in self._places:
            yield from unpack(self._repo, self._scratch.read(place), share_paths=True)


class Buckets:
    """Events of one repository by whatever decides into which of so many buckets each goes, in order within each."""

    def __init__(self, scratch: Scratch, repo: str, number: int, choose: Callable[[Event], int]) -> None:
        self._choose = choose
        self._blocks = [EventBlocks(scratch, repo) for _ in range(number)]
        self._buffers: dict[int, list[Event]] = {}
        self._buffered = 0

    def add(self, event: Event) -> None:
        self._buffers.setdefault(self._choose(event), []).append(event)
        self._buffered += 1
        if self._buffered == BUFFERED:
            self._flush()

    def _flush(self) -> None:
        for bucket, events in self._buffers.items():
            self._blocks[bucket].add(events)
        self._buffers, self._buffered = {}, 0

    def read(self) -> Iterator[Iterable[Event]]:
        """The events of each bucket; nothing is added any more."""
        self._flush()
        yield from self._blocks
