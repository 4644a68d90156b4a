"""One command of metareview in a process of its own: its exit code, its part of the page, what it complains of."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from metareview.cli.output import say
from metareview.judges.remote.settings import NO_ENV_FILE
from metareview.model.words import one_line

_SECRETS = ("INPUT_GITHUB_TOKEN", "GITHUB_TOKEN", "GH_TOKEN")
_LONGEST_PROBLEM = 2_000


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of a command."""

    code: int
    section: str = ""
    """Markdown that it would have put on the page of the job."""
    problem: str = ""
    """Its last error, in one line."""


def run_metareview(arguments: Sequence[str], *, token: str = "", shown: bool = True, into: Path | None = None) -> Ended:
    """Runs the command; it prints where we print, or its result `into` a new file. Only one that is given the token has
    it.

    `-I` keeps the workspace off the import path, whatever PYTHONPATH says: what a pull request brings is measured, and
    never imported. Nor does its `.env` choose who judges it.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _SECRETS}
    environment[NO_ENV_FILE] = "1"
    if token:
        environment["GITHUB_TOKEN"] = token
    if shown:
        say(f"$ metareview {shlex.join(arguments)}")
    sys.stderr.flush()
    with tempfile.TemporaryDirectory() as folder, _opened(into) as result:
        page = Path(folder) / "summary.md"
        environment["GITHUB_STEP_SUMMARY"] = str(page)
        process = subprocess.Popen(  # noqa: S603  # a list without a shell
            [sys.executable, "-I", "-m", "metareview", *arguments],
            env=environment, stdin=subprocess.DEVNULL, stdout=result, stderr=subprocess.PIPE,
            text=True, encoding="utf-8", errors="replace",
        )  # fmt: skip
        problem = _passed_on(process)
        code = process.wait()
        section = page.read_text("utf-8", "replace") if page.is_file() else ""
    return Ended(code if code >= 0 else 128 - code, section, problem if code else "")


def _opened(file: Path | None) -> AbstractContextManager[BinaryIO | None]:
    return nullcontext() if file is None else file.open("xb")


def _passed_on(process: subprocess.Popen[str]) -> str:
    """Passes on what the command says, and keeps its last error with the lines that follow."""
    problem: list[str] = []
    assert process.stderr is not None
    for line in process.stderr:
        sys.stderr.write(line)
        sys.stderr.flush()
        if line.startswith("Error: "):
            problem = [line.removeprefix("Error: ")]
        elif problem and not line.lstrip().startswith("::"):
            problem.append(line)
    return one_line(" ".join(problem), _LONGEST_PROBLEM)
