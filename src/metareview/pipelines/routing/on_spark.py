"""A routing evaluation on a cluster: Spark reads, sorts and adds up; every repository is replayed as it is anywhere.

What comes back is sums, and facts of the history as a whole: a row per person. The records stay where the tasks write
them, unless the run is to be kept in memory.
"""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from metareview.engines.spark import Frame, Session, SparkEngine, explained
from metareview.engines.spark_events import partition, read_frame, read_parquet, read_text
from metareview.engines.spark_rows import repositories
from metareview.engines.spark_rows import sorted_by_repository as by_repository
from metareview.errors import UsageError
from metareview.formats.history import HistoryInput, open_history
from metareview.formats.parquet import MAGIC
from metareview.model.event import KINDS, Event, History, Sifted, sift
from metareview.pipelines.collector import garbage_collection_paused
from metareview.pipelines.routing.answer import Answers, Ticker, answer_part
from metareview.pipelines.routing.count import conclude, configured, not_applicable, without_figures
from metareview.pipelines.routing.large import Watch, unwatched
from metareview.pipelines.routing.options import RoutingOptions
from metareview.pipelines.routing.plan import Part, Plan, choose_of_one, empty_cohort, unready_warning
from metareview.pipelines.routing.read import Beside, hash_inputs, texts_wanted
from metareview.pipelines.routing.spark_facts import Cohort, Facts, gather_facts, kinds_of
from metareview.pipelines.routing.stream import HELD, Streamed
from metareview.routing.load import active_people
from metareview.routing.records import RoutingRecord
from metareview.routing.sum_up import sum_up
from metareview.routing.summary import HistoryFacts, RoutingSummary
from metareview.routing.sums import Outcomes, RoutingSums, merged
from metareview.runs.files import RESULTS, parsed_line
from metareview.runs.part_columns import ROUTING_COLUMNS
from metareview.runs.parts import parts_there, read_part, write_part
from metareview.runs.routing_json import manifest_config, record_from_json, record_line
from metareview.runs.routing_sums_json import cells, from_cells
from metareview.runs.run import ROUTING, Manifest, RoutingRun, Run, now
from metareview.runs.writer import RunWriter

TEXT_FORMATS = ("events", "gharchive", "gerrit")
_EVENTS_PER_TASK = 250_000
_FEWEST, _MOST = 4, 20_000
"""Partitions."""
_SUMS = "cell string, value bigint, line binary"
_NOTE = "!"
"""What begins a cell that is none of routing's sums, which are JSON: what became of events, when cutoffs were."""
_LINES = 500


def evaluate_on_spark(
    session: Session,
    beside: Beside,
    routers: Plan,
    frame: Frame | None = None,
    *,
    out: Path | None = None,
    overwrite: bool = False,
    watch: Watch = unwatched,
) -> RoutingRun:
    """The whole evaluation of the history of the plan's options, or of the events of a frame.

    With `out` it is kept there, its records as Parquet parts; a finished run of the same inputs that is there already
    is taken as it is. Without, all records come to this process. `routers` is the plan as far as it goes without a
    history.
    """
    from pyspark import StorageLevel

    options = routers.options
    given = None if frame is not None else open_history(options.history)
    with explained():
        events = read_frame(frame) if given is None else _read(session, given, options)
        events = events.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            with watch("reading the history"):
                kinds = kinds_of(events)
            partitions = _partitions(kinds)
            with watch("looking through the history"):
                facts = gather_facts(events, kinds, options, given, partitions, with_repos=bool(beside.predictions))
            inputs = beside.with_history(History.without_events(facts.outline), facts.repos)
            plan = replace(routers, inputs=inputs, options=options.as_sent())
            hashes = _hash_of_frame(events, options) if given is None else hash_inputs(options)
            known = by_repository(events.filter(_is_known()), partitions)
            with watch("replaying the repositories"):
                return _Evaluation(session, known, facts, plan, hashes).run(out, overwrite)
        finally:
            events.unpersist()


def _read(session: Session, given: HistoryInput, options: RoutingOptions) -> Frame:
    files = [source.path for source in given.sources]
    if given.name not in TEXT_FORMATS:
        raise UsageError(
            f"--engine spark reads {', '.join(TEXT_FORMATS)}, and this is {given.name}. Leave --engine out."
        )
    are_parquet = {source.begins_with(MAGIC) for source in given.sources}
    if are_parquet == {True}:
        return read_parquet(session, files)
    if True in are_parquet:
        raise UsageError("some files of the history are Parquet and some are not. Give files of one kind to Spark.")
    return read_text(session, files, given.name, texts_wanted(options))


def _is_known() -> Any:
    from pyspark.sql import functions as f

    return f.col("kind").isin(*(kind.encode() for kind in sorted(KINDS)))


def _partitions(kinds: Mapping[str, Any]) -> int:
    """As many as keep a task's share small, and no more: each costs time of its own."""
    events: int = sum(row.events for row in kinds.values())
    return min(max(_FEWEST, events // _EVENTS_PER_TASK), _MOST)


def _hash_of_frame(events: Frame, options: RoutingOptions) -> dict[str, str]:
    """Of a frame's events, whatever their order and whoever holds them, and of the files beside it."""
    from pyspark.sql import functions as f

    hashes = f.sum(f.xxhash64(*Event._fields).cast("decimal(38,0)")).alias("hashes")
    row = events.agg(f.count("*").alias("events"), hashes).first()
    text = f"{row.events} {row.hashes}"
    return {"history": hashlib.sha256(text.encode()).hexdigest(), **hash_inputs(options, history=False)}


@dataclass(frozen=True)
class _Evaluation:
    """One evaluation, when all facts are known."""

    session: Session
    events: Frame
    """By repository and in order."""
    facts: Facts
    plan: Plan
    hashes: Mapping[str, str]

    def run(self, out: Path | None, overwrite: bool) -> RoutingRun:
        config = manifest_config(configured(self.plan))
        if out is None:
            summary, lines = self._replayed(None)
            manifest = Manifest(ROUTING.name, config, self.hashes, started=now(), status="finished")
            return Run(ROUTING, summary, manifest, None, [record_from_json(parsed_line(line)) for line in lines])
        with RunWriter(out, ROUTING, config, self.hashes, overwrite=overwrite, in_parts=True) as writer:
            if writer.finished is not None:
                return writer.finished
            summary, _ = self._replayed(writer.parts_folder(RESULTS).absolute())
            return writer.finish_written(summary, summary.prs)

    def _replayed(self, folder: Path | None) -> tuple[RoutingSummary, list[bytes]]:
        """The summary, and the records' lines where they are not to be written to a folder."""
        cohort = self.facts.cohort
        sums, notes, lines = self._replay(folder, cohort)
        ends = [int(name.removeprefix("cutoff ")) for name in notes if name.startswith("cutoff ")]
        if not ends:
            raise empty_cohort()
        if (min(ends), max(ends)) != (cohort.first, cohort.last):
            # An opened event that repeats another one was taken for the first or the last: now it is known.
            cohort = replace(cohort, first=min(ends), last=max(ends))
            sums, notes, lines = self._replay(folder, cohort)
        if lacking := not_applicable(sums, self.plan):
            empty = _WithoutFigures(folder, frozenset(lacking))
            if folder is not None:
                numbers = sorted(parts_there(folder))
                for _ in SparkEngine(self.session).map(_empty_part, empty, numbers):
                    pass
            lines = [empty.line(line) for line in lines]
        return self._summary(sums, notes, cohort), lines

    def _summary(self, sums: RoutingSums, notes: Counter[str], cohort: Cohort) -> RoutingSummary:
        outline, plan = self.facts.outline, self.plan
        sifted = Sifted(
            Counter({name[9:]: number for name, number in notes.items() if name.startswith("left out ")}),
            notes["early"],
            notes["never opened"],
        )
        warnings = (
            *outline.warnings,
            *sifted.warnings(self.facts.unknown),
            *plan.warnings,
            *unready_warning(cohort.unready),
        )
        predictions = plan.inputs.predictions
        strange = {each.router: len(each.answers) - notes[f"predicted {each.router}"] for each in predictions}
        facts = HistoryFacts(
            end=outline.end,
            active=frozenset(),
            names=outline.names,
            has_bodies=outline.has_bodies,
            has_merges=outline.has_merges,
            has_requests=outline.has_requests,
            strange_predictions=strange,
        )
        return conclude(sums, replace(plan, warnings=warnings), facts)

    def _replay(self, folder: Path | None, cohort: Cohort) -> tuple[RoutingSums, Counter[str], list[bytes]]:
        from pyspark.sql import functions as f

        span = self.plan.options.truth_span
        until = None if span is None else cohort.last + span
        replay = Replay(self.plan, self.facts.shown, cohort, until, folder, HELD)
        found = self.events.mapInArrow(replay, _SUMS)
        lines: list[bytes] = []
        if folder is None:
            rows = found.collect()
            lines = [bytes(row.line) for row in rows if row.line is not None]
            added = [(row.cell, row.value) for row in rows if row.line is None]
        else:
            summed = found.groupBy("cell").agg(f.sum("value").alias("value"))
            added = [(row.cell, row.value) for row in summed.collect()]
            _fill(folder, {int(cell[6:]) for cell, _ in added if cell.startswith("!part ")})
        notes: Counter[str] = Counter()
        for cell, value in added:
            if cell.startswith(_NOTE):
                notes[cell[1:]] += value
        return from_cells((cell, value) for cell, value in added if not cell.startswith(_NOTE)), notes, lines


def _fill(folder: Path, written: set[int]) -> None:
    """A partition without events has no task: parts are counted on, and so it has an empty one."""
    for number in range(max(written, default=0) + 1):
        if number not in written:
            write_part(folder, number, (), ROUTING_COLUMNS)


@dataclass(frozen=True)
class Replay:
    """What a task does with its repositories, which come one after the other."""

    plan: Plan
    shown: Mapping[str, str]
    cohort: Cohort
    until: int | None
    """When people are no longer counted as active; None: never."""
    folder: Path | None
    """Where the records go; None: they are rows."""
    held: int = HELD
    """How many events of a repository are held; one with more is streamed."""

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        # A router of the user's may well make reference cycles, which must be collected.
        with garbage_collection_paused(all(router.built_in for router in self.plan.routers)):
            yield from self._replayed(batches)

    def _replayed(self, batches: Iterable[Any]) -> Iterator[Any]:
        sums: list[RoutingSums] = []
        notes: Counter[str] = Counter()
        records = (
            record for repo, events in repositories(batches) for record in self._records(repo, events, sums, notes)
        )
        lines = map(record_line, records)
        if self.folder is not None:
            number = partition()
            write_part(self.folder, number, lines, ROUTING_COLUMNS)
            notes[f"part {number}"] += 1
        else:
            yield from _rows(lines)
        found = [*cells(merged(sums)), *((f"{_NOTE}{name}", number) for name, number in notes.items())]
        yield _batch([cell for cell, _ in found], [value for _, value in found], [None] * len(found))

    def _records(
        self, repo: str, events: Iterator[Event], sums: list[RoutingSums], notes: Counter[str]
    ) -> Iterator[RoutingRecord]:
        """One repository's, which are counted on the way."""
        first = deque(islice(events, self.held + 1))
        if len(first) <= self.held:
            yield from self._of_held(repo, first, sums, notes)
            return
        with Streamed(repo, chain(_drained(first), events), self.shown, self.plan.options) as streamed:
            self._note(repo, streamed.sifted, streamed.opened, notes)
            chosen = self._choose(repo, streamed.chosen, notes)
            if chosen:
                yield from streamed.replay(self.plan, chosen, self.cohort.first, self.until, sums)

    def _of_held(
        self, repo: str, events: Iterable[Event], sums: list[RoutingSums], notes: Counter[str]
    ) -> list[RoutingRecord]:
        plan = self.plan
        kept, sifted = sift(events, self.shown)
        self._note(repo, sifted, {event.pr for event in kept if event.kind == "opened"}, notes)
        chosen = self._choose(repo, choose_of_one(kept, plan.options)[0], notes)
        if not chosen:
            return []
        answers = Answers()
        answer_part(Part(repo, kept, chosen), plan, answers, Ticker(0, None))
        active = active_people(kept, self.cohort.first, self.until, plan.eligible)
        sums.append(sum_up(answers.records, configured(plan), answers.outcomes + Outcomes(active=Counter(active))))
        return answers.records

    def _note(self, repo: str, sifted: Sifted, opened: Collection[int], notes: Counter[str]) -> None:
        notes.update({f"left out {why}": number for why, number in sifted.left_out.items()})
        notes["early"] += sifted.early
        notes["never opened"] += sifted.never_opened
        for each in self.plan.inputs.predictions:
            notes[f"predicted {each.router}"] += sum((repo, pr) in each.answers for pr in opened)

    def _choose(self, repo: str, offered: dict[int, int], notes: Counter[str]) -> dict[int, int]:
        """The cohort among the pull requests that this repository has to offer."""
        chosen = offered
        if self.cohort.chosen is not None:
            wanted = self.cohort.chosen.get(repo, frozenset())
            chosen = {pr: at for pr, at in offered.items() if pr in wanted}
        if chosen:
            for at in (min(chosen.values()), max(chosen.values())):
                notes[f"cutoff {at}"] += 1
        return chosen


def _drained(events: deque[Event]) -> Iterator[Event]:
    """The events, each of which is let go of."""
    while events:
        yield events.popleft()


def _rows(lines: Iterable[bytes]) -> Iterator[Any]:
    held: list[bytes] = []
    for line in lines:
        held.append(line)
        if len(held) == _LINES:
            yield _batch([None] * len(held), [None] * len(held), held)
            held = []
    if held:
        yield _batch([None] * len(held), [None] * len(held), held)


def _batch(cells: list[Any], values: list[Any], lines: list[Any]) -> Any:
    import pyarrow as pa

    arrays = [pa.array(cells, pa.string()), pa.array(values, pa.int64()), pa.array(lines, pa.binary())]
    return pa.RecordBatch.from_arrays(arrays, ["cell", "value", "line"])


@dataclass(frozen=True)
class _WithoutFigures:
    """Takes the figures of routers from records that were written before it was known that they have none."""

    folder: Path | None
    routers: frozenset[str]

    def line(self, line: bytes) -> bytes:
        record = without_figures(record_from_json(parsed_line(line)), self.routers)
        return record_line(record)


def _empty_part(empty: _WithoutFigures, number: int) -> int:
    assert empty.folder is not None
    file = parts_there(empty.folder)[number]
    lines = (empty.line(line) for batch in read_part(file) for line in batch)
    return write_part(empty.folder, number, lines, ROUTING_COLUMNS)
