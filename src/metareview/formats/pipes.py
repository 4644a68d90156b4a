"""Inputs that are no files: pipes, which can be read only once, and devices that never end.

An input is looked at several times, and by several processes: what it is, how large, what it holds, its hash. While
`pipes_kept` is open, all that came through a pipe is in a file for that.
"""

from __future__ import annotations

import os
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
    """The copies, in a folder that is made for the first and goes with the last who needs them."""

    users: int = 0
    folder: TemporaryFolder | None = None
    copies: dict[Path, Path] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)


_store = _Store()


@contextmanager
def pipes_kept() -> Iterator[None]:
    """While it is open, a pipe that is named again gives the same bytes again."""
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


def kept(path: Path) -> Path:
    """The path itself; of a pipe, that of a file with all that came through it."""
    with _store.lock:
        if path not in _store.copies and _store.users and _is_pipe(path):
            _store.copies[path] = _copied(path)
        return _store.copies.get(path, path)


def _copied(path: Path) -> Path:
    try:
        pipe = path.open("rb")
    except OSError:  # whoever reads it says why
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


def refuse_endless(path: Path, name: str) -> None:
    """InputError for a device that gives as much as anybody takes, such as /dev/zero."""
    if stat.S_ISCHR(_mode(path)) and _is_endless(path):
        raise InputError("a device without an end", file=name, fix="Name a file, a folder or a pipe.")


def _is_pipe(path: Path) -> bool:
    """Whether it can be read once, from its beginning to its end: a pipe, or a terminal."""
    mode = _mode(path)
    return stat.S_ISFIFO(mode) or (stat.S_ISCHR(mode) and not _is_endless(path))


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except (OSError, ValueError):  # whoever opens it says why
        return 0


def _is_endless(device: Path) -> bool:
    """Any device but the empty one, and a terminal, whose end whoever sits there types."""
    try:
        with device.open("rb", buffering=0) as opened:
            return not (opened.isatty() or device.samefile(os.devnull))
    except OSError:  # whoever opens it says why
        return False
