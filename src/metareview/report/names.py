"""What things are called, and text from data as the formats can hold it: the same everywhere."""

from __future__ import annotations

import re

from metareview.model.address import parse_address
from metareview.model.comment import Comment

# Illegal in XML 1.0, and of no use in HTML or in a spreadsheet: controls, half characters, non-characters.
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
# Embeddings, overrides, isolates and marks turn the text around them: "user" can be made to read "resu". The separators
# begin a line where nobody expects one.
_ACTING = re.compile("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
OBEYED_IN_JSON = re.compile(f"[\x7f-\x9f{_ACTING.pattern[1:]}")
"""What acts in a terminal, and what JSON has not escaped already."""
# Characters that nobody sees.
_UNSEEN = re.compile("[\u2060-\u2064\u206a-\u206f\ufeff\U000e0000-\U000e007f]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def clean(text: str) -> str:
    """The text as every format may show it.

    Illegal characters become U+FFFD, line ends `\\n`; what turns the direction of text or ends a line unseen is written
    out, as `[U+202E]`; what cannot be seen is taken out.
    """
    text = _ILLEGAL.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _UNSEEN.sub("", _ACTING.sub(lambda found: f"[U+{ord(found[0]):04X}]", text))


def printable(text: str) -> str:
    """One clean line without control characters: text from a file must not drive the terminal."""
    return _CONTROL.sub("\ufffd", clean(text))


def capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def in_words(key: str) -> str:
    return key.replace("_", " ")


def excerpt(text: str, most: int = 160) -> str:
    """The beginning of a note on one line, cut at a space if there is one not too far back."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else line[: cut_at(line, most)].rstrip() + "…"


def cut_at(text: str, most: int) -> int:
    """Where to cut a text so that at most so many characters are left."""
    space = max(text.rfind(" ", 0, most), text.rfind("\n", 0, most))
    return space if space > most * 0.7 else most


def pull_request_name(url: str) -> str:
    """`owner/repo#5` for the address of a pull request, the address itself for anything else."""
    address = parse_address(url)
    return f"{address.repository}#{address.number}" if address else url


def location(comment: Comment) -> str:
    """Where a comment points: `src/a.py:3–4`, or `src/a.py:3 (left)` with the side where it is the old one."""
    known = [str(line) for line in (comment.from_line, comment.to_line) if line is not None]
    lines = ":" + "–".join(dict.fromkeys(known)) if known else ""
    old = f" ({comment.side})" if comment.side and comment.side.casefold() != "right" else ""
    return f"{comment.path or ''}{lines}{old}"
