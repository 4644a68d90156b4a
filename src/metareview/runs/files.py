"""The files of a run's folder: whole or not at all, JSON lines that may be cut off by a kill, and a lock."""

from __future__ import annotations

import errno
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from metareview.errors import InputError, UsageError
from metareview.formats import checksums
from metareview.formats.checksums import Checksum, ChecksumBuilder
from metareview.locks import PathLock
from metareview.runs.parts import has_parts, parts_of, read_parts

JsonObject = dict[str, Any]

RESULTS, PAIRS, SUMMARY, MANIFEST = checksums.RESULTS, checksums.PAIRS, checksums.SUMMARY, checksums.MANIFEST
EXAMPLES = checksums.EXAMPLES
PARTS = "parts"
"""What a large run has done so far; it goes when the run is finished."""
VERDICTS = "verdicts.sqlite"
"""The run's own verdict cache, where the user's is not to be used; it goes when the run is finished."""
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""No space, none left for this user, or a file larger than it may be."""
VERDICT_FILES = (VERDICTS, f"{VERDICTS}-wal", f"{VERDICTS}-shm")


def default_name(name: str, now: datetime | None = None) -> str:
    """`<time>-<name>`, short enough for every file system."""
    stamp = (now or datetime.now()).strftime("%Y%m%d-%H%M%S")
    safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in name).strip(".-") or "run"
    return f"{stamp}-{safe[:60].encode()[:180].decode(errors='ignore')}"


@contextmanager
def new_folder(name: str) -> Iterator[Path]:
    """`runs/<time>-<name>`, of this run alone, whoever else begins one in the same second: who makes it has it. It goes
    again where nothing was put into it."""
    parent, first = Path("runs"), default_name(name)
    found_parent = parent.exists()
    if os.path.lexists(parent) and not parent.is_dir():
        raise UsageError(f"{parent} is not a folder, and without --out a run goes into {parent}/. Pass --out FOLDER.")
    names = chain([first], (f"{first}-{attempt}" for attempt in count(2)))
    with written_to(parent):
        parent.mkdir(exist_ok=True)
        folder = next(folder for folder in map(parent.joinpath, names) if _made(folder))
    try:
        yield folder
    finally:
        with suppress(OSError):  # it holds the run
            folder.rmdir()
            if not found_parent:
                parent.rmdir()


def _made(folder: Path) -> bool:
    try:
        folder.mkdir()
    except FileExistsError:
        return False
    return True


def read_json(path: Path) -> JsonObject:
    """The object in a file; OSError or ValueError where there is none."""
    try:
        document = json.loads(path.read_text("utf-8"))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(document, dict):
        raise ValueError("not an object")
    return document


def read_lines(path: Path, parse: Callable[[bytes], JsonObject] | None = None) -> Iterator[JsonObject]:
    """The whole lines of a file that may have been cut off in the middle of one, or of the parts in its place.

    `parse` makes the object of a line, and raises ValueError where it is none; parsed_line unless given.
    """
    parse = parse or parsed_line
    if has_parts(path):
        yield from _read_parts(parts_of(path), parse)
        return
    if not path.exists():
        return
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield parse(line)
            except (ValueError, RecursionError):
                raise broken_line(path, number) from None


def _read_parts(folder: Path, parse: Callable[[bytes], JsonObject]) -> Iterator[JsonObject]:
    number = 0
    for lines in read_parts(folder):
        for line in lines:
            number += 1
            try:
                parsed = parse(line)
            except (ValueError, RecursionError):
                raise broken_line(folder, number) from None
            yield parsed


def parsed_line(line: bytes) -> JsonObject:
    """What the standard parser makes of a line, in a third of its time; ValueError or RecursionError for no JSON.

    The quick parser refuses NaN, infinity and half characters, which are then left to the other one.
    """
    try:
        parsed: JsonObject = msgspec.json.decode(line)
        return parsed
    except (msgspec.DecodeError, UnicodeDecodeError):
        standard: JsonObject = json.loads(line)
        return standard


def broken_line(path: Path, number: int) -> InputError:
    return InputError("broken JSON in a run's file", file=path, line=number, fix="Run it again with --overwrite.")


def as_json(document: object) -> JsonObject:
    """As JSON would give it back: dataclasses are objects, tuples are lists."""
    plain: JsonObject = json.loads(json.dumps(document, default=asdict))
    return plain


def to_text(document: Mapping[str, Any], doubtful: Iterable[Any] | None = None) -> str:
    """The document as the standard encoder writes it, in a tenth of its time where the quick one writes the same.

    `doubtful`: the values in it that are not known to be texts, whole numbers, flags, or lists and objects of these;
    None: all of them. To look through a large document takes longer than to write it.
    """
    if _written_alike(list(document.values() if doubtful is None else doubtful)):
        try:
            return msgspec.json.encode(document).decode()
        except (TypeError, UnicodeEncodeError):  # a key that is no text, half a surrogate pair
            pass
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def items_to_bytes(items: list[Any]) -> bytes:
    """The items of a list as `to_text` writes them, without its brackets. As bytes: beyond ASCII, a text takes up to
    four times as much room."""
    if _written_alike(items):
        with suppress(TypeError, UnicodeEncodeError):
            return msgspec.json.encode(items)[1:-1]
    return to_bytes(json.dumps(items, ensure_ascii=False, separators=(",", ":"))[1:-1])


def to_document(document: Mapping[str, Any]) -> str:
    """The same over many lines, for people to read."""
    try:
        return _laid_out(document, "\n")
    except (TypeError, UnicodeEncodeError):
        return json.dumps(document, ensure_ascii=False, indent=2)


def _laid_out(value: Any, margin: str) -> str:
    """What the quick encoder writes in its own way is taken apart; TypeError for what it refuses."""
    if _written_alike([value]):
        return msgspec.json.format(msgspec.json.encode(value), indent=2).decode().replace("\n", margin)
    inner = margin + "  "
    if type(value) is dict and value and set(map(type, value)) == {str}:
        parts = [f"{msgspec.json.encode(key).decode()}: {_laid_out(each, inner)}" for key, each in value.items()]
        return f"{{{inner}{f',{inner}'.join(parts)}{margin}}}"
    if type(value) in (list, tuple) and value:
        return f"[{inner}{f',{inner}'.join([_laid_out(each, inner) for each in value])}{margin}]"
    if type(value) in _KNOWN - _NESTED:
        return json.dumps(value, ensure_ascii=False)
    raise TypeError


def _written_alike(level: list[Any]) -> bool:
    """Whether both encoders write the values in the same way, or the quick one refuses them: they differ in numbers
    that need an exponent or are none, and the quick one also takes what is no JSON."""
    while level:
        kinds = set(map(type, level))
        if not kinds <= _KNOWN:
            return False
        if float in kinds and not all(
            value == 0 or 1e-4 <= abs(value) < 1e16 for value in level if type(value) is float
        ):
            return False
        nested = [value for value in level if type(value) in _NESTED]
        level = [inner for value in nested for inner in (value.values() if type(value) is dict else value)]
    return True


_NESTED = frozenset({dict, list, tuple})
_KNOWN = _NESTED | {str, int, bool, float, type(None)}


def to_line(record: Mapping[str, Any]) -> str:
    return to_text(record) + "\n"


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> Checksum:
    return write_whole(path, map(to_line, records))


def write_json(path: Path, document: Mapping[str, Any]) -> Checksum:
    return write_whole(path, [to_document(document) + "\n"])


def to_bytes(text: str | bytes) -> bytes:
    return text.encode("utf-8", "backslashreplace") if isinstance(text, str) else text


def open_unfollowed(path: Path, *, append: bool = False) -> BinaryIO:
    """A file to write to; OSError where a link stands there, which may lead anywhere."""
    here = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, here | (os.O_APPEND if append else os.O_TRUNC), 0o666)
    return os.fdopen(handle, "ab" if append else "wb")


class AppendedFile:
    """A file of lines that grows, with its checksum as it goes."""

    def __init__(self, path: Path) -> None:
        self._sealing = ChecksumBuilder(in_blocks=True)
        if path.exists():
            self._sealing.add_file(path)
        self._file = open_unfollowed(path, append=True)

    def write(self, text: str | bytes) -> None:
        written = to_bytes(text)
        self._file.write(written)
        self._sealing.add(written)

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> Checksum:
        self._file.close()
        return self._sealing.checksum


def write_whole(path: Path, parts: Iterable[str | bytes]) -> Checksum:
    """All of it or nothing: beside it first, under a name that nobody else takes or can foresee, as a link that leads
    out of the folder would have to; then renamed. What is no file, such as /dev/stdout or a pipe, is written to and
    stays what it is. Half a surrogate pair, as in a folder's name that is no UTF-8, is written as JSON's own escape for
    it."""
    builder = ChecksumBuilder(in_blocks=path.name in (RESULTS, PAIRS))

    def write(file: BinaryIO) -> None:
        for part in parts:
            text = to_bytes(part)
            file.write(text)
            builder.add(text)

    if is_device(path):
        with path.open("wb") as device:
            write(device)
        return builder.checksum
    beside = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
    try:
        with beside.open("xb") as file:
            write(file)
        beside.replace(path)
        return builder.checksum
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def is_device(path: Path) -> bool:
    """Whether something is there that nothing can be put in the place of: a device, a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def is_a_link(path: Path, fix: str = "Delete it, or choose another --out.") -> UsageError:
    return UsageError(f"{path} is a link, and a run is never written through one. {fix}")


@contextmanager
def written_to(folder: Path, fix: str = "Choose another --out.") -> Iterator[None]:
    """Turns what keeps a run's files from being written, as a full disk does, into a message with the fix."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise is_a_link(Path(error.filename or folder)) from None
        if error.errno in DISK_FULL:
            fix = "Free space there, then run the same command with the same --out: what was done is kept."
        raise UsageError(f"Cannot write to {folder}: {error.strerror}. {fix}") from None


class FolderLock(PathLock):
    """Keeps a second process out of a run's folder."""

    def __init__(self, folder: Path) -> None:
        try:
            super().__init__(folder)
        except BlockingIOError:
            raise UsageError(f"Another process is writing to {folder}. Wait for it, or choose another --out.") from None
