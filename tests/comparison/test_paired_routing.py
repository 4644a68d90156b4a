"""Routing runs are compared by the same code as runs of comments."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.api import evaluate_comments, evaluate_routing
from metareview.comparison.leaderboard import leaderboard
from metareview.comparison.paired import compare
from metareview.comparison.weekly_board import weekly_board
from metareview.errors import UsageError
from metareview.model.time import DAY
from metareview.routing.records import Declarations, RouterAnswer, RoutingRecord, Truth
from metareview.routing.summarise import summarise
from metareview.routing.summary import HistoryFacts, RoutingConfig
from metareview.runs.routing_json import manifest_config
from metareview.runs.routing_kind import KIND as ROUTING
from metareview.runs.run import Manifest, Run


def routing_run(ranks, *, truth="ann", cutoff="created_at", days_apart=0):
    """A routing run in memory: {router: [rank, or 0 for a miss, one per pull request]}."""
    config = RoutingConfig(
        cutoff=cutoff, truth="first_response", truth_window=None, include_bots=False, include_author=False, k=(1, 3),
        merged_within=None, ttfc=False, reviews_visible_at="submitted", since=None, until=None, repos=(), prs=(),
        limit=None, routers=tuple(ranks), codeowners=None,
    )  # fmt: skip
    records = [
        RoutingRecord(
            repo="o/r", pr=number, author="dan", created_at=0, cutoff=number * days_apart * DAY,
            truth=Truth("observed", (truth,)),
            ttfr_seconds=None, ttfc_seconds=None, declarations=Declarations(False, False, False), merged=False,
            merged_within=None,
            answers={
                name: RouterAnswer(("bob", "cid"), rank=rank) for name, rank in zip(ranks, of_one, strict=True)
            },
        )
        for number, of_one in enumerate(zip(*ranks.values(), strict=True), 1)
    ]  # fmt: skip
    summary = summarise(records, config, HistoryFacts(end=0, active=frozenset({"bob", "cid"}), names={}))
    manifest = Manifest("routing", manifest_config(config), {}, started="", status="finished")
    return Run(ROUTING, summary, manifest, None, records)


def test_every_figure_by_hand():
    result = compare(routing_run({"old": [1, 0, 4, 2], "new": [2, 1, 4, 0]})).to_dict()
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
    assert pulls["losses"][1]["a"] == {"rank": 2, "candidates": ["bob", "cid"]}
    assert pulls["losses"][1]["b"]["rank"] is None
    # A target comes first for old in the first pull request, for new in the second.
    assert result["kinds"] == {"repo": {"o/r": {"prs": 4, "a": 1, "b": 1, "diff": 0.0}}}
    assert {name: entry["prs"] for name, entry in result["found"].items()} == {
        "only_a": ["o/r#4"],
        "only_b": ["o/r#2"],
        "both": ["o/r#1", "o/r#3"],
        "neither": [],
    }


def test_the_leaderboard_sorts_by_mrr():
    """Reciprocal ranks 1, 0, 1/4, 1/2 and 1/2, 1, 1/4, 1."""
    board = leaderboard([routing_run({"old": [1, 0, 4, 2], "new": [2, 1, 4, 1]})]).to_dict()
    assert (board["kind"], board["sort"]) == ("routing", "mrr")
    assert [(row["label"], row["metrics"]["mrr"], row["metrics"]["hit@1"]) for row in board["rows"]] == [
        ("new", 2.75 / 4, 0.5),
        ("old", 1.75 / 4, 0.25),
    ]
    assert [row["ties"] for row in board["rows"]] == ["a", "a"]


@given(
    st.integers(48, 90).flatmap(
        lambda prs: st.fixed_dictionaries(
            {name: st.lists(st.integers(0, 4), min_size=prs, max_size=prs) for name in ("old", "new", "third")}
        )
    )
)
@settings(max_examples=25)
def test_the_board_from_sums_by_week_is_that_from_the_records(ranks):
    run = routing_run(ranks, days_apart=3)
    ours, theirs = weekly_board(run).to_dict(), leaderboard([run]).to_dict()
    assert ours.pop("rows") == approximately(theirs.pop("rows"))
    assert ours == theirs


def test_there_is_no_board_from_few_weeks():
    assert weekly_board(routing_run({"old": [1, 0, 4, 2], "new": [2, 1, 4, 1]}, days_apart=7)) is None


def approximately(found):
    """Means of the records are rounded on the way, means of the sums once."""
    if isinstance(found, dict):
        return {key: approximately(value) for key, value in found.items()}
    if isinstance(found, list):
        return list(map(approximately, found))
    return pytest.approx(found, abs=1e-12) if isinstance(found, float) else found


def test_a_router_without_figures_is_on_no_leaderboard_and_not_compared(tmp_path):
    """Nobody wrote a body, so that mentions had nothing to read."""
    rows = [
        {"repo": "o/r", "pr": 1, "at": "2025-06-01T12:00:00Z", "kind": "opened", "actor": "ann"},
        {"repo": "o/r", "pr": 1, "at": "2025-06-01T12:20:00Z", "kind": "review_submitted", "actor": "bob"},
    ]
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run = evaluate_routing(tmp_path / "events.jsonl", routers=["popularity", "recency", "mentions"])
    assert [row["label"] for row in leaderboard([run]).to_dict()["rows"]] == ["popularity", "recency"]
    with pytest.raises(
        UsageError, match="mentions has no figures in the run in memory: 1 of 1 pull request has no body"
    ):
        compare(run, reviewers=["popularity", "mentions"])


def test_what_does_not_mean_the_same_is_refused(tmp_path):
    run = routing_run({"old": [1, 0, 4, 2], "new": [2, 1, 4, 0]})
    other = routing_run({"old": [1, 1, 1, 1]}, cutoff="ready_for_review")
    with pytest.raises(UsageError, match='cutoff "created_at" and "ready_for_review"'):
        compare(run, other, reviewers=["old"])
    elsewhere = routing_run({"old": [1, 1, 1, 1]}, truth="eve")
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
    # Opened against the order of their names, in two repositories: the resamples must not depend on the order.
    lines = []
    for number in range(200):
        start = f"2025-{number // 25 + 1:02}-{number % 25 + 1:02}T"
        opened = {"repo": f"o/{'za'[number % 2]}", "pr": 200 - number, "kind": "opened", "actor": "ann"}
        review = opened | {"kind": "review_submitted", "actor": ("bob", "cem", "dan")[number % 7 % 3]}
        lines += [opened | {"at": f"{start}10:00:00Z"}, review | {"at": f"{start}10:30:00Z"}]
    history = tmp_path / "events.jsonl"
    history.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run = evaluate_routing(history, routers=["popularity"], out=tmp_path / "run")
    (row,) = leaderboard([tmp_path / "run"]).to_dict()["rows"]
    assert row["intervals"] == run.summary["routers"]["popularity"]["intervals"]
