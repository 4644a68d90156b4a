"""Pages of a run with repeated runs: one reviewer, all its runs' comments, and how often each reference was found."""

import json

import pytest
from page_samples import opened, pull, read, said

import metareview as mr
from metareview.comparison.frame import open_frame
from metareview.viewer.labelling import Labelling
from metareview.viewer.prs_page import prs_page
from metareview.viewer.pull_request import pull_request_page
from metareview.viewer.queue_page import issue_queue_page, pair_queue_page
from metareview.viewer.run_page import run_page

REFERENCES = [{"pr": pull(1), "comments": [said("leak", 1), said("slow", 30)]}]
RUNS = {"run-1": [said("leak", 1), said("slow", 30)], "run-2": [said("leak", 1), said("nit", 90), said("odd", 30)]}


@pytest.fixture
def view(tmp_path):
    reviews = [{"pr": pull(1), "reviewer": "ann", "run": run, "comments": each} for run, each in RUNS.items()]
    mr.evaluate_comments(reviews, reference=REFERENCES, judge="exact", repeat=True, out=tmp_path / "runs/first")
    return opened(tmp_path, "first")


def test_a_reviewer_is_one_with_the_comments_of_all_runs(view):
    root = read(pull_request_page(view, pull(1), query={}))
    cards = {card["id"]: card.text for card in root.all("article", "card")}
    assert [name for name in cards if name.startswith("c")] == ["c0", "c2", "c1", "c3", "c4"]
    assert "run-1" in cards["c0"]
    assert "run-2" in cards["c2"]
    assert "run-2" in cards["c3"]
    assert "found in 2 of 2 runs" in cards["r0"]
    assert "found in 1 of 2 runs" in cards["r1"]
    # 2 of 2 and 1 of 3 comments matched: 1.5 of 2.5 on average.
    assert "1.5 of 2.5" in root.text
    assert "run-1, run-2" in root.text
    row = next(each for each in root.all("div", "row") if list(each.all(id="r0")))
    assert {"c0", "c2"} <= {card["id"] for card in row.all("article", "card")}


def test_lists_count_the_mean(view):
    root = read(prs_page(view, {}))
    cells = [cell.text for cell in next(iter(root.one("tbody").all("tr"))).all("td")]
    # Missed half a reference, one comment of noise, F1 = 2 · 1.5 / (2.5 + 2).
    assert cells[:3] == ["0.5", "1", "0.667"]


def test_pairs_lead_to_their_comment(view):
    assert {(pair.generated, pair.run) for pair in view.pairs_of(pull(1)) if pair.eligible} == {
        (0, "run-1"),
        (1, "run-1"),
        (2, "run-2"),
        (4, "run-2"),
    }
    assert len(view.index.pairs) == sum(1 for _ in view.run.read_pairs())
    record = view.record_of(pull(1), "ann")
    assert record.runs == ("run-1", "run-2")
    assert [each.position for each in record.comments] == [0, 1, 2, 3, 4]


def test_a_count_that_is_no_number_is_refused(tmp_path, view):
    results = view.folder / "results.jsonl"
    lines = [json.loads(line) for line in results.read_text().splitlines()]
    lines[1]["positive_match_nums"] = "many"
    results.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(mr.InputError):
        opened(tmp_path, "first")


def test_the_overview_has_the_spread_and_unlisted_issues_are_not_asked_about(view):
    root = read(run_page(view))
    assert "±" in root.one(id="runs").text
    page = read(issue_queue_page(Labelling(view, None), {}))
    assert "not counted over repeated runs" in page.text
    assert not list(page.all("form"))
    assert open_frame(view.run, budget=8).runs == {(pull(1), "ann"): 2}
    assert "Block 1" in read(pair_queue_page(Labelling(view, None), {})).text
