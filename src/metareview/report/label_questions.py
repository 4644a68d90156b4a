"""The questions of a labelling session, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from metareview.comments.records import Verdict
from metareview.comments.summary import CommentsConfig
from metareview.comparison.queue import IssueQuestion, PairQuestion
from metareview.model.comment import Comment
from metareview.model.words import format_score, plural
from metareview.report.names import location, pull_request_name
from metareview.report.plain_notes import cut_line, note_lines, one_line_note
from metareview.report.terminal import Heading

ISSUES = (
    "Each is something that reviewers say and no reference covers. Valid: it is right. Invalid: wrong, vague, a matter"
    " of taste. Repeat: a reference or another issue says it already. Every answer is kept at once; q stops, and the"
    " same command goes on."
)
_MOST_LINES = 24
"""Of a note: beyond that it is cut."""
_FEW_LINES, _MOST_COMMENTS, _MOST_REFERENCES = 6, 5, 8
"""Of further notes on one issue; and how many of them, and of references, are shown."""


def blocks_text(config: CommentsConfig) -> str:
    """What the blocks of a run are, and how they are asked about."""
    if config.alignment == "coverage":
        block = "one reference beside a reviewer's comments there, or one comment beside the references there"
    elif config.location:
        block = "what one reviewer says at one location, beside the references there"
    else:
        block = "what one reviewer says on one pull request, beside its references: this run compares no locations"
    return (
        f"A block is {block}. Its pairs are asked about one by one, until it is clear how many match. Every answer is"
        " kept at once; q stops, and the same command goes on."
    )


def drawn_line(what: str, drawn: int, of: int, done: int, name: str | None) -> str:
    """How many there are to be asked about, and how far this person is."""
    chosen = (
        f"{plural(of, what)}, all to be asked about"
        if drawn == of
        else f"A random sample of {drawn:,} of {plural(of, what)}"
    )
    so_far = f", {done:,} labelled{f' by {name}' if name else ''} so far" if done else ""
    return f"{chosen}{so_far}."


def pair_lines(question: PairQuestion, width: int) -> Iterator[str]:
    """A reference and a comment, without what the judge made of them."""
    block = question.block
    where = f"{pull_request_name(block.pr)} · {block.reviewer}"
    yield Heading(cut_line(f"Block {question.number} of {question.of} · {where}", width))
    yield from comment_lines("Reference", question.reference, width)
    yield from comment_lines("Comment", question.comment, width)


def comment_lines(title: str, comment: Comment, width: int, most: int = _MOST_LINES) -> Iterator[str]:
    about = [location(comment), comment.severity or "", comment.category or ""]
    yield cut_line(f"{title}  {' · '.join(filter(None, about))}".rstrip(), width)
    yield from (f"  {line}" for line in note_lines(comment.note, max(20, width - 2), most))


def judged_line(verdict: Verdict | None, match: bool) -> str:
    """What the judge had said, once the person has."""
    if verdict is None:
        return "The judge was not asked."
    if verdict.match is None:
        return "The judge could not decide."
    score = "" if verdict.score is None else f" ({format_score(verdict.score)})"
    said = "the same" if verdict.match else "different"
    return f"The judge says {said}{score}{', too' if verdict.match == match else ''}."


def issue_lines(question: IssueQuestion, width: int) -> Iterator[str]:
    """What comments say that no reference covers, and the references, for whoever must see that it repeats one."""
    issue, evidence = question.issue, question.evidence
    said = plural(len(issue.reviewers), "reviewer")
    yield Heading(
        cut_line(f"Issue {question.number} of {question.of} · {pull_request_name(issue.pr)} · said by {said}", width)
    )
    for number, each in enumerate(evidence.comments[:_MOST_COMMENTS]):
        yield from comment_lines(each.reviewer, each.comment, width, most=_MOST_LINES if number == 0 else _FEW_LINES)
    if len(evidence.comments) > _MOST_COMMENTS:
        yield f"and {plural(len(evidence.comments) - _MOST_COMMENTS, 'more comment')}"
    if evidence.references:
        yield cut_line(f"The {plural(len(evidence.references), 'reference')} of this pull request:", width)
    for reference in evidence.references[:_MOST_REFERENCES]:
        yield cut_line(f"  {location(reference)}  {one_line_note(reference.note)}".rstrip(), width)
    if len(evidence.references) > _MOST_REFERENCES:
        yield f"  and {len(evidence.references) - _MOST_REFERENCES} more"
