"""Read: the reference set and the reviews, each review with the pull request of the set that it is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain

from metareview.comments.absolute_paths import is_absolute, relative_to
from metareview.comments.filters import FilterConfig
from metareview.comments.pull_requests import PullRequestIndex
from metareview.comments.repeated_runs import run_order
from metareview.formats.reader import ReadOptions, label, read_inputs, read_reference_set, why_empty
from metareview.judges.protocol import LONG_NOTE
from metareview.model.comment import ReferenceSet, Review, Skipped, normal_path
from metareview.model.deduplicate import duplicates_warning, merge_without_duplicates
from metareview.model.words import plural
from metareview.pipelines.comments.doubts import Doubt, doubts_about_references, doubts_about_sides, settle
from metareview.pipelines.comments.options import CommentsOptions
from metareview.pipelines.comments.repeats import (
    FIRST_RUN,
    by_named_runs,
    doubts_about_named_runs,
    doubts_about_runs,
    reviewers_like_runs,
    run_warnings,
)

_SHOWN_ABSENT = 5
ReviewKey = tuple[str, str, str | None]
"""The pull request's key in the reference set, the reviewer, and which of its repeated runs, where they are told
apart. The runs of a reviewer on a pull request stand together."""


@dataclass(frozen=True)
class CommentInputs:
    """Everything that was read, and what a reader of the figures must know about the reading."""

    references: ReferenceSet
    reviews: Mapping[ReviewKey, Review]
    hashes: Mapping[str, str]
    warnings: tuple[str, ...]
    skipped: tuple[Skipped, ...]


def read(options: CommentsOptions) -> CommentInputs:
    """Read all inputs; InputError where they cannot be meant, such as no pull request in common."""
    strict, scored = options.strict, options.scored
    references, files = read_reference_set(
        options.reference,
        options.negatives,
        format_name=options.reference_format,
        chosen=options.annotators,
        strict=strict,
        pull_request=options.pr,
    )
    how = ReadOptions(options.format, options.name, scored, strict, options.pr, repeat=options.repeat)
    inputs = read_inputs(options.generated, how)
    scored.check(inputs.reviewers)
    doubts = [
        *(doubts_about_named_runs(inputs.reviews) if options.repeat else doubts_about_runs(inputs.reviews)),
        *doubts_about_sides(inputs.files, files),
        *doubts_about_references(references, files, chosen=bool(options.reference_reviewer)),
    ]
    forced = settle(doubts, force=options.force)
    reviews, unknown, repeated = _by_pull_request(inputs.reviews, references, repeat=options.repeat)
    reviews, cut = _with_relative_paths(reviews, references)
    skipped = (*inputs.skipped, *unknown)
    if not reviews:
        name = label(options.generated, "generated")
        reason = why_empty(name, skipped, inputs.warnings) or "it holds no reviews"
        doubt = Doubt(
            name,
            f"no pull request is left to score: {reason}",
            "Check that --reference is the benchmark that these comments were written for",
        )
        forced += settle([doubt], force=options.force)
    reviewers = dict.fromkeys(review.reviewer or "" for review in inputs.reviews)
    if options.all_prs:
        reviews = _with_silence(reviews, reviewers, references, FIRST_RUN if options.repeat else None)
    runs = run_warnings(reviews) if options.repeat else reviewers_like_runs(reviewers)
    warnings = [
        *forced,
        *_absences(reviews, reviewers, _counted(references, options.filters or FilterConfig())),
        *runs,
        *references.warnings,
        *inputs.warnings,
        *([duplicates_warning(repeated)] if repeated else ()),
        *([f"{plural(cut, 'absolute path')} cut to the longest part that is a reference's path"] if cut else ()),
        *(() if forced else _word_for_word(reviews, references)),
        *_own_remarks(references),
        *_note_warnings(reviews, references),
    ]
    return CommentInputs(
        references,
        reviews,
        {**files.hashes, **{f"generated/{file}": value for file, value in inputs.hashes.items()}},
        tuple(dict.fromkeys(warnings)),
        skipped,
    )


def _by_pull_request(
    reviews: Iterable[Review], references: ReferenceSet, *, repeat: bool
) -> tuple[dict[ReviewKey, Review], list[Skipped], int]:
    """Reviews by pull request, reviewer and run, those that are about no pull request of the set, and how many
    comments were given again."""
    known, skipped = PullRequestIndex(references.references).find_all(reviews)
    by_run: dict[str | None, list[Review]] = {}
    for review in by_named_runs(known) if repeat else map(_of_no_run, known):
        by_run.setdefault(review.run, []).append(review)
    found: dict[ReviewKey, Review] = {}
    repeated = 0
    for run in sorted(by_run, key=lambda name: run_order(name or "")):
        once, again = merge_without_duplicates(by_run[run])
        found |= {(key, reviewer or "", run): review for (key, reviewer), review in once.items()}
        repeated += again
    return _together(found) if repeat else found, skipped, repeated


def _of_no_run(review: Review) -> Review:
    return review if review.run is None else replace(review, run=None)


def _together(reviews: Mapping[ReviewKey, Review]) -> dict[ReviewKey, Review]:
    """The same, all runs of a reviewer on a pull request one after the other."""
    groups: dict[tuple[str, str], list[ReviewKey]] = {}
    for key in reviews:
        groups.setdefault(key[:2], []).append(key)
    return {key: reviews[key] for group in groups.values() for key in group}


def _with_relative_paths(
    reviews: Mapping[ReviewKey, Review], references: ReferenceSet
) -> tuple[dict[ReviewKey, Review], int]:
    """The reviews with absolute paths cut to those of references and negatives, and how many were."""
    related, cuts = {}, 0
    for (key, reviewer, run), review in reviews.items():
        related[key, reviewer, run] = review
        if not any(map(is_absolute, review.comments)):
            continue
        sides = (side[key] for side in (references.references, references.negatives) if key in side)
        known = {path for side in sides for comment in side.comments if (path := normal_path(comment.path))}
        related[key, reviewer, run], cut = relative_to(review, known)
        cuts += cut
    return related, cuts


def _with_silence(
    reviews: Mapping[ReviewKey, Review], reviewers: Iterable[str], references: ReferenceSet, only_run: str | None
) -> dict[ReviewKey, Review]:
    """Every reviewer, in each of its runs, on every pull request: what it has no file for is its silence."""
    runs: dict[str, dict[str | None, None]] = {reviewer: {} for reviewer in reviewers}
    for _, reviewer, run in reviews:
        runs[reviewer][run] = None
    return {
        (key, reviewer, run): reviews.get((key, reviewer, run), Review(reference.pr, reviewer=reviewer, run=run))
        for reviewer in reviewers
        for key, reference in references.references.items()
        for run in runs[reviewer] or {only_run: None}
    }


def _counted(references: ReferenceSet, filters: FilterConfig) -> set[str]:
    """The pull requests that the filters leave."""
    reviews = references.references.items()
    return {key for key, review in reviews if filters.keeps_pull_request(review.language, review.pr_category)}


def _absences(reviews: Iterable[ReviewKey], reviewers: Iterable[str], counted: set[str]) -> Iterator[str]:
    """One warning for all reviewers that have no word on some pull requests."""
    of_all = len(counted)
    had = Counter(reviewer for key, reviewer in {key[:2]: None for key in reviews} if key in counted)
    absent = {reviewer: of_all - had[reviewer] for reviewer in reviewers if had[reviewer] < of_all}
    if absent:
        shown = ", ".join(f"{name} {count:,} of {of_all:,}" for name, count in list(absent.items())[:_SHOWN_ABSENT])
        more = f" and {plural(len(absent) - _SHOWN_ABSENT, 'more reviewer')}" if len(absent) > _SHOWN_ABSENT else ""
        yield f"pull requests that are absent and not counted: {shown}{more}; --all-prs counts them as silence"


def _word_for_word(reviews: Mapping[ReviewKey, Review], references: ReferenceSet) -> Iterator[str]:
    """Reviewers who say nothing but what references say: an oracle, or a file that got among the references."""
    said, own_words = Counter[str](), set[str]()
    for (key, reviewer, _), review in reviews.items():
        said[reviewer] += 0
        if reviewer in own_words or not review.comments:
            continue
        known = {comment.note.strip() for comment in references.references[key].comments}
        notes = [comment.note.strip() for comment in review.comments if comment.counted]
        said[reviewer] += len(notes)
        if not all(note in known for note in notes):
            own_words.add(reviewer)
    for reviewer, count in said.items():
        if count and reviewer not in own_words:
            yield (
                f"every note of {reviewer} ({count:,}) is word for word that of a reference:"
                " check that its comments are not among the references"
            )


def _own_remarks(references: ReferenceSet) -> Iterator[str]:
    """References that the author of the pull request wrote: remarks for reviewers rather than a review."""
    authors = Counter(
        review.author
        for review in references.references.values()
        if review.author
        for comment in review.comments
        if comment.counted and comment.author and (review.author or "").casefold() == comment.author.casefold()
    )
    if authors:
        shown = ", ".join(f"{name} {count:,}" for name, count in authors.most_common(_SHOWN_ABSENT))
        yield f"references by the author of the pull request itself: {shown}; --reference-reviewer '!NAME' excludes"


def _note_warnings(reviews: Mapping[ReviewKey, Review], references: ReferenceSet) -> Iterator[str]:
    """Comments that are not counted, and notes too long to be judged whole."""
    everything = chain(
        (
            (f"{review.reviewer} on {key}" + (f" in {run}" if run else ""), review)
            for (key, _, run), review in reviews.items()
        ),
        ((f"the references of {key}", review) for key, review in references.references.items()),
        ((f"the negatives of {key}", review) for key, review in references.negatives.items()),
    )
    for owner, review in everything:
        if empty := sum(not comment.has_note for comment in review.comments):
            without = plural(empty, "comment without a note is", "comments without a note are")
            yield f"{without} not counted: {owner}"
        for position, comment in enumerate(review.comments):
            if len(comment.note) > LONG_NOTE:
                size = f"{len(comment.note):,} characters"
                yield f"a note of {size} is judged on its first 20,000: comment {position} of {owner}"
