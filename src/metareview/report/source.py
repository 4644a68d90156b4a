"""What a report is made from: a run in a folder or in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Pairs = Callable[[], Iterable[Mapping[str, Any]]]


class Run(Protocol):
    """A finished run. `metareview.runs.folder.StoredRun` is one; records and pairs are read as often as needed."""

    @property
    def kind(self) -> str: ...
    @property
    def manifest(self) -> Mapping[str, Any]: ...
    @property
    def summary(self) -> Mapping[str, Any]: ...
    def records(self) -> Iterator[dict[str, Any]]: ...
    def pairs(self) -> Iterator[dict[str, Any]]: ...


@dataclass(frozen=True)
class MemoryRun:
    """A run that was kept in no folder."""

    kind: str
    summary: Mapping[str, Any]
    stored_records: Sequence[dict[str, Any]]
    stored_pairs: Sequence[Pairs] = ()
    path: None = None

    @property
    def manifest(self) -> Mapping[str, Any]:
        return {"kind": self.kind, "config": self.summary["config"]}

    def records(self) -> Iterator[dict[str, Any]]:
        return iter(self.stored_records)

    def pairs(self) -> Iterator[dict[str, Any]]:
        return (dict(pair) for pairs in self.stored_pairs for pair in pairs())
