"""Everybody whose comments something became of, each on the pull requests that it had."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from metareview.comments.measures import rates
from metareview.comparison import competitors
from metareview.comparison.competitors import Competitor
from metareview.comparison.sample_units import TwoSamples, in_units, weeks_of
from metareview.comparison.standings import MIN_COVERAGE, TIES_AT, Figures, Leaderboard, Standing
from metareview.model.measure import Measure, find_measure
from metareview.model.words import plural
from metareview.stats import intervals
from metareview.ties import MOST_TESTED, tie_letters
from metareview.unpaired import FEWEST_UNITS, Sample, independent_pairs


def sample_of(one: Competitor, keys: Sequence[str] | None = None) -> Sample:
    """Its pull requests, or these of them, as the statistics see them."""
    chosen = list(one.rows) if keys is None else keys
    return Sample(chosen, one.counts(chosen), one.hidden_variances(chosen, one.measures))


def known_of(sample: Sample, measures: Mapping[str, Measure]) -> dict[str, int]:
    """How many comments each figure is over."""
    sums = sample.counts.sum(axis=0)
    return {name: round(float(measure.parts(sums)[1])) for name, measure in measures.items()}


def outcome_board(everybody: Mapping[str, Competitor], *, sort: str | None = None, seed: int = 0) -> Leaderboard:
    """Everybody by label, the best first by `sort` (lines_changed), each on its own pull requests.

    Nobody is left out for having other pull requests than the others; who has a figure on fewer than `FEWEST_UNITS`, of
    which no test can tell anything, is listed without a rank. All pairs are tested as two samples, with Holm's
    correction over the pairs, and two share a letter where they are not separated at 0.05. A pair's units are its own:
    blocks of weeks where both have 10 of them.
    """
    measures = {measure.name: measure for one in everybody.values() for measure in one.measures}
    first = next(iter(everybody.values())).run
    measure = find_measure(sort or competitors.main_measure(first), measures.values(), "--sort")
    samples = {label: sample_of(one) for label, one in everybody.items()}

    def figures(label: str) -> Figures:
        own = {each.name: each for each in everybody[label].measures}
        counts = samples[label].counts
        ends = dict.fromkeys(measures) | intervals(counts, own.values(), samples[label].extra)
        known = dict.fromkeys(measures, 0) | known_of(samples[label], own)
        found = rates(counts.sum(axis=0), own.values(), measures.values())
        # Counts that labels correct are estimates, so that a rate of them may lie beyond.
        cut = {name: None if value is None else min(1.0, max(0.0, value)) for name, value in found.items()}
        return Figures(cut, ends, None, known)

    on_own = {label: figures(label) for label in everybody}
    units = {label: int((measure.parts(sample.counts)[1] != 0).sum()) for label, sample in samples.items()}

    def best_first(label: str) -> tuple[float, str]:
        value = on_own[label].metrics[measure.name] or 0.0
        return (value if measure.lower_is_better else -value, label)

    ranked = sorted((label for label in everybody if units[label] >= FEWEST_UNITS), key=best_first)
    tested = ranked if len(ranked) <= MOST_TESTED else []
    compared = {
        (one, other): in_units(samples[one], samples[other], weeks_of(everybody[one], everybody[other]))
        for one, other in combinations(tested, 2)
    }
    pairs = independent_pairs(
        {names: (pair.a, pair.b) for names, pair in compared.items()}, measure, alpha=TIES_AT, seed=seed
    )
    ties = tie_letters(tested, [pair for pair, test in pairs.items() if test.separated])

    def standing(label: str, rank: int | None) -> Standing:
        one, prs = everybody[label], len(everybody[label].rows)
        head = rank, label, ties.get(label, ""), one.name, competitors.folder_of(one.run), one.run
        return Standing(*head, prs, prs, on_own[label], on_own[label])

    others = sorted((label for label in everybody if label not in ranked), key=lambda label: (-units[label], label))
    unranked = [standing(label, None) for label in others]
    return Leaderboard(
        kind=first.kind.name,
        sort=measure,
        beta=None,
        measures=list(measures.values()),
        prs=len({key for one in everybody.values() for key in one.rows}),
        min_coverage=MIN_COVERAGE,
        all_prs=False,
        rows=[standing(label, rank) for rank, label in enumerate(ranked, 1)],
        unranked=unranked,
        pairs=pairs,
        warnings=[*_warnings(unranked, measure), *_unit_warnings(list(compared.values()))],
    )


def _warnings(unranked: Sequence[Standing], measure: Measure) -> Iterator[str]:
    few = [row.label for row in unranked if row.figures.metrics[measure.name] is not None]
    none = [row.label for row in unranked if row.figures.metrics[measure.name] is None]
    if few:
        least = plural(FEWEST_UNITS, "pull request")
        yield f"not ranked, with {measure.label} known on fewer than {least}: {_listed(few)}"
    if none:
        yield f"not ranked, without a figure for {measure.label}: {_listed(none)}"


def _unit_warnings(compared: Sequence[TwoSamples]) -> Iterator[str]:
    """What the tests of some pairs do not know, each once."""
    for warning, number in Counter(pair.warning for pair in compared).items():
        if warning:
            yield f"{warning} ({number} of {plural(len(compared), 'pair')})"


def _listed(names: Sequence[str], most: int = 10) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
