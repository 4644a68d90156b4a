from pathlib import Path

import pytest

from metareview.benchmark.check import check_benchmark
from metareview.formats.reader import read_reference_set
from metareview.model.comment import Comment, ReferenceSet, Review

AACR = Path(__file__).resolve().parents[3] / "shared" / "data" / "aacr"


def pull(number, *comments):
    return f"github.com/o/r#{number}", Review(f"https://github.com/o/r/pull/{number}", comments)


def at(line, note, path="a.py"):
    return Comment(note=note, path=path, side="right", from_line=line, to_line=line)


def findings(result, level):
    return [finding["message"] for finding in result["findings"] if finding["level"] == level]


def test_a_sound_benchmark_passes_every_probe():
    result = check_benchmark(
        ReferenceSet(dict([pull(1, at(1, "leak")), pull(2, at(1, "race"), at(2, "slow"))]))
    ).to_dict()
    assert result["sound"]
    assert {name: probe["passed"] for name, probe in result["probes"].items()} == {
        "oracle": True, "silence": True, "shuffled notes": None, "shifted lines": True,
    }  # fmt: skip
    assert (result["prs"], result["references"]) == (2, 3)
    [crowd] = findings(result, "note")
    assert "2 of 3 references are within a line distance of 1 of another" in crowd
    assert "finds only 2 of 3" in crowd


def test_notes_that_are_all_alike_make_figures_meaningless():
    result = check_benchmark(ReferenceSet(dict([pull(1, at(1, "add a test")), pull(2, at(1, "add a test"))]))).to_dict()
    assert not result["sound"]
    assert result["probes"]["shuffled notes"]["passed"] is False
    assert result["probes"]["shuffled notes"]["metrics"]["positive_recall_rate"] == 1


def test_a_comment_cannot_be_valid_and_rejected():
    result = check_benchmark(ReferenceSet(dict([pull(1, at(1, "x"))]), dict([pull(1, at(1, "x"))]))).to_dict()
    assert not result["sound"]
    assert findings(result, "error") == ["github.com/o/r#1: 1 comment is both reference and negative"]


def test_what_is_odd_is_named():
    references = dict(
        [
            pull(1, at(1, "x"), at(1, "x"), at(2, ""), Comment(note="y")),
            pull(2),
            ("o/r/odd", Review("o/r/odd", (at(1, "z"),))),
            ("github.com/other/r#1", Review("https://github.com/other/r/pull/1", (at(1, "q"),))),
        ]
    )
    warnings = " | ".join(findings(check_benchmark(ReferenceSet(references)).to_dict(), "warning"))
    for expected in (
        "1 reference occurs more than once",
        "1 reference without a note",
        "1 reference has no path",
        "github.com/o/r#2: no reference",
        "o/r/odd: not the address of a pull request",
        "cannot tell apart github.com/o/r#1 and github.com/other/r#1",
    ):
        assert expected in warnings


def test_what_was_answered_is_no_reference():
    answers = (
        Comment("Done.", "a.py", in_reply_to="1"),
        Comment("Done.", "a.py", in_reply_to="1"),
        Comment("", in_reply_to="1"),
    )
    result = check_benchmark(ReferenceSet(dict([pull(1, at(1, "x"), *answers)]))).to_dict()
    assert findings(result, "warning") == []


def test_pull_requests_without_a_number_are_one_note():
    names = ["shop__security-1", "shop__security-2", "acme/shop@0a1b2c"]
    result = check_benchmark(ReferenceSet({name: Review(name, (at(1, name),)) for name in names})).to_dict()
    assert findings(result, "warning") == []
    [note] = [text for text in findings(result, "note") if "number" in text]
    assert note == (
        "3 of 3 pull requests have no number: comments on 'shop__security-1' must name it in pr or, without a slash, "
        "in the file's name"
    )


def test_without_locations_lines_are_not_probed():
    result = check_benchmark(ReferenceSet(dict([pull(1, Comment(note="a")), pull(2, Comment(note="b"))]))).to_dict()
    assert result["sound"]
    assert result["probes"]["shifted lines"]["passed"] is None
    assert result["probes"]["oracle"]["metrics"]["line_f1"] is None


@pytest.mark.skipif(not AACR.exists(), reason="the AACR set is not beside this checkout")
def test_the_published_set_is_sound_but_for_one_reversed_range():
    benchmark, _ = read_reference_set([AACR / "positive_samples.json"])
    result = check_benchmark(benchmark).to_dict()
    assert result["sound"]
    assert all(probe["passed"] for probe in result["probes"].values())
    [reversed_range] = findings(result, "warning")
    assert "positive_samples.json:" in reversed_range
    assert "from_line 1153 is after to_line 1144" in reversed_range
