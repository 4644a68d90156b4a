"""The journal of a pull: lines are stored as they come, and the file is put in place when all of them are there.

The journal stands beside the file as `FILE.partial`. Its first line is the request; then come the lines of the file to
be, and behind those of each pull request a mark. Lines after the last mark were cut off, and are fetched again. A pull
that is killed and started again therefore ends with the same bytes as one that ran through.

The file is written beside its place under a random name, which a mark gives away before; when it is whole another mark
says so, and it is renamed. A journal with that last mark whose new file is gone has therefore done its work: it tells
that the file is complete as long as that is there, and is never written to a file again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from metareview.errors import UsageError
from metareview.locks import PathLock

Mark = Mapping[str, Any]
_MARK = b"#"
_OURS = b'{"metareview.pull":'
Order = Callable[[bytes], tuple[Any, ...]]
"""Gives a line's key for sorting."""


def _to_line(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"


class Journal:
    """The journal of one request; resumes an earlier one of the same request."""

    def __init__(self, file: Path, request: Mapping[str, Any], *, overwrite: bool = False) -> None:
        self.file = file
        self.path = file.with_name(file.name + ".partial")
        self.marks: list[Mark] = []
        self.in_place = False
        """An earlier pull with the same request put the file in place, and was killed before it could report that."""
        self._handle: BinaryIO | None = None
        self._lock: PathLock | None = None
        try:
            self._open(request, overwrite)
        except OSError as error:
            self._release()
            raise UsageError(f"cannot write {self.path}: {error.strerror}. Choose another -o.") from None
        except BaseException:
            self._release()
            raise

    def _open(self, request: Mapping[str, Any], overwrite: bool) -> None:
        if str(self.file) == "-":
            raise UsageError("a pull needs a file, to go on from where it is cut off. Give its name with -o.")
        if self.file.exists() and not self.file.is_file():
            what = "a folder" if self.file.is_dir() else "no file"
            raise UsageError(f"{self.file} is {what}. Give the name of a file with -o.")
        # Not truncated yet: it may be another process's, or one to resume.
        self._handle = _open_unfollowed(self.path)
        try:
            self._lock = PathLock(self.path)
        except BlockingIOError:
            raise UsageError(f"another pull is writing {self.path}. Wait for it, or choose another -o.") from None
        first = self._handle.readline()
        if not first.startswith(_OURS) and not _OURS.startswith(first):  # one of ours may be cut off within its header
            raise UsageError(f"{self.path} is not a pull's journal. Rename it, delete it, or choose another -o.")
        self._read_marks()
        same = first == _header(request)
        placed = self._is_placed()
        if not same and not overwrite and not placed and _is_worth_resuming(self.marks):
            raise UsageError(
                f"{self.path} holds an unfinished pull of something else. Finish that one, delete it, choose another "
                "-o, or start anew with --overwrite."
            )
        self.in_place = same and placed and not overwrite and self._is_unchanged()
        if self.in_place:
            return
        for left_behind in self._new_files():
            left_behind.unlink(missing_ok=True)
        goes_on = same and not placed
        if os.path.lexists(self.file) and not overwrite:
            if not goes_on:
                self.discard()
            raise UsageError(f"{self.file} exists. Choose another -o, or replace it with --overwrite.")
        if not goes_on:
            self.marks.clear()
            self._handle.seek(0)
            self._handle.truncate()
            self._handle.write(_header(request))
            self._handle.flush()

    def _is_placed(self) -> bool:
        """True once the file was put in place; it may have been moved, changed or deleted since."""
        finished = bool(self.marks) and self.marks[-1].get("finished") is True
        return finished and not any(map(os.path.lexists, self._new_files()))

    def _is_unchanged(self) -> bool:
        """True if the file is there as it was put in place."""
        with suppress(OSError), self.file.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == self.marks[-1].get("sha256")
        return False

    def _new_files(self) -> list[Path]:
        """New files that pulls into this one have begun. A journal may be forged: other names are not ours."""
        ours = re.compile(re.escape(self.file.name) + r"\.[0-9a-f]{16}\.new")
        names = [mark.get("new") for mark in self.marks]
        return [self.file.with_name(name) for name in names if isinstance(name, str) and ours.fullmatch(name)]

    def add(self, lines: Iterable[str], mark: Mark) -> None:
        """Append lines and the mark that they are complete."""
        assert self._handle is not None
        text = "".join(lines).encode("utf-8", "replace")
        try:
            self._handle.write(text + _MARK + _to_line(mark))
            self._handle.flush()
        except OSError as error:
            fix = "Free space there, then run the same command again: what was done is kept."
            raise UsageError(f"cannot write {self.path}: {error.strerror}. {fix}") from None
        self.marks.append(mark)

    def put_in_place(self, order: Order | None = None) -> None:
        """The file, all of it or nothing, with its lines as they came or in this order. The journal stays until it is
        discarded: after a kill in between it shows that the file is complete."""
        assert self._handle is not None
        beside = self.file.with_name(f"{self.file.name}.{secrets.token_hex(8)}.new")
        self.add([], {"new": beside.name})
        digest = hashlib.sha256()
        try:
            with beside.open("xb") as new:
                for line in self._lines(order or (lambda line: ())):
                    new.write(line)
                    digest.update(line)
            self.add([], {"finished": True, "sha256": digest.hexdigest()})
            beside.replace(self.file)
        except OSError as error:
            fix = "Free space there, or allow writing, then run the same command again: what was done is kept."
            raise UsageError(f"cannot write {self.file}: {error.strerror}. {fix}") from None
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the journal for a later pull to resume; delete it if nothing was fetched."""
        if self._handle is not None and not _is_worth_resuming(self.marks):
            self.discard()
        self._release()

    def _release(self) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            # A full disk fails once more here; the first failure was reported.
            with suppress(OSError):
                handle.close()
        if self._lock is not None:
            self._lock.release()

    def discard(self) -> None:
        """Delete the journal: there is nothing to resume."""
        with suppress(OSError):
            self.path.unlink()
        self._release()

    def _read_marks(self) -> None:
        """Read the marks, and truncate the file after the last one."""
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

    def _lines(self, order: Order) -> Iterator[bytes]:
        """The lines sorted by their keys, then as they came. Only the keys are in memory."""
        assert self._handle is not None
        self._handle.seek(0)
        place = len(self._handle.readline())
        places = []
        for line in iter(self._handle.readline, b""):
            if not line.startswith(_MARK):
                places.append((*order(line), place))
            place += len(line)
        places.sort()
        for *_, place in places:
            self._handle.seek(place)
            yield self._handle.readline()


def _is_worth_resuming(marks: Iterable[Mark]) -> bool:
    """True if anything was fetched that a later pull can resume from."""
    return any(mark.get("lines") or mark.get("listed") or mark.get("finished") for mark in marks)


def _header(request: Mapping[str, Any]) -> bytes:
    return _to_line({"metareview.pull": 1, "asked": dict(request)})


def _open_unfollowed(path: Path) -> BinaryIO:
    """The file, for reading and appending; UsageError for a link, which may lead anywhere, and for what is no file."""
    if path.is_symlink():
        raise UsageError(f"{path} is a link, and a pull is written through none. Delete it, or choose another -o.")
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags, 0o666), "a+b")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise UsageError(f"{path} is no file. Delete it, or choose another -o.")
    file.seek(0)
    return file
