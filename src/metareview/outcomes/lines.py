"""Whether the lines that a comment points at were changed later in its pull request, and its suggestion taken.

docs/outcomes.md says what counts as a change. Whatever cannot be told is None, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from metareview.model.comment import Comment, Commit, normal_path, normal_side
from metareview.outcomes.commits import Commits
from metareview.outcomes.crossing import cross
from metareview.outcomes.excerpts import code
from metareview.outcomes.finding import Finding
from metareview.outcomes.following import Origin, Trail, follow, follow_back
from metareview.outcomes.reasons import (
    BEYOND_END,
    CHANGES_NOTHING,
    CIRCULAR,
    DATES,
    LEFT_SIDE,
    NO_COMMITS,
    NO_FILE,
    NO_LINES,
    NO_PATH,
    NO_SUGGESTION,
    REWRITTEN_WHEN,
    TOO_MANY_SUGGESTIONS,
)
from metareview.outcomes.spans import Span
from metareview.outcomes.suggestions import MOST_SUGGESTIONS, Suggestion, suggestions, taken
from metareview.outcomes.versions import ABSENT, Version, Versions
from metareview.outcomes.watch import Watch


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a comment's lines and suggestion."""

    lines_changed: Finding
    suggestion_taken: Finding
    changed_by: tuple[str, ...] = ()
    """The commits that count as a change of the lines, in order."""
    code: str | None = None
    """The lines with up to three on either side, as far as patches show them."""
    final_lines: tuple[int, int] | None = None
    """Where the lines, or what replaced them, are in the end; None where that is not known or nothing is left."""


class Changes:
    """The commits of one pull request, oldest first; `until` is when it was merged or closed.

    Patches are read when a comment needs them, each once.
    """

    def __init__(self, commits: Sequence[Commit] | None, *, until: str | None = None) -> None:
        self._given, self._until = commits, until
        self._read: tuple[Commits, Versions] | None = None

    def fate(self, comment: Comment, *, reviewer: str | None = None, pr_author: str | None = None) -> Fate:
        """What became of a comment. `reviewer` is who made it, where the comment does not say so itself."""
        proposed = suggestions(comment.note)
        path, span = normal_path(comment.path), _span(comment)
        left = normal_side(comment.side) == "left"
        reason = NO_PATH if path is None else NO_LINES if span is None else LEFT_SIDE if left else None
        if path is None or self._given is None:
            return _untold(reason or NO_COMMITS, proposed)
        if self._read is None:
            commits = Commits(self._given, self._until)
            self._read = commits, Versions(commits)
        commits, versions = self._read
        anchor = CIRCULAR if commits.circular else commits.anchor(comment)
        if isinstance(anchor, str):
            return _untold(reason or anchor, proposed)
        if reason is not None or span is None:
            return _untold(reason, proposed)
        pursuit = _Pursuit(commits, versions, anchor, Watch(commits, comment, reviewer, pr_author, anchor))
        return pursuit.fate(comment, path, span, proposed)


def _span(comment: Comment) -> Span | None:
    if comment.from_line is None and comment.to_line is None:
        return None
    first, last = comment.span
    return first - 1, last


def _untold(reason: str | None, proposed: Sequence[Suggestion]) -> Fate:
    return Fate(Finding(None, reason), Finding(None, reason if proposed else NO_SUGGESTION))


@dataclass(frozen=True, slots=True)
class _Start:
    """Where following begins: before the first commit that is later than the comment."""

    version: Version
    path: str
    span: Span
    trail: Callable[[Span], Trail]


class _Pursuit:
    """One comment, followed."""

    def __init__(self, commits: Commits, versions: Versions, anchor: int, watch: Watch) -> None:
        self._commits, self._versions, self._anchor, self._watch = commits, versions, anchor, watch

    def fate(self, comment: Comment, path: str, span: Span, proposed: Sequence[Suggestion]) -> Fate:
        there = self._versions.version(self._anchor, path)
        if there.exists is False:
            return _untold(NO_FILE, proposed)
        if there.length is not None and span[1] > there.length:
            return _untold(BEYOND_END, proposed)
        start, origin = self._start(there, path, span)
        trail = start.trail(start.span)
        changed, changed_by = self._changed(comment, trail, origin)
        return Fate(
            changed,
            self._taken(proposed, start, trail, origin),
            changed_by,
            code(self._versions, there, span),
            None if trail.reason is not None or trail.span is None else (trail.span[0] + 1, trail.span[1]),
        )

    def _start(self, there: Version, path: str, span: Span) -> tuple[_Start, Origin]:
        """GitHub moves a comment to the newest commit: then commits up to that one may be later than the comment."""
        chain = self._commits.chain(self._anchor)
        first = self._watch.earliest_before(chain)
        origin = Origin(path, span)
        if first is not None:
            origin = follow_back(self._versions, path, span, chain[: first - 1 if first else None : -1])
            if origin.span is not None:
                before = self._versions.before(chain[first], origin.path)

                def trail(lines: Span) -> Trail:
                    found = Trail(self._anchor, origin.path, lines, lines)
                    follow(self._commits, self._versions, found, chain[first:])
                    return self._to_the_end(found)

                return _Start(before, origin.path, origin.span, trail), origin
        return _Start(there, path, span, lambda lines: self._from_anchor(path, lines)), origin

    def _from_anchor(self, path: str, span: Span | None) -> Trail:
        return self._to_the_end(Trail(self._anchor, path, span, span))

    def _to_the_end(self, trail: Trail) -> Trail:
        commits, final = self._commits, self._commits.final
        if trail.reason is not None or final < 0 or final in commits.chain(self._anchor):
            return trail
        chain = commits.chain(final)
        position = commits.positions().get(self._anchor)
        if position is not None:
            follow(commits, self._versions, trail, chain[position + 1 :])
            return trail
        if trail.gone or (trail.span is None and trail.gap is not None):
            return trail
        return cross(commits, self._versions, trail, final)

    def _changed(self, comment: Comment, trail: Trail, origin: Origin) -> tuple[Finding, tuple[str, ...]]:
        watch = self._watch
        touched = dict.fromkeys([*reversed(origin.touched), *trail.touched])
        by = tuple(self._commits.commits[place].sha for place in touched if watch.counts(place))
        reason = origin.reason or trail.reason or trail.doubt
        if origin.born is not None and watch.is_later(origin.born):
            reason = DATES
        if comment.outdated is False and origin.replaced is not None and watch.is_later(origin.replaced):
            return Finding(None, DATES), ()
        if by:
            return Finding(True), by
        if trail.rewritten_by is not None and not watch.is_later(trail.rewritten_by):
            reason = REWRITTEN_WHEN
        return Finding(False) if reason is None else Finding(None, reason), ()

    def _taken(self, proposed: Sequence[Suggestion], start: _Start, trail: Trail, origin: Origin) -> Finding:
        if not proposed:
            return Finding(None, NO_SUGGESTION)
        findings = [self._one_taken(each, start, trail) for each in proposed[:MOST_SUGGESTIONS]]
        if len(proposed) > MOST_SUGGESTIONS:
            findings.append(Finding(None, TOO_MANY_SUGGESTIONS))
        told = [each for each in findings if each.reason != CHANGES_NOTHING] or findings
        best = next((each for each in told if each.value), None) or next(
            (each for each in told if each.reason), told[0]
        )
        if best.value is False and (origin.reason is not None or origin.born is not None):
            return Finding(None, origin.reason or DATES)
        return best

    def _one_taken(self, suggestion: Suggestion, start: _Start, trail: Trail) -> Finding:
        span = suggestion.span(start.span)
        if span != start.span:
            trail = start.trail(span)
        if trail.reason is not None:
            return Finding(None, trail.reason)
        end = ABSENT if trail.gone else self._versions.version(trail.place, trail.path)
        found = taken(self._versions, suggestion, start.version, span, end, trail.gap)
        if found.value and trail.reached:
            if all(map(self._watch.is_own, trail.reached)):
                return Finding(False)
            if not any(map(self._watch.is_later, trail.reached)):
                return Finding(None, CHANGES_NOTHING)
        return found
