"""JSON lines: what a file is by its first line, and its lines with all that is needed to find them again.

What fills more than a line, or shares one, is read from the text as a whole: see `Source.documents`.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import json
import re
import stat
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from metareview.formats.long_lines import LONG, parsed_from_bytes, refuse_dense
from metareview.formats.record import Record

if TYPE_CHECKING:
    from metareview.formats.source import Source

SPACE = " \t\r\n\ufeff"
_SPACE_OF_JSON = " \t\r\n"
BATCH = 2**18
"""Bytes of lines that are read together, with all that is made of them: about what a processor's cache holds."""
_LONGEST_INDENT = 200
decode_at = json.JSONDecoder().raw_decode
"""The value that begins at an offset of a text, and where it ends."""


def skip_space(text: str, at: int, characters: str = SPACE) -> int:
    """The next offset at which none of these characters stands."""
    while at < len(text) and text[at] in characters:
        at += 1
    return at


def opening_of(source: Source) -> tuple[Record, int] | None:
    """The object that fills the first line of a file, and where it ends; None for anything else, and for a pipe, which
    can be read only once."""
    if not _can_be_read_again(source):
        return None
    with source.opened() as stream:
        line = stream.readline() if stream.read(1) == b"{" and stream.seek(0) == 0 else b""
    refuse_dense(source, 1, line)
    value, end = _object_of(line)
    return None if value is None else (Record(source, value), end)


def _can_be_read_again(source: Source) -> bool:
    if "data" in vars(source):
        return True
    try:
        return stat.S_ISREG(source.path.stat().st_mode)
    except OSError:  # whoever opens it says why
        return True


def ends_with_opening(source: Source) -> bool:
    """Whether nothing stands behind the first line."""
    with source.opened() as stream:
        stream.readline()
        blocks = iter(partial(stream.read, BATCH), b"")
        return not any(block.replace(codecs.BOM_UTF8, b"").strip(_SPACE_OF_JSON.encode()) for block in blocks)


def any_line_begins(source: Source, pattern: str) -> bool:
    """Whether a line but the first begins with this pattern of ASCII."""
    if source.opening is None:
        return bool(re.search(f"\n{pattern}", source.text))
    found, before = re.compile(f"\n{pattern}".encode()), b""
    with source.opened() as stream:
        while block := stream.read(BATCH):
            if found.search(before + block):
                return True
            before = block[-_LONGEST_INDENT:]
    return False


def hashed_lines(source: Source) -> Iterator[tuple[int, int, bytes]]:
    """Each line with its number, from 1, and the offset at which it begins; at the end the hash is known too."""
    digest = hashlib.sha256()
    number = offset = 0
    with source.opened() as stream:
        while lines := stream.readlines(BATCH):
            digest.update(b"".join(lines))
            for line in lines:
                number += 1
                yield number, offset, line
                offset += len(line)
    vars(source)["sha256"] = digest.hexdigest()


def line_blocks(source: Source, size: int) -> Iterator[tuple[int, int]]:
    """Where whole lines of a file begin and end, at least so many bytes of them at a time."""
    with source.opened() as stream:
        end = stream.seek(0, io.SEEK_END)
        start = 0
        while start < end:
            stream.seek(min(start + size, end))
            stream.readline()
            following = stream.tell()
            yield start, following
            start = following


def batches_of(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Lines, some thousand at a time; a long one is the last of its batch."""
    batch: list[bytes] = []
    size = 0
    for line in lines:
        batch.append(line)
        size += len(line)
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def batches_until(stream: BinaryIO, start: int, end: int) -> Iterator[list[bytes]]:
    """The same of the lines between two places of a file."""
    stream.seek(start)
    while start < end and (block := stream.read(min(BATCH, end - start))):
        block += b"" if block.endswith(b"\n") else stream.readline()
        yield io.BytesIO(block).readlines()
        start += len(block)


def line_record(source: Source, number: int, line: bytes) -> Record | None:
    """The object of a line by the standard parser; None where the line is not one object and nothing else."""
    refuse_dense(source, number, line)
    value, _ = _object_of(line)
    return None if value is None else Record(source, value, number)


def records_since(source: Source, offset: int, what: str) -> Iterator[Record]:
    """Each JSON value from this byte on, which must be an object."""
    with source.opened() as stream:
        before = stream.read(offset)
    return (record.as_object(what) for record in source.documents.since(len(before.decode("utf-8", "replace"))))


def _object_of(line: bytes) -> tuple[dict[str, Any] | None, int]:
    """The object that fills a line, and where it ends; None where something else does."""
    if len(line) > LONG:
        try:
            end = len(line.decode().rstrip(_SPACE_OF_JSON))
            value = parsed_from_bytes(line)
            return (value, end) if type(value) is dict else (None, 0)
        except ValueError:
            pass  # The standard parser tells what it is.
    try:
        text = line.decode()
        value, end = decode_at(text, skip_space(text, 0, _SPACE_OF_JSON))
    except (ValueError, RecursionError):
        return None, 0
    alone = type(value) is dict and skip_space(text, end, _SPACE_OF_JSON) == len(text)
    return (value, end) if alone else (None, 0)
