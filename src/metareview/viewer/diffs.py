"""Code and changes as a page shows them: added and removed lines by class, and never more than can be read."""

from __future__ import annotations

import re

from metareview.model.words import plural
from metareview.report.page.blocks import name
from metareview.report.page.markup import Html, html, join, link

MOST_LINES, MOST_CHARACTERS, _LONGEST_LINE = 400, 40_000, 1_000
_BOX = '<pre class="{}" role="group" tabindex="0" aria-label="{}">{}</pre>\n'
_LINE = '<span class="{}">{}\n</span>'
_KINDS = {"+": "added", "-": "removed", "@": "hunk", "[": "hunk", "=": "file"}
"""By the first character of a line; whatever else begins one is as it was."""
_GITHUB = re.compile(r"(https://github\.com/[A-Za-z0-9-]+/[A-Za-z0-9._-]+)/pull/[0-9]+(?:[/?#].*)?")
_HASH = re.compile(r"[0-9a-fA-F]{7,64}")
_SHOWN_HASH = 10


def diff(text: str, label: str = "The later change") -> Html:
    """A change: `+` and `-` stay, so that colour is not all that tells them apart."""
    lines, rest = _cut(text)
    body = [html(_LINE, _KINDS.get(line[:1], "same"), line) for line in lines]
    return join([html(_BOX, "diff", label, body), rest])


def code(text: str, label: str = "The lines that it points at") -> Html:
    lines, rest = _cut(text)
    return join([html(_BOX, "code", label, "\n".join(lines)), rest])


def _cut(text: str) -> tuple[list[str], Html | None]:
    """The lines that are shown, and a remark on those that are not."""
    beginning = text[:MOST_CHARACTERS]
    lines = beginning.split("\n")
    more = max(len(lines) - MOST_LINES, 0) + text.count("\n", MOST_CHARACTERS)
    shown = [line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} […]" for line in lines[:MOST_LINES]]
    if not more and len(text) == len(beginning):
        return shown, None
    left = plural(more, "more line") if more else "the end of it"
    return shown, html('<p class="muted fine">Cut here: {} in the run’s files.</p>\n', left)


def commit(pr: str, sha: str) -> Html:
    """The hash of a commit, with a link where the pull request is one of GitHub's and the hash is one."""
    shown = name(sha[:_SHOWN_HASH])
    found = _GITHUB.fullmatch(pr)
    if found is None or not _HASH.fullmatch(sha):
        return html("<code>{}</code>", shown)
    return html("<code>{}</code>", link(f"{found[1]}/commit/{sha}", sha[:_SHOWN_HASH]))
