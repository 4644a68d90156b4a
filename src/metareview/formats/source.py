"""An input file: its text, its JSON, and where in it something stands, for messages that name the line."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

from metareview.errors import InputError

JsonPath = tuple[str | int, ...]
_LOCATED_WARNINGS = 10


@dataclass(frozen=True, slots=True)
class Document:
    """One JSON value of a file that may hold several, and the offset at which it begins."""

    value: Any
    start: int


@dataclass
class Source:
    """One file, read once. `name` is how messages call it; `warnings` gathers what was put right while reading."""

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

    @cached_property
    def data(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            raise InputError("no such file", file=self.name, fix="Check the path.") from None
        except IsADirectoryError:
            raise InputError(
                "this is a folder, a file is needed", file=self.name, fix="Name a file."
            ) from None
        except OSError as error:
            raise InputError(
                f"cannot be read: {error.strerror}", file=self.name, fix="Check permissions."
            ) from None

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def text(self) -> str:
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(
                f"not UTF-8 (byte 0x{self.data[error.start]:02x})",
                file=self.name,
                line=self.data.count(b"\n", 0, error.start) + 1,
                fix="Save the file as UTF-8.",
            ) from None

    def line_at(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    @property
    def looks_like_json(self) -> bool:
        return self.text.lstrip()[:1] in ("{", "[")

    @cached_property
    def documents(self) -> list[Document]:
        """Every JSON value in the file, one after the other: a document, JSON lines, or pages behind each other."""
        found: list[Document] = []
        decoder, text = json.JSONDecoder(), self.text
        at = _skip_space(text, 0)
        while at < len(text):
            try:
                value, end = decoder.raw_decode(text, at)
            except json.JSONDecodeError as error:
                error = self._error_within_line(at, error) if found or self._is_lines else error
                problem = f"broken JSON: {error.msg} (column {error.colno})"
                self.fail_at(min(error.pos, len(text.rstrip())), problem, "Mend it, or export it again.")
            except RecursionError:
                self.fail_at(at, "broken JSON: nested too deeply", "Export it again.")
            except ValueError:  # a number of thousands of digits
                self.fail_at(at, "broken JSON: a number is too long", "Export it again.")
            found.append(Document(value, at))
            at = _skip_space(text, end)
        return found

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

    def fail_at(self, offset: int, problem: str, fix: str) -> NoReturn:
        raise InputError(problem, file=self.name, line=self.line_at(offset), fix=fix)

    def fail(self, document: Document, path: JsonPath, problem: str, fix: str) -> NoReturn:
        """Refuse what stands at this place of the document."""
        raise InputError(problem, file=self.name, line=self.line_of(document, path), fix=fix)

    def line_of(self, document: Document, path: JsonPath) -> int:
        try:
            return self.line_at(_offset_of(self.text, document.start, path))
        except RecursionError:
            # Nested nearly too deeply: its reader got through, and we stand further down the stack than it did.
            return self.line_at(document.start)

    def warn(self, kind: str, where: Callable[[], int], detail: str) -> None:
        """Say what was put right, with its line; past ten of a kind only their number is kept."""
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


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n\ufeff":
        at += 1
    return at


def _offset_of(text: str, at: int, path: JsonPath) -> int:
    """Where the value at `path` begins, in a JSON text that is known to be sound; the nearest parent if absent."""
    decoder = json.JSONDecoder()
    for step in path:
        wanted = at
        cursor = _skip_space(text, at + 1)
        index = 0
        while text[cursor] not in "}]":
            if text[at] == "{":
                name, cursor = decoder.raw_decode(text, cursor)
                cursor = _skip_space(text, _skip_space(text, cursor) + 1)
            else:
                name, index = index, index + 1
            if name == step:
                wanted = cursor  # the last of equal keys counts, as in json.loads
                if text[at] == "[":
                    break
            _, cursor = decoder.raw_decode(text, cursor)
            cursor = _skip_space(text, cursor)
            if text[cursor] == ",":
                cursor = _skip_space(text, cursor + 1)
        if wanted == at:
            return at
        at = wanted
    return at
