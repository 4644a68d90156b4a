"""Which formats there are, and reading through those of comments: files, folders, reference sets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from metareview.errors import InputError, UsageError
from metareview.formats.folders import files_below, is_folder
from metareview.formats.protocol import CommentFormat, HistoryFormat, Mapped
from metareview.formats.run_folders import is_run_folder, names_its_pull_request, without_run
from metareview.formats.source import Source, readable
from metareview.formats.user_format import guarded_format
from metareview.model.address import AddressBook
from metareview.model.comment import Comment, ReferenceSet, Review, Skipped, merged
from metareview.model.facts import facts_of, written_by
from metareview.model.repeats import given_again, merged_once
from metareview.model.selection import EVERYBODY, Selection
from metareview.model.words import none_of, plural
from metareview.plugins import Registry

# Formats of other packages share one group of entry points; the type of what is loaded tells the two kinds apart.
# The order is the order of sniffing.
_GROUP = "metareview.formats"
COMMENT_FORMATS = Registry(
    "format",
    f"{_GROUP}.comments",
    _GROUP,
    ("aacr-text", "aacr", "jsonl", "github", "martian"),
    {"aacr-2": "aacr-standard"},
)
HISTORY_FORMATS = Registry("history format", f"{_GROUP}.histories", _GROUP, ("events", "gerrit", "sqlite", "gharchive"))

HELD = 8_000_000
"""Bytes of a file from which its comments are not held: some twenty thousand of them."""
# In a folder, other files (a README, a picture) are listed as skipped, and not looked into.
_SUFFIXES = {".txt", ".json", ".jsonl", ".ndjson", ".sarif", ".rdjson", ".rdjsonl"}

Paths = str | Path | Sequence[str | Path]
Records = Sequence[Mapping[str, object]]
"""Reviews in memory, with the fields of `jsonl`."""
Given = str | Path | Records
"""One input of comments."""
Format = TypeVar("Format", CommentFormat, HistoryFormat)


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
    """What messages call an input: its path, or its role where it is in memory."""
    return str(given) if isinstance(given, str | Path) else role


def comment_formats(name: str | None = None) -> dict[str, CommentFormat]:
    """The comment formats by name, in the order of sniffing; or the one of this name or `package.module:format`."""
    return _formats(COMMENT_FORMATS, CommentFormat, name)


def history_formats(name: str | None = None) -> dict[str, HistoryFormat]:
    """The history formats by name, in the order of sniffing; or the one of this name or `package.module:format`."""
    return _formats(HISTORY_FORMATS, HistoryFormat, name)


def _formats(registry: Registry, kind: type[Format], name: str | None) -> dict[str, Format]:
    loaded = {each: registry.load(each) for each in ([name] if name else registry.names())}
    formats = {
        each: plugin if registry.is_built_in(each) else guarded_format(f"{registry.kind} {each}", plugin)
        for each, plugin in loaded.items()
        if isinstance(plugin, kind)
    }
    if name and not formats:
        raise UsageError(f"{name} is no {registry.kind}: it is {type(loaded[name]).__name__}, not {kind.__name__}.")
    return formats


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that was read, or records in memory."""

    key: str
    """Its name within what was given."""
    name: str
    """What messages call it."""
    format: str
    sha256: str
    authors: frozenset[str | None]
    """Whose comments were taken from it, in small letters; None: somebody whom neither data nor subfolder names."""
    annotated: bool
    """Whether one of these comments has a category, a context or a severity, in a format that annotators use."""


@dataclass
class Inputs:
    """What was read of one side: the reviews in order, and everything that a report must say about the reading."""

    reviews: list[Review] = field(default_factory=list)
    reviewers: dict[str, None] = field(default_factory=dict)
    """Everybody there is, chosen or not."""
    skipped: list[Skipped] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    files: list[InputFile] = field(default_factory=list)
    formats: set[str] = field(default_factory=set)
    keeps_authors: bool = False
    """Whether each comment keeps who wrote it, for references: those of several people become one review. A review
    whose reviewer nothing names then has none."""
    keeps_answers: bool = False
    """Whether those count as reviewers who only answered others."""
    mapped: Mapped | None = None
    """By what large files are indexed, so that their comments are read when they are asked for, each time anew; None:
    all comments are held."""

    @property
    def hashes(self) -> dict[str, str]:
        return {file.key: file.sha256 for file in self.files}

    def take(
        self,
        format_name: str,
        source: Source,
        key: str,
        subfolder: str | None,
        owner: str | None,
        chosen: Selection,
        run: str | None = None,
    ) -> None:
        """All reviews of a file by those who are chosen; `owner` is whoever neither data nor subfolder names, and `run`
        that of reviews that name none."""
        authors: set[str | None] = set()
        annotated = False
        known = comment_formats(format_name)[format_name]
        for review in self._read(known, source):
            facts = facts_of(review.comments)
            if facts.only_answers and not self.keeps_answers:
                continue  # Who only answered others has not reviewed: that is no silence either.
            named = review.reviewer or subfolder
            reviewer = named or owner
            if reviewer:
                self.reviewers[reviewer] = None
            if (reviewer or "") in chosen:
                if self.keeps_authors and (named or review.reviewer is not None):
                    comments = written_by(review.comments, named) if named else review.comments
                    review = replace(review, reviewer=named, comments=comments)
                elif not self.keeps_authors and (review.reviewer != reviewer or (run and not review.run)):
                    review = replace(review, reviewer=reviewer, run=review.run or run)
                self.reviews.append(review)
                if facts.comments:
                    authors.add(named and named.casefold())
                    annotated |= facts.annotated
        annotated &= not known.by_tools
        self.formats.add(format_name)
        self.files.append(InputFile(key, source.name, format_name, source.sha256, frozenset(authors), annotated))
        self.warnings += source.all_warnings()

    def _read(self, known: CommentFormat, source: Source) -> Iterator[Review]:
        if known.index is None or self.mapped is None or not source.opens_with_object:
            return known.read(source)
        is_large = "data" not in vars(source) and source.path.stat().st_size >= HELD
        return known.index(source, self.mapped) if is_large else known.read(source)


def why_empty(names: str, skipped: Sequence[Skipped], warnings: Sequence[str]) -> str | None:
    """Why nothing was read from the files of these names, as far as the reading tells."""
    return skipped[0].reason if skipped else warnings[0].removeprefix(f"{names}: ") if warnings else None


def read_inputs(
    given: Given,
    *,
    format_name: str | None = None,
    reviewer: str | None = None,
    chosen: Selection = EVERYBODY,
    strict: bool = True,
    about: str | None = None,
    keep_authors: bool = False,
    keep_answers: bool = False,
    name_by_file: bool = True,
    role: str = "generated",
    repeat: bool = False,
    mapped: Mapped | None = None,
) -> Inputs:
    """Read a file, a whole folder (one subfolder per reviewer if it has any), or records in memory.

    `reviewer` names the reviewer where the input has none; without it, the subfolder's, folder's or file's name does.
    `chosen` says whose reviews are taken. Unless `strict`, a field of a comment that cannot be read is left out, with
    a warning. `about` is the pull request of files that name none. Without `name_by_file` a file's name is nobody's.
    With `keep_answers` those are reviewers too who only answered others; else what they said is not taken.
    `role` is what messages call records in memory. A reviewer's subfolders `run-1`, `run-2` … are its runs, and with
    `repeat` also those of the folder itself. With `mapped`, which indexes them, comments of large files are read
    when they are asked for, each time anew.
    """
    inputs = Inputs(keeps_authors=keep_authors, keeps_answers=keep_answers, mapped=mapped)
    if not isinstance(given, str | Path):
        inputs.take("jsonl", _source_of(given, role, strict), role, None, reviewer or "reviewer", chosen)
        return inputs
    path = Path(given)
    format_name = format_name and COMMENT_FORMATS.name_of(format_name)
    formats = comment_formats(format_name)
    in_folder = is_folder(path)
    files = files_below(path) if in_folder else [path]
    if not files:
        raise InputError("an empty folder", file=path, fix="Name the folder that holds the comment files.")
    names = [file.relative_to(path) if in_folder else Path(file.name) for file in files]
    for file, name in zip(files, names, strict=True):
        source = Source(file, strict, about)
        if in_folder and file.suffix.lower() not in _SUFFIXES:
            inputs.skipped.append(Skipped(source.name, f"not one of {', '.join(sorted(_SUFFIXES))}"))
            continue
        found = format_name or next((each for each in formats if formats[each].sniff(source)), None)
        if found is None:
            empty = source.text.strip() in ("", "[]")
            reason = "it is empty, and its name tells no pull request" if empty else "not in a known format"
            if not in_folder:
                raise InputError(reason, file=source.name, fix=_choose_format())
            inputs.skipped.append(Skipped(source.name, reason))
            continue
        whose, run = without_run(name, repeat=repeat)
        subfolder = _reviewer_of(whose)
        owner = reviewer or (path.resolve().name if in_folder else path.stem if name_by_file else None)
        inputs.take(found, source, readable(name.as_posix()), subfolder, owner and readable(owner), chosen, run)
    if in_folder:
        filled = {path.joinpath(*name.parts[:depth]) for name in names for depth in range(1, len(name.parts))}
        for folder in _folders_of_reviewers(path):
            if folder not in filled:
                what = "run to count" if is_run_folder(folder.name) else "reviewer to score"
                inputs.skipped.append(Skipped(readable(str(folder)), f"an empty folder: no {what}"))
        if reviewer and all(_reviewer_of(without_run(name, repeat=repeat)[0]) for name in names):
            inputs.warnings.append(f"{path}: each subfolder names its reviewer, so --name {reviewer} is not used")
        if not inputs.formats:
            problem = f"{none_of(len(files))} in a known format"
            raise InputError(problem, file=path, fix=_choose_format())
    return inputs


def _reviewer_of(name: Path) -> str | None:
    """The subfolder that a file is in, which is always its own reviewer; but OWNER/REPO/NUMBER.ext names nobody."""
    return readable(name.parts[0]) if len(name.parts) > 1 and not names_its_pull_request(name) else None


def _folders_of_reviewers(path: Path) -> list[Path]:
    """The subfolders of a folder, and the runs below those."""
    folders = [item for item in path.iterdir() if item.is_dir() and item.name[0] != "."]
    runs = (item for folder in folders for item in folder.iterdir() if item.is_dir() and is_run_folder(item.name))
    return sorted([*folders, *runs])


def _source_of(records: Records, role: str, strict: bool) -> Source:
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
    return Source.of_text("\n".join(lines), role, strict=strict)


def _choose_format() -> str:
    return f"The formats are {', '.join(COMMENT_FORMATS.names())}; choose one with --format."


@dataclass(frozen=True, slots=True)
class ReferenceFiles:
    """The files of a reference set."""

    references: Sequence[InputFile]
    negatives: Sequence[InputFile]

    @property
    def hashes(self) -> dict[str, str]:
        """By role and name."""
        return {file.key: file.sha256 for file in (*self.references, *self.negatives)}


def read_reference_set(
    references: Paths | Records,
    negatives: Paths | Records = (),
    *,
    format_name: str | None = None,
    chosen: Selection = EVERYBODY,
    strict: bool = True,
    about: str | None = None,
    mapped: Mapped | None = None,
) -> tuple[ReferenceSet, ReferenceFiles]:
    """The references and negatives, by pull request, and the files that hold them.

    `chosen` says whose comments are references, where files name several people; `about` is the pull request of files
    that name none. `mapped` as for `read_inputs`.
    """
    warnings: list[str] = []
    skipped: list[Skipped] = []
    files: dict[str, list[InputFile]] = {"reference": [], "negatives": []}

    def gathered(role: str, given: Paths | Records, chosen: Selection) -> dict[str, Review]:
        reviews: list[Review] = []
        people: dict[str, None] = {}
        for number, each in enumerate(several_given(given), 1):
            inputs = read_inputs(
                each,
                format_name=format_name,
                chosen=chosen,
                strict=strict,
                about=about,
                keep_authors=True,
                role=role,
                mapped=mapped,
            )
            warnings.extend([*inputs.warnings, *(f"{item.file}: left out, {item.reason}" for item in inputs.skipped)])
            skipped.extend(inputs.skipped)
            prefix = role if number == 1 else f"{role}-{number}"
            files[role] += [replace(file, key=f"{prefix}/{file.key}") for file in inputs.files]
            people |= inputs.reviewers
            reviews += inputs.reviews
        chosen.check(people)
        if further := len(reviews) - len({(review.key, review.reviewer) for review in reviews}):
            warnings.append(f"{further} further records for the same pull requests were merged")
        once, repeated = merged_once(_by_nobody(each) for each in reviews)
        by_key = {key: review for (key, _), review in once.items()}
        if repeated:
            warnings.append(given_again(repeated))
        return by_key

    positive, negative = gathered("reference", references, chosen), gathered("negatives", negatives, EVERYBODY)
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


def _by_nobody(review: Review) -> Review:
    return review if review.reviewer is None else replace(review, reviewer=None)


def _of_references(negatives: Mapping[str, Review], references: Mapping[str, Review]) -> dict[str, Review]:
    """The negatives by the keys of the references that they meet, however each side writes its addresses."""
    if not negatives:
        return {}
    book = AddressBook({key: (review.pr, *review.other_names) for key, review in references.items()})
    met = [(review, book.find(review.pr, *review.other_names)) for review in negatives.values()]
    known = [replace(review, pr=references[keys[0]].pr) if len(keys) == 1 else review for review, keys in met]
    return {key: review for (key, _), review in merged(known).items()}
