"""Sums of floating-point numbers that come out the same in whatever order and groups they are added."""

from __future__ import annotations

from collections.abc import Iterable

_FINEST = 1074
"""Every floating-point number is a whole multiple of 2 to the power of minus this."""
_ONE = 1 << _FINEST


def as_whole(value: float) -> int:
    """The number in units of the finest one that there is: whole, so that adding and multiplying are exact.

    >>> sum_of([(as_whole(0.1), 10)]), sum([0.1] * 10)
    (1.0, 0.9999999999999999)
    """
    over, under = value.as_integer_ratio()
    return over * (_ONE // under)


def sum_of(products: Iterable[tuple[int, int]]) -> float:
    """The sum of such numbers, each times a count, rounded once."""
    return sum(whole * count for whole, count in products) / _ONE
