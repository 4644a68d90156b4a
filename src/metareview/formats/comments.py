"""The comment formats together: which one a file is in, whole folders, and the set of references."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

from metareview.errors import InputError, UsageError
from metareview.formats import aacr, aacr_text, github, jsonl, martian
from metareview.formats.source import Source, readable
from metareview.model.address import repository_and_number
from metareview.model.comment import ReferenceSet, Review, Skipped, merged

Paths = str | Path | Sequence[str | Path]


def several(paths: Paths) -> list[str | Path]:
    """One path, or several, as a list."""
    return [paths] if isinstance(paths, str | Path) else list(paths)


@dataclass(frozen=True, slots=True)
class CommentFormat:
    """A format: does this file look like it, what does it say, how is it written (file name -> text)."""

    name: str
    summary: str
    sniff: Callable[[Source], bool]
    read: Callable[[Source], Iterator[Review]]
    write: Callable[[Iterable[Review]], dict[str, str]]


def _registered(module: ModuleType) -> CommentFormat:
    return CommentFormat(module.NAME, module.SUMMARY, module.sniff, module.read, module.write)


# In a folder, other files (a README, a picture) are listed as skipped, and not looked into.
_SUFFIXES = {".txt", ".json", ".jsonl", ".ndjson"}

FORMATS = {fmt.name: fmt for fmt in map(_registered, (aacr_text, aacr, jsonl, github, martian))}


@dataclass
class Inputs:
    """What was read of one side: the reviews in order, and everything that a report must say about the reading."""

    reviews: list[Review] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    hashes: dict[str, str] = field(default_factory=dict)
    formats: set[str] = field(default_factory=set)


def format_named(name: str) -> CommentFormat:
    if name not in FORMATS:
        raise UsageError(f"Unknown format {name!r}. The formats are {', '.join(FORMATS)}.")
    return FORMATS[name]


def read_inputs(path: str | Path, *, format_name: str | None = None, reviewer: str | None = None) -> Inputs:
    """Read a file, or a whole folder: one subfolder a reviewer if it has any.

    `reviewer` names the reviewer where the input has none; without it, the subfolder's, folder's or file's name does.
    """
    path = Path(path)
    chosen = format_named(format_name) if format_name else None
    inputs = Inputs()
    if _is_folder(path):
        files = _files_below(path)
        if not files:
            raise InputError(
                "an empty folder", file=path, fix="Name the folder that holds the comment files."
            )
        for file in files:
            below = file.relative_to(path)
            # With --name, files of the folder itself take it; a subfolder is always its own reviewer.
            owner = below.parts[0] if len(below.parts) > 1 else reviewer or path.resolve().name
            if file.suffix.lower() in _SUFFIXES:
                _read_file(Source(file), below.as_posix(), chosen, owner, inputs, in_folder=True)
            else:
                inputs.skipped.append(
                    Skipped(readable(str(file)), f"not one of {', '.join(sorted(_SUFFIXES))}")
                )
        for folder in sorted(item for item in path.iterdir() if item.is_dir() and item.name[0] != "."):
            if not any(file.is_relative_to(folder) for file in files):
                inputs.skipped.append(Skipped(readable(str(folder)), "an empty folder: no reviewer to score"))
        if reviewer and all(len(file.relative_to(path).parts) > 1 for file in files):
            inputs.warnings.append(
                f"{path}: each subfolder names its reviewer, so --name {reviewer} is not used"
            )
        if not inputs.formats:
            raise InputError(
                f"none of its {len(files)} files is in a known format",
                file=path,
                fix=f"The formats are {', '.join(FORMATS)}; choose one with --format.",
            )
    else:
        _read_file(Source(path), path.name, chosen, reviewer or path.stem, inputs, in_folder=False)
    return inputs


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name that is too long; what reads the file says so
        return False


def _files_below(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )


def _read_file(
    source: Source,
    short_name: str,
    chosen: CommentFormat | None,
    owner: str,
    inputs: Inputs,
    *,
    in_folder: bool,
) -> None:
    fmt = chosen or next((candidate for candidate in FORMATS.values() if candidate.sniff(source)), None)
    if fmt is None:
        empty = not source.text.strip() or source.text.strip() == "[]"
        reason = "it is empty, and its name tells no pull request" if empty else "not in a known format"
        if not in_folder:
            raise InputError(
                reason,
                file=source.name,
                fix=f"The formats are {', '.join(FORMATS)}; choose one with --format.",
            )
        inputs.skipped.append(Skipped(source.name, reason))
        return
    inputs.formats.add(fmt.name)
    inputs.hashes[readable(short_name)] = source.sha256
    for review in fmt.read(source):
        inputs.reviews.append(review if review.reviewer else replace(review, reviewer=readable(owner)))
    inputs.warnings += source.all_warnings()


def read_benchmark(
    references: Paths,
    negatives: Paths = (),
    *,
    format_name: str | None = None,
) -> tuple[ReferenceSet, dict[str, str]]:
    """The references and negatives of these files, by pull request, and the files' hashes by role and name."""
    references, negatives = several(references), several(negatives)
    warnings: list[str] = []
    hashes: dict[str, str] = {}

    def gathered(role: str, paths: Sequence[str | Path]) -> dict[str, Review]:
        reviews: list[Review] = []
        for number, path in enumerate(paths):
            inputs = read_inputs(path, format_name=format_name)
            warnings.extend(inputs.warnings)
            warnings.extend(f"{item.file}: left out, {item.reason}" for item in inputs.skipped)
            place = role if number == 0 else f"{role}-{number + 1}"
            hashes.update({f"{place}/{name}": value for name, value in inputs.hashes.items()})
            reviews += [replace(review, reviewer=None) for review in inputs.reviews]
        found = {key: review for (key, _), review in merged(reviews).items()}
        if len(found) < len(reviews):
            warnings.append(
                f"{len(reviews) - len(found)} further records for the same pull requests were merged"
            )
        return found

    positive, negative = gathered("reference", references), gathered("negatives", negatives)
    if not positive:
        names = ", ".join(map(str, references))
        raise InputError("it holds no pull request", file=names, fix="Name a file of reference comments.")
    stray = [key for key in negative if key not in positive]
    if stray:
        count = sum(len(negative[key].comments) for key in stray)
        warnings.append(
            f"{count} negatives of {len(stray)} pull requests that have no references are left out: "
            + ", ".join(stray[:5])
            + (", …" if len(stray) > 5 else "")
        )
    kept = {key: review for key, review in negative.items() if key in positive}
    return ReferenceSet(positive, kept, tuple(warnings)), hashes


class PullRequestIndex:
    """Finds the pull request that a review is about among the references: by address, or by repository and number."""

    def __init__(self, keys_to_urls: dict[str, str]) -> None:
        self._keys = keys_to_urls
        self._by_name: dict[str, list[str]] = {}
        for key, url in keys_to_urls.items():
            self._by_name.setdefault(_short(url), []).append(key)

    def find(self, review: Review) -> str | Skipped:
        """The reference set's key, or why there is none. Never a guess."""
        if review.key in self._keys:
            return review.key
        # An address is only met by its short name where one of the two is no more than a short name itself.
        named = [
            key for key in self._by_name.get(_short(review.pr), []) if "/" not in review.pr or "/" not in key
        ]
        if len(named) == 1:
            return named[0]
        if named:
            reason = f"{review.pr} may be any of {', '.join(named)}; give the full address (jsonl)"
        else:
            reason = f"its pull request {review.pr} is not in the reference set"
        return Skipped(review.source, reason)


def _short(pr: str) -> str:
    """`repo#number`, whatever else is known of it."""
    found = repository_and_number(pr)
    return f"{found[0]}#{found[1]}".casefold() if found else pr.casefold()
