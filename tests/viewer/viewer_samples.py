"""Runs for the viewer's tests, and a client that asks as a browser would."""

import asyncio
import contextlib
import json
import socket
import threading
from pathlib import Path

import httpx
import uvicorn

from metareview.api import evaluate_comments
from metareview.viewer.app import make_app
from metareview.viewer.catalogue import Catalogue
from metareview.viewer.settings import Settings

HOST = "127.0.0.1:7575"


def pull(number):
    return f"https://github.com/Owner/Repo/pull/{number}"


def said(note, line=1, **fields):
    return {"note": note, "path": "src/a.py", "side": "right", "from_line": line, "to_line": line, **fields}


REFERENCES = [
    {
        "pr": pull(1),
        "language": "Go",
        "comments": [
            said("leaks the handle", 1, category="Code Defect", severity="High"),
            said("slow loop", 30, category="Performance", severity="Low"),
        ],
    },
    {"pr": pull(2), "language": "Rust", "comments": [said("no bounds check", 5, category="Code Defect")]},
]
REVIEWS = [
    {"pr": pull(1), "reviewer": "sharp", "comments": [said("leaks the handle", 1), said("slow loop", 30)]},
    {"pr": pull(2), "reviewer": "sharp", "comments": [said("no bounds check", 5)]},
    {"pr": pull(1), "reviewer": "loud", "comments": [said("leaks the handle", 1), said("rename it", 80)]},
    {"pr": pull(2), "reviewer": "loud", "comments": [said("why so", 5), said("nice", 200)]},
]


def small_run(folder, **options):
    """Locations ignored, so every comment meets every reference: 2·2 + 1·1 + 2·2 + 2·1 = 11 pairs. Exact judge:
    sharp matches all three, loud one of its four comments."""
    return evaluate_comments(REVIEWS, reference=REFERENCES, judge="exact", ignore_location=True, out=folder, **options)


def unfinished(folder, records=3):
    """A run that is being made, with so many records."""
    folder.mkdir(parents=True)
    manifest = {"schema": "metareview.run/1", "kind": "comments", "status": "running"}
    (folder / "manifest.json").write_text(json.dumps(manifest | {"started": "2026-01-02T03:04:05+00:00"}))
    (folder / "results.jsonl").write_text("{}\n" * records)
    return folder


class Client:
    """Asks an application in this process, each time anew but for its cookies; redirections are not followed."""

    def __init__(self, app):
        self.app, self._cookies = app, httpx.Cookies()

    def request(self, method, path, **options):
        async def ask():
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(
                transport=transport, base_url=f"http://{HOST}", cookies=self._cookies
            ) as client:
                answer = await client.request(method, path, **options)
                self._cookies = client.cookies
                return answer

        return asyncio.run(ask())

    def get(self, path, **options):
        return self.request("GET", path, **options)

    def post(self, path, **options):
        return self.request("POST", path, **options)

    def options(self, path, **options):
        return self.request("OPTIONS", path, **options)


def client_of(root: Path, settings: Settings | None = None) -> Client:
    settings = settings or Settings()
    return Client(make_app(Catalogue(root, settings.token), settings))


@contextlib.contextmanager
def served(root):
    """The address of a viewer of these runs, for as long as somebody looks."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        settings = Settings(port=listening.getsockname()[1])
        catalogue = Catalogue(root, settings.token)
        config = uvicorn.Config(make_app(catalogue, settings), log_level="critical", lifespan="off", ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield settings.address
        finally:
            server.should_exit = True
            thread.join()
            catalogue.close()
