"""Unlisted issues are drawn in strata, the sample only ever grows, and all is stored with the run."""

import json
from dataclasses import replace

import pytest
from unlisted_runs import LEAK, LEAK_AGAIN, RACE, SLOW, STYLE, TYPO, label, make_run

from metareview.api import load_run
from metareview.comparison import unlisted as module
from metareview.comparison.queue import IssueQueue
from metareview.comparison.unlisted import draw_unlisted, known_unlisted, read_evidence, unlisted_of
from metareview.comparison.unlisted_grouping import group_run
from metareview.errors import UsageError
from metareview.model.label import Labels
from metareview.model.unlisted import Issue


def test_evidence_is_what_there_is_to_read(tmp_path):
    run = make_run(tmp_path, {1: [TYPO, SLOW]}, {"ann": {1: [LEAK]}, "bob": {1: [TYPO, LEAK_AGAIN]}})
    [issue] = group_run(run)
    evidence = read_evidence(run, [issue])[issue.id]
    assert [(said.reviewer, said.position, said.comment.note) for said in evidence.comments] == [
        ("ann", 0, LEAK),
        ("bob", 1, LEAK_AGAIN),
    ]
    assert [reference.note for reference in evidence.references] == [TYPO, SLOW]


def some_issues(*sizes, invalid=0):
    """As many issues as these said by one, two, three reviewers."""
    names = iter(range(10_000))
    issues = [
        Issue(name := f"q{next(names)}", "pr", tuple((reviewer, int(name[1:])) for reviewer in "abcd"[:reviewers]))
        for reviewers, size in enumerate(sizes, 1)
        for _ in range(size)
    ]
    return issues + [Issue(f"q{next(names)}", "pr", (("a", 0),), known_invalid=True) for _ in range(invalid)]


def test_issues_are_drawn_in_proportion_by_how_many_say_them():
    unlisted = draw_unlisted(some_issues(120, 60, 20, invalid=50), budget=100)
    drawn = [issue.stratum for issue in unlisted.queue]
    assert [drawn.count(stratum) for stratum in range(3)] == [60, 30, 10]
    assert len(set(unlisted.drawn)) == 100
    assert not any(issue.known_invalid for issue in unlisted.queue)
    # Two of each first; whoever stops later has a part of each.
    assert [drawn[:6].count(stratum) for stratum in range(3)] == [2, 2, 2]
    assert [drawn[:50].count(stratum) for stratum in range(3)] == [30, 15, 5]
    few = draw_unlisted(some_issues(120, 60, 5), budget=40)
    assert sum(issue.stratum == 2 for issue in few.queue) == 5  # all of what is rare
    assert sorted(draw_unlisted(some_issues(3, 2)).drawn) == ["q0", "q1", "q2", "q3", "q4"]
    assert draw_unlisted([]).drawn == ()


def test_draws_differ_by_seed_alone():
    issues = some_issues(100, 50)
    assert draw_unlisted(issues, 30, seed=1) == draw_unlisted(issues, 30, seed=1)
    assert draw_unlisted(issues, 30, seed=1).drawn != draw_unlisted(issues, 30, seed=2).drawn


def by_stratum(unlisted):
    return [[issue.id for issue in unlisted.queue if issue.stratum == at] for at in range(len(unlisted.strata))]


def test_a_larger_budget_adds_to_the_sample_of_each_stratum():
    issues = some_issues(100, 50, 30)
    small = draw_unlisted(issues, 40, seed=3)
    large = draw_unlisted(issues, 90, seed=3, before=small)
    assert list(map(len, by_stratum(large))) == [50, 25, 15]
    for of_small, of_large in zip(by_stratum(small), by_stratum(large), strict=True):
        assert of_large[: len(of_small)] == of_small


def test_what_was_drawn_stays_drawn_when_issues_change():
    issues = some_issues(40, 20)
    before = draw_unlisted(issues, 24, seed=1)
    gone, grown = before.queue[0], next(issue for issue in before.queue if issue.stratum == 1)
    # One comment matches a reference now, one issue has a third reviewer and another name, and there are three more.
    third = replace(grown, id="third", comments=(*grown.comments, ("z", 5)))
    late = [Issue(f"late{number}", "pr", (("a", 900 + number),)) for number in range(3)]
    after = draw_unlisted(
        [third if issue is grown else issue for issue in before.issues if issue is not gone] + late, 24, 1, before
    )
    names = {issue.id: "third" if issue is grown else issue.id for issue in before.queue if issue is not gone}
    assert set(names.values()) <= set(after.drawn)
    assert after.strata == (1, 2, 1)
    assert after.by_id["third"].stratum == 1  # frozen, though three reviewers say it now
    assert {issue.id for issue in after.queue if issue.stratum == 2} == {issue.id for issue in late}
    kept = [names[name] for name in before.drawn if name in names and before.by_id[name].stratum == 1]
    assert by_stratum(after)[1][: len(kept)] == kept


def test_an_issue_that_was_two_continues_the_first():
    issues = some_issues(0, 4)
    before = draw_unlisted(issues, 8)
    one, other, *rest = before.issues
    both = Issue("both", "pr", (*one.comments, *other.comments))
    part = Issue("part", "pr", (rest[0].comments[1],))  # what is left of an issue whose first comment is gone
    after = draw_unlisted([both, part, *rest[1:]], 8, before=before)
    assert (after.by_id["both"].stratum, after.by_id["part"].stratum) == (0, 1)
    assert after.strata == (2, 1)


REVIEWS = {"ann": {1: [LEAK, RACE], 2: [SLOW]}, "bob": {1: [LEAK_AGAIN, STYLE]}}


def test_what_was_drawn_is_stored_with_the_run(tmp_path, monkeypatch):
    run = make_run(tmp_path, {1: [TYPO], 2: [TYPO]}, REVIEWS)
    made = unlisted_of(run, budget=3, seed=5)
    monkeypatch.setattr(module, "group_run", lambda *_: pytest.fail("grouped again"))
    again = unlisted_of(load_run(tmp_path / "run"))
    assert again == made
    assert (again.seed, again.budget) == (5, 3)
    assert unlisted_of(run, budget=2, seed=6) == made  # what was drawn stays drawn
    assert unlisted_of(run, budget=4).seed == 5
    assert unlisted_of(run).budget == 4


def test_a_run_that_decided_more_goes_on_with_its_sample(tmp_path):
    run = make_run(tmp_path, {1: [TYPO], 2: [TYPO]}, REVIEWS)
    made = unlisted_of(run, budget=3, seed=5)
    path = run.folder / "unlisted.json"
    stored = json.loads(path.read_text())
    stored["finished"] = "2001-01-01T00:00:00+00:00"
    # As if STYLE had matched then, and all reviewers counted as one.
    stored["issues"] = [each | {"stratum": 0} for each in stored["issues"] if each["comments"] != [["bob", 1]]]
    stored["strata"], stored["drawn"] = [1], [each["id"] for each in stored["issues"]]
    path.write_text(json.dumps(stored))
    after = known_unlisted(load_run(run.folder))
    assert (after.seed, after.budget, after.strata) == (5, 3, (1, 1))
    assert [replace(issue, stratum=None) for issue in after.issues] == group_run(run)
    assert [issue.stratum for issue in after.issues] == [int(each.comments == (("bob", 1),)) for each in made.issues]
    assert set(after.drawn) >= set(stored["drawn"])
    assert json.loads(path.read_text())["finished"] == run.manifest.finished


def test_another_run_in_the_folder_has_issues_of_its_own(tmp_path):
    before = unlisted_of(make_run(tmp_path, {1: [TYPO], 2: [TYPO]}, REVIEWS))
    run = make_run(tmp_path, {1: [TYPO, LEAK], 2: [TYPO]}, REVIEWS, overwrite=True)
    after = unlisted_of(run)
    assert len(after.issues) == len(before.issues)  # LEAK_AGAIN stays
    assert after.issues != before.issues
    assert json.loads((tmp_path / "run" / "unlisted.json").read_text())["fingerprint"] == run.manifest.fingerprint


def test_a_run_in_memory_has_them_too(tmp_path):
    stored = unlisted_of(make_run(tmp_path / "stored", {1: [TYPO], 2: [TYPO]}, REVIEWS))
    assert unlisted_of(make_run(tmp_path / "memory", {1: [TYPO], 2: [TYPO]}, REVIEWS, stored=False)) == stored


def test_a_budget_of_nothing_is_refused(tmp_path):
    with pytest.raises(UsageError, match="budget of 0"):
        unlisted_of(make_run(tmp_path, {1: [TYPO]}, {"ann": {1: [LEAK]}}), budget=0)


def test_the_queue_is_what_nobody_has_labelled(tmp_path):
    unlisted = unlisted_of(make_run(tmp_path, {1: [TYPO], 2: [TYPO]}, REVIEWS))
    first, *rest = unlisted.queue
    labels, asked = Labels(issues=[label(first, "valid")]), []
    while question := IssueQueue(unlisted, labels, None, lambda issue: None).next():
        asked.append(question.issue)
        labels = Labels(issues=[*labels.issues, label(question.issue, "invalid")])
    assert asked == rest
