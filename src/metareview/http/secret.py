"""Keys and tokens: read in one place only, where a request gets its header, and never shown."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from typing import NoReturn

from metareview.http.escapes import unescaped
from metareview.model.words import one_line

_BEGINNING = 12
"""Characters at a key's beginning that give it away."""
_PUBLIC = re.compile(r"github_pat_|gh[a-z]_|gl[a-z]{2,12}-|sk-(?:(?:ant-[a-z]+[0-9]*|or-v[0-9]|proj|svcacct|admin)-)?")
"""Public beginnings of the tokens of GitHub, GitLab and makers of models."""
_SHORTEST, _SHORTEST_WORD = 8, 12
"""A shorter key, or one of letters alone, may be any word: local servers take `none` or `ollama` for one."""
_NAMED = r"(?:bearer|key|token|[:=\"'`(<])[\s\"'`:=(<]*{}(?!\w)"
"""Such a key where a text says that it is one."""
_AHEAD = 16
"""Characters of a text that are searched for each that is shown of it: `one_line` takes from four."""
_ALIKE = str.maketrans("-_", "+/", ":\\")
"""Both alphabets of base64 are one, and neither colons between hexadecimal digits nor backslashes count."""


class Secret:
    """A text that no repr, log, copy into JSON or error message shows."""

    __slots__ = ("_named", "_parts", "_text")

    def __init__(self, text: str = "") -> None:
        self._text = text
        is_word = len(text) < (_SHORTEST_WORD if text.isalpha() else _SHORTEST)
        self._named = re.compile(_NAMED.format(re.escape(text)), re.IGNORECASE) if is_word and text else None
        self._parts = () if is_word else tuple(dict.fromkeys(_forms(text)))

    def reveal(self) -> str:
        return self._text

    def is_in(self, text: str) -> bool:
        """True if a stranger's text repeats the secret: at least its first twelve characters, or those that follow its
        public beginning (`github_pat_`, `sk-proj-` …).

        Plain, in base64 (alone or inside of what was encoded, as in `Bearer …`), in hexadecimal digits, or escaped as
        in URLs, HTML or JSON; in whatever case, and with white space in between. A secret that may be an ordinary word
        is found where the text calls it a key.
        """
        if self._named is not None:
            return any(self._named.search(plain) for plain in unescaped(text))
        return any(part in form for form in map(_comparable, unescaped(text)) for part in self._parts)

    def line_of(self, text: str, length: int = 1_000, instead: str = "") -> str:
        """A stranger's text as `one_line` shows it, or `instead` where it repeats the secret.

        Searched before it is cut: what a cut leaves of a secret might not be known as one.
        """
        return instead if self.is_in(text[: _AHEAD * length]) else one_line(text, length)

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return "Secret('***')" if self._text else "Secret('')"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not copied or stored")


def _forms(text: str) -> Iterator[str]:
    """The beginning of a secret, with its public part and without, in each form that it may be repeated in."""
    public = _PUBLIC.match(text)
    end = public.end() if public and len(text) >= public.end() + _SHORTEST else 0
    for beginning in (text[: max(_BEGINNING, end + 1)], text[end : end + _BEGINNING]):
        encoded = beginning.encode()
        yield _comparable(beginning)
        yield encoded.hex()
        for shift in range(3):
            # Three bytes are four digits of base64: the secret may begin with any of the three. Only digits count that
            # hold nothing but the secret.
            digits = base64.b64encode(b"\0" * shift + encoded + b"\0\0").decode()
            yield _comparable(digits[-(-8 * shift // 6) : 8 * (shift + len(encoded)) // 6])


def _comparable(text: str) -> str:
    return "".join(text.lower().translate(_ALIKE).split())
