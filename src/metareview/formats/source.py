"""An input file: its text, its JSON whole or line by line, and the line of whatever is wrong in it.

Reviews are read whole, because a review may span lines and a message names the line of any value within it.
Histories have millions of lines and are read one by one. Both ways give the same `Record`s.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

from metareview.errors import InputError
from metareview.formats.record import SEE_FORMATS, JsonPath, Record

_LOCATED_WARNINGS = 10
_decode = json.JSONDecoder().raw_decode


class Document(NamedTuple):
    """One JSON value of a file that may hold several, and the offset at which it begins."""

    value: Any
    start: int


@dataclass
class Source:
    """One file. `name` is how messages call it; `warnings` gathers what was corrected while reading."""

    path: Path
    name: str = ""
    warnings: list[str] = field(default_factory=list)
    _kinds: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.name = readable(self.name or str(self.path))

    @classmethod
    def of_text(cls, text: str, name: str) -> Source:
        """A source that is no file, such as an argument of the Python API."""
        source = cls(Path(name), name)
        source.data = text.encode("utf-8", "surrogatepass")
        source.text = text
        return source

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        try:
            with io.BytesIO(self.data) if "data" in vars(self) else self.path.open("rb") as stream:
                yield stream
        except FileNotFoundError:
            raise InputError("no such file", file=self.name, fix="Check the path.") from None
        except IsADirectoryError:
            raise InputError("this is a folder, a file is needed", file=self.name, fix="Name a file.") from None
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", file=self.name, fix="Check permissions.") from None

    def begins_with(self, magic: bytes) -> bool:
        with self._opened() as stream:
            return stream.read(len(magic)) == magic

    # One line after the other

    def lines(self) -> Iterator[Record]:
        """The object of each line that is not blank, without holding the file in memory."""
        with self._opened() as stream:
            for number, line in enumerate(stream, 1):
                try:
                    text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                    if not text:
                        continue
                    value, end = _decode(text)
                    if end != len(text):
                        raise json.JSONDecodeError("Extra data", text, end)
                except UnicodeDecodeError as error:
                    self._fail_decoding(error, number)
                except (ValueError, RecursionError) as error:
                    problem, fix = _broken(error)
                    self._fail(number, problem, fix)
                record = Record(self, value, number)
                yield record if type(value) is dict else record.as_object("a line")

    @cached_property
    def first_object(self) -> Any:
        """The object of the first line that is not blank; {} if there is none. For recognising a format."""
        try:
            first = next(self.lines(), None)
        except InputError:
            return {}
        return first.value if first else {}

    # The whole file

    @cached_property
    def data(self) -> bytes:
        with self._opened() as stream:
            return stream.read()

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def text(self) -> str:
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self._fail_decoding(error, self.data.count(b"\n", 0, error.start) + 1)

    @property
    def looks_like_json(self) -> bool:
        return self.text.lstrip()[:1] in ("{", "[")

    @cached_property
    def documents(self) -> list[Document]:
        """Every JSON value in the file, one after the other: a document, JSON lines, or pages behind each other."""
        documents: list[Document] = []
        text = self.text
        at = _skip_space(text, 0)
        while at < len(text):
            try:
                value, end = _decode(text, at)
            except json.JSONDecodeError as error:
                error = self._error_within_line(at, error) if documents or self._is_lines else error
                self.fail_at(min(error.pos, len(text.rstrip())), *_broken(error))
            except (ValueError, RecursionError) as error:
                self.fail_at(at, *_broken(error))
            documents.append(Document(value, at))
            at = _skip_space(text, end)
        return documents

    def records(self, what: str, *, depth: int = 0, fix: str = SEE_FORMATS) -> Iterator[Record]:
        """Each JSON value of the file, which must be an object; with `depth`, those in lists (of lists) too."""
        for document in self.documents:
            for path, value in _items(document.value, depth):
                yield Record(self, value, start=document.start, path=path).as_object(what, fix)

    @property
    def _is_lines(self) -> bool:
        return self.path.suffix.lower() in (".jsonl", ".ndjson")

    def _error_within_line(self, at: int, error: json.JSONDecodeError) -> json.JSONDecodeError:
        """In JSON lines a line that breaks off is to blame, not the next one, where the parser stumbles."""
        end = self.text.find("\n", at)
        try:
            json.loads(self.text[at : end if end >= 0 else None])
        except json.JSONDecodeError as inner:
            return json.JSONDecodeError(inner.msg, self.text, at + inner.pos)
        return error

    # Messages

    def line_at(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    def line_of(self, start: int, path: JsonPath) -> int:
        """The line of the value at `path` in the document that begins at `start`."""
        try:
            return self.line_at(_offset_of(self.text, start, path))
        except RecursionError:
            # Nested nearly too deeply: it could be read, but from a call less deep than this one.
            return self.line_at(start)

    def fail_at(self, offset: int, problem: str, fix: str) -> NoReturn:
        self._fail(self.line_at(offset), problem, fix)

    def _fail(self, line: int, problem: str, fix: str) -> NoReturn:
        raise InputError(problem, file=self.name, line=line, fix=fix) from None

    def _fail_decoding(self, error: UnicodeDecodeError, line: int) -> NoReturn:
        self._fail(line, f"not UTF-8 (byte 0x{error.object[error.start]:02x})", "Save the file as UTF-8.")

    def warn(self, kind: str, where: Callable[[], int], detail: str) -> None:
        """Say what was corrected, with its line; past ten of a kind only their number is kept."""
        self._kinds[kind] += 1
        if self._kinds[kind] <= _LOCATED_WARNINGS:
            self.warnings.append(f"{self.name}:{where()}: {readable(detail)}")

    def all_warnings(self) -> list[str]:
        more = [
            f"{self.name}: {count - _LOCATED_WARNINGS} more like this: {kind}"
            for kind, count in self._kinds.items()
            if count > _LOCATED_WARNINGS
        ]
        return self.warnings + more


def readable(text: str) -> str:
    """Text that can be written out: bytes of a file's name that are no UTF-8 (to Python, half a surrogate pair) are
    escaped."""
    return text.encode("utf-8", "backslashreplace").decode()


def content_hash(path: Path) -> str:
    """SHA-256 of a file, or of every file of a folder with its name, without holding any of it whole."""
    digest = hashlib.sha256()
    files = sorted(item for item in path.rglob("*") if item.is_file()) if path.is_dir() else [path]
    for file in files:
        if path.is_dir():
            digest.update(f"\0{file.relative_to(path).as_posix()}\0".encode("utf-8", "surrogateescape"))
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def _broken(error: ValueError | RecursionError) -> tuple[str, str]:
    """What is wrong with JSON that cannot be read, and the fix."""
    if isinstance(error, json.JSONDecodeError):
        return f"broken JSON: {error.msg} (column {error.colno})", "Correct it, or export it again."
    reason = "nested too deeply" if isinstance(error, RecursionError) else "a number is too long"
    return f"broken JSON: {reason}", "Export it again."


def _items(value: Any, depth: int, path: JsonPath = ()) -> Iterator[tuple[JsonPath, Any]]:
    if isinstance(value, list) and len(path) < depth:
        for index, item in enumerate(value):
            yield from _items(item, depth, (*path, index))
    else:
        yield path, value


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n\ufeff":
        at += 1
    return at


def _offset_of(text: str, at: int, path: JsonPath) -> int:
    """Where the value at `path` begins, in a JSON text that is known to be sound; the nearest parent if absent."""
    for step in path:
        wanted = at
        cursor = _skip_space(text, at + 1)
        index = 0
        while text[cursor] not in "}]":
            if text[at] == "{":
                name, cursor = _decode(text, cursor)
                cursor = _skip_space(text, _skip_space(text, cursor) + 1)
            else:
                name, index = index, index + 1
            if name == step:
                wanted = cursor  # the last of equal keys counts, as in json.loads
                if text[at] == "[":
                    break
            _, cursor = _decode(text, cursor)
            cursor = _skip_space(text, cursor)
            if text[cursor] == ",":
                cursor = _skip_space(text, cursor + 1)
        if wanted == at:
            return at
        at = wanted
    return at
