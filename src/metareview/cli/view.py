"""`metareview view`: the local web pages."""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import socket
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import click

from metareview.cli.options import PATH, common_options
from metareview.cli.output import Screen
from metareview.errors import InputError, UsageError

PORT = 7575
TOKEN = "METAREVIEW_VIEW_TOKEN"  # noqa: S105 - the name of it
"""The environment's name for the token."""
_TRIED = 100
"""Ports after the first that are tried."""
_BACKLOG = 128
"""Connections that are taken at a time: few enough that the next ones find room."""
_SHORT = 12
"""Below so many characters a token can be guessed."""
_LONGEST = 1024
"""A file of more characters holds something else."""
_ENDING_SECONDS = 4.0
"""How long pages that are being made are waited for after Ctrl-C."""
INSTALL = 'pip install "metareview[view]"'


@click.command(epilog="Example: metareview view runs")
@click.argument("folder", type=PATH, default=Path("runs"))
@click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    metavar="N",
    help=f"Listen on this port.  [default: {PORT}, or the next one that is free]",
)
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
@click.option(
    "--host",
    default="127.0.0.1",
    metavar="ADDRESS",
    help="Listen on this address; any but this machine's own needs a token.  [default: 127.0.0.1]",
)
@click.option(
    "--token",
    metavar="WORD",
    help=f"Answer only those who know this word; other users see it among the processes.  [default: ${TOKEN}]",
)
@click.option("--token-file", type=PATH, metavar="FILE", help="The file that holds the word, for you alone to read.")
@common_options
def command(
    folder: Path, port: int | None, no_open: bool, host: str, token: str | None, token_file: Path | None, screen: Screen
) -> None:
    """Look at the runs below FOLDER, or at the one run that it is, in a browser. Ctrl-C ends it."""
    try:
        import starlette  # noqa: F401
        import uvicorn
    except ImportError:
        raise UsageError(f"The viewer needs Starlette and uvicorn. Install them: {INSTALL}") from None
    import threading

    from metareview.viewer.app import make_app
    from metareview.viewer.catalogue import Catalogue
    from metareview.viewer.connections import IDLE_SECONDS, BoundedConnection
    from metareview.viewer.settings import Settings

    if not folder.is_dir():
        raise UsageError(f"There is no folder {folder}. Name the one that holds your runs: metareview view FOLDER.")
    shown = token is not None  # a word on the command line is no secret of this process
    token = _token(token, token_file)
    _check_access(host, token)
    listening = _listen(host, port)
    settings = Settings(host, listening.getsockname()[1], token)
    catalogue = Catalogue(folder, settings.token)
    address = settings.address + (f"/?token={token}" if token and shown else "/")
    guessed = f"Warning: a token of fewer than {_SHORT} characters can be guessed. Choose a longer one."
    short = [guessed] if token and len(token) < _SHORT else []
    document = {"schema": "metareview.view/1", "address": address, "folder": str(folder)}
    ask_for = (
        ["Its pages ask for the token: add ?token= and the word to the address, once."] if token and not shown else []
    )
    screen.show(document, address, remarks=["Ctrl-C ends it.", *ask_for, *short])
    sys.stdout.flush()
    config = uvicorn.Config(
        make_app(catalogue, settings),
        log_level="error",
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        h11_max_incomplete_event_size=32 * 1024,
        http=BoundedConnection,
        backlog=_BACKLOG,
        limit_concurrency=200,
        timeout_keep_alive=int(IDLE_SECONDS),
        timeout_graceful_shutdown=2,
    )
    if not no_open and _has_display():
        _open_browser(address)
    logging.getLogger("uvicorn.error").addFilter(_is_no_ending)

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            """Not even a page that takes minutes, whose thread nothing can end, keeps Ctrl-C waiting."""
            ending = threading.Timer(_ENDING_SECONDS, _end, [catalogue.abandon])
            ending.daemon = True
            ending.start()
            super().handle_exit(sig, frame)

    try:
        Server(config).run(sockets=[listening])
    except KeyboardInterrupt:  # uvicorn has ended in order, and passes on what it was ended by
        pass
    finally:
        catalogue.close()
        listening.close()


def _is_no_ending(record: logging.LogRecord) -> bool:
    """Whether it tells something else than that a page was not finished when the viewer was ended."""
    ended = record.exc_info[1] if record.exc_info else None
    return not isinstance(ended, asyncio.CancelledError) and "timeout graceful shutdown" not in record.msg


def _end(clean_up: Callable[[], None]) -> None:
    """At once: labels are on the disk when they are given, and nothing else is written."""
    clean_up()
    os._exit(0)


def _token(word: str | None, file: Path | None) -> str | None:
    """The word of the command line, of the file, or of the environment."""
    if file is None:
        return os.environ.get(TOKEN) or None if word is None else word
    if word is not None:
        raise UsageError("--token and --token-file contradict each other. Leave one out.")
    try:
        with file.open(encoding="utf-8") as stream:
            others = os.fstat(stream.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO)
            found = stream.read(_LONGEST + 1).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise InputError(f"cannot be read ({reason})", file=file, fix="Name the file that holds the token.") from None
    if others and os.name == "posix":
        fix = f"Keep it to yourself: chmod go= {shlex.quote(str(file))}"
        raise InputError("other users may read or write the token in it", file=file, fix=fix)
    if not found or len(found) > _LONGEST:
        fix = "Write one word into it, for example with: openssl rand -hex 16"
        raise InputError("holds no token", file=file, fix=fix)
    return found


def _check_access(host: str, token: str | None) -> None:
    from metareview.viewer.settings import is_loopback

    if token is not None and (not token or not token.isascii() or not token.isprintable() or " " in token):
        raise UsageError("The token is one word of letters, digits and signs that stand on every keyboard.")
    if token is None and not is_loopback(host):
        raise UsageError(
            f"--host {host} lets other machines in: it needs --token-file FILE, ${TOKEN} or --token WORD, a word that "
            "every visitor must know. Leave --host out to keep to this machine."
        )


def _listen(host: str, port: int | None) -> socket.socket:
    """A socket on the port, or on the first free one from PORT; UsageError where there is none."""
    try:
        family, _, _, _, _ = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise UsageError(f"--host {host} is no address of this machine ({error.strerror}).") from None
    for number in [port] if port is not None else range(PORT, PORT + _TRIED):
        listening = socket.socket(family, socket.SOCK_STREAM)
        try:
            if os.name == "posix":  # elsewhere this would let two processes listen at once
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host, number))
            listening.listen(_BACKLOG)
        except OSError as error:
            listening.close()
            if port is not None:
                raise UsageError(f"Cannot listen on {host}, port {port}: {error.strerror}. Choose another.") from None
            refused = error
        else:
            return listening
    raise UsageError(f"Cannot listen on {host}: {refused.strerror}. Name another --host or --port.")


def _has_display() -> bool:
    """Whether a browser could show itself: not in a build, not on a server without a screen."""
    if os.environ.get("CI"):
        return False
    if sys.platform in ("win32", "darwin"):
        return not os.environ.get("SSH_CONNECTION")
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _open_browser(address: str) -> None:
    """In a thread of its own: some browsers keep whoever starts them waiting."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
