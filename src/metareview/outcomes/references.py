"""References out of one's own history: what people said that led to a change, and what people rejected of bots.

A reference is somebody's comment whose lines were changed afterwards, or whose suggestion was taken; where a model or
a person was asked, it must also have been addressed. A negative is a bot's comment that people turned down, by a
thumbs down or in words, and that led to no change. What was both praised and turned down is neither.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from metareview.model.addressed import FULLY, PARTLY
from metareview.model.comment import Comment, Review
from metareview.outcomes.records import CommentOutcome, OutcomeRecord
from metareview.outcomes.summary import is_bot

UNKNOWN_SEVERITY = "unknown"
_KEPT = ("note", "path", "side", "from_line", "to_line", "category", "context", "commit", "author", "at", "id")
_REJECTED = re.compile(
    r"\b(?:won'?t[ -]?(?:fix|do)|not (?:going to|gonna) (?:fix|change|do)|false[ -](?:positive|alarm)"
    r"|not an? (?:bug|issue|problem)|(?:by|as) design|as intended|works as expected|intentional(?:ly)?"
    r"|disagree|dismiss(?:ed|ing)?|(?:this|that|it)(?: is|'s) (?:wrong|incorrect|not (?:true|correct|right))"
    r"|not (?:applicable|relevant|needed|necessary)|hallucinat\w+)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:don'?t|do not|not|never|no longer|wasn'?t|isn'?t)\W+(?:\w+\W+){0,2}$", re.IGNORECASE)
_QUOTE = re.compile(r"^\s*>.*$|`[^`\n]*`", re.MULTILINE)
_LONGEST_REPLY = 2_000


@dataclass(frozen=True, slots=True)
class OwnReferences:
    """Reviews whose comments are references, and reviews whose comments are negatives, by pull request."""

    references: list[Review]
    negatives: list[Review]


def own_references(records: Iterable[OutcomeRecord]) -> OwnReferences:
    """Both, in the order of the run. Each comment's `meta` says where it comes from and why it is there."""
    references: dict[str, list[Comment]] = {}
    negatives: dict[str, list[Comment]] = {}
    for record in records:
        for outcome in record.comments:
            bot = is_bot(record.reviewer) or outcome.comment.is_ai_comment is True
            side, why = (negatives, rejected(outcome)) if bot else (references, led_to_change(outcome))
            if why:
                side.setdefault(record.pr, []).append(_kept(record, outcome, why))
    return OwnReferences(_reviews(references), _reviews(negatives))


def _reviews(comments: Mapping[str, list[Comment]]) -> list[Review]:
    return [Review(pr, tuple(of_one)) for pr, of_one in comments.items()]


def led_to_change(outcome: CommentOutcome) -> list[str]:
    """Why the comment is a reference, in words; empty where it is none."""
    reasons = []
    if outcome.suggestion_taken.value:
        reasons.append("its suggestion was taken")
    if outcome.lines_changed.value:
        commits = ", ".join(sha[:12] for sha in outcome.changed_by)
        reasons.append(f"its lines were changed by {commits}" if commits else "its lines were changed")
    if outcome.verdict is None:
        return reasons
    if outcome.addressed not in (FULLY, PARTLY) or (outcome.lines_changed.value is False and not reasons):
        return []
    return [*reasons, f"{outcome.addressed} addressed, says {outcome.verdict.by}"]


def rejected(outcome: CommentOutcome) -> list[str]:
    """Why the comment is a negative, in words; empty where it is none."""
    if outcome.lines_changed.value or outcome.suggestion_taken.value or outcome.liked.value:
        return []
    if outcome.addressed in (FULLY, PARTLY):
        return []
    reasons = ["a thumbs down or a confused face"] if outcome.disliked.value else []
    for reply in outcome.replies:
        if reply.author and not is_bot(reply.author) and (words := rejecting_words(reply.note)):
            reasons.append(f"{reply.author} answered “{words}”")
            break
    return reasons


def rejecting_words(note: str) -> str | None:
    """The words in which an answer turns a comment down; quotations and negations of them are none.

    >>> rejecting_words("Won't fix, this is by design."), rejecting_words("This is not a false positive, thanks!")
    ("Won't fix", None)
    """
    text = _QUOTE.sub(" ", note[:_LONGEST_REPLY].replace("’", "'"))
    for found in _REJECTED.finditer(text):
        if not _NEGATED.search(text[max(0, found.start() - 40) : found.start()]):
            return found[0]
    return None


def _kept(record: OutcomeRecord, outcome: CommentOutcome, why: list[str]) -> Comment:
    comment = outcome.comment
    kept = {name: getattr(comment, name) for name in _KEPT}
    kept["author"] = comment.author or record.reviewer
    meta = {"reviewer": record.reviewer, "position": outcome.position, "why": why}
    producer = record.reviewer if is_bot(record.reviewer) or comment.is_ai_comment else None
    return Comment(**kept, severity=comment.severity or UNKNOWN_SEVERITY, producer=producer, meta=meta)
