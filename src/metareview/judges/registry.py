"""Which judges there are, and how one is made from its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from metareview.errors import UsageError
from metareview.judges.protocol import Judge

DEFAULT_JUDGE = "rouge"


@dataclass(frozen=True, slots=True)
class JudgeEntry:
    """A judge by name: what it does, whether it scores (and so takes a threshold), how it is made."""

    name: str
    summary: str
    scores: bool
    make: Callable[[float | None], Judge]


def _none(_: float | None) -> Judge:
    from metareview.judges.lexical import NoJudge

    return NoJudge()


def _exact(_: float | None) -> Judge:
    from metareview.judges.lexical import ExactJudge

    return ExactJudge()


def _rouge(threshold: float | None) -> Judge:
    from metareview.judges.lexical import RougeJudge

    return RougeJudge(threshold)


JUDGES = {
    entry.name: entry
    for entry in (
        JudgeEntry("none", "location only: what may match by place, matches", False, _none),
        JudgeEntry("exact", "notes equal after trimming and collapsing white space", False, _exact),
        JudgeEntry("rouge", "ROUGE-L recall of the reference's note above 0.7", True, _rouge),
    )
}


def make_judge(name: str, threshold: float | None = None) -> Judge:
    """The judge of this name; UsageError where there is none, or where a threshold means nothing to it."""
    if name not in JUDGES:
        raise UsageError(f"Unknown judge {name!r}. The judges are {', '.join(JUDGES)}.")
    entry = JUDGES[name]
    if threshold is not None:
        if not entry.scores:
            raise UsageError(
                f"The judge {name} does not score, so --threshold means nothing to it. Leave it out."
            )
        if not 0 <= threshold <= 1:
            raise UsageError(f"--threshold must be from 0 to 1, found {threshold}.")
    return entry.make(threshold)
