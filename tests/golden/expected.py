"""What is expected of each command, and how an outcome differs from it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from golden.normal import Digest
from golden.workspace import Outcome

EXPECTED = Path(__file__).with_name("expected.json")
Expected = dict[str, Any]
"""`exit_code`, and `files`: a digest for each."""


def read_expected() -> dict[str, Expected]:
    return json.loads(EXPECTED.read_text("utf-8")) if EXPECTED.exists() else {}


def write_expected(outcomes: Mapping[str, Outcome]) -> None:
    kept = {name: {"exit_code": outcome.exit_code, "files": outcome.files} for name, outcome in outcomes.items()}
    EXPECTED.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def differences(name: str, outcome: Outcome, expected: Mapping[str, Expected], *, exact: bool = True) -> Iterator[str]:
    """One line for the exit code and each file that is not as expected; none if all are.

    Unless `exact`, numbers may differ after their twelfth digit.
    """
    if name not in expected:
        yield f"{name}: nothing is expected of it yet"
        return
    before = expected[name]
    if outcome.exit_code != before["exit_code"]:
        yield f"{name}: exit code {outcome.exit_code}, expected {before['exit_code']}: {outcome.message.strip()}"
    for file in dict.fromkeys((*before["files"], *outcome.files)):
        old, new = before["files"].get(file), outcome.files.get(file)
        if old is None or new is None:
            yield f"{name}: {file} is {'new' if old is None else 'missing'}"
        elif old["rounded_sha256"] != new["rounded_sha256"]:
            yield f"{name}: {file} differs ({', '.join(_changes(old, new)) or 'in as many lines'})"
        elif exact and old != new:
            yield f"{name}: {file} differs (after the twelfth digit)"


def _changes(old: Digest, new: Digest) -> Iterator[str]:
    before, after = ({"lines": each["lines"], **each.get("counts", {})} for each in (old, new))
    for key in dict.fromkeys((*before, *after)):
        if before.get(key) != after.get(key):
            yield f"{key} {after.get(key)}, expected {before.get(key)}"
