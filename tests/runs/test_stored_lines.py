"""Lines of a run's files come out as the standard parser has them, though another one reads them."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.comments.records import Comparison, Verdict
from metareview.errors import InputError
from metareview.runs.comments_json import record_from_json
from metareview.runs.files import parsed_line, read_lines, to_document, to_text
from metareview.runs.stored_items import COMPARISONS, StoredItems, parsed_record

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(), max_size=5), inner, max_size=3)
    ),
    max_leaves=12,
)


def same(a, b):
    return repr(a) == repr(b)  # NaN equals nothing, and 1 equals 1.0


@settings(max_examples=300)
@given(st.dictionaries(st.text(max_size=5), values | st.floats(-1e-3, 1e-3) | st.floats(1e15, 1e17), max_size=4))
def test_whatever_json_holds_is_written_as_the_standard_encoder_writes_it(document):
    assert to_text(document) == json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    assert to_document(document) == json.dumps(document, ensure_ascii=False, indent=2)


@pytest.mark.parametrize(
    "value",
    [1e-5, 9.999999999999999e-5, 1e-4, 0.1 + 0.2, -0.0, 1e16, 9999999999999998.0, 5e-324, 1.7976931348623157e308,
     math.nan, math.inf, 2**64, 2**63, -(2**63) - 1, "\ud800", "\x00\x1f\x7f\x80\u2028", {1: "one"},
     {1: 1e-5}, {"a": {}, "b": [], "c": 1e-5},
     (1, 2), True],
)  # fmt: skip
def test_a_value_is_written_as_the_standard_encoder_writes_it(value):
    for document in ({"value": value}, {"deep": [{"value": [value]}]}):
        assert to_text(document) == json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        assert to_document(document) == json.dumps(document, ensure_ascii=False, indent=2)


@given(st.dictionaries(st.text(max_size=5), values, max_size=4), st.booleans())
def test_whatever_json_holds_comes_out_the_same(document, escaped):
    line = json.dumps(document, ensure_ascii=escaped).encode("utf-8", "backslashreplace")
    assert same(parsed_line(line), json.loads(line))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", 2**64),
        ("-9223372036854775809", -(2**63) - 1),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("0.1234567890123456789", 0.1234567890123456789),
        ("-0", 0),
        ("1e999", math.inf),
        ("-Infinity", -math.inf),
        (r'"\ud800"', "\ud800"),
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'"\u0000"', "\0"),
    ],
)
def test_what_the_quick_parser_refuses_or_changes(text, value):
    [found] = parsed_line(b'{"a": %s}' % text.encode()).values()
    assert same(found, value)


def test_of_a_name_that_comes_twice_the_last_counts():
    assert parsed_line(b'{"a": 1, "a": 2}') == {"a": 2}


@pytest.mark.parametrize("line", [b"{", b"\xff", b'{"a": 01}', b"[" * 100_000, b"", b"nul"])
def test_what_is_no_json_is_told_with_its_line(tmp_path, line):
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b"{}\n" + line + b"\n")
    with pytest.raises(InputError) as told:
        list(read_lines(path))
    assert (told.value.line, told.value.problem) == (2, "broken JSON in a run's file")


COMPARED = [{"generated": 0, "reference": 1, "score": 0.5, "match": None, "by": "judge", "reason": 'a ]"[ b'}]


def record(**changes):
    skipped = {"skipped": False, COMPARISONS: COMPARED, "reference_comments": [], "negative_comments": []}
    return json.dumps(skipped | changes, separators=(",", ":")).encode()


def test_comparisons_stay_bytes_until_somebody_looks():
    stored = parsed_record(record())
    assert isinstance(stored[COMPARISONS], bytes)
    assert stored | {COMPARISONS: COMPARED} == json.loads(record())
    items = StoredItems(stored[COMPARISONS], lambda each: each["reason"])
    assert (len(items), items[0], items[:1], list(items)) == (1, 'a ]"[ b', ['a ]"[ b'], ['a ]"[ b'])


@pytest.mark.parametrize(
    "mark", ['"llm_comparisons":[', '],"reference_comments":[', 'x"llm_comparisons":[{}],"reference_comments":[y']
)
def test_marks_in_notes_and_free_fields_cut_nothing(mark):
    for changes in (
        {"match_details": [{"note": mark}]},
        {"before": {"llm_comparisons": [1], "reference_comments": [2]}, COMPARISONS: COMPARED},
        {COMPARISONS: [COMPARED[0] | {"reason": mark}]},
        {"reference_comments": [{"note": mark, "meta": {"llm_comparisons": [3]}}]},
    ):
        line = record(**changes)
        # A free field that comes first, as a comment's does.
        ordered = json.dumps(dict(sorted(json.loads(line).items())), separators=(",", ":")).encode()
        for each in (line, ordered):
            stored, whole = parsed_record(each), json.loads(each)
            if isinstance(stored[COMPARISONS], bytes):
                stored[COMPARISONS] = json.loads(b"[" + stored[COMPARISONS] + b"]")
            assert stored == whole


def test_stored_items_equal_any_sequence_of_the_same_and_say_what_is_broken():
    verdict = Verdict(0.5, None, "judge", "x")
    items = StoredItems([{"g": 1}], lambda each: Comparison(each["g"], 2, verdict))
    assert items == (Comparison(1, 2, verdict),) == items
    assert items == [Comparison(1, 2, verdict)]
    assert items != ()
    assert items != 3
    for stored in (b"{broken", b"3", [{}], 7):
        with pytest.raises(InputError, match="--overwrite"):
            len(StoredItems(stored, lambda each: each["g"]))


def test_a_record_that_lacks_its_comparisons_is_told_at_once():
    with pytest.raises(KeyError):
        record_from_json({"github_pr_url": "x", "reviewer": "y", "language": None, "pr_category": None,
                          "original_good_comments_count": 0, "filtered_good_comments_count": 0, "skip_reason": None,
                          "skipped": False})  # fmt: skip
