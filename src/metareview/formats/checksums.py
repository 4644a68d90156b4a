"""Checksums of the files of a finished run: its manifest has their sizes and hashes under `files`.

    "files": {"results.jsonl": {"bytes", "lines", "sha256", "blocks"}, "summary.json": {"bytes", "lines", "sha256"}, …}

A run is read only after its files were compared with these, so that a figure of a file that was cut is never shown.
Files written after the end of a run have no checksum: labels.jsonl, frame.json, unlisted.json.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metareview.errors import InputError
from metareview.formats.line_parts import has_parts, opened_part, part_files, parts_of, read_parts
from metareview.model.words import plural

RESULTS, PAIRS, SUMMARY, MANIFEST = "results.jsonl", "pairs.jsonl", "summary.json", "manifest.json"
EXAMPLES = "examples.jsonl"
"""The known verdicts that the judge learned from."""
CHECKED_FILES = (RESULTS, PAIRS, SUMMARY, EXAMPLES)
SCHEMA = "metareview.run/1"
REPAIR = (
    "Run the command that made it again, with the same --out: it keeps what is whole and makes the rest again. "
    "Or copy the folder anew."
)
BLOCK = 1 << 16
"""Bytes with a checksum of their own, by which a repair knows what is whole."""
_CHECKSUM = 8
"""Hexadecimal digits of one."""
_READ = 1 << 20
_HEXADECIMAL = re.compile(r"[0-9a-f]*")
_ELIGIBLE = re.compile(rb'"eligible":\s*true')


@dataclass(frozen=True, slots=True)
class Checksum:
    """The checksum of a file at the end of its run."""

    size: int
    lines: int
    sha256: str
    blocks: str = ""
    """The CRC-32 of each block, one after the other; only of lines, which can be kept one by one."""

    def to_json(self) -> dict[str, Any]:
        known = {"bytes": self.size, "lines": self.lines, "sha256": self.sha256}
        return known | {"blocks": self.blocks} if self.blocks else known

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Checksum:
        """KeyError, TypeError or ValueError where it is none."""
        checksum = cls(stored["bytes"], stored["lines"], stored["sha256"], stored.get("blocks", ""))
        if not (_HEXADECIMAL.fullmatch(checksum.sha256) and _HEXADECIMAL.fullmatch(checksum.blocks)):
            raise ValueError("a hash that is none")
        if not all(type(number) is int and number >= 0 for number in (checksum.size, checksum.lines)):
            raise ValueError("a size that is none")
        return checksum

    def is_whole(self, number: int, block: bytes) -> bool:
        """True if the block with this number is as it was."""
        at = number * _CHECKSUM
        return self.blocks[at : at + _CHECKSUM] == _hexadecimal(zlib.crc32(block))


class ChecksumBuilder:
    """The checksum of a file that is being written, or read."""

    def __init__(self, *, in_blocks: bool = False) -> None:
        self._hash, self._in_blocks = hashlib.sha256(), in_blocks
        self._size = self._lines = self._checksum = 0
        self._blocks: list[str] = []

    def add(self, text: bytes) -> None:
        self._hash.update(text)
        self._lines += text.count(b"\n")
        if not self._in_blocks:
            self._size += len(text)
            return
        left = memoryview(text)
        while left:
            part = left[: BLOCK - self._size % BLOCK]
            self._checksum = zlib.crc32(part, self._checksum)
            self._size += len(part)
            if not self._size % BLOCK:
                self._blocks.append(_hexadecimal(self._checksum))
                self._checksum = 0
            left = left[len(part) :]

    def add_file(self, path: Path) -> ChecksumBuilder:
        with path.open("rb") as file:
            while text := file.read(_READ):
                self.add(text)
        return self

    @property
    def checksum(self) -> Checksum:
        begun = [_hexadecimal(self._checksum)] if self._in_blocks and self._size % BLOCK else []
        return Checksum(self._size, self._lines, self._hash.hexdigest(), "".join([*self._blocks, *begun]))


def _hexadecimal(checksum: int) -> str:
    return f"{checksum:0{_CHECKSUM}x}"


def checksums_of(folder: Path, known: Mapping[str, Checksum] | None = None) -> dict[str, Checksum]:
    """Those of a run's files as they are now, in one pass over what is not known already."""
    known = known or {}
    return {name: known.get(name) or _checksum_of(path) for name, path in _files(folder, CHECKED_FILES)}


def checksums_in(manifest: Mapping[str, Any]) -> dict[str, Checksum]:
    """Those that a manifest has; none where they cannot be read."""
    try:
        return {name: Checksum.from_json(each) for name, each in manifest["files"].items()}
    except (KeyError, TypeError, ValueError, AttributeError):
        return {}


def _checksum_of(path: Path) -> Checksum:
    checksum = ChecksumBuilder(in_blocks=path.name in (RESULTS, PAIRS)).add_file(path).checksum
    if path.suffix != ".parquet":
        return checksum
    with opened_part(path) as part:
        return Checksum(checksum.size, part.metadata.num_rows, checksum.sha256)


def _files(folder: Path, names: Iterable[str]) -> Iterator[tuple[str, Path]]:
    """Those of these that are there, with the parts that stand in the place of lines."""
    for name in names:
        if has_parts(folder / name):
            for part in part_files(parts_of(folder / name)):
                yield f"{part.parent.name}/{part.name}", part
        elif (folder / name).exists():
            yield name, folder / name


# Checking


def verify_files(
    folder: Path, checksums: Mapping[str, Checksum], names: Iterable[str] = CHECKED_FILES, *, by_size: bool = False
) -> None:
    """InputError where one of these files is not as the run wrote it; `by_size`: without a look into them."""
    names = list(names)
    there = dict(_files(folder, names))
    wanted = {*names, *(parts_of(Path(name)).name for name in names)}
    for name in checksums:
        if name.partition("/")[0] in wanted and name not in there:
            raise damaged(folder / name, "it is missing")
    for name, path in there.items():
        if name not in checksums:
            raise damaged(path, "the run did not write it")
        checksum, size = checksums[name], path.stat().st_size
        if by_size and size != checksum.size:
            raise damaged(path, f"{size:,} bytes where the run wrote {checksum.size:,}")
        if by_size:
            continue
        found = ChecksumBuilder().add_file(path).checksum
        if found.lines < checksum.lines and path.suffix != ".parquet":
            raise damaged(path, f"{found.lines:,} of {plural(checksum.lines, 'line')} are left")
        if found.size != checksum.size:
            raise damaged(path, f"{found.size:,} bytes where the run wrote {checksum.size:,}")
        if found.sha256 != checksum.sha256:
            raise damaged(path, "its content is not what the run wrote, by its SHA-256")


def check_records(folder: Path, checksums: Mapping[str, Checksum], records: int | None) -> None:
    """InputError where a manifest has checksums of another number of records than it says."""
    places = (RESULTS, parts_of(Path(RESULTS)).name)
    recorded = sum(checksum.lines for name, checksum in checksums.items() if name.partition("/")[0] in places)
    if recorded != records:
        raise damaged(folder / MANIFEST, f"{records} records, and {recorded:,} lines of them")


def check_counts(folder: Path, records: int | None, pairs: int | None) -> None:
    """InputError where an old run, without checksums, has not as many records and judged pairs as its figures say; None
    where they do not say."""
    if records is not None:
        found = sum(1 for _ in _lines(folder / RESULTS))
        if found != records:
            raise damaged(folder / RESULTS, f"{found:,} of {plural(records, 'record')} are there")
    if pairs:
        found = sum(_ELIGIBLE.search(line) is not None for line in _lines(folder / PAIRS))
        if found != pairs:
            raise damaged(folder / PAIRS, f"{found:,} of {pairs:,} judged pairs are there")


def _lines(path: Path) -> Iterator[bytes]:
    """Whole ones."""
    if has_parts(path):
        for lines in read_parts(parts_of(path)):
            yield from lines
    elif path.exists():
        with path.open("rb") as file:
            yield from (line for line in file if line.endswith(b"\n"))


def check_file_of_run(path: Path) -> None:
    """InputError where a file of verdicts, or the results beside it, is of a finished run and not as that wrote it."""
    folder = path.parent
    try:
        text = (folder / MANIFEST).read_bytes()
    except OSError:
        return  # A file that is kept without its run.
    if SCHEMA.encode() not in text:
        return
    try:
        manifest = json.loads(text)
        if manifest["schema"] != SCHEMA or manifest["status"] != "finished":
            return
        names = (path.with_suffix(".jsonl").name, RESULTS)
        if "files" in manifest:
            verify_files(folder, {name: Checksum.from_json(each) for name, each in manifest["files"].items()}, names)
        elif manifest["kind"] == "comments":
            judged = json.loads((folder / SUMMARY).read_bytes())["judge"]["pairs"]
            check_counts(folder, manifest.get("records"), judged if PAIRS in names else None)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"the run of {path.name} is damaged ({type(error).__name__}: {str(error)[:100]})",
            file=folder / MANIFEST,
            fix="Run the evaluation again with --overwrite.",
        ) from None


def damaged(path: Path, what: str) -> InputError:
    """The InputError for a damaged file of a run, with the fix."""
    return InputError(f"a damaged run: {what}", file=path, fix=REPAIR)


# What is whole of a damaged file


def whole_lines(path: Path, checksum: Checksum | None) -> Iterator[bytes | None]:
    """The lines that are as the run wrote them, and None wherever something else stands or is missing.

    Without a checksum all that end are. Of a file that was cut, the lines before the cut are whole.
    """
    gap = False
    for line in _lines_of(_blocks_of(path, checksum)):
        if line is not None or not gap:
            yield line
        gap = line is None


def _blocks_of(path: Path, checksum: Checksum | None) -> Iterator[bytes | None]:
    """The blocks, None for each that is not whole, and a last None where what follows is missing."""
    number, before_is_whole = 0, True
    with path.open("rb") as file:
        while block := file.read(BLOCK if checksum is None else min(BLOCK, checksum.size - file.tell())):
            cut = checksum is not None and len(block) < BLOCK and file.tell() < checksum.size
            whole = checksum is None or (before_is_whole if cut else checksum.is_whole(number, block))
            yield block if whole else None
            number, before_is_whole = number + 1, whole
        if checksum is not None and file.tell() < checksum.size:
            yield None


def _lines_of(blocks: Iterable[bytes | None]) -> Iterator[bytes | None]:
    begun: list[bytes] | None = []
    """The beginning of a line; None: lost."""
    for block in blocks:
        if block is None:
            begun = None
            yield None
            continue
        *ended, rest = block.split(b"\n")
        for line in ended:
            if begun is not None:
                yield b"".join((*begun, line, b"\n"))
            begun = []
        if begun is not None:
            begun.append(rest)
