"""What must never be shown: a key or a token, read in one place only, where a request gets its header."""

from __future__ import annotations

import base64
import html
from typing import NoReturn
from urllib.parse import unquote

_TELLING = 8


def _letters_and_digits(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())


class Secret:
    """A text that no repr, log, copy into JSON or error message shows."""

    __slots__ = ("_text",)

    def __init__(self, text: str = "") -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def is_in(self, text: str) -> bool:
        """Whether a stranger's text repeats the secret, or eight letters and digits of it in a row.

        In whatever case, with whatever between them, and also reversed, in base64, in hexadecimal digits or escaped.
        """
        if not self._text:
            return False
        parts = self._parts()
        return self._text in text or any(
            form[i : i + _TELLING] in parts
            for form in map(_letters_and_digits, (text, unquote(text), html.unescape(text)))
            for i in range(len(form) - _TELLING + 1)
        )

    def _parts(self) -> set[str]:
        """All parts of eight characters of the forms that the secret may be told in."""
        encoded = self._text.encode()
        # Three bytes are four digits of base64: the secret may begin with any of the three.
        shifted = (base64.b64encode(b"\0" * shift + encoded).decode()[4 if shift else 0 : -4] for shift in range(3))
        told = (self._text, encoded.hex(), *shifted)
        forms = [form for text in map(_letters_and_digits, told) for form in (text, text[::-1])]
        return {form[i : i + _TELLING] for form in forms for i in range(len(form) - _TELLING + 1)}

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return "Secret('***')" if self._text else "Secret('')"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not copied or stored")
