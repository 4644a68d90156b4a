"""A finished run, in memory or in a folder: its configuration, its figures, its records, its pairs."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeGuard, TypeVar

from metareview.errors import InputError
from metareview.formats.checksums import SCHEMA, check_counts, check_records, damaged, verify_files
from metareview.runs.files import MANIFEST, PAIRS, RESULTS, SUMMARY, JsonObject, read_json, read_lines
from metareview.runs.kind import Key, Kind, RecordT, SummaryT, kind_named
from metareview.runs.labels import FRAME, LABELS, UNLISTED
from metareview.runs.manifest import Manifest as Manifest
from metareview.runs.manifest import now as now
from metareview.runs.parts import has_lines, has_parts, part_files, parts_of
from metareview.runs.recount import OtherFiguresError
from metareview.runs.shape import check_shape

if TYPE_CHECKING:
    from metareview.comments.measures import Rates
    from metareview.comments.records import CommentRecord, Pair
    from metareview.comments.summary import CommentsSummary
    from metareview.outcomes.records import OutcomeRecord
    from metareview.outcomes.summary import OutcomesSummary
    from metareview.routing.records import RoutingRecord
    from metareview.routing.summary import RoutingSummary

_RUNS_NAMED = 3


@dataclass(frozen=True)
class Run(Generic[SummaryT, RecordT]):
    """A finished run. Records and pairs are read anew each time from its folder, or from memory if it has none."""

    kind: Kind[SummaryT, RecordT]
    result: SummaryT
    manifest: Manifest
    folder: Path | None = None
    kept_records: Sequence[RecordT] = ()
    kept_pairs: Sequence[Callable[[], Iterator[Pair]]] = ()
    """For a run without a folder: what gives each record's pairs, worked out only if somebody asks."""

    @property
    def label(self) -> str:
        """What messages call it."""
        return "the run in memory" if self.folder is None else str(self.folder)

    @property
    def has_labels(self) -> bool:
        """Whether anything was drawn, grouped or labelled in its folder."""
        folder = self.folder
        return folder is not None and any((folder / name).exists() for name in (LABELS, FRAME, UNLISTED))

    @property
    def summary(self) -> dict[str, Any]:
        """What --json prints."""
        return self.kind.summary_to_json(self.result, None if self.folder is None else str(self.folder))

    @property
    def metrics(self) -> Mapping[str, Rates]:
        """Each reviewer's, or each router's, figures by the name of the measure."""
        return self.result.metrics

    def read_records(self) -> Iterator[RecordT]:
        """One per pull request and reviewer: those of repeated runs are one, with the means of their counts."""
        records = self.kind.together(self.read_run_records())
        return records if self.folder is None else _together(records, self.folder)

    def read_run_records(self) -> Iterator[RecordT]:
        """As they are stored: repeated runs each have their own."""
        if self.folder is None:
            return iter(self.kept_records)
        return _typed(read_lines(self.folder / RESULTS, self.kind.parse), self.kind.record_from_json, self.folder)

    def read_pairs(self, of: Container[Key] | None = None) -> Iterator[Pair]:
        """All pairs, or those of these records; the others are passed over before anything is made of them."""
        if self.folder is None:
            every = (pair for pairs in self.kept_pairs for pair in pairs())
            return every if of is None else (pair for pair in every if (pair.pr, pair.reviewer) in of)
        from metareview.runs.comments_json import pair_from_json

        lines = read_lines(self.folder / PAIRS)
        if of is not None:
            lines = (line for line in lines if _may_be_of(line, of))
        return _typed(lines, pair_from_json, self.folder)


def _may_be_of(line: JsonObject, records: Container[Key]) -> bool:
    """Also true of a line that is no pair: whoever reads it on says so."""
    try:
        return (line["pr"], line["reviewer"]) in records
    except (KeyError, TypeError):
        return True


AnyRun = Run[Any, Any]
if TYPE_CHECKING:
    CommentsRun = Run[CommentsSummary, CommentRecord]
    RoutingRun = Run[RoutingSummary, RoutingRecord]
    OutcomesRun = Run[OutcomesSummary, OutcomeRecord]
else:  # Their records are imported only where runs of that kind are.
    CommentsRun = RoutingRun = OutcomesRun = AnyRun


def is_comments(run: AnyRun) -> TypeGuard[CommentsRun]:
    return run.kind.name == "comments"


def is_outcomes(run: AnyRun) -> TypeGuard[OutcomesRun]:
    return run.kind.name == "outcomes"


def run_key(pair: Pair) -> Key:
    """That of the record that a pair is of."""
    return (pair.pr, pair.reviewer) if pair.run is None else (pair.pr, pair.reviewer, pair.run)


def records_with_pairs(run: CommentsRun) -> Iterator[tuple[CommentRecord, list[Pair]]]:
    """Each record that was scored, with its pairs: both are stored in the same order. Each repeated run has its own."""
    groups = groupby(run.read_pairs(), key=run_key)
    key, group = next(groups, (None, iter(())))
    for record in run.read_run_records():
        pairs: list[Pair] = []
        if key == record.run_key:
            pairs = list(group)
            key, group = next(groups, (None, iter(())))
        if not record.skipped:
            yield record, pairs
    if key is not None:
        problem = f"pairs without a record ({key[1]} on {key[0]})"
        raise InputError(problem, file=run.label, fix="Run the evaluation again with --overwrite.")


Stored = TypeVar("Stored")


def _checked(kind: Kind[Any, Any], line: JsonObject) -> JsonObject:
    kind.check_record(line)
    return line


def _typed(lines: Iterator[JsonObject], read: Callable[[JsonObject], Stored], folder: Path) -> Iterator[Stored]:
    for number, line in enumerate(lines, 1):
        try:
            yield read(line)
        except OtherFiguresError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, InputError) as error:
            raise InputError(
                f"line {number} of a file of this run cannot be read ({type(error).__name__}: {error})",
                file=folder,
                fix="Run the evaluation again with --overwrite.",
            ) from None


def _together(records: Iterator[Stored], folder: Path) -> Iterator[Stored]:
    try:
        yield from records
    except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"the repeated runs on a pull request do not fit one another ({type(error).__name__}: {error})",
            file=folder,
            fix="Run the evaluation again with --overwrite.",
        ) from None


def _which_run(folder: Path) -> str:
    """What to name in the place of a folder that is no run's: the runs in it, if it holds any."""
    try:
        held = sorted(each.name for each in folder.iterdir() if (each / MANIFEST).is_file())
    except OSError:
        held = []
    if not held:
        return "Name one that --out made; it has a manifest.json."
    more = ", …" if len(held) > _RUNS_NAMED else ""
    return f"It holds runs; name one of them: {', '.join(str(folder / name) for name in held[:_RUNS_NAMED])}{more}."


def load_run(path: str | Path, *, by_size: bool = False) -> AnyRun:
    """The finished run in this folder; InputError with the fix for anything else, and where one of its files is not
    what the run wrote. `by_size`: as far as sizes tell, for who only wants its figures to list them."""
    folder = Path(path)
    if not (folder / MANIFEST).is_file():
        raise InputError("not a run's folder", file=folder, fix=_which_run(folder))
    for name in (RESULTS, PAIRS, SUMMARY, LABELS, FRAME, UNLISTED):
        if (folder / name).exists() and not (folder / name).is_file():  # a pipe would keep its reader waiting
            raise InputError("not a file", file=folder / name, fix="Delete it, then run the evaluation again.")
    for name in (RESULTS, PAIRS):
        if has_parts(folder / name):
            part_files(parts_of(folder / name))
    fix = "Delete the folder, then run the evaluation again."
    try:
        stored = read_json(folder / MANIFEST)
        if stored["schema"] != SCHEMA:
            raise InputError(f"made by another version ({stored['schema']})", file=folder, fix=fix)
        fix = "Run the evaluation again with --overwrite."
        if stored["status"] != "finished":
            raise InputError(
                "this run is not finished", file=folder, fix="Run the command that began it again, with the same --out."
            )
        kind = kind_named(stored["kind"])
        manifest = Manifest.from_json(stored)
        if manifest.files is not None:
            check_records(folder, manifest.files, manifest.records)
            manifest = _with_matching_checksums(folder, manifest, by_size=by_size)
        if not (folder / SUMMARY).exists():
            raise damaged(folder / SUMMARY, "it is missing")
        result = kind.summary_from_json(read_json(folder / SUMMARY))
        judged = result.judge.pairs if kind.has_pairs else None
        if judged and not has_lines(folder / PAIRS):
            raise damaged(folder / PAIRS, "it is missing")
        if manifest.files is None and not by_size:
            check_counts(folder, manifest.records, judged)
        check_shape(result)
        if not by_size:
            lines = read_lines(folder / RESULTS, kind.parse)
            kind.check_figures(result, _typed(lines, partial(_checked, kind), folder))
        return Run(kind, result, manifest, folder)
    except OtherFiguresError as error:
        raise damaged(folder / SUMMARY, str(error)) from None
    except PermissionError as error:
        closed = error.filename or folder
        fix = "Check its permissions and those of its folder."
        raise InputError(error.strerror or "it may not be read", file=closed, fix=fix) from None
    except (OSError, ArithmeticError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"a broken run, or one of an older version ({type(error).__name__}: {error})", file=folder, fix=fix
        ) from None


def _with_matching_checksums(folder: Path, manifest: Manifest, *, by_size: bool) -> Manifest:
    """The manifest with the checksums of the files as they are; InputError where one is neither the one that is wanted
    nor the one that it takes the place of."""
    assert manifest.files is not None
    try:
        verify_files(folder, manifest.files, by_size=by_size)
    except InputError:
        if manifest.replaced is None:
            raise
        manifest = replace(manifest, files={**manifest.files, **manifest.replaced})
        verify_files(folder, manifest.files or {}, by_size=by_size)
    return replace(manifest, replaced=None)
