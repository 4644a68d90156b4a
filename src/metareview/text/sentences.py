"""The sentences of a text."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SURROGATES = re.compile("[\ud800-\udfff]")
_ENDS = "。！？｡។"
_OPENING, _CLOSING = "「『（【《〈“‘(［[", "」』）】》〉”’)］]"
_FULL_WIDTH = re.compile(f"[{_ENDS}]")
_ENDS_AND_BRACKETS = re.compile(
    f"([{re.escape(_OPENING)}])|([{re.escape(_CLOSING)}])|(?<![{_ENDS}])[{_ENDS}]++(?=[^{re.escape(_CLOSING)}])"
)


def sentences(text: str) -> list[str]:
    """The sentences of the text in order, as `sentencex` cuts English, trimmed, empty ones dropped.

    The segmenter also knows the sentence ends of other scripts (`。`, `।`, `؟`), but goes on after one if a small
    letter or a digit follows; `。`, `！`, `？` and the Khmer `។` always end a sentence here, unless a bracket or a
    quotation is open. A lone surrogate is no character and the segmenter refuses it; it becomes U+FFFD.

    >>> sentences("Mr. Smith asks why. Nobody knows! ")
    ['Mr. Smith asks why.', 'Nobody knows!']
    >>> sentences("先检查缓存。key 不对！")
    ['先检查缓存。', 'key 不对！']
    """
    import sentencex  # here, so that naming a strategy, as the command line does, loads no segmenter

    found: list[str] = list(sentencex.segment("en", _SURROGATES.sub("\ufffd", text)))
    if _FULL_WIDTH.search(text):
        found = [part for sentence in found for part in _cut_at_full_width_ends(sentence)]
    return [sentence for sentence in map(str.strip, found) if sentence]


def _cut_at_full_width_ends(text: str) -> Iterator[str]:
    """The text cut behind each of `_ENDS` that is in no bracket."""
    start = depth = 0
    for found in _ENDS_AND_BRACKETS.finditer(text):
        if found[1]:
            depth += 1
        elif found[2]:
            depth = max(0, depth - 1)
        elif not depth:
            yield text[start : found.end()]
            start = found.end()
    yield text[start:]
