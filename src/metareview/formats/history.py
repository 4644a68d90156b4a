"""Reading histories: a file, a folder, or several of them as one history, the format found by content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from metareview.collector import garbage_collection_paused
from metareview.errors import InputError, UsageError
from metareview.formats.folders import files_below, is_folder
from metareview.formats.input_file import InputFile, Progress, readable
from metareview.formats.json_values import objects_of_lines
from metareview.formats.pipes import spooled_pipes
from metareview.formats.protocol import HistoryContext, HistoryFormat, TextFilter
from metareview.formats.reader import Paths, several
from metareview.formats.registry import HISTORY_FORMATS, history_formats
from metareview.model.event import History
from metareview.model.words import none_of

# Of a folder of histories: by their suffixes, without the one of gzip.
_HISTORY_SUFFIXES = {".json", ".jsonl", ".ndjson", ".parquet", ".sqlite", ".sqlite3", ".db"}
HARNESS_FILE = "history.sqlite"
_MOST_OPEN = 64
"""Files that stay open from when they are recognised until they are read; the others are opened again."""


@dataclass(frozen=True, slots=True)
class HistoryFiles:
    """The files that make a history, and those of its folders that were passed over."""

    files: tuple[Path, ...]
    named: frozenset[Path]
    """Those that were named themselves: what is no history among them is a mistake."""


def find_history_files(paths: Paths) -> HistoryFiles:
    """Of a file, itself; of a folder, every history below it, or where it is the harness's, every history.sqlite.

    InputError for a folder without any, UsageError for a file that comes twice.
    """
    found: list[Path] = []
    named = set()
    for path in map(Path, several(paths)):
        if not is_folder(path):
            found.append(path)
            named.add(path)
            continue
        below = files_below(path)
        of_harness = [file for file in below if file.name == HARNESS_FILE]
        below = of_harness or [file for file in below if _history_suffix(file) in _HISTORY_SUFFIXES]
        if not below:
            fix = f"Histories end in {', '.join(sorted(_HISTORY_SUFFIXES))}, or in these and .gz."
            raise InputError("a folder without a history", file=path, fix=fix)
        found += below
    if not found:
        raise UsageError("There is no history to read. Name a file or a folder.")
    seen: set[Path] = set()
    for file in found:
        if (real := file.resolve()) in seen:
            raise UsageError(f"{readable(str(file))} is given twice: its events would count twice. Name it once.")
        seen.add(real)
    return HistoryFiles(tuple(found), frozenset(named))


def _history_suffix(file: Path) -> str:
    return Path(file.stem).suffix.lower() if file.suffix.lower() == ".gz" else file.suffix.lower()


@dataclass(frozen=True, slots=True)
class HistoryInput:
    """The files of one history, found and recognised; nothing of them has been read."""

    name: str
    """Of the format, which is that of all of them."""
    format: HistoryFormat
    files: tuple[InputFile, ...]
    warnings: tuple[str, ...]

    @property
    def label(self) -> str:
        """The name of the history in messages."""
        return ", ".join(file.name for file in self.files)[:200]


def open_history(paths: Paths, format: str | None = None, *, progress: Progress | None = None) -> HistoryInput:
    """A file, a folder or several of them, the format found by content unless it is named.

    InputError for a file that is absent, empty or in no known format; UsageError for an unknown format name, and for
    files of several formats.
    """
    given = find_history_files(paths)
    megabytes = _Megabytes(given.files, progress)
    warnings = []
    chosen: list[tuple[InputFile, str, HistoryFormat]] = []
    for path in given.files:
        file = InputFile(path, progress=megabytes.of(path))
        found = _history_format(file, format, required=len(given.files) == 1 or path in given.named)
        if found is None:
            warnings.append(f"{file.name}: left out, it is empty or no history")
        else:
            opened = file if len(given.files) <= _MOST_OPEN else file.again()
            chosen.append((opened.for_reading(), *found))
    if not chosen:
        problem = f"{none_of(len(given.files))} a history in a known format"
        raise InputError(problem, file=str(several(paths)[0]), fix=_history_fix())
    (first, name, known), *rest = chosen
    for file, other, _ in rest:
        if other != name:
            raise UsageError(f"{file.name} is {other} and {first.name} is {name}. Give files of one format.")
    if known.events is None and rest:
        raise UsageError(f"{name} reads one file at a time. Give one.")
    return HistoryInput(name, known, tuple(file for file, *_ in chosen), tuple(warnings))


@spooled_pipes()
@garbage_collection_paused()
def read_history(
    paths: Paths, format: str | None = None, *, texts: TextFilter | None = None, progress: Progress | None = None
) -> History:
    """Read a history from a file, a folder or several of them. `texts` says which events need theirs; without it, all.

    The errors are those of `open_history`.
    """
    return read_opened(open_history(paths, format, progress=progress), texts)


def read_opened(given: HistoryInput, texts: TextFilter | None = None) -> History:
    """All of it, in memory."""
    if given.format.events is None:
        [file] = given.files
        history = given.format.read(file)
        history = replace(history, warnings=(*given.warnings, *history.warnings))
    else:
        reading = HistoryContext(texts or TextFilter(), warnings=[*given.warnings])
        streams = [given.format.events(file, reading) for file in given.files]
        history = reading.history(chain.from_iterable(streams), given.label)
    corrections = [line for file in given.files for line in file.all_warnings()]
    return replace(history, warnings=(*corrections, *history.warnings))


def _history_format(file: InputFile, format: str | None, *, required: bool) -> tuple[str, HistoryFormat] | None:
    """The format of a file and its name; None where it has none and is not `required` to."""
    for name, known in history_formats(format).items():
        if format or known.sniff(file):
            return name, known
    if not required:
        return None
    first = next(objects_of_lines(file), None)
    if first is None:
        raise InputError("the file is empty", file=file.name, fix="Give a history with at least one pull request.")
    raise InputError("not a history in a known format", file=file.name, line=first.line_of(None), fix=_history_fix())


def _history_fix() -> str:
    names = ", ".join(HISTORY_FORMATS.names())
    return f'An event has at least {{"repo", "pr", "at", "kind"}}; the history formats are {names}.'


class _Megabytes:
    """Progress over several files, as if they were one."""

    def __init__(self, files: Sequence[Path], progress: Progress | None) -> None:
        self._progress = progress
        self._sizes = {file: file.stat().st_size // 2**20 if file.is_file() else 0 for file in files}

    def of(self, file: Path) -> Progress | None:
        if self._progress is None:
            return None
        tell, sizes = self._progress, list(self._sizes)
        before = sum(self._sizes[each] for each in sizes[: sizes.index(file)])
        total = sum(self._sizes.values())
        return lambda done, size: tell(before + done, max(total, before + size))
