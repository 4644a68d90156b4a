"""Which formats there are, and reading through them: reviews of files and folders, reference sets, histories."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from metareview.errors import InputError, UsageError
from metareview.formats.protocol import CommentFormat, HistoryFormat
from metareview.formats.source import Progress, Source, readable
from metareview.model.comment import ReferenceSet, Review, Skipped, merged
from metareview.model.event import History
from metareview.plugins import Registry

# Formats of other packages share one group of entry points; the type of what is loaded tells the two kinds apart.
# The order is the order of sniffing.
_GROUP = "metareview.formats"
COMMENT_FORMATS = Registry("format", f"{_GROUP}.comments", _GROUP, ("aacr-text", "aacr", "jsonl", "github", "martian"))
HISTORY_FORMATS = Registry("history format", f"{_GROUP}.histories", _GROUP, ("events", "gerrit"))

# In a folder, other files (a README, a picture) are listed as skipped, and not looked into.
_SUFFIXES = {".txt", ".json", ".jsonl", ".ndjson"}

Paths = str | Path | Sequence[str | Path]
Format = TypeVar("Format", CommentFormat, HistoryFormat)


def several(paths: Paths) -> list[str | Path]:
    """One path, or several, as a list."""
    return [paths] if isinstance(paths, str | Path) else list(paths)


def comment_formats(name: str | None = None) -> dict[str, CommentFormat]:
    """The comment formats by name, in the order of sniffing; or the one of this name or `package.module:format`."""
    return _formats(COMMENT_FORMATS, CommentFormat, name)


def history_formats(name: str | None = None) -> dict[str, HistoryFormat]:
    """The history formats by name, in the order of sniffing; or the one of this name or `package.module:format`."""
    return _formats(HISTORY_FORMATS, HistoryFormat, name)


def _formats(registry: Registry, kind: type[Format], name: str | None) -> dict[str, Format]:
    loaded = {each: registry.load(each) for each in ([name] if name else registry.names())}
    formats = {each: plugin for each, plugin in loaded.items() if isinstance(plugin, kind)}
    if name and not formats:
        raise UsageError(f"{name} is no {registry.kind}: it is {type(loaded[name]).__name__}, not {kind.__name__}.")
    return formats


@dataclass
class Inputs:
    """What was read of one side: the reviews in order, and everything that a report must say about the reading."""

    reviews: list[Review] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    hashes: dict[str, str] = field(default_factory=dict)
    formats: set[str] = field(default_factory=set)


def read_inputs(path: str | Path, *, format_name: str | None = None, reviewer: str | None = None) -> Inputs:
    """Read a file, or a whole folder: one subfolder per reviewer if it has any.

    `reviewer` names the reviewer where the input has none; without it, the subfolder's, folder's or file's name does.
    """
    path = Path(path)
    formats = comment_formats(format_name)
    inputs = Inputs()
    in_folder = _is_folder(path)
    files = _files_below(path) if in_folder else [path]
    if not files:
        raise InputError("an empty folder", file=path, fix="Name the folder that holds the comment files.")
    names = [file.relative_to(path) if in_folder else Path(file.name) for file in files]
    for file, name in zip(files, names, strict=True):
        source = Source(file)
        if in_folder and file.suffix.lower() not in _SUFFIXES:
            inputs.skipped.append(Skipped(source.name, f"not one of {', '.join(sorted(_SUFFIXES))}"))
            continue
        chosen = format_name or next((each for each in formats if formats[each].sniff(source)), None)
        if chosen is None:
            empty = source.text.strip() in ("", "[]")
            reason = "it is empty, and its name tells no pull request" if empty else "not in a known format"
            if not in_folder:
                raise InputError(reason, file=source.name, fix=_choose_format())
            inputs.skipped.append(Skipped(source.name, reason))
            continue
        # A subfolder is always its own reviewer, whatever `reviewer` says.
        alone = reviewer or (path.resolve().name if in_folder else path.stem)
        owner = readable(name.parts[0] if len(name.parts) > 1 else alone)
        inputs.formats.add(chosen)
        inputs.hashes[readable(name.as_posix())] = hashlib.sha256(source.data).hexdigest()
        for review in formats[chosen].read(source):
            inputs.reviews.append(review if review.reviewer else replace(review, reviewer=owner))
        inputs.warnings += source.all_warnings()
    if in_folder:
        for folder in sorted(item for item in path.iterdir() if item.is_dir() and item.name[0] != "."):
            if not any(file.is_relative_to(folder) for file in files):
                inputs.skipped.append(Skipped(readable(str(folder)), "an empty folder: no reviewer to score"))
        if reviewer and all(len(name.parts) > 1 for name in names):
            inputs.warnings.append(f"{path}: each subfolder names its reviewer, so --name {reviewer} is not used")
        if not inputs.formats:
            problem = f"none of its {len(files)} files is in a known format"
            raise InputError(problem, file=path, fix=_choose_format())
    return inputs


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name that is too long; what reads the file says so
        return False


def _files_below(folder: Path) -> list[Path]:
    """All files but the hidden ones."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in files if "/." not in f"/{path.relative_to(folder).as_posix()}")


def _choose_format() -> str:
    return f"The formats are {', '.join(COMMENT_FORMATS.names())}; choose one with --format."


def read_reference_set(
    references: Paths, negatives: Paths = (), *, format_name: str | None = None
) -> tuple[ReferenceSet, dict[str, str]]:
    """The references and negatives of these files, by pull request, and the files' hashes by role and name."""
    warnings: list[str] = []
    hashes: dict[str, str] = {}

    def gathered(role: str, paths: Paths) -> dict[str, Review]:
        reviews: list[Review] = []
        for number, path in enumerate(several(paths), 1):
            inputs = read_inputs(path, format_name=format_name)
            warnings.extend([*inputs.warnings, *(f"{item.file}: left out, {item.reason}" for item in inputs.skipped)])
            prefix = role if number == 1 else f"{role}-{number}"
            hashes.update({f"{prefix}/{name}": value for name, value in inputs.hashes.items()})
            reviews += [replace(review, reviewer=None) for review in inputs.reviews]
        by_key = {key: review for (key, _), review in merged(reviews).items()}
        if len(by_key) < len(reviews):
            warnings.append(f"{len(reviews) - len(by_key)} further records for the same pull requests were merged")
        return by_key

    positive, negative = gathered("reference", references), gathered("negatives", negatives)
    if not positive:
        names = ", ".join(map(str, several(references)))
        raise InputError("it holds no pull request", file=names, fix="Name a file of reference comments.")
    if stray := [key for key in negative if key not in positive]:
        count = sum(len(negative.pop(key).comments) for key in stray)
        shown = ", ".join(stray[:5]) + (", …" if len(stray) > 5 else "")
        whose = f"{len(stray)} pull requests that have no references"
        warnings.append(f"{count} negatives of {whose} are left out: {shown}")
    return ReferenceSet(positive, negative, tuple(warnings)), hashes


def read_history(path: str | Path, format: str | None = None, *, progress: Progress | None = None) -> History:
    """Read a history, its format found by content unless it is named.

    InputError for a file that is absent, empty or in no known format; UsageError for an unknown format name.
    """
    source = Source(Path(path), progress=progress)
    for known in history_formats(format).values():
        if format or known.sniff(source):
            history = known.read(source)
            return replace(history, warnings=(*source.all_warnings(), *history.warnings))
    first = next(source.lines(), None)
    if first is None:
        raise InputError("the file is empty", file=path, fix="Give a history with at least one pull request.")
    names = ", ".join(HISTORY_FORMATS.names())
    fix = f'An event has at least {{"repo", "pr", "at", "kind"}}; the history formats are {names}.'
    raise InputError("not a history in a known format", file=path, line=first.line, fix=fix)
