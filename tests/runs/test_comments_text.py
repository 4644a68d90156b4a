"""The files of a comment run, whose lines are put together piece by piece: as JSON would write them, and the same
words after a kill."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.api import evaluate_comments, load_run
from metareview.comments.costs import Spent
from metareview.comments.records import (
    CommentRecord,
    Comparison,
    Negative,
    PairBlock,
    ScoredComment,
    ScoredReference,
    Verdict,
)
from metareview.model.comment import Comment
from metareview.runs import comments_text
from metareview.runs.comments_json import pair_to_json, record_to_json
from metareview.runs.comments_text import pieces
from metareview.runs.files import PAIRS, RESULTS, to_bytes, to_line

WORDS = ["cache", "caches", "Caching", "retry", "retries", "parse_all", "parseAll", "leak", "leaking", "tenant", "rows"]
texts = st.text() | st.sampled_from(['"', "\\", "\u2028", "\x00\x1f\x7f", "</script>", "🤷", "\ud800", 'a"],"b":['])
rows = st.tuples(
    st.integers(0, 10**6), st.integers(0, 10**6), st.none() | st.integers(0, 99), st.booleans(),
    st.none() | st.floats(0, 1), st.none() | st.booleans(), texts, texts, st.booleans(),
)  # fmt: skip


@settings(max_examples=50)
@given(texts, texts, st.lists(st.tuples(st.booleans(), st.lists(rows, max_size=4)), max_size=4))
def test_the_pieces_of_a_record_are_its_json(pr, reviewer, made):
    blocks = [
        PairBlock(pr, reviewer, negative, *(list(column) for column in (zip(*part, strict=True) if part else [()] * 9)))
        for negative, part in made
    ]
    comparisons = [
        Comparison(pair.generated, pair.reference, pair.verdict)
        for block in blocks
        for pair in block.rows()
        if pair.eligible and not pair.negative
    ]
    said = (ScoredComment(0, Comment(pr), True, True, False), ScoredComment(1, Comment(reviewer), True, True, False))
    record = CommentRecord(
        pr, reviewer, "Go", None, 1, 1, rates={"precision": 0.5}, comments=said, comparisons=comparisons
    )
    written = {RESULTS: "", PAIRS: ""}
    for name, text in pieces(record, blocks):
        written[name] += text
    assert written[RESULTS] + "\n" == to_line(record_to_json(record))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comments_text, "BLOCK", 1)
        parts = [to_bytes(text) for name, text in pieces(record, blocks) if name == RESULTS]
        assert b"".join(parts) == to_bytes(written[RESULTS])
    assert written[PAIRS] == "".join(to_line(pair_to_json(pair)) for block in blocks for pair in block.rows())


def test_a_judge_without_meaning_compares_nothing():
    block = PairBlock(
        "pr", "bot", False, [0], [1], [0], [True], [1.0], [True], ["judge"], ["by location alone"], [True]
    )
    [(first, line), (second, pair)] = pieces(CommentRecord("pr", "bot", None, None, 1, 1), [block])
    assert (first, second) == (RESULTS, PAIRS)
    assert json.loads(line)["llm_comparisons"] == []
    assert json.loads(pair)["reason"] == "by location alone"
    [row] = block.rows()
    assert row.verdict == Verdict(1.0, True, "judge", "by location alone")


def test_a_run_that_was_killed_goes_on_in_the_same_words(tmp_path):
    """Each pull request writes the shared words in its own way, and the first ones are gone when the run goes on."""
    files = []
    for shift, name in enumerate(("bot", "references")):
        records = [
            {
                "pr": f"https://github.com/acme/app/pull/{pr}",
                "comments": [
                    {
                        "path": "a.py",
                        "from_line": 1,
                        "note": " ".join(WORDS[(pr + i + k * 2 + shift) % 11] for k in range(5)),
                    }
                    for i in range(3)
                ],
            }
            for pr in range(1, 8)
        ]
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_text("".join(map(to_line, records)), "utf-8")
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        evaluate_comments(files[0], reference=files[1], out=folder)
    lines = (killed / RESULTS).read_text("utf-8").splitlines(keepends=True)
    (killed / RESULTS).write_text("".join(lines[:2]) + lines[2][:100], "utf-8")  # killed in the middle of the third
    manifest = json.loads((killed / "manifest.json").read_text("utf-8"))
    (killed / "manifest.json").write_text(json.dumps(manifest | {"status": "running"}), "utf-8")
    evaluate_comments(files[0], reference=files[1], out=killed)
    for name in (PAIRS, RESULTS):
        assert (killed / name).read_bytes() == (whole / name).read_bytes()
    assert len(list(load_run(killed).read_pairs())) == 7 * 9


kept_values = st.none() | st.floats() | st.sampled_from([1e-5, 1e16, float("nan"), 2**70, "\ud800", {"a": [1e-7]}])
spent_values = st.none() | st.integers(0, 2**70) | st.sampled_from([1e-5, 0.25, 1e300])


@settings(max_examples=100)
@given(
    kept_values, kept_values, kept_values, spent_values,
    st.none() | st.floats(0, 1) | st.sampled_from([1e-9, 0.1 + 0.2]), texts,
)  # fmt: skip
def test_what_is_no_whole_number_is_written_as_json_writes_it(kept, of_reference, of_negative, cost, score, note):
    """A line is looked through for what the quick encoder writes otherwise only where such a thing can be."""

    def comment(value):
        return Comment(note, path="a.py", meta=None if value is None else {"kept": value})

    record = CommentRecord(
        "pr", "bot", None, None, 1, 1, rates={"precision": score},
        comments=(ScoredComment(0, comment(kept), True, True, False, verdict=Verdict(score, True, "judge", note)),),
        references=(ScoredReference(0, comment(of_reference), True, True, True),),
        negatives=(Negative(0, comment(of_negative)),),
        matches=((0, 0),), spent=Spent(cost),
    )  # fmt: skip
    [(_, line)] = pieces(record, [])
    assert line == json.dumps(record_to_json(record), ensure_ascii=False, separators=(",", ":"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comments_text, "BLOCK", 1)  # in blocks, as one with thousands of comments
        assert b"".join(to_bytes(text) for _, text in pieces(record, [])) == to_bytes(line)
