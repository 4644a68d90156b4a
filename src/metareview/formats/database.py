"""SQLite files as inputs: opened read-only in one transaction, while other processes may write."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote

from metareview.errors import InputError
from metareview.formats.input_file import InputFile

MAGIC = b"SQLite format 3\0"
WAIT_SECONDS = 5.0
"""How long to wait for another process that holds the file."""
_BATCH = 10_000
_UNREADABLE = (sqlite3.Error, UnicodeError)
"""UnicodeError: a damaged file can give names, and even messages, that are not text."""

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Database:
    """The tables of a file; errors are InputErrors that name the table."""

    file: InputFile
    connection: sqlite3.Connection
    columns: dict[str, frozenset[str]]
    """The columns of each table. Views are left out: one could be made to run for ever."""

    def batches(self, table: str, needed: Sequence[str], others: Sequence[str] = ()) -> Iterator[list[Row]]:
        """All rows, with these columns, in batches; one of the `others` that the table lacks is None in each row.

        InputError where the table, or a column that is needed, is missing.
        """
        if table not in self.columns:
            self.fail(f"table {table} is missing", "Give a history.sqlite that the harness's ingestion has written.")
        known = self.columns[table]
        for name in needed:
            if name not in known:
                self.fail(f"table {table} has no column {name}", f"It has {', '.join(sorted(known))}.")
        selected = ", ".join(name if name in known else f"null as {name}" for name in (*needed, *others))
        try:
            cursor = self.connection.execute(" ".join(("select", selected, "from", table)))
            while batch := cursor.fetchmany(_BATCH):
                yield batch
        except _UNREADABLE as error:
            raise _refusal(self.file, error, f"table {table}: ") from None

    def fail(self, problem: str, fix: str) -> NoReturn:
        raise InputError(problem, file=self.file.name, fix=fix)


@contextmanager
def open_database(file: InputFile) -> Iterator[Database]:
    """The tables as of now, whatever is written meanwhile; InputError where they cannot be read."""
    connection: sqlite3.Connection | None = None
    try:
        try:
            connection, columns = _connect(file.path, "mode=ro")
        except sqlite3.OperationalError as error:
            # In a read-only folder SQLite cannot look for a log; there is none, so the file cannot change.
            if "unable to open" not in str(error) or not file.path.exists() or _has_log(file.path):
                raise
            connection, columns = _connect(file.path, "immutable=1")
        yield Database(file, connection, columns)
    except _UNREADABLE as error:
        raise _refusal(file, error) from None
    finally:
        if connection is not None:
            connection.close()


def _connect(path: Path, how: str) -> tuple[sqlite3.Connection, dict[str, frozenset[str]]]:
    address = f"file:{quote(os.fsencode(path.absolute()))}?{how}"
    connection = sqlite3.connect(address, uri=True, timeout=WAIT_SECONDS, isolation_level=None)
    try:
        connection.execute("pragma trusted_schema = off")
        connection.execute("begin")  # The snapshot is taken by the next line.
        tables = connection.execute("select name, sql from sqlite_master where type = 'table'").fetchall()
        plain = [name for name, sql in tables if isinstance(name, str) and str(sql).lower().startswith("create table")]
        known = "select name from pragma_table_info(?)"
        return connection, {name: frozenset(row[0] for row in connection.execute(known, (name,))) for name in plain}
    except BaseException:
        connection.close()
        raise


def _has_log(path: Path) -> bool:
    logs = (Path(f"{path}{suffix}") for suffix in ("-wal", "-journal"))
    return any(log.exists() and log.stat().st_size for log in logs)


def _refusal(file: InputFile, error: sqlite3.Error | UnicodeError, where: str = "") -> InputError:
    text = str(error)
    if "locked" in text or "busy" in text:
        problem = f"another process holds it ({text}; waited {WAIT_SECONDS:g} s)"
        return InputError(problem, file=file.name, fix="Wait until it is done, or give a copy of the file.")
    if "decode" in text:
        return InputError(f"{where}text that is not UTF-8", file=file.name, fix="Run the ingestion again.")
    if "unable to open" in text or "readonly" in text or "read-only" in text:
        fix = "Check permissions; what is in its -wal or -journal file must be readable with it."
        return InputError(f"{where}cannot be opened to be read: {text}", file=file.name, fix=fix)
    fix = "Check it with `pragma integrity_check`, or run the ingestion again."
    return InputError(f"{where}not readable as SQLite: {text}", file=file.name, fix=fix)
