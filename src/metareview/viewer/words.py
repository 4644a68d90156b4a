"""Two notes word by word: what only one of them says is marked, so that the eye finds what they share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rapidfuzz.distance import LCSseq

from metareview.report.names import clean, cut_at
from metareview.report.page.markup import Html, html, join

LONGEST = 4_000
"""Characters of a note that are looked at; the longest common subsequence of so many words takes about a
millisecond, whatever they are."""
_TELLING = 4
"""Characters of a word that tells something: `the` and `is` alone are in common by chance."""
_UNSPACED = "[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
"""Characters of languages that put no spaces between words: each is taken for a word."""
_WORD = re.compile(rf"{_UNSPACED}|(?:(?!{_UNSPACED})\w)+(?:['’.](?:(?!{_UNSPACED})\w)+)*")
_TELLING_UNSPACED = re.compile(_UNSPACED * 2)
Span = tuple[int, int]


def word_differences(a: str, b: str) -> tuple[Html, Html]:
    """Both notes as they were written, with `<mark>` around every stretch of words that the other does not have.

    Case does not count. Words in common count where they stand in the same order, and only in stretches that tell
    something: with a word of four letters, or two characters of a language without spaces. Notes are cut after LONGEST
    characters.

    >>> word_differences("Close the file handle.", "The file handle leaks")
    ('<mark>Close</mark> the file handle.', 'The file handle <mark>leaks</mark>')
    """
    texts = tuple(map(_bounded, (a, b)))
    first, second = ([found.span() for found in _WORD.finditer(text)] for text in texts)
    shared = _shared(_folded(texts[0], first), _folded(texts[1], second))
    ours, theirs = {at for at, _ in shared}, {at for _, at in shared}
    return _marked(texts[0], first, ours), _marked(texts[1], second, theirs)


def _bounded(text: str) -> str:
    text = clean(text).strip()
    return text if len(text) <= LONGEST else text[: cut_at(text, LONGEST)].rstrip() + " …"


def _folded(text: str, spans: Sequence[Span]) -> list[str]:
    return [text[start:end].casefold() for start, end in spans]


def _shared(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """The positions in both of the words in common, in stretches that tell something."""
    pairs: list[tuple[int, int]] = []
    for block in LCSseq.opcodes(a, b):
        length = block.src_end - block.src_start
        words = a[block.src_start : block.src_end]
        if block.tag == "equal" and (_tell(words) or len(a) == len(b) == length):
            pairs += [(block.src_start + k, block.dest_start + k) for k in range(length)]
    return pairs


def _tell(words: Sequence[str]) -> bool:
    return any(len(word) >= _TELLING for word in words) or _TELLING_UNSPACED.search("".join(words)) is not None


def _marked(text: str, spans: Sequence[Span], shared: set[int]) -> Html:
    """The text, with one mark around words that follow one another and are not shared."""

    def parts() -> Iterator[object]:
        done = at = 0
        while at < len(spans):
            if at in shared:
                at += 1
                continue
            start = spans[at][0]
            while at < len(spans) and at not in shared:
                at += 1
            end = spans[at - 1][1]
            yield text[done:start]
            yield html("<mark>{}</mark>", text[start:end])
            done = end
        yield text[done:]

    return join(parts())
