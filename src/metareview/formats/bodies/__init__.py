"""The bodies of reviews and of comments on the whole pull request: a tool's summary is split into its findings.

A body without a known layout stays whole. Of the others, everything that is neither a finding with a place nor the
tool's boilerplate is kept as the rest, so that no remark is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from metareview.formats.bodies import coderabbit, pr_agent
from metareview.formats.bodies.finding import Finding
from metareview.formats.bodies.sections import MARKS, Span, plain, sections, unquoted, without_comments
from metareview.model.comment import Comment

_QUOTES = 10


@dataclass(frozen=True, slots=True)
class Parts:
    """The findings of a body and the rest of its text; both are empty if it only announces other comments."""

    findings: tuple[Finding, ...]
    rest: str


def split(body: str, known_paths: Iterable[str] = ()) -> Parts:
    """Split a body. `known_paths` are files of the pull request, for links that name a file by its hash."""
    whole, body = body, body.replace("\r\n", "\n")
    of_agent = pr_agent.recognises(body)
    collapsed = sections(body) if of_agent or "<summary" in body else []
    if of_agent:
        found = list(pr_agent.findings(body, collapsed, known_paths))
        spans = [*(finding.span for finding in found), *pr_agent.categories(body)]
        return Parts(tuple(found), _rest(body, spans, pr_agent.BOILERPLATE, ()))
    if coderabbit.recognises(body, collapsed):
        found = list(coderabbit.findings(body, collapsed))
        spans = [*(finding.span for finding in found), *coderabbit.others(collapsed)]
        return Parts(tuple(found), _rest(body, spans, coderabbit.BOILERPLATE, coderabbit.headings(collapsed)))
    return Parts((), whole)


def comments_of(body: Comment, known_paths: Iterable[str] = ()) -> list[Comment]:
    """The findings of a body and the rest, a comment without a place; the body itself, if it is not a summary."""
    parts = split(body.note, known_paths)
    if not parts.findings:
        return [body] if parts.rest else []
    findings = [_comment(body, finding, number) for number, finding in enumerate(parts.findings, 1)]
    return [*findings, *([body.replace(note=parts.rest)] if parts.rest else ())]


def _comment(body: Comment, finding: Finding, number: int) -> Comment:
    """A finding as a comment of its own, without the reactions, which are to the whole body."""
    fields = {name: getattr(finding, name) for name in ("note", "path", "side", "category", "severity")}
    identity, meta = body.id and f"{body.id}-{number}", _in_section(finding.heading or "")
    first, last = finding.lines
    return body.replace(**fields, from_line=first, to_line=last, reactions=None, id=identity, meta=meta)


@lru_cache(maxsize=256)
def _in_section(heading: str) -> dict[str, object]:
    """Shared by all findings in sections of this name: there may be very many."""
    return {"section": heading}


def _rest(body: str, spans: Iterable[Span], boilerplate: re.Pattern[str], headings: Iterable[str]) -> str:
    """The lines outside the spans, without boilerplate and headings."""
    pieces, at = [], 0
    for start, end in sorted(spans):
        pieces.append(body[at:start])
        at = max(at, end)
    pieces.append(body[at:])
    known = {MARKS.sub("", heading) for heading in headings}
    lines = []
    for line in without_comments("\n".join(pieces)).split("\n"):
        text = MARKS.sub("", plain(unquoted(line, _QUOTES))) if line and not line.isspace() else ""
        if text and text not in known and not boilerplate.match(text):
            lines.append(line)
    return "\n".join(lines).strip()
