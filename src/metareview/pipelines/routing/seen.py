"""Events that repeat another one, found in little memory: 16 bytes for each that has an id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from metareview.model.event import Event, EventFilter
from metareview.pipelines.routing.scratch import in_blocks

_LENGTH = 16
BLOCK = 20_000

Digests = npt.NDArray[np.bytes_]


class Seen:
    """Digests that have come, in sorted runs, of which each is far longer than the next."""

    def __init__(self) -> None:
        self._runs: list[Digests] = []

    def add(self, digests: Sequence[bytes]) -> list[bool]:
        """Of each, whether it is new: neither it nor an equal one before it has been added."""
        if not digests:
            return []
        # Values that differ at all differ as texts of this length do, though zeros at their ends are not shown.
        block = np.frombuffer(b"".join(digests), dtype=f"S{_LENGTH}")
        new = np.zeros(len(block), dtype=bool)
        new[np.unique(block, return_index=True)[1]] = True
        for run in self._runs:
            places = np.searchsorted(run, block)
            places[places == len(run)] = 0
            new &= run[places] != block
        if new.any():
            self._runs.append(np.sort(block[new]))
        while len(self._runs) > 1 and len(self._runs[-2]) < 4 * len(self._runs[-1]):
            last = self._runs.pop()
            self._runs[-1] = np.sort(np.concatenate([self._runs[-1], last]), kind="stable")
        found: list[bool] = new.tolist()
        return found


def without_repeated(events: Iterable[Event], event_filter: EventFilter) -> Iterator[Event]:
    """The events of one repository without those that have the id of an earlier one of their kind, which are counted.

    Digests stand for ids: that two of them are equal by chance does not happen.
    """
    seen = Seen()
    for block in in_blocks(events, BLOCK):
        new = iter(seen.add([_digest(event) for event in block if event.id]))
        for event in block:
            if not event.id or next(new):
                yield event
            else:
                event_filter.leave_out_repeated()


def _digest(event: Event) -> bytes:
    text = f"{event.kind} {event.id}".encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=_LENGTH).digest()
