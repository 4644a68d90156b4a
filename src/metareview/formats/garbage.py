"""Python's cycle collector, out of the way of work that makes no cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collection(pause: bool = True) -> Iterator[None]:
    """Hold the collector off within the block, if `pause`.

    A history is millions of objects that live to the end and form no cycle; walking them again and again
    takes a third of the time.
    """
    if not pause or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
