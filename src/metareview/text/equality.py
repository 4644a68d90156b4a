"""Equality of texts in any encoding of their characters and, if white space is collapsed, with any between words."""

from __future__ import annotations

from collections.abc import Iterable

from metareview.text.normalisation import normalise


def composed(text: str) -> str:
    """The text in Unicode's form NFC: equal for texts that look the same by Unicode's own word, such as an `é` of one
    character or of two. Full width, ligatures and superscripts stay what they are."""
    return normalise("NFC", text)


def collapsed(text: str) -> str:
    """The text in form NFC, trimmed, each run of white space a space, be it no-break, ideographic or a line separator.

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
