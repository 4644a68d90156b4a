"""What every request must pass before a page sees it, and what every answer carries.

The viewer listens on this machine, where any web page that the user opens can send requests to it. So: only our own
names in the Host header, so that no other site's name can be made to lead here; writes only from our own pages, with a
token that only they know; small bodies and addresses; and a policy under which nothing in a run can act.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Iterable
from urllib.parse import parse_qs, parse_qsl, quote, unquote_to_bytes, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from metareview.viewer.frame import problem_response
from metareview.viewer.settings import Settings

MOST_BODY = 64 * 1024
MOST_ADDRESS = 8 * 1024
BODY_SECONDS = 20.0
"""How long a body may take to come: whoever sends one byte by byte keeps a place from somebody else."""
METHODS = ("GET", "HEAD", "POST")
TOKEN_HEADER, TOKEN_FIELD = "x-metareview-token", "token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


class Refused(Exception):
    """A request that no page sees."""

    def __init__(self, status: int, title: str, text: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(title)
        self.response = problem_response(status, title, text, headers)


class Guard:
    """Stands before the whole application, its error pages too."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            await send({"type": "websocket.close", "code": 1008})
            return
        guarded = _with_headers(send)
        try:
            headers = Headers(scope=scope)
            self._check_address(scope)
            self._check_host(headers)
            if (response := self._check_access(scope, headers)) is not None:
                await response(scope, receive, guarded)
                return
            body = await _in_time(_body(headers, receive))
            if scope["method"] == "POST":
                self._check_write(headers, body)
        except Refused as refused:
            await refused.response(scope, receive, guarded)
            return
        await self._app(scope, _replayed(body, receive), guarded)

    def _check_address(self, scope: Scope) -> None:
        if scope["method"] not in METHODS:
            known = ", ".join(METHODS)
            raise Refused(405, "This is not done here", f"The viewer answers {known}.", {"allow": known})
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        if len(raw) + len(scope["query_string"]) > MOST_ADDRESS:
            raise Refused(414, "This address is too long", f"At most {MOST_ADDRESS:,} bytes are read.")
        path = unquote_to_bytes(raw.partition(b"?")[0])
        parts = path.replace(b"\\", b"/").split(b"/")
        if b"\0" in path or b".." in parts or b"." in parts or b"\\" in path or path.startswith(b"//"):
            raise Refused(400, "This address leads nowhere", "Addresses of the viewer have no such parts.")

    def _check_host(self, headers: Headers) -> None:
        hosts = headers.getlist("host")
        if len(hosts) != 1:
            raise Refused(400, "Which viewer is meant?", "A request names one host.")
        if not self._settings.knows_host(hosts[0]):
            raise Refused(
                421,
                "This is not the viewer’s address",
                f"The viewer answers at {self._settings.address}. Open it there, or start it with --host and --token "
                "for the name that you use.",
            )

    def _check_access(self, scope: Scope, headers: Headers) -> Response | None:
        """Lets through whoever knows the word; a redirection for who has just said it in the address."""
        if self._settings.access is None:
            return None
        word = self._settings.access.encode()
        asked = scope["query_string"].decode("latin-1")
        said = [value for name, value in parse_qsl(asked, keep_blank_values=True) if name == TOKEN_FIELD]
        if said and scope["method"] != "POST":
            if not hmac.compare_digest(said[-1].encode(), word):
                raise _unknown()
            rest = [(name, value) for name, value in parse_qsl(asked, keep_blank_values=True) if name != TOKEN_FIELD]
            address = quote(scope["path"], safe="/~") + (f"?{urlencode(rest)}" if rest else "")
            response = RedirectResponse(address, 303)
            response.set_cookie(
                self._settings.cookie, self._settings.pass_value, path="/", httponly=True, samesite="strict"
            )
            return response
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), word):
            return None
        passed = self._settings.pass_value.encode()
        if any(hmac.compare_digest(value.encode(), passed) for value in _cookies(headers, self._settings.cookie)):
            return None
        raise _unknown()

    def _check_write(self, headers: Headers, body: bytes) -> None:
        host = headers["host"].lower()
        origins, sites = headers.getlist("origin"), headers.getlist("sec-fetch-site")
        ours = all(origin.lower() == f"http://{host}" for origin in origins)
        if not (origins or sites) or not ours or any(site != "same-origin" for site in sites):
            raise Refused(403, "This did not come from the viewer", "Only its own pages may write. Nothing was kept.")
        given = [*headers.getlist(TOKEN_HEADER), *_form_tokens(headers, body)]
        if not any(hmac.compare_digest(each.encode(), self._settings.token.encode()) for each in given):
            raise Refused(
                403, "This page is out of date", "The viewer has been started anew since. Load the page again."
            )


def _unknown() -> Refused:
    return Refused(
        401,
        "A token is needed",
        "Open the address that the viewer printed when it was started: it ends with ?token= and the word.",
        {"www-authenticate": "Bearer"},
    )


def _cookies(headers: Headers, name: str) -> Iterable[str]:
    """Every value that is sent under this name. Cookies do not tell ports apart: what other programs on this machine
    have set, in whatever form, comes along and must not hide ours."""
    for line in headers.getlist("cookie"):
        for part in line.split(";"):
            given, _, value = part.partition("=")
            if given.strip() == name:
                yield value.strip()


def _form_tokens(headers: Headers, body: bytes) -> list[str]:
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        return []
    try:
        return parse_qs(body.decode("utf-8", "replace"), max_num_fields=200).get(TOKEN_FIELD, [])
    except ValueError:
        return []


async def _in_time(reading: Awaitable[bytes]) -> bytes:
    try:
        return await asyncio.wait_for(reading, BODY_SECONDS)
    except TimeoutError:
        raise Refused(408, "This takes too long", "Send it again.", {"connection": "close"}) from None


async def _body(headers: Headers, receive: Receive) -> bytes:
    """All of it, however it comes: what says that it is larger is refused at once, and so is what turns out to be."""
    too_large = Refused(413, "This is too much", f"At most {MOST_BODY // 1024} KiB are read.", {"connection": "close"})
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()) or int(length[:12]) > MOST_BODY:
        raise too_large
    parts = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return bytes(parts)
        parts += message.get("body", b"")
        if len(parts) > MOST_BODY:
            raise too_large
        if not message.get("more_body", False):
            return bytes(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    told = False

    async def again() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _with_headers(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=list(message.get("headers", ())))
            for name, value in HEADERS.items():
                headers[name] = value
            message = {**message, "headers": headers.raw}
        await send(message)

    return guarded
