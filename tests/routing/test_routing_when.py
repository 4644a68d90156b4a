from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.errors import UsageError
from metareview.model.time import SECOND, Cutoff, parse_cutoff, parse_span, parse_time, parse_times, show_time

NOON = 1_748_781_000 * SECOND  # 2025-06-01T12:30:00Z


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2025-06-01T12:30:00Z", NOON),
        ("2025-06-01T12:30:00", NOON),
        ("2025-06-01 12:30:00", NOON),
        ("2025-06-01T12:30Z", NOON),
        (" 2025-06-01T12:30:00Z ", NOON),
        ("2025-06-01T14:30:00+02:00", NOON),
        ("2025-06-01T14:30:00+0200", NOON),
        ("2025-06-01T07:00:00-05:30", NOON),
        ("2025-06-01T12:30:00.5Z", NOON + SECOND // 2),
        ("2025-06-01T12:30.5Z", NOON + 30 * SECOND),
        ("2025-06-01T12:30,25+00:00", NOON + 15 * SECOND),
        ("2025-06-01T12:30.000000001Z", NOON + 60),
        ("2025-06-01T12:30:00,5", NOON + SECOND // 2),
        ("2025-06-01 12:30:00.000000001", NOON + 1),
        ("2025-06-01T14:30:00.123456789+02:00", NOON + 123_456_789),
        ("2025-06-01", NOON - (12 * 3600 + 30 * 60) * SECOND),
        ("1969-12-31T23:59:59Z", -SECOND),
    ],
)
def test_times_are_utc_and_exact_to_the_nanosecond(text, instant):
    assert parse_time(text) == instant


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2025-13-01T00:00:00Z",
        "2025-02-30",
        "2025-06-01T24:30:00Z",
        "2025-06-01T12:60:00Z",
        "2025-06-01T12:30:00.1234567890Z",
        "1748781000",
        "2025-06-01T12:30:00ZZ",
        "２０２５-06-01",
        "2025-6-1",
        "2025-06-01T12:30:60Z",
        "2025-06-01T12:30:00z",
        "2025-06-01T12:30:00+24:00",
        "2025-06-01T12:30:00+05:99",
        "2025-06-01T12:30:00-0560",
        "2025-06-01T12:30:00 Z",
        "2025-06-01Z",
        "2025-06-01T",
        "2025-W22-7T12:30:00Z",
        "0000-01-01",
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        parse_time(text)


@given(st.integers(-(10**18), 4 * 10**18))
def test_a_shown_time_reads_back(instant):
    assert parse_time(show_time(instant)) == instant


@given(st.datetimes(datetime(1980, 1, 1), datetime(2100, 1, 1)).map(lambda at: at.replace(microsecond=0)))
def test_the_quick_way_agrees_with_the_library(moment):
    text = moment.isoformat() + "Z"
    expected = int((moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(seconds=1)) * SECOND
    assert parse_time(text) == expected
    assert parse_time(text.replace("Z", "+00:00")) == expected
    assert parse_time(f" {text}") == expected


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("60m", 3600), ("1.5h", 5400), ("30d", 30 * 86400)])
def test_spans(text, seconds):
    assert parse_span(text, "--truth-window") == seconds * SECOND


@pytest.mark.parametrize("text", ["0m", "-1h", "0.0d", "", "5", "m", "1w", "1 h 3", "1e3s", "nan", "٣m"])
def test_a_span_of_nothing_or_less_names_the_option_and_the_fix(text):
    with pytest.raises(UsageError, match=r"--truth-window .*Give a number above 0"):
        parse_span(text, "--truth-window")


def test_cutoffs():
    assert parse_cutoff("created_at") == Cutoff("created_at")
    assert parse_cutoff("created_at+30m") == Cutoff("created_at", 1800 * SECOND)
    assert parse_cutoff("ready_for_review") == Cutoff("ready_for_review")


@pytest.mark.parametrize("text", ["", "opened", "created_at+", "created_at+0m", "ready_for_review+1h", "created_at-1h"])
def test_other_cutoffs_are_refused(text):
    with pytest.raises(UsageError, match="--cutoff"):
        parse_cutoff(text)


DAYS = ["2025-06-01", "1969-12-31", "2024-02-29", "2025-02-29", "0000-01-01", "0001-01-01", "9999-12-31"]
CLOCKS = ["12:30:00Z", "24:00:00Z", "23:59:60Z", "1a:00:00Z"]
USUAL = st.tuples(st.sampled_from(DAYS), st.sampled_from("T t"), st.sampled_from(CLOCKS)).map("".join)
OTHERS = ["2025-06-01T12:30:00Z", "2025-06-01", "2025-06-01T12:30:00.5Z", "20250601T123000+0000", ""]


@settings(deadline=None)  # The first column imports NumPy.
@given(st.lists(USUAL | st.sampled_from(OTHERS), max_size=4))
def test_times_of_a_column_are_those_of_each(texts):
    def read(parse):
        try:
            return parse(texts)
        except ValueError:
            return "refused"

    assert read(parse_times) == read(lambda texts: list(map(parse_time, texts)))
