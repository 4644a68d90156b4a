"""The comments of a line of JSON, read from their file when they are asked for: a large file need not be held."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import orjson

from metareview.errors import InputError
from metareview.formats.plain_comments import plain_comment
from metareview.model.comment import Comment
from metareview.model.facts import CommentFacts, KnownComments, facts_by_column

_OPEN_FILES = 32


class IndexedFile(NamedTuple):
    """A file as it was when its lines were looked at."""

    path: str
    number: int
    """That of the file system, which another file of the same name does not have."""
    changed: int

    @classmethod
    def at(cls, path: Path) -> IndexedFile:
        found = path.stat()
        return cls(str(path.absolute()), found.st_ino, found.st_mtime_ns)


@dataclass(frozen=True, slots=True, eq=False)
class LineComments(KnownComments):
    """Those of one line, all of them plain. InputError where the file has changed since it was looked at."""

    file: IndexedFile
    offset: int
    length: int
    checksum: int
    known: CommentFacts
    author: str | None = None
    """Who wrote those that name nobody."""
    paths: Mapping[int, str] | None = None
    """Other paths than those of the line, by position."""

    @property
    def facts(self) -> CommentFacts:
        return self.known

    def __iter__(self) -> Iterator[Comment]:
        values = orjson.loads(self._line())["comments"]
        if self.author is not None:
            values = [{**value, "author": value.get("author") or self.author} for value in values]
        for at, path in (self.paths or {}).items():
            values[at] = {**values[at], "path": path}
        return map(plain_comment, values)

    def _line(self) -> bytes:
        try:
            line = _opened(self.file).read(self.offset, self.length)
        except OSError as error:
            problem = f"cannot be read again: {error.strerror}"
            raise InputError(problem, file=self.file.path, fix="Leave it until the run is finished.") from None
        if zlib.crc32(line) != self.checksum:
            problem = "it has changed since it was read first"
            raise InputError(problem, file=self.file.path, fix="Run the command again.")
        return line

    def __reduce__(self) -> tuple[Any, ...]:
        """How it is sent to another process: a hundred thousand of them are, and slots go field by field otherwise."""
        fields = (self.file, self.offset, self.length, self.checksum, self.known, self.author, self.paths)
        return LineComments, fields

    def by(self, author: str) -> LineComments:
        return replace(self, author=self.author or author, known=self.known._replace(has_authors=True))

    def with_paths(self, paths: Mapping[int, str]) -> LineComments:
        return replace(self, paths={**(self.paths or {}), **paths})


class _OpenFile:
    """Closed when nobody has it any more."""

    def __init__(self, file: IndexedFile) -> None:
        self._stream = Path(file.path).open("rb", buffering=0)  # noqa: SIM115
        self._turn = Lock()

    def read(self, offset: int, length: int) -> bytes:
        with self._turn:
            self._stream.seek(offset)
            return self._stream.read(length)

    def __del__(self) -> None:
        if hasattr(self, "_stream"):
            self._stream.close()


_opened = lru_cache(maxsize=_OPEN_FILES)(_OpenFile)


def facts_of_values(values: Sequence[Mapping[str, Any]]) -> CommentFacts:
    """The facts of comments that are plain."""
    names = set().union(*values)
    return facts_by_column(len(values), lambda name: [value.get(name) for value in values] if name in names else None)
