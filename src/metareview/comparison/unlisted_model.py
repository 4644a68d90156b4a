"""Labels of unlisted issues by a model: marked as such, and corrected by people's where they have labelled a sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metareview.comparison.unlisted import Evidence, read_evidence
from metareview.judges.remote.validity import ValidityModel, ValidityQuestion
from metareview.model.comment import Comment
from metareview.model.label import IssueLabel
from metareview.model.unlisted import Issue, Unlisted
from metareview.runs.run import CommentsRun, now


@dataclass(frozen=True)
class ModelLabels:
    """What a model said of issues."""

    labels: Sequence[IssueLabel]
    reasons: Mapping[str, str]
    """Why, by the name of the issue."""
    undecided: Mapping[str, str]
    """The issues that it did not decide, and why not: they stay without a label."""


def label_with_model(
    run: CommentsRun, unlisted: Unlisted, model: ValidityModel, issues: Sequence[Issue] | None = None
) -> ModelLabels:
    """Asks about these issues; by default about all that are open, the drawn ones first, so that a limit of calls is
    spent on what figures rest on. Nothing is stored but in the model's cache."""
    asked = _drawn_first(unlisted) if issues is None else [issue for issue in issues if not issue.known_invalid]
    evidence = read_evidence(run, asked)
    outcomes = model.ask([issue_question(evidence[issue.id]) for issue in asked])
    labels: list[IssueLabel] = []
    reasons: dict[str, str] = {}
    undecided: dict[str, str] = {}
    at = now()
    for issue, outcome in zip(asked, outcomes, strict=True):
        if outcome.answer is None:
            undecided[issue.id] = outcome.reason
            continue
        reasons[issue.id] = outcome.answer.reason
        note = evidence[issue.id].comments[0].comment.note
        verdict = outcome.answer.verdict
        labels.append(IssueLabel(issue.id, issue.pr, issue.comments, note, verdict, at, model=model.settings.model))
    return ModelLabels(labels, reasons, undecided)


def planned_calls(run: CommentsRun, unlisted: Unlisted, model: ValidityModel) -> int:
    """How many calls `label_with_model` would make at most, after the cache. Asks nothing."""
    asked = _drawn_first(unlisted)
    evidence = read_evidence(run, asked)
    return model.planned([issue_question(evidence[issue.id]) for issue in asked]).calls


def _drawn_first(unlisted: Unlisted) -> list[Issue]:
    drawn = frozenset(unlisted.drawn)
    return [*unlisted.queue, *(issue for issue in unlisted.open if issue.id not in drawn)]


def issue_question(evidence: Evidence) -> ValidityQuestion:
    """What a model is shown. One comment of each reviewer goes before anybody's second."""
    first: dict[str, Comment] = {}
    more: list[Comment] = []
    for said in evidence.comments:
        if said.reviewer in first:
            more.append(said.comment)
        else:
            first[said.reviewer] = said.comment
    comments = [*first.values(), *more]
    return ValidityQuestion.of(list(map(_with_place, comments)), list(map(_with_place, evidence.references)))


def _with_place(comment: Comment) -> str:
    """The note behind a line that says where it points."""
    if not comment.path:
        return comment.note
    lines = sorted({line for line in (comment.from_line, comment.to_line) if line is not None})
    where = f", line {' to '.join(map(str, lines))}" if lines else ""
    return f"At {comment.path}{where}:\n{comment.note}"
