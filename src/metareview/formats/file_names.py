"""Names of files that tell which pull request they are about, for formats in which a file cannot say so itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from metareview.errors import UsageError
from metareview.model.address import pull_request_key, pull_request_of_path
from metareview.model.comment import Review

_UNSAFE = re.compile(r"[^\w.@-]+")


def file_names(reviews: Sequence[Review], suffix: str, format_name: str) -> list[str]:
    """A name for the file of each of these pull requests; any name will do for a single one.

    >>> file_names([Review("https://github.com/octo/shop/pull/7"), Review("synthetic__style-01")], ".sarif", "sarif")
    ['octo_shop_7.sarif', 'synthetic__style-01.sarif']
    """
    if len(reviews) < 2:
        return [""] * len(reviews)
    names = [f"{_stem(review.pr)}{suffix}" for review in reviews]
    uses = Counter(name.casefold() for name in names)
    if twice := next((name for name in names if uses[name.casefold()] > 1), None):
        raise UsageError(
            f"{format_name} has a file per pull request, named after it: {twice} would be written for two. Use jsonl."
        )
    return names


def _stem(pr: str) -> str:
    """`owner_repo_7`, or else the name itself, as far as a file's name can hold it."""
    key = pull_request_key(pr)
    if "/" in key and "#" in key:
        path, _, number = key.rpartition("#")
        return _UNSAFE.sub("_", f"{path.partition('/')[2]}_{number}")
    named = pull_request_of_path(f"{pr}.x") == pr
    return pr if named and not _UNSAFE.search(pr) else _UNSAFE.sub("_", pr)[:150].strip("._") or "pull_request"
