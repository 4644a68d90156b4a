"""What a GitHub runner reads from our output: workflow commands, which are lines that begin with `::`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from metareview.report.names import OBEYED_IN_JSON, printable

# The runner takes a line for a command that begins with :: after any blanks, and the older ##[ wherever it stands.
_COMMAND = re.compile(r"^(\s*:)(?=:)|(##)(?=\[)")
_APART = "\u200b"


def on_runner() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


def inert(line: str) -> str:
    """A line of ours that holds names from data, so that none of them is a command to the runner."""
    return _COMMAND.sub(lambda found: found[0] + _APART, line) if on_runner() else line


def inert_json(text: str) -> str:
    """JSON of the same meaning in which no text acts: what a terminal obeys is escaped, and of commands to the runner,
    none of which can begin a line here, the older ones, which may stand anywhere."""
    text = OBEYED_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return text.replace("##[", "#\\u0023[") if on_runner() else text


def error_lines(problems: Iterable[str]) -> Iterator[str]:
    """Each problem as an annotation of the build, where there is a runner to show it.

    A command's text escapes `%` and line ends, as the runner undoes that.
    """
    for problem in problems if on_runner() else ():
        text = inert(printable(problem)).replace("%", "%25")
        yield f"::error title=metareview gate::{text}"


def summary_page() -> Path | None:
    """The file behind the page of the job, if there is one."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    return Path(path) if path else None
