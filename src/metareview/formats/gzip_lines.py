"""The lines of a file that is packed with gzip, one after the other, however large it is when unpacked."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from typing import IO

from metareview.errors import InputError

GZIP = b"\x1f\x8b"
LONGEST_LINE = 64 * 2**20
"""A few kilobytes can be packed so that they unpack to gigabytes; no line of a history is as long as this."""
_CHUNK = 2**20


def unpacked_lines(stream: IO[bytes], name: str) -> Iterator[bytes]:
    """Each line, with its end; members that were packed one behind the other are read as one.

    InputError where the file is damaged or ends too early, or where a line is too long to be one.
    """
    number = 0
    begun: list[bytes] = []  # Of a line that goes on in the next chunk.
    length = 0
    try:
        with gzip.GzipFile(fileobj=stream, mode="rb") as unpacked:
            while chunk := unpacked.read(_CHUNK):
                lines = chunk.splitlines(keepends=True) if b"\r" not in chunk else _split(chunk)
                if begun and lines[0][-1:] == b"\n":
                    lines[0] = b"".join((*begun, lines[0]))
                    begun, length = [], 0
                if lines[-1][-1:] != b"\n":
                    rest = lines.pop()
                    length += len(rest)
                    begun.append(rest)
                    if length > LONGEST_LINE:
                        problem = f"a line of more than {LONGEST_LINE // 2**20} MB"
                        fix = "Give a history with one event per line."
                        raise InputError(problem, file=name, line=number + len(lines) + 1, fix=fix)
                number += len(lines)
                yield from lines
    except EOFError:
        raise InputError("the gzip file breaks off", file=name, fix="Download it again, whole.") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"the gzip file is damaged: {error}", file=name, fix="Download it again.") from None
    if begun:
        yield b"".join(begun)


def _split(chunk: bytes) -> list[bytes]:
    """At line feeds alone: a carriage return within a line ends none."""
    lines = [line + b"\n" for line in chunk.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
