"""The question put to a model about two notes. Its wording is a data file; its version is in every cache key.

Notes are hostile input. Each is quoted verbatim, once, between two marker lines; the markers carry a code that is
derived from the notes and occurs in neither, so that no note can close its own quotation or open another. The
instruction comes before the notes and again after them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import count
from string import Template

from metareview.judges.protocol import judged_part

VERSION = "1"
_CODE_LENGTH = 16

_FIELDS = {"match": "boolean", "confidence": "number", "reason": "string"}
"""Without the range of `confidence`, since several servers refuse `minimum` in a strict schema; `check_answer` checks
it."""
_SCHEMA = {
    "type": "object",
    "properties": {name: {"type": kind} for name, kind in _FIELDS.items()},
    "required": list(_FIELDS),
    "additionalProperties": False,
}
RESPONSE_FORMAT = {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": _SCHEMA}}


@dataclass(frozen=True, slots=True)
class Prompt:
    """A version of the question: the system message, and the user message as a template."""

    version: str
    system: str
    user: Template

    def messages(self, generated: str, reference: str) -> list[dict[str, str]]:
        """The two messages that ask whether `generated` raises the issue of `reference`."""
        notes = {"generated": sendable(generated), "reference": sendable(reference)}
        code = marker_code(*notes.values())
        # One pass over the template: what a note holds, `$code` included, is never looked at again.
        text = self.user.substitute(code=code, **notes)
        return [{"role": "system", "content": self.system}, {"role": "user", "content": text}]

    def characters(self, pairs: Iterable[tuple[str, str]]) -> list[int]:
        """How long the messages about each of these pairs of sendable notes are, without making them."""
        user = self.user.substitute(code="0" * _CODE_LENGTH, generated="", reference="")
        frame = len(self.system) + len(user)
        return [frame + len(generated) + len(reference) for generated, reference in pairs]


@cache
def load_prompt(version: str = VERSION) -> Prompt:
    file = resources.files("metareview") / "data" / f"prompt-{version}.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    return Prompt(data["version"], data["system"], Template(data["user"]))


def sendable(note: str) -> str:
    """The part of a note that a model gets to read.

    Halves of surrogate pairs, which JSON can hold but no request can carry, become U+FFFD.
    """
    note = judged_part(note)
    return note if note.isascii() else note.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def marker_code(*notes: str) -> str:
    """16 hexadecimal digits that occur in none of the notes; the same for the same notes."""
    text = json.dumps(notes)
    codes = (hashlib.sha256(f"{attempt} {text}".encode()).hexdigest()[:_CODE_LENGTH] for attempt in count())
    return next(code for code in codes if not any(code in note for note in notes))
