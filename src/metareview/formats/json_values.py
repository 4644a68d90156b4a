"""The JSON values of a file: a document, JSON lines, or documents behind each other, and the line of each value."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import msgspec

from metareview.formats.input_file import BLANK
from metareview.formats.json_refusals import decode_at, is_dense, refuse_dense, refuse_over_lines
from metareview.formats.record import SEE_FORMATS, JsonPath, Record

if TYPE_CHECKING:
    from metareview.formats.input_file import InputFile

_Value = TypeVar("_Value")
_SPACE = " \t\r\n\ufeff"
_FENCE = "```"
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class JsonValues:
    """Every JSON value of a file, in order. Lines that hold an object each are decoded one by one, and nothing else of
    the file is held; anything else is decoded from its text."""

    def __init__(self, file: InputFile) -> None:
        self._file = file

    @cached_property
    def is_in_lines(self) -> bool:
        """True if an object fills the first line."""
        return self._first_line is not None

    @cached_property
    def _first_line(self) -> Record | None:
        if self._file.is_held or not self._file.begins_with(b"{"):
            return None
        line = self._file.first_line()
        refuse_dense(self._file, 1, line)
        return _object_of(self._file, 1, line)

    @cached_property
    def first_object(self) -> dict[str, Any]:
        """The object of the first line that is not blank; {} if there is none. For recognising a history."""
        line = self._file.first_line()
        while line and not line.strip(BLANK):
            line = self._file.next_line()
        record = None if is_dense(line) else _object_of(self._file, 1, line)
        return record.value if record else {}

    @cached_property
    def _text(self) -> _JsonText:
        refuse_dense(self._file, 1, self._file.data)
        return _JsonText(self._file, self._file.text)

    def __bool__(self) -> bool:
        return self.is_in_lines or self._text.start < self._text.end

    @cached_property
    def looks_like_json(self) -> bool:
        return self.is_in_lines or self._text.begins_with_container

    @cached_property
    def _first_of_text(self) -> tuple[Record, int]:
        return self._text.first()

    @property
    def first(self) -> Record:
        """The first value. IndexError where there is none."""
        if self._first_line is not None:
            return self._first_line
        if not self:
            raise IndexError("no JSON value")
        return self._first_of_text[0]

    @cached_property
    def is_single(self) -> bool:
        """True if there is exactly one value."""
        if self.is_in_lines:
            return not self._file.has_more_than_first_line()
        return bool(self) and self._first_of_text[1] >= self._text.end

    @property
    def only_value(self) -> Any:
        """The one value of the file; None where it holds none, or several."""
        return self.first.value if self.looks_like_json and self.is_single else None

    def __iter__(self) -> Iterator[Record]:
        if self._first_line is not None:
            yield self._first_line
            yield from (record for records in self._lines(2) for record in records)
        elif self:
            record, at = self._first_of_text
            yield record
            yield from self._text.since(at)

    def decoded(
        self, decode: Callable[[bytes], _Value | None], read: Callable[[Record], _Value], what: str
    ) -> Iterator[_Value]:
        """Each value: of a line, what `decode` makes of it; what that refuses with None, as `read` reads the record."""
        if not self.is_in_lines:
            yield from (read(record.as_object(what)) for record in self)
            return
        for records in self._lines(1, decode):
            for record in records:
                yield read(record.as_object(what)) if isinstance(record, Record) else record

    def _lines(self, first: int, decode: Callable[[bytes], Any] | None = None) -> Iterator[Iterable[Any]]:
        """The values of each line from this one on. A line that is no object by itself may begin a longer value: from
        there on the file is decoded as text."""
        lines = self._file.lines()
        for number, line in lines:
            if number < first:
                continue
            if not is_dense(line) and decode is not None and (value := decode(line)) is not None:
                yield (value,)
            elif number == 1 and self._first_line is not None:
                yield (self._first_line,)
            elif line.strip(BLANK):
                refuse_dense(self._file, number, line)
                if record := _object_of(self._file, number, line):
                    yield (record,)
                else:
                    rest = b"".join([line, *(each for _, each in lines)])
                    yield _JsonText.of_lines(self._file, rest, number).since(0)

    def records(self, what: str, *, depth: int = 0, fix: str = SEE_FORMATS) -> Iterator[Record]:
        """Each value, which must be an object; with `depth`, those in lists (of lists) too."""
        records = iter(self)
        for _ in range(depth):
            records = (item for record in records for item in record.items())
        return (record.as_object(what, fix) for record in records)


class _JsonText:
    """JSON values in a text, one after the other; `line` is that of the file in which the text begins."""

    def __init__(self, file: InputFile, text: str, line: int = 1) -> None:
        self._file, self._text, self._line = file, text, line
        self.start, self.end = _json_ends(text)
        self._offsets: dict[tuple[int, JsonPath], int] = {}

    @classmethod
    def of_lines(cls, file: InputFile, data: bytes, line: int) -> _JsonText:
        refuse_dense(file, line, data)
        try:
            return cls(file, data.decode(), line)
        except UnicodeDecodeError as error:
            file.refuse_text(line + data.count(b"\n", 0, error.start), error)

    @property
    def begins_with_container(self) -> bool:
        return self.start < self.end and self._text[self.start] in "{["

    def first(self) -> tuple[Record, int]:
        """The first value, and where the next one begins. A whole document is decoded in a third of the time."""
        if self._line == 1 and self.begins_with_container and self.end == len(self._text):
            try:
                return Record(self._file, msgspec.json.decode(self._file.data), self.place(self.start)), self.end
            except (msgspec.DecodeError, UnicodeError, RecursionError):
                pass  # Several values, or broken JSON, of which the other parser says what is wrong.
        return self._value_at(self.start, is_first=True)

    def since(self, at: int) -> Iterator[Record]:
        """The values from this offset on."""
        at = _skip_space(self._text, at)
        while at < self.end:
            record, at = self._value_at(at, is_first=False)
            yield record

    def place(self, start: int) -> Callable[[JsonPath], int]:
        """Finds the line of a value within the one that begins at `start`."""
        return lambda path: self._line_of(start, path)

    def _value_at(self, at: int, *, is_first: bool) -> tuple[Record, int]:
        text = self._text
        try:
            value, end = decode_at(text, at)
        except (ValueError, RecursionError) as error:
            blamed, offset = error, at
            if isinstance(error, json.JSONDecodeError):
                in_lines = not is_first or self._file.path.suffix.lower() in (".jsonl", ".ndjson")
                blamed = self._error_within_line(at, error) if in_lines else error
                offset = min(blamed.pos, len(text.rstrip()))
            _fail(self._file, self._line_at(offset), blamed)
        record = Record(self._file, value, self.place(at))
        return without_surrogates(record, text[at:end]), _skip_space(text, end)

    def _error_within_line(self, at: int, error: json.JSONDecodeError) -> json.JSONDecodeError:
        """In JSON lines a line that breaks off is to blame, not the next one, where the parser stumbles."""
        try:
            json.loads(self._text[at:].partition("\n")[0])
        except json.JSONDecodeError as inner:
            return json.JSONDecodeError(inner.msg, self._text, at + inner.pos)
        return error

    def _line_at(self, offset: int) -> int:
        return self._line + self._text.count("\n", 0, offset)

    def _line_of(self, start: int, path: JsonPath) -> int:
        try:
            return self._line_at(self._offset_of(start, path))
        except RecursionError:
            # Nested nearly too deeply: it could be decoded, but from a call less deep than this one.
            return self._line_at(start)

    def _offset_of(self, start: int, path: JsonPath) -> int:
        """Where the value at `path` begins, or its nearest parent if it is absent. Offsets found on the way are kept:
        to find the next, nearly all of a large file would be parsed once more."""
        at = start
        for depth in range(1, len(path) + 1):
            key = start, path[:depth]
            if key not in self._offsets:
                self._offsets[key] = _offset_within(self._text, at, path[depth - 1])
            if self._offsets[key] == at:
                break
            at = self._offsets[key]
        return at


def object_of_line(file: InputFile, number: int, line: bytes) -> Record | None:
    """The object of this line, None if it is blank; InputError where it is no object, or no JSON at all."""
    refuse_dense(file, number, line)
    if record := _object_of(file, number, line):
        return record
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        if not text:
            return None
        value, end = decode_at(text)
        if end != len(text):
            raise json.JSONDecodeError("Extra data", text, end)
    except (ValueError, RecursionError) as error:
        if isinstance(error, json.JSONDecodeError):
            refuse_over_lines(file, number)
        _fail(file, number, error)
    return without_surrogates(Record(file, value, number), text).as_object("a line")


def objects_of_lines(file: InputFile) -> Iterator[Record]:
    """The object of each line that is not blank."""
    return (record for number, line in file.lines() if (record := object_of_line(file, number, line)))


def _object_of(file: InputFile, number: int, line: bytes) -> Record | None:
    """The object that fills a line; None where something else does, or where it is not sound JSON."""
    try:
        value = msgspec.json.decode(line)
        return Record(file, value, number) if type(value) is dict else None
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass  # Broken, or something of which only the standard parser makes sense.
    try:
        text = line.decode()
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return without_surrogates(Record(file, value, number), text) if type(value) is dict else None


def _fail(file: InputFile, line: int, error: ValueError | RecursionError) -> NoReturn:
    if isinstance(error, UnicodeDecodeError):
        file.refuse_text(line, error)
    if isinstance(error, json.JSONDecodeError):
        file.fail(line, f"broken JSON: {error.msg} (column {error.colno})", "Correct it, or export it again.")
    reason = "nested too deeply" if isinstance(error, RecursionError) else "a number is too long"
    file.fail(line, f"broken JSON: {reason}", "Export it again.")


# Half a surrogate pair


def without_surrogates(record: Record, text: str) -> Record:
    """The record with a question mark for each half of a surrogate pair, which UTF-8 cannot hold; `text` is its JSON,
    in which only an escape can be half a character."""
    if "\\ud" not in text and "\\uD" not in text:
        return record
    return record._replace(value=_cleaned(record, record.value))


def _cleaned(record: Record, value: Any, path: JsonPath = ()) -> Any:
    if isinstance(value, str):
        if not _SURROGATE.search(value):
            return value
        problem = "half a surrogate pair; replaced by ?"
        key = next((step for step in reversed(path) if isinstance(step, str)), "a text")
        record.file.warn(f"text with {problem}", lambda: record.line_at(path), f"{key} holds {problem}")
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_cleaned(record, item, (*path, index)) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {
            _cleaned(record, key, at): _cleaned(record, item, at)
            for key, item in value.items()
            for at in [(*path, key)]
        }
    return value


# Where values stand in a text


def _skip_space(text: str, at: int, characters: str = _SPACE) -> int:
    while at < len(text) and text[at] in characters:
        at += 1
    return at


def _json_ends(text: str) -> tuple[int, int]:
    """Where the JSON of a text begins and ends: all of it, or, as models like to write it, one Markdown fence."""
    start, end = _skip_space(text, 0), len(text)
    if text.startswith(_FENCE, start):
        first, closing = text.find("\n", start) + 1, len(text.rstrip()) - len(_FENCE)
        if 0 < first <= closing and text.startswith(_FENCE, closing) and f"\n{_FENCE}" not in text[first:closing]:
            return _skip_space(text, first), closing
    return start, end


def _offset_within(text: str, parent: int, step: str | int) -> int:
    """Where the value at this key or place begins, in a JSON text that is known to be sound; the parent if absent."""
    at, in_list, index = parent, text[parent] == "[", 0
    cursor = _skip_space(text, parent + 1)
    while text[cursor] not in "}]":
        name: str | int = index
        if not in_list:
            name, cursor = decode_at(text, cursor)
            cursor = _skip_space(text, cursor, _SPACE + ":")
        if name == step:
            at = cursor  # the last of equal keys counts, as in json.loads
            if in_list:
                break
        cursor = _skip_space(text, decode_at(text, cursor)[1], _SPACE + ",")
        index += 1
    return at
