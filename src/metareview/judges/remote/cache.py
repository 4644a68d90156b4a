"""The verdict cache: the answers of models, so that none is paid for twice.

One SQLite file in WAL mode, values in JSON. A verdict is committed before it is handed on: a process that is killed
loses nothing that it reported. Several processes may share the file: who is about to ask claims the keys first, so that
no other process asks for them meanwhile. A claim is a lease, renewed for as long as its owner asks. Notes are stored
only as hashes; errors never.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sqlite3
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from metareview.errors import UsageError
from metareview.judges.protocol import Parameters
from metareview.judges.remote.answers import JsonObject, parse

_APPLICATION = 0x6D727663  # "mrvc": tells our file from other programs' databases
_BUSY_SECONDS = 30.0
_SERVER = "server TEXT NOT NULL DEFAULT ''"
_COUNTS = "SELECT judge, model, count(*), server FROM verdicts GROUP BY 1, 2, 4 ORDER BY 1, 2, 4"
_LEASES_AHEAD = 2  # clocks of two machines may differ by up to a lease
_CLAIMS = "CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL)"


def default_cache_path() -> Path:
    """`verdicts.sqlite` in the folder that the platform has for a user's cache."""
    from platformdirs import user_cache_path

    return user_cache_path("metareview", appauthor=False, opinion=False) / "verdicts.sqlite"


def verdict_key(judge: str, model: str, server: str, prompt: str, parameters: Parameters, notes: Sequence[str]) -> str:
    """A hash of everything that can change the answer: SHA-256 over canonical JSON."""
    parts = {"judge": judge, "model": model, "server": server, "prompt": prompt, "parameters": dict(parameters)}
    parts["notes"] = list(notes)
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class CacheCount:
    """The number of answers of one judge with one model of one server."""

    judge: str
    model: str
    entries: int
    server: str = ""
    """Empty: kept by an earlier version, which did not ask whose answers they are. They are never used."""


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """A cache's place, size and content."""

    path: str
    entries: int
    bytes: int
    by: tuple[CacheCount, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """The result of claiming keys: values that are there by now, and keys that are the caller's to ask for. Other
    processes are asking for the rest."""

    known: Mapping[str, JsonObject]
    mine: frozenset[str]


class VerdictCache:
    """A file of verdicts, safe for threads and for several processes. Opened at first use, and again after `close`."""

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = default_cache_path() if path is None else Path(path)
        self._owner = f"{_node()}/{os.getpid()}/{uuid4().hex}"
        self._claiming = False
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def get_many(self, keys: Sequence[str]) -> dict[str, JsonObject]:
        """The values that are there, by key. A value that is not a JSON object counts as absent."""
        if not keys or not self._exists():
            return {}
        with self._open() as connection:
            return self._values(connection, keys)

    def put(self, key: str, value: JsonObject, *, judge: str, model: str, server: str = "") -> None:
        """Stores a value, committed when this returns. `judge`, `model` and `server` are what `info` counts by."""
        text = json.dumps(value, separators=(",", ":"), allow_nan=False)
        with self._open() as connection, _transaction(connection):
            if not _has_servers(connection):
                connection.execute(f"ALTER TABLE verdicts ADD COLUMN {_SERVER}")
            row = (key, judge, model, text, server)
            connection.execute(
                "INSERT OR REPLACE INTO verdicts (key, judge, model, value, server) VALUES (?, ?, ?, ?, ?)", row
            )
            if self._claiming:
                connection.execute("DELETE FROM claims WHERE key = ?", [key])

    def claim(self, keys: Sequence[str], seconds: float) -> Claim:
        """Claim keys that are neither answered nor claimed.

        A claim ends with its answer, `release`, `close`, its process, or so many seconds after it was last renewed. One
        that would last more than twice as long is of a clock that is ahead, and does not count: it might never end.
        """
        now = time.time()
        with self._open() as connection, _transaction(connection):
            if not self._claiming:
                connection.execute(_CLAIMS)
                connection.execute("DELETE FROM claims WHERE until < ?", [now])
                self._claiming = True
            known = self._values(connection, keys)
            rows = connection.execute(
                "SELECT key, owner FROM claims WHERE until BETWEEN ? AND ? AND key IN (SELECT value FROM json_each(?))",
                [now, now + _LEASES_AHEAD * seconds, json.dumps(keys)],
            ).fetchall()
            others = {key for key, owner in rows if owner != self._owner and _may_be_alive(owner)}
            mine = [key for key in keys if key not in known and key not in others]
            claims = [(key, self._owner, now + seconds) for key in mine]
            connection.executemany("INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", claims)
        return Claim(known, frozenset(mine))

    def renew(self, seconds: float) -> None:
        """Extend the claims of this cache's owner to so many seconds from now."""
        if self._claiming:
            with self._open() as connection:
                connection.execute("UPDATE claims SET until = ? WHERE owner = ?", [time.time() + seconds, self._owner])

    def release(self, keys: Iterable[str]) -> None:
        """Give up claims of this cache's owner that got no answer."""
        with self._open() as connection, _transaction(connection):
            rows = [(key, self._owner) for key in keys]
            connection.executemany("DELETE FROM claims WHERE key = ? AND owner = ?", rows)

    def info(self) -> CacheInfo:
        """The content of the cache; creates nothing."""
        by: tuple[CacheCount, ...] = ()
        if self._exists():
            with self._open() as connection:
                rows = connection.execute(_COUNTS if _has_servers(connection) else _COUNTS.replace("server", "''"))
                by = tuple(CacheCount(*row) for row in rows)
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
                if self._claiming:
                    with suppress(sqlite3.Error):  # a full disk, say: claims also end by themselves
                        self._connection.execute("DELETE FROM claims WHERE owner = ?", [self._owner])
                    self._claiming = False
                self._connection.close()
                self._connection = None

    @staticmethod
    def _values(connection: sqlite3.Connection, keys: Sequence[str]) -> dict[str, JsonObject]:
        query = "SELECT key, value FROM verdicts WHERE key IN (SELECT value FROM json_each(?))"
        rows = connection.execute(query, [json.dumps(keys)]).fetchall()
        return {key: value for key, text in rows if isinstance(value := parse(text), dict)}

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
                    if "full" in str(error):
                        fix = "Free space there, or choose another file with --cache FILE. What was answered is kept."
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
            f" judge TEXT NOT NULL, model TEXT NOT NULL, value TEXT NOT NULL, {_SERVER}) WITHOUT ROWID"
        )
        connection.execute("COMMIT")


def _has_servers(connection: sqlite3.Connection) -> bool:
    """True if the file has the servers of its answers: those of earlier versions do not."""
    query = "SELECT count(*) FROM pragma_table_info('verdicts') WHERE name = 'server'"
    return bool(connection.execute(query).fetchone()[0])


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction: all or nothing, and no other writer meanwhile."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):  # some errors end the transaction by themselves
            connection.execute("ROLLBACK")
        raise


def _node() -> str:
    """The scope of process numbers: this machine, or this container of it, which may share the machine's name."""
    with suppress(OSError):
        return f"{platform.node()} {Path('/proc/self/ns/pid').readlink()}"
    return platform.node()


def _may_be_alive(owner: str) -> bool:
    """True if the process that claimed a key may still be running: on this machine we can look."""
    node, process, _ = owner.rsplit("/", 2)
    if node != _node() or sys.platform == "win32":
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it is another user's
    return True


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
