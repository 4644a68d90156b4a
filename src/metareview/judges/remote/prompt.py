"""The question put to a model about two notes. Its wording is a data file; its version is in every cache key.

Notes are hostile input. Each is quoted verbatim, once, between two marker lines; the markers carry a random code that
occurs in neither note, so that no note can close its own quotation or open another. The instruction comes before the
notes and again after them. The answer repeats the code: one to another request does not count.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import count
from string import Template

from metareview.judges.protocol import judged_part
from metareview.judges.remote.verdict import JsonObject

VERSION = "2"
_CODE_LENGTH = 16
_SALT = secrets.token_hex()


def answer_object(**fields: JsonObject) -> JsonObject:
    """The schema of an object with these fields, all of them required."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def strict_format(name: str, **fields: JsonObject) -> JsonObject:
    """The `response_format` of an answer with these fields, and the code of the request that it is an answer to."""
    schema = answer_object(request={"type": "string"}, **fields)
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


RESPONSE_FORMAT = strict_format(
    "verdict", match={"type": "boolean"}, confidence={"type": "number"}, reason={"type": "string"}
)
"""Without the range of `confidence`, since several servers refuse `minimum` in a strict schema; `check_answer` checks
it."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A version of the question: the system message, and the user message as a template."""

    version: str
    system: str
    user: Template

    def messages(self, generated: str, reference: str, code: str) -> list[dict[str, str]]:
        """The two messages that ask whether `generated` raises the issue of `reference`, both sendable."""
        notes = {"generated": generated, "reference": reference}
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


def request_code(*notes: str) -> str:
    """16 random hexadecimal digits that occur in none of the notes; in this process the same for the same notes."""
    text = json.dumps([_SALT, *notes])
    codes = (hashlib.sha256(f"{attempt} {text}".encode()).hexdigest()[:_CODE_LENGTH] for attempt in count())
    return next(code for code in codes if not any(code in note for note in notes))
