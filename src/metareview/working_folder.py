"""Imports from the working folder: modules that the user names, and what these import. Nothing else looks there.

The working folder may be a checkout of a stranger's pull request, and libraries try imports of what is not installed:
on `sys.path`, its `brotli.py` would run in the process that holds the user's keys. So the folder is never on it. A
finder, which comes after all others, answers two kinds of imports only: of the module that the user named, and by a
module that was found there itself, then or at any time later.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import FrameType, ModuleType

_IMPORT_SYSTEM = ("importlib", "_frozen_importlib", "_frozen_importlib_external")


class _WorkingFolder(MetaPathFinder):
    """Finds top-level modules; those within a package are found in the package's own folder, as ever."""

    def __init__(self) -> None:
        self.named: dict[str, str] = {}
        """The folder of the module that is being loaded because the user named it, by its top-level name."""
        self.found: dict[str, str] = {}
        """The folder of each top-level module that was found there."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is not None:
            return None
        folder = self.named.get(fullname) or self.found.get(fullname) or self.found.get(_importer(sys._getframe(1)))
        spec = None if folder is None else PathFinder.find_spec(fullname, [folder], target)
        if folder is not None and spec is not None:
            self.found[fullname] = folder
        return spec


_FINDER = _WorkingFolder()


def _importer(frame: FrameType | None) -> str:
    """The top-level name of the module whose code imports something; this frame is one of the import system's."""
    while frame is not None:
        name = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if name not in _IMPORT_SYSTEM:
            return name
        frame = frame.f_back
    return ""


@contextmanager
def importable(module: str) -> Iterator[bool]:
    """Let this module be found in the working folder for as long as it is loaded; False where the folder is gone."""
    try:
        folder = str(Path.cwd())
    except FileNotFoundError:
        yield False
        return
    _install()
    name = module.partition(".")[0]
    _FINDER.named[name] = folder
    try:
        yield True
    finally:
        _FINDER.named.pop(name, None)


def found_modules() -> dict[str, str]:
    """The folders of the modules that were found in working folders, for a process that must find them too."""
    return dict(_FINDER.found)


def find_modules(found: Mapping[str, str]) -> None:
    """Find the modules that another process has found, where it found them."""
    _install()
    _FINDER.found.update(found)


def _install() -> None:
    """Make the finder the last one, which it may not be any more."""
    with suppress(ValueError):
        sys.meta_path.remove(_FINDER)
    sys.meta_path.append(_FINDER)
