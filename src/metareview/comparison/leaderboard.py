"""One table over runs and their reviewers (or routers), with intervals and groups of statistical ties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from metareview.comments.measures import Counts, Rates, rates
from metareview.comparison import competitors
from metareview.comparison.competitors import Competitor, Source
from metareview.errors import UsageError
from metareview.model.measure import Measure, find_measure
from metareview.runs.comments_json import counts_to_json
from metareview.runs.files import JsonObject, as_json
from metareview.runs.run import AnyRun
from metareview.stats import Interval, PairTest, bootstrap_intervals, pairwise_tests, tie_letters

SCHEMA = "metareview.leaderboard/1"
TIES_AT = 0.05


@dataclass(frozen=True, slots=True)
class Standing:
    """One competitor's row: the figures over its own pull requests."""

    rank: int
    label: str
    ties: str
    """Letters: two that share one are tied."""
    name: str
    run: str | None
    prs: int
    counts: Counts | None
    """Their sums; None for a router."""
    metrics: Rates
    intervals: Mapping[str, Interval | None]

    @property
    def undecided(self) -> int:
        return self.counts.undecided if self.counts else 0

    def to_dict(self) -> JsonObject:
        head = {name: getattr(self, name) for name in ("rank", "label", "ties", "name", "run", "prs")}
        counts = counts_to_json(self.counts) if self.counts else {}
        tail = {name: getattr(self, name) for name in ("metrics", "intervals", "undecided")}
        return as_json({**head, **counts, **tail})


@dataclass(frozen=True)
class Leaderboard:
    """The ranking. `to_dict()` is what `metareview leaderboard --json` prints."""

    kind: str
    sort: Measure
    beta: float | None
    measures: Sequence[Measure]
    """All that are measured in one of the runs."""
    rows: Sequence[Standing]
    """The best first."""
    pairs: Mapping[tuple[str, str], PairTest]
    """The paired test of every two labels, the better one first."""
    warnings: Sequence[str]

    def to_dict(self) -> JsonObject:
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "sort": self.sort.name,
            "beta": self.beta,
            "rows": [row.to_dict() for row in self.rows],
            "pairs": [
                {"a": a, "b": b, "prs": test.units, "diff": test.diff, "p": test.p, "p_holm": test.p_holm}
                for (a, b), test in self.pairs.items()
            ],
            "warnings": list(self.warnings),
        }


def leaderboard(
    runs: Sequence[Source], *, sort: str | None = None, beta: float | None = None, seed: int = 0
) -> Leaderboard:
    """Everybody in these runs, the best first by `sort` (f1, or mrr for routers).

    Figures and intervals are over each one's own pull requests. Every pair is tested on the sort metric over the
    pull requests that both have, Holm over all pairs; two share a letter where they are not separated at 0.05, or
    share no pull request. UsageError where the figures of two would not mean the same (another judge, distance,
    cutoff, other references), or a run shares no pull request with the others.
    """
    everybody = _everybody(runs)
    first = next(iter(everybody.values())).run
    competitors.check_settings(list(everybody.values()))
    _check_benchmarks(list(everybody.values()))
    own = {label: competitors.with_beta(one.measures, beta) for label, one in everybody.items()}
    measures = {name: measure for of_one in own.values() for name, measure in of_one.items()}
    if sort == "f_beta" and beta is None:
        raise UsageError("--sort: f_beta needs --beta.")
    default = competitors.main_measure(first) if beta is None else "f_beta"
    measure = find_measure(sort or default, measures.values(), "--sort")
    tables = {label: one.counts(one.rows) for label, one in everybody.items()}
    figures = {
        label: rates(counts.sum(axis=0), own[label].values(), measures.values()) for label, counts in tables.items()
    }

    def best_first(label: str) -> tuple[bool, float, str]:
        """Whoever has no figure comes last, equal ones by name."""
        value = figures[label][measure.name]
        return (value is None, (value or 0.0) * (1 if measure.lower_is_better else -1), label)

    order = sorted(everybody, key=best_first)
    tested = {
        label: dict(zip(everybody[label].rows, tables[label], strict=True)) if measure.name in own[label] else {}
        for label in order
    }
    pairs = pairwise_tests(tested, measure, seed=seed)
    separated = [pair for pair, test in pairs.items() if test.p_holm is not None and test.p_holm <= TIES_AT]
    ties = tie_letters(order, separated)
    rows = []
    for rank, label in enumerate(order, 1):
        one, counts = everybody[label], tables[label]
        ends = dict.fromkeys(measures) | bootstrap_intervals(counts, own[label], seed=seed)
        head = (rank, label, ties[label], one.name, competitors.folder_of(one.run), len(counts))
        rows.append(Standing(*head, one.summed(one.rows), figures[label], ends))
    warnings = list(_warnings({row.label: row for row in rows}, pairs))
    return Leaderboard(first.kind.name, measure, beta, list(measures.values()), rows, pairs, warnings)


def _everybody(sources: Sequence[Source]) -> dict[str, Competitor]:
    """Everybody in these runs by a label that nobody else has. A run that is named twice counts once."""
    runs: dict[object, AnyRun] = {}
    for run in map(competitors.open_run, sources):
        runs.setdefault(id(run) if run.folder is None else run.folder.resolve(), run)
    numbered = [(f"run {number}", one) for number, run in enumerate(runs.values(), 1) for one in competitors.read(run)]
    if not numbered:
        raise UsageError("Name at least one run; these hold nobody to rank.")
    parts = [(one.run.label, number) for number, one in numbered]
    everybody = [one for _, one in numbered]
    return dict(zip(competitors.labels(everybody, parts), everybody, strict=True))


def _check_benchmarks(everybody: Sequence[Competitor]) -> None:
    for one, other in combinations(everybody, 2):
        different = competitors.different_benchmarks(one, other)
        if different:
            raise UsageError(
                f"{one.run.label} and {other.run.label} are on different benchmarks: {len(different)} pull requests"
                f" have other references ({different[0]}). Evaluate both against the same files."
            )
    for one in everybody:
        own = {key for other in everybody if other.run is one.run for key in other.rows}
        others = [set(other.rows) for other in everybody if other.run is not one.run]
        if others and not own & set().union(*others):
            raise UsageError(f"{one.run.label} shares no pull request with the other runs. Rank it on its own.")


def _warnings(rows: Mapping[str, Standing], pairs: Mapping[tuple[str, str], PairTest]) -> Iterator[str]:
    sizes = [row.prs for row in rows.values()]
    if any(test.units < max(rows[a].prs, rows[b].prs) for (a, b), test in pairs.items()):
        yield (
            f"not everybody has the same pull requests ({min(sizes)} to {max(sizes)}): figures are over each one's own,"
            f" tests over those that a pair shares (at least {min(test.units for test in pairs.values())})"
        )
    undecided = sum(row.undecided for row in rows.values())
    if undecided:
        yield f"{undecided} pairs stayed undecided and count as no match"
