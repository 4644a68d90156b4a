"""JSON lines with `retrieved_context` and `ground_truth_context`: what `metareview text` reads."""

from __future__ import annotations

from pathlib import Path

from metareview.errors import InputError
from metareview.formats.input_file import InputFile
from metareview.formats.record import Record
from metareview.text.score import TextItem

EXAMPLE = '{"retrieved_context": ["…"], "ground_truth_context": ["…"]}'


def read_text_items(path: str | Path) -> list[TextItem]:
    """The items of a file, in order. Unknown fields are ignored; what is wrong is an InputError that names the line."""
    records = InputFile(path).for_reading().json.records("a line", fix=f"Write each line as {EXAMPLE}.")
    items = [TextItem(_texts(r, "retrieved_context"), _texts(r, "ground_truth_context")) for r in records]
    if not items:
        raise InputError("no items", file=path, fix=f"Give at least one line such as {EXAMPLE}.")
    return items


def _texts(record: Record, key: str) -> tuple[str, ...]:
    return record.strings(key, "strings", '["…"]', accept=lambda text: True)
