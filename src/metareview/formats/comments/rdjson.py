"""`rdjson`: reviewdog's DiagnosticResult, one document with a list of diagnostics."""

from __future__ import annotations

from collections.abc import Iterator

from metareview.formats.findings import only_document
from metareview.formats.protocol import CommentFormat
from metareview.formats.reviewdog import read_diagnostics
from metareview.formats.source import Source
from metareview.model.comment import Review


def sniff(source: Source) -> bool:
    value = only_document(source)
    return isinstance(value, dict) and isinstance(value.get("diagnostics"), list)


def read(source: Source) -> Iterator[Review]:
    for record in source.records("a diagnostic result"):
        yield from read_diagnostics(source, record.children("diagnostics", "a diagnostic"), record)


SUMMARY = "reviewdog's diagnostics in one document: {source, diagnostics: [{message, location, severity, code}]}"
PLUGIN = CommentFormat(SUMMARY, sniff, read, by_tools=True)
