"""Which repository, and which of its pull requests: the ways in which a user may write that."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from metareview.errors import UsageError

GITHUB, GITLAB = "github.com", "gitlab.com"
_NAME = r"(?!\.{1,2}(?:[/#]|$))[A-Za-z0-9_.-]{1,100}"
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,252}")
_SHORT = re.compile(rf"({_NAME})/({_NAME})(?:#(.*))?")
_GITHUB_PATH = re.compile(rf"/({_NAME})/({_NAME})(?:/pulls?(?:/([0-9]{{1,9}})(?:/.*)?)?)?/?")
_GITLAB_PART = r"(?!-/)[A-Za-z0-9_.-]{1,100}"
_GITLAB_PATH = re.compile(
    rf"/({_GITLAB_PART}(?:/{_GITLAB_PART})*)/({_GITLAB_PART})(?:/-/merge_requests(?:/([0-9]{{1,9}})(?:/.*)?)?)?/?"
)
_GITLAB_SHORT = re.compile(
    rf"(?:([^/!.]*\.[^/!]*)/(?=[^!]+/))?({_GITLAB_PART}(?:/{_GITLAB_PART})*)/({_GITLAB_PART})!(.*)"
)
_NUMBERS = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", re.ASCII)
_MOST_NUMBERS = 100_000
_FORMS = "OWNER/REPO, OWNER/REPO#12, OWNER/REPO#12,15,20-30, GROUP/PROJECT!12 or the address of any of them"


@dataclass(frozen=True, slots=True)
class Target:
    """Pull requests of one repository: all of them, or those with these numbers, in order."""

    host: str
    owner: str
    name: str
    numbers: tuple[int, ...] | None = None
    scheme: str = "https"
    gitlab: bool = False

    @property
    def repository(self) -> str:
        return f"{self.owner}/{self.name}"


def parse_targets(texts: Sequence[str], github_host: str = GITHUB, gitlab_host: str = GITLAB) -> Target:
    """What the texts name together; UsageError where they are no addresses, or of several repositories.

    A text without a server is meant on `github_host` (`#`) or `gitlab_host` (`!`). An address is GitLab's if it is of
    that host, has "gitlab" in its host or `/-/` in its path.

    >>> parse_targets(["acme/shop#12,15-17"]).numbers
    (12, 15, 16, 17)
    >>> parse_targets(["https://ghe.corp.example/acme/shop/pull/7/files"]).host
    'ghe.corp.example'
    >>> parse_targets(["group/sub/shop!12"]).host
    'gitlab.com'
    """
    targets = [_target(text.strip(), github_host, gitlab_host) for text in texts]
    repositories = {(each.host, each.repository.casefold()) for each in targets}
    if len(repositories) > 1:
        names = ", ".join(sorted(f"{host}/{name}" for host, name in repositories))
        raise UsageError(f"these are of several repositories: {names}. Pull each into a file of its own.")
    first = targets[0]
    if any(each.numbers is None for each in targets):
        return _with_numbers(first, None)
    numbers = sorted({number for each in targets for number in each.numbers or ()})
    return _with_numbers(first, tuple(numbers))


def _with_numbers(target: Target, numbers: tuple[int, ...] | None) -> Target:
    return Target(target.host, target.owner, target.name, numbers, target.scheme, target.gitlab)


def _target(text: str, github_host: str, gitlab_host: str) -> Target:
    if "://" not in text:
        if found := _SHORT.fullmatch(text):
            numbers = None if found[3] is None else _numbers(found[3], text)
            return Target(github_host, found[1], found[2].removesuffix(".git"), numbers)
        if found := _GITLAB_SHORT.fullmatch(text):
            numbers = _numbers(found[4].replace("!", ","), text)
            host = gitlab_host if found[1] is None else found[1].casefold()
            if _HOST.fullmatch(host.partition(":")[0]):
                return Target(host, found[2], found[3], numbers, gitlab=True)
        # github.com/acme/shop/pull/7, as people copy it without its scheme
        if text.count("/") >= 2 and "." in text.partition("/")[0]:
            return _target(f"https://{text}", github_host, gitlab_host)
        raise UsageError(f"{text!r} names no repository. Give {_FORMS}.")
    try:
        parts = urlsplit(text)
        host, port = (parts.hostname or "").removeprefix("www."), parts.port
    except ValueError:
        raise UsageError(f"{text!r} is not an address. Give {_FORMS}.") from None
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            "the address holds a user name or password. Leave it out; set GITHUB_TOKEN or GITLAB_TOKEN instead."
        )
    if parts.scheme not in ("http", "https") or not _HOST.fullmatch(host):
        raise UsageError(f"{text!r} is not an http or https address. Give {_FORMS}.")
    where = f"{host}:{port}" if port else host
    gitlab = where == gitlab_host or "gitlab" in host or "/-/" in parts.path
    found = (_GITLAB_PATH if gitlab else _GITHUB_PATH).fullmatch(parts.path)
    if not found:
        raise UsageError(f"{text!r} is the address of no repository and no pull request. Give {_FORMS}.")
    numbers = (int(found[3]),) if found[3] else None
    return Target(where, found[1], found[2].removesuffix(".git"), numbers, parts.scheme, gitlab)


def _numbers(text: str, whole: str) -> tuple[int, ...]:
    """`12`, `12,15`, `20-30`, with or without a further `#` before each."""
    numbers: set[int] = set()
    for part in text.replace("#", ",").split(","):
        found = _NUMBERS.fullmatch(part.strip())
        if not found:
            raise UsageError(f"{whole!r}: {part.strip()!r} is no number of a pull request. Give {_FORMS}.")
        first, last = int(found[1]), int(found[2] or found[1])
        if not 1 <= first <= last:
            raise UsageError(f"{whole!r}: {part.strip()!r} is no range of pull requests. Give one such as 20-30.")
        if last - first >= _MOST_NUMBERS or len(numbers) > _MOST_NUMBERS:
            raise UsageError(f"{whole!r} names more than {_MOST_NUMBERS:,} pull requests. Use --since and --until.")
        numbers.update(range(first, last + 1))
    return tuple(sorted(numbers))
