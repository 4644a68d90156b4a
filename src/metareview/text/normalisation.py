"""Unicode normalisation in linear time, for any text.

Normalisation sorts the combining marks behind a character, which takes the square of their number: 100,000 marks in a
row take half a minute. Unicode's Stream-Safe Text Format therefore breaks such a run with a grapheme joiner, which is
not seen, after every 30 marks. Text in any real language has no such run, and is normalised as it is.
"""

from __future__ import annotations

import re
from typing import Literal
from unicodedata import combining
from unicodedata import normalize as _normalize

_MOST_MARKS = 30
_GRAPHEME_JOINER = "\u034f"
_POSSIBLE_RUN = re.compile(rf"[^\x00-\u02ff\u3400-\u9fff\uac00-\ud7a3]{{{_MOST_MARKS + 1},}}")
"""Characters that may be marks: neither Latin letters nor Han nor Hangul, which most texts are made of."""


def normalise(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """The text in one of Unicode's normalisation forms, after at most 30 combining marks in a row a joiner.

    >>> normalise("NFC", "cafe\\u0301")
    'café'
    """
    return _normalize(form, text if text.isascii() else _POSSIBLE_RUN.sub(_with_joiners, text))


def _with_joiners(run: re.Match[str]) -> str:
    parts: list[str] = []
    marks = 0
    for character in run[0]:
        marks = marks + 1 if _is_mark(character) else 0
        if marks > _MOST_MARKS:
            parts.append(_GRAPHEME_JOINER)
            marks = 1
        parts.append(character)
    return "".join(parts)


def _is_mark(character: str) -> bool:
    """True if normalisation may sort the character: some become marks only when they are decomposed."""
    return bool(combining(character) or combining(_normalize("NFKD", character)[0]))
