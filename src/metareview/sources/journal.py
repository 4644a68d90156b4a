"""Work that is not lost: lines are kept as they come, and the file is put in place when all of them are there.

The journal stands beside the file as `FILE.partial`. Its first line says what was asked for; then come the lines of the
file to be, and behind those of each pull request a mark. What stands behind the last mark was cut off, and is fetched
again. A pull that is killed and started again therefore ends with the same bytes as one that ran through.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from metareview.errors import UsageError

Mark = Mapping[str, Any]
_MARK = b"#"
_OURS = b'{"metareview.pull":'
Order = Callable[[Mapping[str, Any]], tuple[Any, ...]]


def to_line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


class Journal:
    """Opened for one request (`asked`); goes on where an earlier one with the same request stopped."""

    def __init__(self, file: Path, asked: Mapping[str, Any], *, overwrite: bool = False) -> None:
        self.file = file
        self.path = file.with_name(file.name + ".partial")
        self.marks: list[Mark] = []
        self._handle: BinaryIO | None = None
        try:
            self._open(asked, overwrite)
        except OSError as error:
            self._release()
            raise UsageError(f"cannot write {self.path}: {error.strerror}. Choose another -o.") from None
        except BaseException:
            self._release()
            raise

    def _open(self, asked: Mapping[str, Any], overwrite: bool) -> None:
        if str(self.file) == "-":
            raise UsageError("a pull needs a file, to go on from where it is cut off. Give its name with -o.")
        if self.file.is_dir():
            raise UsageError(f"{self.file} is a folder. Give the name of a file with -o.")
        # Not truncated yet: it may be another process's, or hold what is to go on.
        self._handle = self.path.open("a+b")
        self._lock()
        self._handle.seek(0)
        first = self._handle.readline()
        same = first == _header(asked)
        # Ours, and cut off within its first line, or before anything was fetched: nobody misses it.
        ours = first.startswith(_OURS) or _OURS.startswith(first)
        if not same and not overwrite and not (ours and self._is_worthless()):
            raise UsageError(
                f"{self.path} holds an unfinished pull of something else. Finish that one, delete it, choose another "
                "-o, or start anew with --overwrite."
            )
        if same:
            self._read_marks()
        else:
            self.marks.clear()
            self._handle.seek(0)
            self._handle.truncate()
            self._handle.write(_header(asked))
            self._handle.flush()
        if self.file.exists() and not overwrite and not self.finished:
            if not same:
                self._discard()
            raise UsageError(f"{self.file} exists. Choose another -o, or replace it with --overwrite.")

    def _lock(self) -> None:
        assert self._handle is not None
        try:
            import fcntl
        except ImportError:  # not on Windows; two pulls into one file are then the user's to avoid
            return
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"another pull is writing {self.path}. Wait for it, or choose another -o.") from None

    @property
    def finished(self) -> bool:
        """Whether everything was there already, and only the file had to be put in place."""
        return bool(self.marks) and self.marks[-1].get("finished") is True

    def add(self, records: Iterable[Mapping[str, Any]], mark: Mark) -> None:
        """Keeps the lines, and that they are whole."""
        assert self._handle is not None
        parts = [to_line(record) for record in records]
        try:
            self._handle.write(b"".join([*parts, _MARK + to_line(mark)]))
            self._handle.flush()
        except OSError as error:
            fix = "Free space there, then run the same command again: what was done is kept."
            raise UsageError(f"cannot write {self.path}: {error.strerror}. {fix}") from None
        self.marks.append(mark)

    def put_in_place(self, order: Order | None = None) -> None:
        """The file, all of it or nothing, with its lines as they came or in this order; then the journal goes."""
        assert self._handle is not None
        if not self.finished:
            self.add([], {"finished": True})
        beside = self.file.with_name(self.file.name + ".new")
        try:
            with beside.open("wb") as new:
                for line in self._lines() if order is None else self._sorted_lines(order):
                    new.write(line)
            beside.replace(self.file)
        except OSError as error:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            fix = "Free space there, or allow writing, then run the same command again: what was done is kept."
            raise UsageError(f"cannot write {self.file}: {error.strerror}. {fix}") from None
        self._discard()

    def close(self) -> None:
        """Keeps what there is for a later pull; where that is nothing, the journal goes."""
        if self._handle is not None and not _worth(self.marks):
            self._discard()
        self._release()

    def _release(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            # What could not be written for want of room fails once more here; it was told the first time.
            with suppress(OSError):
                handle.close()

    def _discard(self) -> None:
        with suppress(OSError):
            self.path.unlink()
        self._release()

    def _is_worthless(self) -> bool:
        self._read_marks()
        return not _worth(self.marks)

    def _read_marks(self) -> None:
        """The marks, and whatever stands behind the last one cut off."""
        assert self._handle is not None
        end = self._handle.tell()
        for line in iter(self._handle.readline, b""):
            if not line.endswith(b"\n"):
                break
            if line.startswith(_MARK):
                try:
                    mark = json.loads(line[len(_MARK) :])
                except ValueError:
                    break
                if not isinstance(mark, dict):
                    break
                self.marks.append(mark)
                end = self._handle.tell()
        self._handle.seek(end)
        self._handle.truncate()

    def _lines(self) -> Iterator[bytes]:
        assert self._handle is not None
        self._handle.seek(0)
        self._handle.readline()
        for line in iter(self._handle.readline, b""):
            if not line.startswith(_MARK):
                yield line

    def _sorted_lines(self, order: Order) -> Iterator[bytes]:
        """Sorted by keys and places alone: the lines themselves stay on disk."""
        assert self._handle is not None
        self._handle.seek(0)
        self._handle.readline()
        places = []
        place = self._handle.tell()
        for line in iter(self._handle.readline, b""):
            if not line.startswith(_MARK):
                places.append((*order(json.loads(line)), place))
            place += len(line)
        places.sort()
        for *_, place in places:
            self._handle.seek(place)
            yield self._handle.readline()


def _worth(marks: Iterable[Mark]) -> bool:
    """Whether anything was fetched that is worth going on from."""
    return any(mark.get("lines") or mark.get("listed") or mark.get("finished") for mark in marks)


def _header(asked: Mapping[str, Any]) -> bytes:
    return to_line({"metareview.pull": 1, "asked": dict(asked)})
