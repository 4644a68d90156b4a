"""What comments say that no reference covers: pooled over all reviewers of a run, grouped into issues, and drawn.

Two unmatched comments on a pull request raise the same issue where they may match by place, as the run compares places,
and where the offline judge's score without rivals, the mean of both directions, reaches its own threshold. It is always
the offline judge, whatever judged the run: that is free, and the same every time. Issues are what such pairs connect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from metareview.comments.location import candidate_pairs
from metareview.comments.records import CommentRecord
from metareview.comparison.strata import BUDGET, allocate, draw
from metareview.errors import InputError, UsageError
from metareview.judges.offline.alone import MutualScores
from metareview.judges.protocol import judged_part
from metareview.model.comment import Comment
from metareview.model.unlisted import STRATA, CommentKey, Issue, Unlisted, issue_name
from metareview.runs.run import AnyRun, CommentsRun, is_comments
from metareview.runs.unlisted_json import read_unlisted, write_unlisted

Progress = Callable[[int, int], None]
Indices = NDArray[np.int64]
_ROWS, _PAIRS = 64, 500_000
"""How many comments, and how many pairs, are compared by place at a time: bounds memory."""


@dataclass(frozen=True, slots=True)
class Said:
    """A comment of an issue, and who made it."""

    reviewer: str
    position: int
    comment: Comment


@dataclass(frozen=True, slots=True)
class Evidence:
    """What there is to read about an issue: its comments, in its order, and the references of its pull request."""

    comments: Sequence[Said]
    references: Sequence[Comment]
    language: str | None = None
    pr_category: str | None = None


@dataclass(frozen=True, slots=True)
class _Unmatched:
    reviewer: str
    position: int
    comment: Comment
    rejected: bool
    """Whether it repeats a negative."""

    @property
    def place(self) -> tuple[str, int, int, str, str, int]:
        return (*self.comment.content_key, self.reviewer, self.position)


def unlisted_of(
    run: CommentsRun, budget: int | None = None, seed: int | None = None, progress: Progress | None = None
) -> Unlisted:
    """The unlisted issues of a run and which of them were drawn: as its folder has them, or made and stored there.

    What is stored for another run that was in the folder is made anew. Another budget keeps the issues, and as much of
    the sample as it can: a larger one adds to it.
    """
    if run.result.config.repeat:
        raise UsageError(
            f"{run.label} holds repeated runs, over which unlisted issues are not counted: a mean over runs has no"
            " issues of its own. Evaluate one of the runs without --repeat."
        )
    if budget is not None and budget < 1:
        raise UsageError(f"A budget of {budget} asks about nothing. Give 1 or more.")
    stored = read_unlisted(run)
    wanted = (
        (stored.budget if stored else BUDGET) if budget is None else budget,
        (stored.seed if stored else 0) if seed is None else seed,
    )
    if stored is not None and wanted == (stored.budget, stored.seed):
        return stored
    unlisted = draw_unlisted(group(run, progress) if stored is None else stored.issues, *wanted)
    write_unlisted(run, unlisted)
    return unlisted


def draw_unlisted(issues: Sequence[Issue], budget: int = BUDGET, seed: int = 0) -> Unlisted:
    """Which issues to ask about: in strata by how many reviewers say them, in proportion to how many there are."""
    open_issues = [issue for issue in issues if not issue.known_invalid]
    stratum = [issue.stratum for issue in open_issues]
    sizes = np.bincount(np.array(stratum, np.int64), minlength=STRATA).tolist()
    drawn = draw(stratum, allocate(sizes, [float(size) for size in sizes], budget), seed)
    return Unlisted(seed, budget, tuple(issues), tuple(open_issues[unit].id for unit in drawn))


def group(run: CommentsRun, progress: Progress | None = None) -> list[Issue]:
    """All unlisted issues, pull request by pull request in the order of the run. Comments that a filter or a neutral
    reference leaves out of the figures are in none."""
    pools: dict[str, list[_Unmatched]] = {}
    for record in _records(run):
        pools.setdefault(record.pr, []).extend(_unmatched(record))
    config = run.result.config
    issues: list[Issue] = []
    for done, (pr, pool) in enumerate(pools.items(), 1):
        issues += _issues(pr, pool, config.line_distance, anywhere=not config.location)
        if progress is not None:
            progress(done, len(pools))
    return issues


def read_evidence(run: CommentsRun, issues: Iterable[Issue]) -> dict[str, Evidence]:
    """What there is to read about these issues, by the name of each."""
    wanted = list(issues)
    prs = {issue.pr for issue in wanted}
    comments: dict[tuple[str, CommentKey], Comment] = {}
    records: dict[str, CommentRecord] = {}
    members = {(issue.pr, key) for issue in wanted for key in issue.comments}
    for record in _records(run):
        if record.pr in prs and not record.skipped:
            records.setdefault(record.pr, record)
            for each in record.comments:
                key = record.pr, (record.reviewer, each.position)
                if key in members:
                    comments[key] = each.comment
    try:
        return {issue.id: _evidence(issue, comments, records[issue.pr]) for issue in wanted}
    except KeyError:
        problem = "an unlisted issue with comments that the run has not"
        fix = "Delete unlisted.json in the run's folder: it is made anew, and labels stay."
        raise InputError(problem, file=run.label, fix=fix) from None


def _evidence(issue: Issue, comments: dict[tuple[str, CommentKey], Comment], record: CommentRecord) -> Evidence:
    said = [Said(*key, comments[issue.pr, key]) for key in issue.comments]
    return Evidence(said, [each.comment for each in record.references], record.language, record.pr_category)


def _records(run: AnyRun) -> Iterable[CommentRecord]:
    if not is_comments(run):
        raise UsageError(f"{run.label} is a run of routers: it has no comments. Name one of metareview comments.")
    return run.read_records()


def _unmatched(record: CommentRecord) -> list[_Unmatched]:
    return [
        _Unmatched(record.reviewer, each.position, each.comment, each.negative is not None)
        for each in record.comments
        if not each.matched and not each.left_out
    ]


def _issues(pr: str, pool: Sequence[_Unmatched], distance: int, *, anywhere: bool) -> list[Issue]:
    """The issues of one pull request. The order of the pool changes nothing."""
    pool = sorted(pool, key=lambda each: each.place)  # what may match by place then lies close together
    groups: dict[int, list[_Unmatched]] = {}
    for component, each in zip(_components(pool, distance, anywhere).tolist(), pool, strict=True):
        groups.setdefault(component, []).append(each)
    issues = []
    for members in groups.values():
        members.sort(key=lambda each: (each.reviewer, each.position))
        name = issue_name(pr, [(each.reviewer, each.position, each.comment.note) for each in members])
        comments = tuple((each.reviewer, each.position) for each in members)
        issues.append(Issue(name, pr, comments, any(each.rejected for each in members)))
    return sorted(issues, key=lambda issue: issue.comments)


def _components(pool: Sequence[_Unmatched], distance: int, anywhere: bool) -> Indices:
    """For each comment the first one that it is connected with.

    Some comments at a time are compared with all later ones, and only with those that they are not connected with yet:
    what is said a thousand times on one line costs little more than once.
    """
    component = np.arange(len(pool))
    if len(pool) < 2:
        return component
    numbers: dict[str, int] = {}
    text = np.array([numbers.setdefault(judged_part(each.comment.note), len(numbers)) for each in pool], np.int64)
    scores = MutualScores(list(numbers))
    comments = [each.comment for each in pool]
    rows = max(1, min(_ROWS, _PAIRS // len(pool)))
    for start in range(0, len(pool), rows):
        near = candidate_pairs(comments[start : start + rows], comments[start:], distance, anywhere=anywhere)
        one, other = near.generated + start, near.reference + start
        apart = (one < other) & (component[one] != component[other])
        one, other = one[apart], other[apart]
        if len(one):
            alike = scores.same(text[one], text[other])
            component = _connected(component, one[alike], other[alike])
    return component


def _connected(component: Indices, one: Indices, other: Indices) -> Indices:
    """The components with these connections added."""
    if not len(one):
        return component
    size = len(component)
    # Of 32 bits: older versions of SciPy take no others here.
    ends = [np.concatenate(each).astype(np.int32) for each in ((np.arange(size), one), (component, other))]
    graph = sp.coo_array((np.ones(len(ends[0])), (ends[0], ends[1])), shape=(size, size))
    number = connected_components(graph, directed=False)[1]
    _, first = np.unique(number, return_index=True)
    connected: Indices = first[number].astype(np.int64)
    return connected
