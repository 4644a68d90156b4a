"""Writes a run's folder: appended to while running, continued after a kill, never half-written.

    manifest.json   configuration, input hashes, versions, seed, status
    results.jsonl   one record per pull request and reviewer
    pairs.jsonl     every judged pair
    summary.json    what --json prints
    examples.jsonl  the known verdicts that the judge was given, if any

On a cluster the two files of lines are folders of Parquet parts; see parts.py.

A record is written after its pairs, so a record that is in the file has all its pairs; whatever a kill left behind
it is dropped when the run goes on. The manifest of a finished run has the sizes and hashes of the others, and a run
that is damaged since is made whole by whoever begins it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, Generic

from metareview.comments.records import PairBlock
from metareview.errors import InputError, UsageError
from metareview.formats.checksums import Checksum, ChecksumBuilder, checksums_in, checksums_of
from metareview.judges.known import KnownVerdict
from metareview.model.build_gates import GateResult
from metareview.runs.comments_json import pair_from_json
from metareview.runs.files import (
    EXAMPLES,
    MANIFEST,
    PAIRS,
    RESULTS,
    SUMMARY,
    VERDICT_FILES,
    AppendedFile,
    FolderLock,
    JsonObject,
    read_lines,
    to_bytes,
    to_document,
    write_json,
    write_lines,
    write_whole,
    written_to,
)
from metareview.runs.judge_json import known_to_json
from metareview.runs.kind import Key, Kind, RecordT, SummaryT
from metareview.runs.links import refuse_links
from metareview.runs.parts import has_lines, has_parts, parts_of, remove_parts
from metareview.runs.place import remove_left_over, remove_run, run_to_continue, stored_manifest
from metareview.runs.run import Manifest, Run, load_run, now, run_key
from metareview.runs.salvage import Kept, with_all_pairs


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
        settings_from: str = "",
    ) -> None:
        """`in_parts`: others write the lines, as parts, and begin anew where they were interrupted."""
        self.path, self.kind = path, kind
        self.done: dict[Key, RecordT] = {}
        self.answered = 0
        """Pairs of `done` that a model had answered: this run need not ask again."""
        self.finished: Run[SummaryT, RecordT] | None = None
        self._resumed = False
        self._undecided = False  # whether a record will be made again, and wants the verdicts that it got
        self._files: dict[str, AppendedFile] = {}
        self._manifest = Manifest(kind.name, config, inputs, started=now(), settings_from=settings_from)
        with written_to(path):
            refuse_links(path)
            stored_manifest(path)
            path.mkdir(parents=True, exist_ok=True)
            self._lock = FolderLock(path)
            try:
                remove_left_over(path)
                before = None if overwrite else run_to_continue(path, self._manifest)
                if before is None:
                    # Labels are people's work and stay; a label holds for the notes that it names.
                    remove_run(path)
                    self._write_manifest()
                else:
                    self._take_up(before, in_parts=in_parts)
            except BaseException:
                self._lock.release()
                raise

    def _take_up(self, before: JsonObject, *, in_parts: bool) -> None:
        """A finished run that is whole and complete is taken as it is; else what there is of it is kept."""
        if isinstance(started := before.get("started"), str):
            self._manifest = replace(self._manifest, started=started)
        damaged = False
        if before.get("status") == "finished":
            is_complete = None if in_parts else self.kind.is_complete
            try:
                run = load_run(self.path)
                if is_complete is None or all(map(is_complete, run.read_run_records())):
                    self.finished = run
                    self._remove_replayed()
                    return
            except InputError:
                damaged = True
        checksums = checksums_in(before) if damaged else {}
        if in_parts or (damaged and self._costs_nothing(checksums)):
            self._remove(RESULTS, PAIRS)
            if in_parts:
                self._remove_replayed()
        else:
            self._keep_whole_records(checksums, damaged=damaged)
        self._remove(SUMMARY, EXAMPLES, *(() if self.kind.has_pairs else (PAIRS,)))
        self._write_manifest()

    def _costs_nothing(self, checksums: Mapping[str, Checksum]) -> bool:
        """Whether it may as well be made anew: nobody was asked, or it was made on a cluster, which asks nobody, and
        has parts, or lines beside them that it did not write."""
        here = [name for name in (RESULTS, PAIRS) if has_lines(self.path / name)]
        strange = bool(checksums) and any(name not in checksums for name in here)
        return self.kind.is_complete is None or strange or any(has_parts(self.path / name) for name in here)

    def _keep_whole_records(self, checksums: Mapping[str, Checksum], *, damaged: bool) -> None:
        """Those that need not be made again, with all their pairs."""
        kind, results, pairs = self.kind, self.path / RESULTS, self.path / PAIRS
        records, of_pairs = Kept(results, checksums.get(RESULTS)), Kept(pairs, checksums.get(PAIRS))

        def checked(line: JsonObject) -> RecordT:
            kind.check_record(line)
            return kind.record_from_json(line)

        for record in records.read(checked, kind.key, one_each=True):
            if record is not None and (kind.is_complete is None or kind.is_complete(record)):
                self.done[kind.key(record)] = kind.light(record)
        if kind.has_pairs:
            answered: Counter[Key] = Counter()

            def keys() -> Iterator[Key | None]:
                for pair in of_pairs.read(pair_from_json, run_key):
                    if pair is not None:
                        answered[run_key(pair)] += pair.verdict.by in ("model", "cache")
                    yield None if pair is None else run_key(pair)

            having = with_all_pairs(list(records.numbers), keys(), ends=not damaged or bool(checksums))
            self.done = {key: record for key, record in self.done.items() if key in having}
            self.answered = sum(answered[key] for key in self.done)
        write_whole(results, records.lines(self.done))
        if kind.has_pairs and has_lines(pairs):  # After the records: one without its pairs would be taken for whole.
            write_whole(pairs, of_pairs.lines(self.done))
        for lines in (results, pairs):
            remove_parts(lines)

    def _remove(self, *names: str) -> None:
        for name in names:
            (self.path / name).unlink(missing_ok=True)
            if name in (RESULTS, PAIRS):
                remove_parts(self.path / name)

    def _remove_replayed(self) -> None:
        """Delete the parts that a large run had done so far."""
        self.kind.remove_parts(self.path)

    def parts_folder(self, name: str) -> Path:
        """Where parts of this file of lines go; it is made, so that whoever writes them finds it."""
        with written_to(self.path):
            parts_of(self.path / name).mkdir(exist_ok=True)
        return parts_of(self.path / name)

    def finish_written(self, result: SummaryT, records: int) -> Run[SummaryT, RecordT]:
        """Write the summary of a run whose lines others have written, as Parquet parts."""
        return self._finish(result, records, {})

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
                self._open(name).write(text)
                self._open(name).flush()

    def _open(self, name: str) -> AppendedFile:
        if name not in self._files:
            self._files[name] = AppendedFile(self.path / name)
        return self._files[name]

    def finish(self, result: SummaryT, order: Sequence[Key]) -> Run[SummaryT, RecordT]:
        """Write the summary last. A continued run is put into the order that an unbroken one has."""
        with written_to(self.path):
            checksums = self._close_files()
            if self._resumed or not self.done.keys() <= set(order):
                checksums |= self._sort(order)
        return self._finish(result, len(order), checksums)

    def _finish(self, result: SummaryT, records: int, checksums: Mapping[str, Checksum]) -> Run[SummaryT, RecordT]:
        """`checksums`: of files that need not be read once more."""
        with written_to(self.path):
            summary = write_json(self.path / SUMMARY, self.kind.summary_to_json(result, str(self.path)))
            for name in () if self._undecided else VERDICT_FILES:
                (self.path / name).unlink(missing_ok=True)
            files = checksums_of(self.path, {**checksums, SUMMARY: summary})
            self._manifest = replace(self._manifest, status="finished", finished=now(), records=records, files=files)
            self._write_manifest()
            self._remove_replayed()
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
            self._remove_replayed()
            return Run(
                self.kind, result.with_gates(self.finished.result.build_gates), self.finished.manifest, self.path
            )
        with written_to(self.path):
            checksum = write_whole(results, lines())
        return self._finish(result, checksum.lines, {RESULTS: checksum})

    def _sort(self, order: Sequence[Key]) -> dict[str, Checksum]:
        """What was written anew. What is of nobody in this order, as in a file that somebody changed, is dropped."""
        rank = {key: position for position, key in enumerate(order)}
        if _in_order(rank.get(self.kind.key(record)) for record in self._records()) and _in_order(
            rank.get(_key_of(row)) for row in read_lines(self.path / PAIRS)
        ):
            return {}  # As where one chunk is done after the other; there may be more than memory holds.
        records = (record for record in self._records() if self.kind.key(record) in rank)
        ordered = sorted(records, key=lambda record: rank[self.kind.key(record)])
        checksums = {RESULTS: write_lines(self.path / RESULTS, map(self.kind.record_to_json, ordered))}
        if (self.path / PAIRS).exists():
            pairs = (row for row in read_lines(self.path / PAIRS) if _key_of(row) in rank)
            checksums[PAIRS] = write_lines(self.path / PAIRS, sorted(pairs, key=lambda row: rank[_key_of(row)]))
        return checksums

    def _records(self) -> Iterator[RecordT]:
        return map(self.kind.record_from_json, read_lines(self.path / RESULTS))

    def _write_manifest(self) -> None:
        write_json(self.path / MANIFEST, self._manifest.to_json())

    def _close_files(self) -> dict[str, Checksum]:
        checksums = {}
        while self._files:
            name, file = self._files.popitem()
            checksums[name] = file.close()
        return checksums

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with suppress(OSError):  # what could not be written before cannot be now either, and has been said
                self._close_files()
        finally:
            self._lock.release()


def _in_order(ranks: Iterable[int | None]) -> bool:
    """Whether they are, and none is None."""
    latest = 0
    for rank in ranks:
        if rank is None or rank < latest:
            return False
        latest = rank
    return True


def _key_of(row: Mapping[str, Any]) -> Key:
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


def keep_gates(run: Run[SummaryT, RecordT], results: tuple[GateResult, ...]) -> Run[SummaryT, RecordT]:
    """The run with what came of its gates, in its folder too; without results it stays as it is.

    The manifest names both summaries while one takes the place of the other, so that the run is whole at any moment.
    UsageError where the folder holds another run by now, or somebody is writing to it.
    """
    if not results:
        return run
    judged = replace(run, result=run.result.with_gates(results))
    if run.folder is None:
        return judged
    with written_to(run.folder, "Free what is missing."):
        lock = FolderLock(run.folder)
        try:
            return _with_summary(judged, run.folder)
        finally:
            lock.release()


def _with_summary(run: Run[SummaryT, RecordT], folder: Path) -> Run[SummaryT, RecordT]:
    """The finished run with its summary in the place of the one that is stored."""
    stored = stored_manifest(folder) or {}
    checksums, before = checksums_in(stored), dict(run.manifest.files or {})
    replaced = checksums.pop(SUMMARY, None)
    before.pop(SUMMARY, None)
    if (stored.get("status"), stored.get("fingerprint"), checksums) != ("finished", run.manifest.fingerprint, before):
        raise UsageError(f"{folder} holds another run by now. Run this command again, with another --out.")
    text = to_document(run.summary) + "\n"
    if replaced is None:
        write_whole(folder / SUMMARY, [text])
        return run
    builder = ChecksumBuilder()
    builder.add(to_bytes(text))
    manifest = replace(run.manifest, files={**checksums, SUMMARY: builder.checksum})
    write_json(folder / MANIFEST, replace(manifest, replaced={SUMMARY: replaced}).to_json())
    write_whole(folder / SUMMARY, [text])
    write_json(folder / MANIFEST, manifest.to_json())
    return replace(run, manifest=manifest)
