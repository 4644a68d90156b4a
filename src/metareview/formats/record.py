"""A JSON object of an input file and the checks of its fields: all readers refuse the same mistake alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Set
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeVar

from metareview.errors import InputError, is_slip, nearest
from metareview.model.comment import MAX_AMOUNT, MAX_LINE, Comment
from metareview.model.time import LATEST, parse_time

if TYPE_CHECKING:
    from metareview.formats.input_file import InputFile

JsonPath = tuple[str | int, ...]
LineEnds = tuple[int, int]
Value = TypeVar("Value")
SEE_FORMATS = "See docs/formats.md."
REVERSED = "a range that ends before it begins; swapped"
_TEXTS = (
    *("note", "path", "side", "category", "context", "severity"),
    *("author", "at", "commit", "producer", "source_model"),
)
NAMES_OF_NOTES = ("note", "text", "body", "content", "message", "comment")
_NOTE_FIX = "Give the text under the name that the format has for it, or choose the format with --format."
_IDENTIFIERS = ("id", "in_reply_to")
_FLAGS = ("resolved", "outdated", "neutral", "is_ai_comment")
OWN_NAMES: Mapping[str, str] = {
    name: name for name in (*_TEXTS, "from_line", "to_line", *_IDENTIFIERS, *_FLAGS, "reactions", "meta")
}
"""A comment's fields as metareview itself calls them."""
_DEEPEST = 50
_RANGE = re.compile(r"\s*[Ll]?([0-9]{1,10})\s*(?:-|–|—|\.\.)\s*[Ll]?([0-9]{1,10})\s*")


class Nanoseconds(int):
    """An instant of a typed column. A plain number is no time, because its unit is not known."""


class Record(NamedTuple):
    """A JSON value that knows where it is in its file, so that every refusal names the line.

    `line` is that of a value that fills a line; of a document over several lines it finds the line of the value at a
    path, which is only done where a message needs it.
    """

    file: InputFile
    value: Any
    line: int | Callable[[JsonPath], int]
    path: JsonPath = ()

    def as_object(self, what: str, fix: str = SEE_FORMATS) -> Record:
        """This record, if it is an object; else InputError."""
        if not isinstance(self.value, dict):
            if self._is_list_of_objects() and self.file.path.exists():
                from metareview.formats.json_refusals import one_per_line

                fix = one_per_line(self.file, "a list")
            self.fail(None, f"{what} must be an object, found {_kind(self.value)}", fix)
        return self

    def _is_list_of_objects(self) -> bool:
        """True if the whole document is a list with an object in it."""
        return not self.path and isinstance(self.value, list) and isinstance(next(iter(self.value), None), dict)

    def line_of(self, key: str | None) -> int:
        return self.line_at(() if key is None else (key,))

    def line_at(self, path: JsonPath) -> int:
        """The line of the value at this path within the record."""
        return self.line if isinstance(self.line, int) else self.line((*self.path, *path))

    def fail(self, key: str | None, problem: str, fix: str) -> NoReturn:
        """Refuse the record, naming the line of the value at `key`, or its own."""
        self.file.fail(lambda: self.line_of(key), problem, fix)

    def refuse(self, key: str, expected: str, fix: str, *, quote: bool = False) -> NoReturn:
        """Refuse the value at `key`, which is absent or not what is expected; `quote` shows it."""
        if key not in self.value:
            self.fail(None, f"{key} is missing", fix)
        value = self.value[key]
        short = quote and isinstance(value, str | int | float) and len(repr(value)) < 40
        self.fail(key, f"{key} must be {expected}, found {repr(value) if short else _kind(value)}", fix)

    def check_fields(self, known: Set[str], meant: Mapping[str, str], fix: str) -> None:
        """Refuse an unknown field, with the one that was meant: by `meant`, or else the nearest."""
        for key in () if self.value.keys() <= known else self.value:
            if key in known:
                continue
            suggestion = meant.get(key.casefold()) or nearest(key, known)
            hint = f"Did you mean {suggestion}?" if suggestion else f"The fields are {', '.join(sorted(known))}."
            self.fail(key, f"unknown field {key[:80]!r}", f"{hint} {fix}")

    def check_spelling(self, known: Set[str]) -> None:
        """Refuse a field that is a known one but for a letter, or for its writing, where the known one is absent. What
        else a file keeps is its own business."""
        for key in () if self.value.keys() <= known else self.value.keys() - known:
            meant = next((name for name in sorted(known - self.value.keys()) if is_slip(key, name)), None)
            if meant:
                self.fail(key, f"unknown field {key[:80]!r}", f"Did you mean {meant}?")

    def text(self, key: str) -> str | None:
        """A string, or None where it is absent or null."""
        value = self.value.get(key)
        if value is not None and not isinstance(value, str):
            self.refuse(key, "a string", "Give text in quotes, or null.")
        return value

    def required(self, key: str, example: str) -> str:
        """A string that must be there, and say something."""
        text = self.text(key)
        if text is None:
            self.refuse(key, "a string", f"Give {key}: {example}.")
        if not text:
            self.fail(key, f"{key} is empty", f"Give {key}: {example}.")
        return text

    def identifier(self, key: str) -> str | None:
        """A string, or a whole number as its digits."""
        value = self.value.get(key)
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else self.text(key)

    def strings(self, key: str, of: str, example: str, accept: Callable[[str], object] = bool) -> tuple[str, ...]:
        """A list of strings that must be there, each of them acceptable: by default, not empty."""
        values = self.value.get(key)
        if not isinstance(values, list):
            self.refuse(key, f"a list of {of}", f"Give a list such as {example}, or [].")
        if not all(isinstance(value, str) and accept(value) for value in values):
            self.fail(key, f"{key} must be a list of {of}", f"Give a list such as {example}, or [].")
        return tuple(values)

    def paths(self, key: str) -> tuple[str, ...]:
        """A list of file names that must be there, without repeats, in its order."""
        return tuple(dict.fromkeys(self.strings(key, "paths", '["src/a.py"]')))

    def whole_number(self, key: str) -> int:
        """A number from 0 on, or its digits."""
        value = self.value.get(key)
        if type(value) is int and 0 <= value < 2**63:
            return value
        if type(value) is not str or not re.fullmatch("[0-9]{1,18}", value):
            self.refuse(key, "a whole number", f"Give {key}: the number of the pull request.", quote=True)
        return int(value)

    def line_number(self, key: str) -> int | None:
        """A whole number from 1 on; a string of digits and 10.0 are read as what they mean."""
        value = self.value.get(key)
        if value is None or value == "":
            return None
        whole = type(value) is float and value.is_integer()
        digits = type(value) is str and re.fullmatch(r"\s*[0-9]{1,10}\s*", value)
        number = int(value) if whole or digits else value
        if type(number) is not int or not 1 <= number <= MAX_LINE:
            fix = "Lines count from 1; leave the field out where there is none."
            self.refuse(key, f"a line number from 1 to {MAX_LINE}", fix, quote=True)
        return number

    def flag(self, key: str) -> bool | None:
        """true, false, or None where it is absent or null."""
        value = self.value.get(key)
        if value is not None and type(value) is not bool:
            self.refuse(key, "true or false", "Give true, false or null.")
        return value

    def number(self, key: str) -> float | None:
        """A number from 0 to MAX_AMOUNT, or None where it is absent or null."""
        value = self.value.get(key)
        if value is None:
            return None
        if type(value) not in (int, float) or not 0 <= value < float("inf"):
            self.refuse(key, "a number from 0 on", "Give a number, or leave it out.", quote=True)
        if value > MAX_AMOUNT:
            self.refuse(key, f"at most {MAX_AMOUNT}", "Give a smaller number, or leave it out.")
        return float(value) if type(value) is float else int(value)

    def mapping(self, key: str) -> dict[str, Any] | None:
        """An object as it is, or None where it is absent or null."""
        if self.value.get(key) is None:
            return None
        value = self.object(key, key)
        level: list[Any] = [value.value]
        for _ in range(_DEEPEST):
            if not level:
                break
            level = [item for each in level for item in (each.values() if isinstance(each, dict) else each)]
            level = [each for each in level if isinstance(each, dict | list)]
        if level:
            self.fail(key, f"{key} is nested more than {_DEEPEST} levels deep", "Make it flatter.")
        mapping: dict[str, Any] = value.value
        return mapping

    def lines(self, first: str, last: str | None) -> tuple[int | None, int | None]:
        """The line numbers at these keys; "10-15" at either is the whole range, and one that ends before it begins is
        swapped, with a warning.
        """
        ends = [None if key is None else self._field(self._line_or_range, key) for key in dict.fromkeys((first, last))]
        start, end = joined_lines(ends[0], ends[-1])
        if start is None or end is None or start <= end:
            return start, end
        detail = f"{first} {start} is after {last or first} {end}; swapped"
        self.file.warn(REVERSED, lambda: self.line_of(first), detail)
        return end, start

    def _line_or_range(self, key: str) -> LineEnds | None:
        value = self.value.get(key)
        ends = line_range(value) if type(value) is str else None
        number = None if ends else self.line_number(key)
        return ends or (None if number is None else (number, number))

    def reactions(self, key: str) -> dict[str, int] | None:
        """How often each reaction was given."""
        counts = self.mapping(key)
        if counts and not all(type(count) is int and count >= 0 for count in counts.values()):
            self.fail(key, f"{key} must be an object of whole numbers", 'Give counts such as {"+1": 2}.')
        return counts

    def comment(self, keys: Mapping[str, str] = OWN_NAMES, note: str | None = None) -> Comment:
        """The comment that this record is; `keys` says what the format calls each field that it has. `note` is the
        note of a format that keeps it in several fields.

        A range of lines that ends before it begins is swapped, with a warning; a field that cannot be read is left
        out, with a warning, unless the source is strict.
        """
        value = self.value
        readers: tuple[tuple[tuple[str, ...], Callable[[str], Any]], ...] = (
            (_TEXTS, self.text),
            (_IDENTIFIERS, self.identifier),
            (_FLAGS, self.flag),
            (("reactions",), self.reactions),
            (("meta",), self.mapping),
        )
        own: dict[str, Any] = {
            name: self._field(read, keys[name])
            for names, read in readers
            for name in names
            if name in keys and value.get(keys[name]) is not None
        }
        note = self.note_or_refusal(own.pop("note", note))
        start, end = self.lines(keys["from_line"], keys.get("to_line")) if "from_line" in keys else (None, None)
        return Comment(note, from_line=start, to_line=end, **own)

    def note_or_refusal(self, note: str | None) -> str:
        """The note that a format found, empty where there is none; InputError where the comment has its text under
        another name, so that it would be lost.
        """
        if not note or note.isspace():
            key = next((key for key in NAMES_OF_NOTES if _has_text(self.value.get(key))), None)
            if key:
                self.fail(key, f"a comment without a note where its format has one, but with {key}", _NOTE_FIX)
        return note or ""

    def _field(self, read: Callable[[str], Value | None], key: str) -> Value | None:
        """The value at `key`; one that cannot be read is left out, with a warning, unless the source is strict."""
        try:
            return read(key)
        except InputError as error:
            self.file.leave_out(error)
            return None

    def instant(self, key: str) -> int:
        """A time as text, or the instant of a typed column."""
        value = self.value.get(key)
        if type(value) is Nanoseconds:
            return int(value)
        try:
            instant = parse_time(value if type(value) is str else "")
        except ValueError:
            fix = "Give a time such as 2025-06-01T12:30:00Z; without a zone it is UTC."
            self.refuse(key, "a time", fix, quote=type(value) is str)
        if not -LATEST <= instant <= LATEST:
            self.refuse(key, "a time from 1678 to 2261", "Correct the year.", quote=True)
        return instant

    def object(self, key: str, what: str) -> Record:
        """The object at `key`."""
        return self._at(key).as_object(what)

    def objects(self, key: str, what: str) -> Iterator[Record]:
        """The objects of the list at `key`; none where it is absent or null."""
        values = self.value.get(key)
        if values is not None and not isinstance(values, list):
            self.refuse(key, "a list", SEE_FORMATS)
        return (item.as_object(what) for item in (self._at(key).items() if values else ()))

    def optional_object(self, key: str) -> Record:
        """The object at `key`, an empty one where it is absent or null. What is no object is left out, with a warning,
        unless the source is strict.
        """
        value = self.value.get(key)
        if type(value) is not dict:
            if value is not None:
                self._leave_out(key, "an object")
            value = {}
        return Record(self.file, value, self.line, (*self.path, key))

    def optional_objects(self, key: str) -> list[Record]:
        """The objects of the list at `key`; what is no list, and what in it is no object, is left out."""
        values = self.value.get(key)
        if type(values) is not list:
            if values is not None:
                self._leave_out(key, "a list")
            return []
        if not all(type(value) is dict for value in values):
            self._leave_out(key, "a list of objects")
        within = self._at(key)
        return [within._at(index) for index, value in enumerate(values) if type(value) is dict]

    def _leave_out(self, key: str, expected: str) -> None:
        problem = f"{key} must be {expected}"
        found = "" if type(self.value[key]) is list else f", found {_kind(self.value[key])}"
        error = InputError(problem + found, file=self.file.name, line=lambda: self.line_of(key), fix=SEE_FORMATS)
        self.file.leave_out(error)

    def optional_text(self, key: str) -> str | None:
        """A text; a value of another type is left out, with a warning, unless the source is strict."""
        return self._field(self.text, key) if self.value.get(key) is not None else None

    def items(self) -> Iterator[Record]:
        """The items of a list; what is no list is the only item."""
        if not isinstance(self.value, list):
            return iter([self])
        return (self._at(index) for index in range(len(self.value)))

    def _at(self, step: str | int) -> Record:
        # Called for each value of a file: _replace takes three times as long.
        return Record(self.file, self.value[step], self.line, (*self.path, step))


def _has_text(value: object, levels: int = 3) -> bool:
    """True if it is text that says something, or holds such text where a comment would."""
    if isinstance(value, str):
        return bool(value) and not value.isspace()
    items = value if isinstance(value, list) else map(value.get, NAMES_OF_NOTES) if isinstance(value, dict) else ()
    return levels > 0 and any(_has_text(item, levels - 1) for item in items)


def joined_lines(first: LineEnds | None, last: LineEnds | None) -> tuple[int | None, int | None]:
    """From the first line of the one to the last of the other; where one is missing, the other has both if it is a
    range, and its own end if it is one line.
    """
    start = first[0] if first else last[0] if last and last[0] != last[1] else None
    end = last[1] if last else first[1] if first and first[0] != first[1] else None
    return start, end


def line_range(text: str) -> LineEnds | None:
    """The ends of a range such as 10-15 or L10-L15, or None; line numbers count from 1.

    >>> line_range("10-15")
    (10, 15)
    """
    ends = _RANGE.fullmatch(text)
    first, last = (int(ends[1]), int(ends[2])) if ends else (0, 0)
    return (first, last) if 1 <= first <= MAX_LINE and 1 <= last <= MAX_LINE else None


def _kind(value: object) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)
