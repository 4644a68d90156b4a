"""Ctrl-C and SIGTERM, from the first import to the last line: whenever they come, the process ends without a traceback.

While a command is at work the first of them is a KeyboardInterrupt, so that workers are dismissed and temporary files
go; another one, and one before or after the work, ends the process at once.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_received: list[int] = []


def end_at_once() -> None:
    """From here on; for what is not at work yet, or no longer."""
    _on_signal(_end)


@contextmanager
def at_work() -> Iterator[None]:
    """While it is open, the first signal is a KeyboardInterrupt."""
    if threading.current_thread() is not threading.main_thread():  # where no signal comes, and none can be set
        yield
        return
    before = {each: signal.getsignal(each) for each in _SIGNALS}
    hook = sys.unraisablehook

    def lost(what: Any) -> None:
        """A finalizer was interrupted, and what it raises reaches nobody."""
        if issubclass(what.exc_type, KeyboardInterrupt):
            os._exit(exit_code())
        hook(what)

    sys.unraisablehook = lost
    _on_signal(_raise)
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for each, handler in before.items():
            if handler is not None:  # one that Python does not know of
                signal.signal(each, handler)


def exit_code() -> int:
    """130 for Ctrl-C; 143 for SIGTERM, as shells have it."""
    return 128 + (_received[0] if _received else signal.SIGINT)


def leave(code: int) -> NoReturn:
    """End with this code. Where a signal came, without the rest of Python's own end, which may wait for threads, and
    which forgets the code where the signal came at certain moments; temporary files go all the same."""
    if _received:
        atexit._run_exitfuncs()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _on_signal(handler: Callable[[int, FrameType | None], None]) -> None:
    for each in _SIGNALS:
        if signal.getsignal(each) is not signal.SIG_IGN:  # whoever started us wants it to be ignored
            signal.signal(each, handler)


def _end(number: int, frame: FrameType | None) -> None:
    _received.append(number)
    os._exit(exit_code())


def _raise(number: int, frame: FrameType | None) -> None:
    _received.append(number)
    end_at_once()
    raise KeyboardInterrupt
