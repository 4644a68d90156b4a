"""Folders as inputs: their files, and what their names say of runs and pull requests."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from metareview.errors import InputError
from metareview.formats.input_file import readable
from metareview.formats.pipes import spooled

_RUN = re.compile(r"run-\d{1,9}", re.IGNORECASE)


def is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name that is too long; what reads the file says so
        return False


def files_below(folder: Path) -> list[Path]:
    """All files but the hidden ones, in order."""
    return sorted(path for path in _walked(folder) if "/." not in f"/{path.relative_to(folder).as_posix()}")


def content_hash(path: Path) -> str:
    """SHA-256 of a file, or of every file of a folder with its name, without holding any of it whole."""
    digest = hashlib.sha256()
    path = spooled(path)
    for file in sorted(_walked(path)) if path.is_dir() else [path]:
        if file != path:
            digest.update(f"\0{file.relative_to(path).as_posix()}\0".encode("utf-8", "surrogateescape"))
        with file.open("rb") as stream:
            hashlib.file_digest(stream, lambda: digest)
    return digest.hexdigest()


def files_state(path: Path) -> list[tuple[Path, int, int, int]]:
    """Identity, size and time of a file, or of all files of a folder, to detect changes."""
    path = spooled(path)
    states = []
    for file in sorted(_walked(path)) if is_folder(path) else [path]:
        with suppress(OSError):  # the reader reports it
            found = file.stat()
            states.append((file, found.st_ino, found.st_size, found.st_mtime_ns))
    return states


def _walked(folder: Path) -> Iterator[Path]:
    """Every file below: a folder that may not be looked into is no empty one."""
    try:
        for here, _, names in os.walk(folder, onerror=_raise):
            yield from (path for path in map(Path(here).joinpath, names) if path.is_file())
    except OSError as error:
        file = readable(str(error.filename or folder))
        raise InputError(f"cannot be read: {error.strerror}", file=file, fix="Check permissions.") from None


def _raise(error: OSError) -> None:
    raise error


# REVIEWER/run-1/…, REVIEWER/run-2/…


def is_run_folder(name: str) -> bool:
    return _RUN.fullmatch(name) is not None


def names_its_pull_request(name: Path) -> bool:
    """True if all of it is OWNER/REPO/NUMBER.ext."""
    return name.stem.partition(".")[0].isdecimal() and len(name.parts) == 3


def without_run(name: Path, *, repeat: bool) -> tuple[Path, str | None]:
    """A file's name within what was given, without the folder of its run, and that run.

    It stands below the reviewer's folder; with `repeat`, also where the reviewer's folder is what was given.

    >>> without_run(Path("claude/run-2/octo_shop_7.txt"), repeat=False)[1]
    'run-2'
    """
    folders = name.parts[:-1]
    if not repeat and names_its_pull_request(name):
        return name, None
    for at in (0, 1) if repeat else (1,):
        if len(folders) > at and is_run_folder(folders[at]):
            return Path(*name.parts[:at], *name.parts[at + 1 :]), folders[at].lower()
    return name, None
