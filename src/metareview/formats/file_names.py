"""Files named after their pull request: `comments_{repo}_{number}.txt`."""

from __future__ import annotations

import re

from metareview.formats.source import Source, readable

_STEM = re.compile(r"^(?:comments_)?(?P<repo>.+)_(?P<number>[0-9]{1,18})$")


def pull_request_of_file(source: Source) -> str | None:
    """`repo#number` from comments_{repo}_{number}.*, to be looked up in the references."""
    return pull_request_of_stem(readable(source.path.stem))


def pull_request_of_stem(stem: str) -> str | None:
    """
    >>> pull_request_of_stem("comments_shop_07")
    'shop#7'
    """
    parts = _STEM.fullmatch(stem)
    return f"{parts['repo']}#{int(parts['number'])}" if parts else None
