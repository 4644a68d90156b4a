"""The verdict cache: what a model was asked and answered, so that nobody pays for it twice.

One SQLite file in WAL mode, values in JSON. A verdict is committed before it is handed on: a process that is killed
loses nothing that it reported. Several processes may share the file. Notes are stored only as hashes; errors never.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from metareview.errors import UsageError
from metareview.judges.protocol import Parameters
from metareview.judges.remote.verdict import JsonObject, parse

_APPLICATION = 0x6D727663  # "mrvc": tells our file from other programs' databases
_BUSY_SECONDS = 30.0


def default_cache_path(environ: Mapping[str, str] | None = None, platform: str = sys.platform) -> Path:
    """`verdicts.sqlite` in the user's cache folder, where the platform keeps such folders."""
    environ = os.environ if environ is None else environ
    if platform == "win32":
        base = Path(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif environ.get("XDG_CACHE_HOME", "").startswith("/"):  # a relative one is invalid by its specification
        base = Path(environ["XDG_CACHE_HOME"])
    elif platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path.home() / ".cache"
    return base / "metareview" / "verdicts.sqlite"


def verdict_key(judge: str, model: str, prompt: str, parameters: Parameters, notes: Sequence[str]) -> str:
    """A hash of everything that can change the answer: SHA-256 over canonical JSON."""
    parts = {"judge": judge, "model": model, "prompt": prompt, "parameters": dict(parameters), "notes": list(notes)}
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class CacheCount:
    """How many answers of one judge with one model a cache holds."""

    judge: str
    model: str
    entries: int


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """Where a cache is, how large its file is, and what it holds."""

    path: str
    entries: int
    bytes: int
    by: tuple[CacheCount, ...] = ()


class VerdictCache:
    """A file of verdicts, safe for threads and for several processes. Opened at first use, and again after `close`."""

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = default_cache_path() if path is None else Path(path)
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def get_many(self, keys: Sequence[str]) -> dict[str, JsonObject]:
        """The values that are there, by key. A value that is not a JSON object counts as absent."""
        if not keys or not self._exists():
            return {}
        query = "SELECT key, value FROM verdicts WHERE key IN (SELECT value FROM json_each(?))"
        with self._open() as connection:
            rows = connection.execute(query, [json.dumps(keys)]).fetchall()
        return {key: value for key, text in rows if isinstance(value := parse(text), dict)}

    def put(self, key: str, value: JsonObject, *, judge: str, model: str) -> None:
        """Stores a value, committed when this returns. `judge` and `model` are what `info` counts by."""
        text = json.dumps(value, separators=(",", ":"), allow_nan=False)
        with self._open() as connection:
            connection.execute("INSERT OR REPLACE INTO verdicts VALUES (?, ?, ?, ?)", (key, judge, model, text))

    def info(self) -> CacheInfo:
        """What it holds; creates nothing."""
        by: tuple[CacheCount, ...] = ()
        if self._exists():
            query = "SELECT judge, model, count(*) FROM verdicts GROUP BY judge, model ORDER BY judge, model"
            with self._open() as connection:
                by = tuple(CacheCount(*row) for row in connection.execute(query))
        files = (self.path, Path(f"{self.path}-wal"))
        size = sum(file.stat().st_size for file in files if file.exists())
        return CacheInfo(str(self.path), entries=sum(count.entries for count in by), bytes=size, by=by)

    def clear(self) -> int:
        """Removes every entry and gives the space back; how many there were. Other processes may go on."""
        if not self._exists():
            return 0
        with self._open() as connection:
            removed = connection.execute("DELETE FROM verdicts").rowcount
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return removed

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _exists(self) -> bool:
        return os.access(self.path, os.F_OK)  # not in a folder that may not be searched either: writing will say so

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                if self._connection is None:
                    self._connection = self._connect()
                yield self._connection
            except sqlite3.DatabaseError as error:
                problem = f"{self.path} is not a verdict cache ({error})."
                fix = "Delete it if you do not need it, or choose another file with --cache FILE."
                if isinstance(error, sqlite3.OperationalError) and "no such" not in str(error):
                    problem = f"the verdict cache {self.path} cannot be used ({error})."
                    fix = "Make it writable, choose another file with --cache FILE, or use --no-cache."
                raise UsageError(f"{problem} {fix}") from None

    def _connect(self) -> sqlite3.Connection:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            problem = f"the cache folder {self.path.parent} cannot be made ({error.strerror})."
            raise UsageError(f"{problem} Choose another file with --cache FILE, or use --no-cache.") from None
        connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        # Survives a killed process, if not always a power cut.
        connection.execute("PRAGMA synchronous = NORMAL")
        [tables] = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables:
            if connection.execute("PRAGMA application_id").fetchone() != (_APPLICATION,):
                raise sqlite3.DatabaseError("it is another program's database")
            return
        _switch_to_wal(connection)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS verdicts (key TEXT PRIMARY KEY,"
            " judge TEXT NOT NULL, model TEXT NOT NULL, value TEXT NOT NULL) WITHOUT ROWID"
        )
        connection.execute("COMMIT")


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """The switch needs the file for itself, and SQLite does not wait for it: several may start at once."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
