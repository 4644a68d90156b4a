"""Valid unlisted issues as new references, for `--reference` beside the original ones."""

from __future__ import annotations

from dataclasses import replace

from metareview.comparison.unlisted import Evidence, read_evidence
from metareview.comparison.unlisted_estimate import held_verdicts
from metareview.comparison.unlisted_labels import current_labels
from metareview.model.comment import Comment, Review
from metareview.model.label import Labels
from metareview.model.unlisted import Issue, Unlisted
from metareview.runs.run import CommentsRun

_KEPT = ("note", "path", "side", "from_line", "to_line", "category", "context", "severity", "commit")


def promoted_reviews(run: CommentsRun, unlisted: Unlisted, labels: Labels) -> list[Review]:
    """One review per pull request, in the order of the run. A person's verdict goes before a model's.

    A reference has the note and the place of the issue's first comment, and that comment's reviewer as its `producer`,
    so that it can be left out where that reviewer is scored. Its `meta` says where it comes from: the issue, who said
    it, and who labelled it.
    """
    labels = current_labels(unlisted, labels).labels
    held = held_verdicts(labels)
    valid = [issue for issue in unlisted.open if held.get(issue.id) == "valid"]
    evidence = read_evidence(run, valid)
    reviews: dict[str, Review] = {}
    for issue in valid:
        of_issue = evidence[issue.id]
        review = reviews.setdefault(
            issue.pr, Review(issue.pr, language=of_issue.language, pr_category=of_issue.pr_category)
        )
        reference = _reference(issue, of_issue, labels)
        reviews[issue.pr] = replace(review, comments=(*review.comments, reference))
    return list(reviews.values())


def _reference(issue: Issue, evidence: Evidence, labels: Labels) -> Comment:
    said = evidence.comments[0]
    meta: dict[str, object] = {
        "issue": issue.id,
        "reviewers": list(issue.reviewers),
        "comments": [list(key) for key in issue.comments],
        **_labelled_by(issue, labels),
    }
    kept = {name: getattr(said.comment, name) for name in _KEPT}
    return Comment(**kept, id=f"unlisted-{issue.id}", producer=said.reviewer, meta=meta)


def _labelled_by(issue: Issue, labels: Labels) -> dict[str, object]:
    """The people whose verdict it is, or else the model. Who gave no name is null."""
    own = [label for label in labels.issues if label.issue == issue.id]
    now = {label.name: label for label in own if label.model is None}
    names = [name for name, label in now.items() if label.verdict == "valid"]
    if names:
        return {"labelled_by": names}
    models = [label.model for label in own if label.model is not None]
    return {"labelled_by": models[-1:], "by_model": True}
