"""JSON answers of GitHub's and GitLab's APIs, read as files are: by Record, which refuses what the API never sends."""

from __future__ import annotations

import json

from metareview.formats.input_file import InputFile
from metareview.formats.json_values import without_surrogates
from metareview.formats.record import SEE_FORMATS, Record
from metareview.model.time import time_text


def reply_record(data: bytes) -> Record:
    """The JSON value of a reply; ValueError or RecursionError for anything else."""
    text = data.decode("utf-8-sig")
    return without_surrogates(Record(InputFile.of_bytes(data, "", name="the reply"), json.loads(text), 1), text)


def member(record: Record, key: str) -> Record:
    """The value at a key that is there, whatever it is."""
    return record._replace(value=record.value[key], path=(*record.path, key))


def nodes(record: Record, key: str, what: str = "each entry", fix: str = SEE_FORMATS) -> list[Record]:
    """The objects of the list at `key`, or of GraphQL's connection there (`nodes` or `edges`); none where it is absent.

    Null entries, which the token may not read, are left out.
    """
    return entries(member(record, key), what, fix) if record.value.get(key) else []


def entries(record: Record, what: str = "each entry", fix: str = SEE_FORMATS) -> list[Record]:
    """The objects of a list or a connection itself."""
    while isinstance(record.value, dict) and "nodes" in record.value:
        record = member(record, "nodes")
    found = list(record.items())
    if isinstance(record.value, dict) and isinstance(record.value.get("edges"), list):
        found = [member(edge, "node") for edge in nodes(record, "edges", what, fix) if "node" in edge.value]
    return [each.as_object(what, fix) for each in found if each.value is not None]


def time_at(record: Record, key: str) -> str:
    """A time that must be there, checked, as it was written."""
    found = record.required(key, "a time")
    if time_text(found) is None:
        record.fail(key, f"{key} is no time", SEE_FORMATS)
    return found


def number_at(record: Record, key: str, what: str) -> int:
    """The number of a pull request or a comment, which must be there."""
    number = record.value.get(key)
    if type(number) is not int or number < 1:
        record.fail(key, f"a {what} has no number", SEE_FORMATS)
    return number
