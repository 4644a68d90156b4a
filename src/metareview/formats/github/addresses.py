"""Which pull request a remark is about."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from functools import lru_cache
from pathlib import Path

from metareview.formats.github.remark import Remark
from metareview.model.address import parse_address, pull_request_key

_API_ADDRESS = re.compile(r"^(https?://)(?:api\.)?([^/]+)(?:/api/v3)?/repos/([^/]+/[^/]+)/(?:pulls|issues)/([0-9]+)$")
_ISSUE = re.compile(r"^(?P<host>https?://[^/]+)/(?P<repo>[^/]+/[^/]+)/issues/(?P<number>[0-9]{1,18})$")


def own_address(remark: Remark) -> str | None:
    """The pull request that the remark itself names, as people write it:
    https://api.github.com/repos/O/R/pulls/N is https://github.com/O/R/pull/N."""
    record = remark.record
    url = record.text("pull_request_url")
    if not url:
        page = (record.text("html_url") or "").split("#")[0]
        url = page if parse_address(page) else None if _ISSUE.match(page) else record.text("issue_url")
    return web_address(url) if url else None


@lru_cache(maxsize=4096)
def web_address(url: str) -> str:
    return _API_ADDRESS.sub(r"\1\2/\3/pull/\4", url.split("#")[0])


def issue_address(remark: Remark) -> str | None:
    """The pull request of this number, where the remark's page is that of an issue: GitHub numbers both alike, and
    whether it is a pull request must be known otherwise."""
    found = _ISSUE.match((remark.record.text("html_url") or "").split("#")[0])
    return f"{found['host']}/{found['repo']}/pull/{found['number']}" if found else None


def names_of(addresses: Iterable[str]) -> set[str]:
    """Addresses and short names (`owner/repo#7`, `repo#7`) as `is_named` looks for them."""
    return {pull_request_key(address).casefold() for address in addresses}


def is_named(address: str, names: AbstractSet[str]) -> bool:
    """Whether one of the names is this pull request's."""
    key = pull_request_key(address)
    whole = key.partition("/")[2]
    return not names.isdisjoint((key, whole, whole.replace("/", "_"), whole.rpartition("/")[2]))


def pull_request_of_folder(path: Path) -> str | None:
    """The pull request that a folder is named after, where each file in it is one answer of the API:
    OWNER/REPO/7/reviews.json."""
    *_, owner, repository, number = ("", "", "", *path.parent.parts)
    return f"{owner}/{repository}#{int(number)}" if re.fullmatch("[0-9]{1,18}", number) and owner else None
