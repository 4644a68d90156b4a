"""Follow: what became of each comment of a pull request, as far as commits, threads and reactions tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from metareview.comments.repeats import repeated
from metareview.model.comment import Comment, Review, counted
from metareview.model.selection import Selection
from metareview.model.time import instant, parse_time
from metareview.outcomes.conversation import DISLIKES, LIKES, Conversation, Threads, reacted, resolved
from metareview.outcomes.finding import Finding
from metareview.outcomes.later import LaterChanges
from metareview.outcomes.lines import Changes
from metareview.outcomes.reasons import NO_SUGGESTION
from metareview.outcomes.records import NOT_ASKED, CommentOutcome, OutcomeRecord
from metareview.pipelines.collector import garbage_collection_paused
from metareview.pipelines.outcomes.read import is_review

BATCH_COMMENTS = 5_000
"""How many comments are looked at in one go: enough to compare notes in bulk, few enough to fit in memory."""
KEPT_CHANGE = 3_000
"""Characters of the later change that are kept for people to read, where no model is asked."""


def follow(
    conversations: Iterable[Conversation],
    chosen: Selection,
    *,
    has_threads: bool,
    since: str | None,
    change_length: int = KEPT_CHANGE,
) -> Iterator[list[OutcomeRecord]]:
    """The records of the chosen reviewers, many pull requests at a time, in the order of the input."""
    earliest = None if since is None else parse_time(since)
    for batch in _batches(conversations, chosen):
        with garbage_collection_paused():
            records = _records(batch, has_threads, change_length)
        if earliest is not None:
            records = [kept for record in records for kept in _made_since(record, earliest)]
        yield records


def _records(
    batch: Sequence[tuple[Conversation, Review]], has_threads: bool, change_length: int
) -> list[OutcomeRecord]:
    """What became of each of these reviews' comments; the reviews of one pull request stand together."""
    again = repeated([[comment for _, comment in counted(review.comments)] for _, review in batch])
    records: list[OutcomeRecord] = []
    followed: _PullRequest | None = None
    for (conversation, review), earlier in zip(batch, again, strict=True):
        if followed is None or followed.conversation is not conversation:
            followed = _PullRequest(conversation, has_threads, change_length)
        records.append(followed.record(review, earlier))
    return records


def _batches(conversations: Iterable[Conversation], chosen: Selection) -> Iterator[list[tuple[Conversation, Review]]]:
    batch: list[tuple[Conversation, Review]] = []
    size = 0
    for conversation in conversations:
        for review in conversation.reviews:
            if is_review(review, conversation) and (review.reviewer or "") in chosen:
                batch.append((conversation, review))
                size += len(review.comments)
        if size >= BATCH_COMMENTS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


class _PullRequest:
    """One pull request, with what all of its comments are looked up in."""

    def __init__(self, conversation: Conversation, has_threads: bool, change_length: int) -> None:
        self.conversation, self._change_length = conversation, change_length
        self._changes = Changes(conversation.commits, until=conversation.until)
        self._later = LaterChanges(conversation.commits, until=conversation.until)
        self._threads = Threads(conversation.reviews, known=has_threads)

    def record(self, review: Review, earlier: Sequence[int | None]) -> OutcomeRecord:
        """What became of a review's comments; `earlier` names, among those that count, what each of them repeats."""
        comments = list(counted(review.comments))
        about = self.conversation
        return OutcomeRecord(
            pr=about.pr,
            reviewer=review.reviewer or "",
            author=about.author,
            merged_at=about.merged_at,
            closed_at=about.closed_at,
            comments=tuple(
                self._outcome(review.reviewer, position, comment, None if same is None else comments[same][0])
                for (position, comment), same in zip(comments, earlier, strict=True)
            ),
            cost=review.cost,
            tokens=review.tokens,
            seconds=review.seconds,
        )

    def _outcome(self, reviewer: str | None, position: int, comment: Comment, repeats: int | None) -> CommentOutcome:
        fate = self._changes.fate(comment, reviewer=reviewer, pr_author=self.conversation.author)
        suggestion = fate.suggestion_taken
        return CommentOutcome(
            position,
            comment if comment.meta is None else comment.replace(meta=None),
            lines_changed=fate.lines_changed,
            suggestion_taken=NOT_ASKED if suggestion.reason == NO_SUGGESTION else suggestion,
            resolved=resolved(comment),
            answered=self._threads.answered(comment, reviewer),
            liked=reacted(comment, LIKES),
            disliked=reacted(comment, DISLIKES),
            repeated=Finding(repeats is not None),
            repeats=repeats,
            changed_by=fate.changed_by,
            final_lines=fate.final_lines,
            code=fate.code,
            later_change=self._later.text(
                comment,
                reviewer,
                pr_author=self.conversation.author,
                changed_by=fate.changed_by,
                most=self._change_length,
            ),
            replies=self._threads.replies(comment, reviewer),
        )


def _made_since(record: OutcomeRecord, since: int) -> list[OutcomeRecord]:
    """The record with the comments that were made from then on; nothing where there are none."""
    kept = tuple(each for each in record.comments if (made := instant(each.comment.at)) is not None and made >= since)
    return [replace(record, comments=kept)] if kept else []
