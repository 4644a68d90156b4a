"""Reports of a finished run. They read what the run holds and never ask a judge."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from metareview.errors import UsageError, did_you_mean
from metareview.runs.files import to_document, write_whole

if TYPE_CHECKING:
    from metareview.runs.run import AnyRun

FORMATS: Mapping[str, str] = {
    ".html": "one page with charts and every pair",
    ".md": "Markdown tables",
    ".csv": "one row per pull request and reviewer",
    ".json": "the summary, as --json prints it",
    ".xml": "JUnit",
}
TABLE_FORMATS: Mapping[str, str] = {
    ".md": "Markdown",
    ".csv": "one row per metric, or per reviewer, with all digits",
    ".tex": "a LaTeX table",
    ".html": "one page",
    ".json": "what --json prints",
}
"""What a comparison or a leaderboard can be written as."""


def check_path(path: str | Path, formats: Mapping[str, str] = FORMATS) -> Path:
    """The path, if a report can be written there: a suffix that we know, a folder that exists."""
    target = Path(path)
    if target.suffix.lower() not in formats:
        known = ", ".join(f"{suffix} ({what})" for suffix, what in formats.items())
        meant = did_you_mean(target.suffix, formats)
        raise UsageError(f"{target}: the suffix decides the format, and it must be one of {known}.{meant}")
    if target.is_dir():
        raise UsageError(f"{target} is a folder. Name a file in it.")
    if not target.parent.is_dir():
        raise UsageError(f"{target}: there is no folder {target.parent}. Make it first, or name another.")
    return target


def write_report(run: AnyRun, path: str | Path) -> Path:
    """Write the report that the suffix asks for, whole or not at all."""
    from metareview.report.csv_table import as_csv
    from metareview.report.junit import as_junit
    from metareview.report.markdown import as_markdown
    from metareview.report.page.page import as_html

    target = check_path(path)
    writers: Mapping[str, Callable[[AnyRun], str]] = {
        ".html": as_html,
        ".md": as_markdown,
        ".csv": as_csv,
        ".json": lambda run: json_text(run.summary) + "\n",
        ".xml": as_junit,
    }
    return write_file(target, writers[target.suffix.lower()](run))


def write_file(target: Path, text: str) -> Path:
    """Write a file, whole or not at all."""
    try:
        write_whole(target, [text])
    except OSError as error:
        raise UsageError(f"Cannot write {target}: {error.strerror}. Name another file.") from None
    return target


def json_text(document: Mapping[str, object], encoding: str = "utf-8") -> str:
    """The document as JSON. What the encoding lacks, such as half characters, is written as JSON's own escapes."""
    text = to_document(document)
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return json.dumps(document, indent=2)
    return text
