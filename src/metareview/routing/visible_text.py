"""As much of a pull request body's Markdown as tells what its readers see."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FENCE = re.compile(r" {0,3}(?:> ?)*(`{3,}|~{3,})(.*)")
_TICKS = re.compile(r"`+")
_QUOTE = re.compile(r" {0,3}>[> ]*")
_ALERT = re.compile(r" {0,3}> ?\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*$", re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_PARAGRAPHS = re.compile(r"(\n[ \t]*\n)")


def visible_text(body: str) -> str:
    """The body without HTML comments and code (fenced, indented, inline); its lines stay lines.

    >>> visible_text("fixes `#1` <!-- #2 --> #3")
    'fixes     #3'
    """
    text = body.replace("\r\n", "\n").replace("\r", "\n")
    if "```" in text or "~~~" in text:
        text = _without_fences(text)
    if "<!--" in text:
        text = _COMMENT.sub(lambda match: " " + "\n" * match[0].count("\n"), text)
    if "\n    " in text or "\n\t" in text or text.startswith(("    ", "\t")):
        text = _without_indented_code(text)
    if "`" not in text:
        return text
    return "".join(_drop_spans(part) if "`" in part else part for part in _PARAGRAPHS.split(text))


def without_quotes(text: str) -> str:
    """The text without the lines of block quotes; a note or a warning of GitHub's ("> [!NOTE]") is none.

    >>> without_quotes("> yours\\nmine")
    '\\nmine'
    """
    if ">" not in text:
        return text
    kept = []
    alert = False
    for line in text.split("\n"):
        quoted = _QUOTE.match(line)
        alert = quoted is not None and (alert or _ALERT.match(line) is not None)
        kept.append(line[quoted.end() :] if quoted and alert else "" if quoted else line)
    return "\n".join(kept)


def _without_indented_code(text: str) -> str:
    """Four spaces make code after an empty line, but not below an item of a list, whose text they continue."""
    kept: list[str] = []
    blank, in_list, in_code = True, False, False
    for line in text.split("\n"):
        indented = line.startswith(("    ", "\t"))
        if not line.strip():
            blank = True
        elif indented and not in_list and (blank or in_code):
            in_code, line = True, ""
        else:
            in_list = _ITEM.match(line) is not None or (in_list and (not blank or line[0] in " \t"))
            blank = in_code = False
        kept.append(line)
    return "\n".join(kept)


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
