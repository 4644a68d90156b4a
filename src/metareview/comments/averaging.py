"""One record of a reviewer's repeated runs on a pull request: the mean of what they count, and all that they say.

Comments of all runs keep their positions, which no two of them share, so that whatever is looked up by pull request,
reviewer and position is found in the record of all runs as well as in that of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, groupby
from typing import Any, TypeVar, overload

from metareview.comments.costs import KINDS, Spent
from metareview.comments.measures import MEASURES, Counts, rates, table, whole
from metareview.comments.records import CommentRecord, RunCounts, ScoredComment, ScoredReference, Tally
from metareview.errors import InputError

Numbers = TypeVar("Numbers", Counts, Tally)
Item = TypeVar("Item")


def averaged_by_pull_request(records: Iterable[CommentRecord]) -> Iterator[CommentRecord]:
    """The records in their order, those of one reviewer's runs on a pull request as one. They stand together."""
    for _, group in groupby(records, key=lambda record: (record.key, record.run is None)):
        of_runs = list(group)
        if of_runs[0].run is None:
            yield from of_runs  # two of one key are no runs, and whoever checks a folder says so
        else:
            yield averaged(of_runs)


def averaged(records: Sequence[CommentRecord]) -> CommentRecord:
    """The runs of one reviewer on one pull request as one record; counts are means over these runs.

    A run that a filter drops there, by a language that only its own records name, is none of them. InputError where
    the runs do not have the same references, which only a broken folder can hold.
    """
    records = [record for record in records if not record.skipped] or records
    first = records[0]
    if len({tuple(each.position for each in record.references) for record in records}) > 1:
        raise InputError(
            f"the runs of {first.reviewer} on {first.pr} have different references",
            fix="Run the evaluation again with --overwrite.",
        )
    names = tuple(record.run or "" for record in records)
    if first.skipped:
        return replace(first, run=None, runs=names)
    counts = _mean(record.counts for record in records)
    # What no run has a figure for is undefined for their mean too.
    measured = [
        measure for measure in MEASURES if any(record.rates.get(measure.name) is not None for record in records)
    ]
    return replace(
        first,
        counts=counts,
        rates=rates(table([counts])[0], measured),
        left_out=whole(sum(record.left_out for record in records) / len(records)),
        judged_pairs=sum(record.judged_pairs for record in records),
        slices={
            name: {
                value: _mean(record.slices.get(name, {}).get(value, Tally()) for record in records)
                for value in dict.fromkeys(value for record in records for value in record.slices.get(name, {}))
            }
            for name in first.slices
        },
        comments=_AllRuns(records, _comments_of),
        matches=tuple(chain.from_iterable(record.matches for record in records)),
        comparisons=_AllRuns(records, lambda record: record.comparisons),
        references=tuple(_reference(each) for each in zip(*(record.references for record in records), strict=True)),
        bounds=_mean_bounds(records),
        repeated=_mean_repeated(records),
        spent=Spent(*(_mean_spent(getattr(record.spent, kind) for record in records) for kind in KINDS)),
        run=None,
        runs=names,
        of_runs=tuple(RunCounts(record.counts, record.slices) for record in records),
    )


def _comments_of(record: CommentRecord) -> Iterable[ScoredComment]:
    return (replace(scored, run=record.run) for scored in record.comments)


class _AllRuns(Sequence[Item]):
    """What all runs have of something, one after the other; put together when somebody looks: few readers do."""

    def __init__(self, records: Sequence[CommentRecord], of_run: Callable[[CommentRecord], Iterable[Item]]) -> None:
        self._records, self._of_run = records, of_run

    @cached_property
    def _items(self) -> list[Item]:
        return [item for record in self._records for item in self._of_run(record)]

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        return self._items[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._items == list(other)

    __hash__ = None  # type: ignore[assignment]


def _mean(several: Iterable[Numbers]) -> Numbers:
    """Field by field; None where it is None in all."""
    rows = list(several)
    columns = zip(*(row.values() for row in rows), strict=True)
    # Of whole numbers, so that the order of the runs cannot change the last digit.
    means: list[Any] = [None if None in column else whole(sum(column) / len(column)) for column in columns]
    return type(rows[0])(*means)


def _mean_bounds(records: Sequence[CommentRecord]) -> tuple[Counts, Counts] | None:
    """None where a run with undecided pairs has none, or where nothing is undecided."""
    if not any(record.counts.undecided for record in records):
        return None
    ends = [record.bounds or (record.counts, record.counts) for record in records]
    if any(record.bounds is None and record.counts.undecided for record in records):
        return None
    return _mean(low for low, _ in ends), _mean(high for _, high in ends)


def _mean_repeated(records: Sequence[CommentRecord]) -> float | None:
    known = [record.repeated for record in records if record.repeated is not None]
    return whole(sum(known) / len(known)) if len(known) == len(records) else None


def _mean_spent(amounts: Iterable[float | None]) -> float | None:
    """None where it is not known of each run: the mean is over all of them, as are the matches beside it."""
    known = list(amounts)
    return None if None in known else whole(sum(amount for amount in known if amount is not None) / len(known))


def _reference(of_runs: Sequence[ScoredReference]) -> ScoredReference:
    lines = [each.line_covered for each in of_runs]
    return replace(
        of_runs[0],
        covered=any(each.covered for each in of_runs),
        line_covered=None if None in lines else any(lines),
        found_in=sum(each.covered for each in of_runs),
        runs=len(of_runs),
    )
