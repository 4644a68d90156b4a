"""SARIF's message strings: placeholders, doubled braces, and links to locations of the result."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([0-9]{1,6})\}")
# A link to a numbered location or a place in the log means nothing outside the log: only its text is kept.
# An escaped bracket begins no link, so that no text is searched twice.
_LINK = re.compile(r"(?<!\\)\[((?:\\[\\\[\]]|[^\\\[\]])*)\]\((?:[0-9]+|sarif:[^()\s]*)\)")
_ESCAPED = re.compile(r"\\([\\\[\]])")


def message_text(template: str, arguments: Sequence[str] = ()) -> str:
    """The text of a message string, as a report shows it.

    >>> message_text("[{0}](1) is used as {{key}}", ["user[0]"])
    'user[0] is used as {key}'
    """
    if "](" in template:
        template = _LINK.sub(lambda link: _ESCAPED.sub(r"\1", link[1]), template)
    if "{" not in template and "}" not in template:
        return template
    if not arguments and any(brace in _PLACEHOLDER.sub("", template) for brace in "{}"):
        return template  # Its tool does not double braces.

    def value(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0][0]
        position = int(found[1])
        return arguments[position] if position < len(arguments) else found[0]

    return _PLACEHOLDER.sub(value, template)


def message_template(text: str) -> str:
    """The message string for a text; links in it are not escaped."""
    return text.replace("{", "{{").replace("}", "}}")
