"""The collapsed sections of a body: each `<details>` with its `<summary>`, outside code blocks.

A body is hostile: everything here looks at each character a bounded number of times, and nothing recurses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

Span = tuple[int, int]
"""From here to there in a body, the end not included."""

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
"""What tools put before a heading. To Unicode the sign for information is a letter."""
_DEEPEST = 20
_MOST = 5_000
"""No tool nests deeper, or writes more sections; a body that does so is left as it is."""


@dataclass(frozen=True, slots=True)
class Section:
    """`<details><summary>…</summary>…</details>`. What is never closed ends with the body."""

    summary: str
    outside: Span
    """With its tags."""
    inside: Span
    """What is collapsed: behind the summary, up to the end."""
    parent: Section | None


def code_blocks(body: str) -> list[Span]:
    """The fenced code blocks, in order; one that is never closed goes on to the end."""
    blocks: list[Span] = []
    opened = None
    for fence in _FENCE.finditer(body):
        marks, rest = fence[1], fence[2]
        if opened is None:
            if "`" not in rest:  # else it is code within a line
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


@dataclass(slots=True)
class _Open:
    start: int
    parent: _Open | None
    summary_from: int | None = None
    summary: str | None = None
    inside: int = 0
    inside_end: int = 0
    end: int = 0


def sections(body: str) -> list[Section]:
    """All sections in the order in which they begin; none where a body has more of them than any tool writes."""
    found: list[_Open] = []
    stack: list[_Open] = []
    too_deep = 0
    for tag in outside(code_blocks(body), _TAG.finditer(body)):
        closes, name = bool(tag[1]), tag[2].casefold()
        top = stack[-1] if stack else None
        if name == "summary":
            if top is None or too_deep:
                continue
            if not closes and top.summary_from is None:
                top.summary_from = tag.end()
            elif closes and top.summary is None and top.summary_from is not None:
                top.summary, top.inside = body[top.summary_from : tag.start()], tag.end()
        elif not closes:
            if len(stack) >= _DEEPEST:
                too_deep += 1
                continue
            stack.append(_Open(tag.start(), top, inside=tag.end()))
            found.append(stack[-1])
            if len(found) > _MOST:
                return []
        elif too_deep:
            too_deep -= 1
        elif top is not None:
            top.inside_end, top.end = tag.start(), tag.end()
            stack.pop()
    made: dict[int, Section] = {}
    for each in found:
        parent = None if each.parent is None else made[each.parent.start]
        inside_end, end = (each.inside_end, each.end) if each.end else (len(body), len(body))
        made[each.start] = Section(
            each.summary or "", (each.start, end), (min(each.inside, inside_end), inside_end), parent
        )
    return list(made.values())


def by_parent(sections: Iterable[Section]) -> dict[int, list[Section]]:
    """The sections that stand directly in another, by where that begins."""
    nested: dict[int, list[Section]] = {}
    for section in sections:
        if section.parent:
            nested.setdefault(section.parent.outside[0], []).append(section)
    return nested


def without_comments(text: str) -> str:
    """The text without `<!-- … -->`; what is never closed stays."""
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
    """The text without as many levels of `> ` at the beginning of its lines."""
    lines = []
    for line in text.split("\n"):
        at = 0
        for _ in range(depth):
            if not (mark := _QUOTE.match(line, at)):
                break
            at = mark.end()
        lines.append(line[at:])
    return "\n".join(lines)
