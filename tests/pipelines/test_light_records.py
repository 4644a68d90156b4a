"""What a worker sends of a record is all that the figures are made of."""

import json
import pickle
from dataclasses import replace

from many_reviews import write_reviews

from metareview.comments.filters import FilterConfig
from metareview.pipelines.comments import evaluate
from metareview.pipelines.comments.light import packed, unpacked
from metareview.pipelines.comments.options import CommentsOptions


def test_a_record_comes_back_without_its_notes(tmp_path):
    write_reviews(tmp_path, 12, runs=("run-1", "run-2"))
    files = {name: tmp_path / f"{name}.jsonl" for name in ("negatives",)}
    options = {"filters": FilterConfig(project_languages=["Go"]), "judge": "rouge", "repeat": True}
    run = evaluate(CommentsOptions(tmp_path / "comments.jsonl", tmp_path / "references.jsonl", **files, **options))
    records = list(run.read_run_records())
    assert {record.skipped for record in records} == {True, False}
    for record in records:
        assert unpacked(pickle.loads(pickle.dumps(packed(record)))) == record.without_notes()
        alone = replace(record, run=None)
        assert unpacked(packed(alone)) == replace(alone, rates={}).without_notes()


def test_undecided_pairs_keep_their_bounds(tmp_path):
    comments = [{"note": "x", "path": "a", "from_line": 1}]
    (tmp_path / "a.jsonl").write_text(json.dumps({"pr": "o/r#1", "reviewer": "b", "comments": comments}))
    (tmp_path / "verdicts.jsonl").write_text(json.dumps({"a": "w", "b": "v", "match": True}))
    comments = [{"note": "y", "path": "a", "from_line": 1}]
    (tmp_path / "r.jsonl").write_text(json.dumps({"pr": "o/r#1", "comments": comments}))
    run = evaluate(CommentsOptions(tmp_path / "a.jsonl", tmp_path / "r.jsonl", verdicts=tmp_path / "verdicts.jsonl"))
    [record] = run.read_run_records()
    assert record.bounds is not None
    assert unpacked(packed(record)) == replace(record, rates={}).without_notes()
