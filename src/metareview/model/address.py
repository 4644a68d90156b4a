"""Addresses of pull requests: one key for the many ways to write one."""

from __future__ import annotations

import re
from functools import lru_cache

_PULL_URL = re.compile(
    r"^(?:https?://)?(?P<host>[^/\s]+)/(?:(?:api/v3/)?repos/)?(?P<repo>[^\s?#]+?)/(?:-/)?"
    r"(?:pull|pulls|merge_requests|pull-requests)/(?P<number>[0-9]{1,18})(?:[/?#].*)?$",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[0-9]{1,18}")
_NAME = re.compile(r"[\w.-]*\w[\w.-]*")
_INSTANCE = re.compile(r"[\w.-]+__[\w.-]+-[0-9]+")
_STEM = re.compile(r"(?:comments_)?(?P<repo>.+)_(?P<number>[0-9]{1,18})")


@lru_cache(maxsize=65536)
def pull_request_key(url: str) -> str:
    """One key for the many ways to write a pull request's address.

    >>> pull_request_key("https://api.github.com/repos/Owner/Repo/pulls/5")
    'github.com/owner/repo#5'
    """
    found = _PULL_URL.match(url.strip())
    if not found:
        return url.strip()
    host = found["host"].casefold().removeprefix("www.").removeprefix("api.")
    return f"{host}/{found['repo'].casefold()}#{int(found['number'])}"


def pull_request_of_stem(stem: str) -> str | None:
    """The pull request that a file is named after.

    >>> pull_request_of_stem("comments_shop_07")
    'shop#7'
    """
    parts = _STEM.fullmatch(stem)
    return f"{parts['repo']}#{int(parts['number'])}" if parts else None


def pull_request_of_path(path: str) -> str | None:
    """The pull request that a file's path names: OWNER/REPO/NUMBER.ext, OWNER_REPO_NUMBER.ext, comments_REPO_NUMBER.ext
    or, for sets whose pull requests have no number, INSTANCE_ID.ext.

    >>> pull_request_of_path("reviews/tool/octo/shop/7.sarif")
    'octo/shop#7'
    """
    *folders, name = path.split("/")
    stem = name.partition(".")[0] if name.partition(".")[0].isdecimal() else name.rsplit(".", 1)[0]
    if _NUMBER.fullmatch(stem) and len(folders) >= 2 and all(map(_NAME.fullmatch, folders[-2:])):
        return f"{folders[-2]}/{folders[-1]}#{int(stem)}"
    return pull_request_of_stem(stem) or (stem if _INSTANCE.fullmatch(stem) else None)


def repository_and_number(url: str) -> tuple[str, int] | None:
    """The repository's own name (without owner) and the number, or None for an address of another shape."""
    found = _PULL_URL.match(url.strip())
    return (found["repo"].rsplit("/", 1)[-1], int(found["number"])) if found else None
