"""Following lines over a force push: from a commit that the final one does not come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from metareview.outcomes.commits import Commits
from metareview.outcomes.following import Trail, filled, follow
from metareview.outcomes.reasons import MERGED, NO_FILES, RESTORED, REWRITTEN
from metareview.outcomes.rewritten import difference, replacement, search, shown_runs
from metareview.outcomes.spans import Span, grown, moved, touches
from metareview.outcomes.versions import Version, Versions

_MOST_LINES = 10_000
"""Longer runs of lines are not compared."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What stands in the lines' place after a commit; `same` where it is these lines."""

    place: int
    path: str
    version: Version
    span: Span
    gap: Span
    same: bool


def cross(commits: Commits, versions: Versions, trail: Trail, final: int) -> Trail:
    """Goes on with a trail that ends at a commit that was replaced, or that stands on a branch of its own.

    The first commit of the new line of commits that has these lines is where following goes on. Where none has, they
    were changed by the one that made what is there in the end.
    """
    anchor, path, span = trail.place, trail.path, trail.span
    old_places, new_places = _branches(commits, anchor, final)
    if span is not None and span[1] - span[0] > _MOST_LINES:
        trail.reason = REWRITTEN
        return trail
    old = versions.version(anchor, path)
    before = _path_before(versions, path, reversed(old_places))
    is_there = before is not None
    trail.path = path if before is None else before
    seen: list[_Seen] = []
    for number, place in enumerate(new_places):
        if is_there:
            step = versions.step(place, trail.path)
            if step.path is None:
                return _deleted(versions, trail, place, new_places[number + 1 :])
            trail.path = step.path
        else:
            is_there = bool(versions.version(place, trail.path).exists)
        if span is None or not is_there:
            continue
        found = _look(
            versions, old, span, _Seen(place, trail.path, versions.version(place, trail.path), span, span, True)
        )
        if found is None:
            seen.clear()
        elif found.same:
            trail.place, trail.span, trail.gap = place, found.span, found.gap
            trail.reached += [place] if found.gap != found.span else []
            touched = len(trail.touched)
            follow(commits, versions, trail, new_places[number + 1 :])
            if trail.reason == RESTORED:
                del trail.touched[touched:]  # What was found may be an earlier life of the file.
            return trail
        else:
            seen.append(found)
    trail.place = final
    if span is None:
        return trail
    if not is_there:
        if any(commits.commits[place].files is None for place in new_places):
            trail.reason = NO_FILES
            return trail
        if _has_another_name(versions, old, anchor, new_places):
            trail.reason = REWRITTEN
            return trail
        return _deleted(versions, trail, new_places[0], ())
    if not seen:
        trail.reason = REWRITTEN
        return trail
    last = seen[-1]
    _blame(commits, trail, _made_by(versions, seen))
    trail.span, trail.gap = filled(last.span), last.gap
    return trail


def _branches(commits: Commits, anchor: int, final: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The commits of either side since they parted."""
    here, there = commits.chain(anchor), commits.chain(final)
    shared = set(there)
    common = next((place for place in reversed(here) if place in shared), None)
    if common is None:
        return here, there
    return here[here.index(common) + 1 :], there[there.index(common) + 1 :]


def _path_before(versions: Versions, path: str, places: Iterable[int]) -> str | None:
    """What the file was called before these commits, newest first; None where one of them made it."""
    for place in places:
        step = versions.step_back(place, path)
        if step.reason is not None:
            return path
        if step.path is None:
            return None
        path = step.path
    return path


def _look(versions: Versions, old: Version, span: Span, there: _Seen) -> _Seen | None:
    """What stands in the place of the lines; None where patches do not show it."""
    new = there.version
    edits = difference(versions, old, new)
    if edits is not None:
        found = moved(edits, span)
        return _Seen(there.place, there.path, new, found, grown(edits, span) or found, not touches(edits, span))
    place = search(versions, old, span, new)
    if place is not None:
        return _Seen(there.place, there.path, new, place, place, True)
    place = replacement(versions, old, span, new)
    if place is None:
        return None
    same = versions.texts(new, *place) == versions.texts(old, *span)
    return _Seen(there.place, there.path, new, place, place, same)


def _made_by(versions: Versions, seen: list[_Seen]) -> int:
    """The first commit from which on the place is as it is in the end."""
    last = versions.texts(seen[-1].version, *seen[-1].span)
    made = seen[-1].place
    for each in reversed(seen):
        if versions.texts(each.version, *each.span) != last:
            break
        made = each.place
    return made


def _blame(commits: Commits, trail: Trail, place: int) -> None:
    trail.touched.append(place)
    trail.reached.append(place)
    trail.rewritten_by = place
    if commits.is_merge(place):
        trail.doubt = MERGED


def _has_another_name(versions: Versions, old: Version, anchor: int, places: Iterable[int]) -> bool:
    """Whether the new commits put in a file of another name that is half the same: what git calls a rename."""
    lines = Counter(text for _, texts in shown_runs(versions, old) for text in texts)
    for place in places:
        for path in versions.added(place):
            if versions.version(anchor, path).exists:
                continue
            new = Counter(text for _, texts in shown_runs(versions, versions.version(place, path)) for text in texts)
            if 2 * (lines & new).total() >= max(lines.total(), new.total(), 1):
                return True
    return False


def _deleted(versions: Versions, trail: Trail, place: int, later: Iterable[int]) -> Trail:
    if any(versions.changes_file(each, trail.path) for each in later):
        # Which of the file's lives the lines belong to cannot be told: the old commits may have done the same before.
        trail.reason = RESTORED
        return trail
    trail.touched += [place] if trail.span is not None else []
    trail.reached.append(place)
    trail.place, trail.rewritten_by = place, place
    trail.span, trail.gap, trail.gone = None, None, True
    return trail
