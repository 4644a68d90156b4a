"""Writes a run's folder: appended to while running, continued after a kill, never half-written.

    manifest.json   configuration, input hashes, versions, seed, status
    results.jsonl   one record per pull request and reviewer
    pairs.jsonl     every judged pair
    summary.json    what --json prints
    examples.jsonl  the known verdicts that the judge was given, if any

On a cluster the two files of lines are folders of Parquet parts; see parts.py.

A record is written after its pairs, so a record that is in the file has all its pairs; whatever a kill left behind
it is dropped when the run goes on.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Generic, TextIO

from metareview.comments.records import PairBlock
from metareview.errors import UsageError
from metareview.judges.known import KnownVerdict
from metareview.model.build_gates import GateResult
from metareview.runs.files import (
    EXAMPLES,
    MANIFEST,
    PAIRS,
    PARTS,
    RESULTS,
    SUMMARY,
    VERDICT_FILES,
    FolderLock,
    JsonObject,
    count_lines,
    read_json,
    read_lines,
    write_json,
    write_lines,
    written_to,
)
from metareview.runs.judge_json import known_to_json
from metareview.runs.labels import FRAME, UNLISTED
from metareview.runs.parts import has_lines, has_parts, parts_of, remove_parts
from metareview.runs.run import SCHEMA, Key, Kind, Manifest, RecordT, Run, SummaryT, load_run, now


class RunWriter(AbstractContextManager["RunWriter[SummaryT, RecordT]"], Generic[SummaryT, RecordT]):
    """An open run. `done` holds the records that an earlier attempt completed; `finished` a finished run's answer."""

    def __init__(
        self,
        path: Path,
        kind: Kind[SummaryT, RecordT],
        config: JsonObject,
        inputs: Mapping[str, str],
        *,
        overwrite: bool = False,
        in_parts: bool = False,
    ) -> None:
        """`in_parts`: others write the lines, as parts, and begin anew where they were interrupted."""
        self.path, self.kind = path, kind
        self.done: dict[Key, RecordT] = {}
        self.answered = 0
        """Pairs of `done` that a model had answered: this run need not ask again."""
        self.finished: Run[SummaryT, RecordT] | None = None
        self._resumed = False
        self._undecided = False  # whether a record will be made again, and wants the verdicts that it got
        self._files: dict[str, TextIO] = {}
        self._manifest = Manifest(kind.name, config, inputs, started=now())
        with written_to(path):
            before = _stored_manifest(path, overwrite)
            if before is not None:
                _check_same(path, before, self._manifest)
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = FolderLock(self.path)
            if before is not None and in_parts:
                self._take_up_parts(before)
            elif before is None:
                # Labels are people's work and stay; a label holds for the notes that it names.
                for name in (RESULTS, PAIRS, SUMMARY, EXAMPLES, FRAME, UNLISTED, *VERDICT_FILES):
                    (self.path / name).unlink(missing_ok=True)
                self._remove_parts()
                shutil.rmtree(self.path / PARTS, ignore_errors=True)
                self._write_manifest()
            else:
                self._take_up(before)

    def _take_up(self, before: JsonObject) -> None:
        self._manifest = replace(self._manifest, started=before.get("started") or self._manifest.started)
        is_complete = self.kind.is_complete
        finished = before.get("status") == "finished" and (self.path / SUMMARY).exists()
        if finished and is_complete is None and count_lines(self.path / RESULTS) == before.get("records"):
            self.finished = load_run(self.path)  # There may be a million, and none need be looked at.
            return
        records = {self.kind.key(record): self.kind.light(record) for record in self._complete_records()}
        if finished and len(records) == before.get("records"):
            self.finished = load_run(self.path)
            return
        self.done = records
        if has_lines(self.path / PAIRS):  # A routing run has none.
            write_lines(self.path / PAIRS, self._kept_pairs())
        write_lines(self.path / RESULTS, map(self.kind.record_to_json, self._complete_records()))
        self._remove_parts()
        (self.path / SUMMARY).unlink(missing_ok=True)
        self._write_manifest()

    def _complete_records(self) -> Iterator[RecordT]:
        """Those that need not be made again, one after the other: all at once may be more than memory holds."""
        is_complete = self.kind.is_complete
        return (record for record in self._records() if is_complete is None or is_complete(record))

    def _records(self) -> Iterator[RecordT]:
        return map(self.kind.record_from_json, read_lines(self.path / RESULTS))

    def _take_up_parts(self, before: JsonObject) -> None:
        """A finished run is taken as it is, whatever its lines are in: there may be more than memory holds."""
        finished = before.get("status") == "finished" and (self.path / SUMMARY).exists()
        if finished and count_lines(self.path / RESULTS) == before.get("records"):
            self.finished = load_run(self.path)
            return
        for name in (RESULTS, PAIRS, SUMMARY):
            (self.path / name).unlink(missing_ok=True)
        self._remove_parts()
        shutil.rmtree(self.path / PARTS, ignore_errors=True)
        self._write_manifest()

    def parts_folder(self, name: str) -> Path:
        """Where parts of this file of lines go; it is made, so that whoever writes them finds it."""
        with written_to(self.path):
            parts_of(self.path / name).mkdir(exist_ok=True)
        return parts_of(self.path / name)

    def finish_written(self, result: SummaryT, records: int) -> Run[SummaryT, RecordT]:
        """Write the summary of a run whose lines others have written, as Parquet parts."""
        return self._finish(result, records)

    def _remove_parts(self) -> None:
        for name in (RESULTS, PAIRS):
            remove_parts(self.path / name)

    def _kept_pairs(self) -> Iterator[JsonObject]:
        """The pairs of the records that are done, counted as they go by: there may be a million."""
        for row in read_lines(self.path / PAIRS):
            if _key_of(row) in self.done:
                self.answered += row["by"] in ("model", "cache")
                yield row

    def keep_examples(self, verdicts: Iterable[KnownVerdict]) -> None:
        """Freeze what the judge was given, so that the run can be repeated without the files that it came from."""
        with written_to(self.path):
            write_lines(self.path / EXAMPLES, map(known_to_json, verdicts))

    def append(self, record: RecordT, pairs: Iterable[PairBlock] = ()) -> None:
        """The end of its line last: a record is only there when its pairs are."""
        self._resumed |= bool(self.done)
        self._undecided |= self.kind.is_complete is not None and not self.kind.is_complete(record)
        with written_to(self.path):
            for name, text in self.kind.pieces(record, pairs):
                self._open(name).write(text)
            for file in self._files.values():
                file.flush()
            self._open(RESULTS).write("\n")
            self._open(RESULTS).flush()

    def append_lines(self, lines: Iterable[tuple[str, bytes]]) -> None:
        """Whole lines of several records and their pairs, by the file that they go into: pairs first."""
        self._resumed |= bool(self.done)
        with written_to(self.path):
            for name, text in lines:
                file = self._open(name)
                file.flush()
                file.buffer.write(text)
                file.flush()

    def _open(self, name: str) -> TextIO:
        if name not in self._files:
            file = (self.path / name).open("a", encoding="utf-8", errors="backslashreplace", newline="\n")
            self._files[name] = file
        return self._files[name]

    def finish(self, result: SummaryT, order: Sequence[Key]) -> Run[SummaryT, RecordT]:
        """Write the summary last. A continued run is put into the order that an unbroken one has."""
        with written_to(self.path):
            self._close_files()
            if self._resumed:
                self._sort(order)
        return self._finish(result, len(order))

    def _finish(self, result: SummaryT, records: int) -> Run[SummaryT, RecordT]:
        with written_to(self.path):
            write_json(self.path / SUMMARY, self.kind.summary_to_json(result, str(self.path)))
            for name in () if self._undecided else VERDICT_FILES:
                (self.path / name).unlink(missing_ok=True)
            self._manifest = replace(self._manifest, status="finished", finished=now(), records=records)
            self._write_manifest()
        return Run(self.kind, result, self._manifest, self.path)

    def finish_with_parts(self, result: SummaryT, lines: Callable[[], Iterable[bytes]]) -> Run[SummaryT, RecordT]:
        """The same of a run whose records are in parts already, in order, and whose parts go then.

        UsageError where the folder holds a finished run with other records.
        """
        results = self.path / RESULTS
        if self.finished is not None:
            # Those of a cluster are in another order: they are what they are.
            if not has_parts(results) and not _same_bytes(results, lines()):
                raise changed_since(self.path)
            shutil.rmtree(self.path / PARTS, ignore_errors=True)
            return Run(
                self.kind, result.with_gates(self.finished.result.build_gates), self.finished.manifest, self.path
            )
        with written_to(self.path):
            beside = self.path / f"{RESULTS}.new"
            records = 0
            with beside.open("wb") as file:
                for block in lines():
                    records += block.count(b"\n")
                    file.write(block)
            beside.replace(results)
            write_json(self.path / SUMMARY, self.kind.summary_to_json(result, str(self.path)))
            self._manifest = replace(self._manifest, status="finished", finished=now(), records=records)
            self._write_manifest()
            shutil.rmtree(self.path / PARTS, ignore_errors=True)
        return Run(self.kind, result, self._manifest, self.path)

    def _sort(self, order: Sequence[Key]) -> None:
        rank = {key: position for position, key in enumerate(order)}
        if _in_order(rank[self.kind.key(record)] for record in self._records()) and _in_order(
            rank[_key_of(row)] for row in read_lines(self.path / PAIRS)
        ):
            return  # As where one chunk is done after the other; there may be more than memory holds.
        if (self.path / PAIRS).exists():
            rows = sorted(read_lines(self.path / PAIRS), key=lambda row: rank[_key_of(row)])
            write_lines(self.path / PAIRS, rows)
        ordered = sorted(self._records(), key=lambda record: rank[self.kind.key(record)])
        write_lines(self.path / RESULTS, map(self.kind.record_to_json, ordered))

    def _write_manifest(self) -> None:
        write_json(self.path / MANIFEST, self._manifest.to_json())

    def _close_files(self) -> None:
        while self._files:
            self._files.popitem()[1].close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):  # what could not be written before cannot be now either, and has been said
            self._close_files()
        self._lock.release()


def check_place(folder: Path, overwrite: bool) -> bool:
    """Whether a run is there that must be the same one. UsageError where none can be put there, whatever it is:
    better said before hours of work than after."""
    with written_to(folder):
        stored = _stored_manifest(folder, overwrite)
        there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
        if not there.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(there, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if there is folder:
            FolderLock(folder).release()
    return stored is not None


def check_same_run(folder: Path, kind: Kind[SummaryT, RecordT], config: JsonObject, inputs: Mapping[str, str]) -> None:
    """UsageError where the folder holds another run than this one."""
    stored = _stored_manifest(folder, overwrite=False)
    if stored is not None:
        _check_same(folder, stored, Manifest(kind.name, config, inputs, started=now()))


def _stored_manifest(folder: Path, overwrite: bool) -> JsonObject | None:
    """The manifest of the run in this folder; None for a new run; UsageError where it holds anything else."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--out {folder} is a file. Name a folder.")
    if overwrite or not folder.exists() or not any(folder.iterdir()):
        return None
    try:
        stored = read_json(folder / MANIFEST)
    except (OSError, ValueError):
        stored = {}
    if stored.get("schema") != SCHEMA:
        raise UsageError(f"{folder} is not empty and holds no run. Choose another --out, or pass --overwrite.")
    return stored


def _check_same(folder: Path, stored: JsonObject, manifest: Manifest) -> None:
    if stored.get("fingerprint") != manifest.fingerprint:
        differing = ", ".join(_differences(stored, manifest)) or "something"
        raise UsageError(f"{folder} holds another run ({differing} differ). Choose another --out, or pass --overwrite.")


def _in_order(ranks: Iterable[int]) -> bool:
    return all(one <= other for one, other in pairwise(ranks))


def _key_of(row: JsonObject) -> Key:
    """That of the record of a pair."""
    return tuple(row[name] for name in ("pr", "reviewer", "run") if name in row)


def changed_since(folder: Path) -> UsageError:
    return UsageError(
        f"{folder} holds a run of the same inputs with other results: a router has changed since. "
        "Choose another --out, or pass --overwrite."
    )


def _same_bytes(path: Path, blocks: Iterable[bytes]) -> bool:
    with path.open("rb") as file:
        return all(file.read(len(block)) == block for block in blocks) and not file.read(1)


def _differences(stored: JsonObject, manifest: Manifest) -> Iterator[str]:
    """The settings in which two runs differ."""
    config = stored.get("config", {})
    for name in sorted({*config, *manifest.config}):
        if config.get(name) != manifest.config.get(name):
            yield name
    if stored.get("inputs") != dict(manifest.inputs):
        yield "input files"


def keep_gates(run: Run[SummaryT, RecordT], results: tuple[GateResult, ...]) -> Run[SummaryT, RecordT]:
    """The run with what came of its gates, in its folder too; without results it stays as it is."""
    if not results:
        return run
    judged = replace(run, result=run.result.with_gates(results))
    if run.folder is not None:
        try:
            write_json(run.folder / SUMMARY, judged.summary)
        except OSError as error:
            raise UsageError(f"Cannot write to {run.folder}: {error.strerror}. Free what is missing.") from None
    return judged
