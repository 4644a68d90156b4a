"""Where a data set's name may stand for its files: in the comments, the references, the negatives, the history.

Commands and the Python API both come through here, before anything is read. A file or folder of that name wins. What is
not on this machine yet is fetched; `watch` is told of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from metareview.errors import InputError, UsageError, nearest
from metareview.formats.registry import Given, Paths, Records, several, several_given
from metareview.sources.catalogue import CANDIDATES, DATASETS, HISTORY, NEGATIVES, REFERENCE
from metareview.sources.datasets import Watch, fetch, files_of_role, place


def candidates(given: Given, watch: Watch | None = None) -> Given:
    """What a name in place of the comments stands for."""
    return _path(given, CANDIDATES, watch) if isinstance(given, str | Path) else given


def references(given: Paths | Records, watch: Watch | None = None) -> Paths | Records:
    """What a name among the references stands for."""
    return _several(given, REFERENCE, watch)


def negatives(given: Paths | Records, watch: Watch | None = None) -> Paths | Records:
    """What a name among the negatives stands for."""
    return _several(given, NEGATIVES, watch)


def histories(given: Paths, watch: Watch | None = None) -> list[str | Path]:
    """What a name among the histories stands for."""
    return [file for path in several(given) for file in _files(path, HISTORY, watch)]


def _several(given: Paths | Records, role: str, watch: Watch | None) -> Paths | Records:
    paths = [each for each in several_given(given) if isinstance(each, str | Path)]
    return [file for path in paths for file in _files(path, role, watch)] if paths else given


def _path(given: str | Path, role: str, watch: Watch | None) -> str | Path:
    files = _files(given, role, watch)
    if len(files) > 1:
        raise UsageError(f"The data set {given} has {len(files)} files of the role {role}. Name one of them.")
    return files[0]


def _files(given: str | Path, role: str, watch: Watch | None) -> Sequence[str | Path]:
    """The files that a name stands for; a path stands for itself."""
    name = str(given)
    if _exists(given):
        return [given]
    if name not in DATASETS:
        meant = nearest(name, DATASETS) if "/" not in name and "." not in name else None
        if meant:
            raise InputError("no such file", file=name, fix=f"Did you mean the data set {meant}?")
        return [given]
    dataset = DATASETS[name]
    files = files_of_role(dataset, role)
    fetch(dataset, files, watch)
    return [place(dataset, file) for file in files]


def _exists(given: str | Path) -> bool:
    try:
        return Path(given).exists()
    except (OSError, ValueError):  # a name that no file can have; whatever reads it says so
        return True
