"""The inputs of the Action, as its steps get them: INPUT_… variables, which no shell has ever read."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from metareview.errors import UsageError, did_you_mean
from metareview.model.time import SECOND, parse_span, parse_time, show_time

COMMANDS = ("comments", "outcomes")
_OURS = ("--out", "--json", "--fail-under", "--fail-over", "--dry-run")
"""Options that `args` cannot have, because the Action gives them itself or could not go on."""
_UNITS = {"s": "second", "m": "minute", "h": "hour", "d": "day"}
_SEVERAL = re.compile(r"--?[A-Za-z][\w-]*\s")


@dataclass(frozen=True, slots=True)
class Inputs:
    """What is to be measured, and what it is held to."""

    command: str
    files: tuple[str, ...]
    reference: tuple[str, ...] = ()
    negatives: tuple[str, ...] = ()
    judge: str = ""
    args: tuple[str, ...] = ()
    fail_under: tuple[str, ...] = ()
    fail_over: tuple[str, ...] = ()
    baseline: str = ""
    fail_if_worse: tuple[str, ...] = ()
    no_worse: tuple[str, ...] = ()
    compare_args: tuple[str, ...] = ()
    since: str | None = None
    """Where comments are to be pulled first: from when on, as a time."""
    pull_words: str = ""
    """The same as the user gave it: `in 28 days`, `since 2026-01-31`."""
    key: str = ""

    @property
    def gates(self) -> list[str]:
        return [
            *(f"--fail-under={gate}" for gate in self.fail_under),
            *(f"--fail-over={gate}" for gate in self.fail_over),
        ]

    @property
    def comparison_gates(self) -> list[str]:
        return [
            *(f"--fail-if-worse={metric}" for metric in self.fail_if_worse),
            *(f"--no-worse={gate}" for gate in self.no_worse),
        ]

    @property
    def is_gated(self) -> bool:
        return bool(self.gates or self.comparison_gates)

    @property
    def paths(self) -> list[str]:
        """All values that may name a file or a folder."""
        named = (*self.files, *self.reference, *self.negatives, self.baseline)
        return [text for text in named if text]

    @property
    def is_enough(self) -> bool:
        """Whether something can be measured without comments that are pulled."""
        return bool(self.files) and (self.command == "outcomes" or bool(self.reference))

    def with_pulled(self, file: Path) -> Inputs:
        """The pulled comments are measured, beside the files that are named; where references are needed and none is
        named, they are among them too."""
        if self.command == "comments":
            return replace(self, files=self.files or (str(file),), reference=self.reference or (str(file),))
        return replace(self, files=(*self.files, str(file)))

    def arguments(self, files: Sequence[str], out: Path, gates: Sequence[str] = ()) -> list[str]:
        """The command that measures these files. A value is never taken for an option, whatever it begins with."""
        return [
            self.command,
            *(f"--reference={file}" for file in self.reference),
            *(f"--negatives={file}" for file in self.negatives),
            *([f"--judge={self.judge}"] if self.judge else []),
            f"--out={out}",
            *gates,
            *self.args,
            "--",
            *files,
        ]


def out_folder(environ: Mapping[str, str]) -> Path:
    text = environ.get("INPUT_OUT", "").strip() or "metareview"
    if not text.isprintable():
        raise UsageError("out has characters that no folder's name should have. Give a plain one.")
    return Path(os.path.normpath(text))


def read_inputs(environ: Mapping[str, str], now: datetime | None = None) -> Inputs:
    """The inputs, checked; UsageError names the one that is wrong."""

    def one(name: str) -> str:
        return environ.get(f"INPUT_{name}", "").strip()

    def lines(name: str) -> tuple[str, ...]:
        return tuple(line.strip() for line in environ.get(f"INPUT_{name}", "").splitlines() if line.strip())

    command = one("COMMAND") or COMMANDS[0]
    if command not in COMMANDS:
        meant = did_you_mean(command, COMMANDS)
        raise UsageError(f"command is {command!r}, and must be one of {', '.join(COMMANDS)}.{meant}")
    inputs = Inputs(
        command, lines("FILES"), lines("REFERENCE"), lines("NEGATIVES"), one("JUDGE"), _checked("args", lines("ARGS")),
        lines("FAIL_UNDER"), lines("FAIL_OVER"), one("BASELINE"), lines("FAIL_IF_WORSE"), lines("NO_WORSE"),
        _checked("compare-args", lines("COMPARE_ARGS")), *_since(one("PULL"), now or datetime.now(UTC)),
        one("COMMENT_KEY"),
    )  # fmt: skip
    if not inputs.files and inputs.since is None:
        raise UsageError("there is nothing to measure. Set files, or pull.")
    if command == "comments" and len(inputs.files) > 1:
        raise UsageError(
            f"files names {len(inputs.files)} files, and comments takes one file or folder. Put them into a folder."
        )
    if command == "comments" and not inputs.reference and inputs.since is None:
        raise UsageError("comments are scored against references. Set reference.")
    if command == "outcomes" and (inputs.reference or inputs.negatives):
        raise UsageError("outcomes takes no references. Leave out reference and negatives, or set command to comments.")
    if inputs.comparison_gates and not inputs.baseline:
        name = "fail-if-worse" if inputs.fail_if_worse else "no-worse"
        raise UsageError(f"{name} needs something to compare with. Set baseline.")
    return inputs


def _checked(name: str, arguments: tuple[str, ...]) -> tuple[str, ...]:
    for argument in arguments:
        if _SEVERAL.match(argument):
            option, _, value = argument.partition(" ")
            raise UsageError(
                f"{name} has {argument!r}, which would be one argument. Write one per line, as {option}={value.strip()}"
                " or on two lines."
            )
        if argument.partition("=")[0] in _OURS:
            raise UsageError(f"{name} has {argument!r}, which is not for {name}. Use the input of that name, if any.")
    return arguments


def _since(text: str, now: datetime) -> tuple[str | None, str]:
    """From when on to pull, and how to say it: a time as it is, or a span such as 28d before now."""
    if not text:
        return None, ""
    with suppress(ValueError):
        return show_time(parse_time(text)), f"since {text}"
    try:
        since = show_time(int(now.timestamp()) * SECOND - parse_span(text, "pull"))
    except UsageError:
        raise UsageError(f"pull is {text!r}, and must be a date (2026-01-31) or a span before now (28d).") from None
    return since, f"in {text[:-1]} {_UNITS[text[-1]]}{'' if float(text[:-1]) == 1 else 's'}"
