"""What a router's factory is to be given: one JSON object in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from metareview.errors import InputError
from metareview.formats.record import whole_characters
from metareview.formats.source import Source

_FIX = 'Give one JSON object, such as {"weight": 0.5}.'


def read_router_config(path: str | Path) -> dict[str, Any]:
    """The object of the file; InputError where it holds anything else."""
    source = Source(Path(path))
    documents = source.documents
    if not documents.are_one:
        problem = "it holds more than one JSON value" if documents else "the file is empty"
        raise InputError(problem, file=source.name, fix=_FIX)
    config: dict[str, Any] = documents[0].as_object("a router's configuration", _FIX).value
    return dict(whole_characters(config))
