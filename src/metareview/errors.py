"""Every error that metareview raises on purpose, and the exit code that each one means.

    MetareviewError            1, and never raised itself
    ├── UsageError             2  a wrong option, name or combination
    ├── InputError             2  a file that cannot be read as what it claims to be
    ├── GateFailed             3  a --fail-under, --fail-over or --fail-if-worse was missed
    └── Undecided              4  the run finished, but the judge left pairs open

A message says what was wrong, where, and what to do about it. Anything else that escapes is a defect of ours.
"""

from __future__ import annotations

from pathlib import Path


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

    def __init__(self, problem: str, *, file: str | Path | None = None, line: int | None = None, fix: str = "") -> None:
        place = "" if file is None else f"{file}:" if line is None else f"{file}:{line}:"
        sentence = problem if problem.endswith((".", "?", "!")) else problem + "."
        super().__init__(" ".join(part for part in (place, sentence, fix) if part))
        self.file = None if file is None else str(file)
        self.line = line


class GateFailed(MetareviewError):
    """A metric is on the wrong side of a gate that the caller set."""

    exit_code = 3


class Undecided(MetareviewError):
    """The figures are complete but for pairs that the judge could not decide."""

    exit_code = 4
