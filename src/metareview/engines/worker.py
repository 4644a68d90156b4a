"""A worker process: `python -m metareview.engines.worker`, started by `engines.local` and by nobody else.

It is told what to do first, and then does it with each chunk that it is sent, until nobody sends any more.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import traceback
from typing import Any

from metareview.engines.frames import Frames
from metareview.errors import InputError, MetareviewError, UsageError
from metareview.working_folder import find_modules


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches everybody; what is to be done then, the parent knows.
    # What a router of the user's prints must not get between our messages.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    frames = Frames(sys.stdin.buffer, answers)
    try:
        work, context = _begun(frames.receive())
        while True:
            frames.send(_answer(work, context, frames.receive()))
    except (EOFError, BrokenPipeError):
        os._exit(0)  # The parent has gone: nothing is left to be told to anybody.


def _begun(message: bytes) -> tuple[Any, Any]:
    """The work and what it always needs; where these cannot be loaded, work that refuses every chunk and says why."""
    try:
        found, task = _loaded(message)
        find_modules(found)
        work, context = _loaded(task)
    except (Exception, SystemExit) as error:  # a module of the user's may raise anything, or exit, when it is imported
        return _refuse, UsageError(
            f"A worker process cannot import what this process has ({type(error).__name__}: {error}). Put the router's "
            "module into the working folder, a folder of PYTHONPATH or an installed package; or pass --workers 1."
        )
    return work, context


def _refuse(error: UsageError, chunk: object) -> None:
    raise error


def _answer(work: Any, context: Any, task: bytes) -> bytes:
    try:
        return pickle.dumps((True, work(context, _loaded(task))), pickle.HIGHEST_PROTOCOL)
    except MetareviewError as error:
        if isinstance(error, InputError):
            _ = error.line  # Looked for now, where the file is open.
        return _refusal(error)
    except Exception as error:
        error.add_note("In a worker process:\n" + "".join(traceback.format_tb(error.__traceback__)))
        return _refusal(error)


def _refusal(error: Exception) -> bytes:
    """The error itself, or what can be sent of it."""
    try:
        message = pickle.dumps((False, error), pickle.HIGHEST_PROTOCOL)
        pickle.loads(message)  # An error that cannot be made again is of no use.
    except Exception:
        told = RuntimeError("".join(traceback.format_exception(error)))
        return pickle.dumps((False, told), pickle.HIGHEST_PROTOCOL)
    return message


def _loaded(message: bytes) -> Any:
    return pickle.loads(message)


if __name__ == "__main__":
    main()
