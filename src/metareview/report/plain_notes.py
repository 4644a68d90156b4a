"""Notes for a terminal: their Markdown read as the page reads it, and nothing of it left but the text.

Paragraphs flow, list items keep their bullets, quotes their `>`, code its lines behind a bar. HTML comments and the
tags that tools lay out their notes with are taken out; any other `<T>` is text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from html.parser import HTMLParser
from textwrap import dedent

from rich.cells import cell_len, set_cell_size

from metareview.report.names import clean, cut_at, printable
from metareview.report.page.notes import LONGEST, rendered
from metareview.report.terminal import broken

_BULLET, _QUOTE, _CODE = "• ", "> ", "│ "
# Code that is fenced, which stays as it is, or a comment.
_COMMENT = re.compile(r"(^ {0,3}(`{3,}+|~{3,}+).*?^ {0,3}\2[`~]*\s*?$)|<!--.*?(?:-->|\Z)", re.DOTALL | re.MULTILINE)
_TAGS = (
    "details|summary|b|i|u|s|em|strong|code|pre|br|hr|p|div|span|sub|sup|kbd|a|img|picture|source|h[1-6]|ul|ol|li"
    "|table|thead|tbody|tr|td|th|blockquote|samp|var|ins|del"
)
_TAG = re.compile(rf"</?(?:{_TAGS})(?:\s[^<>]{{0,500}})?/?>", re.IGNORECASE)
_BLOCKS = ("p", "li", "pre", "ul", "ol", "blockquote", "figcaption")


@dataclass(frozen=True, slots=True)
class _Block:
    """One paragraph, item or line of code, and what stands before its first line."""

    lead: str
    text: str
    code: bool = False


class _Reader(HTMLParser):
    """Takes apart the markup that `rendered` makes, which is ours and well formed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[_Block] = []
        self._text: list[str] = []
        self._leads: list[str] = []
        self._numbers: list[int | None] = []
        self._bullet = ""
        self._literal = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS:
            self._end()
        if tag in ("ul", "ol"):
            self._numbers.append(int(dict(attributes).get("start") or 1) if tag == "ol" else None)
        elif tag == "li":
            number = self._numbers[-1]
            self._bullet = _BULLET if number is None else f"{number}. "
            self._numbers[-1] = None if number is None else number + 1
            self._leads.append(" " * len(self._bullet))
        elif tag == "blockquote":
            self._leads.append(_QUOTE)
        elif tag == "code":
            self._literal += 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre":
            self._end_code()
        elif tag in _BLOCKS:
            self._end()
        if tag in ("ul", "ol"):
            self._numbers.pop()
        elif tag in ("li", "blockquote"):
            self._leads.pop()
        elif tag == "code":
            self._literal -= 1

    def handle_data(self, text: str) -> None:
        self._text.append(text if self._literal else _TAG.sub(" ", text))

    def _lead(self) -> str:
        lead, self._bullet = "".join(self._leads), self._bullet
        if self._bullet:
            lead = lead[: len(lead) - len(self._bullet)] + self._bullet
            self._bullet = ""
        return lead

    def _end(self) -> None:
        text = " ".join("".join(self._text).split())
        self._text.clear()
        if text:
            self.blocks.append(_Block(self._lead(), text))

    def _end_code(self) -> None:
        lines = dedent("".join(self._text).expandtabs(4)).split("\n")
        self._text.clear()
        self.blocks += [_Block(self._lead(), line.rstrip(), code=True) for line in lines if line.strip()]


def _blocks(text: str) -> list[_Block]:
    reader = _Reader()
    reader.feed(rendered(_COMMENT.sub(r"\1", clean(text[: 2 * LONGEST]))[:LONGEST]))
    reader.close()
    reader._end()
    return reader.blocks


def note_lines(text: str, width: int, most: int) -> list[str]:
    """The note in at most so many lines of this width; one that is cut ends in `…`."""
    lines: list[str] = []
    for block in _blocks(text):
        lines += _laid_out(block, width)
        if len(lines) > most:
            return _cut(lines, width, most)
    return lines if len(text) <= LONGEST else _cut(lines, width, most)


def _laid_out(block: _Block, width: int) -> list[str]:
    lead = block.lead + (_CODE if block.code else "")
    rest = lead if block.code else "".join(each if each == ">" else " " for each in block.lead)
    room = max(width - len(lead), 8)
    text = printable(block.text)
    if block.code:
        return [lead + cut_line(text, room)]
    return [(lead if at == 0 else rest) + line for at, line in enumerate(broken(text, room))]


def _cut(lines: list[str], width: int, most: int) -> list[str]:
    *whole, last = lines[:most] or [""]
    return [*whole, cut_line(last.rstrip(" .,;:…") + "…", width)]


def cut_line(text: str, width: int) -> str:
    """The text, or as much of it as fits, ended by `…`: behind a word, if one ends not too far back."""
    if cell_len(text) <= width:
        return text
    kept = set_cell_size(text, width - 1)
    return kept[: cut_at(kept, len(kept))].rstrip(" …") + "…"


def one_line_note(text: str) -> str:
    """All of the note as one line, for a format that has no lines to spare."""
    return " ".join(block.text.strip() for block in _blocks(text))
