"""The folder that a run is to go into: what it holds already, whether that is the same run, and what may be deleted.

Only what a manifest of ours names is ever deleted, with what a run leaves on its way under names of its own. Whatever
else a user keeps there stays, and a folder with files and no manifest of ours is refused.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metareview.errors import UsageError
from metareview.formats.checksums import CHECKED_FILES, SCHEMA, whole_lines
from metareview.runs.comments_json import pair_from_json
from metareview.runs.comments_kind import KIND as COMMENTS
from metareview.runs.files import (
    EXAMPLES,
    MANIFEST,
    PAIRS,
    RESULTS,
    SUMMARY,
    VERDICT_FILES,
    VERDICTS,
    FolderLock,
    JsonObject,
    read_json,
    written_to,
)
from metareview.runs.kind import KINDS, Kind, RecordT, SummaryT, kind_named
from metareview.runs.labels import FRAME, UNLISTED
from metareview.runs.links import refuse_links
from metareview.runs.parts import has_part_files, parts_of, remove_parts, remove_unfinished_parts
from metareview.runs.run import Manifest, now, run_key
from metareview.runs.salvage import Kept

if TYPE_CHECKING:
    from metareview.comments.records import Pair

_BESIDE = re.compile(r"(.+)\.[0-9a-f]{8}\.new")
"""A file that was being written when its process was killed; see write_whole."""
_UNDER_LOCK = frozenset({MANIFEST, *CHECKED_FILES})
_ABANDONED = 3600.0
"""Seconds after which a file that is written without the folder's lock was left by a process that was killed."""
OTHERWISE = "Choose another --out, or empty the folder."


def check_place(folder: Path, overwrite: bool) -> bool:
    """Whether a run is there that must be the same one. UsageError where none can be put there, whatever it is:
    better said before hours of work than after."""
    with written_to(folder):
        refuse_links(folder)
        stored = stored_manifest(folder)
        there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
        if not there.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(there, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if there is folder:
            FolderLock(folder).release()
    return stored is not None and not overwrite


def check_same_run(folder: Path, kind: Kind[SummaryT, RecordT], config: JsonObject, inputs: Mapping[str, str]) -> None:
    """UsageError where the folder holds another run than this one."""
    run_to_continue(folder, Manifest(kind.name, config, inputs, started=now()))


def stored_manifest(folder: Path) -> JsonObject | None:
    """The manifest of the run in this folder; None where nothing is there; UsageError where it holds anything else."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out {folder} is a file. Name a folder.")
    if not folder.exists() or all(_is_left_over(each) for each in folder.iterdir()):
        return None
    try:
        stored = read_json(folder / MANIFEST)
    except (OSError, ValueError):
        stored = {}
    if stored.get("schema") != SCHEMA:
        raise UsageError(f"{folder} is not empty and holds no run. {OTHERWISE}")
    return stored


def run_to_continue(folder: Path, manifest: Manifest) -> JsonObject | None:
    """The stored manifest of the same run; None where a new one may begin. UsageError where another run is there."""
    stored = stored_manifest(folder)
    if stored is None or stored.get("fingerprint") == manifest.fingerprint:
        return stored
    if _holds_nothing(folder, stored):
        return None
    differing = ", ".join(_differences(stored, manifest)) or "something"
    raise UsageError(f"{folder} holds another run ({differing} differ). Choose another --out, or pass --overwrite.")


def _differences(stored: JsonObject, manifest: Manifest) -> Iterator[str]:
    """The settings in which two runs differ."""
    config = stored.get("config")
    config = config if isinstance(config, dict) else {}
    for name in sorted({*config, *manifest.config}):
        if config.get(name) != manifest.config.get(name):
            yield name
    if stored.get("inputs") != dict(manifest.inputs):
        yield "input files"


def _holds_nothing(folder: Path, stored: JsonObject) -> bool:
    """Whether an unfinished run has neither a record nor a verdict that was paid for, as one that was refused by its
    model's server."""
    kind = _kind_of(stored)
    if stored.get("status") == "finished" or (kind is not None and kind.has_parts(folder)):
        return False
    results, pairs = folder / RESULTS, folder / PAIRS
    if has_part_files(results) or has_part_files(pairs) or any(each.is_dir() for each in (results, pairs)):
        return False
    if results.exists() and any(whole_lines(results, None)):
        return False
    paid = (pair is not None and _is_paid(pair) for pair in Kept(pairs, None).read(pair_from_json, run_key))
    return not any(paid) and not _has_verdicts(folder / VERDICTS)


def _is_paid(pair: Pair) -> bool:
    return pair.verdict.by in ("model", "cache")


def _has_verdicts(path: Path) -> bool:
    from metareview.judges.remote.cache import VerdictCache

    if not path.exists():
        return False
    cache = VerdictCache(path)
    try:
        return cache.info().entries > 0
    finally:
        cache.close()


# Deleting


def remove_run(folder: Path) -> None:
    """Delete what the run in this folder wrote, but for its manifest, which stays until it is replaced, and people's
    labels. UsageError, and nothing is deleted, where a file with a name of ours is none of the run's."""
    stored = stored_manifest(folder)
    if stored is None:
        return
    names = _written_by(folder, stored)
    for name in (*CHECKED_FILES, FRAME, UNLISTED):
        if name not in names and ((folder / name).exists() or has_part_files(folder / name)):
            raise UsageError(
                f"{folder / name} was not written by the run in that folder, and only what a run wrote is replaced."
                " Move it away, or choose another --out."
            )
    for name in (*names, *VERDICT_FILES):
        (folder / name).unlink(missing_ok=True)
        if name in (RESULTS, PAIRS):
            remove_parts(folder / name)
    if kind := _kind_of(stored):
        kind.remove_parts(folder)


def _kind_of(stored: JsonObject) -> Kind[Any, Any] | None:
    """The kind that a manifest names; None where it names none of ours."""
    name = stored.get("kind")
    return kind_named(name) if isinstance(name, str) and name in KINDS else None


def _written_by(folder: Path, stored: JsonObject) -> list[str]:
    """Which of our files a run has, or may have while it is not finished, with what was drawn from it."""
    drawn = [name for name in (FRAME, UNLISTED) if _is_drawn(folder / name)]
    files = stored.get("files")
    if stored.get("status") == "finished" and isinstance(files, dict):
        folders = {name.partition("/")[0] for name in files}
        return [*drawn, *(name for name in CHECKED_FILES if name in files or parts_of(Path(name)).name in folders)]
    return [*drawn, RESULTS, SUMMARY, *([PAIRS, EXAMPLES] if stored.get("kind") == COMMENTS.name else [])]


def _is_drawn(path: Path) -> bool:
    """Whether it is a sample that was drawn to be labelled, and not somebody's own file of that name."""
    try:
        return str(read_json(path).get("schema")).startswith("metareview.")
    except (OSError, ValueError):
        return False


def remove_left_over(folder: Path) -> None:
    """Delete what processes that were killed left beside the files that they were writing. The folder is locked."""
    for each in list(folder.iterdir()):
        if _is_left_over(each):
            with suppress(OSError):
                each.unlink()
    for name in (RESULTS, PAIRS):
        remove_unfinished_parts(folder / name)


def _is_left_over(path: Path) -> bool:
    named = _BESIDE.fullmatch(path.name)
    if named is None or path.is_symlink() or not path.is_file():
        return False
    if named[1] in (FRAME, UNLISTED):  # Written without the lock.
        return time.time() - path.stat().st_mtime > _ABANDONED
    return named[1] in _UNDER_LOCK
