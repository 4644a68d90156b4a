"""Where a GitLab server's API is, and the token for it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from metareview.errors import UsageError
from metareview.http.secret import Secret
from metareview.sources.access import api_address, sound_token
from metareview.sources.targets import GITLAB, Target


@dataclass(frozen=True, slots=True)
class GitLabAccess:
    """An address and a token, which goes there and nowhere else."""

    host: str
    rest: str
    token: Secret = field(repr=False)


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


def gitlab_access(target: Target, api: str | None = None, environ: Mapping[str, str] | None = None) -> GitLabAccess:
    """GitHubAccess to the server of a target; UsageError says how to give a token where there is none for it.

    A runner's own token (CI_JOB_TOKEN) may not read discussions, so it is not tried.
    """
    environ = os.environ if environ is None else environ
    given = api or f"{target.scheme}://{target.host}/api/v4"
    rest = api_address(given, "--api" if api else "the address", "GITLAB_TOKEN", "https://gitlab.example/api/v4")
    own = gitlab_host(environ)
    token = environ.get("GITLAB_TOKEN", "").strip()
    if target.host.casefold() != own:
        has_one = f": GITLAB_TOKEN is that of {own}" if token else ""
        fix = f"Set GITLAB_HOST={target.host}, and GITLAB_TOKEN to one of that server's with the scope read_api."
        raise UsageError(f"there is no token for {target.host}{has_one}. {fix}")
    if not token:
        raise UsageError(f"there is no token for {target.host}. Set GITLAB_TOKEN to one with the scope read_api.")
    return GitLabAccess(target.host, rest, sound_token(token, target.host))
