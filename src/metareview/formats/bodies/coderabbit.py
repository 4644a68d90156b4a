"""CodeRabbit's review bodies: a collapsed section per kind of comment, in it one per file, in it a block per finding.

    **Actionable comments posted: 2**
    <details><summary>🧹 Nitpick comments (1)</summary><blockquote>
    <details><summary>src/cart.py (1)</summary><blockquote>

    `12-15`: **Name the unit.**

    Readers of `timeout` cannot tell seconds from milliseconds.

    </blockquote></details>
    </blockquote></details>

Comments outside the diff are in a quoted box, each line behind `>`. Newer ones have category and severity behind the
lines: `_🎯 Functional Correctness_ | _🟡 Minor_`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from metareview.formats.bodies.finding import Finding, line_numbers
from metareview.formats.bodies.sections import (
    MARKS,
    Section,
    Span,
    by_parent,
    code_blocks,
    outside,
    plain,
    unquoted,
    without_comments,
)

_ANNOUNCEMENT = re.compile(r"^\W{0,10}Actionable comments posted: ?[0-9]", re.MULTILINE)
_KIND = re.compile(r"(?P<kind>[^\W\d_][\w &/-]{0,60})\([0-9]+\)\W*$")
_FILE = re.compile(r"(?P<path>\S.{0,1000})\s\([0-9]+\)")
_BLOCK = re.compile(
    r"^(?P<quotes>[> \t]*)(?:`L?(?P<first>[0-9]{1,10})(?:[-–]L?(?P<last>[0-9]{1,10}))?`(?:, ?`[0-9–-]{1,21}`){0,20}"
    r"|(?P<bare>[0-9]{1,10})-(?P<bare_last>[0-9]{1,10})):",
    re.MULTILINE,
)
_ENDINGS = ("</blockquote>", "<blockquote>", "---")
_LABELS = re.compile(r"[ \t]*_[^_\n|]{1,80}_[ \t]*(?:\|[ \t]*_[^_\n|]{1,80}_[ \t]*){0,5}(?=\n|\Z)")
_SEVERITIES = {"critical", "major", "minor", "trivial", "info"}
_EFFORTS = {"quick win", "heavy lift", "low value", "high value"}
_NOT_FINDINGS = (
    *("additional comments", "review details", "review info", "recent review", "prompt for ", "finishing touches"),
    *("fix all issues with ai agents", "walkthrough", "files selected", "commits", "tips", "thanks for using"),
)
BOILERPLATE = re.compile(
    r"Actionable comments posted: ?[0-9]|(?:CAUTION|NOTE|WARNING|TIP|IMPORTANT)\]|Some comments are outside the diff"
    r"|Review continued from previous batch|Due to the large number of review comments"
)
"""Beginnings of lines, behind any marks, without a finding."""


def recognises(body: str, sections: Sequence[Section]) -> bool:
    """Whether this is a review by CodeRabbit, with findings or without."""
    announced = any(True for _ in outside(code_blocks(body), _ANNOUNCEMENT.finditer(body)))
    return announced or any(_kind(section) for section in sections)


def _kind(section: Section) -> str | None:
    """The kind of a section's comments, such as `Nitpick comments`; None for other sections."""
    title = plain(section.summary[:300])
    found = _KIND.search(title)
    kind = found["kind"].strip() if found else ""
    name = kind.casefold().removesuffix(" failed to post")
    return kind if name.endswith(("comments", "comment")) and not _is_other(kind) else None


def _is_other(title: str) -> bool:
    return title.casefold().startswith(_NOT_FINDINGS)


def others(sections: Sequence[Section]) -> Iterator[Span]:
    """The sections without findings: settings, instructions for agents, praise."""
    for section in sections:
        if _is_other(MARKS.sub("", plain(section.summary[:300]))):
            yield section.outside


def headings(sections: Sequence[Section]) -> Iterator[str]:
    """The summaries of the sections with findings."""
    for section in sections:
        if _kind(section) or (section.parent and _kind(section.parent)):
            yield plain(section.summary)


def findings(body: str, sections: Sequence[Section]) -> Iterator[Finding]:
    """The findings in the sections of files, in order."""
    blocks, nested = code_blocks(body), by_parent(sections)
    for section in sections:
        heading = _kind(section.parent) if section.parent else None
        named = _FILE.fullmatch(plain(section.summary[:1100])) if heading else None
        if heading and named:
            begin, end = section.inside
            code = blocks[bisect_left(blocks, (begin, 0)) : bisect_left(blocks, (end, 0))]
            hidden = sorted([*code, *(each.outside for each in nested.get(section.outside[0], ()))])
            yield from _of_file(body, section, hidden, named["path"].strip("` "), heading)


def _of_file(body: str, section: Section, hidden: list[Span], path: str, heading: str) -> Iterator[Finding]:
    begin, end = section.inside
    bare = heading.casefold().endswith("failed to post")
    matches = outside(hidden, _BLOCK.finditer(body, begin, end))
    starts = [match for match in matches if bare or match["first"]]
    ends = [*(match.start() for match in starts[1:]), end]
    for block, until in zip(starts, ends, strict=False):
        lines = line_numbers(block["first"] or block["bare"], block["last"] or block["bare_last"])
        text = without_comments(unquoted(body[block.end() : until], block["quotes"].count(">")))
        labels = _LABELS.match(text)
        note = _without_ending(text[labels.end() if labels else 0 :])
        if lines and note:
            category, severity = _labels(labels[0] if labels else "")
            if category is None and heading.casefold().startswith("nitpick"):
                category = "Nitpick"
            yield Finding((block.start(), until), note, path, lines, None, category, severity, heading)


def _without_ending(text: str) -> str:
    """The text without the marks between two blocks, or at the end of a file's section."""
    end = len(text)
    while end:
        if text[end - 1].isspace():
            end -= 1
        elif mark := next((each for each in _ENDINGS if text.endswith(each, 0, end)), None):
            end -= len(mark)
        else:
            break
    return text[:end].lstrip()


def _labels(line: str) -> tuple[str | None, str | None]:
    """Category and severity of `_⚠️ Potential issue_ | _🟡 Minor_ | _⚡ Quick win_`."""
    words = [re.sub(r"^[\W_]+|[\W_]+$", "", part) for part in line.split("|")]
    severity = next((word for word in words if word.casefold() in _SEVERITIES), None)
    kinds = (word for word in words if word and word.casefold() not in _SEVERITIES | _EFFORTS)
    return next(kinds, None), severity
