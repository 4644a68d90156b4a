"""Verdicts from elsewhere: what each kind of file says, and what is refused."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_fuzz import CHANGES, VALUES, changed, places

from metareview.errors import InputError
from metareview.formats.input_file import InputFile
from metareview.formats.labels import read_label_set, read_labels
from metareview.formats.verdicts import StoredVerdict, read_verdicts

PR = "https://github.com/octo/app/pull/1"
PAIR = {"pr": PR, "reviewer": "bot", "generated": 0, "reference": 2, "negative": False, "gap": 0, "eligible": True,
        "score": 0.75, "match": True, "by": "model", "reason": "both leak", "aligned": True}  # fmt: skip
RESULT = {"github_pr_url": PR, "reviewer": "bot", "skipped": False,
          "match_details": [{"generated": 0, "note": " leak "}, {"generated": 1, "note": "style"}],
          "reference_comments": [{"reference": 2, "note": "it leaks"}],
          "negative_comments": [{"negative": 0, "note": "odd"}]}  # fmt: skip
LABEL = {"pr": PR, "reviewer": "bot", "generated": 0, "reference": 2, "match": True, "a": "it leaks", "b": "leak",
         "group": f"{PR} bot", "at": "2026-11-16T10:00:00Z", "name": "anna"}  # fmt: skip
ISSUE = {"issue": "1", "pr": PR, "comments": [["bot", 0]], "verdict": "valid", "note": "x",
         "at": "2026-11-16T10:00:00Z", "name": "anna", "model": None}  # fmt: skip
PLAIN = {"a": "it leaks", "b": "leak", "match": False, "group": "one"}
ENTRY = {"skipped": False,
         "true_positives": [{"golden_comment": "it leaks", "matched_candidate": "leak", "confidence": 0.9,
                             "reasoning": "the same leak"}],
         "false_positives": [{"candidate": "style"}],
         "false_negatives": [{"golden_comment": "race"}], "errors": [], "total_candidates": 2}  # fmt: skip
MARTIAN = {PR: {"bot": ENTRY}}


def write(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_pairs_have_their_notes_from_the_results_beside_them(tmp_path):
    write(tmp_path / "results.jsonl", RESULT)
    found = read_verdicts(write(tmp_path / "pairs.jsonl", PAIR, {**PAIR, "generated": 1, "match": False, "score": 0.0,
                                                                  "eligible": False, "by": "judge"}))  # fmt: skip
    assert (found.kind, found.beyond, list(found.hashes)) == ("pairs", True, ["pairs.jsonl", "results.jsonl"])
    review = found.reviews[PR, "bot", False]
    assert review.by_notes["leak", "it leaks"] == StoredVerdict(True, 0.75, "model", "both leak")
    assert review.by_position[1, 2].match is False
    assert review.generated == {"leak", "style"}
    assert found.reviews[PR, "bot", True].reference == {"odd"}
    assert not found.warnings


def test_pairs_alone_go_by_positions_and_say_so(tmp_path):
    found = read_verdicts(write(tmp_path / "pairs.jsonl", PAIR))
    assert (found.beyond, list(found.hashes)) == (False, ["pairs.jsonl"])
    assert not found.reviews[PR, "bot", False].by_notes
    assert "no results.jsonl beside it" in found.warnings[0]


def test_the_later_word_of_a_person_holds_and_null_takes_it_back(tmp_path):
    other = {**LABEL, "generated": 1, "b": "style", "match": False}
    found = read_verdicts(
        write(tmp_path / "labels.jsonl", ISSUE, LABEL, other, {**LABEL, "match": False}, {**other, "match": None})
    )
    review = found.reviews[PR, "bot", False]
    assert review.by_notes["leak", "it leaks"] == StoredVerdict(False, 0.0, "label", "labelled different by anna")
    assert review.by_notes["style", "it leaks"].match is None


def test_two_people_against_one(tmp_path):
    path = write(
        tmp_path / "l.jsonl", *({**LABEL, "name": name, "match": name != "ben"} for name in ("anna", "cy", "ben"))
    )
    [label] = read_labels(path)
    assert (label.match, label.by, label.pr, label.reviewer) == (True, ("anna", "cy"), PR, "bot")


def test_half_a_line_is_passed_over_with_a_warning(tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_text(json.dumps(LABEL)[:70] + "\n" + json.dumps(LABEL) + "\n" + '{"pr": "x}')
    found = read_label_set(InputFile(path))
    assert len(found.labels) == 1
    assert [warning.rpartition("labels.jsonl")[2] for warning in found.warnings] == [
        ":1: the line breaks off; left out",
        ":3: the line breaks off; left out",
    ]


def test_plain_labels_hold_everywhere_by_group(tmp_path):
    found = read_verdicts(write(tmp_path / "l.jsonl", PLAIN, {**PLAIN, "b": "style"}, {**PLAIN, "group": None}))
    assert (found.kind, dict(found.reviews), [len(group.by_notes) for group in found.groups]) == ("labels", {}, [2, 1])


def test_martians_evaluations(tmp_path):
    found = read_verdicts(write(tmp_path / "e.json", MARTIAN))
    review = found.reviews[PR, "bot", False]
    assert found.kind == "martian"
    assert review.by_notes == {("leak", "it leaks"): StoredVerdict(True, 0.9, "model", "the same leak")}
    assert (review.generated, review.reference) == ({"leak", "style"}, {"it leaks", "race"})
    assert review.missed == set()  # it quotes both of its two candidates


def test_what_martian_missed_holds_for_candidates_that_it_counts_and_does_not_quote(tmp_path):
    found = read_verdicts(write(tmp_path / "e.json", {PR: {"bot": {**ENTRY, "total_candidates": 3}}}))
    assert found.reviews[PR, "bot", False].missed == {"race"}


def test_what_failed_or_was_skipped_at_martian_has_no_verdict(tmp_path):
    tools = {
        "bot": {**ENTRY, "errors": [{"golden_comment": "race", "candidate": "style", "error": "timeout"}]},
        "cat": {**ENTRY, "errors": ["timeout"]},
        "dog": {**ENTRY, "skipped": True},
    }
    found = read_verdicts(write(tmp_path / "e.json", {PR: tools}))
    assert found.reviews[PR, "bot", False].by_notes["style", "race"].match is None
    assert found.reviews[PR, "cat", False].whole is False
    assert (PR, "dog", False) not in found.reviews
    assert "1 evaluations that were skipped" in found.warnings[0]


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({**PAIR, "generated": -1}, "v.jsonl:2: generated must be a position from 0 on, found -1"),
        ({**PAIR, "reference": "2"}, "v.jsonl:2: reference must be a position from 0 on, found '2'"),
        ({**PAIR, "match": "yes"}, "v.jsonl:2: match must be true or false"),
        ({**PAIR, "score": 1.5}, "v.jsonl:2: score must be a number from 0 to 1, found 1.5"),
        ({**PAIR, "by": "me"}, "v.jsonl:2: by must be one of judge, model, cache, label, found 'me'"),
        ({**PAIR, "pr": ""}, "v.jsonl:2: pr is empty"),
        ({**PAIR, "reviewer": None}, "v.jsonl:2: reviewer must be a string"),
        ([], "v.jsonl:2: a line must be an object"),
    ],
)
def test_bad_pairs_are_named(tmp_path, record, message):
    with pytest.raises(InputError) as refused:
        read_verdicts(write(tmp_path / "v.jsonl", PAIR, record))
    assert message in str(refused.value)
    assert refused.value.fix


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            {**ENTRY, "true_positives": [{**ENTRY["true_positives"][0], "confidence": 90}]},
            "confidence must be a number",
        ),
        ({**ENTRY, "true_positives": [{"golden_comment": "x"}]}, "matched_candidate is missing"),
        ({**ENTRY, "false_positives": "x"}, "false_positives must be a list"),
        ({**ENTRY, "false_negatives": [1]}, "a golden comment must be an object"),
        ([], "an evaluation must be an object"),
    ],
)
def test_bad_evaluations_are_named(tmp_path, entry, message):
    (tmp_path / "e.json").write_text(json.dumps({PR: {"cat": ENTRY, "bot": entry}}, indent=1))
    with pytest.raises(InputError) as refused:
        read_verdicts(tmp_path / "e.json")
    assert message in str(refused.value)
    assert refused.value.line > 15
    assert refused.value.fix


def test_results_of_another_run(tmp_path):
    write(tmp_path / "results.jsonl", RESULT)
    with pytest.raises(InputError, match=r"pairs.jsonl:1: results.jsonl has no comments at these positions"):
        read_verdicts(write(tmp_path / "pairs.jsonl", {**PAIR, "generated": 7}))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "null", '{"pr": "x"}', '{"https://x": {}}', "not json", "\ufeff", "{"]
)
def test_what_holds_no_verdicts(tmp_path, text):
    (tmp_path / "v.json").write_text(text)
    with pytest.raises(InputError) as refused:
        read_verdicts(tmp_path / "v.json")
    assert "v.json" in str(refused.value)
    assert refused.value.fix


def test_no_such_file(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_verdicts(tmp_path / "v.json")


SAMPLES = [[PAIR, {**PAIR, "generated": 1}], [LABEL, ISSUE, {**LABEL, "match": None}], [PLAIN, PLAIN], [MARTIAN]]


def read_or_refused(data):
    try:
        return read_verdicts(InputFile.of_bytes(data, "verdicts.jsonl"))
    except InputError as error:
        return error


def check(data):
    found = read_or_refused(data)
    if isinstance(found, InputError):
        assert found.fix  # it says what to do
        assert str(found).startswith("verdicts.jsonl:")
        return
    for (pr, _, _), review in found.reviews.items():
        assert pr
        for verdict in (*review.by_notes.values(), *review.by_position.values()):
            assert verdict.score is None or 0 <= verdict.score <= 1
            (verdict.reason + verdict.by).encode()


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes(data):
    check(data)


@settings(max_examples=60, deadline=None)
@given(VALUES)
def test_any_json(value):
    check(json.dumps(value).encode())


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_sample_with_something_in_it_changed(data):
    documents = list(data.draw(st.sampled_from(SAMPLES)))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(documents) - 1))
        path = data.draw(st.sampled_from(list(places(documents[at]))))
        documents[at] = changed(documents[at], path, data.draw(CHANGES))
    check("\n".join(map(json.dumps, documents)).encode())


@pytest.mark.parametrize("depth", [100, 990, 100_000])
def test_deep_nesting(depth):
    check(b'{"a": ' * depth + b"1" + b"}" * depth)
    check(b'{"a": "x", "b": "y", "match": ' + b"[" * depth + b"]" * depth + b"}")
    check(f'{{"{PR}": {{"bot": {{"true_positives": {"[" * depth + "]" * depth}}}}}}}'.encode())
