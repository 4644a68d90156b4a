"""The words of a text, in any script.

A text of ASCII characters has exactly rouge-score's tokens. In any other, those of its words that are ASCII are the
same tokens still; beside them come the words of other letters, and where a script writes no spaces each character.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from metareview.text.normalisation import normalise

_RUNS = re.compile("[a-z0-9]+")

_EAST_ASIAN = (
    (0x3005, 0x3007),  # Han: the marks of repetition and closing, the zero
    (0x3021, 0x3029),
    (0x3031, 0x3035),
    (0x3038, 0x303C),
    (0x3041, 0x30FF),  # Hiragana, Katakana
    (0x3105, 0x312F),  # Bopomofo
    (0x31A0, 0x31BF),
    (0x31F0, 0x31FF),  # Katakana for Ainu
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x1AFF0, 0x1B16F),  # Hiragana, Katakana
    (0x20000, 0x3FFFF),  # Han
)
_SOUTHEAST_ASIAN = (
    (0x0E01, 0x0E7F),  # Thai
    (0x0E80, 0x0EFF),  # Lao
    (0x1000, 0x109F),  # Myanmar
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0x1780, 0x17FF),  # Khmer
)
"""Scripts that put no spaces between words. Hangul, which does, is not among them."""

_JOINERS = re.compile("(?<=[^\x00-\x7f])[\u200c\u200d]+(?=[^\x00-\x7f])")
"""Invisible characters that join or part the letters of one word in Persian and in scripts of India."""
_MARKS = ((0x0300, 0x036F), (0x3099, 0x309A), *_SOUTHEAST_ASIAN)
"""Code points among which a character of these scripts has its marks."""
REMEMBERED = 20_000
"""The most distinct characters that are cached: hostile text has them all."""


def tokens(text: str) -> list[str]:
    """The words of the text in lower case, in order, no stemming: of ASCII text the runs of a-z and 0-9.

    Elsewhere a word is a run of letters, their combining marks and decimal digits; a Han, Hiragana, Katakana, Thai,
    Lao, Khmer or Myanmar character with its marks is a word by itself. Everything else separates: punctuation (all
    kinds of apostrophes, and `_`, too), symbols, emoji, superscripts. Neither case nor how characters are encoded makes
    a difference: composed or not, full width or half (Unicode's NFKC and full case folding).

    A text beyond ASCII that has no word at all, such as one of emoji, has its characters as tokens, so that it equals
    itself; an ASCII one, such as `!!!`, has none, as with rouge-score.

    >>> tokens("Don't use naïve_parse(2)!")
    ['don', 't', 'use', 'naïve', 'parse', '2']
    >>> tokens("缓存key不对"), tokens("Файл закрыт — нет")
    (['缓', '存', 'key', '不', '对'], ['файл', 'закрыт', 'нет'])
    """
    lowered = text.lower()
    if lowered.isascii():
        return _RUNS.findall(lowered)
    composed = normalise("NFC", text)
    words = composed.translate(_SEPARATORS_AS_SPACES)
    if words.isascii():  # English with quotation marks, arrows or emoji
        found: list[str] = words.lower().split()
    else:
        found = _words_beyond_ascii(words)
    return found or [character for character in composed if not character.isspace()]


def _words_beyond_ascii(text: str) -> list[str]:
    """The words of a text whose separators are spaces and joiners."""
    return cut(normalise("NFKC", normalise("NFKC", joined(text)).casefold()))


def joined(text: str) -> str:
    """The text without joiners inside words; any other becomes a space."""
    return _JOINERS.sub("", text).replace("\u200c", " ").replace("\u200d", " ")


def cut(text: str) -> list[str]:
    """The words of a text whose separators are spaces: at these, and around characters of scripts that have none."""
    found: list[str] = _word_pattern().findall(text)
    if all(_can_begin(word[0]) for word in found):
        return found
    # A combining mark behind a separator is on no letter.
    return [word for word in map(_without_leading_marks, found) if word]


def _can_begin(character: str) -> bool:
    return character.isalnum() or character.isascii()


def _without_leading_marks(word: str) -> str:
    return word[next((at for at, character in enumerate(word) if _can_begin(character)), len(word)) :]


class WordCharacters(dict[int, str]):
    """A table for `str.translate` of each character: itself if it may be part of a word, else a space."""

    def __missing__(self, number: int) -> str:
        kept = self.kept(chr(number))
        if len(self) < REMEMBERED:
            self[number] = kept
        return kept

    def kept(self, character: str) -> str:
        return character if belongs_to_words(character) else " "


_SEPARATORS_AS_SPACES = WordCharacters()


def belongs_to_words(character: str) -> bool:
    """True for a letter, a decimal digit, a combining mark or a joiner.

    Not if it is a superscript or a subscript (`x²` and `2ⁿ` are read alike), an apostrophe that counts as a letter, or
    a mark that encloses or picks the look of what is before it, as in emoji and in the keycap `1️⃣`.
    """
    if character in "\u02bb\u02bc" or unicodedata.decomposition(character).startswith(("<super>", "<sub>")):
        return False
    if character in "\u200c\u200d":
        return True
    if "VARIATION SELECTOR" in unicodedata.name(character, ""):
        return False
    category = unicodedata.category(character)
    return category[0] == "L" or category in ("Nd", "Nl", "Mn", "Mc")


@cache
def _word_pattern() -> re.Pattern[str]:
    """A character of a script without spaces with its marks, or a run of any other characters."""
    unspaced = "".join(f"{chr(first)}-{chr(last)}" for first, last in (*_EAST_ASIAN, *_SOUTHEAST_ASIAN))
    possible = (chr(number) for first, last in _MARKS for number in range(first, last + 1))
    marks = "".join(character for character in possible if unicodedata.category(character) in ("Mn", "Mc"))
    return re.compile(f"[{unspaced}][{marks}]*|[^ {unspaced}]+")
