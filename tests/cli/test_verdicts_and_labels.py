"""`comments --verdicts` and `comments --labels` on the command line."""

import json

import pytest
from review_sample import ALL, APP1

PLAIN = ("comments", "reviews", "--reference", "ref.jsonl")


def label(match, reference, comment, **more):
    return json.dumps({"a": reference, "b": comment, "match": match, **more}) + "\n"


def summary(printed):
    return json.loads(printed)


def test_a_runs_pairs_are_its_judge(sample, run):
    code, first, _ = run(*ALL, "--out", "one", "--json")
    assert code == 0
    code, again, told = run(*PLAIN, "--verdicts", "one/pairs.jsonl", "--out", "two", "--json")
    assert code == 0
    assert summary(first)["reviewers"] == summary(again)["reviewers"]
    assert summary(again)["config"]["judge_parameters"] == {"verdicts": "pairs"}
    assert "without a verdict" not in told
    inputs = json.loads((sample / "two/manifest.json").read_text())["inputs"]
    assert {"verdicts/pairs.jsonl", "verdicts/results.jsonl"} <= inputs.keys()


def test_what_the_file_does_not_know_is_undecided_and_ends_with_4(sample, run):
    (sample / "l.jsonl").write_text(label(True, "Close the file handle", "Close the file handle"))
    code, _, told = run(*PLAIN, "--verdicts", "l.jsonl", "--out", "run")
    assert code == 4
    assert "1 pair without a verdict in l.jsonl: 1 with a note that it does not have" in told
    assert "1 of 2 pairs stayed undecided" in told
    assert "The file has no verdict on them; --labels FILE adds people's." in told


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--judge", "offline"), "--verdicts takes the place of a judge"),
        (("--judge", "exact"), "--verdicts takes the place of a judge"),
        (("--threshold", "0.5"), "--threshold means nothing to them. Leave it out"),
    ],
)
def test_verdicts_are_the_judge(sample, run, more, message):
    (sample / "l.jsonl").write_text(label(True, "Close the file handle", "Close the file handle"))
    code, _, told = run(*PLAIN, "--verdicts", "l.jsonl", *more)
    assert (code, message in told) == (2, True)
    assert run(*PLAIN, "--verdicts", "l.jsonl", "--judge", "verdicts", "--out", "run")[0] == 4
    assert run(*PLAIN, "--judge", "verdicts")[0] == 2


def test_a_file_of_no_kind_and_one_that_is_not_there(sample, run):
    (sample / "v.json").write_text("{}")
    code, _, told = run(*PLAIN, "--verdicts", "v.json")
    assert (code, "v.json:1: its verdicts are of no known kind. Give a run's pairs.jsonl" in told) == (2, True)
    assert run(*PLAIN, "--labels", "none.jsonl")[0] == 2


def test_labels_override_and_are_told(sample, run):
    close = "Close the file handle"
    (sample / "l.jsonl").write_text(label(False, close, close, pr=APP1) + label(True, "gone", "gone"))
    code, plain, _ = run(*ALL, "--out", "plain", "--json")
    assert code == 0
    code, printed, told = run(*ALL, "--labels", "l.jsonl", "--out", "labelled", "--json")
    assert code == 0
    before, after = (summary(text)["reviewers"]["reviews"]["positive_match_nums"] for text in (plain, printed))
    assert (before, after) == (2, 1)
    assert "Warning: 1 pair decided by labels, 1 against the judge" in told
    assert "Warning: 1 of 2 labels about no pair of this run" in told
    (sample / "l.jsonl").write_text(label(True, close, close))
    code, _, told = run(*ALL, "--labels", "l.jsonl", "--out", "labelled")
    assert (code, "holds another run" in told) == (2, True)
    code, printed, _ = run("compare", "plain", "labelled", "--json")
    assert code == 0
    assert "people's labels override the judge in B, and not in A" in json.loads(printed)["warnings"]


def test_a_dry_run_knows_the_labels_and_asks_nobody(sample, run):
    close = "Close the file handle"
    (sample / "l.jsonl").write_text(label(False, close, close, pr=APP1))
    code, printed, told = run(*ALL, "--labels", "l.jsonl", "--dry-run", "--json")
    assert code == 0
    assert (json.loads(printed)["pairs"], json.loads(printed)["labelled_pairs"]) == (2, 1)
    code, printed, told = run(*ALL, "--labels", "l.jsonl", "--dry-run")
    assert "2 pairs to judge (1 decided by labels)" in printed
    assert "1 pair decided by labels" in told
    assert "against" not in told
    assert "labelled_pairs" not in run(*ALL, "--dry-run", "--json")[1]
    code, _, told = run(*PLAIN, "--verdicts", "l.jsonl", "--dry-run")
    assert (code, "1 pair without a verdict in l.jsonl" in told) == (0, True)


def test_a_dry_run_with_a_model_counts_only_what_is_left_to_ask(sample, run, monkeypatch):
    for name, value in (("MODEL_URL", "http://127.0.0.1:1"), ("MODEL", "m"), ("API_KEY", "k")):
        monkeypatch.setenv(f"LLM_{name}", value)
    close = "Close the file handle"
    (sample / "l.jsonl").write_text(label(False, close, close))
    plain = (
        "comments",
        "reviews",
        "--reference",
        "ref.jsonl",
        "--judge",
        "llm",
        "--cache",
        "c.sqlite",
        "--dry-run",
        "--json",
    )
    assert [json.loads(run(*plain, *more)[1])["llm_calls"] for more in ((), ("--labels", "l.jsonl"))] == [2, 1]
