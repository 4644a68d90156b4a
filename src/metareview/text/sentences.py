"""Sentences, as `sentencex` cuts English text."""

from __future__ import annotations

import re

import sentencex

_SURROGATES = re.compile("[\ud800-\udfff]")


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, trimmed, empty ones dropped.

    A lone surrogate is no character and the segmenter refuses it; it becomes U+FFFD.

    >>> sentences("Mr. Smith asks why. Nobody knows! ")
    ['Mr. Smith asks why.', 'Nobody knows!']
    """
    trimmed = (piece.strip() for piece in sentencex.segment("en", _SURROGATES.sub("\ufffd", text)))
    return [sentence for sentence in trimmed if sentence]
