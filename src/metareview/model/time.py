"""Instants (since 1970, in UTC) and spans of time, as whole nanoseconds: no rounding can reorder two events."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, cast

from metareview.errors import UsageError, did_you_mean

SECOND = 1_000_000_000
DAY = 86_400 * SECOND

LATEST = 2**63 - 1
"""The last instant that fits into the 64 bits of a column, in the year 2262; the first is as far before 1970."""
_LONGEST_SPAN = 36_525 * DAY

_UNITS: dict[str, int] = {"s": SECOND, "m": 60 * SECOND, "h": 3_600 * SECOND, "d": DAY}
_SPAN = re.compile(r"(\d{1,9})(?:\.(\d{1,9}))?([smhd])", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_CLOCK = re.compile(
    r"[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?(?:[.,](\d{1,9}))?(?:Z|([+-])(\d\d):?([0-5]\d))?", re.ASCII
)
_EPOCH_DAY = date(1970, 1, 1).toordinal()

# How nearly every time of a history is written: 2025-06-01T12:30:00Z.
_HOURS = {f"{between}{hour:02d}": hour * 3_600 * SECOND for hour in range(24) for between in "T "}
_WITHIN_HOUR = {
    f":{minute:02d}:{second:02d}{zone}": (minute * 60 + second) * SECOND
    for minute in range(60)
    for second in range(60)
    for zone in ("Z", "")
}

_USUAL_LENGTH = len("2025-06-01T12:30:00Z")
_MARKS = [4, 7, 10, 13, 16, 19]
_DIGITS = [place for place in range(_USUAL_LENGTH) if place not in _MARKS]
_USUAL_MARKS = b"--T::Z"
_SPACE_TO_T = bytes.maketrans(b" ", b"T")
_EARLIEST_SECOND = -(LATEST // SECOND)


def parse_time(text: str) -> int:
    """The instant that an ISO 8601 text names; a text without a zone is UTC, a bare date its midnight.

    Up to nine digits of a second are kept; without seconds they are of a minute. Raises ValueError for everything else.

    >>> parse_time("1970-01-01T00:00:01.000000002Z")
    1000000002
    """
    try:
        return _hour(text[:13]) + _WITHIN_HOUR[text[13:]]
    except (KeyError, ValueError):
        bare = text.strip()
        return _midnight(bare[:10]) + _since_midnight(bare[10:])


def time_text(value: object) -> str | None:
    """The value, if it is text that names an instant.

    >>> time_text("2025-06-01T12:30:00Z"), time_text("soon")
    ('2025-06-01T12:30:00Z', None)
    """
    with suppress(ValueError):
        if isinstance(value, str):
            parse_time(value)
            return value
    return None


def instant(text: str | None) -> int | None:
    """The instant of a text; None without a text, or where it names no instant."""
    try:
        return None if text is None else parse_time(text)
    except ValueError:
        return None


def parse_times(texts: Sequence[str]) -> list[int]:
    """`parse_time` of each; quick where all are written alike, as 2025-06-01T12:30:00Z or 2025-06-01 12:30:00Z.

    >>> parse_times(["1970-01-01T00:00:01Z", "1970-01-02 00:00:00Z"])
    [1000000000, 86400000000000]
    """
    import numpy as np  # Takes longer to import than `metareview --help` may.

    if set(map(len, texts)) == {_USUAL_LENGTH} and (joined := "".join(texts)).isascii():
        written = np.frombuffer(joined.encode(), np.uint8).reshape(len(texts), _USUAL_LENGTH)
        digits = written[:, _DIGITS]
        marks = written[:, _MARKS].tobytes().translate(_SPACE_TO_T)
        if marks == _USUAL_MARKS * len(texts) and digits.min() >= ord("0") and digits.max() <= ord("9"):
            with suppress(ValueError):  # The 31st of June: whatever is wrong is for parse_time to say.
                texts_of_bytes = np.ascontiguousarray(written[:, : _USUAL_LENGTH - 1]).view("S19")[:, 0]
                seconds = texts_of_bytes.astype("datetime64[s]").astype(np.int64)
                if seconds.min() >= _EARLIEST_SECOND and seconds.max() <= LATEST // SECOND:
                    return cast(list[int], (seconds * SECOND).tolist())
    return list(map(parse_time, texts))


@lru_cache(maxsize=100_000)
def _hour(text: str) -> int:
    return _midnight(text[:10]) + _HOURS[text[10:]]


@lru_cache(maxsize=10_000)
def _midnight(day: str) -> int:
    if not _DATE.fullmatch(day):
        raise ValueError("not a time such as 2025-06-01T12:30:00Z")
    return (date.fromisoformat(day).toordinal() - _EPOCH_DAY) * DAY


def _since_midnight(clock: str) -> int:
    if not clock:
        return 0
    parts = _CLOCK.fullmatch(clock)
    if not parts:
        raise ValueError("not a time such as 2025-06-01T12:30:00Z")
    hours, minutes, seconds, fraction, sign, zone_hours, zone_minutes = parts.groups(default="0")
    zone = int(zone_hours) * 60 + int(zone_minutes)
    if zone >= 24 * 60:
        raise ValueError("a zone is less than a day from UTC")
    minute = int(hours) * 60 + int(minutes) + (zone if sign == "-" else -zone)
    unit = 60 if parts[3] is None else 1  # A fraction is of the last unit that is given.
    return (minute * 60 + int(seconds)) * SECOND + unit * int(fraction.ljust(9, "0"))


def show_time(instant: int) -> str:
    """The instant in ISO 8601, UTC, with as many digits of a second as it needs.

    >>> show_time(1_500_000_000)
    '1970-01-01T00:00:01.5Z'
    """
    seconds, fraction = divmod(instant, SECOND)
    days, clock = divmod(seconds, 86_400)
    digits = f".{fraction:09d}".rstrip("0") if fraction else ""
    return f"{_day(days)}T{clock // 3_600:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}{digits}Z"


@lru_cache(maxsize=10_000)
def _day(days: int) -> str:
    return date.fromordinal(_EPOCH_DAY + days).isoformat()


def parse_span(text: str, option: str) -> int:
    """A span such as `90s`, `60m`, `1.5h` or `30d`; UsageError unless it is longer than nothing, and up to a century.

    >>> parse_span("2m", "--truth-window") // SECOND
    120
    """
    parts = _SPAN.fullmatch(text.strip())
    span = int(Fraction(f"{parts[1]}.{parts[2] or 0}") * _UNITS[parts[3]]) if parts else 0
    if 0 < span <= _LONGEST_SPAN:
        return span
    fix = "Give a number above 0 with s, m, h or d, for example 60m or 30d, and no more than a century."
    raise UsageError(f"{option} {text!r} is not a span of time. {fix}")


class Cutoff(NamedTuple):
    """When a router must answer: at `created_at`, some time after it, or at `ready_for_review`."""

    policy: str
    delay: int = 0


def parse_cutoff(text: str) -> Cutoff:
    """`created_at`, `created_at+30m` or `ready_for_review`; UsageError otherwise."""
    if text in ("created_at", "ready_for_review"):
        return Cutoff(text)
    if text.startswith("created_at+"):
        return Cutoff("created_at", parse_span(text.removeprefix("created_at+"), "--cutoff created_at+"))
    fix = "Give created_at, created_at+30m (s, m, h, d) or ready_for_review."
    meant = did_you_mean(text, ("created_at", "ready_for_review"))
    raise UsageError(f"--cutoff {text!r} is not known.{meant} {fix}")
