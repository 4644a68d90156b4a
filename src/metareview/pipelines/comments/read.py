"""Read: the reference set and the reviews, each review with the pull request of the set that it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from metareview.comments.pull_requests import PullRequestIndex
from metareview.errors import InputError
from metareview.formats.registry import read_inputs, read_reference_set
from metareview.judges.protocol import LONG_NOTE
from metareview.model.comment import ReferenceSet, Review, Skipped, merged
from metareview.pipelines.comments.options import CommentsOptions

ReviewKey = tuple[str, str]
"""The pull request's key in the reference set, and the reviewer."""


@dataclass(frozen=True)
class CommentInputs:
    """Everything that was read, and what a reader of the figures must know about the reading."""

    references: ReferenceSet
    reviews: Mapping[ReviewKey, Review]
    hashes: Mapping[str, str]
    warnings: tuple[str, ...]
    skipped: tuple[Skipped, ...]


def read(options: CommentsOptions) -> CommentInputs:
    """Read all files; InputError where no review is about a pull request of the reference set."""
    references, hashes = read_reference_set(options.reference, options.negatives, format_name=options.reference_format)
    inputs = read_inputs(options.generated, format_name=options.format, reviewer=options.name)
    reviews, unknown = _by_pull_request(inputs.reviews, references)
    skipped = (*inputs.skipped, *unknown)
    if not reviews:
        reason = skipped[0].reason if skipped else "it holds no reviews"
        raise InputError(
            f"no pull request is left to score: {reason}",
            file=options.generated,
            fix="Check that --reference is the benchmark that these comments were written for.",
        )
    if options.all_prs:
        reviews = _with_silence(reviews, references)
    warnings = [*references.warnings, *inputs.warnings, *_note_warnings(reviews, references)]
    return CommentInputs(
        references,
        reviews,
        {**hashes, **{f"generated/{file}": value for file, value in inputs.hashes.items()}},
        tuple(dict.fromkeys(warnings)),
        skipped,
    )


def _by_pull_request(
    reviews: Iterable[Review], references: ReferenceSet
) -> tuple[dict[ReviewKey, Review], list[Skipped]]:
    """Reviews by pull request and reviewer, and those that are about no pull request of the set."""
    index = PullRequestIndex({key: review.pr for key, review in references.references.items()})
    found = [(review, index.find(review)) for review in reviews]
    skipped = [key for _, key in found if isinstance(key, Skipped)]
    known = [replace(review, pr=references.references[key].pr) for review, key in found if not isinstance(key, Skipped)]
    return {(key, reviewer or ""): review for (key, reviewer), review in merged(known).items()}, skipped


def _with_silence(reviews: Mapping[ReviewKey, Review], references: ReferenceSet) -> dict[ReviewKey, Review]:
    """Every reviewer on every pull request: what it has no file for is its silence."""
    reviewers = dict.fromkeys(reviewer for _, reviewer in reviews)
    return {
        (key, reviewer): reviews.get((key, reviewer), Review(reference.pr, reviewer=reviewer))
        for reviewer in reviewers
        for key, reference in references.references.items()
    }


def _note_warnings(reviews: Mapping[ReviewKey, Review], references: ReferenceSet) -> Iterator[str]:
    """Comments that are not counted, and notes too long to be judged whole."""
    everything = [
        *((f"{review.reviewer} on {key}", review) for (key, _), review in reviews.items()),
        *((f"the references of {key}", review) for key, review in references.references.items()),
        *((f"the negatives of {key}", review) for key, review in references.negatives.items()),
    ]
    for owner, review in everything:
        if empty := sum(not comment.counted for comment in review.comments):
            yield f"{empty} comments without a note are not counted: {owner}"
        for position, comment in enumerate(review.comments):
            if len(comment.note) > LONG_NOTE:
                size = f"{len(comment.note):,} characters"
                yield f"a note of {size} is judged on its first 20,000: comment {position} of {owner}"
