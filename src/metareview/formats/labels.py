"""Labels: JSON lines `{"a", "b", "match", "group"}`, what people or a strong model said of pairs of notes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from metareview.errors import InputError
from metareview.formats.source import Source

EXAMPLE = '{"a": "reference note", "b": "candidate note", "match": true, "group": "pull request and reviewer"}'


@dataclass(frozen=True, slots=True)
class Label:
    """`reference` and `candidate` raise the same issue, or not. Pairs of one group are rivals; None: no rivals."""

    reference: str
    candidate: str
    match: bool
    group: str | None = None


def read_labels(path: str | Path) -> list[Label]:
    """The labels of a file, in order; anything wrong is an InputError that names the line."""
    labels = []
    for record in Source(Path(path)).records("a label", fix=f"Write each line as {EXAMPLE}."):
        a, b, match = record.text("a"), record.text("b"), record.value.get("match")
        if a is None or b is None:
            record.fail(None, f"{'a' if a is None else 'b'} is missing", f"Write each line as {EXAMPLE}.")
        if not isinstance(match, int) or match not in (0, 1):
            record.refuse("match", "true or false", "Leave out pairs that nobody decided.")
        labels.append(Label(a, b, bool(match), record.identifier("group")))
    if not labels:
        raise InputError("no labels", file=path, fix=f"Give at least one line such as {EXAMPLE}.")
    return labels
