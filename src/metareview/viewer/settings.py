"""Where the viewer listens, and who may ask."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from dataclasses import dataclass, field

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Settings:
    """One process of the viewer."""

    host: str = "127.0.0.1"
    port: int = 7575
    access: str | None = None
    """The word of --token, which every request must know; None where only this machine can ask."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    """What every write must send, so that no other site can write."""

    @property
    def cookie(self) -> str:
        """The name of the cookie that says who knows the word: cookies do not tell ports apart."""
        return f"metareview_{self.port}"

    @property
    def pass_value(self) -> str:
        """What that cookie holds: not the word itself, and nothing that outlives the process."""
        return hmac.new(self.token.encode(), (self.access or "").encode(), "sha256").hexdigest()

    @property
    def address(self) -> str:
        """Where a browser on this machine finds it."""
        host = "127.0.0.1" if self.host in ("0.0.0.0", "") else "::1" if self.host == "::" else self.host  # noqa: S104
        return f"http://{bracketed(host)}:{self.port}"

    def knows_host(self, host: str) -> bool:
        """Whether a Host header names us: loopback or --host, with our port. Another name is another site's, which
        has made its name lead here."""
        name, port = split_host(host)
        if port != self.port:
            return False
        if name in (*LOOPBACK, bracketed(self.host).lower()):
            return True
        if not is_wildcard(self.host):
            return False
        return is_address(name.strip("[]")) or name == socket.gethostname().lower()


def split_host(host: str) -> tuple[str, int | None]:
    """Name and port of a Host header; 80 where it names none, None where it is no port.

    >>> split_host("[::1]:7575"), split_host("localhost"), split_host("a:b")
    (('[::1]', 7575), ('localhost', 80), ('a', None))
    """
    name, colon, port = host.lower().rpartition(":")
    if not colon or port.endswith("]"):
        return host.lower(), 80
    return name, int(port) if port.isascii() and port.isdigit() and len(port) < 6 else None


def bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_wildcard(host: str) -> bool:
    return is_address(host) and ipaddress.ip_address(host).is_unspecified


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches it; a name other than localhost is held to lead elsewhere."""
    return host.lower() == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)
