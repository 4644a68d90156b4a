"""An input file that is open for reading: what goes wrong with it is an InputError, and nobody else's errors are."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from metareview.errors import InputError
from metareview.formats.pipes import refuse_endless

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_BUFFER = 2**17


def open_input(path: Path, name: str) -> io.BufferedReader:
    """The file's bytes; InputError with the fix where they cannot be read, now or later."""
    with file_errors(name):
        refuse_endless(path, name)
        return io.BufferedReader(_InputFile(path, name), _BUFFER)


@contextmanager
def file_errors(name: str) -> Iterator[None]:
    """Report what the system says of a file as an InputError."""
    try:
        yield
    except FileNotFoundError:
        raise InputError("no such file", file=name, fix="Check the path.") from None
    except IsADirectoryError:
        raise InputError("this is a folder, a file is needed", file=name, fix="Name a file.") from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=name, fix="Check permissions.") from None


class _InputFile(io.FileIO):
    """The file below its buffer, which asks for blocks, or for all that is left."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(path)
        self._shown = name

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        with file_errors(self._shown):
            return super().readinto(buffer)

    def readall(self) -> bytes:
        with file_errors(self._shown):
            return super().readall() or b""
