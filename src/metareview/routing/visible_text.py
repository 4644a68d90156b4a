"""As much of a pull request body's Markdown as tells what its readers see."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE = re.compile(r" {0,3}(?:> ?)*(`{3,}|~{3,})(.*)")
_TICKS = re.compile(r"`+")
_PARAGRAPHS = re.compile(r"(\n[ \t]*\n)")


def visible_text(body: str) -> str:
    """The body without HTML comments, fenced code and inline code; its lines stay lines.

    >>> visible_text("fixes `#1` <!-- #2 --> #3")
    'fixes     #3'
    """
    text = body.replace("\r\n", "\n").replace("\r", "\n")
    if "```" in text or "~~~" in text:
        text = _without_fences(text)
    if "<!--" in text:
        text = _COMMENT.sub(lambda match: " " + "\n" * match[0].count("\n"), text)
    if "`" not in text:
        return text
    return "".join(_drop_spans(part) if "`" in part else part for part in _PARAGRAPHS.split(text))


def _without_fences(text: str) -> str:
    """Fences open outside HTML comments only, and run to their end or to the end of the body."""
    kept: list[str] = []
    fence = ""
    hidden = False
    for line in text.split("\n"):
        mark = None if hidden else _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
            kept.append("")
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
            kept.append("")
        else:
            hidden = _ends_hidden(line, hidden)
            kept.append(line)
    return "\n".join(kept)


def _ends_hidden(line: str, hidden: bool) -> bool:
    """Whether an HTML comment is open at the end of the line."""
    at = 0
    while (at := line.find("-->" if hidden else "<!--", at)) >= 0:
        hidden, at = not hidden, at + 3
    return hidden


def _drop_spans(text: str) -> str:
    """Drop `code`: from a run of ticks to the next run of the same length, within a paragraph."""
    runs = [(match.start(), match.end()) for match in _TICKS.finditer(text)]
    # The next run of each length, from the back: one pass, however many ticks stand alone.
    following: dict[int, int] = {}
    closing = [0] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        closing[index] = following.get(length, -1)
        following[length] = index
    kept: list[str] = []
    at = 0
    for (start, _), closed_by in zip(runs, closing, strict=True):
        if start >= at and closed_by >= 0:
            end = runs[closed_by][1]
            kept += (text[at:start], " ", "\n" * text.count("\n", start, end))
            at = end
    return "".join(kept) + text[at:]
