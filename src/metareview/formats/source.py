"""An input file: its text, its JSON whole or line by line, and the line of whatever is wrong in it.

Reviews are read whole, because a review may span lines and a message names the line of any value within it.
Histories have millions of lines and are read one by one. Both ways give the same `Record`s.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import orjson

from metareview.errors import InputError, Line
from metareview.formats.documents import Documents, offset_within
from metareview.formats.gzip_lines import GZIP, unpacked_lines
from metareview.formats.input_file import file_errors, open_input
from metareview.formats.json_lines import BATCH, batches_of, batches_until, decode_at, opening_of, skip_space
from metareview.formats.long_lines import LONG, outline, parsed_from_bytes, refuse_dense
from metareview.formats.over_lines import one_per_line, value_over_lines
from metareview.formats.pipes import kept
from metareview.formats.record import SEE_FORMATS, JsonPath, Record
from metareview.formats.remarks import Remarks
from metareview.model.address import pull_request_of_path

Progress = Callable[[int, int], None]
"""Told how much is done, and of how much."""

_MEGABYTE = 2**20
_FENCE = "```"
_LEFT_OUT = "a field that cannot be read; left out"


@dataclass
class Source:
    """One file. `name` is how messages call it; `remarks` gathers what was corrected while reading.

    Where it is not `strict`, a field of a comment that cannot be read is left out, with a warning.
    """

    path: Path
    strict: bool = True
    about: str | None = None
    """The pull request that the file is about, as a user said (`--pr`), where it does not say itself."""
    name: str = field(init=False)
    remarks: Remarks = field(default_factory=Remarks, init=False)
    progress: Progress | None = field(default=None, repr=False)
    """Told of the megabytes that were read line by line, and of how many there are."""
    part: tuple[int, int] | None = None
    """Where the first line begins that `line_batches` gives, and where the last one ends; None: all of the file."""
    _offsets: dict[tuple[int, JsonPath], int] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self.name = readable(str(self.path))
        self.path = kept(self.path)

    @classmethod
    def of_text(cls, text: str, name: str, *, strict: bool = True, about: str | None = None) -> Source:
        """A source that is no file, such as an argument of the Python API."""
        source = cls(Path(name), strict, about)
        source.data = text.encode("utf-8", "surrogatepass")
        source.text = text
        return source

    @property
    def pull_request(self) -> str | None:
        """The pull request that the user or the file's path names, to be looked up in the references."""
        return self.about or pull_request_of_path(readable(self.path.as_posix()))

    def required_pull_request(self) -> str:
        """The same, for a format in which a file does not say which pull request it is about; InputError if nobody
        does."""
        if named := self.pull_request:
            return named
        problem = "nothing says which pull request it is about"
        fix = "Give --pr URL, or name the file OWNER/REPO/NUMBER.json, OWNER_REPO_NUMBER.json or after its instance_id."
        raise InputError(problem, file=self.name, fix=fix)

    @contextmanager
    def opened(self) -> Iterator[BinaryIO]:
        """Its bytes; InputError with the fix where they cannot be read. Errors of whoever reads them stay theirs."""
        with io.BytesIO(self.data) if "data" in vars(self) else open_input(self.path, self.name) as stream:
            try:
                yield stream
            except io.UnsupportedOperation:
                problem = "a pipe, which can be read only once"
                raise InputError(problem, file=self.name, fix="Save it as a file, and name that.") from None

    def begins_with(self, magic: bytes) -> bool:
        with self.opened() as stream:
            return stream.read(len(magic)) == magic

    # One line after the other

    def lines(self) -> Iterator[Record]:
        """The object of each line that is not blank, without holding the file in memory."""
        for number, line in self.raw_lines():
            record = self.record_of(number, line)
            if record is not None:
                yield record

    def raw_lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines as they are, from 1; a file that is packed with gzip is unpacked on the way."""
        untold = 0
        with self.opened() as stream:
            for number, line in enumerate(self._unpacked(stream), 1):
                untold += len(line)
                if untold >= _MEGABYTE and self.progress:
                    untold = 0
                    self._tell(stream)
                yield number, line

    def line_batches(self) -> Iterator[tuple[int, list[bytes]]]:
        """The same lines, some thousand at a time, with the number of the first: quicker than one by one.

        Of a part, numbers are counted from its beginning: show that of `line_in_file`.
        """
        number = 1
        with self.opened() as stream:
            if self.part is not None:
                batches = batches_until(stream, *self.part)
            else:
                lines = self._unpacked(stream)
                batches = iter(partial(stream.readlines, BATCH), []) if lines is stream else batches_of(lines)
            for batch in batches:
                if self.progress:
                    self._tell(stream)
                last = number + len(batch) - 1
                refuse_dense(self, partial(self.line_in_file, last), batch[-1])  # A long line is the last of its batch.
                yield number, batch
                number += len(batch)

    def line_in_file(self, number: int) -> int:
        """The number that a line of the part has in the file."""
        return self._lines_before + number

    @cached_property
    def _lines_before(self) -> int:
        """Lines of the file before the part that is read; found only where a message needs it."""
        if self.part is None:
            return 0
        with self.opened() as stream:
            left, count = self.part[0], 0
            while left and (block := stream.read(min(left, _MEGABYTE))):
                left -= len(block)
                count += block.count(b"\n")
        return count

    def parts(self, size: int) -> list[tuple[int, int]]:
        """The file in parts of about this many bytes, each of whole lines."""
        with self.opened() as stream:
            length = stream.seek(0, io.SEEK_END)
            ends = [0]
            while ends[-1] < length:
                stream.seek(min(ends[-1] + size, length))
                stream.readline()
                ends.append(stream.tell())
        return list(pairwise(ends))

    def _unpacked(self, stream: BinaryIO) -> Iterable[bytes]:
        packed = stream.read(len(GZIP)) == GZIP
        stream.seek(0)
        return unpacked_lines(stream, self.name) if packed else stream

    def _tell(self, stream: BinaryIO) -> None:
        if self.progress:
            read = stream.tell()
            with file_errors(self.name):
                size = self.path.stat().st_size
            self.progress(read // _MEGABYTE, max(read, size) // _MEGABYTE)

    def record_of(self, number: int, line: bytes) -> Record | None:
        """The object of this line, None if it is blank; InputError where it is no object, or no JSON at all."""
        refuse_dense(self, number, line)
        if len(line) > LONG:
            with suppress(ValueError):  # The standard parser tells what it is.
                return Record(self, parsed_from_bytes(line), number).as_object("a line")
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            if not text:
                return None
            value, end = decode_at(text)
            if end != len(text):
                raise json.JSONDecodeError("Extra data", text, end)
        except (ValueError, RecursionError) as error:
            if isinstance(error, json.JSONDecodeError):
                self.refuse_over_lines(number)
            self._fail_reading(number, error)
        record = Record(self, value, number)
        if b"\\u" in line and (b"\\ud" in line or b"\\uD" in line):  # Only an escape can be half a character.
            record = record.with_whole_characters()
        return record if type(value) is dict else record.as_object("a line")

    def refuse_over_lines(self, number: int) -> None:
        """InputError where sound JSON begins on this line and ends on a later one; where it is broken, nothing."""
        if kind := value_over_lines(self, number):
            self.fail(
                number, f"a line must be a whole object, found {kind} over several lines", one_per_line(self, kind)
            )

    def quick_record_of(self, number: int, line: bytes) -> Record | None:
        """The same, in a third of the time; but a whole number beyond 64 bits is a float."""
        refuse_dense(self, number, line)
        try:
            value = orjson.loads(line)
        except ValueError:  # Blank, broken, or something of which only the other parser makes sense.
            return self.record_of(number, line)
        return Record(self, value, number) if type(value) is dict else self.record_of(number, line)

    @cached_property
    def first_object(self) -> Any:
        """The outline of the first line that is not blank; {} if there is none. For recognising a format."""
        try:
            return next((outline(record.value) for record in self.lines()), {})
        except InputError:
            return {}

    # The whole file

    @cached_property
    def opening(self) -> tuple[Record, int] | None:
        """The object that fills the first line, and where in the text it ends; None where there is no such thing.

        Of JSON lines, and of a document in one line, this tells what the file is before any more of it is read.
        """
        return opening_of(self)

    @cached_property
    def opens_with_object(self) -> bool:
        """Whether an object fills the first line."""
        return self.opening is not None

    def forget_opening(self) -> None:
        """Let go of the first line's object, by which the format was found: it may be all of the file."""
        if self.opens_with_object:
            vars(self).pop("opening", None)
            vars(self).pop("documents", None)

    @cached_property
    def data(self) -> bytes:
        with self.opened() as stream:
            return stream.read()

    @cached_property
    def text(self) -> str:
        if "data" in vars(self):
            data = self.data
        else:  # not kept: its text is
            with self.opened() as stream:
                data = stream.read()
        self.__dict__["sha256"] = hashlib.sha256(data).hexdigest()
        refuse_dense(self, 1, data)
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self._fail_reading(data.count(b"\n", 0, error.start) + 1, error)

    def forget_text(self) -> None:
        """Let go of the text of a file that was read whole: beyond ASCII it takes more room than all that is in it.
        It is read again should somebody ask, for the line of a mistake."""
        if "data" not in vars(self):
            vars(self).pop("text", None)

    @cached_property
    def sha256(self) -> str:
        """Of the file as it is."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def looks_like_json(self) -> bool:
        if self.opens_with_object:
            return True
        start, end = self.json_ends
        return start < end and self.text[start] in "{["

    @cached_property
    def json_ends(self) -> tuple[int, int]:
        """Where the file's JSON begins and ends: all of it, or, as models like to write it, one Markdown fence."""
        text = self.text
        start, end = skip_space(text, 0), len(text)
        if text.startswith(_FENCE, start):
            first, closing = text.find("\n", start) + 1, len(text.rstrip()) - len(_FENCE)
            if 0 < first <= closing and text.startswith(_FENCE, closing) and f"\n{_FENCE}" not in text[first:closing]:
                return skip_space(text, first), closing
        return start, end

    @cached_property
    def documents(self) -> Documents:
        """Every JSON value in the file, one after the other: a document, JSON lines, or pages behind each other."""
        return Documents(self)

    def document_at(self, at: int, *, is_first: bool) -> tuple[Record, int]:
        """The JSON value that begins there, and where the next one does."""
        text = self.text
        try:
            value, end = decode_at(text, at)
        except (ValueError, RecursionError) as error:
            blamed, offset = error, at
            if isinstance(error, json.JSONDecodeError):
                in_lines = not is_first or self.path.suffix.lower() in (".jsonl", ".ndjson")
                blamed = self._error_within_line(at, error) if in_lines else error
                offset = min(blamed.pos, len(text.rstrip()))
            self._fail_reading(self.line_at(offset), blamed)
        return Record(self, value, start=at), skip_space(text, end)

    def records(self, what: str, *, depth: int = 0, fix: str = SEE_FORMATS) -> Iterator[Record]:
        """Each JSON value of the file, which must be an object; with `depth`, those in lists (of lists) too."""
        records = iter(self.documents)
        for _ in range(depth):
            records = (item for record in records for item in record.items())
        return (record.as_object(what, fix) for record in records)

    def _error_within_line(self, at: int, error: json.JSONDecodeError) -> json.JSONDecodeError:
        """In JSON lines a line that breaks off is to blame, not the next one, where the parser stumbles."""
        try:
            json.loads(self.text[at:].partition("\n")[0])
        except json.JSONDecodeError as inner:
            return json.JSONDecodeError(inner.msg, self.text, at + inner.pos)
        return error

    def mentions(self, text: str) -> bool:
        """Whether the file has this text in it, plain ASCII, without keeping it."""
        if "text" in vars(self):
            return text in self.text
        with self.opened() as stream:
            return text.encode() in stream.read()

    # Messages

    def line_at(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    def line_of(self, start: int, path: JsonPath) -> int:
        """The line of the value at `path` in the document that begins at `start`."""
        try:
            return self.line_at(self._offset_of(start, path))
        except RecursionError:
            # Nested nearly too deeply: it could be read, but from a call less deep than this one.
            return self.line_at(start)

    def _offset_of(self, start: int, path: JsonPath) -> int:
        """Where the value at `path` begins, or its nearest parent if it is absent. What is found on the way is kept: to
        find the next, nearly all of a large file would be parsed once more.
        """
        at = start
        for depth in range(1, len(path) + 1):
            key = start, path[:depth]
            if key not in self._offsets:
                self._offsets[key] = offset_within(self.text, at, path[depth - 1])
            if self._offsets[key] == at:
                break
            at = self._offsets[key]
        return at

    def fail(self, line: Line, problem: str, fix: str) -> NoReturn:
        raise InputError(problem, file=self.name, line=line, fix=fix) from None

    def _fail_reading(self, line: int, error: ValueError | RecursionError) -> NoReturn:
        """Refuse text that is no UTF-8, or no JSON."""
        if isinstance(error, UnicodeDecodeError):
            self.fail(line, f"not UTF-8 (byte 0x{error.object[error.start]:02x})", "Save the file as UTF-8.")
        if isinstance(error, json.JSONDecodeError):
            self.fail(line, f"broken JSON: {error.msg} (column {error.colno})", "Correct it, or export it again.")
        reason = "nested too deeply" if isinstance(error, RecursionError) else "a number is too long"
        self.fail(line, f"broken JSON: {reason}", "Export it again.")

    def warn(self, kind: str, where: Callable[[], int], detail: str) -> None:
        """Say what was corrected, with its line; past ten of a kind only their number is kept."""
        self.remarks.add(kind, lambda: f"{self.name}:{where()}: {readable(detail)}")

    def leave_out(self, error: InputError) -> None:
        """Say which field of a comment cannot be read and is left out; a strict source refuses it."""
        if self.strict:
            raise error
        detail = f"{error.problem}; the field is left out"
        self.warn(_LEFT_OUT, lambda: error.line or 1, detail)

    @property
    def fields_left_out(self) -> int:
        """How many fields of comments could not be read."""
        return self.remarks.counts[_LEFT_OUT]

    def all_warnings(self) -> list[str]:
        return self.remarks.lines(self.name)


def readable(text: str) -> str:
    """The text with bytes of a file's name that are no UTF-8 (to Python, half a surrogate pair) escaped."""
    return text.encode("utf-8", "backslashreplace").decode()
