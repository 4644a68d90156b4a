"""Instants and spans of time, as whole nanoseconds: no rounding can reorder two events.

An instant is nanoseconds since 1970 in UTC; a span is nanoseconds.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import NamedTuple

from metareview.errors import UsageError

SECOND = 1_000_000_000
DAY = 86_400 * SECOND

_UNITS: dict[str, int] = {"s": SECOND, "m": 60 * SECOND, "h": 3_600 * SECOND, "d": DAY}
_SPAN = re.compile(r"(\d{1,9})(?:\.(\d{1,9}))?([smhd])", re.ASCII)
_FRACTION = re.compile(r"(.*:\d\d)[.,](\d{1,9})(|Z|z|[+-]\d\d:?\d\d)", re.ASCII)
_FORM = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z|z|[+-]\d\d:?\d\d)?)?", re.ASCII)
_EPOCH_DAY = date(1970, 1, 1).toordinal()


_MINUTES = {f":{minute:02d}": minute * 60 * SECOND for minute in range(60)}
_SECONDS = {f":{second:02d}Z": second * SECOND for second in range(60)}
_hours: dict[str, int] = {}


def usual_time(text: str) -> int | None:
    """What `parse_time` answers for a time as GitHub writes it in an hour that was met before; else None.

    >>> usual_time(show_time(parse_time("2025-06-01T12:30:00Z"))) == parse_time("2025-06-01T12:30:00Z")
    True
    """
    hour, minute, second = _hours.get(text[:13]), _MINUTES.get(text[13:16]), _SECONDS.get(text[16:])
    if hour is None or minute is None or second is None:
        return None
    return hour + minute + second


def parse_time(text: str) -> int:
    """The instant that an ISO 8601 text names; a text without a zone is UTC, a bare date its midnight.

    Up to nine digits of a second are kept. Raises ValueError for everything else.

    >>> parse_time("1970-01-01T00:00:01.000000002Z")
    1000000002
    """
    bare, fraction = text.strip(), 0
    if split := _FRACTION.fullmatch(bare):
        bare = split[1] + split[3]
        fraction = int(split[2].ljust(9, "0"))
    if not _FORM.fullmatch(bare):
        raise ValueError("not a time such as 2025-06-01T12:30:00Z")
    moment = datetime.fromisoformat(bare)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    span = moment - datetime(1970, 1, 1, tzinfo=UTC)
    instant = (span.days * 86_400 + span.seconds) * SECOND + fraction
    if len(text) == 20 and text[10] == "T" and text[19] == "Z" and len(_hours) < 100_000:
        _hours[text[:13]] = instant - _MINUTES[text[13:16]] - _SECONDS[text[16:]]
    return instant


def show_time(instant: int) -> str:
    """The instant in ISO 8601, UTC, with as many digits of a second as it needs.

    >>> show_time(1_500_000_000)
    '1970-01-01T00:00:01.5Z'
    """
    seconds, fraction = divmod(instant, SECOND)
    days, clock = divmod(seconds, 86_400)
    day = date.fromordinal(_EPOCH_DAY + days).isoformat()
    digits = f".{fraction:09d}".rstrip("0") if fraction else ""
    return f"{day}T{clock // 3_600:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}{digits}Z"


def parse_span(text: str, option: str) -> int:
    """A span such as `90s`, `60m`, `1.5h` or `30d`; UsageError unless it is longer than nothing.

    >>> parse_span("2m", "--truth-window") // SECOND
    120
    """
    found = _SPAN.fullmatch(text.strip())
    if found:
        number = Fraction(f"{found[1]}.{found[2] or 0}")
        span = int(number * _UNITS[found[3]])
        if span > 0:
            return span
    raise UsageError(
        f"{option} {text!r} is not a span of time. "
        "Give a number above 0 with s, m, h or d, for example 60m or 30d."
    )


class Cutoff(NamedTuple):
    """When a router must answer: at `created_at`, some time after it, or at `ready_for_review`."""

    policy: str
    delay: int = 0


def parse_cutoff(text: str) -> Cutoff:
    """`created_at`, `created_at+30m` or `ready_for_review`; UsageError otherwise."""
    policy, plus, delay = text.partition("+")
    if policy == "created_at" and plus:
        return Cutoff(policy, parse_span(delay, "--cutoff created_at+"))
    if text in ("created_at", "ready_for_review"):
        return Cutoff(text)
    raise UsageError(
        f"--cutoff {text!r} is not known. Give created_at, created_at+30m (s, m, h, d) or ready_for_review."
    )
