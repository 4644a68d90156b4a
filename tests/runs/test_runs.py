"""A run is the same in memory, in its folder, and read back; its JSON is written and read by one code."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metareview.api import evaluate_comments, load_run
from metareview.comments.measures import MEASURES, Counts
from metareview.comments.records import (
    CommentRecord,
    Comparison,
    Negative,
    Pair,
    ScoredComment,
    ScoredReference,
    Tally,
    Verdict,
)
from metareview.errors import InputError, UsageError
from metareview.model.comment import Comment
from metareview.runs.comments_json import pair_from_json, pair_to_json, record_from_json, record_to_json
from sealed_runs import seal_again

REFERENCES = [
    {
        "pr": f"https://github.com/owner/repo/pull/{number}",
        "comments": [
            {"path": "a.py", "from_line": 3, "note": "The handle is never closed", "severity": "High"},
            {"path": "b.py", "from_line": 9, "to_line": 12, "note": "Slow: quadratic in the rows"},
        ],
    }
    for number in (1, 2, 3)
]
GENERATED = [
    {"pr": REFERENCES[0]["pr"], "comments": [{"path": "a.py", "from_line": 3, "note": "The handle is never closed"}]},
    {
        "pr": REFERENCES[1]["pr"],
        "comments": [
            {"path": "b.py", "from_line": 9, "note": "A typo"},
            {"path": "a.py", "from_line": 40, "note": "The handle is never closed"},
        ],
    },
    {"pr": REFERENCES[2]["pr"], "comments": []},
]


@pytest.fixture
def files(tmp_path):
    paths = []
    for name, records in (("references", REFERENCES), ("bot", GENERATED)):
        paths.append(tmp_path / f"{name}.jsonl")
        paths[-1].write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return paths


def test_a_run_is_the_same_in_memory_in_its_folder_and_read_back(files, tmp_path):
    references, generated = files
    memory = evaluate_comments(generated, reference=references, judge="exact")
    kept = evaluate_comments(generated, reference=references, judge="exact", out=tmp_path / "run")
    loaded = load_run(tmp_path / "run")
    assert memory.summary["run"] is None
    assert kept.summary == loaded.summary == json.loads((tmp_path / "run" / "summary.json").read_text("utf-8"))
    assert memory.summary | {"run": kept.summary["run"]} == kept.summary
    for what in ("prs", "pairs", "references", "comments"):
        frames = [run.to_frame(what) for run in (memory, kept, loaded)]
        assert frames[0].equals(frames[1])
        assert frames[0].equals(frames[2])


def test_the_frames_have_one_row_per_thing_that_they_are_named_for(files):
    references, generated = files
    run = evaluate_comments(generated, reference=references, judge="exact")
    assert run.to_frame("prs")["positive_match_nums"].tolist() == [1, 0, 0]
    comments = run.to_frame("comments")
    assert comments["note"].tolist() == ["The handle is never closed", "A typo", "The handle is never closed"]
    assert comments["semantic_match"].tolist() == [True, False, False]
    assert run.to_frame("references")["covered"].tolist() == [True, False, False, False, False, False]
    # The third comment is 37 lines away from the only reference in its file: it has no pair.
    pairs = run.to_frame("pairs")
    assert pairs[["generated", "reference", "match"]].values.tolist() == [[0, 0, True], [0, 1, False]]


def test_an_unknown_frame_is_refused_with_those_that_there_are(files):
    references, generated = files
    run = evaluate_comments(generated, reference=references, judge="exact")
    with pytest.raises(UsageError, match="prs, pairs, references, comments"):
        run.to_frame("rows")


def test_a_run_shows_as_a_table_in_a_notebook(files):
    references, generated = files
    run = evaluate_comments(generated, reference=references, judge="exact", name="<b>bot</b>")
    shown = run._repr_html_()
    assert "&lt;b&gt;bot&lt;/b&gt;" in shown
    assert "<b>bot" not in shown
    assert "0.222" in shown  # F1: 1 match, 3 comments, 6 references


@pytest.mark.parametrize("file", ["summary.json", "results.jsonl", "pairs.jsonl"])
def test_a_run_with_a_foreign_file_is_refused_in_one_message(files, tmp_path, file):
    references, generated = files
    evaluate_comments(generated, reference=references, judge="exact", out=tmp_path / "run")
    (tmp_path / "run" / file).write_text('{"a": 1}\n', "utf-8")
    seal_again(tmp_path / "run")

    def read_everything():
        run = load_run(tmp_path / "run")
        return list(run.read_records()), list(run.read_pairs())

    with pytest.raises(InputError, match="--overwrite"):
        read_everything()


texts = st.text(st.characters(codec="utf-8"), max_size=8)
positions = st.integers(0, 99)
scores = st.none() | st.floats(0, 1)
verdicts = st.builds(Verdict, scores, st.none() | st.booleans(), st.sampled_from(["judge", "cache"]), texts)
comments = st.builds(Comment, texts, st.none() | texts, st.none() | texts, st.none() | st.integers(1, 9))
counts = st.builds(Counts, *[positions] * 10)
pairs = st.builds(
    Pair, texts, texts, positions, positions, st.booleans(), st.none() | positions, st.booleans(), verdicts,
    st.booleans(),
)  # fmt: skip
records = st.builds(
    lambda references, matched, **fields: CommentRecord(
        references=tuple(references),
        matches=tuple((number, reference.position) for number, reference in enumerate(references[:matched])),
        rates={measure.name: 0.5 for measure in MEASURES},
        **fields,
    ),
    st.lists(
        st.builds(ScoredReference, positions, comments, st.booleans(), st.booleans(), st.none() | st.booleans()),
        max_size=3,
        unique_by=lambda reference: reference.position,
    ),
    st.integers(0, 3),
    pr=texts,
    reviewer=texts,
    language=st.none() | texts,
    pr_category=st.none() | texts,
    references_before_filters=positions,
    references_after_filters=positions,
    counts=counts,
    left_out=positions,
    judged_pairs=positions,
    slices=st.dictionaries(texts, st.dictionaries(texts, st.builds(Tally, positions, positions, positions))),
    comments=st.lists(
        st.builds(
            ScoredComment, positions, comments, st.none() | st.booleans(), st.booleans(), st.booleans(),
            st.none() | positions, st.none() | positions, st.none() | positions, st.none() | verdicts,
        ),
        max_size=3,
    ).map(tuple),
    comparisons=st.lists(st.builds(Comparison, positions, positions, verdicts), max_size=3).map(tuple),
    negatives=st.lists(st.builds(Negative, positions, comments), max_size=3).map(tuple),
    bounds=st.none() | st.tuples(counts, counts),
)  # fmt: skip


@given(records)
def test_a_record_is_read_back_as_it_was_written(record):
    assert record_from_json(json.loads(json.dumps(record_to_json(record)))) == record


@given(pairs)
def test_a_pair_is_read_back_as_it_was_written(pair):
    assert pair_from_json(json.loads(json.dumps(pair_to_json(pair)))) == pair
