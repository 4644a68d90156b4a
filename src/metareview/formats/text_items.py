"""JSON lines with `retrieved_context` and `ground_truth_context`: what `metareview text` reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from metareview.errors import InputError
from metareview.text.score import TextItem

EXAMPLE = '{"retrieved_context": ["…"], "ground_truth_context": ["…"]}'
_BOM = b"\xef\xbb\xbf"


def read_text_items(path: str | Path) -> list[TextItem]:
    """The items of a file, in order. Blank lines and unknown fields are ignored; anything else wrong is an
    `InputError` that names the file, the line and the fix."""
    items = [_item(line, path, number) for number, line in _lines(Path(path))]
    if not items:
        raise InputError("no items", file=path, fix=f"Give at least one line such as {EXAMPLE}.")
    return items


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Numbered from 1, blank ones left out. Cut at line feeds only: a string may hold other separators."""
    try:
        if path.is_dir():
            raise InputError("a folder, not a file", file=path, fix="Name one file of JSON lines in it.")
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                # Without its end: a parser that sees one gives the column in a next line that is not there.
                content = (line.removeprefix(_BOM) if number == 1 else line).rstrip(b"\r\n")
                if content.strip():
                    yield number, content
    except FileNotFoundError:
        raise InputError("no such file", file=path, fix="Correct the path.") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"cannot be read ({reason})", file=path, fix="Check the file.") from None


def _item(line: bytes, path: str | Path, number: int) -> TextItem:
    try:
        record = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(
            f"not UTF-8 (byte 0x{line[error.start]:02x} at position {error.start + 1} of the line)",
            file=path,
            line=number,
            fix="Save the file as UTF-8.",
        ) from None
    # ValueError also covers a number with thousands of digits, RecursionError thousands of brackets.
    except (ValueError, RecursionError) as error:
        reason = (
            f"{error.msg}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else "too big"
        )
        raise InputError(
            f"broken JSON ({reason})",
            file=path,
            line=number,
            fix=f"Write one whole JSON object a line, such as {EXAMPLE}.",
        ) from None
    if not isinstance(record, dict):
        raise InputError(
            f"a JSON object is needed, found {_kind(record)}",
            file=path,
            line=number,
            fix=f"Write each line as {EXAMPLE}.",
        )
    return TextItem(
        retrieved_context=_texts(record, "retrieved_context", path, number),
        ground_truth_context=_texts(record, "ground_truth_context", path, number),
    )


def _texts(record: dict[str, object], key: str, path: str | Path, number: int) -> tuple[str, ...]:
    if key not in record:
        raise InputError(
            f"`{key}` is missing", file=path, line=number, fix="Add it, [] if there is nothing in it."
        )
    value = record[key]
    if not isinstance(value, list):
        raise InputError(
            f"`{key}` must be a list of strings, found {_kind(value)}",
            file=path,
            line=number,
            fix='Write it as ["…"].',
        )
    texts: list[str] = []
    for position, text in enumerate(value):
        if not isinstance(text, str):
            raise InputError(
                f"`{key}[{position}]` must be a string, found {_kind(text)}",
                file=path,
                line=number,
                fix="Write each chunk as a string.",
            )
        texts.append(text)
    return tuple(texts)


def _kind(value: object) -> str:
    """A value's type in the words of JSON."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    names = {str: "a string", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names[type(value)]
