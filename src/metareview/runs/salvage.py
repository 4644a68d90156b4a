"""What is left of a run that was cut off or damaged: the records that are as they were written, with all pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TypeVar

from metareview.errors import InputError
from metareview.formats.seals import Seal, whole_lines
from metareview.runs.files import JsonObject, parsed_line
from metareview.runs.parts import has_parts, parts_of, read_parts
from metareview.runs.shape import check_shape

Made = TypeVar("Made")
Key = tuple[str, ...]
_NO_RECORD = (KeyError, TypeError, ValueError, AttributeError, RecursionError, InputError)


def whole(path: Path, seal: Seal | None, make: Callable[[JsonObject], Made]) -> Iterator[tuple[bytes, Made] | None]:
    """The lines of a file, or of the parts in its place, with what is made of each; None wherever something is lost."""
    for line in _lines(path, seal):
        yield None if line is None else _made(line, make)


def _made(line: bytes, make: Callable[[JsonObject], Made]) -> tuple[bytes, Made] | None:
    try:
        made = make(parsed_line(line))
        check_shape(made)
    except _NO_RECORD:
        return None
    return line, made


def _lines(path: Path, seal: Seal | None) -> Iterator[bytes | None]:
    if has_parts(path):
        for lines in read_parts(parts_of(path)):
            yield from (line + b"\n" for line in lines)
    elif path.is_file():
        yield from whole_lines(path, seal)
    elif seal is not None:
        yield None


def with_all_pairs(order: Mapping[Key, int], pairs: Iterable[Key | None], *, ends: bool) -> set[Key]:
    """Which records have all their pairs: given is what each pair that is left is a pair of, with None wherever some
    are lost. Both stand in the same order, so that what is beside a gap is not trusted. `ends`: whether the last pair
    is known to be there.

    >>> order = {("a",): 0, ("b",): 1, ("c",): 2, ("d",): 3}
    >>> sorted(with_all_pairs(order, [("a",), ("b",), None, ("c",), ("d",)], ends=True))
    [('a',), ('d',)]
    """
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
    return {key for key, at in order.items() if at in trusted}
