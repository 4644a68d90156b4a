"""Addresses of pull requests and repositories: one key for the many ways to write one.

A short address is met by a fuller one: `shop#7` and `acme/shop#7` by `https://github.com/acme/shop/pull/7`. Which of
two full ones a short one means is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from urllib.parse import unquote

_NUMBER = r"(?P<number>[0-9]{1,18})"
_PULL_URL = re.compile(
    r"(?P<scheme>https?://)?(?P<where>[^\s?#]+?)/"
    rf"(?P<kind>pulls?|(?:-/)?merge_requests|pull-requests|issues)/{_NUMBER}(?:[/?#].*)?",
    re.IGNORECASE,
)
_SHORT = re.compile(rf"(?P<where>[^\s#!?:]+(?::[0-9]+/[^\s#!?:]+)?)[#!]{_NUMBER}")
_API = re.compile(r"(?:api/v3/)?repos/(?=[^/]+/)|api/v4/projects/", re.IGNORECASE)
# A run of slashes is entered at its beginning alone.
_REPOSITORY_URL = re.compile(
    r"(?P<scheme>https?://)?(?P<where>[^\s?#]+?)(?:\.git)?(?:(?<!/)/+)?(?:[?#].*)?", re.IGNORECASE
)
_NUMERIC = re.compile(r"[0-9]{1,18}")
_NAME = re.compile(r"[.-]*+\w[\w.-]*")
_INSTANCE = re.compile(r"(?P<name>[\w.-]+)(?:-[0-9]+|@[0-9a-f]{7,40})")
_COMMIT = re.compile(r"(?P<repository>[^\s@]+)@(?P<commit>[0-9a-fA-F]+)")
_SHORTEST_COMMIT = 7
"""Digits that a short hash has at least, as git writes it."""
_STEM = re.compile(r"(?:comments_)?(?P<repo>.+)_(?P<number>[0-9]{1,18})")
_REMEMBERED = 262_144
"""Addresses, each of which is looked at a dozen times: as many as a large set of reviews has."""
_USUAL_PORT = re.compile(r":(?:80|443)$")


@dataclass(frozen=True, slots=True)
class Address:
    """A pull request: the host where it is known, the repository as it is written (`owner/repo`, `group/sub/project`,
    or the bare name), and the number."""

    host: str | None
    repository: str
    number: int

    @property
    def key(self) -> str:
        host = f"{self.host}/" if self.host else ""
        return f"{host}{self.repository.casefold()}#{self.number}"

    @property
    def name(self) -> str:
        """Of the repository, without owner and host."""
        return self.repository.rpartition("/")[2]

    @property
    def is_bare(self) -> bool:
        """Whether not even the owner is known."""
        return "/" not in self.repository

    def meets(self, other: Address) -> bool:
        """Whether two of one name and number may be the same: what the shorter one lacks tells nothing."""
        if self.is_bare or other.is_bare:
            return True
        same = self.repository.casefold() == other.repository.casefold()
        return same and (self.host is None or other.host is None or self.host == other.host)


@lru_cache(maxsize=_REMEMBERED)
def parse_address(text: str) -> Address | None:
    """The pull request of a web or API address, of `owner/repo#5`, `group/project!5` or `repo#5`; None for any other.

    >>> parse_address("https://gitlab.com/api/v4/projects/group%2Fproject/merge_requests/5").key
    'gitlab.com/group/project#5'
    >>> parse_address("owner/repo/pull/5").key
    'owner/repo#5'
    """
    text = text.strip()
    if "\n" in text:  # no address, which the patterns below would look for in every line up to there
        return None
    if found := _PULL_URL.fullmatch(text):
        host, path = _split_host(found["where"], bool(found["scheme"]))
        api = _API.match(path)
        if api:
            path = unquote(path[api.end() :])
        # On GitHub a pull request is an issue too, but only the API calls it one that surely is.
        if path and (found["kind"].lower() != "issues" or (api and "repos" in api[0].lower())):
            return Address(host, path, int(found["number"]))
    elif found := _SHORT.fullmatch(text):
        host, path = _split_host(found["where"], has_host=False)
        if path:
            return Address(host, path, int(found["number"]))
    return None


def _split_host(where: str, has_host: bool) -> tuple[str | None, str]:
    """Without a scheme, what comes first is a host where it looks like one and an owner and a name follow it."""
    first, _, rest = where.strip("/").partition("/")
    looks_so = "." in first or ":" in first or first.casefold() == "localhost"
    if not has_host and not (looks_so and "/" in rest):
        return None, where.strip("/")
    host = first.rpartition("@")[2].casefold().removeprefix("www.").removeprefix("api.")
    return _USUAL_PORT.sub("", host), rest


@lru_cache(maxsize=_REMEMBERED)
def pull_request_key(text: str) -> str:
    """One key for the many ways to write a pull request's address; a text that is no address is its own.

    >>> pull_request_key("https://api.github.com/repos/Owner/Repo/pulls/5")
    'github.com/owner/repo#5'
    """
    address = parse_address(text)
    return address.key if address else text.strip()


@lru_cache(maxsize=4096)
def web_address(url: str) -> str:
    """The page of a pull request whose address in GitHub's API is given; any other address without its fragment.

    >>> web_address("https://api.github.com/repos/Owner/Repo/pulls/5")
    'https://github.com/Owner/Repo/pull/5'
    """
    url = url.partition("#")[0]
    address = parse_address(url)
    if address is None or "/repos/" not in url:
        return url
    return f"{url.partition('://')[0]}://{address.host}/{address.repository}/pull/{address.number}"


def address_of_issue(url: str) -> str | None:
    """The address of the pull request with an issue's number; None where the address is not that of an issue's page.

    GitHub numbers both alike: whether this one is a pull request must be known otherwise.
    """
    found = _PULL_URL.fullmatch(url.partition("#")[0])
    if not found or found["kind"].lower() != "issues" or not found["scheme"] or found["where"].count("/") != 2:
        return None
    return f"{found['scheme']}{found['where']}/pull/{found['number']}"


class AddressBook:
    """Pull requests that are known, in which others are looked up however they are written."""

    def __init__(self, names: Mapping[str, Iterable[str]]) -> None:
        """`names` has, by key, whatever the pull request is called."""
        self._keys = names

    @cached_property
    def _by_name(self) -> dict[str, dict[str, str]]:
        """Made when something is looked up that is not written as it is here: most often nothing is."""
        by_name: dict[str, dict[str, str]] = {}
        for key, texts in self._keys.items():
            for text in texts:
                for short in (_short(text), _with_owner(text)):
                    by_name.setdefault(short, {}).setdefault(key, text)
        return by_name

    def find(self, *names: str) -> list[str]:
        """The keys of all that the first of these names may mean that is known: several where it does not tell."""
        return next((found for name in names if (found := self._find(name))), [])

    def _find(self, text: str) -> list[str]:
        key = pull_request_key(text)
        if key in self._keys:
            return [key]
        address = parse_address(text)
        found = []
        for other, known in self._by_name.get(_short(text), {}).items():
            known_address = parse_address(known)
            if address and known_address:
                met = address.meets(known_address)
            elif _COMMIT.fullmatch(text) and _COMMIT.fullmatch(known):
                met = _same_commit(text, known)
            else:
                met = "/" not in text or "/" not in other or known.casefold() == key.casefold()
            found += [other] if met else []
        return found


def _short(text: str) -> str:
    """`repo#number`, whatever else is known of it; of a name without a number, as files may be named after it."""
    address = parse_address(text)
    if address:
        return f"{address.name}#{address.number}".casefold()
    name = text.strip().casefold().replace("/", "__")
    return f"{found['repository']}@{found['commit'][:_SHORTEST_COMMIT]}" if (found := _COMMIT.fullmatch(name)) else name


def _same_commit(one: str, other: str) -> bool:
    """Whether two of one repository have the same hash, of which either may be short."""
    short, long = sorted((text.strip().casefold().rpartition("@")[2] for text in (one, other)), key=len)
    return short == long or (len(short) >= _SHORTEST_COMMIT and long.startswith(short))


def _with_owner(text: str) -> str:
    """`owner_repo#number`, as files may be named."""
    address = parse_address(text)
    return f"{address.repository.replace('/', '_')}#{address.number}".casefold() if address else _short(text)


def full_addresses(texts: Iterable[str]) -> dict[str, str]:
    """For each address that lacks only its host, the one among the others that has it, if there is exactly one.

    >>> full_addresses(["acme/shop#7", "https://github.com/acme/shop/pull/7", "shop#7"])
    {'acme/shop#7': 'https://github.com/acme/shop/pull/7'}
    """
    known = {text: address for text in texts if (address := parse_address(text)) and not address.is_bare}
    if all(address.host for address in known.values()):
        return {}
    hosts: dict[str, dict[str, str]] = {}
    for text, address in known.items():
        if address.host:
            hosts.setdefault(Address(None, address.repository, address.number).key, {}).setdefault(address.host, text)
    found = {text: hosts.get(address.key, {}) for text, address in known.items() if not address.host}
    return {text: next(iter(full.values())) for text, full in found.items() if len(full) == 1}


def pull_request_of_stem(stem: str) -> str | None:
    """The pull request that a file is named after.

    >>> pull_request_of_stem("comments_shop_07")
    'shop#7'
    """
    parts = _STEM.fullmatch(stem)
    return f"{parts['repo']}#{int(parts['number'])}" if parts else None


def pull_request_of_path(path: str) -> str | None:
    """The pull request that a file's path names: OWNER/REPO/NUMBER.ext, OWNER_REPO_NUMBER.ext, comments_REPO_NUMBER.ext
    or, for sets whose pull requests have no number, INSTANCE_ID.ext (OWNER__REPO-7, OWNER__REPO@COMMIT).

    >>> pull_request_of_path("reviews/tool/octo/shop/7.sarif")
    'octo/shop#7'
    """
    *folders, name = path.split("/")
    stem = name.partition(".")[0] if name.partition(".")[0].isdecimal() else name.rsplit(".", 1)[0]
    if _NUMERIC.fullmatch(stem) and len(folders) >= 2 and all(map(_NAME.fullmatch, folders[-2:])):
        return f"{folders[-2]}/{folders[-1]}#{int(stem)}"
    instance = _INSTANCE.fullmatch(stem)
    return pull_request_of_stem(stem) or (stem if instance and "__" in instance["name"][1:-1] else None)


def repository_of(pr: str) -> str | None:
    """The key of a pull request's repository; None where its name does not tell.

    >>> [repository_of(pr) for pr in ("https://github.com/Acme/Shop/pull/7", "acme/shop@0f1e2d3", "acme__shop-7", "7")]
    ['github.com/acme/shop', 'acme/shop', 'acme__shop', None]
    """
    address = parse_address(pr)
    if address:
        return address.key.rpartition("#")[0]
    name = pr.strip().casefold()
    if found := _COMMIT.fullmatch(name):
        return found["repository"]
    instance = _INSTANCE.fullmatch(name)
    return instance["name"] if instance and "__" in instance["name"][1:-1] else None


def repository_and_number(text: str) -> tuple[str, int] | None:
    """The repository's own name (without owner) and the number, or None for what is no address of a pull request."""
    address = parse_address(text)
    return (address.name, address.number) if address else None


@lru_cache(maxsize=65536)
def repository_key(text: str) -> str:
    """One key for the many ways to write a repository; `owner/repo` has none of its host.

    >>> repository_key("https://github.com/Owner/Repo.git")
    'owner/repo'
    """
    found = _REPOSITORY_URL.fullmatch(text.strip())
    if not found:
        return text.strip().casefold()
    _, path = _split_host(found["where"], bool(found["scheme"]))
    return _API.sub("", path, count=1).casefold() if found["scheme"] else path.casefold()
