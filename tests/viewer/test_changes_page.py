import pytest
from page_samples import FirstWord, comment_run, pull, read, said

from labelled_outcomes import make_run, outcome
from labelled_outcomes import pr as outcome_pr
from metareview.viewer.changes import changes_page
from metareview.viewer.index import Index
from metareview.viewer.run_view import RunView

REFERENCES = {
    pull(1): [said("leak of the handle", 1), said("slow loop", 30)],
    pull(2): [said("race between threads", 5)],
    pull(3): [said("typo", 5)],
}
BEFORE = {"ann": {pull(1): [said("leak here", 1), said("nit", 90)], pull(2): [said("race", 5)], pull(3): []}}
AFTER = {"ann": {pull(1): [said("leak here", 1), said("slow", 30)], pull(2): [], pull(3): []}}


@pytest.fixture
def runs(tmp_path):
    return comment_run(tmp_path, "a", BEFORE, REFERENCES), comment_run(tmp_path, "b", AFTER, REFERENCES)


def cards(root):
    return {card.one("h3").text: card for card in root.all("article", "change")}


def test_what_was_found_and_lost_is_told_per_pull_request(runs):
    root = read(changes_page(*runs, query={}))
    found = cards(root)
    assert set(found) == {"owner/repo#1", "owner/repo#2"}  # nothing changed on the third
    first, second = found["owner/repo#1"], found["owner/repo#2"]
    assert [head.text for head in first.all("h4")] == ["newly found 1"]
    assert "slow loop Raised in B: slow" in first.text
    assert [head.text for head in second.all("h4")] == ["newly lost 1"]
    assert "race between threads Raised in A: race" in second.text
    assert [each.text for each in first.all("summary")] == ["Comments only in B (1)", "Comments only in A (1)"]


def test_the_largest_effect_comes_first_and_its_sign_is_told(runs):
    # Of A two of three comments match, of B both of two: the first pull request gains, the second loses less.
    root = read(changes_page(*runs, query={}))
    effects = [
        (card.one("h3").text, card.one("b", "gain" if list(card.all("b", "gain")) else "loss").text[0])
        for card in root.all("article", "change")
    ]
    assert effects == [("owner/repo#1", "+"), ("owner/repo#2", "-")]


def test_the_verdict_and_its_table_come_before_the_list(runs):
    root = read(changes_page(*runs, query={}))
    assert [section["id"] for section in root.all("section")] == ["answer", "changes"]
    table = root.one(id="answer").one("table")
    f1 = next(row for row in table.all("tr") if row.text.startswith("F1"))
    assert [cell.text for cell in f1.all("td")][:3] == ["0.571", "0.667", "+0.095"]


def test_only_one_kind_of_change_may_be_shown(runs):
    assert list(cards(read(changes_page(*runs, query={"show": "lost"})))) == ["owner/repo#2"]


def test_another_judge_is_not_compared_but_what_differs_is_listed(tmp_path, runs):
    strict = comment_run(tmp_path, "strict", BEFORE, REFERENCES, judge=FirstWord(strict=True), threshold=None)
    rouge = comment_run(tmp_path, "rouge", BEFORE, REFERENCES, judge="rouge")
    root = read(changes_page(runs[0], rouge, query={}))
    assert "Not comparable" in root.one(id="answer").text
    assert "settings differ" in root.text
    card = cards(read(changes_page(runs[0], strict, query={"show": "verdicts"})))["owner/repo#1"]
    assert "verdicts that differ 1" in card.text
    assert "A same issue" in card.text
    assert "B different" in card.text


def test_two_reviewers_of_one_run(tmp_path):
    run = comment_run(tmp_path, "both", {"ann": BEFORE["ann"], "bob": AFTER["ann"]}, REFERENCES)
    page = changes_page(run, run, query={"reviewer_a": "ann", "reviewer_b": "bob"})
    assert page.title == "What changed: ann → bob"
    link = next(each for each in cards(read(page))["owner/repo#1"].all("a") if each.text == "in B")
    assert link["href"] == "/run/both/pr/0?reviewer=bob"


def test_pull_requests_of_one_side_are_named_and_may_be_left_out(tmp_path, runs):
    fewer = {pr: each for pr, each in AFTER["ann"].items() if pr != pull(3)}
    part = comment_run(tmp_path, "part", {"ann": fewer}, REFERENCES)
    root = read(changes_page(runs[0], part, query={}))
    assert "1 pull request that only A has" in root.text
    assert "--common" not in root.text
    way = next(each for each in root.all("a") if each.text == "Compare the pull requests that both have")
    assert way["href"] == "?a=a&b=part&reviewer_a=ann&reviewer_b=ann&common=1"
    assert root.one(id="answer").one("h2").text == "Not comparable"
    assert read(changes_page(runs[0], part, query={"common": "1"})).one(id="answer").one("h2").text == "The answer"


def test_runs_with_other_examples_are_compared_where_that_is_asked_for(tmp_path):
    known = tmp_path / "known.jsonl"
    known.write_text('{"a": "slow loop", "b": "quadratic", "match": true, "reviewer": "eve"}\n')
    plain = comment_run(tmp_path, "plain", BEFORE, REFERENCES, judge="offline")
    learned = comment_run(tmp_path, "learned", BEFORE, REFERENCES, judge="offline", examples=known)
    root = read(changes_page(plain, learned, query={}))
    assert "their judges learned from different examples" in root.one(id="answer").text
    assert "--mixed-examples" not in root.text
    way = next(each for each in root.all("a") if each.text == "Compare them all the same, with a warning")
    assert way["href"] == "?a=plain&b=learned&reviewer_a=ann&reviewer_b=ann&mixed=1"
    answer = read(changes_page(plain, learned, query={"mixed": "1"})).one(id="answer")
    assert answer.one("h2").text == "The answer"
    assert "The judges learned from different examples." in answer.text
    assert "which alone can make a difference" in answer.text


def test_the_runs_may_be_chosen_where_they_have_names(runs):
    form = read(changes_page(*runs, query={}, choices=[("a", "before"), ("b", "<after>")])).one("form")
    chosen = {
        select["name"]: [o["value"] for o in select.all("option") if "selected" in o.attributes]
        for select in form.all("select")
    }
    assert chosen == {"a": ["a"], "reviewer_a": ["ann"], "b": ["b"], "reviewer_b": ["ann"]}


def test_outcomes_are_compared_as_samples_without_a_list_of_changes(tmp_path):
    views = []
    for name, rows, first in (("a", [(0, 4)] * 5, 1), ("b", [(3, 4)] * 5, 20)):
        records = {
            (outcome_pr(first + number), "bot"): [outcome(at, at < changed) for at in range(comments)]
            for number, (changed, comments) in enumerate(rows)
        }
        run = make_run(tmp_path / name, records, "none")
        index = Index(run.folder, tmp_path / f"{name}.db", "outcomes")
        views.append(RunView(name, run.folder, run, index, "secret-token"))
    root = read(changes_page(*views, query={}))
    assert [section["id"] for section in root.all("section")] == ["answer", "changes"]
    assert "Pull request" in root.one(id="changes").text
    assert not list(root.one(id="changes").all("article"))
    answer = root.one(id="answer").text
    assert "Two samples of pull requests, 5 of bot (a) and 5 of bot (b)" in answer
    assert "0.750 (20)" in answer
    assert "In brackets: the comments that a rate is over" in answer
