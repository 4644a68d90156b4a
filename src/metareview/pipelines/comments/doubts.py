"""Inputs that cannot be meant. They are refused with the fix; `--force` scores them all the same, with a warning."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from metareview.errors import InputError
from metareview.formats.reader import FileRead, ReferenceFiles
from metareview.model.account import GHOST
from metareview.model.comment import ReferenceSet
from metareview.model.words import plural

_CHOOSE = "Name another file for one of the two"


@dataclass(frozen=True, slots=True)
class Doubt:
    """What looks like a mistake, in which file, and what to do about it."""

    file: str
    problem: str
    fix: str


def settle(doubts: Iterable[Doubt], *, force: bool) -> list[str]:
    """The warnings of a run that goes on all the same; without `force` the first doubt is raised."""
    if not force:
        for doubt in doubts:
            raise InputError(doubt.problem, file=doubt.file, fix=f"{doubt.fix}; --force goes on all the same.")
    return [f"forced: {doubt.file}: {doubt.problem}" for doubt in doubts]


def doubts_about_references(
    references: ReferenceSet, files: ReferenceFiles, *, chosen: bool = False
) -> Iterator[Doubt]:
    """A set without references, a file that is both, and candidates among the references, unless people are `chosen`
    from them."""
    yield from _shared(files.negatives, files.references, "the negatives", "the references", _CHOOSE)
    comments = (comment for review in references.references.values() for comment in review.comments)
    if not any(comment.counted and not comment.neutral for comment in comments):
        there = plural(len(references.references), "pull request")
        names = ", ".join(file.name for file in files.references[:3])
        yield Doubt(
            names, f"it holds no reference: {there}, and no comment with a note", "Name the file of reference comments"
        )
    golden, candidates = _like_references(files.references), _like_candidates(files.references)
    if golden and candidates and not chosen:
        problem = f"it names reviewers and no category, context or severity, unlike {golden[0].name}"
        fix = "It looks like candidates among the references: leave it out, or choose by --reference-reviewer"
        yield Doubt(candidates[0].name, problem, fix)


def doubts_about_sides(generated: Sequence[FileRead], files: ReferenceFiles) -> Iterator[Doubt]:
    """Comments that are scored against themselves, the two sides swapped, and comments of nobody."""
    choose = f"{_CHOOSE}, or let --reviewer and --reference-reviewer choose different people"
    yield from _shared(generated, files.references, "the comments", "the references", choose)
    speaking = [file for file in generated if file.authors]
    if speaking and all(file.format == "github" and file.authors == {GHOST} for file in speaking):
        problem = "nobody is named: no comment has a user with a login, so who wrote it is unknown"
        yield Doubt(speaking[0].name, problem, "Export whole records, with their user")
    candidates = _like_candidates(files.references)
    if speaking and speaking == _like_references(speaking) and candidates and not _like_references(files.references):
        problem = "it is annotated (category, context or severity) and names no reviewer, unlike the references"
        fix = f"The two look swapped: give {candidates[0].name} as the comments and this as --reference"
        yield Doubt(speaking[0].name, problem, fix)
    elif speaking and _all_text(files.references) and not any(map(_is_reviewers_file, speaking)):
        problem = "its comments name no reviewer, and the references are files that reviewers write (aacr-text)"
        fix = f"The two look swapped: give {files.references[0].name} as the comments and this as --reference"
        yield Doubt(speaking[0].name, problem, fix)


def _all_text(files: Sequence[FileRead]) -> bool:
    return bool(files) and all(file.format == "aacr-text" for file in files)


def _is_reviewers_file(file: FileRead) -> bool:
    """Whether a tool under test wrote it: it names its reviewer, or is of the format that only such tools write."""
    return file.format == "aacr-text" or file.authors != {None}


def _like_references(files: Iterable[FileRead]) -> list[FileRead]:
    """Those that annotators may have written: annotated, or in a benchmark's format, and by nobody in particular."""
    return [file for file in files if (file.annotated or file.format == "aacr") and file.authors == {None}]


def _like_candidates(files: Iterable[FileRead]) -> list[FileRead]:
    """Those that tools or people under test may have written: by somebody, and not annotated."""
    return [
        file
        for file in files
        if file.authors and not file.annotated and (file.format == "aacr-text" or None not in file.authors)
    ]


def _shared(ours: Sequence[FileRead], theirs: Sequence[FileRead], us: str, them: str, fix: str) -> Iterator[Doubt]:
    """Files with the same bytes on both sides, unless those whose comments were taken are known and others."""
    by_content: dict[str, list[FileRead]] = {}
    for file in theirs:
        by_content.setdefault(file.sha256, []).append(file)
    same = [
        (one, other)
        for one in ours
        for other in by_content.get(one.sha256, ())
        if one.authors and other.authors
        if None in one.authors | other.authors or one.authors & other.authors
    ]
    if not same:
        return
    one, other = same[0]
    what = "it is" if one.name == other.name else f"it has the same bytes as {other.name} and would be"
    more = f" (and {plural(len(same) - 1, 'file')} more)" if len(same) > 1 else ""
    yield Doubt(one.name, f"{what} among {us} and among {them}{more}, and so scored against itself", fix)
