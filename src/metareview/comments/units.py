"""What intervals and tests of comments are over, pull requests or repositories, and when to doubt an interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from metareview.comments.measures import MAIN, Counts, positive_match_rate
from metareview.comments.measures import f1 as general_f1
from metareview.errors import UsageError
from metareview.model.address import repository_of
from metareview.model.measure import Measure, Sums
from metareview.model.words import counted
from metareview.stats import Extra, Interval, intervals, summed

PULL_REQUEST, REPOSITORY = UNITS = ("pr", "repository")
FEWEST_REPOSITORIES = 10
"""With fewer, there are no intervals over repositories beside the others."""
_WIDER = 1.25
"""Ratio of widths from which an interval over repositories is reported."""
_FEWEST_PULL_REQUESTS, _DOMINANT = 10, 0.2
"""Of so many pull requests, one that holds more than this share of the comments is named."""
_GENERATED = list(Counts.__dataclass_fields__).index("generated")


def check_unit(unit: str) -> None:
    if unit not in UNITS:
        raise UsageError(f"--unit is {unit!r}, and must be {' or '.join(UNITS)}.")


def repository_key_of(pr: str) -> str:
    """Its repository; a pull request whose name tells none is a repository of its own."""
    return repository_of(pr) or pr


def unit_rows(counts: Sums, prs: Sequence[str], unit: str) -> Sums:
    """The table that intervals and tests are over: a row for each pull request, or the sums of each repository."""
    return counts if unit == PULL_REQUEST else summed(counts, list(map(repository_key_of, prs)))[1]


def repository_intervals(
    counts: Sums, prs: Sequence[str], measures: Sequence[Measure], extra: Extra | None = None
) -> Mapping[str, Interval]:
    """The intervals of the main measures over repositories that are wider, by a quarter or more, than those over pull
    requests; none where there are fewer than ten repositories. `extra`: what both take in besides."""
    repositories, rows = summed(counts, list(map(repository_key_of, prs)))
    if not FEWEST_REPOSITORIES <= len(repositories) < len(prs):
        return {}
    names = {each.name for each in MAIN}
    main = [measure for measure in measures if measure.name in names]
    by_pull_request, by_repository = intervals(counts, main, extra), intervals(rows, main, extra)
    found = {}
    for name, narrow in by_pull_request.items():
        wide = by_repository[name]
        if narrow and wide and wide[1] - wide[0] > _WIDER * (narrow[1] - narrow[0]):
            found[name] = wide
    return found


@dataclass(frozen=True)
class ReviewerTable:
    """A reviewer's counts, a row for each of its pull requests."""

    name: str
    prs: Sequence[str]
    counts: Sums
    extra: Extra = field(default_factory=dict)
    """What its figures vary by beside these rows."""


def interval_warnings(tables: Sequence[ReviewerTable], measures: Sequence[Measure], unit: str) -> Iterator[str]:
    """Caveats of the intervals of these reviewers."""
    yield from compared_warnings(tables, measures, unit)
    if unit == REPOSITORY:
        return
    wider = {table.name: repository_intervals(table.counts, table.prs, measures, table.extra) for table in tables}
    labels = {measure.name: measure.label for measure in measures}
    listed = [f"{name}'s {_main_interval(found, labels)}" for name, found in wider.items() if found]
    if listed:
        yield (
            "pull requests of one repository resemble each other, and over repositories these 95 % intervals are wider"
            f" by a quarter or more: {'; '.join(listed)}. --unit repository uses them"
        )


def _main_interval(found: Mapping[str, Interval], labels: Mapping[str, str]) -> str:
    """F1's interval, or the first of those that are wider."""
    name = general_f1.name if general_f1.name in found else next(iter(found))
    return f"{labels[name]} {found[name][0]:.3f} to {found[name][1]:.3f}"


def compared_warnings(tables: Sequence[ReviewerTable], measures: Sequence[Measure], unit: str) -> Iterator[str]:
    """Each reviewer of whom one pull request holds over a fifth of the comments, and those with few repositories where
    these are the units."""
    for table in tables:
        yield from _dominant_warning(table, measures)
    if unit == REPOSITORY:
        numbers = {table.name: len(set(map(repository_key_of, table.prs))) for table in tables}
        few = [f"{name} has {number}" for name, number in numbers.items() if number < FEWEST_REPOSITORIES]
        if few:
            yield f"intervals over fewer than {FEWEST_REPOSITORIES} repositories are rough: {', '.join(few)}"


def _dominant_warning(table: ReviewerTable, measures: Sequence[Measure]) -> Iterator[str]:
    """One pull request with over a fifth of the comments, and what precision and F1 would be without it."""
    counts, comments = table.counts, table.counts[:, _GENERATED]
    if len(table.prs) < _FEWEST_PULL_REQUESTS or comments.max() <= _DOMINANT * comments.sum():
        return
    at = int(comments.argmax())
    sums = counts.sum(axis=0)
    figures_without = []
    for measure in measures:
        if measure.name in (positive_match_rate.name, general_f1.name):
            value, without = measure.value(sums), measure.value(sums - counts[at])
            if value is not None and without is not None:
                figures_without.append(f"{measure.label} {without:.3f} in place of {value:.3f}")
    figures = f"; without it {' and '.join(figures_without)}" if figures_without else ""
    yield (
        f"{table.name}: {counted(comments[at])} of its {counted(comments.sum())} comments are on one pull request,"
        f" {table.prs[at]}, so that its intervals hold less often than they promise{figures}"
    )
