"""The pull request that a raw comment is about."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from pathlib import Path

from metareview.formats.github.raw_comment import RawComment
from metareview.model.address import address_of_issue, parse_address, pull_request_key, web_address


def own_address(raw: RawComment) -> str | None:
    """The pull request that the comment itself names, as people write it:
    https://api.github.com/repos/O/R/pulls/N is https://github.com/O/R/pull/N."""
    record = raw.record
    url = record.text("pull_request_url")
    if not url:
        page = (record.text("html_url") or "").partition("#")[0]
        url = page if parse_address(page) else None if address_of_issue(page) else record.text("issue_url")
    return web_address(url) if url else None


def names_of(addresses: Iterable[str]) -> set[str]:
    """Addresses and short names (`owner/repo#7`, `repo#7`) as `is_named` looks for them."""
    return {pull_request_key(address).casefold() for address in addresses}


def is_named(address: str, names: AbstractSet[str]) -> bool:
    """True if one of the names is this pull request's."""
    key = pull_request_key(address)
    whole = key.partition("/")[2]
    return not names.isdisjoint((key, whole, whole.replace("/", "_"), whole.rpartition("/")[2]))


def pull_request_of_folder(path: Path) -> str | None:
    """The pull request that a folder is named after, where each file in it is one answer of the API:
    OWNER/REPO/7/reviews.json."""
    *_, owner, repository, number = ("", "", "", *path.parent.parts)
    return f"{owner}/{repository}#{int(number)}" if re.fullmatch("[0-9]{1,18}", number) and owner else None
