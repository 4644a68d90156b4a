"""How much a run keeps of comments that all stand in one place: no more than grows with their number."""

import json
from pathlib import Path

import pytest

from limited import GIGABYTE, run_limited
from metareview import evaluate_comments
from metareview.errors import InputError
from metareview.pipelines.comments import tasks
from metareview.runs.run import load_run

PLACE = {"side": "right", "from_line": 1, "to_line": 1}


def review(notes, *, path="a.py", pr="octo/shop#7"):
    return {"pr": pr, "comments": [{**PLACE, "path": path.format(n), "note": note} for n, note in enumerate(notes)]}


def numbered(word, number):
    return [f"{word} {each}" for each in range(number)]


def test_a_review_whose_pairs_would_fill_the_disk_is_refused_before_anything_is_judged(tmp_path):
    (tmp_path / "said.jsonl").write_text(json.dumps(review(numbered("note", 9_000))))
    (tmp_path / "ref.jsonl").write_text(json.dumps(review(numbered("reference", 9_000))))
    ran = run_limited(
        "comments", "said.jsonl", "--reference", "ref.jsonl", "--out", "run", folder=tmp_path, memory=2 * GIGABYTE
    )
    assert ran.returncode == 2, ran.stderr
    message = " ".join(ran.stderr.split())
    assert "octo/shop#7: 81,000,000 pairs of a comment of said and a reference in one place" in message
    assert "a run keeps at most 900,000" in message
    assert not (tmp_path / "run").exists()


@pytest.fixture
def few(monkeypatch):
    """At most ten pairs, or two for each comment and reference."""
    monkeypatch.setattr(tasks, "MOST_PAIRS", 10)
    monkeypatch.setattr(tasks, "PAIRS_PER_COMMENT", 2)


def test_pairs_may_grow_with_the_comments_and_no_faster(few, tmp_path):
    # 4 * 4 = 16 are two for each of 8; 5 * 5 = 25 are more than two for each of 10; 20 * 2 = 40 fewer than 44.
    for ours, theirs in ((4, 4), (20, 2)):
        kept = evaluate_comments(
            [review(numbered("x", ours))],
            reference=[review(numbered("y", theirs))],
            judge="exact",
            out=tmp_path / f"{ours}",
        )
        assert len(list(load_run(Path(kept.folder)).read_pairs())) == ours * theirs
    said, reference = [review(numbered("x", 5))], [review(numbered("y", 5))]
    with pytest.raises(InputError, match="25 pairs of a comment"):
        evaluate_comments(said, reference=reference, judge="exact", out=tmp_path / "5")


def test_only_pairs_in_one_place_count_and_only_where_they_are_kept(few, tmp_path):
    said, reference = ([review(numbered(word, 9), path="{}.py")] for word in "xy")
    evaluate_comments(said, reference=reference, judge="exact", out=tmp_path / "run")
    crowd, references = ([review(numbered(word, 9))] for word in "xy")
    assert evaluate_comments(crowd, reference=references, judge="exact").result.judge.pairs == 81


def test_long_names_are_not_repeated_as_often(tmp_path):
    pr = f"octo/{'shop' * 10_000}#7"
    said, reference = ([review(numbered(word, 60), pr=pr)] for word in "xy")
    with pytest.raises(InputError, match=r"3,600 pairs of a comment of .* at most 2,"):
        evaluate_comments(said, reference=reference, judge="exact", out=tmp_path / "run")


def test_a_long_word_is_not_repeated_in_the_reason_of_every_pair(tmp_path):
    notes = [f"{'q' * 9_000} lock {number}" for number in range(10)]
    said, reference = [review(notes)], [review([f"{note} again" for note in notes])]
    evaluate_comments(said, reference=reference, judge="offline", out=tmp_path / "run")
    reasons = [pair.verdict.reason for pair in load_run(tmp_path / "run").read_pairs()]
    assert len(reasons) == 100
    assert max(map(len, reasons)) < 400
