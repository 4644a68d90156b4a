"""Which comments a model is asked about, and what the others come to."""

import json
import re

import pytest

from metareview.judges.remote.addressed import AddressedModel
from metareview.model.addressed import Addressed
from metareview.model.comment import Comment
from metareview.model.label import OutcomeLabel
from metareview.outcomes.addressed import OutcomeLabels, decided_by_labels, label_remarks, plan_questions
from metareview.outcomes.finding import Finding
from metareview.outcomes.records import CommentOutcome, OutcomeRecord
from model_server import ModelServer, chat

PR = "https://github.com/o/r/pull/1"


def outcome(position, note, changed, later="+x"):
    return CommentOutcome(position, Comment(note, "a.py", from_line=1), Finding(changed), later_change=later)


def record(*comments, pr=PR, reviewer="bot"):
    return OutcomeRecord(pr, reviewer, comments=comments)


COMMENTS = record(
    outcome(0, "changed", True),
    outcome(1, "stayed", False),
    outcome(2, "nobody knows", None),
    outcome(3, "not known later", None, None),
    outcome(4, "nothing later", False, ""),
)


def verdicts(records):
    return [(each.verdict.verdict, each.verdict.by) if each.verdict else None for r in records for each in r.comments]


@pytest.mark.parametrize(
    ("judge", "asked", "told"),
    [
        (
            "llm",
            ["changed", "stayed", "nobody knows"],
            [("fully", "m"), ("fully", "m"), ("fully", "m"), ("unknown", "lines"), ("not", "lines")],
        ),
        (
            "cascade",
            ["changed", "nobody knows"],
            [("fully", "m"), ("not", "lines"), ("fully", "m"), ("unknown", "lines"), ("not", "lines")],
        ),
        ("none", [], [None] * 5),
    ],
)
def test_what_is_asked_and_what_is_not(judge, asked, told):
    plan = plan_questions([COMMENTS], judge)
    assert [question.comment.splitlines()[-1] for question in plan.questions] == asked
    assert verdicts(plan.answered([Addressed("fully", "m")] * len(asked))) == told
    assert plan.spared == sum(each is not None and each[1] == "lines" for each in told)


def test_why_a_comment_was_not_asked_about():
    plan = plan_questions([COMMENTS], "cascade")
    assert [each and each.reason for each in plan.known[0]] == [
        None,
        "its lines were not changed",
        None,
        "the later change is not known",
        "its lines were not changed",
    ]
    assert plan_questions([COMMENTS], "llm").known[0][4].reason == "nothing was changed after the comment"


def test_the_cascade_calls_the_model_less_often():
    def script(exchange):
        found = re.search(r"line 1:\n(.*)\n", exchange.body["messages"][-1]["content"])
        return chat(json.dumps({"verdict": "partly" if found[1] == "changed" else "not", "reason": "r"}))

    calls = {}
    with ModelServer(script) as server:
        for judge in ("llm", "cascade"):
            with AddressedModel(server.settings()) as model:
                plan = plan_questions([COMMENTS], judge)
                assert model.planned(plan.questions).calls == len(plan.questions)
                records = plan.answered(model.ask(plan.questions))
                calls[judge] = model.usage.llm_calls
    assert calls == {"llm": 3, "cascade": 2}
    assert verdicts(records)[:3] == [("partly", "model"), ("not", "lines"), ("not", "model")]


def label(position, note, verdict="fully", **more):
    return OutcomeLabel(**{"pr": "o/r#1", "reviewer": "bot", "at": "2026-01-01", "name": None} | more,
                        position=position, note=note, verdict=verdict)  # fmt: skip


def test_labels_override_and_spare_the_model():
    labels = OutcomeLabels([label(0, "changed", "not"), label(1, "stayed", "partly", name="anna"), label(9, "gone")])
    plan = plan_questions([COMMENTS], "cascade", labels)
    told = plan.answered([Addressed("fully", "model")])
    assert verdicts(told)[:3] == [("not", "label"), ("partly", "label"), ("fully", "model")]
    assert told[0].comments[1].verdict.reason == "labelled by anna"
    assert plan.spared == 2
    assert decided_by_labels(told, "llm") == (2, 0)
    assert list(label_remarks(labels, *decided_by_labels(told, "cascade"))) == [
        "2 comments decided by labels, 1 of them against what changed",
        "1 of 3 labels about no comment of this run: another pull request, reviewer or note",
    ]


def test_a_label_follows_its_note_where_that_is_beyond_doubt():
    twice = record(outcome(3, "same", True), outcome(5, "same", True), outcome(6, "once", True))
    assert list(OutcomeLabels([label(0, "once")]).of(twice)) == [6]
    assert OutcomeLabels([label(0, "same")]).of(twice) == {}, "which of the two?"
    assert list(OutcomeLabels([label(5, "same")]).of(twice)) == [5]
    assert OutcomeLabels([label(6, "other")]).of(twice) == {}
    assert OutcomeLabels([label(6, "once", reviewer="ann")]).of(twice) == {}
    assert OutcomeLabels([label(6, "once", pr="o/r#2")]).of(twice) == {}
    assert OutcomeLabels([label(6, "once", None)]).of(twice) == {}, "taken back"


def test_without_a_judge_labels_alone_decide():
    plan = plan_questions([COMMENTS], "none", OutcomeLabels([label(2, "nobody knows", "unknown")]))
    assert verdicts(plan.answered([])) == [None, None, ("unknown", "label"), None, None]


def test_as_many_answers_as_questions():
    with pytest.raises(ValueError, match="1 answers to 3 questions"):
        plan_questions([COMMENTS], "llm").answered([Addressed("not", "model")])
