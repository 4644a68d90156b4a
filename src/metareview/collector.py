"""Python's cycle collector kept out of work that makes a great many objects and no cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def garbage_collection_paused(pause: bool = True) -> Iterator[None]:
    """Python's cycle collector held off within the block, if `pause`.

    What is read is millions of objects that live to the end and form no cycle; walking them again and again takes a
    third of the time. Afterwards they count as old ones, so that not even the next collection walks them.
    """
    if not pause or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if gc.get_freeze_count() == 0:  # What a program has frozen stays so.
            gc.freeze()
            gc.unfreeze()
        gc.enable()
