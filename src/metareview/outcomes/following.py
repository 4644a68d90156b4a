"""Following lines from commit to commit, forwards and backwards."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from metareview.outcomes.commits import Commits
from metareview.outcomes.reasons import MERGED, RESTORED
from metareview.outcomes.spans import Span, grown, moved, touches
from metareview.outcomes.versions import Step, Versions


@dataclass(slots=True)
class Trail:
    """Where lines are after the commits that were looked at, and what happened to them on the way."""

    place: int
    path: str
    span: Span | None
    """The lines, or what replaced them; None once nothing of them is left, or where no lines were named."""
    gap: Span | None
    """What stands between their surviving neighbours; None where no lines were named, or the file is gone."""
    gone: bool = False
    """Whether the file was deleted."""
    touched: list[int] = field(default_factory=list)
    """The commits that changed a line, or put one between them."""
    reached: list[int] = field(default_factory=list)
    """The commits that changed something between the neighbours."""
    reason: str | None = None
    """Why it cannot be followed to the end."""
    doubt: str | None = None
    """Why nothing having been found does not mean that nothing changed."""
    rewritten_by: int | None = None
    """The commit that has other lines in their place after a force push."""


def follow(commits: Commits, versions: Versions, trail: Trail, places: Iterable[int]) -> None:
    """Follows through these commits, each the child of the one before."""
    for place in places:
        if trail.gone:
            if versions.changes_file(place, trail.path):
                trail.reason = RESTORED
        else:
            step = versions.step(place, trail.path)
            if step.path != trail.path or step.reason is not None or step.patch.hunks:
                _take(commits, trail, place, step)
        if trail.reason is not None:
            return
        trail.place = place


def _take(commits: Commits, trail: Trail, place: int, step: Step) -> None:
    edits, span = step.patch.edits, trail.span
    if span is not None and (step.path is None or touches(edits, span)):
        trail.touched.append(place)
        if any(isinstance(commits.find(parent), int) for parent in commits.commits[place].parents[1:]):
            trail.doubt = trail.doubt or MERGED  # It may bring in what a commit of the list did.
    if step.path is None:
        trail.reached.append(place)
        trail.span, trail.gap, trail.gone = None, None, True
        return
    trail.reason = step.reason
    if step.reason is not None:
        return
    trail.path = step.path
    if span is not None:
        trail.span = filled(moved(edits, span))
    if trail.gap is not None:
        wider = grown(edits, trail.gap)
        if wider is not None:
            trail.reached.append(place)
        trail.gap = moved(edits, trail.gap) if wider is None else wider


def filled(span: Span) -> Span | None:
    return span if span[0] < span[1] else None


@dataclass(slots=True)
class Origin:
    """Where lines were before some commits, and which of these touched them, newest first.

    `span` is None where that is not known: `reason` says why, or one of the commits put in all of the lines.
    """

    path: str
    span: Span | None
    touched: list[int] = field(default_factory=list)
    reason: str | None = None
    born: int | None = None
    """The commit that put in all of the lines that were left, where there is one."""
    replaced: int | None = None
    """A commit that put all of them in the place of others."""


def follow_back(versions: Versions, path: str, span: Span, places: Sequence[int]) -> Origin:
    """Follows back through these commits, newest first."""
    origin = Origin(path, span)
    for place in places:
        step = versions.step_back(place, origin.path)
        origin.reason = step.reason
        if step.reason is not None:
            origin.span = None
            break
        edits = [edit.inverse for edit in step.patch.edits]
        if any(edit.old <= span[0] and span[1] <= edit.old + edit.removed for edit in edits):
            origin.replaced = place
        before = None if step.path is None else filled(moved(edits, span))
        if before is None or step.path is None:
            origin.born, origin.span = place, None
            break
        if touches(edits, span):
            origin.touched.append(place)
        origin.path, origin.span, span = step.path, before, before
    return origin
