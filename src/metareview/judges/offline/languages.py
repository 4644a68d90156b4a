"""Notes that are not in English, which is all that the offline judge has learned.

It still compares the words, letters and identifiers that two such notes share, but not their meaning, and what a score
is worth was never measured on them. So they are counted, and the run has a warning.

A note counts if at least half of its words are in another script than Latin; or if it has more different words that
are of another language than of English, and at least two: function words, and words with letters that
English does without. Code between backticks is not looked at.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metareview.judges.protocol import Question
from metareview.model.words import plural
from metareview.text.equality import composed
from metareview.text.tokens import tokens

LOOKED_AT = 2_000
"""The first characters of a note, from which its language is detected."""
TRAINED_ON_ENGLISH = "The offline judge was trained on English"
"""The beginning of the warning about notes in other languages."""

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`]*`", re.DOTALL)

_ENGLISH_WORDS = """
the and of to is are be been it its this that these those not with for from by as at an or if when while which
should would could can will may must does has have was were but because than then into only there they you we
instead without between before after so no on in a
"""
_OTHER_WORDS = """
der die das dem den und nicht nichts ist ein eine einen einer wird werden wurde auf mit bei sich auch wenn aber oder
noch nur kann muss sollte hier dass zu zum zur von vom sind diese dieser dieses keine beim nach le la les des une
est pas dans pour avec sur qui que ce cette ces ne sont il vous nous mais donc au aux du sans doit peut fait elle
lorsque si el los las una del por para con pero como este esta sin hay debe cuando se ya su sus lo al puede um uma
mas isso deve quando pelo pela em da dos com seu sua pode gli di che non della dei delle sono questo questa nel
nella anche viene ma het een van niet voor zijn wordt worden deze dit maar ook bij naar geen moet dat er nie jest
dla jako przez oraz lub ale jednak tego tylko jeszcze och att det som inte med av till ska kan eller har og ikke ved
skal ve bir bu olarak ile gibi ancak veya daha yang dan tidak untuk dengan ini dari pada adalah ke akan bisa ja ei
kun tai mutta ovat sau pentru nu din care sunt
"""
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
_OTHERS = frozenset(_OTHER_WORDS.split())
"""Common words of German, French, Spanish, Portuguese, Italian, Dutch, Polish, Swedish, Danish and Norwegian, Turkish,
Indonesian, Finnish and Romanian. A word or two of them also occur in English notes, which have more English ones."""


_LOANS = frozenset({"naïve", "naïvely", "naïveté", "façade", "façades", "café", "résumé", "cliché", "déjà", "über"})


def not_in_english(note: str) -> bool:
    """True if a note is mostly in another language; False if that cannot be detected.

    >>> not_in_english("缓存的 key 没有包含 tenantId"), not_in_english("Die Datei wird nicht geschlossen")
    (True, True)
    >>> not_in_english("Naïve retry: `файл` is never closed"), not_in_english("nil deref")
    (False, False)
    """
    text = note[:LOOKED_AT]
    if "`" in text:
        text = _CODE.sub(" ", text)
    words = tokens(text)
    if text.isascii():
        distinct = set(words)
        foreign = len(distinct & _OTHERS)
        return foreign >= 2 and foreign > len(distinct & _ENGLISH)
    words = [word for word in words if word[0].isalpha()]
    latin = [word for word in words if _is_latin(word[0])]
    if len(latin) < len(words):
        # Where a script has no spaces a token is a character, and a word has about two.
        others = sum(0.5 if len(word) <= 2 else 1.0 for word in words if not _is_latin(word[0]))
        if others >= len(latin):
            return True
    distinct = set(latin)
    foreign = len(distinct & _OTHERS) + sum(not word.isascii() for word in distinct - _LOANS)
    return foreign >= 2 and foreign > len(distinct & _ENGLISH)


@lru_cache(maxsize=20_000)
def _is_latin(letter: str) -> bool:
    return letter.isascii() or unicodedata.name(letter, "").startswith("LATIN ")


class NotesSeen(NamedTuple):
    """Notes that are in a pair, each once: a hash of each, and of those that are not in English."""

    notes: NDArray[np.uint64]
    others: NDArray[np.uint64]


def notes_seen(questions: Iterable[Question]) -> NotesSeen:
    """The notes of these questions that are in a pair."""
    notes: set[str] = set()
    for question in questions:
        generated, reference = (set(column) for column in question.pairs.reshape(-1, 2).T.tolist())
        notes.update(question.generated[at] for at in generated)
        notes.update(question.reference[at] for at in reference)
    return NotesSeen(_hashes(notes), _hashes(filter(not_in_english, notes)))


def _hashes(notes: Iterable[str]) -> NDArray[np.uint64]:
    """Sixty-four bits of each: that two of ten million notes share theirs is once in a million runs."""
    digests = (blake2b(note.encode("utf-8", "surrogatepass"), digest_size=8).digest() for note in notes)
    return np.frombuffer(b"".join(digests), np.uint64)


def remarks_on(parts: Sequence[NotesSeen]) -> list[str]:
    """A warning of the notes that are not in English, and how many of those in a pair they are, each counted once."""
    known, others = (len(np.unique(np.concatenate(column))) for column in zip(*parts, strict=True)) if parts else (0, 0)
    if not others:
        return []
    are = "is" if others == 1 else "are"
    return [
        f"{TRAINED_ON_ENGLISH}, and {others:,} of {plural(known, 'note')} {are} mostly in"
        " other languages: calibrate before you trust it"
    ]


def with_composed_notes(question: Question) -> Question:
    """The question with its notes in Unicode's form NFC, so that an `é` of two characters is that of one."""
    if all(map(str.isascii, question.generated)) and all(map(str.isascii, question.reference)):
        return question
    return replace(
        question, generated=list(map(composed, question.generated)), reference=list(map(composed, question.reference))
    )
