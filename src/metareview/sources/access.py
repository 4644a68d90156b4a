"""Checks of API addresses and tokens that every server shares."""

from __future__ import annotations

from urllib.parse import urlsplit

from metareview.errors import UsageError
from metareview.http.secret import Secret

_LOCAL = ("localhost", "127.0.0.1", "::1")


def api_address(address: str, name: str, variable: str, example: str) -> str:
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


def sound_token(text: str, host: str) -> Secret:
    """The token; UsageError for characters that no token has, which could end a header and begin another."""
    if not (text.isascii() and text.isprintable()) or " " in text:
        raise UsageError(f"the token for {host} has characters that no token has. Copy it again.")
    return Secret(text)
