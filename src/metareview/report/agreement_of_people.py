"""How far people agree with each other, in as many lines as anybody reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from metareview.benchmark.people import MOST_PEOPLE
from metareview.model.words import plural

_MOST_LISTED = 45
"""As many as ten people make, two by two."""
TwoT = TypeVar("TwoT")


def people_lines(people: Sequence[TwoT], not_compared: int, lines_of: Callable[[TwoT], Iterable[str]]) -> Iterator[str]:
    """The lines of every two people, and how many are left out. `not_compared`: people beyond MOST_PEOPLE."""
    for two in people[:_MOST_LISTED]:
        yield from lines_of(two)
    if (more := len(people) - _MOST_LISTED) > 0:
        yield f"And {plural(more, 'more time')} two people; metareview calibrate --run RUN --json has them all."
    if not_compared:
        others = plural(not_compared, "more person was", "more people were")
        yield f"{others} not compared with others: only the {MOST_PEOPLE} with most labels are."
