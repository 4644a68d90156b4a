"""What is left of a run that was cut off or damaged: the records that are as they were written, with all pairs."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeVar

from metareview.errors import InputError
from metareview.formats.checksums import Checksum, whole_lines
from metareview.runs.files import JsonObject, parsed_line
from metareview.runs.parts import has_parts, parts_of, read_parts
from metareview.runs.shape import check_shape

Made = TypeVar("Made")
Key = tuple[str, ...]


class Kept:
    """The lines of a file, or of the parts in its place, that are whole; which record each is of is remembered."""

    def __init__(self, path: Path, checksum: Checksum | None) -> None:
        self._path, self._seal = path, checksum
        self.numbers: dict[Key, int] = {}
        """The records in their order."""
        self._of = array("q")
        """Of each line the number of its record; negative where something is lost."""

    def read(
        self, make: Callable[[JsonObject], Made], key: Callable[[Made], Key], *, one_each: bool = False
    ) -> Iterator[Made | None]:
        """What is made of each line; None wherever something is lost. `one_each`: a record has one line, and any other
        is none of it."""
        for line in self._lines():
            made = None if line is None else _made(line, make)
            if made is not None and one_each and key(made) in self.numbers:
                made = None
            self._of.append(-1 if made is None else self.numbers.setdefault(key(made), len(self.numbers)))
            yield made

    def lines(self, records: Container[Key]) -> Iterator[bytes]:
        """Those of these records that were read."""
        wanted = [key in records for key in self.numbers]
        for line, number in zip(self._lines(), self._of, strict=True):
            if line is not None and number >= 0 and wanted[number]:
                yield line

    def _lines(self) -> Iterator[bytes | None]:
        if has_parts(self._path):
            for lines in read_parts(parts_of(self._path)):
                yield from (line + b"\n" for line in lines)
        elif self._path.is_file():
            yield from whole_lines(self._path, self._seal)
        elif self._seal is not None:
            yield None


def _made(line: bytes, make: Callable[[JsonObject], Made]) -> Made | None:
    try:
        made = make(parsed_line(line))
        check_shape(made)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, InputError):
        return None
    return made


def with_all_pairs(records: Sequence[Key], pairs: Iterable[Key | None], *, ends: bool) -> set[Key]:
    """Which records have all their pairs: given is what each pair that is left is a pair of, with None wherever some
    are lost. Both stand in the same order, so that what is beside a gap is not trusted. `ends`: whether the last pair
    is known to be there.

    >>> records = [("a",), ("b",), ("c",), ("d",)]
    >>> sorted(with_all_pairs(records, [("a",), ("b",), None, ("c",), ("d",)], ends=True))
    [('a',), ('d',)]
    """
    order = {key: at for at, key in enumerate(records)}
    trusted: set[int] = set()
    before, latest, lost = -1, -1, False
    """Of what has no gap: the place before it, and how far it goes."""
    for key in chain(pairs, () if ends else (None,)):
        if key is None:
            trusted.update(() if lost else range(before + 1, latest))
            lost = True
        elif key in order:
            before, lost = (order[key], False) if lost else (before, lost)
            latest = order[key]
    trusted.update(() if lost else range(before + 1, len(order)))
    return {records[at] for at in trusted}
