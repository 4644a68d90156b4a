"""Gzip files, unpacked block by block in bounded memory."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from metareview.errors import InputError

GZIP = b"\x1f\x8b"
LONGEST_LINE = 64 * 2**20
"""Limit for lines: a few kilobytes can unpack to a line of gigabytes, and no line of a history is so long."""


class UnpackedLines:
    """The unpacked bytes of a gzip stream; several members are read as one.

    InputError where the file is damaged or breaks off, or where a line is too long.
    """

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._unpacked = gzip.GzipFile(fileobj=stream, mode="rb")
        self._name = name
        self._line = 1

    def read(self, size: int) -> bytes:
        with self._gzip_errors():
            block = self._unpacked.read(size)
        self._line += block.count(b"\n")
        return block

    def readline(self) -> bytes:
        with self._gzip_errors():
            line = self._unpacked.readline(LONGEST_LINE)
        if len(line) == LONGEST_LINE:
            problem = f"a line of more than {LONGEST_LINE // 2**20} MB"
            raise InputError(problem, file=self._name, line=self._line, fix="Give a history with one event per line.")
        self._line += line.endswith(b"\n")
        return line

    @contextmanager
    def _gzip_errors(self) -> Iterator[None]:
        try:
            yield
        except EOFError:
            raise InputError("the gzip file breaks off", file=self._name, fix="Download it again, whole.") from None
        except (gzip.BadGzipFile, zlib.error) as error:
            raise InputError(f"the gzip file is damaged: {error}", file=self._name, fix="Download it again.") from None
