"""The unlisted issues of a run to be read, those said by most reviewers first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metareview.comparison.evidence import comments_run
from metareview.comparison.evidence_search import known_pull_requests, known_reviewers, place
from metareview.comparison.unlisted import Evidence, read_evidence, unlisted_of
from metareview.comparison.unlisted_grouping import Progress
from metareview.comparison.unlisted_labels import current_labels
from metareview.errors import UsageError
from metareview.model.label import IssueVerdict, Labels
from metareview.model.unlisted import Issue
from metareview.runs.files import JsonObject
from metareview.runs.labels import LabelFile
from metareview.runs.run import AnyRun, CommentsRun

VERDICTS = ("valid", "invalid", "repeat", "unjudged")


@dataclass(frozen=True, slots=True)
class Held:
    """What is held of an issue."""

    verdict: IssueVerdict | None = None
    """People's, else a model's; None where nobody said anything."""
    model: str | None = None
    """The model whose verdict it is; None for people's."""
    rejected: bool = False
    """Whether it is invalid because one of its comments repeats a negative: nobody was asked."""


@dataclass(frozen=True, slots=True)
class UnlistedEntry:
    """An issue, what its comments say, and its label."""

    issue: Issue
    evidence: Evidence
    held: Held

    def to_dict(self) -> JsonObject:
        return {
            "issue": self.issue.id,
            "pr": self.issue.pr,
            "reviewers": list(self.issue.reviewers),
            "comments": [
                {"reviewer": said.reviewer, "generated": said.position, **said.comment.to_dict()}
                for said in self.evidence.comments
            ],
            "verdict": self.held.verdict,
            "model": self.held.model,
            "repeats_negative": self.held.rejected,
        }


@dataclass(frozen=True)
class UnlistedEntries:
    """The first issues of these reviewers and pull requests, and how many there are."""

    run: CommentsRun
    reviewers: tuple[str, ...]
    everybody: bool
    prs: tuple[str, ...]
    issues: int
    comments: int
    """How many comments these issues have."""
    verdicts: Mapping[str, int]
    """How many issues are held to be valid, invalid, repeats, and how many nobody has judged."""
    entries: Sequence[UnlistedEntry]

    def to_dict(self) -> JsonObject:
        """What `metareview show --unlisted --json` has beside the other lists."""
        return {
            "unlisted_counts": {"issues": self.issues, "comments": self.comments, **self.verdicts},
            "unlisted": [entry.to_dict() for entry in self.entries],
        }


def unlisted_entries(
    run: AnyRun,
    *,
    reviewers: Sequence[str] = (),
    prs: Sequence[str] = (),
    top: int = 10,
    progress: Progress | None = None,
) -> UnlistedEntries:
    """The first `top` (0: all) unlisted issues that one of these reviewers says: those said by most reviewers first,
    then by pull request and location. They are grouped, and stored with the run, where that was not done before.

    UsageError where a reviewer or a pull request is not known, with what was perhaps meant.
    """
    known = comments_run(run)
    if top < 0:
        raise UsageError(f"--top must be 0 (all) or more, found {top}.")
    names = known_reviewers(known, reviewers)
    scored = dict.fromkeys(record.pr for record in known.read_records() if not record.skipped)
    asked_for = known_pull_requests(list(scored), prs, known.label)
    unlisted = unlisted_of(known, progress=progress)
    chosen = [
        issue
        for issue in unlisted.issues
        if (not asked_for or issue.pr in asked_for) and any(name in names for name in issue.reviewers)
    ]
    evidence = read_evidence(known, chosen)
    labels = Labels() if known.folder is None else LabelFile(known.folder).read()
    held = _held(chosen, current_labels(unlisted, labels).labels)
    counted: Counter[str] = Counter(each.verdict or "unjudged" for each in held.values())

    def first(issue: Issue) -> tuple[object, ...]:
        comment = evidence[issue.id].comments[0].comment
        line = -1 if comment.from_line is None else comment.from_line
        return (-len(issue.reviewers), place(issue.pr), comment.path or "", line, issue.comments)

    in_order = sorted(chosen, key=first)
    return UnlistedEntries(
        known,
        names,
        everybody=len(names) == len(known.result.reviewers),
        prs=asked_for,
        issues=len(chosen),
        comments=sum(len(issue.comments) for issue in chosen),
        verdicts={name: counted[name] for name in VERDICTS},
        entries=[
            UnlistedEntry(issue, evidence[issue.id], held[issue.id]) for issue in in_order[: top or len(in_order)]
        ],
    )


def _held(issues: Sequence[Issue], labels: Labels) -> dict[str, Held]:
    people, models = labels.issue_verdicts(), labels.model_verdicts()
    named = {label.issue: label.model for label in labels.issues if label.model is not None}

    def of(issue: Issue) -> Held:
        if issue.known_invalid:
            return Held("invalid", rejected=True)
        if issue.id in people:
            return Held(people[issue.id])
        return Held(models[issue.id], named[issue.id]) if issue.id in models else Held()

    return {issue.id: of(issue) for issue in issues}
