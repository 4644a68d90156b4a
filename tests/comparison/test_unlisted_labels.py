"""Labels of issues that were grouped otherwise: they hold for the issue of the comment that was read first."""

import json
from dataclasses import replace

import pytest
from unlisted_runs import LEAK, LEAK_AGAIN, RACE, SLOW, STYLE, TYPO, make_run

from metareview.api import load_run
from metareview.comparison.promote import promoted_reviews
from metareview.comparison.run_unlisted import known_figures
from metareview.comparison.unlisted import unlisted_of
from metareview.comparison.unlisted_entries import unlisted_entries
from metareview.comparison.unlisted_labels import current_labels
from metareview.model.label import IssueLabel, Labels
from metareview.model.unlisted import issue_name
from metareview.report.unlisted import plus_lines
from metareview.runs.labels import LabelFile

REVIEWS = {"ann": {1: [LEAK, RACE], 2: [SLOW]}, "bob": {1: [LEAK_AGAIN, STYLE]}}
NOTES = {("ann", 0): LEAK, ("ann", 1): RACE, ("bob", 0): LEAK_AGAIN, ("bob", 1): STYLE}


@pytest.fixture
def run(tmp_path):
    return make_run(tmp_path, {1: [TYPO], 2: [TYPO]}, REVIEWS)


def former(run, *comments, note=None, **more):
    """A label of an issue of these comments on the first pull request."""
    pr = unlisted_of(run).issues[0].pr
    name = issue_name(pr, [(*key, NOTES[key]) for key in comments])
    given = {"verdict": "valid", "at": "2026-01-01T00:00:00Z"} | more
    return IssueLabel(name, pr, comments, note or NOTES[comments[0]], **given)


def test_a_label_moves_with_the_comment_that_was_read_first(run):
    unlisted = unlisted_of(run)
    of = {key: issue.id for issue in unlisted.issues for key in issue.comments if issue.pr == unlisted.issues[0].pr}
    labels = Labels(
        issues=[
            former(run, ("ann", 1), ("bob", 0), ("bob", 1)),
            former(run, ("bob", 0), ("bob", 1), verdict="repeat", model="m"),
            former(run, ("bob", 1), ("ann", 0), note="Another note."),
            former(run, ("ann", 0), ("bob", 0), verdict="invalid"),  # the issue as it is
            former(run, ("bob", 1), ("ann", 1), verdict=None),  # taken back: nothing is lost
        ]
    )
    found = current_labels(unlisted, labels)
    assert [label.issue for label in found.labels.issues] == [
        of["ann", 1], of["bob", 0], of["ann", 0], of["bob", 1]
    ]  # fmt: skip
    assert (found.moved, found.stale) == (2, 1)
    assert of["bob", 0] == of["ann", 0]


def as_of_components(run):
    """The folder as an older version left it: the comments on the first pull request were one issue, drawn and
    labelled, and there was a label of a comment that the run has not."""
    unlisted = unlisted_of(run)
    path = run.folder / "unlisted.json"
    stored = json.loads(path.read_text())
    label = former(run, ("ann", 0), ("ann", 1), ("bob", 0), ("bob", 1), name="eve")
    slow = unlisted.issues[-1]
    issues = [
        {"id": label.issue, "pr": label.pr, "comments": [list(key) for key in label.comments], "known_invalid": False},
        {"id": slow.id, "pr": slow.pr, "comments": [list(key) for key in slow.comments], "known_invalid": False},
    ]
    kept = {name: stored[name] for name in ("fingerprint", "finished", "seed", "budget")}
    drawn = [label.issue, slow.id]
    path.write_text(json.dumps(kept | {"schema": "metareview.unlisted/1", "issues": issues, "drawn": drawn}))
    LabelFile(run.folder).append([label, replace(label, issue="gone", comments=(("cid", 4),))])
    return load_run(run.folder)


def test_files_of_connected_components_are_grouped_anew_and_nothing_is_lost(run):
    older = as_of_components(run)
    figures = known_figures(older)
    assert (figures.issues, figures.labelled.people) == (4, 1)
    assert (figures.moved_labels, figures.stale_labels) == (1, 1)
    assert (figures.to_dict()["labels"]["moved"], figures.to_dict()["labels"]["stale"]) == (1, 1)
    lines = list(plus_lines(figures))
    assert (
        "1 label was given on issues that were grouped otherwise: each holds for the issue of its first comment."
        in lines
    )
    assert (
        "1 label holds for no issue any more: the comment that was read first now matches a reference, or is gone."
        in lines
    )
    unlisted = unlisted_of(older)
    leak = next(issue for issue in unlisted.issues if ("ann", 0) in issue.comments)
    assert leak.comments == (("ann", 0), ("bob", 0))
    assert unlisted.strata == (1, 2, 3, 1)  # those of RACE and STYLE, which had no issue of their own, are late
    assert [issue.stratum for issue in unlisted.issues] == [1, 3, 3, 0]
    assert {leak.id, unlisted.issues[-1].id} <= set(unlisted.drawn)
    [entry] = [each for each in unlisted_entries(older).entries if each.issue.id == leak.id]
    assert entry.held.verdict == "valid"
    [review] = promoted_reviews(older, unlisted, LabelFile(run.folder).read())
    assert [(each.note, each.meta["labelled_by"]) for each in review.comments] == [(LEAK, ["eve"])]


def test_verdicts_are_collected_once_however_many_labels_there_are(run, monkeypatch):
    calls = []
    monkeypatch.setattr(Labels, "issue_verdicts", lambda self: calls.append(self) or {})
    current_labels(unlisted_of(run), Labels(issues=[former(run, ("ann", at)) for at in (0, 1)] * 3))
    assert len(calls) == 1
