"""The pipeline on files, and the run's folder."""

import json
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from metareview.api import evaluate_comments
from metareview.comments.filters import FilterConfig
from metareview.errors import InputError, UsageError
from metareview.formats.comments import aacr, aacr_text, jsonl
from metareview.formats.reader import read_inputs
from metareview.model.comment import Comment, Review

AACR = Path(__file__).resolve().parents[2] / "shared" / "data" / "aacr"
real = pytest.mark.skipif(not AACR.exists(), reason="the AACR set is not beside this checkout")


def pull(number, repo="repo"):
    return f"https://github.com/owner/{repo}/pull/{number}"


def note(text, line=1, path="a.py", **fields):
    return Comment(note=text, path=path, side="right", from_line=line, to_line=line, **fields)


@pytest.fixture
def benchmark(tmp_path):
    reviews = [
        Review(pull(5), (note("leak", category="Code Defect"), note("slow", 9)), language="Go", pr_category="Bug Fix"),
        Review(pull(55), (note("race", severity="High"),), language="Rust", pr_category="Bug Fix"),
        Review(pull(6), (), language="Go"),
    ]
    path = tmp_path / "references.jsonl"
    path.write_text(jsonl.write(reviews)[""], encoding="utf-8")
    return path


def write_reviews(folder, reviews):
    for name, text in aacr_text.write(reviews).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    return folder


def test_two_reviewers_in_subfolders(tmp_path, benchmark):
    write_reviews(tmp_path / "bots" / "good", [Review(pull(5), (note("leak"), note("slow", 9))), Review(pull(55))])
    write_reviews(tmp_path / "bots" / "bad", [Review(pull(5), (note("hm"), note("hm", 2), note("hm", 300)))])
    run = evaluate_comments(tmp_path / "bots", reference=benchmark, judge="exact")
    good, bad = run.summary["reviewers"]["good"], run.summary["reviewers"]["bad"]
    assert (good["prs"], good["positive_expected_nums"], good["positive_match_nums"]) == (2, 3, 2)
    assert good["metrics"]["positive_match_rate"] == 1
    assert good["metrics"]["positive_recall_rate"] == pytest.approx(2 / 3)
    assert good["macro"]["positive_recall_rate"] == 0.5
    assert good["macro"]["nulls"]["positive_match_rate"] == 1
    assert good["slices"]["language"]["Rust"]["metrics"]["positive_recall_rate"] == 0
    assert good["slices"]["severity"]["High"]["positive_expected_nums"] == 1
    assert (bad["prs"], bad["positive_line_match_nums"], bad["positive_match_nums"]) == (1, 1, 0)
    assert bad["metrics"]["f1"] == 0
    assert bad["bounds"]["f1"] == [0, 0]
    assert good["intervals"]["f1"][0] <= good["metrics"]["f1"] <= good["intervals"]["f1"][1]


def test_an_absent_file_is_no_silence_unless_asked(tmp_path, benchmark):
    folder = write_reviews(tmp_path / "bot", [Review(pull(5), (note("leak"),))])
    run = evaluate_comments(folder, reference=benchmark, judge="exact")
    assert run.summary["reviewers"]["bot"]["prs"] == 1
    run = evaluate_comments(folder, reference=benchmark, judge="exact", all_prs=True)
    assert run.summary["reviewers"]["bot"]["prs"] == 3
    assert run.metrics["bot"]["positive_recall_rate"] == pytest.approx(1 / 3)


def test_a_pull_request_is_found_by_repository_and_whole_number(tmp_path, benchmark):
    folder = write_reviews(tmp_path / "bot", [Review(pull(55), (note("race"),)), Review(pull(555), (note("leak"),))])
    run = evaluate_comments(folder, reference=benchmark, judge="exact")
    assert run.summary["reviewers"]["bot"]["prs"] == 1
    [skipped] = run.summary["skipped"]
    assert "repo#555" in skipped["reason"]
    assert skipped["file"].endswith("comments_repo_555.txt")


def test_only_strangers_is_an_error(tmp_path, benchmark):
    folder = write_reviews(tmp_path / "bot", [Review(pull(999), (note("race"),))])
    with pytest.raises(InputError, match="repo#999 is not in the reference set"):
        evaluate_comments(folder, reference=benchmark)


def test_filters_of_pull_requests_and_comments(tmp_path, benchmark):
    folder = write_reviews(tmp_path / "bot", [Review(pull(5), (note("leak"), note("slow", 9))), Review(pull(55))])
    run = evaluate_comments(
        folder,
        reference=benchmark,
        judge="exact",
        filters=FilterConfig(project_languages=["Go"], comment_categories=["Code Defect"]),
    )
    block = run.summary["reviewers"]["bot"]
    assert (block["prs"], block["positive_expected_nums"], block["total_generated_nums"]) == (1, 1, 1)
    assert [record["skipped"] for record in run.records] == [False, True]
    with pytest.raises(UsageError, match=r"Valid: .*Go"):
        evaluate_comments(folder, reference=benchmark, filters=FilterConfig(project_languages=["Cobol"]))
    with pytest.raises(UsageError, match="leave no pull request"):
        evaluate_comments(folder, reference=benchmark, filters=FilterConfig(project_languages=["PHP"]))


def test_a_sample_is_stable_and_smaller_ones_are_part_of_larger_ones(tmp_path):
    reviews = [Review(pull(n), (note("x"),)) for n in range(1, 41)]
    path = tmp_path / "all.jsonl"

    def chosen(limit, seed, order):
        path.write_text(jsonl.write(order)[""])
        run = evaluate_comments(path, reference=path, judge="exact", limit=limit, seed=seed, force=True)
        return {record["github_pr_url"] for record in run.records}

    ten = chosen(10, 3, reviews)
    assert len(ten) == 10
    assert ten == chosen(10, 3, reviews[::-1])
    assert ten < chosen(20, 3, reviews)
    assert ten != chosen(10, 4, reviews)


def test_place_is_not_asked_where_no_reference_has_one(tmp_path):
    path = tmp_path / "golden.json"
    path.write_text(json.dumps([{"url": pull(1), "comments": [{"comment": "leak", "severity": "Low"}]}]))
    said = tmp_path / "candidates.json"
    said.write_text(json.dumps({pull(1): {"bot": [{"text": "leak", "path": "a.py", "line": 3}]}}))
    block = evaluate_comments(said, reference=path, judge="exact").summary["reviewers"]["bot"]
    assert block["metrics"]["f1"] == 1
    assert block["metrics"]["line_f1"] is None
    assert block["positive_line_match_nums"] is None
    assert block["intervals"]["line_f1"] is None
    with pytest.raises(UsageError, match="no reference has a path"):
        evaluate_comments(said, reference=path, judge="none")


def test_a_finished_run_answers_and_another_is_not_overwritten(tmp_path, benchmark):
    folder = write_reviews(tmp_path / "bot", [Review(pull(5), (note("leak"),))])
    out = tmp_path / "run"
    first = evaluate_comments(folder, reference=benchmark, judge="exact", out=out)
    stamp = (out / "results.jsonl").stat().st_mtime_ns
    again = evaluate_comments(folder, reference=benchmark, judge="exact", out=out)
    assert again.summary == first.summary
    assert (out / "results.jsonl").stat().st_mtime_ns == stamp
    with pytest.raises(UsageError, match=r"judge.* differ"):
        evaluate_comments(folder, reference=benchmark, judge="none", out=out)
    other = evaluate_comments(folder, reference=benchmark, judge="none", out=out, overwrite=True)
    assert json.loads((out / "summary.json").read_text()) == other.summary
    assert json.loads((out / "manifest.json").read_text())["status"] == "finished"
    write_reviews(folder, [Review(pull(5), (note("other"),))])
    with pytest.raises(UsageError, match="input files differ"):
        evaluate_comments(folder, reference=benchmark, judge="none", out=out)


def test_a_folder_that_is_no_run_is_left_alone(tmp_path, benchmark):
    out = tmp_path / "precious"
    out.mkdir()
    (out / "thesis.txt").write_text("years of work")
    folder = write_reviews(tmp_path / "bot", [Review(pull(5), (note("leak"),))])
    with pytest.raises(UsageError, match="holds no run"):
        evaluate_comments(folder, reference=benchmark, out=out)
    assert [path.name for path in out.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("cut", [1, 40, 1000])
def test_a_run_that_was_cut_off_goes_on_to_the_same_end(tmp_path, benchmark, cut):
    folder = write_reviews(tmp_path / "bot", [Review(pull(5), (note("leak"), note("slow", 9))), Review(pull(55))])
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    evaluate_comments(folder, reference=benchmark, judge="rouge", out=whole)
    evaluate_comments(folder, reference=benchmark, judge="rouge", out=broken)
    # As a kill leaves it: no summary, a record cut off in the middle, pairs without their record.
    (broken / "summary.json").unlink()
    manifest = json.loads((broken / "manifest.json").read_text())
    (broken / "manifest.json").write_text(json.dumps(manifest | {"status": "running"}))
    results = (broken / "results.jsonl").read_bytes()
    (broken / "results.jsonl").write_bytes(results[:-cut])
    evaluate_comments(folder, reference=benchmark, judge="rouge", out=broken)
    for name in ("results.jsonl", "pairs.jsonl"):
        assert (broken / name).read_bytes() == (whole / name).read_bytes()
    ends = [json.loads((folder / "summary.json").read_text()) for folder in (whole, broken)]
    assert ends[0]["reviewers"] == ends[1]["reviewers"]


def test_a_killed_run_goes_on(tmp_path):
    reviews = [Review(pull(n), tuple(note(f"note {i}", i + 1) for i in range(30))) for n in range(1, 200)]
    path = tmp_path / "all.jsonl"
    path.write_text(jsonl.write(reviews)[""])
    command = [sys.executable, "-m", "metareview", "comments", str(path), "--reference", str(path), "--force", "-q"]
    rng = random.Random(5)
    for attempt in range(4):
        process = subprocess.Popen([*command, "--out", str(tmp_path / "killed")], stdout=subprocess.DEVNULL)
        results = tmp_path / "killed" / "results.jsonl"
        while process.poll() is None and not (results.exists() and results.stat().st_size > attempt * 100_000):
            time.sleep(0.01)
        time.sleep(rng.random() / 20)
        process.send_signal(signal.SIGKILL)
        process.wait()
    for name in ("killed", "whole"):
        subprocess.run([*command, "--out", str(tmp_path / name)], check=True, stdout=subprocess.DEVNULL)
    for name in ("results.jsonl", "pairs.jsonl"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_frame_of_records(tmp_path, benchmark):
    folder = write_reviews(tmp_path / "bot", [Review(pull(5), (note("leak"),)), Review(pull(55))])
    frame = evaluate_comments(folder, reference=benchmark, judge="exact").to_frame()
    assert frame["positive_match_nums"].tolist() == [1, 0]
    assert "match_details" not in frame


@real
def test_the_references_as_comments_score_everything(tmp_path):
    """1505 of 1505, whatever the order; published runners find 196 (shared ids) or 1243 (greedy by place)."""
    reviews = read_inputs(AACR / "positive_samples.json").reviews
    rng = random.Random(1)
    shuffled = [replace(r, comments=tuple(rng.sample(r.comments, len(r.comments)))) for r in reviews]
    rng.shuffle(shuffled)
    for name, order in (("plain", reviews), ("shuffled", shuffled)):
        folder = write_reviews(tmp_path / name, order)
        run = evaluate_comments(folder, reference=AACR / "positive_samples.json", judge="exact")
        block = run.summary["reviewers"][name]
        assert block["prs"] == 196
        assert block["positive_expected_nums"] == block["total_generated_nums"] == 1505
        assert block["positive_line_match_nums"] == block["positive_match_nums"] == 1505
        assert block["metrics"]["f1"] == block["metrics"]["line_f1"] == 1
        # 196 of 196 pull requests: Clopper and Pearson's lower end, and never a point.
        assert block["intervals"]["f1"] == pytest.approx([0.025 ** (1 / 196), 1])


@real
def test_greedy_by_place_loses_references_that_stand_together():
    """A comment uses up every free reference that it touches, so its neighbours' comments find none left."""
    path = AACR / "positive_samples.json"
    block = evaluate_comments(path, reference=path, judge="none", alignment="greedy", force=True).summary["reviewers"]
    assert block["positive_samples"]["positive_line_match_nums"] == 1243
    block = evaluate_comments(path, reference=path, judge="none", force=True).summary["reviewers"]
    assert block["positive_samples"]["positive_line_match_nums"] == 1505


@real
def test_the_order_of_rejected_comments_changes_no_figure(tmp_path):
    """Negatives as a reviewer: its line matches and false positives must not depend on the order of its comments."""
    reviews = read_inputs(AACR / "negative_samples.json").reviews
    results = []
    for step in (1, -1):
        path = tmp_path / f"{step}.json"
        path.write_text(aacr.write([replace(r, comments=r.comments[::step]) for r in reviews[::step]])[""])
        run = evaluate_comments(
            path, reference=AACR / "positive_samples.json", negatives=AACR / "negative_samples.json", name="bot"
        )
        results.append(run.summary["reviewers"]["bot"])
    assert results[0] == results[1]
    assert results[0]["negative_match_nums"] > 600


def test_references_by_the_pull_requests_own_author_are_told():
    comments = [{"note": "leak"}, {"note": "ok", "in_reply_to": "1"}, {"note": ""}]
    reference = [
        {"pr": pull(1), "author": "Ann", "reviewer": "ann", "comments": comments},
        {"pr": pull(1), "author": "Ann", "reviewer": "ben", "comments": comments},
    ]
    generated = [{"pr": pull(1), "comments": [{"note": "leak"}]}]
    run = evaluate_comments(generated, reference=reference, judge="exact")
    own = [warning for warning in run.result.warnings if "author" in warning]
    assert own == ["references by the author of the pull request itself: Ann 1; --reference-reviewer '!NAME' excludes"]
