"""Unmatched comments become issues across reviewers; some of them are drawn, and all are stored with the run."""

import json
import random
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unlisted_runs import LEAK, LEAK_AGAIN, RACE, SLOW, STYLE, TYPO, comment, label, make_run, pull

from metareview.api import load_run
from metareview.comments.location import may_match
from metareview.comparison import unlisted as module
from metareview.comparison.queue import IssueQueue
from metareview.comparison.unlisted import _Unmatched, draw_unlisted, group, read_evidence, unlisted_of
from metareview.errors import UsageError
from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.protocol import Question
from metareview.model.comment import Comment
from metareview.model.label import Labels
from metareview.model.unlisted import Issue


def said_by(issues):
    return sorted((issue.pr[-1], issue.comments) for issue in issues)


def test_comments_of_several_reviewers_that_say_the_same_are_one_issue(tmp_path):
    reviews = {"ann": {1: [TYPO, LEAK, RACE]}, "bob": {1: [LEAK_AGAIN]}, "cid": {2: [LEAK]}}
    issues = group(make_run(tmp_path, {1: [TYPO], 2: [STYLE]}, reviews))
    # TYPO matches a reference. What is said of another pull request is another issue.
    assert said_by(issues) == [("1", (("ann", 1), ("bob", 0))), ("1", (("ann", 2),)), ("2", (("cid", 0),))]
    both = next(issue for issue in issues if len(issue.comments) == 2)
    assert (both.reviewers, both.stratum, both.known_invalid) == (("ann", "bob"), 1, False)


def test_places_keep_issues_apart_unless_the_run_compares_none(tmp_path):
    reviews = {
        "ann": {1: [comment(LEAK, 10)]},
        "bob": {1: [comment(LEAK, 12)]},
        "cid": {1: [comment(LEAK, 10, "b.py")]},
    }
    references = {1: [TYPO]}
    near = group(make_run(tmp_path / "near", references, reviews, line_distance=2))
    assert said_by(near) == [("1", (("ann", 0), ("bob", 0))), ("1", (("cid", 0),))]
    assert len(group(make_run(tmp_path / "exact", references, reviews, line_distance=1))) == 3
    assert len(group(make_run(tmp_path / "anywhere", references, reviews, ignore_location=True))) == 1


def test_an_issue_is_connected_through_others(tmp_path):
    # Lines 10 and 14 are too far apart, but each is near 12.
    reviews = {name: {1: [comment(LEAK, line)]} for name, line in (("ann", 10), ("bob", 12), ("cid", 14))}
    [issue] = group(make_run(tmp_path, {1: [TYPO]}, reviews, line_distance=2))
    assert (issue.reviewers, issue.stratum) == (("ann", "bob", "cid"), 2)


def test_what_repeats_a_negative_is_known_to_be_invalid_and_never_drawn(tmp_path):
    reviews = {"ann": {1: [STYLE, RACE]}, "bob": {1: [STYLE + " "]}}
    run = make_run(tmp_path, {1: [TYPO]}, reviews, negatives={1: [STYLE]})
    unlisted = unlisted_of(run)
    known = [issue for issue in unlisted.issues if issue.known_invalid]
    assert said_by(known) == [("1", (("ann", 0), ("bob", 0)))]
    assert [issue.comments for issue in unlisted.queue] == [(("ann", 1),)]
    assert unlisted.open == unlisted.queue


def test_what_is_left_out_of_the_figures_is_no_issue(tmp_path):
    references = {1: [TYPO, comment(RACE, neutral=True)]}
    run = make_run(tmp_path, references, {"ann": {1: [TYPO, RACE, LEAK]}})
    assert [issue.comments for issue in group(run)] == [(("ann", 2),)]


def test_names_hold_for_the_notes_and_not_for_the_order_of_reviewers(tmp_path):
    ann, bob = {"ann": {1: [LEAK, RACE]}}, {"bob": {1: [LEAK_AGAIN]}}
    one = group(make_run(tmp_path / "one", {1: [TYPO]}, ann | bob))
    two = group(make_run(tmp_path / "two", {1: [TYPO]}, bob | ann))
    assert one == two
    assert len({issue.id for issue in one}) == 2
    assert all(len(issue.id) == 12 for issue in one)
    other = group(make_run(tmp_path / "three", {1: [TYPO]}, {"ann": {1: [LEAK, RACE + " Really."]}} | bob))
    assert one[0] == other[0]
    assert one[1].comments == other[1].comments
    assert one[1].id != other[1].id


def test_evidence_is_what_there_is_to_read(tmp_path):
    run = make_run(tmp_path, {1: [TYPO, SLOW]}, {"ann": {1: [LEAK]}, "bob": {1: [TYPO, LEAK_AGAIN]}})
    [issue] = group(run)
    evidence = read_evidence(run, [issue])[issue.id]
    assert [(said.reviewer, said.position, said.comment.note) for said in evidence.comments] == [
        ("ann", 0, LEAK),
        ("bob", 1, LEAK_AGAIN),
    ]
    assert [reference.note for reference in evidence.references] == [TYPO, SLOW]


NOTES = [LEAK, LEAK_AGAIN, RACE, TYPO, SLOW, STYLE, "", "Close the handle of `readAll`.", "`counter` needs the lock."]


def by_definition(pool, distance, anywhere):
    """Components of all pairs, each judged as a question of its own either way, joined one by one."""
    judge, one_pair = OfflineJudge(), np.zeros((1, 2), np.int64)
    group_of = list(range(len(pool)))
    for i, one in enumerate(pool):
        for j in range(i):
            other = pool[j]
            if not anywhere and not may_match(one.comment, other.comment, distance):
                continue
            a, b = one.comment.note, other.comment.note
            scores = [
                answer.score[0] for answer in judge.judge([Question([a], [b], one_pair), Question([b], [a], one_pair)])
            ]
            if sum(scores) / 2 >= judge.threshold:
                group_of = [group_of[j] if each == group_of[i] else each for each in group_of]
    groups = {}
    for each, number in zip(pool, group_of, strict=True):
        groups.setdefault(number, []).append((each.reviewer, each.position))
    return sorted(tuple(sorted(members)) for members in groups.values())


comments = st.builds(
    Comment,
    note=st.sampled_from(NOTES),
    path=st.sampled_from(["a.py", "b.py", None]),
    side=st.sampled_from(["left", "right", None]),
    from_line=st.one_of(st.none(), st.integers(1, 6)),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(comments, max_size=9), st.integers(0, 2), st.booleans(), st.sampled_from([1, 2, 64]))
def test_issues_are_the_components_by_definition(said, distance, anywhere, rows):
    pool = [_Unmatched("ab"[number % 2], number, each, False) for number, each in enumerate(said)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ROWS", rows)
        found = module._issues("pr", random.Random(0).sample(pool, len(pool)), distance, anywhere=anywhere)
    assert sorted(issue.comments for issue in found) == by_definition(pool, distance, anywhere)


def some_issues(*sizes, invalid=0):
    """As many issues as these said by one, two, three reviewers."""
    names = iter(range(10_000))
    issues = [
        Issue(f"q{next(names)}", "pr", tuple((reviewer, 0) for reviewer in "abcd"[:reviewers]))
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


def test_a_larger_budget_adds_to_the_sample_of_each_stratum():
    issues = some_issues(100, 50, 30)
    small, large = (draw_unlisted(issues, budget).queue for budget in (40, 90))
    for stratum in range(3):
        of_small, of_large = ([i.id for i in queue if i.stratum == stratum] for queue in (small, large))
        assert of_large[: len(of_small)] == of_small


REVIEWS = {"ann": {1: [LEAK, RACE], 2: [SLOW]}, "bob": {1: [LEAK_AGAIN, STYLE]}}


def test_what_was_drawn_is_stored_with_the_run(tmp_path, monkeypatch):
    run = make_run(tmp_path, {1: [TYPO], 2: [TYPO]}, REVIEWS)
    made = unlisted_of(run, budget=3, seed=5)
    monkeypatch.setattr(module, "group", lambda *_: pytest.fail("grouped again"))
    again = unlisted_of(load_run(tmp_path / "run"))
    assert (again.seed, again.budget, again.issues, again.drawn) == (5, 3, made.issues, made.drawn)
    assert unlisted_of(run, budget=4).seed == 5
    assert unlisted_of(run).budget == 4


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


def test_progress_is_told_per_pull_request(tmp_path):
    told = []
    group(make_run(tmp_path, {1: [TYPO], 2: [TYPO]}, REVIEWS), lambda *each: told.append(each))
    assert told == [(1, 2), (2, 2)]


def test_thousands_of_comments_on_one_line_are_not_all_held_at_once():
    notes = [f"{NOTES[number % 6]} See item {number}." for number in range(1500)]
    pool = [_Unmatched("ann", n, comment(note), False) for n, note in enumerate(notes)]
    tracemalloc.start()
    issues = module._issues(pull(1), pool, 1, anywhere=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(len(issue.comments) for issue in issues) == 1500
    # All pairs with their scores would take 1500 * 1500 * 5 * 8 bytes, 90 MB.
    assert peak < 60e6
