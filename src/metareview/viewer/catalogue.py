"""The runs below a folder: found, named, and opened when asked for.

A run's name in addresses is made from where it lies and looked up here, so that no path of an address is ever opened.
Links are not followed, and a run whose files lead out of the folder is not read.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from weakref import finalize

from metareview.comparison.competitors import main_measure
from metareview.errors import InputError, MetareviewError
from metareview.formats.checksums import SCHEMA
from metareview.report import outcomes
from metareview.report.numbers import ranked
from metareview.runs.files import MANIFEST, PAIRS, RESULTS, SUMMARY, read_json
from metareview.runs.labels import FRAME, LABELS, UNLISTED
from metareview.runs.parts import count_rows, has_parts, parts_of, parts_there
from metareview.runs.run import AnyRun, is_outcomes, load_run
from metareview.temporary import TemporaryFolder
from metareview.viewer.index import Index
from metareview.viewer.run_view import RunView

FINISHED, RUNNING, STOPPED, BROKEN = STATUSES = ("finished", "running", "stopped", "broken")
"""Stopped: not finished, and nothing has been written for a while."""
QUIET_SECONDS = 600
"""How long a running run may write nothing before it is held to be stopped."""
DEEPEST, MOST_FOLDERS, MOST_RUNS = 5, 20_000, 2_000
MOST_OPEN = 12
"""Runs whose index is kept."""
_LARGEST = {MANIFEST: 32 << 20, SUMMARY: 256 << 20, LABELS: 256 << 20, FRAME: 256 << 20, UNLISTED: 256 << 20}
"""Files that are read whole."""
_FILES = (MANIFEST, RESULTS, PAIRS, SUMMARY, LABELS, FRAME, UNLISTED)
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
Stamp = tuple[tuple[int, int] | None, ...]


@dataclass(frozen=True)
class Entry:
    """A run as the list shows it."""

    id: str
    folder: Path
    place: str
    """Where it lies below the folder that is shown."""
    status: str
    kind: str = ""
    started: str = ""
    names: tuple[str, ...] = ()
    """Reviewers or routers, the best first; of outcomes those with the most comments first."""
    measure: str = ""
    figure: float | None = None
    """The first one's main figure."""
    records: int | None = None
    problem: str = ""
    """Why it is broken, with the fix."""


@dataclass
class _Counter:
    """Lines of a file that grows, counted as they come."""

    size: int = 0
    lines: int = 0

    def count(self, path: Path) -> int:
        try:
            with path.open("rb") as file:
                if os.fstat(file.fileno()).st_size < self.size:
                    self.size = self.lines = 0
                file.seek(self.size)
                while part := file.read(1 << 20):
                    self.size += len(part)
                    self.lines += part.count(b"\n")
        except OSError:
            return self.lines
        return self.lines


@dataclass
class Catalogue:
    """All runs below `root`, or the one that it is. `token` is what forms of its pages must send."""

    root: Path
    token: str
    _known: dict[Path, tuple[Stamp, Entry]] = field(default_factory=dict)
    _counters: dict[Path, _Counter] = field(default_factory=dict)
    _open: dict[str, tuple[Stamp, RunView]] = field(default_factory=dict)
    _locks: dict[str, Lock] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.root = self.root.resolve()
        folder = TemporaryFolder()
        self._indexes = folder.path
        self._removed = finalize(self, folder.remove)
        self._indexed = 0

    def close(self) -> None:
        for _, view in self._open.values():
            view.index.close()
        self._removed()

    def abandon(self) -> None:
        """The same where somebody may still be reading, and nobody will be: no index is waited for."""
        self._removed()

    # The list

    def entries(self) -> dict[str, Entry]:
        """The runs as they are now, by id; those that did not change are not read again."""
        with self._lock:
            found = {entry.id: entry for entry in map(self._entry, _run_folders(self.root))}
            self._known = {entry.folder: self._known[entry.folder] for entry in found.values()}
            return found

    def _entry(self, folder: Path) -> Entry:
        stamp = _stamp(folder)
        before = self._known.get(folder)
        # A run that is not finished is looked at again: it is quiet sooner or later, and counts its records.
        if before is None or before[0] != stamp or before[1].status in (RUNNING, STOPPED):
            place = folder.relative_to(self.root).as_posix()
            name = run_id(place if folder != self.root else self.root.name)
            self._known[folder] = stamp, self._read(folder, name, place if folder != self.root else folder.name)
        return self._known[folder][1]

    def _read(self, folder: Path, name: str, place: str) -> Entry:
        try:
            check_files(folder, self.root)
            stored = read_json(folder / MANIFEST)
            if stored.get("status") != RUNNING or stored.get("schema") != SCHEMA:
                return _finished(load_run(folder, by_size=True), Entry(name, folder, place, FINISHED))
            kind, started = (text if isinstance(text := stored.get(key), str) else "" for key in ("kind", "started"))
            status = STOPPED if _quiet(folder) > QUIET_SECONDS else RUNNING
            if has_parts(folder / RESULTS):
                records = count_rows(parts_of(folder / RESULTS))
            else:
                records = self._counters.setdefault(folder, _Counter()).count(folder / RESULTS)
            return Entry(name, folder, place, status, kind, started, records=records)
        except MetareviewError as error:
            return Entry(name, folder, place, BROKEN, problem=str(error))
        except (OSError, ValueError, RecursionError) as error:
            problem = InputError(
                f"its manifest cannot be read ({type(error).__name__})",
                file=folder / MANIFEST,
                fix="Delete the folder, then run the evaluation again.",
            )
            return Entry(name, folder, place, BROKEN, problem=str(problem))

    # One run

    def open(self, entry: Entry) -> RunView:
        """A finished run with its index, built if it is not there or no longer fits; InputError for any other."""
        with self._lock:
            lock = self._locks.setdefault(entry.id, Lock())
        with lock:
            check_files(entry.folder, self.root)
            stamp = _stamp(entry.folder)
            if (known := self._open.get(entry.id)) and known[0] == stamp:
                return known[1]
            run = load_run(entry.folder)
            with self._lock:
                self._indexed += 1
                file = self._indexes / f"{self._indexed}.sqlite"
            view = RunView(entry.id, entry.folder, run, Index(entry.folder, file, run.kind.name), self.token)
            with self._lock:
                self._forget(entry.id)
                self._open[entry.id] = stamp, view
                if len(self._open) > MOST_OPEN:
                    self._forget(next(iter(self._open)))
            return view

    def _forget(self, name: str) -> None:
        """Somebody may still be reading it: its database is closed when nobody is."""
        self._open.pop(name, None)


def run_id(place: str) -> str:
    """A run's name in addresses: where it lies, and where that is no plain name a hash with it.

    >>> run_id("demo"), run_id("team/../a b")[:10]
    ('demo', 'team-a-b-7')
    """
    if _PLAIN.fullmatch(place) and ".." not in place:
        return place
    plain = re.sub(r"[^A-Za-z0-9_]+", "-", place).strip("-")[:60] or "run"
    return f"{plain}-{hashlib.sha256(place.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def check_files(folder: Path, root: Path) -> None:
    """InputError where a file of a run is none, is too large to be one, or leads out of the folder that is shown."""
    for name in _FILES:
        path = folder / name
        try:
            found = path.lstat()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", file=path, fix="Check its rights.") from None
        if stat.S_ISLNK(found.st_mode) or not path.resolve().is_relative_to(root):
            raise InputError(
                "leads elsewhere, and the viewer follows no links", file=path, fix="Put the file itself there."
            )
        if not stat.S_ISREG(found.st_mode):
            raise InputError("not a file", file=path, fix="Run the evaluation again with --overwrite.")
        if found.st_size > _LARGEST.get(name, found.st_size):
            raise InputError("too large to be a run's", file=path, fix="Run the evaluation again with --overwrite.")
    for parts in (parts_of(folder / name) for name in (RESULTS, PAIRS)):
        if parts.is_symlink() or (parts.is_dir() and not parts.resolve().is_relative_to(root)):
            raise InputError(
                "leads elsewhere, and the viewer follows no links", file=parts, fix="Put the parts themselves there."
            )
        if parts.is_dir():
            parts_there(parts)


def _finished(run: AnyRun, entry: Entry) -> Entry:
    if is_outcomes(run):  # nobody is the best there: whoever says most comes first
        measure, names = outcomes.main_measure(run.result).name, outcomes.order(run.result)
    else:
        measure = main_measure(run)
        names = ranked(run.metrics, measure)
    label = next((each.label for each in run.result.measures if each.name == measure), measure)
    return Entry(
        entry.id,
        entry.folder,
        entry.place,
        entry.status,
        run.kind.name,
        str(run.manifest.started),
        tuple(names),
        label,
        run.metrics[names[0]][measure] if names else None,
        run.manifest.records,
    )


def _stamp(folder: Path) -> Stamp:
    """What changes when a run's files do; labels are read anew each time anyway."""
    return tuple(_state(folder / name) for name in (MANIFEST, RESULTS, PAIRS, SUMMARY))


def _state(path: Path) -> tuple[int, int] | None:
    """The size, and when it was last changed; of parts in its place all sizes together, and the last change."""
    try:
        found = [path.stat()] if not has_parts(path) else [each.stat() for each in parts_of(path).iterdir()]
    except OSError:
        return None
    return sum(each.st_size for each in found), max((each.st_mtime_ns for each in found), default=0)


def _quiet(folder: Path) -> float:
    """Seconds since something was last written."""
    states = [_state(folder / name) for name in (MANIFEST, RESULTS, PAIRS)]
    return time.time() - max((each[1] for each in states if each is not None), default=0) / 1e9


def _run_folders(root: Path) -> Iterator[Path]:
    """Folders with a manifest, those of one folder in order of their names; nothing below a run, and no links."""
    waiting = [(root, 0)]
    seen = found = 0
    while waiting and found < MOST_RUNS and seen < MOST_FOLDERS:
        folder, depth = waiting.pop()
        seen += 1
        if (folder / MANIFEST).is_file() or (folder / MANIFEST).is_symlink():
            found += 1
            yield folder
            continue
        if depth < DEEPEST:
            waiting += [(Path(each), depth + 1) for each in sorted(_folders(folder), reverse=True)]


def _folders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as found:
            return [each.path for each in found if each.is_dir(follow_symlinks=False) and not each.name.startswith(".")]
    except OSError:
        return []


Entries = Mapping[str, Entry]
