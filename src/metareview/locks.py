"""Exclusive locks on files and folders, between processes; gone with the process, however that ends.

What is locked is the file or folder itself, with `flock`: nothing is left beside it, each user who may write there may
lock it, and a link is not followed. `filelock` cannot do that: it locks a second file, which Unix must keep for good,
in folders that users look into, share and publish. Windows locks no folders, and there a second file is removed with
the lock, so there `filelock` does it.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filelock import BaseFileLock

try:
    import fcntl
except ImportError:  # Windows
    has_flock = False
else:
    has_flock = True


class PathLock(AbstractContextManager["PathLock"]):
    """A lock on a file or folder that exists."""

    def __init__(self, path: Path, *, wait: bool = False) -> None:
        """BlockingIOError where another process has the lock, unless it is waited for. OSError where `path` is a link,
        or cannot be opened."""
        self.held = False
        """False on a file system that has no locks: then others have none either."""
        self._handle: int | None = None
        self._beside: BaseFileLock | None = None
        try:
            while not self._lock(path, wait):
                self.release()
        except BaseException:
            self.release()
            raise

    def _lock(self, path: Path, wait: bool) -> bool:
        """Lock the path; False where another process has just removed what was locked."""
        if not has_flock:
            self._beside = _file_beside(path, wait)
            self.held = True
            return True
        self._handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            raise
        except OSError:
            return True  # a network drive without locks
        self.held = True
        return os.path.samestat(os.fstat(self._handle), os.lstat(path))

    def release(self) -> None:
        handle, beside, self.held = self._handle, self._beside, False
        self._handle = self._beside = None
        if handle is not None:
            os.close(handle)
        if beside is not None:
            beside.release()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _file_beside(path: Path, wait: bool) -> BaseFileLock:
    import filelock

    whole = path.absolute()
    lock = filelock.FileLock(whole.with_name(f".{whole.name}.lock"), thread_local=False)
    try:
        lock.acquire(timeout=-1 if wait else 0)
    except filelock.Timeout:
        raise BlockingIOError from None
    return lock
