"""As much of a pull request body's Markdown as tells what its readers see."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE = re.compile(r" {0,3}(?:> ?)*(`{3,}|~{3,})(.*)")
_TICKS = re.compile(r"`+")


def visible_text(body: str) -> str:
    """The body without HTML comments, fenced code and inline code; its lines stay lines.

    >>> visible_text("fixes `#1` <!-- #2 --> #3")
    'fixes     #3'
    """
    text = body.replace("\r\n", "\n").replace("\r", "\n")
    if "```" in text or "~~~" in text:
        text = _without_fences(text)
    if "<!--" in text:
        text = _COMMENT.sub(_blank, text)
    return _without_code_spans(text) if "`" in text else text


def _blank(match: re.Match[str]) -> str:
    return " " + "\n" * match[0].count("\n")


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
    while True:
        at = line.find("-->" if hidden else "<!--", at)
        if at < 0:
            return hidden
        hidden = not hidden
        at += 3


def _without_code_spans(text: str) -> str:
    """Drop `code`: from a run of ticks to the next run of the same length, within a paragraph."""
    paragraphs = re.split(r"(\n[ \t]*\n)", text)
    return "".join(_drop_spans(part) if "`" in part else part for part in paragraphs)


def _drop_spans(text: str) -> str:
    runs = [(match.start(), match.end()) for match in _TICKS.finditer(text)]
    # The next run of each length, from the back: one pass, however many ticks stand alone.
    following: dict[int, int] = {}
    closing = [0] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        closing[index] = following.get(length, -1)
        following[length] = index
    kept: list[str] = []
    at = index = 0
    while index < len(runs):
        if closing[index] < 0:
            index += 1
            continue
        start, end = runs[index][0], runs[closing[index]][1]
        kept += (text[at:start], " ", "\n" * text.count("\n", start, end))
        at, index = end, closing[index] + 1
    return "".join(kept) + text[at:]
