"""The questions of a labelling session, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from metareview.comments.records import Verdict
from metareview.comparison.queue import PairQuestion
from metareview.model.comment import Comment
from metareview.report.names import location, pull_request_name
from metareview.report.plain_notes import cut_line, note_lines
from metareview.report.terminal import Heading

_MOST_LINES = 24
"""Of a note: beyond that it is cut."""


def pair_lines(question: PairQuestion, width: int) -> Iterator[str]:
    """A reference and a comment, without what the judge made of them."""
    block = question.block
    where = f"{pull_request_name(block.pr)} · {block.reviewer}"
    pairs = f", pair of {len(block.pairs)}" if len(block.pairs) > 1 else ""
    yield Heading(cut_line(f"Block {question.number} of {question.of}{pairs} · {where}", width))
    yield from comment_lines("Reference", question.reference, width)
    yield from comment_lines("Comment", question.comment, width)


def comment_lines(title: str, comment: Comment, width: int) -> Iterator[str]:
    about = [location(comment), comment.severity or "", comment.category or ""]
    yield cut_line(f"{title}  {' · '.join(filter(None, about))}".rstrip(), width)
    yield from (f"  {line}" for line in note_lines(comment.note, max(20, width - 2), _MOST_LINES))


def judged_line(verdict: Verdict | None, match: bool) -> str:
    """What the judge had said, once the person has."""
    if verdict is None:
        return "The judge was not asked."
    if verdict.match is None:
        return "The judge could not decide."
    score = "" if verdict.score is None else f" ({verdict.score:.2f})"
    said = "the same" if verdict.match else "different"
    return f"The judge {'too says' if verdict.match == match else 'says'} {said}{score}."
