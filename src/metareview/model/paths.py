"""File names and sides of a diff as they are compared, however tools write them."""

from __future__ import annotations

import re
from functools import lru_cache

_LEADING = re.compile(r"^(?:\./|/)+")


@lru_cache(maxsize=65536)
def normal_path(path: str | None) -> str | None:
    """The path as it is compared: `\\` to `/`, leading `./` and `/` dropped; None where there is none.

    >>> normal_path(".\\\\src\\\\main.py")
    'src/main.py'
    """
    return (_LEADING.sub("", path.strip().replace("\\", "/")) or None) if path is not None else None


@lru_cache(maxsize=1024)
def normal_side(side: str | None) -> str | None:
    return (side.strip().casefold() or None) if side is not None else None
