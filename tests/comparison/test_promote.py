"""Valid unlisted issues as references, and the labels of a model."""

import json
import re

import pytest
from unlisted_runs import LEAK, LEAK_AGAIN, RACE, SLOW, STYLE, TYPO, comment, label, make_run, pull

from metareview.api import evaluate_comments
from metareview.comparison.promote import promoted_reviews
from metareview.comparison.unlisted import read_evidence, unlisted_of
from metareview.comparison.unlisted_figures import unlisted_figures
from metareview.comparison.unlisted_model import issue_question, label_with_model, planned_calls
from metareview.formats.comments import jsonl
from metareview.judges.remote.validity import ValidityModel
from metareview.model.comment import Comment
from metareview.model.label import Labels
from metareview.runs.labels import LabelFile
from model_server import ModelServer, chat, error


def promoted(run, unlisted, labels):
    """As the command writes it."""
    return jsonl.write(promoted_reviews(run, unlisted, labels))[""]


REFERENCES = {1: [TYPO], 2: [SLOW]}
REVIEWS = {
    "ann": {1: [TYPO, comment(LEAK, severity="high", id="7", resolved=True), RACE], 2: []},
    "bob": {1: [LEAK_AGAIN], 2: [SLOW, STYLE]},
}


@pytest.fixture
def run(tmp_path):
    return make_run(tmp_path, REFERENCES, REVIEWS)


def named(unlisted):
    by_reviewers = {issue.reviewers: issue for issue in unlisted.issues}
    return by_reviewers["ann", "bob"], by_reviewers["ann",], by_reviewers["bob",]


def test_valid_issues_become_references(run, tmp_path):
    unlisted = unlisted_of(run)
    both, of_ann, of_bob = named(unlisted)
    labels = Labels(
        issues=[
            label(both, "valid", name="eve"),
            label(of_ann, "invalid", name="eve"),
            label(of_ann, "valid", model="m"),  # a person's verdict goes before it
            label(of_bob, "valid", model="m"),
        ]
    )
    text = promoted(run, unlisted, labels)
    first, second = map(json.loads, text.splitlines())
    assert first["pr"] == pull(1)
    [reference] = first["comments"]
    assert {name: reference[name] for name in ("note", "path", "from_line", "severity", "producer")} == {
        "note": LEAK, "path": "a.py", "from_line": 10, "severity": "high", "producer": "ann"
    }  # fmt: skip
    assert "resolved" not in reference
    assert reference["meta"] == {
        "issue": both.id,
        "reviewers": ["ann", "bob"],
        "comments": [["ann", 1], ["bob", 0]],
        "labelled_by": ["eve"],
    }
    assert (second["pr"], second["comments"][0]["note"]) == (pull(2), STYLE)
    assert second["comments"][0]["meta"]["labelled_by"] == ["m"]
    assert second["comments"][0]["meta"]["by_model"] is True

    more = tmp_path / "more.jsonl"
    more.write_text(text)
    again = evaluate_comments(tmp_path / "said.jsonl", reference=[tmp_path / "references.jsonl", more], judge="exact")
    counts = {name: block["positive_match_nums"] for name, block in again.summary["reviewers"].items()}
    assert counts == {"ann": 2, "bob": 2}  # LEAK is ann's, STYLE bob's; `exact` takes LEAK_AGAIN for another
    assert again.summary["reviewers"]["ann"]["positive_expected_nums"] == 4


def test_nothing_valid_is_no_reference(run):
    unlisted = unlisted_of(run)
    assert promoted(run, unlisted, Labels(issues=[label(issue, "repeat") for issue in unlisted.issues])) == ""


def said(exchange):
    """The first comment that the model is shown."""
    return re.search(
        r"<<<COMMENT 1 (\w+)\n(.*?)\nCOMMENT 1 \1>>>", exchange.body["messages"][-1]["content"], re.DOTALL
    )[2]


def script(exchange):
    if RACE in said(exchange):
        return error(400)
    return chat(json.dumps({"verdict": "valid" if LEAK in said(exchange) else "repeat", "reason": "so"}))


def test_a_model_labels_issues_and_says_what_it_left_open(run, tmp_path):
    unlisted = unlisted_of(run)
    both, of_ann, of_bob = named(unlisted)
    with ModelServer(script) as server, ValidityModel(server.settings(), backoff=0.001) as model:
        assert planned_calls(run, unlisted, model) == 3
        found = label_with_model(run, unlisted, model)
    assert {(each.issue, each.verdict, each.model, each.name) for each in found.labels} == {
        (both.id, "valid", "test-model", None),
        (of_bob.id, "repeat", "test-model", None),
    }
    assert found.reasons == {both.id: "so", of_bob.id: "so"}
    assert list(found.undecided) == [of_ann.id]
    assert "refuses this request" in found.undecided[of_ann.id]
    file = LabelFile(run.folder)
    file.append(found.labels)
    figures = unlisted_figures(run, unlisted, file.read())
    assert (figures.labelled.people, figures.labelled.models) == (0, {"test-model": 2})
    assert figures.reviewers["ann"].metrics["precision_plus"] is None  # one of two of its kind is not labelled
    assert figures.labelled.sample.missing == 1


def test_a_limit_of_calls_goes_to_what_was_drawn(tmp_path):
    reviews = {"ann": {n: [LEAK] for n in range(1, 31)}}
    run = make_run(tmp_path, {n: [TYPO] for n in range(1, 31)}, reviews)
    unlisted = unlisted_of(run, budget=8)
    with ModelServer(script) as server, ValidityModel(server.settings(), max_calls=0) as model:
        assert label_with_model(run, unlisted, model).labels == []
        assert not server.log
    with ModelServer(script) as server, ValidityModel(server.settings()) as model:
        labels = label_with_model(run, unlisted, model).labels
        assert len(server.log) == 1  # the same note and the same references: one question
    assert [each.issue for each in labels[:8]] == list(unlisted.drawn)
    assert len(labels) == 30


def test_a_question_shows_places_and_everybodys_first_comment_first(tmp_path):
    reviews = {"ann": {1: [LEAK, comment(LEAK_AGAIN, 11)]}, "bob": {1: [LEAK + " Close it."]}}
    run = make_run(tmp_path, {1: [Comment(TYPO)]}, reviews)
    unlisted = unlisted_of(run)
    [issue] = unlisted.issues
    question = issue_question(read_evidence(run, [issue])[issue.id])
    assert question.comments == (
        f"At a.py, line 10:\n{LEAK}",
        f"At a.py, line 10:\n{LEAK} Close it.",
        f"At a.py, line 11:\n{LEAK_AGAIN}",
    )
    assert question.references == (TYPO,)
