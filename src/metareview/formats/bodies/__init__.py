"""The bodies of reviews and of comments on the whole pull request: a tool's summary is split into its findings.

What is not a finding at a known place stays: a body of no known layout whole, of a known one whatever is left of it
but the tool's own furniture. Nothing that somebody said gets lost.
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
    """The findings of a body, and whatever else it says; neither, if it only announces what stands elsewhere."""

    findings: tuple[Finding, ...]
    rest: str


def split(body: str, known_paths: Iterable[str] = ()) -> Parts:
    """The parts of a body. `known_paths`: files of the pull request, for links that name a file by its hash."""
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
    """What a body says: its findings, and the rest as a comment without a place; itself, if it is no tool's summary."""
    parts = split(body.note, known_paths)
    if not parts.findings:
        return [body] if parts.rest else []
    findings = [_comment(body, finding, number) for number, finding in enumerate(parts.findings, 1)]
    return [*findings, *([body.replace(note=parts.rest)] if parts.rest else ())]


def _comment(body: Comment, finding: Finding, number: int) -> Comment:
    """A finding as a comment of its own; reactions were given to the whole, and say nothing of it."""
    first, last = finding.lines
    return body.replace(
        note=finding.note,
        path=finding.path,
        side=finding.side,
        from_line=first,
        to_line=last,
        category=finding.category,
        severity=finding.severity,
        reactions=None,
        id=body.id and f"{body.id}-{number}",
        meta=_in_section(finding.heading or ""),
    )


@lru_cache(maxsize=256)
def _in_section(heading: str) -> dict[str, object]:
    """One object for the findings of all sections of this name: there may be very many."""
    return {"section": heading}


def _rest(body: str, spans: Iterable[Span], boilerplate: re.Pattern[str], headings: Iterable[str]) -> str:
    """The lines outside the spans that say something."""
    pieces, at = [], 0
    for start, end in sorted(spans):
        pieces.append(body[at:start])
        at = max(at, end)
    pieces.append(body[at:])
    known = {MARKS.sub("", heading) for heading in headings}
    lines = []
    for line in without_comments("\n".join(pieces)).split("\n"):
        said = MARKS.sub("", plain(unquoted(line, _QUOTES))) if line and not line.isspace() else ""
        if said and said not in known and not boilerplate.match(said):
            lines.append(line)
    return "\n".join(lines).strip()
