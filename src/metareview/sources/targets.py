"""The repository and the pull requests that a user names, in any of the usual ways to write them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from metareview.errors import UsageError
from metareview.model.address import parse_address

GITHUB, GITLAB = "github.com", "gitlab.com"
_NAME = re.compile(r"(?!(?:\.{1,2}|-)$)[A-Za-z0-9_.-]{1,100}")
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,252}")
_SHORT = re.compile(r"(?P<path>[^#!]*)(?:(?P<mark>[#!])(?P<numbers>.*))?")
_LISTING = re.compile(r"/(?:pulls?|-/merge_requests)/?$")
_NUMBERS = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", re.ASCII)
_MOST_NUMBERS, _GREATEST = 100_000, 10**9
_FORMS = "OWNER/REPO, OWNER/REPO#12, OWNER/REPO#12,15,20-30, GROUP/PROJECT!12 or the address of any of them"


@dataclass(frozen=True, slots=True)
class PullTarget:
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


def parse_targets(texts: Sequence[str], github_host: str = GITHUB, gitlab_host: str = GITLAB) -> PullTarget:
    """The pull requests that the texts name together; UsageError for texts that name none, or several repositories.

    A text without a server is one on `github_host` (`#`) or `gitlab_host` (`!`). An address is GitLab's if it is of
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
        return replace(first, numbers=None)
    numbers = sorted({number for each in targets for number in each.numbers or ()})
    return replace(first, numbers=tuple(numbers))


def _target(text: str, github_host: str, gitlab_host: str) -> PullTarget:
    if "://" in text:
        return _target_of_address(text, gitlab_host)
    if found := _SHORT.fullmatch(text):
        names, gitlab = found["path"].split("/"), found["mark"] == "!"
        host = gitlab_host if gitlab else github_host
        if gitlab and len(names) > 2 and "." in names[0]:
            host = names.pop(0).casefold()
        if _HOST.fullmatch(host.partition(":")[0]) and _is_repository(names, gitlab):
            numbers = None if found["mark"] is None else _numbers(found["numbers"].replace("!", ","), text)
            return _of_names(host, names, numbers, gitlab=gitlab)
    # github.com/acme/shop/pull/7, as people copy it without its scheme
    if text.count("/") >= 2 and "." in text.partition("/")[0]:
        return _target_of_address(f"https://{text}", gitlab_host)
    raise UsageError(f"{text!r} names no repository. Give {_FORMS}.")


def _target_of_address(text: str, gitlab_host: str) -> PullTarget:
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
    one = (
        parse_address(f"https://{where}{parts.path}") if re.search(r"/(?:pulls?|merge_requests)/", parts.path) else None
    )
    names = (one.repository if one else _LISTING.sub("", parts.path)).strip("/").split("/")
    if not _is_repository(names, gitlab) or (one and one.number >= _GREATEST):
        raise UsageError(f"{text!r} is the address of no repository and no pull request. Give {_FORMS}.")
    return _of_names(where, names, (one.number,) if one else None, parts.scheme, gitlab=gitlab)


def _is_repository(names: Sequence[str], gitlab: bool) -> bool:
    """True for names that may be a repository's: an owner and a name, or on GitLab groups and a name."""
    return all(map(_NAME.fullmatch, names)) and (len(names) == 2 or (gitlab and len(names) > 2))


def _of_names(
    host: str, names: Sequence[str], numbers: tuple[int, ...] | None, scheme: str = "https", *, gitlab: bool
) -> PullTarget:
    *owner, name = names
    return PullTarget(host, "/".join(owner), name.removesuffix(".git"), numbers, scheme, gitlab)


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
