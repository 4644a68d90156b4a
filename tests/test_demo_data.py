"""The sample benchmark that ships with the package, against what its author holds to be the same issue."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

from metareview.api import evaluate_comments
from metareview.comments.pull_requests import PullRequestIndex
from metareview.formats.reader import read_inputs, read_reference_set
from metareview.model.address import pull_request_key

DEMO = Path(str(files("metareview") / "data" / "demo"))
TRUTH = json.loads(Path(__file__).with_name("demo_truth.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def run():
    return evaluate_comments(
        DEMO / "reviews", reference=DEMO / "references.jsonl", negatives=DEMO / "negatives.jsonl", judge="rouge"
    )


def test_the_set_is_what_it_claims_to_be(run):
    benchmark, _ = read_reference_set([DEMO / "references.jsonl"], [DEMO / "negatives.jsonl"])
    assert len(benchmark.references) == 12
    assert len({review.language for review in benchmark.references.values()}) >= 6
    assert benchmark.warnings == ()
    assert run.summary["warnings"] == run.summary["skipped"] == []
    assert {name: block["prs"] for name, block in run.summary["reviewers"].items()} == {
        "noisy": 12, "repetitive": 12, "terse": 12,
    }  # fmt: skip


def test_the_reviewers_differ_as_their_names_say(run):
    noisy, terse, repetitive = (run.metrics[name] for name in ("noisy", "terse", "repetitive"))
    assert repetitive["f1"] > terse["f1"] > noisy["f1"]
    assert terse["positive_match_rate"] > repetitive["positive_match_rate"] > noisy["positive_match_rate"]
    assert noisy["false_positive_rate"] > 0.1 > repetitive["false_positive_rate"]


def test_the_rouge_judge_never_pairs_what_the_author_holds_apart(run):
    benchmark, _ = read_reference_set([DEMO / "references.jsonl"])
    index = PullRequestIndex(benchmark.references)
    for review in read_inputs(DEMO / "reviews").reviews:
        key = index.find(review)
        said = {pull_request_key(pr): pairs for pr, pairs in TRUTH[review.reviewer].items()}[key]
        assert all(g < len(review.comments) for g, _ in said)
        assert all(r < len(benchmark.references[key].comments) for _, r in said)
    truth = {
        (name, pull_request_key(pr), *pair)
        for name, by_pr in TRUTH.items()
        for pr, pairs in by_pr.items()
        for pair in pairs
    }
    matched = {
        (record["reviewer"], pull_request_key(record["github_pr_url"]), detail["generated"], detail["reference"])
        for record in run.records
        for detail in record["match_details"]
        if detail["semantic_match"]
    }
    assert len(matched) == 66
    assert matched <= truth
