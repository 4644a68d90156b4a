"""A history that is too large to hold: scattered over the disk by repository, replayed in batches, by worker processes.

Memory is bounded by a piece of the input and by a repository of HELD events: a larger one is replayed from disk. The
figures are those of `score`, digit by digit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

from metareview.engines.local import Chunk, Context, LocalEngine, Result, Work, chunks_by_size
from metareview.formats.history import HistoryInput
from metareview.formats.input_file import Progress
from metareview.model.event import FilterCounts, History
from metareview.pipelines.routing.count import conclude, configured, not_applicable, without_figures
from metareview.pipelines.routing.gather import Batch, Replaying, Repository, active_in, cohorts_of, replay_batch
from metareview.pipelines.routing.plan import Plan, empty_cohort, unready_warning
from metareview.pipelines.routing.read import Beside, InputFiles, text_filter
from metareview.pipelines.routing.scatter import Opening, Reader, RepositoryFacts, Scattered, scatter
from metareview.pipelines.routing.stream import HELD
from metareview.routing.summary import HistoryFacts, RoutingSummary
from metareview.routing.sums import RoutingSums, merged
from metareview.runs.files import MANIFEST, PARTS, JsonObject, written_to
from metareview.runs.routing_json import manifest_config
from metareview.runs.routing_kind import KIND as ROUTING
from metareview.runs.routing_parts import PartStore, Replayed, RoutingParts
from metareview.runs.run import Manifest, RoutingRun, Run, now
from metareview.runs.writer import RunWriter
from metareview.temporary import TemporaryFolder

BATCH = 60_000
"""Events of repositories that are replayed together: some tens of megabytes."""
RANKINGS = "rankings"
Watch = Callable[[str], AbstractContextManager[Progress | None]]
"""Opens a display of progress under a title."""


def unwatched(title: str) -> AbstractContextManager[None]:
    return nullcontext()


def of_rankings(progress: Progress | None) -> Watch:
    """Tells of rankings alone."""
    return lambda title: nullcontext(progress if title == RANKINGS else None)


def evaluate_large(
    given: HistoryInput,
    files: InputFiles,
    beside: Beside,
    routers: Plan,
    engine: LocalEngine,
    *,
    out: Path | None = None,
    overwrite: bool = False,
    watch: Watch = unwatched,
) -> RoutingRun:
    """The whole evaluation; with `out`, the run is kept in that folder, and one that was cut off there goes on.

    `routers` is the plan as far as it goes without a history.
    """
    options = routers.options
    config = manifest_config(configured(routers))
    if out is not None and not overwrite and (done := _finished(out, config, routers, files, beside)):
        return done
    with TemporaryFolder() as packed, ThreadPoolExecutor(1) as aside:
        hashing = aside.submit(files.hash, beside.files)  # A matter of seconds, and no matter of Python's.
        reader = Reader(given.name, text_filter(options), options.as_sent(), packed)
        with watch("reading the history (MB)") as progress, written_to(packed, "Set TMPDIR to a folder with space."):
            scattered = scatter(reader, given, engine, progress)
        hashes = hashing.result()
        files.check(*(name for name in hashes if name.startswith("history")))
        inputs = beside.with_history(History.without_events(scattered.outline), scattered.repositories)
        plan = replace(routers, inputs=inputs, options=options.as_sent())
        large = Large(plan, scattered, engine, packed)
        if out is None:
            (packed / PARTS).mkdir()
            parts = RoutingParts(packed / PARTS)
            summary, numbers = large.replay(parts, watch)
            files.check_codeowners()
            records = list(parts.read_records(numbers))
            manifest = Manifest(ROUTING.name, config, hashes, started=now(), status="finished")
            return Run(ROUTING, summary, manifest, None, records)
        with RunWriter(out, ROUTING, config, hashes, overwrite=overwrite) as writer:
            parts = RoutingParts(out / PARTS)
            with written_to(out):
                (out / PARTS).mkdir(exist_ok=True)
            summary, numbers = large.replay(parts, watch)
            files.check_codeowners()
            return writer.finish_with_parts(summary, partial(parts.lines, numbers))


def _finished(out: Path, config: JsonObject, routers: Plan, files: InputFiles, beside: Beside) -> RoutingRun | None:
    """The same run where the folder holds it, finished; None where it must be replayed.

    Routers of the user's may have changed since: theirs are replayed, and held against what is there.
    """
    if not (out / MANIFEST).exists() or not all(router.built_in for router in routers.routers):
        return None
    with RunWriter(out, ROUTING, config, files.hash(beside.files)) as writer:
        return writer.finished


class Engine(Protocol):
    """Who does the work."""

    def map(self, work: Work[Context, Chunk, Result], context: Context, chunks: Iterable[Chunk], /) -> Iterator[Result]:
        """What it makes of each chunk, in order."""

    def map_as_done(
        self, work: Work[Replaying, Batch, Result], replaying: Replaying, batches: Sequence[Batch], /
    ) -> Iterator[tuple[int, Result]]:
        """What it makes of each batch, with its place among them, in whatever order."""


class Large:
    """One evaluation: what is to be replayed, and by whom."""

    def __init__(self, plan: Plan, scattered: Scattered, engine: Engine, packed: Path) -> None:
        self._plan, self._scattered, self._engine = plan, scattered, engine
        self._replaying = Replaying(plan, scattered.shown, packed, RoutingParts(packed), 0, None, HELD)

    def replay(self, store: PartStore, watch: Watch) -> tuple[RoutingSummary, list[int]]:
        """The summary, and the numbers of the parts with records in their order."""
        repositories, unready = self._chosen()
        scored = [each for each in repositories if each.is_scored]
        facts = self._scattered.repositories
        if not scored:
            raise empty_cohort()
        span = self._plan.options.truth_span
        first, last = self._expected_ends(scored)
        until = None if span is None else last + span
        self._replaying = replace(self._replaying, parts=store, since=first, until=until)
        batches = self._batches(repositories)
        done: dict[int, Replayed] = {}
        if all(router.built_in for router in self._plan.routers):  # Others may have changed since.
            for batch in batches:
                before = store.read(batch.number, [each.name for each in batch.repositories])
                if before is not None:
                    done[batch.number] = before
        left = sorted(
            (batch for batch in batches if batch.number not in done),
            key=lambda batch: -sum(facts[each.name].events for each in batch.repositories),
        )
        total = len(self._plan.routers) * sum(facts[each.name].scored for each in scored)
        with watch(RANKINGS) as progress:
            for number, replayed in self._engine.map_as_done(replay_batch, self._replaying, left):
                done[left[number].number] = replayed
                if progress:
                    progress(len(self._plan.routers) * sum(each.records for each in done.values()), total)
        return self._concluded([done[batch.number] for batch in batches], batches, store, unready)

    def _concluded(
        self, replayed: list[Replayed], batches: list[Batch], store: PartStore, unready: int
    ) -> tuple[RoutingSummary, list[int]]:
        outline, options = self._scattered.outline, self._plan.options
        sums = merged(each.sums for each in replayed)
        ends = [each.cutoffs for each in replayed if each.cutoffs is not None]
        if not ends:
            raise empty_cohort()
        span = options.truth_span
        since = min(first for first, _ in ends)
        until = None if span is None else max(last for _, last in ends) + span
        if (since, until) != (self._replaying.since, self._replaying.until):
            # What looked like the first or the last pull request was none: who was active is looked up once more.
            sums = self._with_active(sums, batches, since, until)
        filter_counts = sum((each.filter_counts for each in replayed), FilterCounts())
        unready += sum(each.unready for each in replayed)
        of_history = [*outline.warnings, *filter_counts.warnings(self._scattered.unknown)]
        warnings = (*of_history, *self._plan.warnings, *unready_warning(unready))
        plan = replace(self._plan, warnings=warnings)
        numbers = [batch.number for batch in batches]
        if lacking := not_applicable(sums, plan):
            for _ in self._engine.map(_change_part, (store, frozenset(lacking)), numbers):
                pass
        return conclude(sums, plan, self._facts(replayed)), numbers

    def _facts(self, replayed: list[Replayed]) -> HistoryFacts:
        outline = self._scattered.outline
        known: Counter[str] = Counter()
        for each in replayed:
            known.update(each.predicted)
        return HistoryFacts(
            end=outline.end,
            active=frozenset(),  # They come with the sums.
            names=outline.names,
            has_bodies=outline.has_bodies,
            has_merges=outline.has_merges,
            has_requests=outline.has_requests,
            strange_predictions={
                each.router: len(each.answers) - known[each.router] for each in self._plan.inputs.predictions
            },
        )

    def _with_active(self, sums: RoutingSums, batches: list[Batch], since: int, until: int | None) -> RoutingSums:
        replaying = replace(self._replaying, since=since, until=until)
        scored = [batch._replace(repositories=tuple(e for e in batch.repositories if e.is_scored)) for batch in batches]
        found = self._engine.map_as_done(active_in, replaying, scored)
        active = Counter(login for _, logins in found for login in logins)
        return replace(sums, outcomes=replace(sums.outcomes, active=active))

    def _chosen(self) -> tuple[list[Repository], int]:
        """Every repository, with its cohort where that is chosen among all of them, and how many are not ready."""
        facts = self._scattered.repositories
        repositories = [
            Repository(name, tuple(of.slices), bool(of.openings), events=of.events) for name, of in facts.items()
        ]
        options = self._plan.options
        if options.limit is None and options.cutoff_rule.policy == "created_at":
            return repositories, 0
        offered: dict[str, Mapping[int, int]] = {}
        unready = 0
        batches = self._batches([each for each in repositories if each.is_scored])
        for _, cohorts in self._engine.map_as_done(cohorts_of, self._replaying, batches):
            for cohort in cohorts:
                offered[cohort.repo] = cohort.cutoffs
                unready += cohort.unready
        in_order = sorted(
            (opening, repo) for repo in offered for opening in _once(facts[repo]) if opening.pr in offered[repo]
        )
        chosen: dict[str, dict[int, int]] = {}
        for opening, repo in in_order[: options.limit]:
            chosen.setdefault(repo, {})[opening.pr] = offered[repo][opening.pr]
        by_name = {each.name: each for each in repositories}
        first = [by_name[name]._replace(chosen=cutoffs) for name, cutoffs in chosen.items()]
        rest = [each._replace(is_scored=False) for each in repositories if each.name not in chosen]
        return [*first, *rest], unready

    def _expected_ends(self, scored: list[Repository]) -> tuple[int, int]:
        """The first and the last cutoff, as far as openings tell."""
        chosen = [at for each in scored if each.chosen for at in each.chosen.values()]
        delay = self._plan.options.cutoff_rule.delay
        facts = self._scattered.repositories
        opened = chosen or [opening.at + delay for each in scored for opening in facts[each.name].openings]
        return min(opened), max(opened)

    def _batches(self, repositories: list[Repository]) -> list[Batch]:
        facts = self._scattered.repositories
        groups = chunks_by_size(repositories, lambda each: facts[each.name].events, BATCH)
        return [Batch(number, tuple(group)) for number, group in enumerate(groups)]


def _change_part(changing: tuple[PartStore, frozenset[str]], number: int) -> None:
    """Records were written before it was known which routers have no figures."""
    store, routers = changing
    store.change(number, partial(without_figures, routers=routers))


def _once(facts: RepositoryFacts) -> list[Opening]:
    """The first opening of each pull request; one with the id of another before it is none."""
    found: dict[int, Opening] = {}
    ids: set[str] = set()
    for opening in sorted(facts.openings):
        if opening.pr not in found and opening.id not in ids:
            found[opening.pr] = opening
            if opening.id:
                ids.add(opening.id)
    return list(found.values())
