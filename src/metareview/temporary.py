"""Temporary folders: removed by their process, or by a later one where that was killed."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType

PREFIX = "metareview-scratch-"
_ATTEMPTS = 5
"""To lock a new folder, before which another process may come that looks for abandoned ones."""


class TemporaryFolder:
    """A folder under the folder of temporary files, of this process alone.

    Its lock goes with the process, however that ends, and with what it has forked; so whoever makes the next one knows
    which others nobody needs any more, and removes them.
    """

    def __init__(self) -> None:
        _remove_abandoned()
        self._handle: int | None = None
        for left in reversed(range(_ATTEMPTS)):
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
            try:
                self._handle = _locked(self.path)
            except BaseException:
                self.remove()
                raise
            if self._handle is not None or not left:
                return  # Without a lock where the file system has none: then nobody can take it for abandoned.
            self.remove()

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()


def _locked(folder: Path) -> int | None:
    """A handle that holds the folder's lock; None where another process has it, or has just removed the folder."""
    try:
        import fcntl
    except ImportError:  # not on Windows, where no folder is ever taken for an abandoned one
        return None
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if folder.exists() and os.path.samestat(os.fstat(handle), folder.stat()):
            return handle
    except OSError:
        pass
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None


def _remove_abandoned() -> None:
    """Remove the user's folders whose process has ended."""
    with suppress(OSError):  # one that cannot be looked through
        for each in list(os.scandir(tempfile.gettempdir())):
            with suppress(OSError):
                if not each.name.startswith(PREFIX) or not _is_mine(each):
                    continue
                handle = _locked(Path(each.path))
                if handle is not None:
                    shutil.rmtree(each.path, ignore_errors=True)
                    os.close(handle)


def _is_mine(entry: os.DirEntry[str]) -> bool:
    return hasattr(os, "getuid") and entry.stat(follow_symlinks=False).st_uid == os.getuid()
