"""The collapsed sections of a body: each `<details>` with its `<summary>`, outside code blocks.

Bodies may be hostile: every function looks at each character a bounded number of times, and none recurses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

Span = tuple[int, int]
"""Start and end in a body, the end not included."""

_TAG = re.compile(r"<(/?)(details|summary)\b[^<>]*>", re.IGNORECASE)
_FENCE = re.compile(r"^[> \t]*(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_MARKUP = re.compile(
    r"</?(?:a|b|blockquote|br|code|details|em|h[1-6]|hr|i|img|kbd|li|ol|p|pre|span|strong|sub|summary|sup"
    r"|table|tbody|td|th|thead|tr|ul)\b[^<>]*>",
    re.IGNORECASE,
)
_BREAK = re.compile(r"<br\b[^<>]*>[ \t]*", re.IGNORECASE)
_CODE = re.compile(r"</?code\b[^<>]*>", re.IGNORECASE)
_BLANK = re.compile(r"\n[ \t]*\n\s*\n")
_QUOTE = re.compile(r"[ \t]*>[ \t]?")
_ENTITIES = {"&nbsp;": " ", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&amp;": "&"}
MARKS = re.compile(r"^[\W_ℹ]+")
"""Marks that tools put before a heading. In Unicode, the information sign is a letter."""
_DEEPEST = 20
_MOST = 5_000
"""No tool nests deeper or writes more sections; a body with more is not split."""


@dataclass(slots=True)
class Section:
    """`<details><summary>…</summary>…</details>`. A section that is never closed ends with the body."""

    outside: Span
    """With its tags."""
    inside: Span
    """The collapsed text behind the summary."""
    parent: Section | None
    summary: str = ""
    summary_start: int | None = None
    has_summary: bool = False


def code_blocks(body: str) -> list[Span]:
    """The fenced code blocks, in order; one that is never closed ends with the body."""
    blocks: list[Span] = []
    opened = None
    for fence in _FENCE.finditer(body):
        marks, rest = fence[1], fence[2]
        if opened is None:
            if "`" not in rest:  # else it is inline code
                opened = fence
        elif marks[0] == opened[1][0] and len(marks) >= len(opened[1]) and not rest.strip():
            blocks.append((opened.start(), fence.end()))
            opened = None
    if opened is not None:
        blocks.append((opened.start(), len(body)))
    return blocks


def outside(spans: Iterable[Span], matches: Iterator[re.Match[str]]) -> Iterator[re.Match[str]]:
    """The matches that do not begin in one of the spans; both in order."""
    ahead = iter(spans)
    start, end = next(ahead, (-1, -1))
    for match in matches:
        while start >= 0 and end <= match.start():
            start, end = next(ahead, (-1, -1))
        if start < 0 or match.start() < start:
            yield match


def sections(body: str) -> list[Section]:
    """All sections in the order in which they begin; none where a body has more of them than any tool writes."""
    found: list[Section] = []
    stack: list[Section] = []
    too_deep = 0
    for tag in outside(code_blocks(body), _TAG.finditer(body)):
        closes, name = bool(tag[1]), tag[2].casefold()
        top = stack[-1] if stack else None
        if name == "details" and not closes:
            if len(stack) >= _DEEPEST:
                too_deep += 1
                continue
            if len(found) >= _MOST:
                return []
            stack.append(Section((tag.start(), len(body)), (tag.end(), len(body)), top))
            found.append(stack[-1])
        elif name == "details" and too_deep:
            too_deep -= 1
        elif top is None or too_deep:
            continue
        elif name == "details":
            top.outside, top.inside = (top.outside[0], tag.end()), (top.inside[0], tag.start())
            stack.pop()
        elif not closes and top.summary_start is None:
            top.summary_start = tag.end()
        elif closes and top.summary_start is not None and not top.has_summary:
            top.summary, top.has_summary = body[top.summary_start : tag.start()], True
            top.inside = tag.end(), top.inside[1]
    return found


def by_parent(sections: Iterable[Section]) -> dict[int, list[Section]]:
    """The direct subsections of each section, by its start."""
    nested: dict[int, list[Section]] = {}
    for section in sections:
        if section.parent:
            nested.setdefault(section.parent.outside[0], []).append(section)
    return nested


def without_comments(text: str) -> str:
    """The text without `<!-- … -->`; a comment that is never closed stays."""
    pieces, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        pieces.append(text[at:start])
        at = end + 3
    pieces.append(text[at:])
    return "".join(pieces)


def plain(markup: str) -> str:
    """The text of a piece of HTML: known tags left out, code in backticks, line breaks as spaces.

    >>> plain("Drops the <code>error</code> <br>and goes on")
    'Drops the `error` and goes on'
    """
    text = markup
    if "<" in markup:
        text = without_comments(markup)
        text = _BREAK.sub(lambda found: "" if found.start() and text[found.start() - 1].isspace() else " ", text)
        text = _MARKUP.sub("", _CODE.sub("`", text))
    for entity, character in _ENTITIES.items() if "&" in text else ():
        text = text.replace(entity, character)
    return _BLANK.sub("\n\n", text).strip()


def unquoted(text: str, depth: int) -> str:
    """The text without this many levels of `> ` at the beginning of its lines."""
    lines = []
    for line in text.split("\n"):
        at = 0
        for _ in range(depth):
            if not (mark := _QUOTE.match(line, at)):
                break
            at = mark.end()
        lines.append(line[at:])
    return "\n".join(lines)
