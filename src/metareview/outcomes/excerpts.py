"""The code that a comment points at, to be read beside it."""

from __future__ import annotations

from metareview.outcomes.spans import Span
from metareview.outcomes.versions import Version, Versions

_CONTEXT = 3
_MOST_LINES = 200
_MOST_CHARACTERS = 6_000
LEFT_OUT = "[…]"


def code(versions: Versions, version: Version, span: Span) -> str | None:
    """The lines and up to three on either side, as far as patches show them; None where they show none of the lines."""
    start, end = span
    texts = versions.texts(version, start, min(end, start + _MOST_LINES))
    if all(text is None for text in texts):
        return None
    above = versions.texts(version, max(start - _CONTEXT, 0), start)
    below = versions.texts(version, end, end + _CONTEXT) if end - start <= _MOST_LINES else []
    lines: list[str] = []
    for text in (*_next_to(above[::-1])[::-1], *texts, *_next_to(below)):
        if text is not None or lines[-1:] != [LEFT_OUT]:
            lines.append(LEFT_OUT if text is None else text)
    return _bounded("\n".join(lines))


def _next_to(texts: list[str | None]) -> list[str | None]:
    """Those up to the first that is not shown."""
    return texts[: texts.index(None)] if None in texts else texts


def _bounded(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else _cut(text, _MOST_CHARACTERS)


def _cut(text: str, size: int) -> str:
    return f"{text[:size]}\n{LEFT_OUT}"
