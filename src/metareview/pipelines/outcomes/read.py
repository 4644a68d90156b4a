"""Read: the pull requests, with everything that was said on each and the commits that followed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from metareview.errors import InputError
from metareview.formats.reader import ReadOptions, label, read_inputs, several_given, why_empty
from metareview.model.comment import Review, Skipped
from metareview.model.deduplicate import duplicates_warning, merge_without_duplicates
from metareview.model.words import plural
from metareview.outcomes.conversation import Conversation, conversations, has_threads
from metareview.pipelines.outcomes.options import OutcomesOptions


@dataclass(frozen=True)
class OutcomeInputs:
    """Everything that was read, and what a reader of the figures must know about the reading."""

    conversations: list[Conversation]
    has_threads: bool
    """Whether the input tells who answered whom."""
    hashes: Mapping[str, str]
    warnings: tuple[str, ...]
    skipped: tuple[Skipped, ...]

    @property
    def reviewers(self) -> list[str]:
        """Who has comments that count, or is silent, in the order of first appearance."""
        return list(
            dict.fromkeys(
                review.reviewer or ""
                for conversation in self.conversations
                for review in conversation.reviews
                if is_review(review, conversation)
            )
        )


def is_review(review: Review, conversation: Conversation) -> bool:
    """Whoever only answers has not reviewed; nor has the author of the pull request, whatever they say on it."""
    return not review.only_answers and not by_author(review, conversation)


def by_author(review: Review, conversation: Conversation) -> bool:
    author = (conversation.author or "").casefold()
    return bool(author) and (review.reviewer or "").casefold() == author


def read(options: OutcomesOptions) -> OutcomeInputs:
    """Read all inputs; InputError where there is no comment in them."""
    reviews: list[Review] = []
    hashes: dict[str, str] = {}
    warnings: list[str] = []
    skipped: list[Skipped] = []
    for number, given in enumerate(several_given(options.files), 1):
        # Everybody is read: what others answered is what became of a comment.
        how = ReadOptions(
            options.format,
            options.name,
            strict=options.strict,
            pull_request=options.pr,
            keep_answers=True,
            role="files",
        )
        inputs = read_inputs(given, how)
        prefix = "files" if number == 1 else f"files-{number}"
        hashes |= {f"{prefix}/{file}": value for file, value in inputs.hashes.items()}
        warnings += inputs.warnings
        skipped += inputs.skipped
        reviews += inputs.reviews
    once, again = merge_without_duplicates(reviews)
    threads = has_threads(reviews)
    del reviews
    held = list(conversations(once))
    names = ", ".join(label(each, "files") for each in several_given(options.files))
    if not held:
        reason = why_empty(names, skipped, warnings)
        problem = "it holds no pull request" + (f": {reason}" if reason else "")
        raise InputError(problem, file=names, fix="Name a file that `pull comments` wrote, or jsonl.")
    found = OutcomeInputs(held, threads, hashes, (), tuple(skipped))
    if not found.reviewers:
        raise InputError("it holds no review", file=names, fix="Name a file with comments of reviewers.")
    options.chosen.check(found.reviewers)
    remarks = [*warnings, *([duplicates_warning(again)] if again else ()), *_remarks(held)]
    return OutcomeInputs(held, threads, hashes, tuple(dict.fromkeys(remarks)), tuple(skipped))


def _remarks(held: Iterable[Conversation]) -> Iterable[str]:
    own, still_open, without_commits, total = 0, 0, 0, 0
    for conversation in held:
        total += 1
        still_open += conversation.until is None
        without_commits += conversation.commits is None
        own += sum(
            comment.counted
            for review in conversation.reviews
            if by_author(review, conversation)
            for comment in review.comments
        )
    if without_commits:
        yield (
            f"{without_commits:,} of {plural(total, 'pull request')} have no commits, so that nobody can tell whether"
            " lines changed there; `metareview pull comments` fetches them"
        )
    if still_open == total:
        yield "no pull request has merged_at or closed_at: outcomes are as of the last commit"
    elif still_open:
        of_all = plural(total, "pull request")
        yield f"{still_open:,} of {of_all} are still open: what becomes of their comments may change"
    if own:
        yield f"{plural(own, 'comment')} by the authors of the pull requests themselves: no review, and not counted"
