"""The current time and waiting, as one object that tests replace."""

from __future__ import annotations

import time


class Clock:
    """The machine's clock."""

    def now(self) -> float:
        """Seconds since 1970, UTC."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def clock_time(instant: float) -> str:
    """The user's own time of day, as in `14:05`.

    A moment that no clock has (a server may name any) is `some day`.
    """
    try:
        return time.strftime("%H:%M", time.localtime(instant))
    except (OverflowError, OSError, ValueError):
        return "some day"
