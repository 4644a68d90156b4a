"""Temporary folders: removed by their process, or by a later one where that was killed."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from metareview.locks import PathLock

PREFIX = "metareview-scratch-"
_ATTEMPTS = 5
"""To lock a new folder before another process, which looks for abandoned ones, does."""


class TemporaryFolder:
    """A folder under the folder of temporary files, of this process alone.

    Its lock goes with the process and with what it has forked, however these end; so the process that makes the next
    one can tell which others are abandoned, and removes them.
    """

    def __init__(self) -> None:
        _remove_abandoned()
        for _ in range(_ATTEMPTS):
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
            try:
                self._lock = PathLock(self.path)
                return
            except OSError:  # another process took it for abandoned before it was locked
                shutil.rmtree(self.path, ignore_errors=True)
            except BaseException:
                shutil.rmtree(self.path, ignore_errors=True)
                raise
        raise OSError(errno.EAGAIN, "temporary folders are removed as soon as they are made", tempfile.gettempdir())

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()


def _remove_abandoned() -> None:
    """Remove the user's folders whose process has ended."""
    with suppress(OSError):  # the folder of temporary files cannot be listed
        for each in list(os.scandir(tempfile.gettempdir())):
            with suppress(OSError):
                if each.name.startswith(PREFIX) and each.is_dir(follow_symlinks=False) and _is_mine(each):
                    with PathLock(Path(each.path)) as lock:
                        if lock.held:
                            shutil.rmtree(each.path, ignore_errors=True)


def _is_mine(entry: os.DirEntry[str]) -> bool:
    """True for the user's own folder. On Windows the whole folder of temporary files is."""
    return not hasattr(os, "getuid") or entry.stat(follow_symlinks=False).st_uid == os.getuid()
