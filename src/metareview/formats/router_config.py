"""The configuration of a router: one JSON object in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from metareview.errors import InputError
from metareview.formats.input_file import InputFile

_FIX = 'Give one JSON object, such as {"weight": 0.5}.'


def read_router_config(path: str | Path) -> dict[str, Any]:
    """The object of the file; InputError where it holds anything else."""
    file = InputFile(path)
    values = file.json
    if not values.is_single:
        problem = "it holds more than one JSON value" if values else "the file is empty"
        raise InputError(problem, file=file.name, fix=_FIX)
    config: dict[str, Any] = values.first.as_object("a router's configuration", _FIX).value
    return config
