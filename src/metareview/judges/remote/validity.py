"""A chat model says of an issue that no reference covers whether it is valid, invalid or a repeat.

A question holds the first comments of an issue and the first references of its pull request, quoted verbatim, each up
to a length.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from metareview.judges.remote.asking import AskResult
from metareview.judges.remote.one_word import OneWordModel, OneWordPrompt, WordAnswer
from metareview.judges.remote.prompt import quoted, shortened
from metareview.model.label import ISSUE_VERDICTS, IssueVerdict

COMMENTS, COMMENT_LENGTH = 8, 4_000
"""The comments of an issue that are shown, and the characters of each."""
REFERENCES, REFERENCE_LENGTH = 40, 600
_MARK = " […]"


@dataclass(frozen=True, slots=True)
class ValidityQuestion:
    """Notes of an issue's comments and of the references, each with its place in a first line."""

    comments: tuple[str, ...]
    references: tuple[str, ...]

    @classmethod
    def of(cls, comments: Sequence[str], references: Sequence[str]) -> ValidityQuestion:
        """Equal notes once, as many and as much of each as a question holds."""
        return cls(
            tuple(dict.fromkeys(shortened(note, COMMENT_LENGTH, _MARK) for note in comments))[:COMMENTS],
            tuple(dict.fromkeys(shortened(note, REFERENCE_LENGTH, _MARK) for note in references))[:REFERENCES],
        )


class ValidityPrompt(OneWordPrompt[ValidityQuestion, IssueVerdict]):
    """Is the issue valid, invalid or a repeat?"""

    version = "validity-2"
    words = ISSUE_VERDICTS
    lone_words = MappingProxyType({verdict: verdict != "invalid" for verdict in ISSUE_VERDICTS})

    def texts(self, question: ValidityQuestion) -> Sequence[str]:
        return question.comments + question.references

    def key_parts(self, question: ValidityQuestion) -> Sequence[str]:
        return [str(len(question.comments)), *self.texts(question)]

    def places(self, question: ValidityQuestion, code: str) -> Mapping[str, str]:
        return {
            "comments": "\n".join(_numbered("COMMENT", code, question.comments)),
            "references": "\n".join(_numbered("REFERENCE", code, question.references)) or "(there are none)",
        }


def _numbered(kind: str, code: str, notes: Sequence[str]) -> Iterator[str]:
    return (quoted(f"{kind} {number}", code, note) for number, note in enumerate(notes, 1))


class ValidityModel(OneWordModel[ValidityQuestion, IssueVerdict]):
    """Asks a chat model about unlisted issues."""

    name = "validity"
    prompt = ValidityPrompt()

    def ask(self, questions: Sequence[ValidityQuestion]) -> list[AskResult[WordAnswer[IssueVerdict]]]:
        """The result of each question, in their order: the answer, or the reason why there is none."""
        return self.results(questions)
