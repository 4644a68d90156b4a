"""Sums of floating-point numbers that come out the same in whatever order and groups they are added."""

from __future__ import annotations

from collections.abc import Iterable


class Scale:
    """Turns these numbers into whole ones, so that adding and multiplying them is exact.

    A floating-point number is a whole multiple of a power of 2, and the finest power of them all serves for each.

    >>> tenths = Scale([0.1])
    >>> tenths.value(10 * tenths.whole(0.1)), sum([0.1] * 10)
    (1.0, 0.9999999999999999)
    """

    def __init__(self, values: Iterable[float]) -> None:
        self._units = max((value.as_integer_ratio()[1] for value in values), default=1)

    def whole(self, value: float) -> int:
        """One of the numbers, in units of the finest."""
        over, under = value.as_integer_ratio()
        return over * (self._units // under)

    def value(self, total: int) -> float:
        """The number that a sum of such whole ones stands for, rounded once."""
        return total / self._units
