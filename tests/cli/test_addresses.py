"""However a pull request or a repository is written, it is the same one: in files, options, predictions and runs."""

import json

import pytest
from review_sample import lines

from metareview.api import compare, evaluate_comments, evaluate_routing
from metareview.comparison.leaderboard import leaderboard
from metareview.errors import UsageError

URL = "https://github.com/Acme/Shop/pull/7"
COMMENT = {"path": "cart.py", "from_line": 11, "note": "Coupon is applied twice"}


def reviews(*texts, **more):
    return [{"pr": text, "comments": [COMMENT], **more} for text in texts]


@pytest.mark.parametrize(
    "text",
    ["acme/shop#7", "acme/shop/pull/7", f"{URL}/files", "https://api.github.com/repos/acme/shop/pulls/7", "shop#7"],
)
def test_comments_meet_references_however_each_writes_the_pull_request(text):
    run = evaluate_comments(reviews(text), reference=reviews(URL), judge="exact")
    assert run.metrics["reviewer"]["f1"] == 1
    back = evaluate_comments(reviews(URL), reference=reviews(text), judge="exact")
    assert back.metrics["reviewer"]["f1"] == 1


def test_two_records_of_one_pull_request_are_one_on_either_side():
    several = reviews("acme/shop#7", URL)
    run = evaluate_comments(several, reference=several[:1], judge="exact", force=True)
    assert run.summary["reviewers"]["reviewer"]["prs"] == 1
    assert run.summary["reviewers"]["reviewer"]["total_generated_nums"] == 2
    run = evaluate_comments(reviews("shop#7"), reference=several, judge="exact")
    assert run.summary["reviewers"]["reviewer"]["positive_expected_nums"] == 2


def test_a_short_address_that_two_hosts_have_is_skipped_and_said_so():
    hosts = reviews(URL, URL.replace("github.com", "ghe.corp"), "https://github.com/acme/shop/pull/8")
    run = evaluate_comments(reviews("acme/shop#7", "acme/shop#8"), reference=hosts, judge="exact")
    [skipped] = run.summary["skipped"]
    assert "may be any of github.com/acme/shop#7, ghe.corp/acme/shop#7" in skipped["reason"]
    assert run.summary["reviewers"]["reviewer"]["prs"] == 1


def test_the_page_and_the_records_show_owner_and_name(here):
    run = evaluate_comments(reviews("acme/shop#7"), reference=reviews(URL), judge="exact")
    assert run.records[0]["github_pr_url"] == URL
    assert run.records[0]["evaluation_id"] == "Shop_7"
    assert "Acme/Shop#7" in run.report("page.html").read_text()


def test_runs_are_compared_though_one_leaves_out_the_host():
    numbers = range(7, 19)
    full = reviews(*(URL.replace("7", str(number)) for number in numbers))
    short = reviews(*(f"acme/shop#{number}" for number in numbers))
    a = evaluate_comments(full, reference=full, judge="exact", force=True)
    b = evaluate_comments(short, reference=short, judge="exact", force=True)
    found = compare(a, b)
    assert (found.prs, found.metrics["f1"].a, found.metrics["f1"].b) == (12, 1, 1)
    board = leaderboard([a, b], all_prs=True)
    assert (board.prs, [row.prs for row in board.rows]) == (12, [12, 12])


# Routing

EVENTS = [
    {"repo": repo, "pr": pr, "at": f"2025-06-01T1{pr}:{minute}:00Z", "kind": kind, "actor": actor}
    for repo in ("Acme/Shop", "acme/till")
    for pr in (1, 2)
    for minute, kind, actor in (("00", "opened", "ann"), ("20", "review_submitted", "bob"))
]


@pytest.fixture
def history(here):
    (here / "events.jsonl").write_text(lines(*EVENTS))
    return here / "events.jsonl"


@pytest.mark.parametrize("repo", ["Acme/Shop", "acme/shop", "https://github.com/acme/shop", "github.com/acme/shop.git"])
def test_a_repository_is_chosen_by_name_or_address(run, history, repo):
    code, out, err = run("routing", history, "--repo", repo, "--json", "--out", "r")
    assert code == 0, err
    assert json.loads(out)["prs"] == 2


@pytest.mark.parametrize(
    ("choices", "prs"), [(["1"], 2), (["acme/shop#1"], 1), (["https://github.com/acme/till/pull/2", "1"], 3)]
)
def test_a_pull_request_is_chosen_by_number_or_address(run, history, choices, prs):
    options = [word for choice in choices for word in ("--pr", choice)]
    code, out, err = run("routing", history, *options, "--json", "--out", "r")
    assert code == 0, err
    assert json.loads(out)["prs"] == prs
    assert run("report", "r", "-o", "r.md")[0] == 0  # and the run is read back


@pytest.mark.parametrize("text", ["seven", "shop#7", "https://github.com/acme/shop", "-1", ""])
def test_what_is_no_pull_request_is_refused(run, history, text):
    code, _, err = run("routing", history, f"--pr={text}")
    assert code == 2
    assert "Give a number, owner/repo#7 or its address" in err


def test_numbers_stay_numbers_in_the_configuration(history):
    run = evaluate_routing(history, prs=[2, 1, "acme/shop#1"], routers=["popularity"])
    assert run.summary["config"]["prs"] == [1, 2, "acme/shop#1"]


def test_predictions_name_a_repository_as_they_like(here, history):
    answers = [
        {"repo": "https://github.com/acme/shop", "pr": 1, "candidates": ["bob"]},
        {"repo": "ACME/TILL", "pr": 2, "candidates": ["bob"]},
    ]
    (here / "mine.jsonl").write_text(lines(*answers))
    run = evaluate_routing(history, predictions="mine.jsonl", routers=[])
    assert run.metrics["mine"]["hit@1"] == 0.5
    (here / "mine.jsonl").write_text(lines(*answers, answers[0] | {"repo": "acme/shop"}))
    with pytest.raises(UsageError, match="answers for Acme/Shop#1 twice"):
        evaluate_routing(history, predictions="mine.jsonl", routers=[])
