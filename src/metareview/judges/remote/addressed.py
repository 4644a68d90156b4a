"""A chat model says whether a later change did what a comment asks: fully, partly, not, or that it cannot tell.

The comment, its code and the change are quoted verbatim, each up to a length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metareview.judges.remote.one_word import OneWordModel, OneWordPrompt
from metareview.judges.remote.prompt import quoted, shortened
from metareview.model.addressed import ADDRESSED_VERDICTS, MODEL, Addressed
from metareview.model.comment import Comment

COMMENT_LENGTH, CODE_LENGTH, CHANGE_LENGTH = 4_000, 3_000, 9_000
"""The characters of each that are shown."""
CUT = "[… cut]"


@dataclass(frozen=True, slots=True)
class AddressedQuestion:
    """A comment's note behind a line that says where it points, its code, and the later change."""

    comment: str
    code: str
    """The lines that it points at; empty where they are not known."""
    change: str

    @classmethod
    def of(cls, comment: Comment, code: str | None, change: str) -> AddressedQuestion:
        """As much of each as a question holds."""
        texts = ((_with_place(comment), COMMENT_LENGTH), (code or "", CODE_LENGTH), (change, CHANGE_LENGTH))
        return cls(*(shortened(text, length, f"\n{CUT}") for text, length in texts))


def _with_place(comment: Comment) -> str:
    """The note behind a line that says where it points. The path is foreign text like the note."""
    if not comment.path:
        return f"On the pull request as a whole:\n{comment.note}"
    lines = sorted({line for line in (comment.from_line, comment.to_line) if line is not None})
    where = f", line {' to '.join(map(str, lines))}" if lines else ""
    old = " of the old version" if lines and (comment.side or "").strip().casefold() == "left" else ""
    return f"At {comment.path}{where}{old}:\n{comment.note}"


class AddressedPrompt(OneWordPrompt[AddressedQuestion, str]):
    """Does the later change do what the comment asks?"""

    version = "addressed-2"
    words = ADDRESSED_VERDICTS  # none of them on its own: a lone "not" may be the beginning of anything

    def texts(self, question: AddressedQuestion) -> Sequence[str]:
        return question.comment, question.code, question.change

    def places(self, question: AddressedQuestion, code: str) -> Mapping[str, str]:
        return {
            "comment": quoted("COMMENT", code, question.comment),
            "code": quoted("CODE", code, question.code) if question.code else "(they are not known)",
            "change": quoted("CHANGE", code, question.change),
        }


class AddressedModel(OneWordModel[AddressedQuestion, str]):
    """Asks a chat model what became of comments."""

    name = "addressed"
    prompt = AddressedPrompt()

    def ask(self, questions: Sequence[AddressedQuestion]) -> list[Addressed]:
        """The verdict on each question, in their order; None, with the reason, where there is none."""
        return [
            Addressed(None, MODEL, result.reason)
            if result.answer is None
            else Addressed(result.answer.verdict, result.by, result.answer.reason)
            for result in self.results(questions)
        ]
