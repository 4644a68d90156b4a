"""What a kind of run declares of itself. Each kind has a module of its own, which is imported only where it is met."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

from metareview.runs.files import JsonObject, parsed_line

if TYPE_CHECKING:
    from metareview.comments.measures import Rates
    from metareview.comments.records import PairBlock
    from metareview.model.build_gates import GateResult
    from metareview.model.measure import Measure

KINDS = {
    "comments": "metareview.runs.comments_kind",
    "routing": "metareview.runs.routing_kind",
    "outcomes": "metareview.runs.outcomes_kind",
}
"""The module of each kind, by its name."""
Key = tuple[str, ...]
"""What one record is about: (pull request, reviewer), with its run where that is repeated, or (repository, number)."""


class Summary(Protocol):
    """What the summaries of all kinds of run have."""

    @property
    def measures(self) -> Sequence[Measure]: ...
    @property
    def metrics(self) -> Mapping[str, Rates]: ...
    @property
    def build_gates(self) -> tuple[GateResult, ...]: ...
    def with_gates(self, results: tuple[GateResult, ...]) -> Self: ...


SummaryT = TypeVar("SummaryT", bound=Summary)
RecordT = TypeVar("RecordT")


@dataclass(frozen=True)
class Kind(Generic[SummaryT, RecordT]):
    """How one kind of run is stored."""

    name: str
    summary_to_json: Callable[[SummaryT, str | None], JsonObject]
    summary_from_json: Callable[[JsonObject], SummaryT]
    record_to_json: Callable[[RecordT], JsonObject]
    record_from_json: Callable[[JsonObject], RecordT]
    key: Callable[[RecordT], Key]
    pieces: Callable[[RecordT, Iterable[PairBlock]], Iterator[tuple[str, str | bytes]]]
    """A record and its pairs as texts, each with the file that it goes into: whole lines of pairs, and the record's
    line but for its end."""
    has_pairs: bool = False
    is_complete: Callable[[RecordT], bool] | None = None
    """Whether a record need not be made again when the run is continued; None: none need be."""
    light: Callable[[RecordT], RecordT] = lambda record: record
    """What a run that goes on needs of a record that is done."""
    parse: Callable[[bytes], JsonObject] = parsed_line
    """The object of a record's line, as far as record_from_json needs it."""
    check_figures: Callable[[SummaryT, Iterator[JsonObject]], None] = lambda summary, lines: None
    """OtherFiguresError where the summary says something else than these lines of records."""
    check_record: Callable[[JsonObject], None] = lambda line: None
    """OtherFiguresError where a record's figures are not those of what it lists."""
    has_parts: Callable[[Path], bool] = lambda folder: False
    """Whether an unfinished run of this kind keeps something in its folder beside its records."""
    remove_parts: Callable[[Path], None] = lambda folder: None
    """Removes it."""
    together: Callable[[Iterator[RecordT]], Iterator[RecordT]] = lambda records: records
    """The records as what figures are over: those of repeated runs as one."""


def kind_named(name: str) -> Kind[Any, Any]:
    """The kind of this name; KeyError for another."""
    kind: Kind[Any, Any] = import_module(KINDS[name]).KIND
    return kind
