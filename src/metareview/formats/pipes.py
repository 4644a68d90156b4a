"""Pipes as inputs, which can be read only once: copied to a temporary file, for the processes that share the work."""

from __future__ import annotations

import shutil
import stat
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from metareview.errors import InputError, UsageError
from metareview.formats.gzip_lines import LONGEST_LINE
from metareview.temporary import TemporaryFolder


@dataclass
class _Store:
    """The copies, in a folder made for the first of them and removed with the last user."""

    users: int = 0
    folder: TemporaryFolder | None = None
    copies: dict[Path, Path] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)


_store = _Store()


@contextmanager
def spooled_pipes() -> Iterator[None]:
    """Keep the copies while this is open, so that a pipe that is named again gives the same bytes."""
    with _store.lock:
        _store.users += 1
    try:
        yield
    finally:
        with _store.lock:
            _store.users -= 1
            if not _store.users and _store.folder is not None:
                _store.folder.remove()
                _store.folder = None
                _store.copies.clear()


def spooled(path: Path) -> Path:
    """The path itself; of a pipe, that of its copy."""
    with _store.lock:
        if path not in _store.copies and _store.users and _is_pipe(path):
            _store.copies[path] = _copied(path)
        return _store.copies.get(path, path)


def _copied(path: Path) -> Path:
    try:
        pipe = path.open("rb")
    except OSError:  # the reader says why
        return path
    with pipe:
        beginning = pipe.read(LONGEST_LINE)
        if len(beginning) == LONGEST_LINE and b"\n" not in beginning and beginning.lstrip()[:1] not in (b"{", b"["):
            problem = f"a line of more than {LONGEST_LINE // 2**20} MB that is no JSON"
            raise InputError(problem, file=str(path), line=1, fix="Give what a command writes, such as zcat events.gz.")
        try:
            if _store.folder is None:
                _store.folder = TemporaryFolder()
            # A number alone, as in /dev/fd/63, would pass for that of a pull request.
            name = f"pipe-{path.name}" if path.name.isdecimal() else path.name
            copy = Path(tempfile.mkdtemp(dir=_store.folder.path)) / name
            with copy.open("xb") as file:
                file.write(beginning)
                shutil.copyfileobj(pipe, file)
        except OSError as error:
            fix = "Set TMPDIR to a folder with space, or give a file."
            raise UsageError(f"Cannot keep what comes through {path}: {error.strerror}. {fix}") from None
    return copy


def _is_pipe(path: Path) -> bool:
    """True if it can be read once, from its beginning to its end: a pipe, or a terminal."""
    mode = _mode(path)
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except (OSError, ValueError):  # the reader says why
        return 0
