"""Routing runs are compared by the same code as runs of comments."""

import json

import pytest

import metareview
from metareview.comparison.leaderboard import leaderboard
from metareview.comparison.paired import compare
from metareview.errors import UsageError
from metareview.pipelines.evaluate import evaluate_comments, evaluate_routing


def routing_run(folder, ranks, *, truth="ann", cutoff="created_at"):
    """A routing run as the evaluation leaves it: {router: [rank or None, a pull request each]}."""
    folder.mkdir()
    config = {"cutoff": cutoff, "truth": "first_response", "k": [1, 3], "routers": list(ranks), "limit": None}
    manifest = {
        "schema": "metareview.run/1",
        "kind": "routing",
        "status": "finished",
        "config": config,
        "versions": {"metareview": metareview.__version__},
    }
    records = [
        {
            "repo": "o/r",
            "pr": n + 1,
            "cutoff": "2025-01-01T00:00:00Z",
            "truth": {"state": "observed", "targets": [truth]},
            "routers": {
                name: {"candidates": ["bob", "cid"], "rank": of_one[n]} for name, of_one in ranks.items()
            },
        }
        for n in range(len(next(iter(ranks.values()))))
    ]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "summary.json").write_text(json.dumps({"routers": {key: {} for key in ranks}}))
    (folder / "results.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


def test_every_figure_by_hand(tmp_path):
    run = routing_run(tmp_path / "routing", {"old": [1, None, 4, 2], "new": [2, 1, 4, None]})
    result = compare(run)
    figures = result["metrics"]
    assert list(figures) == ["hit@1", "hit@3", "mrr"]
    assert (figures["hit@3"]["a"], figures["hit@3"]["b"]) == (0.5, 0.5)
    assert figures["mrr"]["diff"] == pytest.approx((0.5 + 1 + 0.25) / 4 - (1 + 0.25 + 0.5) / 4)
    pulls = result["pull_requests"]
    assert [(entry["pr"], entry["effect"]) for entry in pulls["gains"]] == [("o/r#2", pytest.approx(1 / 4))]
    assert [(entry["pr"], entry["effect"]) for entry in pulls["losses"]] == [
        ("o/r#1", pytest.approx(-1 / 8)),
        ("o/r#4", pytest.approx(-1 / 8)),
    ]
    assert {name: entry["prs"] for name, entry in result["found"].items()} == {
        "only_a": ["o/r#4"],
        "only_b": ["o/r#2"],
        "both": ["o/r#1", "o/r#3"],
        "neither": [],
    }


def test_the_leaderboard_sorts_by_mrr(tmp_path):
    """Reciprocal ranks 1, 0, 1/4, 1/2 and 1/2, 1, 1/4, 1."""
    run = routing_run(tmp_path / "routing", {"old": [1, None, 4, 2], "new": [2, 1, 4, 1]})
    board = leaderboard([run])
    assert (board["kind"], board["sort"]) == ("routing", "mrr")
    assert [(row["label"], row["metrics"]["mrr"], row["metrics"]["hit@1"]) for row in board["rows"]] == [
        ("new", 2.75 / 4, 0.5),
        ("old", 1.75 / 4, 0.25),
    ]
    assert [row["ties"] for row in board["rows"]] == ["a", "a"]


def test_what_does_not_mean_the_same_is_refused(tmp_path):
    run = routing_run(tmp_path / "routing", {"old": [1, None, 4, 2], "new": [2, 1, 4, None]})
    other = routing_run(tmp_path / "other", {"old": [1, 1, 1, 1]}, cutoff="ready_for_review")
    with pytest.raises(UsageError, match='cutoff "created_at" and "ready_for_review"'):
        compare(run, other, reviewers=["old"])
    elsewhere = routing_run(tmp_path / "elsewhere", {"old": [1, 1, 1, 1]}, truth="eve")
    with pytest.raises(UsageError, match="share no pull request"):
        compare(run, elsewhere, reviewers=["old"], common=True)
    said = tmp_path / "said.json"
    said.write_text('{"https://github.com/o/r/pull/1": {"old": [{"text": "leak"}]}}')
    golden = tmp_path / "golden.json"
    golden.write_text('[{"url": "https://github.com/o/r/pull/1", "comments": [{"comment": "leak"}]}]')
    evaluate_comments(said, reference=golden, judge="exact", out=tmp_path / "comments")
    with pytest.raises(UsageError, match="a run of routing"):
        compare(run, tmp_path / "comments", reviewers=["old"])
    with pytest.raises(UsageError, match="--beta is for runs of comments"):
        compare(run, beta=2)


def test_a_leaderboard_has_the_intervals_of_the_run(tmp_path):
    # Opened against the order of their names, in two repositories: the resamples must not hang on the order.
    lines = []
    for number in range(200):
        start = f"2025-{number // 25 + 1:02}-{number % 25 + 1:02}T"
        opened = {"repo": f"o/{'za'[number % 2]}", "pr": 200 - number, "kind": "opened", "actor": "ann"}
        review = opened | {"kind": "review_submitted", "actor": ("bob", "cem", "dan")[number % 7 % 3]}
        lines += [opened | {"at": f"{start}10:00:00Z"}, review | {"at": f"{start}10:30:00Z"}]
    history = tmp_path / "events.jsonl"
    history.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run = evaluate_routing(history, routers=["popularity"], out=tmp_path / "run")
    (row,) = leaderboard([tmp_path / "run"])["rows"]
    assert row["intervals"] == run.summary["routers"]["popularity"]["intervals"]
