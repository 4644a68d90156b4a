"""Where a GitHub server's API is, and the token for it: from the environment as GitHub's own tools read it, or `gh`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from metareview.errors import UsageError
from metareview.http.secret import Secret
from metareview.sources.access import api_address, sound_token
from metareview.sources.targets import GITHUB, Target

_GH_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class GitHubAccess:
    """Two addresses and a token, which goes to them and nowhere else."""

    host: str
    graphql: str
    rest: str
    token: Secret = field(repr=False)


def server_host(environ: Mapping[str, str] | None = None) -> str:
    """The server that OWNER/REPO is meant on: github.com, or the one whose runner we are on."""
    server = (os.environ if environ is None else environ).get("GITHUB_SERVER_URL", "")
    return (urlsplit(server).netloc or GITHUB).casefold()


def github_access(target: Target, api: str | None = None, environ: Mapping[str, str] | None = None) -> GitHubAccess:
    """GitHubAccess to the server of a target; UsageError says how to get a token where there is none.

    An address given as `api` counts; else, for the server that the environment is about, GITHUB_API_URL and
    GITHUB_GRAPHQL_URL, as a GitHub runner sets them; else the server's own.
    """
    environ = os.environ if environ is None else environ
    own = target.host == server_host(environ)
    rest = api or (environ.get("GITHUB_API_URL") if own else None) or _rest_address(target)
    rest = _checked(rest, "--api" if api else "GITHUB_API_URL")
    given = environ.get("GITHUB_GRAPHQL_URL") if own and not api else None
    if given:
        graphql = _checked(given, "GITHUB_GRAPHQL_URL")
    else:
        graphql = rest.removesuffix("/v3") + "/graphql" if rest.endswith("/api/v3") else rest + "/graphql"
    if _origin(graphql) != _origin(rest):
        fix = "Give both the same host, or set only GITHUB_API_URL."
        raise UsageError(f"GITHUB_API_URL and GITHUB_GRAPHQL_URL are of different servers. {fix}")
    return GitHubAccess(target.host, graphql, rest, _token(target.host, own, environ))


def _rest_address(target: Target) -> str:
    return "https://api.github.com" if target.host == GITHUB else f"{target.scheme}://{target.host}/api/v3"


def _checked(address: str, name: str) -> str:
    return api_address(address, name, "GITHUB_TOKEN", "https://ghe.example/api/v3")


def _origin(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    return parts.scheme, parts.netloc.casefold()


def _token(host: str, own: bool, environ: Mapping[str, str]) -> Secret:
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
    return sound_token(found, host)


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
