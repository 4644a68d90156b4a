"""Real HTTP in a thread: every request is logged, and a script may answer it instead, to misbehave."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


@dataclass
class Reply:
    status: int = 200
    body: object = b""
    """Bytes go out as they are, everything else as JSON."""
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False
    """Close the connection instead of answering."""
    cut: int | None = None
    """Close it after so many bytes of the body."""


@dataclass
class Exchange:
    number: int
    method: str
    path: str
    headers: dict[str, str]
    body: dict

    @property
    def query(self) -> str:
        return self.body.get("query", "")


Script = Callable[[Exchange], Reply | None]


class ScriptedServer:
    """Serves until the `with` block ends. `log` has every request; `_reply` answers what the script does not."""

    def __init__(self, script: Script = lambda exchange: None, latency: float = 0.0) -> None:
        self.script = script
        self.latency = latency
        self.log: list[Exchange] = []

    def __enter__(self) -> Self:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                server._serve(self)

            def do_POST(self) -> None:
                server._serve(self)

            def do_PATCH(self) -> None:
                server._serve(self)

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def _reply(self, exchange: Exchange) -> Reply:
        raise NotImplementedError

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("content-length") or 0)
        body = json.loads(handler.rfile.read(length)) if length else {}
        headers = {name.lower(): value for name, value in handler.headers.items()}
        exchange = Exchange(len(self.log), handler.command, handler.path, headers, body)
        self.log.append(exchange)
        time.sleep(self.latency)
        reply = self.script(exchange) or self._reply(exchange)
        handler.close_connection = reply.drop or reply.cut is not None
        if reply.drop:
            return
        data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        handler.send_response(reply.status)
        for name, value in {"content-length": str(len(data)), **reply.headers}.items():
            handler.send_header(name, value)
        with suppress(ConnectionError):  # whoever asked may have been killed
            handler.end_headers()
            handler.wfile.write(data[: reply.cut])
