"""Every error that metareview raises on purpose, and the exit code that each one means.

    MetareviewError            1, and never raised itself
    ├── UsageError             2  a wrong option, name or combination
    ├── InputError             2  a file that cannot be read as what it claims to be
    ├── GateFailed             3  a --fail-under, --fail-over or --fail-if-worse was missed
    └── Undecided              4  the run finished, but the judge left pairs open

A message says what was wrong, where, and what to do about it. Anything else that escapes is a defect of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path


def nearest(text: str, names: Iterable[str]) -> str | None:
    """The name that whoever typed this most likely meant, whatever the case; None where none is near.

    >>> nearest("Ofline", ["exact", "offline"])
    'offline'
    """
    from difflib import get_close_matches  # only a mistake needs it

    known = {name.casefold(): str(name) for name in names}
    found = get_close_matches(text[:200].casefold(), known, n=1)
    return known[found[0]] if found else None


def is_slip(typed: str, meant: str) -> bool:
    """Whether the one was typed for the other: written otherwise (actorType), or with one letter wrong."""
    from rapidfuzz.distance import OSA

    one, other = (text.casefold().replace("_", "").replace("-", "") for text in (typed[:80], meant))
    return one == other or (len(other) > 3 and OSA.distance(one, other, score_cutoff=1) <= 1)


def did_you_mean(text: str, names: Iterable[str]) -> str:
    """` Did you mean 'offline'?`, to stand behind a sentence that refuses the text; nothing where no name is near."""
    meant = nearest(text, names)
    return "" if meant is None else f" Did you mean {meant!r}?"


Line = int | Callable[[], int]
"""A line's number, or how to find it."""


class MetareviewError(Exception):
    """The root: catch this to catch whatever metareview refuses."""

    exit_code = 1


class UsageError(MetareviewError):
    """The call itself is wrong: an unknown judge, an unknown filter value, options that contradict."""

    exit_code = 2


class InputError(MetareviewError):
    """A file is wrong. Prints as `file:line: what. Fix.`

    >>> str(InputError("line numbers start at 1, found 0", file="a.json", line=7, fix="Correct from_line."))
    'a.json:7: line numbers start at 1, found 0. Correct from_line.'
    """

    exit_code = 2

    def __init__(
        self, problem: str, *, file: str | Path | None = None, line: Line | None = None, fix: str = ""
    ) -> None:
        super().__init__(problem)
        self.problem = problem
        self.file = None if file is None else str(file)
        self.fix = fix
        self._line = line

    @property
    def line(self) -> int | None:
        """Looked for when somebody asks: of a large file's thousand small mistakes, few lines are ever shown."""
        if callable(self._line):
            self._line = self._line()
        return self._line

    def __str__(self) -> str:
        place = "" if self.file is None else f"{self.file}:" if self.line is None else f"{self.file}:{self.line}:"
        sentence = self.problem if self.problem.endswith((".", "?", "!")) else self.problem + "."
        return " ".join(part for part in (place, sentence, self.fix) if part)


class GateFailed(MetareviewError):
    """A metric is on the wrong side of a gate that the caller set; `missed` has a sentence per gate."""

    exit_code = 3

    def __init__(self, message: str, missed: Iterable[str]) -> None:
        self.missed = tuple(missed)
        super().__init__(message)


class Undecided(MetareviewError):
    """The figures are complete but for pairs that the judge could not decide."""

    exit_code = 4
