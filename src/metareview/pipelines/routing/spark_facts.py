"""What holds for a history as a whole, added up by Spark before any repository is replayed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from metareview.engines.spark import Frame
from metareview.engines.spark_events import REFUSED, REMARKED, SPECIAL, refusal, remarks_by_file
from metareview.engines.spark_rows import repositories, sorted_by_repository
from metareview.formats.history import HistoryInput
from metareview.model.event import KINDS, RESPONSES, Event, Outline, bots_of, names_of, no_pull_requests, sift
from metareview.pipelines.routing.options import RoutingOptions
from metareview.pipelines.routing.plan import choose_of_one, empty_cohort
from metareview.routing.responses import REQUESTED

_OPENED = b"opened"
_DRAFTS = (_OPENED, b"ready_for_review", b"converted_to_draft")
_CHOSEN = "repo binary, pr bigint, at bigint, id binary, position bigint, cutoff bigint"


@dataclass(frozen=True)
class Facts:
    """Of all events, whatever repository they are of."""

    outline: Outline
    """Its warnings are those from before the events were sifted."""
    shown: Mapping[str, str]
    """By login as written, the login as shown, of those for whom the two differ."""
    unknown: Counter[str]
    """Events by kinds that nobody knows."""
    events: int
    repos: frozenset[str] | None
    """All repositories, where somebody asks."""
    cohort: Cohort


@dataclass(frozen=True)
class Cohort:
    """Which pull requests are scored."""

    first: int
    """The earliest cutoff."""
    last: int
    chosen: Mapping[str, frozenset[int]] | None = None
    """By repository, where they are chosen among all; None: whoever is in the cohort by the options."""
    unready: int = field(default=0, compare=False)


def kinds_of(events: Frame) -> dict[str, Any]:
    """By kind, how many `events` there are, when the last was (`end`), and whether any has `bodies`."""
    from pyspark.sql import functions as f

    counted = events.groupBy("kind").agg(
        f.count("*").alias("events"),
        f.max("at").alias("end"),
        f.max(f.length("body") > 0).alias("bodies"),
        f.max(f.when(f.col("actor").isin(REFUSED.encode(), REMARKED.encode()), 1)).alias("told"),
    )
    return {_text(row.kind): row for row in counted.collect()}


def gather_facts(
    events: Frame,
    kinds: Mapping[str, Any],
    options: RoutingOptions,
    given: HistoryInput | None,
    partitions: int,
    *,
    with_repos: bool,
) -> Facts:
    """InputError where a file could not be read, or where nobody opened a pull request."""
    from pyspark.sql import functions as f

    kinds = dict(kinds)
    remarks: dict[int, Any] = {}
    special = kinds.pop(SPECIAL, None)
    if special is not None and special.told:
        remarks = _told(events)
    if "opened" not in kinds:
        raise no_pull_requests("the data frame" if given is None else given.label)
    unknown = Counter({kind: row.events for kind, row in kinds.items() if kind not in KINDS})
    names, shown, bots = _people(events)
    said = []
    if given is not None:
        for number, source in enumerate(given.sources):
            if number in remarks:
                source.remarks += remarks[number]
            said += source.all_warnings()
    outline = Outline(
        end=max(row.end for row in (*kinds.values(), *([] if special is None else [special]))),
        bots=bots,
        names=names,
        warnings=(*said, *(() if given is None else given.warnings)),
        has_bodies=any(row.bodies for kind, row in kinds.items() if kind in KINDS and kind not in RESPONSES),
        has_merges="merged" in kinds,
        has_requests=REQUESTED in kinds,
    )
    repos = None
    if with_repos:
        rows = events.filter(f.col("kind").isin(*(kind.encode() for kind in KINDS))).select("repo").distinct().collect()
        repos = frozenset(_text(row.repo) for row in rows)
    chooses = options.limit is not None or options.cutoff_rule.policy != "created_at"
    cohort = _choose(events, options, partitions) if chooses else _ends(events, options)
    return Facts(outline, shown, unknown, sum(row.events for row in kinds.values()), repos, cohort)


def _told(events: Frame) -> dict[int, Any]:
    """What was corrected, by file; raises what could not be read, the first of it."""
    from pyspark.sql import functions as f

    special = events.filter(f.col("kind") == f.lit(SPECIAL.encode()))
    refused = special.filter(f.col("actor") == f.lit(REFUSED.encode())).orderBy("position").select("body").first()
    if refused is not None:
        raise refusal(bytes(refused.body))
    remarked = special.filter(f.col("actor") == f.lit(REMARKED.encode())).orderBy("position")
    return remarks_by_file((row.position, bytes(row.body)) for row in remarked.select("position", "body").collect())


def _people(events: Frame) -> tuple[dict[str, str], dict[str, str], frozenset[str]]:
    """How people are shown, who is to be shown otherwise than written, and who is a bot."""
    from pyspark.sql import functions as f

    known = events.filter(f.col("kind").isin(*(kind.encode() for kind in KINDS)) & f.col("actor").isNotNull())
    place = f.struct("at", (f.col("kind") != f.lit(_OPENED)).alias("later"), "id", "position")
    rows = known.groupBy("actor", "actor_type").agg(f.min(place).alias("first")).collect()
    first_seen: dict[str, tuple[Any, ...]] = {}
    people = []
    for row in rows:
        login, kind = _text(row.actor), None if row.actor_type is None else _text(row.actor_type)
        people.append((login, kind))
        first = (row.first.at, row.first.later, bytes(row.first.id), row.first.position)
        first_seen[login] = min(first, first_seen.get(login, first))
    names, shown = names_of(sorted(first_seen, key=first_seen.__getitem__))
    return names, shown, bots_of(people)


def _text(value: Any) -> str:
    return bytes(value).decode("utf-8", "surrogatepass")


def _ends(events: Frame, options: RoutingOptions) -> Cohort:
    """The first and the last cutoff, where a pull request's opening tells: but for events that turn out to be repeated,
    as the replays will tell."""
    from pyspark.sql import functions as f

    opened = events.filter(f.col("kind") == f.lit(_OPENED)).groupBy("repo", "pr").agg(f.min("at").alias("at"))
    if options.repos or options.prs or options.since_instant is not None or options.until_instant is not None:
        opened = opened.mapInArrow(_scored(options), "repo binary, pr bigint, at bigint")
    row = opened.agg(f.min("at").alias("first"), f.max("at").alias("last")).first()
    if row.first is None:
        raise empty_cohort()
    delay = options.cutoff_rule.delay
    return Cohort(row.first + delay, row.last + delay)


def _scored(options: RoutingOptions) -> Any:
    def scored(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            rows = zip(*(batch.column(at).to_pylist() for at in range(3)), strict=True)
            chosen = [options.is_scored(_text(repo), pr, at) for repo, pr, at in rows]
            yield batch.filter(pa.array(chosen, pa.bool_()))

    return scored


def _choose(events: Frame, options: RoutingOptions, partitions: int) -> Cohort:
    """The cohort where more must be known than when pull requests were opened: from the few events that decide it."""
    from pyspark.sql import functions as f

    deciding = events.filter(f.col("kind").isin(*_DRAFTS) | f.col("draft"))
    # The texts are not needed, and the position is: it goes where a text was.
    nothing = f.lit(None).cast("binary")
    slim = deciding.select(
        *(nothing.alias(name) if name in ("title", "body", "target", "state") else name for name in Event._fields[:10]),
        f.lit(None).cast("array<binary>").alias("files"),
        "draft",
        f.col("position").cast("string").cast("binary").alias("base_sha"),
        nothing.alias("target"),
        "position",
    )
    rows = sorted_by_repository(slim, partitions).mapInArrow(_cutoffs(options), _CHOSEN).persist()
    try:
        unready = rows.filter(f.col("cutoff").isNull()).count()
        ready = rows.filter(f.col("cutoff").isNotNull())
        chosen = None
        if options.limit is not None:
            found = ready.orderBy("at", "id", "position").limit(options.limit).select("repo", "pr", "cutoff").collect()
            by_repo: dict[str, set[int]] = {}
            for row in found:
                by_repo.setdefault(_text(row.repo), set()).add(row.pr)
            chosen = {repo: frozenset(prs) for repo, prs in by_repo.items()}
            ends = [row.cutoff for row in found]
        else:
            both = ready.agg(f.min("cutoff").alias("first"), f.max("cutoff").alias("last")).first()
            ends = [] if both.first is None else [both.first, both.last]
    finally:
        rows.unpersist()
    if not ends:
        raise empty_cohort()
    return Cohort(min(ends), max(ends), chosen, unready)


def _cutoffs(options: RoutingOptions) -> Any:
    everybody = replace(options, limit=None)

    def cutoffs(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for _, events in repositories(batches):
            kept, _ = sift(events, {})
            known, _ = choose_of_one(kept, everybody)
            opened = [e for e in kept if e.kind == "opened" and everybody.is_scored(e.repo, e.pr, e.at)]
            columns = {
                "repo": pa.array([e.repo.encode("utf-8", "surrogatepass") for e in opened], pa.binary()),
                "pr": pa.array([e.pr for e in opened], pa.int64()),
                "at": pa.array([e.at for e in opened], pa.int64()),
                "id": pa.array([e.id.encode("utf-8", "surrogatepass") for e in opened], pa.binary()),
                "position": pa.array([int(e.base_sha or 0) for e in opened], pa.int64()),
                "cutoff": pa.array([known.get(e.pr) for e in opened], pa.int64()),
            }
            yield pa.RecordBatch.from_pydict(columns)

    return cutoffs
