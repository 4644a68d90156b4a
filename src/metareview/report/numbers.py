"""Figures as people read them, the same in every format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from metareview.comments import measures
from metareview.model.address import pull_request_key
from metareview.model.words import plural as plural

NOT_DEFINED = "n/a"

SHORT_NAMES = {**measures.SHORT_NAMES, "false_positive_rate": "rejected"}
"""The words of the reports for the metrics of the summary; short enough for a column's head."""


def rate(value: float | None) -> str:
    return NOT_DEFINED if value is None else f"{value:.3f}"


def span(interval: Sequence[float] | None) -> str:
    """
    >>> span([0.25, 0.5])
    '0.250–0.500'
    """
    return NOT_DEFINED if interval is None else f"{interval[0]:.3f}–{interval[1]:.3f}"


def count(value: int | None) -> str:
    return NOT_DEFINED if value is None else f"{value:,}"


def capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def p_value(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def duration(seconds: float | None) -> str:
    """
    >>> duration(90), duration(5400), duration(200_000)
    ('1.5 min', '1.5 h', '2.3 d')
    """
    if seconds is None:
        return NOT_DEFINED
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def ranked(reviewers: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The reviewers, best F1 first, ties by name; one whose F1 is null comes last."""

    def worth(name: str) -> tuple[float, str]:
        f1 = reviewers[name]["metrics"]["f1"]
        return (-1.0 if f1 is None else f1) * -1, name

    return sorted(reviewers, key=worth)


def pull_request_name(url: str) -> str:
    """`owner/repo#5` for the address of a pull request, the address itself for anything else.

    >>> pull_request_name("https://github.com/Owner/Repo/pull/5")
    'Owner/Repo#5'
    """
    _, slash, name = pull_request_key(url).partition("/")
    repository, sharp, number = name.rpartition("#")
    start = url.lower().find(repository)
    if not slash or not sharp or start < 0:
        return url
    return f"{url[start : start + len(repository)]}#{number}"


def place(comment: Mapping[str, Any]) -> str:
    """Where a comment points: `src/a.py:3–4`, with the side where it is the old one.

    >>> place({"path": "a.py", "side": "left", "from_line": 3, "to_line": 3})
    'a.py:3 (left)'
    """
    start, end = comment.get("from_line"), comment.get("to_line")
    if start is None and end is None:
        lines = ""
    elif start is None or end is None or start == end:
        lines = f":{start if start is not None else end}"
    else:
        lines = f":{start}–{end}"
    side = str(comment.get("side") or "")
    old = f" ({side})" if side and side.casefold() != "right" else ""
    return f"{comment.get('path') or ''}{lines}{old}"


def ranked_routers(summary: Mapping[str, Any]) -> list[str]:
    """Best MRR first, ties by name."""
    routers: Mapping[str, Mapping[str, Any]] = summary["routers"]
    return sorted(routers, key=lambda router: (-(routers[router]["mrr"] or 0.0), router))


def hit_names(summary: Mapping[str, Any]) -> list[str]:
    """`hit@1`, `hit@3` …, those that the run has."""
    first: Mapping[str, Any] = next(iter(summary["routers"].values()), {})
    return sorted((m for m in first if m.startswith("hit@")), key=lambda m: int(m.removeprefix("hit@")))
