"""Labels that override a judge: what they hold for, who is asked, and what is said about it."""

import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_cascade import First, Model

from metareview.api import compare, evaluate_comments
from metareview.errors import UsageError
from metareview.formats.labels import NotePairLabel
from metareview.judges.builtin.cascade import CascadeJudge
from metareview.judges.cascade_questions import ListRules
from metareview.judges.labelled import LabelIndex, judge_with_labels, warnings_of
from metareview.judges.protocol import Answer, Judge, Question

PR, OTHER = (f"https://github.com/octo/app/pull/{number}" for number in (1, 2))
SAID = [
    {"pr": PR, "reviewer": "bot", "comments": [{"note": "leak"}, {"note": "style"}]},
    {"pr": PR, "reviewer": "cat", "comments": [{"note": "leak"}]},
    {"pr": OTHER, "reviewer": "bot", "comments": [{"note": "leak"}]},
]
WANTED = [{"pr": pr, "comments": [{"note": "it leaks"}, {"note": "style"}]} for pr in (PR, OTHER)]
NEGATIVES = [{"pr": PR, "comments": [{"note": "it leaks"}]}]


def question(generated, reference, pr=PR, negative=False):
    pairs = [(g, r) for g in range(len(generated)) for r in range(len(reference))]
    return Question(generated, reference, np.array(pairs, np.int64).reshape(-1, 2), pr, "bot", negative)


def judged(judge, labels, questions):
    return judge_with_labels(judge, LabelIndex.of(labels), questions)


class No(Judge):
    """Calls everything different, and remembers what it was asked."""

    name = "no"
    threshold = 0.5

    def __init__(self):
        self.asked = []

    def judge(self, questions):
        self.asked += questions
        return [Answer(np.full(len(q.pairs), 0.25), np.zeros(len(q.pairs), np.int8), "never") for q in questions]


def write(path, *labels):
    path.write_text("".join(json.dumps(label) + "\n" for label in labels))
    return path


def label(match=True, a="it leaks", b="leak", **more):
    return {"a": a, "b": b, "match": match, **more}


def of_run(match, name="anna", reference=0, **more):
    """As a run's folder keeps one; somebody else's comment."""
    place = {"pr": PR, "reviewer": "cat", "generated": 0, "reference": reference, "at": "2026-01-01T00:00:00Z"}
    return {**place, **label(match, **more), "name": name}


def test_a_label_takes_the_place_of_the_verdict():
    labels = [NotePairLabel("it leaks", "leak", True, pr=PR, by=("anna", "ben"))]
    [answer] = judged(No(), labels, [question(["leak", "style"], ["it leaks"])])
    assert (answer.match.tolist(), answer.score.tolist()) == ([1, 0], [1.0, 0.25])
    assert list(answer.by) == ["label", "judge"]
    assert list(answer.reason) == ["labelled the same by anna and ben, against no (0.25)", "never"]


def test_a_label_holds_for_its_pull_request_and_notes_and_never_for_negatives():
    labels = [NotePairLabel("it leaks", "leak", True, pr=PR)]
    asked = [
        question(["leak"], ["it leaks"], pr="octo/app#1"),
        question(["leak"], ["it leaks"], pr=OTHER),
        question(["Leak"], ["it leaks"]),
        question(["leak"], ["it leaks"], negative=True),
    ]
    assert [answer.match.tolist() for answer in judged(No(), labels, asked)] == [[1], [0], [0], [0]]


def test_a_label_holds_however_the_characters_of_its_notes_are_encoded():
    labels = [NotePairLabel("the cafe\u0301 leaks", "caf\u00e9", True, pr=PR)]
    [answer] = judged(No(), labels, [question(["cafe\u0301"], ["the caf\u00e9 leaks"])])
    assert answer.match.tolist() == [1]


def test_a_label_without_a_pull_request_holds_everywhere_unless_one_is_about_this_one():
    labels = [NotePairLabel("it leaks", "leak", False, pr=PR), NotePairLabel("it leaks", "leak", True)]
    asked = [question(["leak"], ["it leaks"], pr=pr) for pr in (PR, OTHER, "")]
    assert [answer.match.tolist() for answer in judged(No(), labels, asked)] == [[0], [1], [1]]


def test_a_model_is_not_asked_about_labelled_pairs_and_sees_all_notes():
    model = Model({("style", "it leaks")})
    labels = LabelIndex.of([NotePairLabel("it leaks", "leak", False)])
    asked = question(["leak", "style"], ["it leaks"])
    assert model.planned([labels.unlabelled(asked)]).calls == 1
    [answer] = judge_with_labels(model, labels, [asked])
    assert model.asked == [("style", "it leaks")]
    assert (answer.match.tolist(), list(answer.by)) == ([0, 1], ["label", "model"])
    assert list(answer.reason) == ["labelled different", "asked"]
    assert warnings_of(model, labels, [asked]) == ["1 pair decided by labels"]
    assert len(model.rounds) == 1  # the model is not asked for a warning


def test_a_cascade_takes_a_labelled_pair_as_settled():
    model = Model({(0, 1)})
    cascade = CascadeJudge(First({(0, 0): 0.999, (0, 1): 0.5}), model, ListRules())
    asked = Question(["leak"], ["it leaks", "style"], np.array([[0, 0], [0, 1]], np.int64))
    cascade.judge([asked])
    assert model.asked == []  # the first judge is sure of one pair, so the other can add nothing
    judged(cascade, [NotePairLabel("it leaks", "leak", False)], [asked])
    assert model.asked == [("leak", "style")]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_labelled_pair_is_as_labelled_and_every_other_as_judged(data):
    """Against brute force, for a judge that is free and for one that is not."""
    notes = st.sampled_from(["a", "b", "c", "d"])
    generated, reference = (data.draw(st.lists(notes, min_size=1, max_size=4)) for _ in "gr")
    labels = data.draw(
        st.lists(
            st.builds(NotePairLabel, notes, notes, st.booleans(), pr=st.sampled_from([None, PR, OTHER])), max_size=8
        )
    )
    truth = data.draw(st.sets(st.tuples(notes, notes)))
    asked = question(generated, reference)
    held = {(each.candidate, each.reference): each.match for each in labels if each.pr is None}
    held |= {(each.candidate, each.reference): each.match for each in labels if each.pr == PR}
    pairs = [(generated[g], reference[r]) for g, r in asked.pairs.tolist()]
    wanted = [int(held.get(pair, pair in truth)) for pair in pairs]
    for inner in (Model(truth), FreeModel(truth)):
        [answer] = judged(inner, labels, [asked])
        assert answer.match.tolist() == wanted
        by = [answer.by] * len(pairs) if isinstance(answer.by, str) else answer.by
        assert [each == "label" for each in by] == [pair in held for pair in pairs]


class FreeModel(Judge):
    name = "free"

    def __init__(self, truth):
        self.truth = truth

    def judge(self, questions):
        asked = [[(q.generated[g], q.reference[r]) for g, r in q.pairs.tolist()] for q in questions]
        match = [np.array([pair in self.truth for pair in pairs], np.int8) for pairs in asked]
        return [Answer(each.astype(float), each) for each in match]


# Whole runs


def test_labels_override_in_a_run_and_it_says_how_often(tmp_path):
    path = write(
        tmp_path / "labels.jsonl",
        of_run(False),
        of_run(True),  # the later word holds
        of_run(False, a="style", b="style", reference=1),
        of_run(True, a="gone", b="leak", reference=2),
    )
    plain = evaluate_comments(SAID, reference=WANTED, judge="exact", out=tmp_path / "plain")
    run = evaluate_comments(SAID, reference=WANTED, judge="exact", labels=path, out=tmp_path / "labelled")
    # leak = it leaks for bot and cat on the first pull request, and style is not style there.
    assert plain.summary["reviewers"]["bot"]["positive_match_nums"] == 1
    assert run.summary["reviewers"]["bot"]["positive_match_nums"] == 1
    assert run.summary["reviewers"]["cat"]["positive_match_nums"] == 1
    assert run.result.warnings == (
        "pull requests that are absent and not counted: cat 1 of 2; --all-prs counts them as silence",
        "3 pairs decided by labels, 3 against the judge",
        "1 of 3 labels about no pair of this run: another pull request, other notes, or places too far apart",
    )
    assert plain.result.warnings == run.result.warnings[:1]
    assert run.summary["judge"]["name"] == "exact"
    assert [name for name in run.manifest.inputs if name.startswith("labels/")] == ["labels/labels.jsonl"]
    rows = [json.loads(line) for line in (tmp_path / "labelled" / "pairs.jsonl").read_text().splitlines()]
    assert sum(row["by"] == "label" for row in rows) == 3
    told = compare(plain, run, reviewers=["bot"])
    assert "people's labels override the judge in B, and not in A" in told.warnings
    assert not any("labels" in warning for warning in compare(run, run, reviewers=["bot", "cat"], common=True).warnings)


def test_labels_of_references_do_not_touch_negatives(tmp_path):
    path = write(tmp_path / "l.jsonl", label(True))
    said = [{"pr": PR, "reviewer": "bot", "comments": [{"note": "leak"}]}]
    wanted = [{"pr": PR, "comments": [{"note": "style"}]}]
    run = evaluate_comments(said, reference=wanted, negatives=NEGATIVES, judge="exact", labels=path)
    assert run.summary["reviewers"]["bot"]["negative_match_nums"] == 0
    assert "0 pairs decided by labels, 0 against the judge" in run.result.warnings


def test_a_pair_that_its_lines_keep_apart_stays_uncounted(tmp_path):
    path = write(tmp_path / "l.jsonl", label(True))
    said = [{"pr": PR, "reviewer": "bot", "comments": [{"note": "leak", "path": "a.py", "from_line": 1}]}]
    wanted = [{"pr": PR, "comments": [{"note": "it leaks", "path": "a.py", "from_line": 9}]}]
    run = evaluate_comments(said, reference=wanted, judge="exact", labels=path, out=tmp_path / "run")
    assert run.summary["reviewers"]["bot"]["positive_match_nums"] == 0
    assert "1 of 1 label about no pair of this run" in run.result.warnings[-1]
    [row] = [json.loads(line) for line in (tmp_path / "run" / "pairs.jsonl").read_text().splitlines()]
    assert (row["eligible"], row["match"], row["by"]) == (False, True, "label")  # what a wider distance would bring in


def test_labels_over_stored_verdicts_leave_nothing_undecided(tmp_path):
    stored = write(tmp_path / "v.jsonl", label(False, group="g"), label(False, "style", "style", group="g"))
    path = write(tmp_path / "l.jsonl", label(True))
    run = evaluate_comments(SAID, reference=WANTED, verdicts=stored, labels=path, all_prs=True)
    assert run.summary["judge"]["errors"] == 0
    assert run.summary["reviewers"]["bot"]["positive_match_nums"] == 2
    assert "3 pairs decided by labels, 3 against the judge" in run.result.warnings


class Killed(Exception):
    pass


class Dying(No):
    """Dies on the second pull request."""

    def judge(self, questions):
        if any(question.pr == OTHER for question in questions):
            raise Killed
        return super().judge(questions)


def test_a_run_that_was_killed_ends_with_the_same_figures(tmp_path, monkeypatch):
    monkeypatch.setattr("metareview.pipelines.comments.answer.BATCH_PAIRS", 1)
    path = write(tmp_path / "l.jsonl", label(True))

    def run(judge, out):
        return evaluate_comments(SAID, reference=WANTED, judge=judge, labels=path, out=tmp_path / out)

    with suppress(Killed):
        run(Dying(), "killed")
    assert (tmp_path / "killed" / "results.jsonl").read_text()
    again, whole = run(No(), "killed"), run(No(), "whole")
    assert {**again.summary, "run": ""} == {**whole.summary, "run": ""}
    assert "3 pairs decided by labels, 3 against the judge" in again.result.warnings
    write(path, label(False))
    with pytest.raises(UsageError, match="holds another run"):
        run(No(), "killed")


def test_nothing_to_override(tmp_path):
    path = write(tmp_path / "l.jsonl", label(True))
    wanted = [{"pr": PR, "comments": [{"note": "it leaks", "path": "a.py", "from_line": 9}]}]
    with pytest.raises(UsageError, match="goes by location"):
        evaluate_comments(SAID, reference=wanted, judge="none", labels=path)


def test_a_judge_that_answers_too_little_is_refused_as_without_labels(tmp_path):
    class Short(No):
        def judge(self, questions):
            return super().judge(questions)[1:]

    with pytest.raises(UsageError, match="one answer per question"):
        evaluate_comments(SAID, reference=WANTED, judge=Short(), labels=write(tmp_path / "l.jsonl", label(True)))
