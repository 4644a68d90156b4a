"""One table over runs and their reviewers (or routers), with intervals and groups of statistical ties."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from metareview.comments.measures import rates, total
from metareview.comments.units import PULL_REQUEST, compared_warnings
from metareview.comparison import competitors
from metareview.comparison.competitors import Competitor, Source
from metareview.comparison.corrected import named_corrected
from metareview.comparison.judge_parameters import mixed_examples as check_examples
from metareview.comparison.judge_parameters import mixed_servers
from metareview.comparison.outcome_board import outcome_board
from metareview.comparison.reviewer_units import over_one_unit, tables_of
from metareview.comparison.settings import check_settings
from metareview.comparison.standings import (
    MIN_COVERAGE,
    TIES_AT,
    Figures,
    Leaderboard,
    Standing,
    has_enough,
    unit_warnings,
)
from metareview.errors import UsageError
from metareview.model.measure import find_measure
from metareview.model.words import plural
from metareview.runs.run import AnyRun, is_comments, is_outcomes
from metareview.stats import NO_VARIANCE, intervals
from metareview.ties import MOST_TESTED, pairwise_tests, tie_letters

_PARTLY = "labels correct the figures of some runs and not of all, so that all are as judged"


def leaderboard(
    runs: Sequence[Source],
    *,
    sort: str | None = None,
    beta: float | None = None,
    seed: int = 0,
    min_coverage: float = MIN_COVERAGE,
    all_prs: bool = False,
    mixed_examples: bool = False,
    unit: str | None = None,
) -> Leaderboard:
    """Everybody in these runs, the best first by `sort` (f1; mrr for routers, lines_changed for outcomes).

    Ranked is who has at least `min_coverage` of the pull requests that anybody has; figures and tests are over those
    that all ranked ones have. All pairs are tested on the sort metric as one family, and two share a letter where they
    are not separated at 0.05. `all_prs`: everybody on all pull requests, silent where it has nothing. UsageError where
    the figures of two would not mean the same (another judge, distance, cutoff, other references), or a run shares
    no pull request with the others. So too where judges learned from different examples, unless `mixed_examples`, which
    only warns. `unit`: what intervals and tests of reviewers are over, `pr` or `repository`, if not what the runs have.
    Runs of outcomes are ranked as `outcome_board` says.
    """
    if not 0 <= min_coverage <= 1:
        raise UsageError(f"--min-coverage must lie between 0 and 1, found {min_coverage:g}.")
    everybody = _everybody(runs)
    alike, corrected = competitors.corrected_alike(over_one_unit(list(everybody.values()), unit))
    partly = not corrected and any(one.has_corrected for one in alike)
    everybody = dict(zip(everybody, alike, strict=True))
    first = next(iter(everybody.values())).run
    all_runs = [one.run for one in everybody.values()]
    check_settings(all_runs)
    mixed = check_examples(all_runs, allowed=mixed_examples)
    servers = mixed_servers(all_runs)
    if is_outcomes(first):
        if beta is not None:
            competitors.with_beta(first, beta)  # says why there is none
        if all_prs or min_coverage != MIN_COVERAGE:
            raise UsageError(
                f"{'--all-prs' if all_prs else '--min-coverage'} is for runs against references. What became of"
                " comments is known on the pull requests that each reviewer had: everybody is ranked on its own."
            )
        board = outcome_board(everybody, sort=sort, seed=seed)
        board = _by_labels(board, everybody.values()) if corrected else board
        return replace(board, warnings=[*servers, *board.warnings, *([_PARTLY] if partly else [])])
    _check_benchmarks(list(everybody.values()))
    own = {label: competitors.with_beta(one.run, beta) for label, one in everybody.items()}
    measures = {name: measure for of_one in own.values() for name, measure in of_one.items()}
    if sort == "f_beta" and beta is None:
        raise UsageError("--sort: f_beta needs --beta.")
    default = competitors.main_measure(first) if beta is None else "f_beta"
    measure = find_measure(sort or default, measures.values(), "--sort")

    def figures(label: str, prs: Collection[str]) -> Figures:
        one, available = everybody[label], own[label].values()
        ends = dict.fromkeys(measures) | intervals(
            one.rows_of_units(prs), available, one.extra_variance(prs, available)
        )
        of_all = rates(total(one.counts(prs)), available, measures.values())
        if corrected:  # estimated counts, so that a rate of them may lie beyond
            of_all = {name: None if value is None else min(1.0, max(0.0, value)) for name, value in of_all.items()}
        return Figures(of_all, ends, one.summed(prs), costs=one.costs(prs))

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
    tested = ranked if len(ranked) <= MOST_TESTED else []
    tables = {label: everybody[label].rows_of_units(prs) for label in tested}
    extra = {label: everybody[label].extra_variance(prs, [measure]).get(measure.name, NO_VARIANCE) for label in tested}
    pairs = pairwise_tests(tables, measure, alpha=TIES_AT, seed=seed, extra=extra)
    ties = tie_letters(tested, [pair for pair, test in pairs.items() if test.separated])

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
        figures = on_own[label] if rank is None else compared[label]
        repeats = one.run.result.reviewers[one.name].repeats if is_comments(one.run) else None
        return Standing(*head, figures, on_own[label], repeats)

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
        units=everybody[ranked[0]].units(prs) if ranked else None,
    )
    board = _by_labels(board, everybody.values()) if corrected else board
    of_units = unit_warnings(board.units) if competitors.is_routing(first) else ()
    tables_of_ranked = tables_of({label: everybody[label] for label in ranked}, prs)
    unit = next((one.unit for one in everybody.values()), PULL_REQUEST)
    caveats = compared_warnings(tables_of_ranked, list(measures.values()), unit)
    more = [*of_units, *caveats, *([_PARTLY] if partly else [])]
    return replace(board, warnings=[*mixed, *servers, *_warnings(board, len(known)), *more], mixed_examples=bool(mixed))


def _by_labels(board: Leaderboard, everybody: Iterable[Competitor]) -> Leaderboard:
    """The board of counts that labels correct, with how many are labelled, and its figures named accordingly."""
    labelled = sum({id(one.run): one.labelled for one in everybody}.values())
    measures = [named_corrected(measure) for measure in board.measures]
    return replace(board, labelled=labelled, sort=named_corrected(board.sort), measures=measures)


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
    if competitors.some_benchmarks_differ(everybody):  # then every two are looked at, to name the first
        for one, other in combinations(everybody, 2):
            different = competitors.different_benchmarks(one, other)
            if different:
                raise UsageError(
                    f"{one.run.label} and {other.run.label} are on different benchmarks:"
                    f" {plural(len(different), 'pull request has', 'pull requests have')} other references"
                    f" ({different[0]}). Evaluate both against the same files."
                )
    keys: dict[int, set[str]] = {}
    for one in everybody:
        keys.setdefault(id(one.run), set()).update(one.rows)
    runs_with = Counter(key for of_run in keys.values() for key in of_run)
    for one in everybody:
        if len(keys) > 1 and all(runs_with[key] == 1 for key in keys[id(one.run)]):
            raise UsageError(f"{one.run.label} shares no pull request with the other runs. Rank it on its own.")


def _warnings(board: Leaderboard, known: int) -> Iterator[str]:
    if few := [
        row for row in board.unranked if not board.all_prs and not has_enough(row.prs, known, board.min_coverage)
    ]:
        names = ", ".join(f"{row.label} ({row.prs} of {row.of})" for row in few)
        yield (
            f"not ranked, with under {board.min_coverage:.0%} of the {plural(known, 'pull request')} that anybody has:"
            f" {names}. Figures on other pull requests do not compare; --all-prs counts the missing ones as silence,"
            " --min-coverage changes the share"
        )
    if none := [row for row in board.unranked if row not in few]:
        if board.prs:
            yield f"not ranked, without a figure for {board.sort.label}: {', '.join(row.label for row in none)}"
        else:
            yield "nobody is ranked: no pull request is everybody's; --all-prs counts the missing ones as silence"
    if any(row.prs != board.prs for row in board.rows) and not board.all_prs:
        yield (
            f"figures and tests are over the {plural(board.prs, 'pull request')} that all ranked ones have; each one's"
            " figure on its own stands beside"
        )
    undecided = sum(row.undecided for row in (*board.rows, *board.unranked))
    if undecided:
        yield f"{plural(undecided, 'pair')} stayed undecided and count as no match"
