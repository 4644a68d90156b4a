"""Notes as their writers meant them: the part of Markdown that review comments use, and nothing that acts.

Paragraphs, code, lists, quotes, bold and italic become markup of ours. A link lives where `markup.link` finds its
address plain. HTML, images and whatever else a note may hold stay the text that they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from metareview.model.words import plural
from metareview.report.names import clean, cut_at
from metareview.report.page.blocks import remark
from metareview.report.page.markup import Html, html, link

SHOWN, FOLD_BELOW, LONGEST = 500, 700, 4_000
"""A note up to FOLD_BELOW characters is shown whole; of a longer one SHOWN, and the rest up to LONGEST behind a
click."""
_DEEPEST = 6
"""Lists in lists, bold in italic: as far as anybody goes on purpose."""
_NOTE = '<div class="note" dir="auto">{}</div>'
_FOLDED = (
    '<div class="note" dir="auto">{}</div><details><summary>The rest of this note ({})</summary>'
    '<div class="note" dir="auto">{}</div>{}</details>'
)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`]*)")
_ITEM = re.compile(r"( *)(?:[-*+]|(\d{1,9})[.)]) +(?=\S)")
_QUOTED = re.compile(r" {0,3}> ?")
_HEADING = re.compile(r" {0,3}#{1,6} +(?=\S)")
# Whatever may begin something inside a line.
_START = re.compile(r"\\[!-/:-@\[-`{-~]|`+|!?\[|<?https?://|(?<![\w*])\*{1,2}(?=\S)|(?<!\w)_(?=[^\s_])", re.IGNORECASE)
_CLOSING = {
    "**": re.compile(r"(?<=[^\s\\])\*\*(?!\*)"),
    "*": re.compile(r"(?<=[^\s\\*])\*(?![\w*])"),
    "_": re.compile(r"(?<=[^\s\\_])_(?!\w)"),
}
_LINK = re.compile(r"!?\[([^\[\]]{1,300})\]\((https?://[^\s()<>]{1,1000})\)", re.IGNORECASE)
_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)


def note(text: str) -> Html:
    """A note: folded where it is long, cut, with a remark, where it is huge."""
    text = clean(text).strip()
    if len(text) <= FOLD_BELOW:
        return html(_NOTE, rendered(text))
    cut, over = _fold(text), len(text) - LONGEST
    shown, rest = text[:cut].rstrip(), text[cut:LONGEST].strip("\n")
    fence = _open_fence(shown)
    hidden = rendered(f"{fence}\n{rest}" if fence else rest.lstrip())
    left = remark(f"Shortened: {plural(over, 'more character')}; the run has them all.") if over > 0 else None
    return html(_FOLDED, rendered(shown), plural(len(text) - cut, "character"), hidden, left)


def _fold(text: str) -> int:
    """Where to fold: between two paragraphs if some end near there, or else between lines, or else words."""
    between = text.rfind("\n\n", SHOWN // 2, FOLD_BELOW)
    between = between if between > 0 else text.rfind("\n", SHOWN // 2, SHOWN)
    return between if between > 0 else cut_at(text, SHOWN)


def _open_fence(text: str) -> str:
    """The line that opened the code which the text ends in; empty where it does not."""
    opened = ""
    for line in text.split("\n"):
        if opened:
            opened = "" if _closes(line, opened) else opened
        elif found := _FENCE.fullmatch(line):
            opened = found[0].strip()
    return opened


def rendered(text: str) -> Html:
    """The text as markup. What is no Markdown, or none that is known here, is shown as it was written."""
    return html("{}", list(_blocks(clean(text).split("\n"), _DEEPEST)))


def _blocks(lines: Sequence[str], depth: int) -> Iterator[Html]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
        elif fence := _FENCE.fullmatch(line):
            end = next((n for n in range(at + 1, len(lines)) if _closes(lines[n], fence[1])), len(lines))
            yield _code("\n".join(lines[at + 1 : end]), fence[2].strip())
            at = end + 1
        elif depth and _QUOTED.match(line):
            end = _end(lines, at, lambda other: bool(_QUOTED.match(other)))
            yield html(
                "<blockquote>{}</blockquote>", list(_blocks([_QUOTED.sub("", x, 1) for x in lines[at:end]], depth - 1))
            )
            at = end
        elif depth and (item := _ITEM.match(line)):
            items, at = _items(lines, at, depth)
            number = html('<ol start="{}">{}</ol>', item[2], items) if item[2] else html("<ul>{}</ul>", items)
            yield number
        elif heading := _HEADING.match(line):
            yield html("<p><strong>{}</strong></p>", _inline(line[heading.end() :].rstrip("# "), depth))
            at += 1
        else:
            end = _end(lines, at, lambda other: not _begins_block(other))
            yield html("<p>{}</p>", _inline("\n".join(lines[at:end]).strip(), depth))
            at = end


def _begins_block(line: str) -> bool:
    starts = (_FENCE.fullmatch, _QUOTED.match, _ITEM.match, _HEADING.match)
    return not line.strip() or any(start(line) for start in starts)


def _end(lines: Sequence[str], start: int, belongs: Callable[[str], bool]) -> int:
    """The first line after `start` that does not belong."""
    return next((n for n in range(start + 1, len(lines)) if not belongs(lines[n])), len(lines))


def _closes(line: str, fence: str) -> bool:
    marks = line.strip()
    return len(marks) >= 3 and set(marks) == {fence.strip()[0]} and fence.startswith(marks[:3])


def _code(text: str, language: str) -> Html:
    title = html("<figcaption>Suggested change</figcaption>") if language == "suggestion" else None
    return html('<figure class="code">{}<pre><code>{}</code></pre></figure>', title, text)


def _items(lines: Sequence[str], at: int, depth: int) -> tuple[list[Html], int]:
    """The items of one list, each with the lines that are indented further, and the line after it."""
    first = _ITEM.match(lines[at])
    indent = len(first[1]) if first else 0
    items: list[Html] = []
    while at < len(lines) and (item := _ITEM.match(lines[at])) and len(item[1]) == indent:
        end = at + 1
        while end < len(lines) and (_depth(lines[end]) > indent or not _begins_block(lines[end])):
            end += 1
        if end + 1 < len(lines) and not lines[end].strip() and _depth(lines[end + 1]) > indent:
            end = _end(lines, end, lambda line: not line.strip() or _depth(line) > indent)
        inside = [lines[at][item.end() :], *(_dedented(line, item.end()) for line in lines[at + 1 : end])]
        items.append(html("<li>{}</li>", list(_blocks(inside, depth - 1))))
        at = end
        if at + 1 < len(lines) and not lines[at].strip() and _ITEM.match(lines[at + 1]):
            at += 1
    return items, at


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" ")) if line.strip() else 0


def _dedented(line: str, most: int) -> str:
    return line[min(_depth(line), most) :]


def _inline(text: str, depth: int) -> list[object]:
    """Text, code, emphasis and links; `depth`: how many more may be inside each other."""
    parts: list[object] = []
    at = 0
    while found := _START.search(text, at):
        parts.append(text[at : found.start()])
        part, at = _one(text, found, depth)
        parts.append(part)
    return [*parts, text[at:]]


def _one(text: str, found: re.Match[str], depth: int) -> tuple[object, int]:
    """What begins at the match, and where it ends; the match itself, as text, where it is no more than that."""
    start, end, marks = found.start(), found.end(), found[0]
    if marks[0] == "\\":
        return marks[1], end
    if marks[0] == "`":
        close = re.compile(f"(?<!`){marks}(?!`)").search(text, end)
        return (html("<code>{}</code>", text[end : close.start()].strip()), close.end()) if close else (marks, end)
    if marks[-1] == "[":
        known = _LINK.match(text, start)
        return (link(known[2], known[1]), known.end()) if known else (marks, end)
    if marks[0] in "*_":
        close_at = _closing(text, marks, end)
        if not depth or close_at is None:
            return marks, end
        kind = "strong" if len(marks) == 2 else "em"
        return html("<{k}>{}</{k}>", _inline(text[end:close_at], depth - 1), k=kind), close_at + len(marks)
    if address := _ADDRESS.match(text, start + (marks[0] == "<")):
        url = address[0].rstrip(".,;:!?'\"*_`>")
        url = url.rstrip(")]") if url.count("(") < url.count(")") or url.count("[") < url.count("]") else url
        skipped = marks[0] == "<" and text[address.start() + len(url) :][:1] == ">"
        before = "" if skipped or marks[0] != "<" else "<"
        return [before, link(url, url)], address.start() + len(url) + skipped
    return marks, end


def _closing(text: str, marks: str, start: int) -> int | None:
    """Where emphasis ends, if it does."""
    closed = _CLOSING[marks].search(text, start + 1)
    # `_name_` and `__init__` are names: nobody would thank us for their underscores.
    return None if closed is None or (marks == "_" and " " not in text[start : closed.start()]) else closed.start()
