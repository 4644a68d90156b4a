"""Why a run's files make no sense together: asked when something went wrong, to tell a broken run from a defect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from metareview.comments.records import Pair
from metareview.errors import InputError, MetareviewError
from metareview.model.time import parse_time, show_time
from metareview.runs.kind import Key
from metareview.runs.run import (
    AnyRun,
    CommentsRun,
    OutcomesRun,
    RoutingRun,
    is_comments,
    is_outcomes,
    load_run,
    run_key,
)
from metareview.runs.shape import check_shape

WRONG = (ArithmeticError, AttributeError, LookupError, RecursionError, RuntimeError, TypeError, ValueError)
"""What code raises that meets something else than its types promise."""
_Known = dict[Key, tuple[set[int], set[int], set[int]]]


def unsound(folder: Path) -> MetareviewError | None:
    """What is wrong with the finished run in a folder, with the fix; None where nothing is to be found.

    All of it is read, and every field is held to its type: too slow for who only wants a figure.
    """
    try:
        run: AnyRun = load_run(folder)
        if is_comments(run):
            _check_comments(run)
        elif is_outcomes(run):
            _check_outcomes(run)
        else:
            _check_routing(run)
    except MetareviewError as error:
        return error
    except WRONG as error:
        return InputError(
            f"a broken run: its files do not fit one another ({str(error)[:200]})",
            file=folder,
            fix="Run the evaluation again with --overwrite.",
        )
    return None


@contextmanager
def broken_runs_told(*folders: Path | None) -> Iterator[None]:
    """Tells a run whose files make no sense from a defect of ours: the first is the user's to mend, and says how."""
    try:
        yield
    except WRONG as error:
        with suppress(OSError):
            for folder in folders:
                if folder is not None and (problem := unsound(folder)) is not None:
                    raise problem from error
        raise


def _check_comments(run: CommentsRun) -> None:
    names = [measure.name for measure in run.result.measures]
    _check_measures([each.metrics for each in run.result.reviewers.values()], names)
    known: _Known = {}
    of_whom: list[Key] = []
    positions: set[int] = set()
    """Of the comments of the latest of these, whose repeated runs stand together and share no position."""
    for record in run.read_run_records():
        check_shape(record)
        if of_whom[-1:] != [record.key]:
            of_whom.append(record.key)
            positions = set()
        if record.run_key in known:
            raise ValueError(f"two records of {record.reviewer} on {record.pr}")
        known[record.run_key] = (
            {each.position for each in record.comments},
            {each.position for each in record.references},
            {each.position for each in record.negatives},
        )
        if len(known[record.run_key][0] - positions) < len(record.comments):
            raise ValueError(f"two comments of {record.reviewer} on {record.pr} at one position")
        positions |= known[record.run_key][0]
        for generated, reference in record.matches:
            _check_position(known, record.run_key, generated, reference)
        for compared in record.comparisons:
            _check_position(known, record.run_key, compared.generated, compared.reference)
    if len(set(of_whom)) < len(of_whom):
        raise ValueError("records of repeated runs that do not stand together")
    judged: set[tuple[Key, int, int, bool]] = set()
    for pair in run.read_pairs():
        check_shape(pair)
        _check_pair(known, pair)
        which = run_key(pair), pair.generated, pair.reference, pair.negative
        if which in judged:
            raise ValueError(f"two verdicts on one pair of {pair.reviewer} on {pair.pr}")
        judged.add(which)


def _check_pair(known: _Known, pair: Pair) -> None:
    _check_position(known, run_key(pair), pair.generated, pair.reference, negative=pair.negative)


def _check_position(known: _Known, key: Key, generated: int, other: int, *, negative: bool = False) -> None:
    if key not in known:
        raise ValueError(f"a pair of {key[1]} on {key[0]}, which has no record")
    comments, references, negatives = known[key]
    if generated not in comments or other not in (negatives if negative else references):
        raise ValueError(f"a pair of {key[1]} on {key[0]} with a comment or a reference that its record has not")


def _check_outcomes(run: OutcomesRun) -> None:
    known: set[Key] = set()
    for record in run.read_records():
        check_shape(record)
        if record.key in known:
            raise ValueError(f"two records of {record.reviewer} on {record.pr}")
        known.add(record.key)
        positions = [outcome.position for outcome in record.comments]
        if len(set(positions)) < len(positions):
            raise ValueError(f"two comments of {record.reviewer} on {record.pr} at one position")
        for outcome in record.comments:
            if outcome.comment.at is not None:
                parse_time(outcome.comment.at)


def _check_measures(tables: Iterable[Mapping[str, object]], measures: Iterable[str] = ()) -> None:
    """Whether each has all of these measures, and the same ones as the others."""
    told = list(tables)
    for table in told:
        if without := set(measures).union(*told) - table.keys():
            raise ValueError(f"figures without {min(without)}")


def _check_routing(run: RoutingRun) -> None:
    routers = run.result.routers.values()
    for tables in ([each.metrics for each in routers], [each.intervals for each in routers]):
        _check_measures(tables, [measure.name for measure in run.result.measures])
    _check_measures([each.observed_metrics for each in routers])
    known = [each.expertise for each in routers if each.expertise is not None]
    for figures in ([each.metrics for each in known], [each.observed_metrics for each in known]):
        _check_measures(figures)
    for record in run.read_records():
        check_shape(record)
        for at in (record.created_at, record.cutoff, *(event.at for event in record.truth.events)):
            show_time(at)
        if without := record.answers.keys() - run.result.routers.keys():
            raise ValueError(f"answers of {min(without)} without figures")
