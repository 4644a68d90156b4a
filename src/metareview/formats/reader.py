"""Reading reviews: a file, a folder, records in memory, a reference set. The format is found by content."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from metareview.collector import garbage_collection_paused
from metareview.errors import InputError, UsageError
from metareview.formats.folders import files_below, is_folder, is_run_folder, names_its_pull_request, without_run
from metareview.formats.input_file import InputFile, readable
from metareview.formats.protocol import CommentFormat
from metareview.formats.registry import COMMENT_FORMATS, comment_formats
from metareview.model.address import AddressBook
from metareview.model.comment import Comment, ReferenceSet, Review, Skipped, merged
from metareview.model.deduplicate import duplicates_warning, merge_without_duplicates
from metareview.model.selection import ALL_NAMES, Selection
from metareview.model.words import none_of, plural

# In a folder, other files (a README, a picture) are listed as skipped, and not looked into.
_SUFFIXES = {".txt", ".json", ".jsonl", ".ndjson", ".sarif", ".rdjson", ".rdjsonl"}

Paths = str | Path | Sequence[str | Path]
Records = Sequence[Mapping[str, object]]
"""Reviews in memory, with the fields of `jsonl`."""
Given = str | Path | Records
"""One input of comments."""


def several(paths: Paths) -> list[str | Path]:
    """One path, or several, as a list."""
    return [paths] if isinstance(paths, str | Path) else list(paths)


def several_given(given: Paths | Records) -> list[Given]:
    """One path, several, or records in memory, as a list."""
    if isinstance(given, str | Path):
        return [given]
    paths = [item for item in given if isinstance(item, str | Path)]
    records = [item for item in given if isinstance(item, Mapping)]
    if len(paths) + len(records) < len(given) or (paths and records):
        raise UsageError("Give a path, a list of paths, or a list of records (dictionaries), and no mixture.")
    return [records] if records else [*paths]


def label(given: Given, role: str) -> str:
    """The name of an input in messages: its path, or its role where it is in memory."""
    return str(given) if isinstance(given, str | Path) else role


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file that was read, or records in memory."""

    key: str
    """Its name within what was given."""
    name: str
    """Its name in messages."""
    format: str
    sha256: str
    authors: frozenset[str | None]
    """The case-folded authors of its comments; None if neither the data nor a subfolder gives a name."""
    annotated: bool
    """True if one of these comments has a category, a context or a severity, in a format that annotators use."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How comments are read."""

    format_name: str | None = None
    """The format; None: found by content."""
    reviewer: str | None = None
    """The reviewer's name where the input has none; None: the subfolder's, the folder's or the file's."""
    chosen: Selection = ALL_NAMES
    strict: bool = True
    pull_request: str | None = None
    """The pull request of files that name none (`--pr`)."""
    keep_authors: bool = False
    """Keep the author of each comment, for references: those of several people become one review. A review whose
    reviewer nothing names then has none."""
    keep_answers: bool = False
    """Count people as reviewers who only answered others."""
    name_by_file: bool = True
    """Name a reviewer after the file where nothing else does."""
    role: str = "generated"
    """The name of records in memory in messages."""
    repeat: bool = False
    """Take subfolders `run-1`, `run-2` … of the folder itself, not only of a reviewer's, as repeated runs."""


@dataclass
class CommentInputs:
    """The reviews of one side in order, and the facts about their reading that a report shows."""

    options: ReadOptions
    reviews: list[Review] = field(default_factory=list)
    reviewers: dict[str, None] = field(default_factory=dict)
    """Every reviewer in the input, chosen or not."""
    skipped: list[Skipped] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    files: list[FileRead] = field(default_factory=list)

    @property
    def hashes(self) -> dict[str, str]:
        return {file.key: file.sha256 for file in self.files}

    def add_file(
        self, format_name: str, known: CommentFormat, file: InputFile, name: Path, *, owner: str | None
    ) -> None:
        """Add the reviews of a file by the chosen reviewers. `name` is its path within the input; `owner` is the
        reviewer that neither the data nor a subfolder names."""
        within, run = without_run(name, repeat=self.options.repeat)
        subfolder = _reviewer_of(within)
        authors: set[str | None] = set()
        annotated = False
        for review in known.read(file.for_reading()):
            if review.only_answers and not self.options.keep_answers:
                continue  # Answering others is neither a review nor a silence.
            named = review.reviewer or subfolder
            reviewer = named or owner
            if reviewer:
                self.reviewers[reviewer] = None
            if (reviewer or "") in self.options.chosen:
                self.reviews.append(self._attributed(review, named, owner, run))
                if review.comments:
                    authors.add(named and named.casefold())
                    annotated |= any(each.category or each.context or each.severity for each in review.comments)
        annotated &= not known.by_tools
        key = readable(name.as_posix())
        self.files.append(FileRead(key, file.name, format_name, file.sha256, frozenset(authors), annotated))
        self.warnings += file.all_warnings()

    def _attributed(self, review: Review, named: str | None, owner: str | None, run: str | None) -> Review:
        """The review with its reviewer and run, or, of references, with the author of each comment."""
        if not self.options.keep_authors:
            reviewer, run = named or owner, review.run or run
            unchanged = (review.reviewer, review.run) == (reviewer, run)
            return review if unchanged else replace(review, reviewer=reviewer, run=run)
        if named is None:
            return review if review.reviewer is None else replace(review, reviewer=None)
        comments = tuple(each if each.author else each.replace(author=named) for each in review.comments)
        return replace(review, reviewer=named, comments=comments)

    def skip(self, file: str, reason: str) -> None:
        self.skipped.append(Skipped(file, reason))


def why_empty(names: str, skipped: Sequence[Skipped], warnings: Sequence[str]) -> str | None:
    """Why nothing was read from the files of these names, as far as the reading tells."""
    return skipped[0].reason if skipped else warnings[0].removeprefix(f"{names}: ") if warnings else None


@garbage_collection_paused()
def read_inputs(given: Given, options: ReadOptions | None = None) -> CommentInputs:
    """Read a file, a whole folder (one subfolder per reviewer if it has any), or records in memory.

    A reviewer's subfolders `run-1`, `run-2` … are its repeated runs.
    """
    options = options or ReadOptions()
    inputs = CommentInputs(options)
    if isinstance(given, str | Path):
        formats = comment_formats(options.format_name and COMMENT_FORMATS.name_of(options.format_name))
        path = Path(given)
        _read_folder(inputs, formats, path) if is_folder(path) else _read_file(inputs, formats, path)
    else:
        known = comment_formats("jsonl")["jsonl"]
        file = _file_of_records(given, options.role, options.strict)
        inputs.add_file("jsonl", known, file, Path(options.role), owner=options.reviewer or "reviewer")
    return inputs


def _read_file(inputs: CommentInputs, formats: Mapping[str, CommentFormat], path: Path) -> None:
    file = _opened(path, inputs.options)
    found = _format_of(file, formats, inputs.options)
    if found is None:
        raise InputError(_why_unknown(file), file=file.name, fix=_choose_format())
    owner = inputs.options.reviewer or (path.stem if inputs.options.name_by_file else None)
    inputs.add_file(found, formats[found], file, Path(path.name), owner=owner and readable(owner))


def _read_folder(inputs: CommentInputs, formats: Mapping[str, CommentFormat], folder: Path) -> None:
    options = inputs.options
    files = files_below(folder)
    if not files:
        raise InputError("an empty folder", file=folder, fix="Name the folder that holds the comment files.")
    owner = readable(options.reviewer or folder.resolve().name)
    names = [path.relative_to(folder) for path in files]
    for path, name in zip(files, names, strict=True):
        if path.suffix.lower() not in _SUFFIXES:
            inputs.skip(readable(str(path)), f"not one of {', '.join(sorted(_SUFFIXES))}")
            continue
        file = _opened(path, options)
        found = _format_of(file, formats, options)
        if found is None:
            inputs.skip(file.name, _why_unknown(file))
        else:
            inputs.add_file(found, formats[found], file, name, owner=owner)
    filled = {folder.joinpath(*name.parts[:depth]) for name in names for depth in range(1, len(name.parts))}
    for empty in (each for each in _folders_of_reviewers(folder) if each not in filled):
        what = "run to count" if is_run_folder(empty.name) else "reviewer to score"
        inputs.skip(readable(str(empty)), f"an empty folder: no {what}")
    if options.reviewer and all(_reviewer_of(without_run(name, repeat=options.repeat)[0]) for name in names):
        inputs.warnings.append(f"{folder}: each subfolder names its reviewer, so --name {options.reviewer} is not used")
    if not inputs.files:
        raise InputError(f"{none_of(len(files))} in a known format", file=folder, fix=_choose_format())


def _opened(path: Path, options: ReadOptions) -> InputFile:
    return InputFile(path, strict=options.strict, named_pull_request=options.pull_request)


def _format_of(file: InputFile, formats: Mapping[str, CommentFormat], options: ReadOptions) -> str | None:
    """The format's name: the one that was named, or the first that recognises the file."""
    if options.format_name:
        [named] = formats
        return named
    return next((name for name, known in formats.items() if known.sniff(file)), None)


def _why_unknown(file: InputFile) -> str:
    is_empty = file.text.strip() in ("", "[]")
    return "it is empty, and its name tells no pull request" if is_empty else "not in a known format"


def _reviewer_of(name: Path) -> str | None:
    """The reviewer named by a file's subfolder; None for OWNER/REPO/NUMBER.ext."""
    return readable(name.parts[0]) if len(name.parts) > 1 and not names_its_pull_request(name) else None


def _folders_of_reviewers(path: Path) -> list[Path]:
    """The subfolders of a folder, and the runs below those."""
    folders = [item for item in path.iterdir() if item.is_dir() and item.name[0] != "."]
    runs = (item for folder in folders for item in folder.iterdir() if item.is_dir() and is_run_folder(item.name))
    return sorted([*folders, *runs])


def _file_of_records(records: Records, role: str, strict: bool) -> InputFile:
    """Records in memory as JSON lines, a line per record: the same checks and messages as for a file."""
    if not isinstance(records, Sequence) or not all(isinstance(record, Mapping) for record in records):
        raise UsageError(f"{role} must be a path or a list of records (dictionaries), found {type(records).__name__}.")

    def plain(value: object) -> object:
        if isinstance(value, Comment):
            return value.to_dict()
        raise TypeError(f"{type(value).__name__} is no JSON")

    try:
        lines = [json.dumps(dict(record), default=plain) for record in records]
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"{role}: a record cannot be read: {error}. Give what JSON can hold.") from None
    return InputFile.of_text("\n".join(lines), role, strict=strict)


def _choose_format() -> str:
    return f"The formats are {', '.join(COMMENT_FORMATS.names())}; choose one with --format."


@dataclass(frozen=True, slots=True)
class ReferenceFiles:
    """The files of a reference set."""

    references: Sequence[FileRead]
    negatives: Sequence[FileRead]

    @property
    def hashes(self) -> dict[str, str]:
        """By role and name."""
        return {file.key: file.sha256 for file in (*self.references, *self.negatives)}


def read_reference_set(
    references: Paths | Records,
    negatives: Paths | Records = (),
    *,
    format_name: str | None = None,
    chosen: Selection = ALL_NAMES,
    strict: bool = True,
    pull_request: str | None = None,
) -> tuple[ReferenceSet, ReferenceFiles]:
    """The references and negatives, by pull request, and the files that hold them.

    `chosen` says whose comments are references, where files name several people; `pull_request` is that of
    files that name none.
    """
    options = ReadOptions(format_name, strict=strict, pull_request=pull_request, keep_authors=True)
    warnings: list[str] = []
    skipped: list[Skipped] = []
    files: dict[str, list[FileRead]] = {"reference": [], "negatives": []}

    def gathered(role: str, given: Paths | Records, chosen: Selection) -> dict[str, Review]:
        reviews: list[Review] = []
        people: dict[str, None] = {}
        for number, each in enumerate(several_given(given), 1):
            inputs = read_inputs(each, replace(options, chosen=chosen, role=role))
            warnings.extend([*inputs.warnings, *(f"{item.file}: left out, {item.reason}" for item in inputs.skipped)])
            skipped.extend(inputs.skipped)
            prefix = role if number == 1 else f"{role}-{number}"
            files[role] += [replace(file, key=f"{prefix}/{file.key}") for file in inputs.files]
            people |= inputs.reviewers
            reviews += inputs.reviews
        chosen.check(people)
        if further := len(reviews) - len({(review.key, review.reviewer) for review in reviews}):
            warnings.append(f"{further} further records for the same pull requests were merged")
        once, repeated = merge_without_duplicates(_without_reviewer(each) for each in reviews)
        by_key = {key: review for (key, _), review in once.items()}
        if repeated:
            warnings.append(duplicates_warning(repeated))
        return by_key

    positive, negative = gathered("reference", references, chosen), gathered("negatives", negatives, ALL_NAMES)
    if not positive:
        names = ", ".join(label(each, "reference") for each in several_given(references))
        reason = why_empty(names, skipped, warnings)
        problem = "it holds no pull request" + (f": {reason}" if reason else "")
        raise InputError(problem, file=names, fix="Name a file of reference comments.")
    negative = _of_references(negative, positive)
    if stray := [key for key in negative if key not in positive]:
        count = sum(len(negative.pop(key).comments) for key in stray)
        shown = ", ".join(stray[:5]) + (", …" if len(stray) > 5 else "")
        whose = f"{plural(len(stray), 'pull request that has', 'pull requests that have')} no references"
        warnings.append(f"{plural(count, 'negative')} of {whose} {'is' if count == 1 else 'are'} left out: {shown}")
    return ReferenceSet(positive, negative, tuple(warnings)), ReferenceFiles(files["reference"], files["negatives"])


def _without_reviewer(review: Review) -> Review:
    return review if review.reviewer is None else replace(review, reviewer=None)


def _of_references(negatives: Mapping[str, Review], references: Mapping[str, Review]) -> dict[str, Review]:
    """The negatives by the keys of the references that they meet, however each side writes its addresses."""
    if not negatives:
        return {}
    book = AddressBook({key: (review.pr, *review.other_names) for key, review in references.items()})
    met = [(review, book.find(review.pr, *review.other_names)) for review in negatives.values()]
    known = [replace(review, pr=references[keys[0]].pr) if len(keys) == 1 else review for review, keys in met]
    return {key: review for (key, _), review in merged(known).items()}
