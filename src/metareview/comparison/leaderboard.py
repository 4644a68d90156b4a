"""One table over runs and their reviewers (or routers), with intervals and groups of statistical ties."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from metareview.comments.costs import Costs
from metareview.comments.measures import Counts, Rates, rates
from metareview.comparison import competitors
from metareview.comparison.competitors import Competitor, Source
from metareview.errors import UsageError
from metareview.model.measure import Measure, find_measure
from metareview.model.words import plural
from metareview.routing.weeks import week_warning
from metareview.runs.comments_json import costs_to_json, counts_to_json
from metareview.runs.files import JsonObject, as_json
from metareview.runs.run import AnyRun, is_comments
from metareview.stats import Interval, PairTest, intervals, pairwise_tests, tie_letters

SCHEMA = "metareview.leaderboard/1"
TIES_AT = 0.05
MIN_COVERAGE = 0.8
_NAMED = 4
"""How many are named in a headline before "and 3 others"."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Somebody's figures on a set of pull requests."""

    metrics: Rates
    intervals: Mapping[str, Interval | None]
    counts: Counts | None
    """Their sums; None for a router."""
    costs: Costs | None = None
    """What reviews took; None where that is not known."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One competitor's row."""

    rank: int | None
    """None: too few pull requests to be ranked, or no figure."""
    label: str
    ties: str
    """Letters: two that share one are tied. Empty for whoever is not ranked."""
    name: str
    run: str | None
    source: AnyRun
    """The run itself."""
    prs: int
    """Pull requests that it has, of all `of` with references (or in the history)."""
    of: int
    figures: Figures
    """On the pull requests that all ranked ones have; for whoever is not ranked, on its own."""
    own: Figures
    """On its own pull requests."""

    @property
    def undecided(self) -> int:
        return self.figures.counts.undecided if self.figures.counts else 0

    def to_dict(self) -> JsonObject:
        head = {name: getattr(self, name) for name in ("rank", "label", "ties", "name", "run", "prs", "of")}
        counts = counts_to_json(self.figures.counts) if self.figures.counts else {}
        figures, own = (
            {"metrics": figures.metrics, "intervals": figures.intervals, **costs_to_json(figures.costs)}
            for figures in (self.figures, self.own)
        )
        return as_json({**head, **counts, **figures, "own": own, "undecided": self.undecided})


@dataclass(frozen=True)
class Leaderboard:
    """The ranking. `to_dict()` is what `metareview leaderboard --json` prints."""

    kind: str
    sort: Measure
    beta: float | None
    measures: Sequence[Measure]
    """All that are measured in one of the runs."""
    prs: int
    """The pull requests that figures and tests are over."""
    min_coverage: float
    all_prs: bool
    rows: Sequence[Standing]
    """Who is ranked, the best first."""
    unranked: Sequence[Standing]
    """The others, those with the most pull requests first."""
    pairs: Mapping[tuple[str, str], PairTest]
    """The paired test of every two ranked labels, the better one first."""
    warnings: Sequence[str] = ()
    labelled: int | None = None
    """Labelled blocks of the runs, where labels correct the figures of everybody."""

    @property
    def top(self) -> list[Standing]:
        """The first, and everybody who cannot be told apart from it."""
        return [row for row in self.rows if set(row.ties) & set(self.rows[0].ties)]

    @property
    def leader(self) -> Standing | None:
        """The first, where nobody shares a letter with it."""
        return self.rows[0] if len(self.rows) > 1 and len(self.top) == 1 else None

    @property
    def headline(self) -> str:
        """Who is best, as far as the tests say so."""
        return f"{self.standing}{self.basis}"

    @property
    def basis(self) -> str:
        """What the figures rest on besides the judge: a sentence, or nothing."""
        return f" Corrected by labels of {plural(self.labelled, 'block')}." if self.labelled else ""

    @property
    def standing(self) -> str:
        """The headline without its basis."""
        if not self.rows:
            return "Nobody is ranked."
        first, label = self.rows[0], self.sort.label
        value = first.figures.metrics[self.sort.name]
        shown = f"{label} {value:.3f}"
        where = f"on {plural(self.prs, 'pull request')}"
        if len(self.rows) == 1:
            return f"{first.label} has {shown} {where}."
        if self.leader:
            return f"{first.label} leads with {shown} {where}."
        names = [row.label for row in self.top]
        if len(names) > _NAMED:
            names = [*names[: _NAMED - 1], f"{len(names) - _NAMED + 1} others"]
        listed = f"{', '.join(names[:-1])} and {names[-1]}"
        return f"{listed} cannot be told apart at the top by {label}, {where}."

    def to_dict(self) -> JsonObject:
        by_labels = {"corrected_by_blocks": self.labelled} if self.labelled else {}
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "sort": self.sort.name,
            "beta": self.beta,
            "prs": self.prs,
            "min_coverage": self.min_coverage,
            "all_prs": self.all_prs,
            "headline": self.headline,
            "rows": [row.to_dict() for row in self.rows],
            "unranked": [row.to_dict() for row in self.unranked],
            "pairs": [
                {"a": a, "b": b, "diff": test.value, "p": test.p, "p_family": test.p_family}
                for (a, b), test in self.pairs.items()
            ],
            "warnings": list(self.warnings),
            **by_labels,
        }


def has_enough(prs: int, anybodys: int, min_coverage: float = MIN_COVERAGE) -> bool:
    """Whether somebody with so many of the pull requests that anybody has is ranked."""
    return prs >= min_coverage * anybodys


def leaderboard(
    runs: Sequence[Source],
    *,
    sort: str | None = None,
    beta: float | None = None,
    seed: int = 0,
    min_coverage: float = MIN_COVERAGE,
    all_prs: bool = False,
) -> Leaderboard:
    """Everybody in these runs, the best first by `sort` (f1, or mrr for routers).

    Ranked is who has at least `min_coverage` of the pull requests that anybody has; figures and tests are over those
    that all ranked ones have. All pairs are tested on the sort metric as one family, and two share a letter where they
    are not separated at 0.05. `all_prs`: everybody on all pull requests, silent where it has nothing. UsageError where
    the figures of two would not mean the same (another judge, distance, cutoff, other references), or a run shares
    no pull request with the others.
    """
    if not 0 <= min_coverage <= 1:
        raise UsageError(f"--min-coverage must lie between 0 and 1, found {min_coverage:g}.")
    everybody = _everybody(runs)
    alike, corrected = competitors.corrected_alike(list(everybody.values()))
    partly = not corrected and any(one.has_corrected for one in alike)
    everybody = dict(zip(everybody, alike, strict=True))
    first = next(iter(everybody.values())).run
    competitors.check_settings(list(everybody.values()))
    _check_benchmarks(list(everybody.values()))
    own = {label: competitors.with_beta(one.run, beta) for label, one in everybody.items()}
    measures = {name: measure for of_one in own.values() for name, measure in of_one.items()}
    if sort == "f_beta" and beta is None:
        raise UsageError("--sort: f_beta needs --beta.")
    default = competitors.main_measure(first) if beta is None else "f_beta"
    measure = find_measure(sort or default, measures.values(), "--sort")

    def figures(label: str, prs: Collection[str]) -> Figures:
        one, available = everybody[label], own[label].values()
        ends = dict.fromkeys(measures) | intervals(one.units(prs), available)
        of_all = rates(one.counts(prs).sum(axis=0), available, measures.values())
        return Figures(of_all, ends, one.summed(prs), one.costs(prs))

    on_own = {label: figures(label, one.rows) for label, one in everybody.items()}
    sizes = {label: len(one.rows) for label, one in everybody.items()}
    known, silence = competitors.silence(everybody.values())
    if all_prs:
        everybody = {label: one.with_silence(silence) for label, one in everybody.items()}
    enough = [label for label, one in everybody.items() if has_enough(len(one.rows), len(known), min_coverage)]
    prs = sorted(key for key in silence if all(key in everybody[label].rows for label in enough)) if enough else []
    compared = {label: figures(label, prs) for label in enough if prs}

    def best_first(label: str) -> tuple[float, str]:
        """Equal ones by name."""
        value = compared[label].metrics[measure.name] or 0.0
        return (value if measure.lower_is_better else -value, label)

    ranked = sorted((label for label in compared if compared[label].metrics[measure.name] is not None), key=best_first)
    pairs = pairwise_tests({label: everybody[label].units(prs) for label in ranked}, measure, alpha=TIES_AT, seed=seed)
    ties = tie_letters(ranked, [pair for pair, test in pairs.items() if test.separated])

    def standing(label: str, rank: int | None) -> Standing:
        one = everybody[label]
        head = (
            rank,
            label,
            ties.get(label, ""),
            one.name,
            competitors.folder_of(one.run),
            one.run,
            sizes[label],
            len(silence),
        )
        return Standing(*head, on_own[label] if rank is None else compared[label], on_own[label])

    others = sorted((label for label in everybody if label not in ranked), key=lambda label: (-sizes[label], label))
    board = Leaderboard(
        kind=first.kind.name,
        sort=measure,
        beta=beta,
        measures=list(measures.values()),
        prs=len(prs),
        min_coverage=min_coverage,
        all_prs=all_prs,
        rows=[standing(label, rank) for rank, label in enumerate(ranked, 1)],
        unranked=[standing(label, None) for label in others],
        pairs=pairs,
    )
    if corrected:
        runs_with_labels = {id(one.run): one.labelled for one in everybody.values()}
        board = replace(board, labelled=sum(runs_with_labels.values()))
    few_weeks = week_warning(everybody[ranked[0]].weeks(prs)) if ranked and not is_comments(first) else None
    some = "labels correct the figures of some runs and not of all, so that all are as judged"
    more = [*([few_weeks] if few_weeks else []), *([some] if partly else [])]
    return replace(board, warnings=[*_warnings(board, len(known)), *more])


def _everybody(sources: Sequence[Source]) -> dict[str, Competitor]:
    """Everybody in these runs by a label that nobody else has. A run that is named twice counts once."""
    runs: dict[object, AnyRun] = {}
    for run in map(competitors.open_run, sources):
        runs.setdefault(id(run) if run.folder is None else run.folder.resolve(), run)
    numbered = [(f"run {number}", one) for number, run in enumerate(runs.values(), 1) for one in competitors.read(run)]
    if not numbered:
        raise UsageError("Name at least one run; these hold nobody to rank.")
    parts = [(one.run.label, number) for number, one in numbered]
    everybody = competitors.spelled_alike([one for _, one in numbered])
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


def _warnings(board: Leaderboard, known: int) -> Iterator[str]:
    if few := [
        row for row in board.unranked if not board.all_prs and not has_enough(row.prs, known, board.min_coverage)
    ]:
        names = ", ".join(f"{row.label} ({row.prs} of {row.of})" for row in few)
        yield (
            f"not ranked, with under {board.min_coverage:.0%} of the {known} pull requests that anybody has: {names}."
            " Figures on other pull requests do not compare; --all-prs counts the missing ones as silence,"
            " --min-coverage changes the share"
        )
    if none := [row for row in board.unranked if row not in few]:
        if board.prs:
            yield f"not ranked, without a figure for {board.sort.label}: {', '.join(row.label for row in none)}"
        else:
            yield "nobody is ranked: no pull request is everybody's; --all-prs counts the missing ones as silence"
    if any(row.prs != board.prs for row in board.rows) and not board.all_prs:
        yield (
            f"figures and tests are over the {board.prs} pull requests that all ranked ones have; each one's figure on"
            " its own stands beside"
        )
    undecided = sum(row.undecided for row in (*board.rows, *board.unranked))
    if undecided:
        yield f"{plural(undecided, 'pair')} stayed undecided and count as no match"
