"""The files of a folder that was given as an input: all of them, or an InputError that names the one that is closed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from metareview.errors import InputError
from metareview.formats.pipes import kept
from metareview.formats.source import readable


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
    path = kept(path)
    for file in sorted(_walked(path)) if path.is_dir() else [path]:
        if file != path:
            digest.update(f"\0{file.relative_to(path).as_posix()}\0".encode("utf-8", "surrogateescape"))
        with file.open("rb") as stream:
            hashlib.file_digest(stream, lambda: digest)
    return digest.hexdigest()


def files_state(path: Path) -> list[tuple[Path, int, int, int]]:
    """What tells whether a file, or any file of a folder, is another or was written to: identity, size and time."""
    path = kept(path)
    states = []
    for file in sorted(_walked(path)) if is_folder(path) else [path]:
        with suppress(OSError):  # whoever reads it says what is wrong with it
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
