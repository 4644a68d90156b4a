"""Words as ROUGE counts them."""

from __future__ import annotations

import re

_RUNS = re.compile("[a-z0-9]+")


def tokens(text: str) -> list[str]:
    """The runs of a-z and 0-9 in the lower-cased text, in order: rouge-score's default tokens, no stemming.

    Every other character separates, letters beyond ASCII too, except where lower-casing turns one into ASCII
    (the Kelvin sign is a `k`).

    >>> tokens("Don't use naïve_parse(2)!")
    ['don', 't', 'use', 'na', 've', 'parse', '2']
    """
    return _RUNS.findall(text.lower())
