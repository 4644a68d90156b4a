"""One JSON object a line: what the formats built on it share, so that they refuse the same mistakes alike."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from metareview.errors import InputError
from metareview.model.time import parse_time

_TIME_FIX = "Give a time such as 2025-06-01T12:30:00Z; without a zone it is UTC."


class Problem(Exception):
    """What is wrong with a row, and the fix; whoever knows file and line turns it into an InputError."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(what)
        self.fix = fix

    def at(self, path: Path, line: int) -> InputError:
        return InputError(str(self), file=path, line=line, fix=self.fix)


class Nanoseconds(int):
    """An instant that a typed column gave; a plain number is none, because nobody can tell its unit."""


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and object of each line that is not blank; InputError for anything else."""
    decode = json.JSONDecoder().raw_decode
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
                if not text:
                    continue
                value, end = decode(text)
                if end != len(text):
                    raise json.JSONDecodeError("Extra data", text, end)
            except UnicodeDecodeError as error:
                raise InputError(
                    "not UTF-8", file=path, line=number, fix="Save the file as UTF-8."
                ) from error
            except (ValueError, RecursionError) as error:
                reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
                raise InputError(
                    f"not a JSON object: {reason}", file=path, line=number, fix="Give one JSON object a line."
                ) from error
            if not isinstance(value, dict):
                raise InputError(
                    "not a JSON object", file=path, line=number, fix="Give one JSON object a line."
                )
            yield number, value


def first_object(head: bytes) -> dict[str, Any] | None:
    """The JSON object on the first line that is not blank; None if there is none."""
    for line in head.removeprefix(b"\xef\xbb\xbf").splitlines():
        if line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                return None
            return value if isinstance(value, dict) else None
    return None


def text(row: dict[str, Any], name: str, example: str) -> str:
    """A text that must be there."""
    value = row.get(name)
    if type(value) is str and value:
        return value
    what = f"{name} is missing" if value is None else f"{name} is not text, or empty"
    raise Problem(what, f"Give {name}: {example}.")


def whole_number(row: dict[str, Any], name: str) -> int:
    """A pull request's number, as a number or as digits."""
    value = row.get(name)
    if type(value) is int and 0 <= value < 2**63:
        return value
    if type(value) is str and value.isascii() and value.isdigit() and len(value) < 19:
        return int(value)
    what = f"{name} is missing" if value is None else f"{name} is not a whole number"
    raise Problem(what, f"Give {name}: the number of the pull request.")


def instant(row: dict[str, Any], name: str) -> int:
    """A time as text, or as a typed column's instant."""
    value = row.get(name)
    if type(value) is str:
        try:
            return parse_time(value)
        except (ValueError, OverflowError):
            raise Problem(f"{name} {value[:40]!r} is not a time", _TIME_FIX) from None
    if type(value) is Nanoseconds:
        return int(value)
    raise Problem(f"{name} is missing" if value is None else f"{name} is not a time", _TIME_FIX)


def file_names(value: object) -> tuple[str, ...]:
    """Paths without repeats, in their order."""
    if not isinstance(value, list) or not all(type(path) is str and path for path in value):
        raise Problem("files is not a list of paths", 'Give files: a list such as ["src/a.py"].')
    return tuple(dict.fromkeys(value))
