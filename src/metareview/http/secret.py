"""What must never be shown: a key or a token, read in one place only, where a request gets its header."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import NoReturn

from metareview.http.escapes import unescaped
from metareview.model.words import one_line

_TELLING, _LEAST_TELLING = 8, 6
"""So many characters in a row tell of a secret; of a short one's code, at least so many."""
_PUBLIC = re.compile(r"github_pat_|gh[a-z]_|gl[a-z]{2,12}-|sk-(?:(?:ant-[a-z]+[0-9]*|or-v[0-9]|proj|svcacct|admin)-)?")
"""What the tokens of GitHub, GitLab and makers of models begin with, which says nothing of the rest."""
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
        """Whether a stranger's text repeats the secret, or eight characters in a row of what is secret in it.

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
        """Every substring long enough to identify the secret, of every form that it may be told in; without what all
        tokens of its kind begin with, so that `GitHub password` does not count as `github_pat_…`."""
        encoded = self._text.encode()
        begin = _PUBLIC.match(self._text)
        own = self._text[begin.end() :] if begin else self._text
        for form in _forms(own if len(own) >= 2 * _TELLING else self._text):
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
