"""`rdjson`: reviewdog's DiagnosticResult, one document with a list of diagnostics."""

from __future__ import annotations

from collections.abc import Iterator

from metareview.formats.input_file import InputFile
from metareview.formats.protocol import CommentFormat
from metareview.formats.reviewdog import read_diagnostics
from metareview.model.comment import Review


def sniff(file: InputFile) -> bool:
    value = file.json.only_value
    return isinstance(value, dict) and isinstance(value.get("diagnostics"), list)


def read(file: InputFile) -> Iterator[Review]:
    for record in file.json.records("a diagnostic result"):
        yield from read_diagnostics(file, record.objects("diagnostics", "a diagnostic"), record)


SUMMARY = "reviewdog's diagnostics in one document: {source, diagnostics: [{message, location, severity, code}]}"
PLUGIN = CommentFormat(SUMMARY, sniff, read, by_tools=True)
