"""What a run missed, what is noise, what nearly matched: which entries, in which order, with what beside them."""

import random

import numpy as np
import pytest

import metareview as mr
from metareview.comparison.disagreement import disagreements
from metareview.comparison.evidence import evidence
from metareview.comparison.evidence_search import LISTS, Best
from metareview.errors import InputError, UsageError
from metareview.judges.protocol import DIFFERENT, SAME, UNDECIDED, Answer
from metareview.model.severity import UNKNOWN, severity_rank
from metareview.runs.run import load_run


class Table(mr.Judge):
    """Scores by pairs of notes; from 0.5 on they are the same, None is undecided, and what is not listed scores 0.1."""

    name = "table"
    threshold = 0.5

    def __init__(self, name="table", **scores):
        self.name, self.scores = name, {tuple(key.split("_")): score for key, score in scores.items()}

    def judge(self, questions):
        return [self._answer(question) for question in questions]

    def _answer(self, question):
        notes = [(question.generated[g], question.reference[r]) for g, r in question.pairs.tolist()]
        scores = [self.scores.get(pair, 0.1) for pair in notes]
        score = np.array([np.nan if each is None else each for each in scores], np.float64)
        match = [UNDECIDED if each is None else SAME if each >= 0.5 else DIFFERENT for each in scores]
        return Answer(score, np.array(match, np.int8), reason=[f"{a} and {b}" for a, b in notes])


def pull(number, repo="repo"):
    return f"https://github.com/owner/{repo}/pull/{number}"


def note(text, line=1, path="a.py", **fields):
    return {"note": text, "path": path, "side": "right", "from_line": line, "to_line": line, **fields}


def said(pr, reviewer, *comments):
    return {"pr": pr, "reviewer": reviewer, "comments": list(comments)}


def references(pr, *comments, **fields):
    return {"pr": pr, "comments": list(comments), **fields}


def notes(entries):
    """What each entry is about, and its partner."""
    return [
        (entry.comment and entry.comment.comment.note, entry.other and entry.other.comment.note) for entry in entries
    ]


@pytest.fixture
def run():
    """`ann` raises r1, `bob` r1 and r2; nobody raises r3 (which g3 of ann nearly is), r4 and r5."""
    return mr.evaluate_comments(
        [
            said(pull(9), "ann", note("g1", 1), note("g3", 40), note("odd", 200)),
            said(pull(9), "bob", note("h1", 1), note("h2", 10)),
            said(pull(10), "ann", note("far", 51, severity="critical"), note("rejected", 90)),
            said(pull(10), "bob"),
        ],
        reference=[
            references(pull(9), note("r1", 1), note("r2", 10), note("r3", 40, severity="LOW")),
            references(pull(10), note("r4", 40, severity="Blocker"), note("r5", 180)),
        ],
        negatives=[references(pull(10), note("n1", 90))],
        judge=Table(g1_r1=0.9, h1_r1=0.6, h2_r2=0.7, g3_r3=0.45, far_r4=0.8, rejected_n1=0.95),
    )


def test_what_nobody_raised_the_most_severe_first(run):
    found = evidence(run)
    assert found.counts == {"missed": 3, "noise": 4, "near": 1, "matched": 3, "undecided": 0}
    r4, r3, r5 = found.lists["missed"]
    # r4 was said, 11 lines too far away: judged because that costs nothing, and never counted.
    assert notes([r4, r3, r5]) == [("far", "r4"), ("g3", "r3"), (None, "r5")]
    assert (r4.verdict.score, r4.verdict.match, r4.gap, r4.eligible, r4.reviewer) == (0.8, True, 11, False, "ann")
    assert (r3.verdict.score, r3.verdict.match, r3.eligible, r3.raised_by) == (0.45, False, True, ())
    assert r3.verdict.reason == "g3 and r3"
    assert (r5.verdict, r5.reviewer) == (None, None)


def test_what_one_reviewer_missed_and_who_else_raised_it(run):
    found = evidence(run, ["missed"], reviewers=["ann"])
    assert [(e.other.comment.note, e.raised_by) for e in found.lists["missed"]] == [
        ("r4", ()),
        ("r3", ()),
        ("r2", ("bob",)),
        ("r5", ()),
    ]
    assert (found.reviewers, found.everybody) == (("ann",), False)
    by_bob = evidence(run, reviewers=["bob"])
    # bob's r3 has no comment of bob's near it: ann's does not count.
    assert notes(by_bob.lists["missed"]) == [(None, "r4"), (None, "r3"), (None, "r5")]
    assert (by_bob.counts["noise"], by_bob.counts["near"], by_bob.counts["matched"]) == (0, 0, 2)


def test_noise_that_repeats_a_negative_comes_first_then_the_loudest_then_the_furthest(run):
    found = evidence(run, ["noise"]).lists["noise"]
    assert notes(found) == [("rejected", "n1"), ("far", "r4"), ("odd", None), ("g3", "r3")]
    assert [(entry.rejected, entry.raised_by) for entry in found] == [(True, ()), *[(False, ())] * 3]
    assert found[0].verdict.score == 0.95


def test_matches_begin_with_the_most_doubtful(run):
    found = evidence(run, ["matched"]).lists["matched"]
    assert [(entry.verdict.score, entry.raised_by) for entry in found] == [
        (0.6, ("ann", "bob")),
        (0.7, ("bob",)),
        (0.9, ("ann", "bob")),
    ]


def test_near_misses_say_what_their_two_sides_are_counted_for():
    run = mr.evaluate_comments(
        [said(pull(1), "ann", note("a", 1), note("b", 1))],
        reference=[references(pull(1), note("x", 1), note("y", 1))],
        judge=Table(a_x=0.9, b_x=0.8, b_y=0.3, a_y=0.4),
    )
    found = evidence(run)
    near = found.lists["near"]
    assert [(e.comment.comment.note, e.other.comment.note, e.verdict.score) for e in near] == [
        ("a", "y", 0.4),
        ("b", "y", 0.3),
    ]
    assert (near[0].comment_raises.comment.note, near[0].raised_instead) == ("x", None)
    assert near[1].comment_raises is None
    # The judge calls b and x the same, but x went to a.
    [b] = found.lists["noise"]
    assert (b.other.comment.note, b.verdict.match, b.raised_instead.comment.note) == ("x", True, "a")


def test_undecided_pairs_with_references_and_negatives():
    run = mr.evaluate_comments(
        [said(pull(1), "ann", note("a", 1), note("b", 50))],
        reference=[references(pull(1), note("x", 1))],
        negatives=[references(pull(1), note("n", 50))],
        judge=Table(a_x=None, b_n=None),
    )
    found = evidence(run)
    assert [(e.comment.comment.note, e.other.comment.note, e.rejected) for e in found.lists["undecided"]] == [
        ("a", "x", False),
        ("b", "n", True),
    ]
    assert found.counts["undecided"] == run.result.judge.errors == 2
    assert found.lists["undecided"][0].verdict.match is None


def test_what_filters_and_neutral_references_leave_aside_is_in_no_list():
    run = mr.evaluate_comments(
        [said(pull(1), "ann", note("a", 1), note("b", 50), note("c", 90))],
        reference=[
            references(
                pull(1), note("x", 1, neutral=True), note("y", 50, severity="Low"), note("z", 90, severity="High")
            )
        ],
        filters=mr.FilterConfig(severities=["High"]),
        judge=Table(a_x=0.9, b_y=0.9, c_z=0.2),
    )
    found = evidence(run)
    assert notes(found.lists["missed"]) == notes(found.lists["noise"]) == notes(found.lists["near"]) == [("c", "z")]


def test_lists_are_as_long_as_the_figures_say(run, tmp_path):
    demo = mr.evaluate_comments(
        [
            said(pull(n), who, *(note(f"{who}{k}", 9 * k) for k in range(1, 6)))
            for n in range(1, 5)
            for who in ("p", "q")
        ],
        reference=[references(pull(n), *(note(f"r{k}", 9 * k) for k in range(1, 6))) for n in range(1, 5)],
        judge=Table(p1_r1=0.9, q1_r1=0.9, p2_r2=0.7),
        out=tmp_path / "run",
    )
    for names in (["p"], ["q"]):
        [block] = [demo.result.reviewers[name] for name in names]
        found = evidence(demo, reviewers=names)
        assert found.counts["noise"] == block.counts.unmatched
        assert found.counts["missed"] == block.counts.expected - block.counts.covered
        assert found.counts["matched"] == block.counts.matched


def test_only_the_first_are_kept_and_the_order_does_not_depend_on_the_input(tmp_path):
    generated = [said(pull(n), "ann", note(f"g{n}", 1)) for n in range(1, 31)]
    reference = [references(pull(n), note(f"r{n}", 1)) for n in range(1, 31)]
    judge = Table(**{f"g{n}_r{n}": round(0.01 * (n % 7), 2) for n in range(1, 31)})
    first = mr.evaluate_comments(generated, reference=reference, judge=judge, out=tmp_path / "a")
    other = mr.evaluate_comments(generated[::-1], reference=reference[::-1], judge=judge)
    whole = evidence(first, top=0)
    for name in LISTS:
        assert whole.lists[name] == evidence(other, top=0).lists[name]
        assert evidence(first, top=4).lists[name] == whole.lists[name][:4]
    # Equal scores go by pull request, #6 before #13.
    assert [entry.pr for entry in whole.lists["near"]][:3] == [pull(6), pull(13), pull(20)]
    assert evidence(load_run(tmp_path / "a")).to_dict()["near"] == evidence(other).to_dict()["near"]


@pytest.mark.parametrize("top", [0, 1, 3, 500])
def test_the_best_of_many_are_those_that_sorting_gives(top):
    random.seed(top)
    keys = random.sample(range(100_000), 2_000)
    best = Best(top)
    for key in keys:
        best.add((key,), key)
    assert best.items() == sorted(keys)[: top or None]
    assert best.total == 2_000
    assert not top or len(best._held) <= top


def test_a_pull_request_goes_by_any_of_its_names(run):
    for text in (pull(9), "owner/repo#9", "repo#9", "9", "https://api.github.com/repos/Owner/Repo/pulls/9"):
        found = evidence(run, prs=[text])
        assert (found.prs, found.counts["missed"], found.counts["noise"]) == ((pull(9),), 1, 2)
    assert evidence(run, prs=["9", "10", "repo#9"]).counts == evidence(run).counts
    with pytest.raises(UsageError, match=r"has no pull request '11'.*There are owner/repo#9, owner/repo#10"):
        evidence(run, prs=["11"])
    with pytest.raises(UsageError, match=r"Did you mean 'owner/repo#9'\?"):
        evidence(run, prs=["ownr/repo#9"])


def test_a_number_that_two_have_is_not_guessed():
    run = mr.evaluate_comments(
        [said(pull(1, repo), "ann", note("a")) for repo in ("one", "two")],
        reference=[references(pull(1, repo), note("x")) for repo in ("one", "two")],
        judge="exact",
    )
    with pytest.raises(UsageError, match=r"may be any of github.com/owner/one#1, github.com/owner/two#1"):
        evidence(run, prs=["1"])
    assert evidence(run, prs=["two#1"]).counts["missed"] == 1


def test_an_unknown_reviewer_is_refused(run):
    with pytest.raises(UsageError, match=r"named 'anne'. Did you mean 'ann'\? There are ann, bob"):
        evidence(run, reviewers=["anne"])


def test_a_folder_that_lost_its_pairs_is_refused(tmp_path):
    mr.evaluate_comments(
        [said(pull(1), "ann", note("a"))],
        reference=[references(pull(1), note("a"))],
        judge="exact",
        out=tmp_path / "run",
    )
    (tmp_path / "run" / "pairs.jsonl").unlink()
    with pytest.raises(InputError, match=r"pairs.jsonl: a damaged run: it is missing"):
        evidence(load_run(tmp_path / "run"))


def test_severity_in_the_words_of_many_tools():
    worst_first = ["Blocker", "major", " Warning", "MINOR", "nit", "whatever"]
    assert [severity_rank(word) for word in worst_first] == [0, 1, 2, 3, 4, UNKNOWN]


def two_judges(first, second, order=1):
    generated = [said(pull(1), "ann", note("a", 1), note("b", 1), note("a", 90), note("c", 1))][::order]
    reference = [references(pull(1), *[note("x", 1), note("y", 90)][::order])]
    return [
        mr.evaluate_comments(generated, reference=reference, judge=first),
        mr.evaluate_comments(generated, reference=reference, judge=second),
    ]


def test_where_two_judges_differ_the_widest_apart_first():
    lenient = Table("lenient", a_x=0.9, b_x=0.6, c_x=0.7, a_y=0.3)
    strict = Table("strict", a_x=0.8, b_x=0.4, c_x=0.1, a_y=0.9)
    found = disagreements(*two_judges(lenient, strict))
    assert [(e.entry.comment.comment.note, e.entry.other.comment.note, e.second.score) for e in found.entries] == [
        ("a", "y", 0.9),
        ("c", "x", 0.1),
        ("b", "x", 0.4),
    ]
    assert [round(each.apart, 6) for each in found.entries] == [0.6, 0.6, 0.2]
    # lenient: x3 yes, 1 no; strict: 2 yes, 2 no; both yes 1 (a, x). Observed 1/4, expected (3*2 + 1*2)/16 = 1/2.
    assert (found.compared, found.differ, found.undecided) == (4, 3, 0)
    assert found.kappa == pytest.approx((0.25 - 0.5) / (1 - 0.5))
    assert found.judges == ("lenient", "strict")
    assert len(disagreements(*two_judges(lenient, strict), top=1).entries) == 1


def test_pairs_are_the_same_by_their_notes_wherever_they_stand():
    first, _ = two_judges(Table("one", a_x=0.9), Table("one"))
    generated = [said("owner/repo#1", "ann", note("c", 1), note("b", 1), note("a", 1))]
    reference = [references("owner/repo#1", note("new", 1), note("x", 1))]
    second = mr.evaluate_comments(generated, reference=reference, judge=Table("two", b_x=0.9))
    found = disagreements(first, second)
    assert [e.entry.comment.comment.note for e in found.entries] == ["a", "b"]
    assert found.compared == 3


def test_undecided_pairs_are_counted_apart():
    found = disagreements(*two_judges(Table("one", a_x=None, b_x=0.9), Table("two", c_x=None, b_x=0.9)))
    assert (found.compared, found.differ, found.undecided) == (2, 0, 2)


def test_runs_without_a_common_pair_are_refused(run):
    with pytest.raises(UsageError, match=r"no pair of notes in common.*again with another --judge"):
        disagreements(run, two_judges(Table("one"), Table("two"))[0])
    renamed = mr.evaluate_comments(
        [said(pull(9), "carl", note("g1", 1))], reference=[references(pull(9), note("r1", 1))], judge=Table()
    )
    with pytest.raises(UsageError, match="the reviewers of the one are ann, bob, those of the other carl"):
        disagreements(run, renamed)
