"""How bad an issue is, in the many words that annotators and tools have for it."""

from __future__ import annotations

_WORDS = (
    ("critical", "blocker", "fatal", "p0"),
    ("high", "major", "error", "severe", "p1"),
    ("medium", "moderate", "warning", "p2"),
    ("low", "minor", "p3"),
    ("info", "information", "informational", "note", "nit", "nitpick", "trivial", "style", "suggestion", "p4"),
)
_RANKS = {word: rank for rank, words in enumerate(_WORDS) for word in words}
UNKNOWN = len(_WORDS)


def severity_rank(severity: str | None) -> int:
    """0 for the worst; a word that is not known, or none at all, comes last.

    >>> [severity_rank(word) for word in ("Blocker", " HIGH ", "nit", "purple", None)]
    [0, 1, 4, 5, 5]
    """
    return _RANKS.get((severity or "").strip().casefold(), UNKNOWN)
