"""Where the API of a GitHub or GitLab server is, and the token for it: from the environment as their own tools read it,
or from `gh`.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from metareview.errors import UsageError
from metareview.http.secret import Secret
from metareview.sources.targets import GITHUB, GITLAB, PullTarget

_GH_SECONDS = 10.0
_LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Access:
    """The API of one server, and a token, which goes there and nowhere else."""

    host: str
    rest: str
    token: Secret = field(repr=False)
    graphql: str = ""
    """The address for GitHub's queries."""


def server_host(environ: Mapping[str, str] | None = None) -> str:
    """The server that OWNER/REPO is meant on: github.com, or the one whose runner we are on."""
    server = (os.environ if environ is None else environ).get("GITHUB_SERVER_URL", "")
    return (urlsplit(server).netloc or GITHUB).casefold()


def gitlab_host(environ: Mapping[str, str] | None = None) -> str:
    """The server that GITLAB_TOKEN is for and that GROUP/PROJECT!7 is meant on.

    GITLAB_HOST names it, else the one whose runner we are on (CI_SERVER_URL), else it is gitlab.com.
    """
    environ = os.environ if environ is None else environ
    named = environ.get("GITLAB_HOST", "").strip() or environ.get("CI_SERVER_URL", "").strip()
    try:
        host = urlsplit(named if "://" in named else f"https://{named}").netloc
    except ValueError:
        host = ""
    return (host.rpartition("@")[2] or GITLAB).casefold()


def github_access(target: PullTarget, api: str | None = None, environ: Mapping[str, str] | None = None) -> Access:
    """Access to the GitHub server of a target; UsageError says how to get a token where there is none.

    An address given as `api` counts; else, for the server that the environment is about, GITHUB_API_URL and
    GITHUB_GRAPHQL_URL, as a GitHub runner sets them; else the server's own.
    """
    environ = os.environ if environ is None else environ
    own = target.host == server_host(environ)
    own_address = "https://api.github.com" if target.host == GITHUB else f"{target.scheme}://{target.host}/api/v3"
    rest = api or (environ.get("GITHUB_API_URL") if own else None) or own_address
    rest = _github_address(rest, "--api" if api else "GITHUB_API_URL")
    given = environ.get("GITHUB_GRAPHQL_URL") if own and not api else None
    if given:
        graphql = _github_address(given, "GITHUB_GRAPHQL_URL")
    else:
        graphql = rest.removesuffix("/v3") + "/graphql" if rest.endswith("/api/v3") else rest + "/graphql"
    if urlsplit(graphql.casefold())[:2] != urlsplit(rest.casefold())[:2]:
        fix = "Give both the same host, or set only GITHUB_API_URL."
        raise UsageError(f"GITHUB_API_URL and GITHUB_GRAPHQL_URL are of different servers. {fix}")
    return Access(target.host, rest, _github_token(target.host, own, environ), graphql)


def gitlab_access(target: PullTarget, api: str | None = None, environ: Mapping[str, str] | None = None) -> Access:
    """Access to the GitLab server of a target; UsageError says how to give a token where there is none for it.

    A runner's own token (CI_JOB_TOKEN) may not read discussions, so it is not tried.
    """
    environ = os.environ if environ is None else environ
    given = api or f"{target.scheme}://{target.host}/api/v4"
    rest = _checked(given, "--api" if api else "the address", "GITLAB_TOKEN", "https://gitlab.example/api/v4")
    own = gitlab_host(environ)
    token = environ.get("GITLAB_TOKEN", "").strip()
    if target.host.casefold() != own:
        has_one = f": GITLAB_TOKEN is that of {own}" if token else ""
        fix = f"Set GITLAB_HOST={target.host}, and GITLAB_TOKEN to one of that server's with the scope read_api."
        raise UsageError(f"there is no token for {target.host}{has_one}. {fix}")
    if not token:
        raise UsageError(f"there is no token for {target.host}. Set GITLAB_TOKEN to one with the scope read_api.")
    return Access(target.host, rest, _sound(token, target.host))


def _github_address(address: str, name: str) -> str:
    return _checked(address, name, "GITHUB_TOKEN", "https://ghe.example/api/v3")


def _checked(address: str, name: str, variable: str, example: str) -> str:
    """An address that a token may be sent to. `name` is the option or variable that gave it, `variable` the token's."""
    try:
        parts = urlsplit(address.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError(f"{name} is not an http or https address. Give one, as in {example}")
    if parts.username is not None or parts.password is not None:
        raise UsageError(f"{name} holds a user name or password. Leave it out; set {variable} instead.")
    if parts.scheme == "http" and host not in _LOCAL:
        raise UsageError(f"the token would go unencrypted to http://{host}. Use https.")
    return address.strip().rstrip("/")


def _github_token(host: str, own: bool, environ: Mapping[str, str]) -> Secret:
    """GITHUB_TOKEN is the one of the environment's own server: another server does not get it."""
    names: tuple[str, ...] = ("GITHUB_TOKEN", "GH_TOKEN") if own or host.endswith(".ghe.com") else ()
    if host != GITHUB:
        names = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", *names)
    names = names or ("GH_TOKEN",)  # on the runner of another server, which GITHUB_TOKEN belongs to
    found = next((token for name in names if (token := environ.get(name, "").strip())), "") or _token_of_gh(host)
    if not found:
        wanted = names[0]
        log_in = f"gh auth login --hostname {host}"
        raise UsageError(
            f"there is no token for {host}. Set {wanted} to one that may read the repository, or log in once with "
            f"{log_in}"
        )
    return _sound(found, host)


def _token_of_gh(host: str) -> str:
    """The token that GitHub's command line keeps; nothing where it is not installed, not logged in, or does not end."""
    command = ["gh", "auth", "token", "--hostname", host]
    try:
        done = subprocess.run(  # noqa: S603  # a list without a shell; the host is of checked characters
            command, capture_output=True, text=True, timeout=_GH_SECONDS, stdin=subprocess.DEVNULL, check=False
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _sound(text: str, host: str) -> Secret:
    """The token; UsageError for characters that no token has, which could end a header and begin another."""
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise UsageError(f"the token for {host} has characters that no token has. Copy it again.")
    return Secret(text)
