"""Unmatched comments become issues across reviewers by complete linkage."""

import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unlisted_runs import LEAK, LEAK_AGAIN, RACE, SLOW, STYLE, TYPO, comment, make_run, pull

from metareview.comments.location import may_match
from metareview.comparison import unlisted_grouping as module
from metareview.comparison.unlisted import unlisted_of
from metareview.comparison.unlisted_grouping import Unmatched, group_pool, group_run
from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.protocol import Question
from metareview.model.comment import Comment


def said_by(issues):
    return sorted((issue.pr[-1], issue.comments) for issue in issues)


def test_comments_of_several_reviewers_that_say_the_same_are_one_issue(tmp_path):
    reviews = {"ann": {1: [TYPO, LEAK, RACE]}, "bob": {1: [LEAK_AGAIN]}, "cid": {2: [LEAK]}}
    issues = group_run(make_run(tmp_path, {1: [TYPO], 2: [STYLE]}, reviews))
    # TYPO matches a reference. What is said of another pull request is another issue.
    assert said_by(issues) == [("1", (("ann", 1), ("bob", 0))), ("1", (("ann", 2),)), ("2", (("cid", 0),))]
    both = next(issue for issue in issues if len(issue.comments) == 2)
    assert (both.reviewers, both.sources, both.known_invalid) == (("ann", "bob"), 2, False)


def test_places_keep_issues_apart_unless_the_run_compares_none(tmp_path):
    reviews = {
        "ann": {1: [comment(LEAK, 10)]},
        "bob": {1: [comment(LEAK, 12)]},
        "cid": {1: [comment(LEAK, 10, "b.py")]},
    }
    references = {1: [TYPO]}
    near = group_run(make_run(tmp_path / "near", references, reviews, line_distance=2))
    assert said_by(near) == [("1", (("ann", 0), ("bob", 0))), ("1", (("cid", 0),))]
    assert len(group_run(make_run(tmp_path / "exact", references, reviews, line_distance=1))) == 3
    assert len(group_run(make_run(tmp_path / "anywhere", references, reviews, ignore_location=True))) == 1


def test_an_issue_is_not_chained_through_others(tmp_path):
    # Lines 10 and 14 are too far apart, though each is near 12. Of two equal scores the first place goes first.
    reviews = {name: {1: [comment(LEAK, line)]} for name, line in (("ann", 10), ("bob", 12), ("cid", 14))}
    issues = group_run(make_run(tmp_path, {1: [TYPO]}, reviews, line_distance=2))
    assert [issue.reviewers for issue in issues] == [("ann", "bob"), ("cid",)]


def test_two_comments_of_a_reviewer_share_an_issue_without_being_repeats(tmp_path):
    reviews = {"ann": {1: [LEAK, LEAK_AGAIN, LEAK + " "]}, "bob": {1: [TYPO, TYPO]}}
    run = make_run(tmp_path, {1: [TYPO]}, reviews, ignore_location=True)
    leak, typo = group_run(run)
    assert leak.comments == (("ann", 0), ("ann", 1), ("ann", 2))
    assert leak.repeats == {("ann", 2)}  # the same words; the second has less than 70 % of them in order
    assert leak.counted == {"ann": 2}
    # The first TYPO matches the reference. The second is unmatched, and repeats it.
    assert (typo.comments, typo.repeats) == ((("bob", 1),), {("bob", 1)})


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
    assert [issue.comments for issue in group_run(run)] == [(("ann", 2),)]


def test_names_hold_for_the_notes_and_not_for_the_order_of_reviewers(tmp_path):
    ann, bob = {"ann": {1: [LEAK, RACE]}}, {"bob": {1: [LEAK_AGAIN]}}
    one = group_run(make_run(tmp_path / "one", {1: [TYPO]}, ann | bob))
    two = group_run(make_run(tmp_path / "two", {1: [TYPO]}, bob | ann))
    assert one == two
    assert len({issue.id for issue in one}) == 2
    assert all(len(issue.id) == 12 for issue in one)
    other = group_run(make_run(tmp_path / "three", {1: [TYPO]}, {"ann": {1: [LEAK, RACE + " Really."]}} | bob))
    assert one[0] == other[0]
    assert one[1].comments == other[1].comments
    assert one[1].id != other[1].id


NOTES = [LEAK, LEAK_AGAIN, RACE, TYPO, SLOW, STYLE, "", "Close the handle of `readAll`.", "`counter` needs the lock."]


def pair_scores(pool, distance, anywhere):
    """Every pair that may be of one issue, each judged as a question of its own either way."""
    judge, one_pair = OfflineJudge(), np.zeros((1, 2), np.int64)
    found = {}
    for i, one in enumerate(pool):
        for j in range(i):
            other = pool[j]
            if not anywhere and not may_match(one.comment, other.comment, distance):
                continue
            if one.content == other.content:
                found[j, i] = 1.0
                continue
            a, b = one.comment.note, other.comment.note
            scores = [
                answer.score[0] for answer in judge.judge([Question([a], [b], one_pair), Question([b], [a], one_pair)])
            ]
            if round(sum(scores) / 2, 9) >= judge.threshold:
                found[j, i] = round(sum(scores) / 2, 9)
    return found


def by_definition(pool, distance, anywhere):
    """Of all pairs of groups whose pairs are all edges, the one with the highest least score is joined, until there is
    none. Pairs of equal scores are in the order of contents."""
    pool = sorted(pool, key=lambda each: each.content)
    scores = pair_scores(pool, distance, anywhere)
    place = {content: at for at, content in enumerate(dict.fromkeys(each.content for each in pool))}
    of = [place[each.content] for each in pool]
    strength = {pair: (score, of[pair[0]] == of[pair[1]], -of[pair[0]], -of[pair[1]]) for pair, score in scores.items()}
    groups = [[at] for at in range(len(pool))]
    while True:
        joinable = []
        for a, b in combinations(groups, 2):
            across = [strength.get((min(i, j), max(i, j))) for i in a for j in b]
            if None not in across:
                joinable.append((min(across), a, b))
        if not joinable:
            return sorted(tuple(sorted((pool[at].reviewer, pool[at].position) for at in each)) for each in groups)
        _, a, b = max(joinable, key=lambda each: each[0])
        groups = [each for each in groups if each not in (a, b)] + [a + b]


comments = st.builds(
    Comment,
    note=st.sampled_from(NOTES),
    path=st.sampled_from(["a.py", "b.py", None]),
    side=st.sampled_from(["left", "right", None]),
    from_line=st.one_of(st.none(), st.integers(1, 6)),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(comments, max_size=9), st.integers(0, 2), st.booleans(), st.sampled_from([1, 2, 64]), st.randoms())
def test_issues_are_by_definition_whatever_the_order(said, distance, anywhere, rows, chance):
    pool = [Unmatched("ab"[number % 2], number, each) for number, each in enumerate(said)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ROWS", rows)
        found = group_pool("pr", chance.sample(pool, len(pool)), distance, anywhere=anywhere)
    assert sorted(issue.comments for issue in found) == by_definition(pool, distance, anywhere)
    # Other names and other positions of the same comments change no issue.
    moved = chance.sample(range(len(pool)), len(pool))
    renamed = [Unmatched("zy"[each.position % 2], moved[each.position], each.comment) for each in pool]
    again = group_pool("pr", renamed, distance, anywhere=anywhere)
    origin = {("zy"[each.position % 2], moved[each.position]): (each.reviewer, each.position) for each in pool}
    assert sorted(tuple(sorted(origin[key] for key in issue.comments)) for issue in again) == sorted(
        issue.comments for issue in found
    )


def test_too_many_pairs_are_grouped_in_halves(monkeypatch):
    # 24 notes at each of two places: 2 * 276 pairs and none across.
    notes = [(f"{LEAK} See item {number}.", line) for line in (10, 90) for number in range(24)]
    pool = [Unmatched("ann", number, comment(*each)) for number, each in enumerate(notes)]
    whole = group_pool("pr", pool, 1, anywhere=False)
    monkeypatch.setattr(module, "_EDGES", 300)
    assert group_pool("pr", pool, 1, anywhere=False) == whole
    assert len(whole) == 2
    monkeypatch.setattr(module, "_EDGES", 100)
    assert len(group_pool("pr", pool, 1, anywhere=False)) == 4


def test_progress_is_told_per_pull_request(tmp_path):
    told = []
    group_run(
        make_run(tmp_path, {1: [TYPO], 2: [TYPO]}, {"ann": {1: [LEAK], 2: [SLOW]}}), lambda *each: told.append(each)
    )
    assert told == [(1, 2), (2, 2)]


def test_thousands_of_comments_on_one_line_are_not_all_held_at_once():
    notes = [f"{NOTES[number % 6]} See item {number}." for number in range(1500)]
    pool = [Unmatched("ann", n, comment(note)) for n, note in enumerate(notes)]
    tracemalloc.start()
    issues = group_pool(pull(1), pool, 1, anywhere=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(len(issue.comments) for issue in issues) == 1500
    # All pairs with their scores would take 1500 * 1500 * 5 * 8 bytes, 90 MB.
    assert peak < 60e6
