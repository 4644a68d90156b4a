"""The unlisted issues of a run, the sample that is drawn from them, and the evidence to read about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from metareview.comments.records import CommentRecord
from metareview.comparison.strata import BUDGET, Draw, draw_units
from metareview.comparison.unlisted_grouping import Progress, group_run, records_of
from metareview.errors import InputError, UsageError
from metareview.model.comment import Comment
from metareview.model.unlisted import CommentKey, Issue, Unlisted
from metareview.runs.run import CommentsRun
from metareview.runs.unlisted_json import read_earlier, read_unlisted, write_unlisted


@dataclass(frozen=True, slots=True)
class IssueComment:
    """A comment of an issue, and its reviewer."""

    reviewer: str
    position: int
    comment: Comment


@dataclass(frozen=True, slots=True)
class Evidence:
    """What there is to read about an issue: its comments, in its order, and the references of its pull request."""

    comments: Sequence[IssueComment]
    references: Sequence[Comment]
    language: str | None = None
    pr_category: str | None = None


def unlisted_of(
    run: CommentsRun, budget: int | None = None, seed: int | None = None, progress: Progress | None = None
) -> Unlisted:
    """The unlisted issues of a run and its sample of them: as its folder has them, or made and stored there.

    What was drawn stays drawn. A larger budget adds to each stratum; a smaller one, or another seed, changes nothing.
    Where the run has decided more since, or an older version grouped it, issues are grouped anew and the sample goes
    on. What is stored for another run that was in the folder is made anew.
    """
    if run.result.config.repeat:
        raise UsageError(
            f"{run.label} holds repeated runs, over which unlisted issues are not counted: a mean over runs has no"
            " issues of its own. Evaluate one of the runs without --repeat."
        )
    if budget is not None and budget < 1:
        raise UsageError(f"A budget of {budget} asks about nothing. Give 1 or more.")
    stored = read_unlisted(run)
    if stored is not None and (budget is None or budget <= stored.budget):
        return stored
    before = read_earlier(run) if stored is None else stored
    issues = group_run(run, progress) if stored is None else stored.issues
    if before is not None:
        unlisted = draw_unlisted(issues, max(budget or 0, before.budget), before.seed, before)
    else:
        unlisted = draw_unlisted(issues, budget or BUDGET, seed or 0)
    write_unlisted(run, unlisted)
    return unlisted


def known_unlisted(run: CommentsRun) -> Unlisted | None:
    """The same where its issues were grouped before; None otherwise: grouping takes a while."""
    return None if read_earlier(run) is None else unlisted_of(run)


def draw_unlisted(
    issues: Sequence[Issue], budget: int = BUDGET, seed: int = 0, before: Unlisted | None = None
) -> Unlisted:
    """A stratified sample of the issues: by how many reviewers say them, in proportion to how many there are.

    `before`: the sample to go on with. An issue with the first comment of an earlier one continues it, in the stratum
    of that one, and is drawn if that one was. Issues that continue none have strata of their own.
    """
    units = {issue.id: issue.sources for issue in issues if not issue.known_invalid}

    def sizes(stratum: Sequence[int], strata: Sequence[int]) -> list[float]:
        return [float(size) for size in np.bincount(np.array(stratum, np.int64), minlength=len(strata))]

    earlier = None if before is None else _continued(before, issues)
    found = draw_units(units, sizes, budget, seed, order=lambda sources: (str(sources),), before=earlier)
    in_strata = tuple(replace(issue, stratum=found.stratum.get(issue.id)) for issue in issues)
    return Unlisted(seed, budget, in_strata, tuple(found.drawn), tuple(found.strata))


def _continued(before: Unlisted, issues: Sequence[Issue]) -> Draw[str, int]:
    """The earlier draw as far as its issues are still there, under their names of now."""
    home = {(issue.pr, key): issue.id for issue in issues if not issue.known_invalid for key in issue.comments}
    origin: dict[str, Issue] = {}
    for issue in before.open:
        if (now := home.get((issue.pr, issue.comments[0]))) is not None:
            origin.setdefault(now, issue)
    stratum = {now: issue.stratum for now, issue in origin.items() if issue.stratum is not None}
    names = {issue.id: now for now, issue in origin.items()}
    return Draw(before.strata, stratum, [names[name] for name in before.drawn if name in names])


def read_evidence(run: CommentsRun, issues: Iterable[Issue]) -> dict[str, Evidence]:
    """What there is to read about these issues, by the name of each."""
    wanted = list(issues)
    prs = {issue.pr for issue in wanted}
    comments: dict[tuple[str, CommentKey], Comment] = {}
    records: dict[str, CommentRecord] = {}
    members = {(issue.pr, key) for issue in wanted for key in issue.comments}
    for record in records_of(run):
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


def _evidence(issue: Issue, comments: Mapping[tuple[str, CommentKey], Comment], record: CommentRecord) -> Evidence:
    own = [IssueComment(*key, comments[issue.pr, key]) for key in issue.comments]
    return Evidence(own, [each.comment for each in record.references], record.language, record.pr_category)
