"""From a JSON record to a Comment: the one place where a comment's fields are checked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from metareview.formats.source import Document, JsonPath, Source
from metareview.model.comment import MAX_LINE, Comment

COMMENT_KEYS: Mapping[str, str] = {
    name: name
    for name in ("note", "path", "side", "from_line", "to_line", "id", "category", "context", "severity")
}
_TEXTS = ("note", "path", "side", "category", "context", "severity")


@dataclass(frozen=True, slots=True)
class Record:
    """A JSON object within a document; knows its place, so that every refusal names the line."""

    source: Source
    document: Document
    path: JsonPath
    value: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        source: Source,
        document: Document,
        path: JsonPath,
        value: Any,
        what: str,
        fix: str = "See docs/formats.md.",
    ) -> Record:
        if not isinstance(value, dict):
            source.fail(document, path, f"{what} must be an object, found {_kind(value)}", fix)
        return cls(source, document, path, value)

    def fail(self, key: str, problem: str, fix: str) -> NoReturn:
        self.source.fail(self.document, (*self.path, key) if key else self.path, problem, fix)

    def text(self, key: str) -> str | None:
        """A string, or None where it is absent or null."""
        value = self.value.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            self.fail(key, f"{key} must be a string, found {_kind(value)}", "Put it in quotes.")
        return self.clean(key, value)

    def identifier(self, key: str) -> str | None:
        value = self.value.get(key)
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else self.text(key)

    def line_number(self, key: str) -> int | None:
        """A whole number from 1 on; a string of digits and 10.0 are read as what they mean."""
        value = self.value.get(key)
        if value is None or value == "":
            return None
        whole = isinstance(value, float) and value.is_integer()
        digits = isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,10}\s*", value)
        number = int(value) if whole or digits else value
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= MAX_LINE:
            short = isinstance(value, str | int | float) and len(repr(value)) < 40
            shown = repr(value) if short else _kind(value)
            self.fail(
                key,
                f"{key} must be a line number from 1 to {MAX_LINE}, found {shown}",
                "Lines count from 1; leave the field out where there is none.",
            )
        return number

    def items(self, key: str) -> list[Any]:
        value = self.value.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.fail(key, f"{key} must be a list, found {_kind(value)}", "See docs/formats.md.")
        return list(value)

    def comment(self, keys: Mapping[str, str] = COMMENT_KEYS) -> Comment:
        """The comment in this record; `keys` says what the format calls each field."""
        texts = {name: self.text(keys[name]) for name in _TEXTS if name in keys}
        start, end = self.ordered_lines(keys.get("from_line"), keys.get("to_line"))
        return Comment(
            note=texts.pop("note", None) or "",
            from_line=start,
            to_line=end,
            id=self.identifier(keys["id"]) if "id" in keys else None,
            **texts,
        )

    def ordered_lines(self, from_key: str | None, to_key: str | None) -> tuple[int | None, int | None]:
        start = self.line_number(from_key) if from_key else None
        end = self.line_number(to_key) if to_key else None
        if start is None or end is None or start <= end:
            return start, end
        self.source.warn(
            "a range that ends before it begins; swapped",
            lambda: self.source.line_of(self.document, (*self.path, from_key or "")),
            f"{from_key} {start} is after {to_key} {end}; swapped",
        )
        return end, start

    def clean(self, key: str, value: str) -> str:
        """The value as it can be written out again."""
        try:
            value.encode()
        except UnicodeEncodeError:
            self.source.warn(
                "text with half a surrogate pair; replaced by ?",
                lambda: self.source.line_of(self.document, (*self.path, key)),
                f"{key} holds half a surrogate pair; replaced by ?",
            )
            return value.encode("utf-8", "replace").decode()
        return value


def comment_of(value: Any) -> Comment:
    """A comment from a dictionary that no file holds; the same checks."""
    text = json.dumps(dict(value) if isinstance(value, Mapping) else value, default=str)
    source = Source.of_text(text, "comment")
    return Record.of(source, source.documents[0], (), source.documents[0].value, "a comment").comment()


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    names = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "a list",
        dict: "an object",
    }
    return names.get(type(value), type(value).__name__)
