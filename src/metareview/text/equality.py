"""When two texts are equal: however their characters are encoded and, where that is wanted, whatever white space is
between their words."""

from __future__ import annotations

from collections.abc import Iterable

from metareview.text.normalisation import normalise


def composed(text: str) -> str:
    """The text in Unicode's form NFC: equal for texts that look the same by Unicode's own word, such as an `é` of one
    character or of two. Full width, ligatures and superscripts stay what they are."""
    return normalise("NFC", text)


def collapsed(text: str) -> str:
    """The same, trimmed, each run of white space a space: no-break, ideographic and line separators are white space.

    >>> collapsed(" cafe\\u0301\\u3000is\\u00a0open\\n")
    'café is open'
    """
    return " ".join(normalise("NFC", text).split())


def equality_numbers(texts: Iterable[str]) -> list[int]:
    """A number for each text, the same for texts that are equal but for white space; 0 for white space alone.

    >>> equality_numbers(["a  b", "", "c", " a b"])
    [1, 0, 2, 1]
    """
    numbers = {"": 0}
    return [numbers.setdefault(collapsed(text), len(numbers)) for text in texts]
