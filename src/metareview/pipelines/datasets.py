"""Where a data set's name may stand for its files: in the comments, the references, the negatives, the history.

Commands and the Python API both come through here, before anything is read. A bare name is the data set's, whatever is
in the working folder, which may be somebody else's checkout; `./name` is the file. What is not on this machine yet is
fetched; `watch` is told of that, and `tell` which one was taken where there are both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from metareview.errors import InputError, UsageError, nearest
from metareview.formats.reader import Given, Paths, Records, several, several_given
from metareview.sources.catalogue import CANDIDATES, DATASETS, HISTORY, NEGATIVES, REFERENCE
from metareview.sources.datasets import FileProgress, fetch, files_of_role, place

Tell = Callable[[str], object]
"""Takes a line about what was chosen."""


def candidates(given: Given, watch: FileProgress | None = None, tell: Tell | None = None) -> Given:
    """What a name in place of the comments stands for."""
    return _path(given, CANDIDATES, watch, tell) if isinstance(given, str | Path) else given


def references(given: Paths | Records, watch: FileProgress | None = None, tell: Tell | None = None) -> Paths | Records:
    """What a name among the references stands for."""
    return _several(given, REFERENCE, watch, tell)


def negatives(given: Paths | Records, watch: FileProgress | None = None, tell: Tell | None = None) -> Paths | Records:
    """What a name among the negatives stands for."""
    return _several(given, NEGATIVES, watch, tell)


def histories(given: Paths, watch: FileProgress | None = None, tell: Tell | None = None) -> list[str | Path]:
    """What a name among the histories stands for."""
    return [file for path in several(given) for file in _files(path, HISTORY, watch, tell)]


def _several(given: Paths | Records, role: str, watch: FileProgress | None, tell: Tell | None) -> Paths | Records:
    paths = [each for each in several_given(given) if isinstance(each, str | Path)]
    return [file for path in paths for file in _files(path, role, watch, tell)] if paths else given


def _path(given: str | Path, role: str, watch: FileProgress | None, tell: Tell | None) -> str | Path:
    files = _files(given, role, watch, tell)
    if len(files) > 1:
        raise UsageError(f"The data set {given} has {len(files)} files of the role {role}. Name one of them.")
    return files[0]


def _files(given: str | Path, role: str, watch: FileProgress | None, tell: Tell | None) -> Sequence[str | Path]:
    """The files that a name stands for; a path stands for itself."""
    name = str(given)
    dataset = DATASETS.get(name)
    if dataset is None and _exists(given):
        return [given]
    if dataset is None:
        meant = nearest(name, DATASETS) if "/" not in name and "." not in name else None
        if meant:
            raise InputError("no such file", file=name, fix=f"Did you mean the data set {meant}?")
        return [given]
    if _exists(given):
        has_role = bool(dataset.of_role(role))
        if tell:
            data_set = f"the data set, not what lies here under its name; for that, write ./{name}"
            here = f"what lies here under this name: the data set {name} has no file of the role {role}"
            tell(f"{name}: this is {data_set if has_role else here}.")
        if not has_role:
            return [given]
    files = files_of_role(dataset, role)
    fetch(dataset, files, watch)
    return [place(dataset, file) for file in files]


def _exists(given: str | Path) -> bool:
    try:
        return Path(given).exists()
    except (OSError, ValueError):  # a name that no file can have; whatever reads it says so
        return True
