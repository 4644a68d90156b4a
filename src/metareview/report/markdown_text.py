"""Text from data in Markdown: it shows as itself, and neither acts nor tells anybody."""

from __future__ import annotations

import re

from metareview.report.names import clean

# What Markdown, its tables, links, emoji codes and lists, or HTML read as more than itself.
_ACTIVE = re.compile(r"[\\`*_{}\[\]()<>#|~&!:@$]|^[+-]|(?<=^\d)[.)](?=\s)")
# What a site turns into a link or a notice to somebody, even where it was written as an entity.
_LIVE = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=@)|(?<=#)(?=\d)|(?<=\bGH)(?=-\d)", re.IGNORECASE)
_BREAK = "\u200b"


def safe(text: object, longest: int = 300) -> str:
    """Text that shows as itself, on one line, shortened where it is very long."""
    line = " ".join(clean(str(text)).split())
    line = line if len(line) <= longest else line[:longest] + "…"
    return _ACTIVE.sub(lambda found: f"&#{ord(found[0])};", _LIVE.sub(_BREAK, line)).replace(_BREAK, "&#8203;")
