"""What the page of the job and the comment on the pull request say, from what the commands wrote for the page.

Their Markdown is safe already: whatever comes from data shows as itself. A comment needs one thing more. GitHub tells
another pull request of every comment that holds its address, so here addresses are plain text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from metareview import __version__
from metareview.action.narrow import narrow
from metareview.report.markdown_text import safe

if TYPE_CHECKING:
    from metareview.action.inputs import Inputs
    from metareview.action.measure import Measured

_SUBJECTS = {"comments": "Review comments", "outcomes": "What became of the comments"}
_ADDRESS = re.compile(r"https?://[^\s<>()|\[\]]+", re.IGNORECASE)
_SHA = re.compile(r"[0-9a-f]{40,64}", re.ASCII)
_RUN_ADDRESS = re.compile(r"https?://[A-Za-z0-9.:-]+/[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+/actions/runs/[0-9]+", re.ASCII)
_GATES = "**Gates**"
_EMPTY = re.compile(r"\n{3,}")
_PROBLEMS, _LONGEST_PROBLEM = 6, 1_000
_CUT = "… cut here, because it is too long for GitHub. The run has all of it."


@dataclass(frozen=True, slots=True)
class Page:
    """The same for the page of the job, and as a comment."""

    whole: str
    comment: str


def page_of(measured: Measured, inputs: Inputs | None) -> Page:
    """The answer on top: was a gate missed, is it better or worse; then the figures."""
    lines = [f"## {_title(measured, inputs)}", ""]
    if measured.sentence:
        lines += [f"**{safe(measured.sentence, _LONGEST_PROBLEM)}**", ""]
    if measured.remark:
        lines += [safe(measured.remark, _LONGEST_PROBLEM), ""]
    problems = [*measured.problems, *measured.missed]
    lines += [f"- {safe(problem, _LONGEST_PROBLEM)}" for problem in problems[:_PROBLEMS]]
    more = len(problems) - _PROBLEMS
    lines += [f"- … and {more} more", ""] if more > 0 else [""]
    comparison, gates_against = _without_gates(measured.comparison)
    figures, gates = _without_gates(measured.figures)
    lines += [*_comparison(comparison), "", *_spaced(figures), *_folded("All gates", [*gates, *gates_against])]
    whole = _EMPTY.sub("\n\n", "\n".join(lines)).rstrip("\n") + "\n"
    comment = _ADDRESS.sub(lambda found: safe(found[0]), whole)
    return Page(whole, f"{comment}\n{_origin()}\n")


def _comparison(paragraphs: Sequence[str]) -> list[str]:
    """Up to the end of the table and the line below; what made the difference can be unfolded."""
    table = next((i for i, each in enumerate(paragraphs) if each.startswith("|")), len(paragraphs))
    shown, rest = list(paragraphs[: table + 2]), paragraphs[table + 2 :]
    if shown:
        shown[0] = shown[0].removeprefix("**").removesuffix("**")  # one bold sentence on top is enough
    return [*_spaced(shown), *_folded("What made the difference", rest)]


def _without_gates(section: str) -> tuple[list[str], list[str]]:
    """The paragraphs of a section, and those on its gates, which can be unfolded because missed ones stand on top."""
    paragraphs = _paragraphs(section)
    gates = paragraphs.index(_GATES) if _GATES in paragraphs else len(paragraphs)
    return paragraphs[:gates], paragraphs[gates + 1 :]


def _paragraphs(section: str) -> list[str]:
    """Of a section without its heading, which the page's own says already; tables made for a narrow column."""
    first, _, rest = section.strip("\n").partition("\n")
    text = rest if first.startswith("#") else section
    found = [each for each in text.strip("\n").split("\n\n") if each.strip()]
    return [narrow(each) if each.startswith("|") else each.strip("\n") for each in found]


def _spaced(paragraphs: Sequence[str]) -> list[str]:
    return [line for paragraph in paragraphs for line in (paragraph, "")]


def _folded(title: str, paragraphs: Sequence[str]) -> list[str]:
    return [f"<details><summary>{title}</summary>", "", *_spaced(paragraphs), "</details>", ""] if paragraphs else []


def bounded(text: str, most: int, size: Callable[[str], int]) -> str:
    """The text, cut after a line where it is larger than it may be, with a remark; what it had opened is closed.

    >>> bounded("one\\ntwo\\n", 100, len)
    'one\\ntwo\\n'
    """
    if size(text) <= most:
        return text
    end = f"\n\n{_CUT}\n"
    left = most - size(end) - size("</details>\n")
    kept: list[str] = []
    for line in text.splitlines(keepends=True):
        left -= size(line)
        if left < 0:
            break
        kept.append(line)
    cut = "".join(kept)
    is_open = cut.count("<details>") > cut.count("</details>")
    return cut.rstrip("\n") + "\n" + ("</details>\n" if is_open else "") + end


def _title(measured: Measured, inputs: Inputs | None) -> str:
    subject = _SUBJECTS.get(inputs.command if inputs else "", "metareview")
    key = f" ({safe(inputs.key, 60)})" if inputs and inputs.key else ""
    missed = len(measured.missed)
    passed = measured.headline or ("all gates passed" if measured.gated else "measured")
    words = {
        0: ("✅", passed),
        2: ("❌", "could not be compared" if measured.figures else "could not be measured"),
        3: ("❌", "a gate was missed" if missed < 2 else f"{missed} gates were missed"),
        4: ("⚠️", "undecided"),
    }
    mark, state = words.get(measured.code, ("❌", f"metareview failed (exit {measured.code})"))
    return f"{mark} {subject}{key}: {state}"


def _origin() -> str:
    """Of which commit and build this is."""
    sha, server, repository = (os.environ.get(f"GITHUB_{name}", "") for name in ("SHA", "SERVER_URL", "REPOSITORY"))
    address = f"{server}/{repository}/actions/runs/{os.environ.get('GITHUB_RUN_ID', '')}"
    parts = [f"metareview {__version__}"]
    if _SHA.fullmatch(sha):
        parts.append(f"commit {sha[:7]}")
    if _RUN_ADDRESS.fullmatch(address):
        parts.append(f"[the build]({address})")
    return f"<sub>{' · '.join(parts)}</sub>"
