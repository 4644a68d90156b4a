"""The evidence of a run for a terminal: each entry a heading, the note, and beside or below it what came nearest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rich.cells import cell_len

from metareview.comparison.disagreement import Disagreement, Disagreements
from metareview.comparison.evidence import Evidence
from metareview.comparison.evidence_search import LISTS, ListName
from metareview.model.words import plural
from metareview.report.evidence_words import (
    Sides,
    about,
    found_in,
    marks,
    nothing_near,
    ordering,
    partner_title,
    raised,
    sides,
    title,
    verdict_words,
)
from metareview.report.names import capital, location, printable, pull_request_name
from metareview.report.numbers import count, rate
from metareview.report.plain_notes import cut_line, note_lines
from metareview.report.terminal import Heading, broken

OVERVIEW: tuple[ListName, ...] = ("missed", "noise", "near")
"""Of which an overview shows the first."""
OVERVIEW_TOP = 3
_WIDE = 150
"""From here on, a note and its partner stand side by side."""
_MOST_LINES, PARTNER_LINES, _REASON_LINES = 5, 4, 2
_GAP = 4


def evidence_lines(evidence: Evidence, width: int) -> Iterator[str]:
    """The lists that were asked for, one after the other."""
    for number, (name, entries) in enumerate(evidence.lists.items()):
        if number:
            yield ""
        yield from titled(f"{title(name, evidence)}{shown_of(len(entries), evidence.counts[name])}", width)
        if len(entries) > 1:
            yield from broken(printable(f"({ordering(name, evidence)})"), width)
        for position, entry in enumerate(entries, 1):
            yield ""
            yield from _entry(position, sides(name, entry), evidence, width)


def overview_lines(evidence: Evidence, width: int) -> Iterator[str]:
    """How much there is of each list, and how to see it; then the first entries of the three that matter most."""
    for name in LISTS:
        lead = f"{count(evidence.counts[name]):>7}  {'--' + name:<13}"
        for at, line in enumerate(broken(_what(name, evidence), max(width - len(lead), 20))):
            yield (lead if at == 0 else " " * len(lead)) + line
    yield ""
    yield from evidence_lines(evidence, width)


def remarks(evidence: Evidence, overview: bool) -> Iterator[str]:
    """What the lists leave out."""
    prs, references = evidence.unreviewed
    if prs and (overview or "missed" in evidence.lists):
        yield (
            f"Not among the missed: {plural(references, 'reference')} of {plural(prs, 'pull request')} that no reviewer"
            " has a file for."
        )


def _what(name: ListName, evidence: Evidence) -> str:
    return printable(title(name, evidence).partition(": ")[2].partition(" ")[2])


def shown_of(shown: int, total: int) -> str:
    """How many entries of a list are shown, where not all are."""
    return f"; the first {'of them' if shown == 1 else count(shown)}" if shown < total else ""


def titled(text: str, width: int) -> Iterator[Heading]:
    """A title, in as many lines as it takes."""
    for line in broken(printable(text), width):
        yield Heading(line)


def _entry(position: int, each: Sides, evidence: Evidence, width: int) -> Iterator[str]:
    lead = f"{position}. "
    inside, indent = width - len(lead), " " * len(lead)
    yield from _heading(lead, each, width, found_in(each, evidence))
    note = note_lines(each.main.comment.note, half(inside), _MOST_LINES)
    yield from (indented(indent, line) for line in beside(note, _partner(each, half(inside)), inside))
    if who := raised(each, evidence):
        yield from (indented(indent, line) for line in broken(printable(capital(who)), inside))


def _heading(lead: str, each: Sides, width: int, runs: Sequence[str] = ()) -> Iterator[Heading]:
    """`runs`: in how many of them it was found."""
    entry, comment = each.entry, each.main.comment
    whose = " · ".join(runs) if each.about_reference else f"by {entry.by}"
    parts = [pull_request_name(entry.pr), location(comment), " · ".join(about(comment)), whose]
    lines = packed([printable(part) for part in parts if part], width - len(lead))
    for number, line in enumerate(lines):
        yield Heading(indented(lead if number == 0 else " " * len(lead), line))


def packed(parts: Sequence[str], width: int) -> list[str]:
    """As many parts on a line as fit, so that a path is broken only where it is wider than the screen."""
    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]}  {part}" if lines else part
        if lines and cell_len(longer) <= width:
            lines[-1] = longer
        else:
            lines += _at_slashes(part, width)
    return lines


def _at_slashes(part: str, width: int) -> list[str]:
    """A path that is too wide is broken behind a slash, if it has one not too far back."""
    if cell_len(part) <= width or "/" not in part:
        return broken(part, width)
    lines = [""]
    for piece in re.split("(?<=/)", part):
        if lines[-1] and cell_len(lines[-1] + piece) > width:
            lines.append("")
        lines[-1] += piece
    return [each for line in lines for each in broken(line, width)]


def half(width: int) -> int:
    """The width of a column: half where there is room for two."""
    return (width - _GAP) // 2 if width >= _WIDE else width - 2


def beside(left: Sequence[str], right: Sequence[str], width: int) -> Iterator[str]:
    """The note, and its partner to the right, or else below it and further in."""
    if width < _WIDE:
        yield from left
        yield from ("  " + line for line in right)
        return
    column = half(width)
    for one, other in zip_longest(left, right, fillvalue=""):
        yield (one + " " * (column + _GAP - cell_len(one)) + other).rstrip()


def _partner(each: Sides, width: int) -> list[str]:
    """What the note was compared with: its place, the verdict, its own note, the reason."""
    verdict = each.entry.verdict
    if each.partner is None or verdict is None:
        return broken(f"({nothing_near(each)})", width)
    head = "; ".join([f"{partner_title(each)}: {verdict_words(verdict)}", *marks(each)])
    return [
        *broken(printable(capital(head)), width),
        *("  " + line for line in note_lines(each.partner.comment.note, width - 2, PARTNER_LINES)),
        *_reason(verdict.reason, width),
    ]


def _reason(reason: str, width: int) -> list[str]:
    text = " ".join(printable(reason[:1_000]).split())
    return _at_most(broken(f"({text})", width), _REASON_LINES, width) if text else []


def _at_most(lines: list[str], most: int, width: int) -> list[str]:
    return lines if len(lines) <= most else [*lines[: most - 1], cut_line(lines[most - 1], width - 2) + " …)"]


def indented(indent: str, line: str) -> str:
    """The line further in, without space at its end."""
    return (indent + line).rstrip()


def disagreement_lines(found: Disagreements, width: int) -> Iterator[str]:
    """How far the two judges agree, and the pairs on which they are widest apart."""
    compared = f"{plural(found.compared, 'pair')} that both {' and '.join(_judges(found))} decided"
    head = f"Disagreement: {count(found.differ)} of {compared}, kappa {rate(found.kappa)}"
    yield from titled(f"{head}{shown_of(len(found.entries), found.differ)}", width)
    if found.undecided:
        yield from broken(f"({plural(found.undecided, 'pair')} more that one of them left undecided)", width)
    if len(found.entries) > 1:
        yield from broken("(the widest difference of scores first)", width)
    for position, each in enumerate(found.entries, 1):
        yield ""
        yield from _disagreement(position, each, found, width)


def _judges(found: Disagreements) -> tuple[str, str]:
    """What to call them: by their names, and where these are equal by their runs."""
    first, second = found.judges
    return (
        (first, second) if first != second else (f"{first} ({found.first.label})", f"{second} ({found.second.label})")
    )


def _disagreement(position: int, each: Disagreement, found: Disagreements, width: int) -> Iterator[str]:
    lead = f"{position}. "
    inside, indent = width - len(lead), " " * len(lead)
    shown = sides("matched", each.entry)
    yield from _heading(lead, shown, width)
    note = note_lines(shown.main.comment.note, half(inside), _MOST_LINES)
    reference = shown.partner
    right = []
    if reference is not None:
        at = location(reference.comment)
        right = broken(printable(f"Reference, at {at}:" if at else "Reference:"), half(inside))
        right += ["  " + line for line in note_lines(reference.comment.note, half(inside) - 2, PARTNER_LINES)]
    yield from (indented(indent, line) for line in beside(note, right, inside))
    for judge, verdict in zip(_judges(found), (each.entry.verdict, each.second), strict=True):
        if verdict is not None:
            reason = " ".join(printable(verdict.reason[:1_000]).split())
            said = f"{printable(judge)}: {verdict_words(verdict)}" + (f" ({reason})" if reason else "")
            lines = _at_most(broken(said, inside), 1 + _REASON_LINES, inside)
            yield from (indented(indent, line) for line in lines)
