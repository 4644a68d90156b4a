"""Work in batches of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def batches(items: Iterable[Item], size: Callable[[Item], int], most: int) -> Iterator[list[Item]]:
    """The items in their order, in batches whose sizes add up to `most` at most; a larger item is one by itself.

    >>> list(batches([3, 1, 1, 9, 2], lambda item: item, 4))
    [[3, 1], [1], [9], [2]]
    """
    batch: list[Item] = []
    total = 0
    for item in items:
        if batch and total + size(item) > most:
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size(item)
    if batch:
        yield batch
