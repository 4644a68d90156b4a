"""Labels of unlisted issues under the names that the issues have now.

A label is given on an issue as it was grouped then. Where a run has decided more since, or an older version grouped it,
its comments may be in other issues. The label then holds for the issue of the comment that was read first, as long as
that comment has the same note and still matches no reference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from metareview.model.label import IssueLabel, Labels
from metareview.model.unlisted import Unlisted, note_digest


@dataclass(frozen=True)
class IssueLabels:
    """All labels, and what became of those that were given on issues of another grouping."""

    labels: Labels
    moved: int
    """Former issues whose label now holds for the issue of the comment that was read first."""
    stale: int
    """Former issues whose label holds for none."""


def current_labels(unlisted: Unlisted, labels: Labels) -> IssueLabels:
    """The labels with each issue under its name among these issues."""
    names = {label: _name(unlisted, label) for label in labels.issues}
    kept = [replace(label, issue=name) for label in labels.issues if (name := names[label]) is not None]
    held = _held(labels)
    former = {
        label.issue: names[label]
        for label in labels.issues
        if label.issue not in unlisted.by_id and label.issue in held
    }
    moved = sum(name is not None for name in former.values())
    return IssueLabels(replace(labels, issues=kept), moved, len(former) - moved)


def _held(labels: Labels) -> frozenset[str]:
    """The issues with a label that was not taken back."""
    return frozenset(labels.issue_verdicts()) | frozenset(labels.model_verdicts())


def _name(unlisted: Unlisted, label: IssueLabel) -> str | None:
    if label.issue in unlisted.by_id:
        return label.issue
    if not label.comments:
        return None
    first = label.comments[0]
    issue = unlisted.by_comment.get((label.pr, *first))
    if issue is None or not issue.notes:
        return None
    same_note = issue.notes[issue.comments.index(first)] == note_digest(label.note)
    return issue.id if same_note else None
