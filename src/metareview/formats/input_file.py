"""One input: opened once, read once from its beginning to its end, with the hash of the bytes that were read."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import chain, pairwise
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn, cast

from metareview.errors import InputError, Line
from metareview.formats.gzip_lines import GZIP, UnpackedLines
from metareview.formats.pipes import spooled
from metareview.formats.read_warnings import ReadWarnings
from metareview.model.address import pull_request_of_path

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

    from metareview.formats.json_values import JsonValues

Progress = Callable[[int, int], None]
"""Progress callback, called with (done, total)."""
BATCH = 2**18
"""Bytes of lines that are decoded together: about what a processor's cache holds."""
BLANK = b" \t\r\n\xef\xbb\xbf"
"""White space of JSON, and the mark that a file of UTF-8 may begin with."""
_BUFFER = 2**17
_MAGIC = 16
_MEGABYTE = 2**20
_LEFT_OUT = "a field that cannot be read; left out"


class InputFile:
    """A file, or text in memory. `name` is how messages call it; `warnings` collects what was corrected while reading.

    Where it is not `strict`, a field of a comment that cannot be read is left out, with a warning. `named_pull_request`
    is that of `--pr`. `part` limits `blocks` to whole lines between two offsets.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        strict: bool = True,
        named_pull_request: str | None = None,
        progress: Progress | None = None,
        part: tuple[int, int] | None = None,
    ) -> None:
        self.name = readable(str(path))
        self.path = spooled(Path(path))
        self.strict = strict
        self.progress = progress
        self.part = part
        self.warnings = ReadWarnings()
        self._named_pull_request = named_pull_request
        self._in_memory: bytes | None = None
        self._data: bytes | None = None
        self._stream: io.BufferedReader | None = None
        self._beginning: bytes | None = None
        self._hash = hashlib.sha256()
        self.is_read = False
        """All lines, or all bytes, were taken from here, so that `sha256` is of them."""
        self._kept: list[bytes] = []
        """Lines and blocks that were read to recognise the format, and that `blocks` gives again."""
        self._keeps_lines = True
        self._lines_are_gone = False

    @classmethod
    def of_text(cls, text: str, name: str, *, strict: bool = True, named_pull_request: str | None = None) -> InputFile:
        """An input that is no file, such as an argument of the Python API."""
        data = text.encode("utf-8", "surrogatepass")
        return cls.of_bytes(data, name, strict=strict, named_pull_request=named_pull_request)

    @classmethod
    def of_bytes(
        cls,
        data: bytes,
        path: str | Path,
        *,
        name: str | None = None,
        strict: bool = True,
        named_pull_request: str | None = None,
    ) -> InputFile:
        """The bytes as those of the file at `path`, which is not opened."""
        file = cls(path, strict=strict, named_pull_request=named_pull_request)
        file.name = readable(name) if name else file.name
        file._in_memory = data
        return file

    def again(self) -> InputFile:
        """A copy of the input, to be read from its beginning."""
        other = InputFile(self.path, strict=self.strict, progress=self.progress, part=self.part)
        other.name, other._in_memory, other._named_pull_request = self.name, self._in_memory, self._named_pull_request
        other._beginning = self._beginning
        return other

    @property
    def pull_request(self) -> str | None:
        """The pull request that the user or the file's path names, to be looked up in the references."""
        return self._named_pull_request or pull_request_of_path(readable(self.path.as_posix()))

    def required_pull_request(self) -> str:
        """The pull request, for a format whose files do not name it."""
        if named := self.pull_request:
            return named
        problem = "nothing says which pull request it is about"
        fix = "Give --pr URL, or name the file OWNER/REPO/NUMBER.json, OWNER_REPO_NUMBER.json or after its instance_id."
        raise InputError(problem, file=self.name, fix=fix)

    # Bytes

    def begins_with(self, magic: bytes) -> bool:
        if self._beginning is None:
            self._opened()
        return (self._beginning or b"").startswith(magic)

    def for_reading(self) -> InputFile:
        """The file, whose lines are from now on given once and not kept, as its format is known."""
        self._keeps_lines = False
        return self

    @property
    def data(self) -> bytes:
        """All of it, which is then held."""
        if self._data is None:
            self._check_lines_are_there()
            self._data = b"".join([*self._kept, b"" if self.is_read else self._opened().read()])
            self._kept.clear()
            self._close_at_end()
        return self._data

    def _check_lines_are_there(self) -> None:
        if self._lines_are_gone:
            raise RuntimeError(f"{self.name}: its lines were read already; call again() to read it anew")

    @property
    def is_held(self) -> bool:
        """True if all of it has been read into memory."""
        return self._data is not None

    @cached_property
    def text(self) -> str:
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self.refuse_text(self.data.count(b"\n", 0, error.start) + 1, error)

    @property
    def sha256(self) -> str:
        """Hash of the bytes that were read; what is left of the file is read for it."""
        stream = self._opened()
        while not stream.closed and stream.read(_MEGABYTE):
            pass
        return self._hash.hexdigest()

    def _close_at_end(self) -> None:
        """Let go of a file that was read to its end: a folder may hold more files than a process may keep open."""
        self.is_read = True
        if not (stream := self._opened()).closed:
            while stream.read(_MEGABYTE):  # what a gzip file holds behind its last member
                pass
            stream.close()

    def _opened(self) -> io.BufferedReader:
        if self._stream is None:
            if self._in_memory is not None:
                self._hash.update(self._in_memory)
                self._stream = io.BufferedReader(cast(io.RawIOBase, io.BytesIO(self._in_memory)))
            else:
                with file_errors(self.name):
                    self._stream = io.BufferedReader(_HashedFile(self.path, self.name, self._hash), _BUFFER)
            self._beginning = self._stream.peek(_MAGIC)[:_MAGIC]
        return self._stream

    # Lines

    def first_line(self) -> bytes:
        """The first line, which is kept for `lines`."""
        begun = self._kept[0] if self._kept else self.next_line()
        return begun[: begun.find(b"\n") + 1] or begun

    def has_more_than_first_line(self) -> bool:
        """True if anything but white space stands behind the first line."""
        first = self.first_line()
        later = chain([b"".join(self._kept)[len(first) :]], iter(self.next_line, b""))
        return any(line.strip(BLANK) for line in later)

    def next_line(self) -> bytes:
        """One more line, which is kept for `lines`; empty at the end."""
        line = b"" if self.is_read else self._line_stream.readline()
        if line:
            self._kept.append(line)
        return line

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines as they are, numbered from 1; a file that is packed with gzip is unpacked."""
        for number, block in self.blocks():
            yield from enumerate(split_lines(block), number)

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """Whole lines, some thousand at a time, with the number of the first: faster than one by one.

        Of a part, numbers are counted from its beginning: messages show that of `line_in_file`.
        """
        number = 1
        for block in self._blocks():
            if self.progress:
                self._report_progress(self.progress)
            yield number, block
            number += block.count(b"\n")

    def _blocks(self) -> Iterator[bytes]:
        if self.part is not None:
            start, end = self.part
            with file_errors(self.name), self.path.open("rb") as stream:
                stream.seek(start)
                yield from _whole_lines(stream, end - start)
        elif self._data is not None:
            yield self._data
        else:
            self._check_lines_are_there()
            self._lines_are_gone = not self._keeps_lines
            if self._kept:
                yield b"".join(self._kept)
            for block in () if self.is_read else _whole_lines(self._line_stream):
                if self._keeps_lines:
                    self._kept.append(block)
                yield block
            self._close_at_end()

    @cached_property
    def _line_stream(self) -> io.BufferedReader | UnpackedLines:
        return UnpackedLines(self._opened(), self.name) if self.begins_with(GZIP) else self._opened()

    def line_in_file(self, number: int) -> int:
        """The number in the file of a line of the part."""
        return self._lines_before + number

    @cached_property
    def _lines_before(self) -> int:
        """Lines of the file before the part; counted only where a message needs it."""
        if self.part is None:
            return 0
        left, count = self.part[0], 0
        with file_errors(self.name), self.path.open("rb") as stream:
            while left and (block := stream.read(min(left, _MEGABYTE))):
                left -= len(block)
                count += block.count(b"\n")
        return count

    def parts(self, size: int) -> list[tuple[int, int]]:
        """The file in parts of about this many bytes, each of whole lines."""
        ends = [0]
        with file_errors(self.name), self.path.open("rb") as stream:
            length = stream.seek(0, io.SEEK_END)
            while ends[-1] < length:
                stream.seek(min(ends[-1] + size, length))
                stream.readline()
                ends.append(stream.tell())
        return list(pairwise(ends))

    def _report_progress(self, progress: Progress) -> None:
        done = self._opened().tell() if self.part is None else 0
        with file_errors(self.name):
            size = self.path.stat().st_size
        progress(done // _MEGABYTE, max(done, size) // _MEGABYTE)

    @cached_property
    def json(self) -> JsonValues:
        """The JSON values of the file."""
        from metareview.formats.json_values import JsonValues

        return JsonValues(self)

    # Messages

    def line_at(self, offset: int) -> int:
        """The line of an offset of the text."""
        return self.text.count("\n", 0, offset) + 1

    def fail(self, line: Line, problem: str, fix: str) -> NoReturn:
        raise InputError(problem, file=self.name, line=line, fix=fix) from None

    def refuse_text(self, line: int, error: UnicodeDecodeError) -> NoReturn:
        if self.begins_with(GZIP):
            self.fail(line, "packed with gzip", "Unpack it first; only histories are read packed.")
        self.fail(line, f"not UTF-8 (byte 0x{error.object[error.start]:02x})", "Save the file as UTF-8.")

    def warn(self, kind: str, where: Callable[[], int], detail: str) -> None:
        """Add a warning with its line; past ten of a kind only their number is kept."""
        self.warnings.add(kind, lambda: f"{self.name}:{where()}: {readable(detail)}")

    def leave_out(self, error: InputError) -> None:
        """Warn of a field of a comment that cannot be read and is left out; a strict file refuses it."""
        if self.strict:
            raise error
        self.warn(_LEFT_OUT, lambda: error.line or 1, f"{error.problem}; the field is left out")

    @property
    def fields_left_out(self) -> int:
        """How many fields of comments could not be read."""
        return self.warnings.counts[_LEFT_OUT]

    def all_warnings(self) -> list[str]:
        return self.warnings.lines(self.name)


class _HashedFile(io.FileIO):
    """The file below its buffer; hashes what is read, and reports what the system says of it as an InputError."""

    def __init__(self, path: Path, name: str, digest: hashlib._Hash) -> None:
        super().__init__(path)
        self._name, self._digest = name, digest

    def readinto(self, buffer: WriteableBuffer, /) -> int | None:
        with file_errors(self._name):
            count = super().readinto(buffer)
        if count:
            self._digest.update(memoryview(buffer)[:count])
        return count

    def __del__(self) -> None:
        self.close()  # An input is open for as long as it is held: no reason for a ResourceWarning.

    def _dealloc_warn(self, source: object) -> None:
        """No warning from the buffer either."""

    def readall(self) -> bytes:
        with file_errors(self._name):
            data = super().readall() or b""
        self._digest.update(data)
        return data


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


def _whole_lines(stream: BinaryIO | UnpackedLines, length: float = inf) -> Iterator[bytes]:
    """Blocks of whole lines; of so many bytes, and of the rest of the line in which they end."""
    while length > 0 and (block := stream.read(int(min(BATCH, length)))):
        block += b"" if block.endswith(b"\n") else stream.readline()
        yield block
        length -= len(block)


def split_lines(block: bytes) -> list[bytes]:
    """The lines, each with its end. A carriage return within a line ends none."""
    if block.find(b"\n") in (-1, len(block) - 1):
        return [block]  # Perhaps a whole document, which is not copied.
    return io.BytesIO(block).readlines()


def readable(text: str) -> str:
    """The text with bytes of a file's name that are no UTF-8 (to Python, half a surrogate pair) escaped."""
    return text.encode("utf-8", "backslashreplace").decode()
