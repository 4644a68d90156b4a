"""PR-Agent's (Qodo Merge's) two summaries.

The reviewer guide links each focus area to its lines: `<a href='…#diff-HASHR12-R20'><strong>Title</strong></a>` and
their text, up to `</summary>`; the quoted code below is not part of it. GitHub's link has the file as a hash, which
gives the path only where the files of the pull request are known.

The code suggestions are a table of category, suggestion and impact; a suggestion is a collapsed section that names
`[src/cart.py [12-15]](…)`.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from urllib.parse import unquote

from metareview.formats.bodies.finding import Finding, line_numbers
from metareview.formats.bodies.sections import Section, Span, by_parent, code_blocks, outside, plain

_GUIDE, _SUGGESTIONS = "PR Reviewer Guide", "PR Code Suggestions"
_ANCHOR = r"<a\s+href=(?:'(?P<single>[^'<>\s]{1,2000})'|\"(?P<double>[^\"<>\s]{1,2000})\")[^<>]{0,200}>"
_TOKEN = re.compile(rf"(?P<anchor>{_ANCHOR})|</(?P<end>a|summary|td|details)>", re.IGNORECASE)
_DIFF = re.compile(
    r"#diff-(?P<hash>[0-9a-f]{32,64})(?P<side>[LR])(?P<first>[0-9]{1,10})(?:-[LR]?(?P<last>[0-9]{1,10}))?"
)
_BLOB = re.compile(
    r"/blob/(?P<ref>[^/?#]{1,250})/(?P<path>[^?#]{1,1000})(?:\?[^#]{0,200})?#L(?P<first>[0-9]{1,10})"
    r"(?:-L?(?P<last>[0-9]{1,10}))?"
)
_LINES = r"\[(?P<{0}>[0-9]{{1,10}})(?:-(?P<{1}>[0-9]{{1,10}}))?\]"
_NAMED = re.compile(
    r"^\[(?P<path>[^\n]{1,1000}?) " + _LINES.format("first", "last") + r"\]\([^\n]{0,2000}$"
    r"|>(?P<linked>[^\[\]<>\n]{1,1000}) " + _LINES.format("from", "to") + r"</a>",
    re.MULTILINE,
)
_CATEGORY = re.compile(r"<td rowspan=[\"']?[0-9]{1,4}[\"']?>(?P<name>[^\n]{1,200}?)</td>")
_IMPACT = re.compile(r"\s*</td>\s*<td[^<>]{0,60}>\s*+(?P<impact>[\w ]{1,20}?)\s*</td>")
_IMPORTANCE = re.compile(r"\s*Suggestion importance")
_APPLY = re.compile(r"^[ \t]*(?:- \[.\] [^\n]{0,200}|`\[To ensure[^\n]{0,200}|_{2,}[ \t]*)$", re.MULTILINE)
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
BOILERPLATE = re.compile(
    r"(?:PR Reviewer Guide|PR Code Suggestions|Here are some key observations|Explore these optional code suggestions"
    r"|Estimated effort to review|PR contains tests|No relevant tests|Relevant tests|No security concerns identified"
    r"|Recommended focus areas for review|Key issues to review|No major issues detected|No key issues|Score\b"
    r"|Latest suggestions up to|Previous suggestions|Suggestions up to commit|Category\s*Suggestion"
    r"|No code suggestions found|\(?Review updated until commit|Persistent review|More$|Tool usage guide)"
)
"""Beginnings of lines, behind any marks, without a finding."""


def recognises(body: str) -> bool:
    """Whether this is one of PR-Agent's two summaries, with findings or without."""
    return _GUIDE in body[:1000] or _SUGGESTIONS in body[:1000]


@lru_cache(maxsize=16)
def _by_hash(paths: frozenset[str]) -> dict[str, str]:
    """The paths by their hashes; cached for all bodies of a pull request."""
    return {hashlib.sha256(path.encode()).hexdigest(): path for path in paths}


def findings(body: str, sections: Sequence[Section], known_paths: Iterable[str]) -> Iterator[Finding]:
    """The findings that name their lines, in order."""
    if _SUGGESTIONS in body[:1000]:
        yield from _suggestions(body, sections)
    else:
        yield from _focus_areas(body, frozenset(known_paths))


def _focus_areas(body: str, paths: frozenset[str]) -> Iterator[Finding]:
    tokens = list(outside(code_blocks(body), _TOKEN.finditer(body)))
    places = [_place(token["single"] or token["double"], paths) if token["anchor"] else None for token in tokens]
    starts = [number for number, place in enumerate(places) if place]
    for number, until in pairwise([*starts, len(tokens)]):
        place, anchor = places[number], tokens[number]
        limit = tokens[until].start() if until < len(tokens) else len(body)
        found = _focus_area(body, anchor, tokens[number + 1 : until], limit)
        if place and found:
            (path, side, lines), (note, end) = place, found
            yield Finding((anchor.start(), end), note, path, lines, side, heading="Recommended focus areas for review")


def _focus_area(
    body: str, anchor: re.Match[str], tokens: Sequence[re.Match[str]], limit: int
) -> tuple[str, int] | None:
    """The note behind a link, and its end: that of the link's section, with the code that is quoted there."""
    ends = ((token, token["end"].casefold()) for token in tokens if token["end"])
    title_end = next((token for token, name in ends if name == "a"), None)
    if title_end is None:
        return None
    last, name = next(((token, name) for token, name in ends if name != "a"), (None, ""))
    text_end = last.start() if last else limit
    title = plain(body[anchor.end() : title_end.start()]).strip("* ")
    text = plain(body[title_end.end() : text_end])
    closing = next((token for token, name in ends if name == "details"), None) if name == "summary" else None
    note = f"{title}\n\n{text}".strip()
    return (note, closing.end() if closing else text_end) if text else None


def _place(address: str, paths: frozenset[str]) -> tuple[str | None, str | None, tuple[int, int]] | None:
    """Path, side and lines of a link into a diff or a file; the path is None if it cannot be known."""
    if found := _DIFF.search(address):
        lines = line_numbers(found["first"], found["last"])
        side = {"L": "LEFT", "R": "RIGHT"}[found["side"]]
        return (_by_hash(paths).get(found["hash"]), side, lines) if lines else None
    if found := _BLOB.search(address):
        lines = line_numbers(found["first"], found["last"])
        whole = unquote(f"{found['ref']}/{found['path']}")
        # A branch may have slashes in its name: then only a known path shows where it ends.
        ends = (whole[slash.end() :] for slash in re.finditer("/", whole))
        exact = unquote(found["path"]) if _COMMIT.fullmatch(found["ref"]) else None
        return (next((end for end in ends if end in paths), exact), None, lines) if lines else None
    return None


def _suggestions(body: str, sections: Sequence[Section]) -> Iterator[Finding]:
    categories = list(_CATEGORY.finditer(body))
    positions = [category.start() for category in categories]
    nested = by_parent(sections)
    for section in sections:
        if _is_wrapper(section) or (section.parent and not _is_wrapper(section.parent)):
            continue
        begin, end = section.inside
        named = _NAMED.search(body, begin, end)
        lines = line_numbers(named["first"] or named["from"], named["last"] or named["to"]) if named else None
        if not named or not lines:
            continue
        below = nested.get(section.outside[0], ())
        importance = next((each.outside[0] for each in below if _IMPORTANCE.match(each.summary)), end)
        cut = named.span() if named["path"] else (end, end)
        text = body[begin : min(cut[0], importance)] + body[cut[1] : max(importance, cut[1])]
        impact = _IMPACT.match(body, section.outside[1])
        row = bisect_left(positions, section.outside[0]) - 1
        note = f"{plain(section.summary)}\n\n{plain(_APPLY.sub('', text))}".strip()
        path = (named["path"] or plain(named["linked"])).strip("` ")
        category = plain(categories[row]["name"]) if row >= 0 else None
        end, severity = (impact.end(), impact["impact"]) if impact else (section.outside[1], None)
        yield Finding((section.outside[0], end), note, path, lines, None, category, severity, _SUGGESTIONS)


def _is_wrapper(section: Section) -> bool:
    """Suggestions for earlier commits are collapsed once more."""
    return plain(section.summary).casefold().startswith(("previous suggestions", "suggestions up to", "✅ suggestions"))


def categories(body: str) -> Iterator[Span]:
    """The cells that name the categories of suggestions."""
    return (category.span() for category in _CATEGORY.finditer(body))
