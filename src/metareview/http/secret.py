"""What must never be shown: a key or a token, read in one place only, where a request gets its header."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import NoReturn

from metareview.http.escapes import unescaped
from metareview.model.words import one_line

_TELLING, _LEAST_TELLING = 8, 6
"""So many characters in a row tell of a secret; of a short one's code, at least so many."""
_AHEAD = 16
"""How much of a text is searched, for each character that is shown of it: `one_line` takes from four."""


class Secret:
    """A text that no repr, log, copy into JSON or error message shows."""

    __slots__ = ("_parts", "_text")

    def __init__(self, text: str = "") -> None:
        self._text = text
        self._parts: frozenset[str] | None = None

    def reveal(self) -> str:
        return self._text

    def is_in(self, text: str) -> bool:
        """Whether a stranger's text repeats the secret, or eight characters of it in a row.

        In whatever case, with whatever between its letters and digits, and also reversed, in base64 (alone or inside of
        what was encoded, as in `Bearer …`), in hexadecimal digits, or escaped as in URLs, HTML, JSON or Python.
        """
        if not self._text:
            return False
        if self._parts is None:
            self._parts = frozenset(self._telling())
        return any(
            self._text in said or any(part in form for form in _forms(said) for part in self._parts)
            for said in unescaped(text)
        )

    def line_of(self, text: str, length: int = 1_000, instead: str = "") -> str:
        """A stranger's text as `one_line` shows it, or `instead` where it repeats the secret.

        Searched before it is cut: what a cut leaves of a secret might not be known as one.
        """
        return instead if self.is_in(text[: _AHEAD * length]) else one_line(text, length)

    def _telling(self) -> Iterator[str]:
        """All parts of the forms that the secret may be told in that are long enough to tell."""
        encoded = self._text.encode()
        for form in _forms(self._text):
            yield from _windows(form, _TELLING)
        codes = [encoded.hex()]
        for shift in range(3):
            # Three bytes are four digits of base64: the secret may begin with any of the three. Only digits count that
            # hold nothing but the secret.
            digits = base64.b64encode(b"\0" * shift + encoded + b"\0\0").decode()
            codes.append(digits[-(-8 * shift // 6) : 8 * (shift + len(encoded)) // 6])
        for code in codes:
            yield from _windows(_letters_and_digits(code), _LEAST_TELLING)

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return "Secret('***')" if self._text else "Secret('')"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not copied or stored")


def _forms(text: str) -> tuple[str, str]:
    """What of a text is compared: it without white space, and its letters and digits."""
    return "".join(text.lower().split()), _letters_and_digits(text)


def _letters_and_digits(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())


def _windows(form: str, least: int) -> Iterator[str]:
    """The form's parts of eight characters, and those read backwards; all of a shorter one that is not too short."""
    size = min(_TELLING, len(form))
    for start in range(len(form) - size + 1 if size >= least else 0):
        part = form[start : start + size]
        yield from (part, part[::-1])
