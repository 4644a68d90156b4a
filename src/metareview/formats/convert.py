"""Reviews in another format, and what of them that format cannot hold: found by reading back what was written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from metareview.errors import InputError, UsageError
from metareview.formats.input_file import InputFile
from metareview.formats.protocol import CommentFormat
from metareview.formats.registry import comment_formats
from metareview.model.comment import COMMENT_FIELDS, Comment, Review, merged, normal_path, normal_side
from metareview.model.words import plural

_COMMENT_FIELDS = tuple(name for name in COMMENT_FIELDS if name not in ("from_line", "to_line"))
_REVIEW_FIELDS = tuple(field.name for field in fields(Review) if field.name not in ("comments", "source", "pr"))
_DECIDING = ("note", "path", "side", "neutral", "in_reply_to")
_IN_WORDS = {"other_names": "other names of the pull request"}
_WHOSE = ("reviewer", "run")
"""The fields that distinguish reviews: a single one may be left out, but several would become one."""
_DEFAULT_SIDE = "right"
"""Where a comment without a side is taken to point, so that this side may go unsaid."""


@dataclass(frozen=True, slots=True)
class Converted:
    """The text of each file by its name ("": any), the reviews in them, and how often each field got lost, those of a
    comment first."""

    files: Mapping[str, str]
    reviews: Sequence[Review]
    lost: Mapping[str, int]
    lost_of_reviews: Mapping[str, int]
    names_its_pull_request: bool

    def warnings(self, format_name: str) -> list[str]:
        """A sentence on the fields that the format cannot hold."""
        missing = [f"{name} ({plural(count, 'comment')})" for name, count in self.lost.items()]
        missing += [
            f"{_IN_WORDS.get(name, name)} ({plural(count, 'review')})" for name, count in self.lost_of_reviews.items()
        ]
        lines = [f"{format_name} has no place for {', '.join(missing)}: left out"] if missing else []
        if not self.names_its_pull_request:
            lines.append(f"{format_name} does not say which pull request it is about: give --pr when it is read")
        return lines


def convert_reviews(reviews: Iterable[Review], format_name: str) -> Converted:
    """The reviews as files of this format. UsageError where it is only read, or cannot hold what figures rest on: a
    note, a place, whether a comment counts, a silence, the reviewer among several. A reviewer who only answered others
    is in no figure, and is left out where the format cannot hold it; InputError where there is nothing else.
    """
    ordered = _by_pull_request(reviews)
    try:
        return _converted(ordered, format_name)
    except UsageError:
        answers = [review for review in ordered if review.only_answers]
        if not answers:
            raise
    if len(answers) == len(ordered):
        problem = f"no review is left to convert: all of it answers others, and {format_name} has no place for replies"
        raise InputError(problem, file=ordered[0].source, fix="Use jsonl.")
    converted = _converted([review for review in ordered if not review.only_answers], format_name)
    replies = sum(len(review.comments) for review in answers)
    return replace(converted, lost={**converted.lost, "replies": replies})


def _converted(ordered: Sequence[Review], format_name: str) -> Converted:
    target = writable_format(format_name)
    files = target.write(ordered) if target.write else {}
    try:
        read_back, names_it = _read_back(target, files, ordered)
    except InputError as error:
        raise UsageError(f"{format_name} cannot hold these reviews: {error.problem}. Use jsonl.") from None
    if len(read_back) != len(ordered) or any(
        len(old.comments) != len(new.comments) for old, new in zip(ordered, read_back, strict=True)
    ):
        raise UsageError(f"{format_name} cannot hold these reviews: fewer come back than were written. Use jsonl.")
    of_comments, of_reviews = Counter[str](), Counter[str]()
    for old, new in zip(ordered, read_back, strict=True):
        of_reviews.update(name for name in _REVIEW_FIELDS if _differ(getattr(old, name), getattr(new, name)))
        for comment, kept in zip(old.comments, new.comments, strict=True):
            of_comments.update(_lost(comment, kept, format_name, old.pr))
    for name in _WHOSE:
        if of_reviews[name] and len({getattr(review, name) for review in ordered}) > 1:
            raise UsageError(f"{format_name} has no place for {name}, and there are several here. Use jsonl.")
    return Converted(files, ordered, of_comments, of_reviews, names_it)


def writable_format(name: str) -> CommentFormat:
    """The format of this name, if it can be written; else UsageError with those that can."""
    found = comment_formats(name)[name]
    if found.write is None:
        writable = [each for each, known in comment_formats().items() if known.write is not None]
        raise UsageError(f"{name} is only read; write {', '.join(writable[:-1])} or {writable[-1]}.")
    return found


def _by_pull_request(reviews: Iterable[Review]) -> list[Review]:
    """The reviews grouped by pull request, then by reviewer, as every reader returns them."""
    by_run: dict[str | None, list[Review]] = {}
    for review in reviews:
        by_run.setdefault(review.run, []).append(review)
    by_key: dict[str, list[Review]] = {}
    for of_run in by_run.values():
        for review in merged(of_run).values():
            by_key.setdefault(review.key, []).append(review)
    return [review for group in by_key.values() for review in group]


def _read_back(target: CommentFormat, files: Mapping[str, str], reviews: Sequence[Review]) -> tuple[list[Review], bool]:
    """The reviews read back from the files, and whether the files name their pull request."""
    found: list[Review] = []
    names_it = True
    for name, text in files.items():
        for about in (None, *(review.pr for review in reviews[:1])):
            file = InputFile.of_text(text, name or "written", named_pull_request=about)
            try:
                found += list(target.read(file))
                break
            except InputError:
                if about is not None:
                    raise
                names_it = False
    return found, names_it


def _lost(comment: Comment, kept: Comment, format_name: str, pr: str) -> list[str]:
    """The fields that are gone; UsageError where one of them would change a figure."""
    lost = [name for name in _COMMENT_FIELDS if _differ(comment[name], kept[name])]
    if comment.span != kept.span:
        lost.append("lines")
    harmless = {"path": normal_path(comment.path) == normal_path(kept.path),
                "side": normal_side(comment.side) in (normal_side(kept.side), _DEFAULT_SIDE)}  # fmt: skip
    if comment.severity and kept.severity and comment.severity.casefold() == kept.severity.casefold():
        lost = [name for name in lost if name != "severity"]
    for name in lost:
        if name == "lines" or (name in _DECIDING and not harmless.get(name)):
            raise UsageError(f"{format_name} has no place for {name}, which figures rest on ({pr}). Use jsonl.")
    return lost


def _differ(old: object, new: object) -> bool:
    """True if a value was lost; one that was absent was not."""
    return old not in (None, "", ()) and old != new


def written_to(path: Path, converted: Converted) -> dict[Path, str]:
    """Where each file goes: a single one of any name is OUT itself, others are in the folder OUT."""
    if list(converted.files) == [""]:
        return {path: converted.files[""]}
    return {path / name: text for name, text in converted.files.items()}
