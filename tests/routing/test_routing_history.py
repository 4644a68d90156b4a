import gc
import gzip
import json
import random
import sys

import pytest
from routing_stories import happen, history_of

from metareview.errors import InputError, UsageError
from metareview.formats.history import read_history
from metareview.formats.input_file import InputFile, split_lines
from metareview.model.event import Eligibility, make_history
from metareview.model.time import SECOND
from metareview.pipelines.routing import RoutingOptions, read

OPENED = {"repo": "o/r", "pr": 1, "at": "2025-06-01T12:00:00Z", "kind": "opened", "actor": "ann"}
REVIEW = {"repo": "o/r", "pr": 1, "at": "2025-06-01T12:30:00Z", "kind": "review_submitted", "actor": "bob"}


def parquet():
    return pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")


def kinds(history):
    return [event.kind for event in history.events]


def test_every_key_of_an_event_is_read(write_lines):
    row = OPENED | {
        "actor_type": "User",
        "id": 17,
        "state": "OPEN",
        "title": "t",
        "body": "b",
        "files": ["a.py", "b.py", "a.py"],
        "draft": True,
        "base_sha": "abc",
        "target": "zoe",
        "unheard_of": 1,
    }
    (event,) = read_history(write_lines(row)).events
    assert event._asdict() == {
        **{key: row[key] for key in row if key not in ("unheard_of", "at")},
        "at": 1_748_779_200 * SECOND,
        "id": "17",
        "files": ("a.py", "b.py"),
    }


def test_lines_may_be_blank_carry_a_mark_and_end_as_windows_ends_them(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"\xef\xbb\xbf\r\n" + json.dumps(OPENED).encode() + b"\r\n\r\n" + json.dumps(REVIEW).encode())
    assert kinds(read_history(path)) == ["opened", "review_submitted"]


def test_order_is_time_then_opened_then_id_as_text_then_position():
    events = [
        happen(5, "comment", "a", id="9"),
        happen(5, "comment", "b", id="10"),
        happen(5, "comment", "c"),
        happen(5, "review_comment", "d"),
        happen(5, "opened", "e", id="z"),
        happen(1, "comment", "f", id="x"),
    ]
    assert [event.actor for event in history_of(*events).events] == ["f", "e", "c", "d", "b", "a"]


def test_order_does_not_depend_on_the_file_where_ids_tell_events_apart():
    events = [happen(minute % 3, "comment", "a", id=str(minute)) for minute in range(20)] + [happen(0, "opened", "x")]
    expected = history_of(*events).events
    shuffled = events.copy()
    random.Random(1).shuffle(shuffled)
    assert history_of(*shuffled).events == expected


def test_a_login_is_one_person_in_any_case_and_shown_as_first_seen():
    history = history_of(
        happen(2, "comment", "ANN"),
        happen(0, "opened", "Bob"),
        happen(1, "comment", "Ann"),
        happen(3, "comment", "bob"),
    )
    assert [event.actor for event in history.events] == ["Bob", "Ann", "Ann", "Bob"]
    assert history.names == {"bob": "Bob", "ann": "Ann"}


def test_a_deleted_account_is_nobody(write_lines):
    history = read_history(write_lines(OPENED, REVIEW | {"actor": None}, REVIEW | {"actor": " "}))
    assert [event.actor for event in history.events] == ["ann", None, None]
    assert not Eligibility(frozenset())(None, "ann")


def test_eligibility_is_one_rule():
    history = history_of(happen(0, "opened", "Ann"), happen(1, "comment", "Helper", actor_type="Bot"))
    eligible = Eligibility(history.bots)
    assert eligible("bob", "ann")
    assert eligible("bob", None)
    assert not eligible("ANN", "ann")
    assert not eligible("helper", "ann")
    assert not eligible("ci[Bot]", "ann")
    assert not eligible("", "ann")
    assert Eligibility(history.bots, include_bots=True)("helper", "ann")
    assert Eligibility(history.bots, include_author=True)("ann", "ann")
    assert not Eligibility(history.bots, include_author=True)("ci[bot]", "ann")


def test_unknown_kinds_are_counted_once_and_still_tell_how_far_the_history_goes(write_lines):
    strange = [OPENED | {"kind": "labeled", "at": "2025-07-01T00:00:00Z"}, OPENED | {"kind": "locked"}]
    history = read_history(write_lines(OPENED, *strange, strange[0]))
    assert kinds(history) == ["opened"]
    assert history.warnings == ("3 events of unknown kinds left out: labeled (2), locked (1)",)
    assert history.end == 1_751_328_000 * SECOND


def test_what_cannot_be_used_is_left_out_and_counted():
    history = history_of(
        happen(5, "opened", "ann"),
        happen(1, "comment", "bob"),
        happen(6, "review_submitted", "bob", id="7"),
        happen(7, "review_submitted", "cy", id="7"),
        happen(7, "comment", "cy", id="7"),
        happen(7, "review_submitted", "cy", id="7", repo="o/other"),
        happen(9, "opened", "dan"),
        happen(9, "merged", "dan", pr=2),
    )
    assert [(event.kind, event.actor) for event in history.events] == [
        ("comment", "bob"),
        ("opened", "ann"),
        ("review_submitted", "bob"),
        ("comment", "cy"),
        ("review_submitted", "cy"),
        ("merged", "dan"),
    ]
    assert history.warnings == (
        "1 event left out: an earlier event of its kind has its id",
        "1 event left out: opened again, where a pull request opens once",
        "1 event earlier than the opened event of the pull request",
        "2 pull requests not scored: no opened event",
    )


def test_a_history_without_pull_requests_is_refused(write_lines):
    with pytest.raises(InputError, match=r"events\.jsonl: the history has no pull requests.*Give every"):
        read_history(write_lines(REVIEW | {"kind": "merged"}))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"repo": None}, "repo must be a string, found null"),
        ({"repo": ""}, "repo is empty"),
        ({"repo": 5}, "repo must be a string, found a number"),
        ({"pr": None}, "pr must be a whole number, found null"),
        ({"pr": "x"}, "pr must be a whole number, found 'x'"),
        ({"pr": -1}, "pr must be a whole number, found -1"),
        ({"pr": True}, "pr must be a whole number, found True"),
        ({"pr": 1.5}, "pr must be a whole number, found 1.5"),
        ({"pr": 2**70}, "pr must be a whole number, found 1180591620717411303424"),
        ({"pr": "٣"}, "pr must be a whole number, found '٣'"),
        ({"at": None}, "at must be a time, found null"),
        ({"at": "soon"}, "at must be a time, found 'soon'"),
        ({"at": 1748779200}, "at must be a time, found a number"),
        ({"kind": None}, "kind must be a string, found null"),
        ({"kind": 1}, "kind must be a string, found a number"),
        ({"actor": 1}, "actor must be a string, found a number"),
        ({"actor_type": []}, "actor_type must be a string, found a list"),
        ({"body": {}}, "body must be a string, found an object"),
        ({"draft": 1}, "draft must be true or false, found a number"),
        ({"id": 1.5}, "id must be a string, found a number"),
        ({"id": True}, "id must be a string, found a boolean"),
        ({"files": "a.py"}, "files must be a list of paths, found a string"),
        ({"files": [1]}, "files must be a list of paths"),
        ({"files": [""]}, "files must be a list of paths"),
    ],
)
def test_a_bad_value_names_file_line_and_fix(write_lines, change, problem):
    path = write_lines(OPENED, "", REVIEW | change)
    with pytest.raises(InputError) as caught:
        read_history(path)
    assert str(caught.value).startswith(f"{path}:3: {problem}")
    assert "Give" in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"repo": ', r"broken JSON: Expecting value \(column 9\)\. Correct it"),
        ('{"repo": "o/r"} {}', r"broken JSON: Extra data \(column 16\)\. Correct it"),
        ("[1]", "a line must be an object, found a list"),
        ("[" * 100_000, "broken JSON: nested too deeply"),
        ('{"pr": ' + "9" * 5000 + "}", "broken JSON: a number is too long"),
    ],
)
def test_a_line_that_is_no_object_is_named(write_lines, line, problem):
    with pytest.raises(InputError, match=rf"events\.jsonl:2: {problem}"):
        read_history(write_lines(OPENED, line))
    with pytest.raises(InputError, match=rf"events\.jsonl:1: {problem}"):
        read_history(write_lines(line))


def test_bytes_that_are_no_text_are_named(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_bytes(json.dumps(OPENED).encode() + b"\n\xff\xfe\n")
    with pytest.raises(InputError, match=r":2: not UTF-8 \(byte 0xff\)\. Save"):
        read_history(path)


def test_a_file_that_is_absent_empty_or_something_else(tmp_path, write_lines):
    with pytest.raises(InputError, match=r"absent\.jsonl: no such file\. Check the path\."):
        read_history(tmp_path / "absent.jsonl")
    with pytest.raises(InputError, match="a folder without a history"):
        read_history(tmp_path)
    with pytest.raises(InputError, match="the file is empty"):
        read_history(write_lines("", " "))
    with pytest.raises(InputError, match=r":1: not a history in a known format.*events, gerrit"):
        read_history(write_lines({"a": 1}))
    with pytest.raises(
        UsageError,
        match=r"Unknown history format 'csv'\. The history formats are events, gerrit, sqlite, .* or package",
    ):
        read_history(write_lines(OPENED), format="csv")
    with pytest.raises(InputError, match="changeId is missing"):
        read_history(write_lines(OPENED), format="gerrit")


def test_parquet_reads_as_the_lines_do(tmp_path, write_lines):
    pa, pq = parquet()
    rows = [OPENED | {"files": ["a/b.py"], "draft": False, "id": "1", "state": None}, REVIEW | {"state": "APPROVED"}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "text.parquet")
    assert read_history(tmp_path / "text.parquet") == read_history(write_lines(*rows))


def test_parquet_times_are_exact_and_without_a_zone_utc(tmp_path):
    pa, pq = parquet()
    columns = {"repo": ["o/r"] * 2, "pr": [1, 1], "kind": ["opened", "merged"], "extra": [1, 2]}
    instants = [1_700_000_000_123_456_789, 1_700_000_001_000_000_000]
    for name, zone in (("naive", None), ("zoned", "Asia/Tokyo")):
        at = pa.array(instants, pa.timestamp("ns", tz=zone))
        pq.write_table(pa.table({**columns, "at": at}), tmp_path / f"{name}.parquet")
        history = read_history(tmp_path / f"{name}.parquet")
        assert [event.at for event in history.events] == [1_700_000_000_123_456_789, 1_700_000_001_000_000_000]


def test_bad_parquet_names_the_row(tmp_path):
    pa, pq = parquet()
    pq.write_table(pa.Table.from_pylist([OPENED, OPENED | {"at": "soon"}]), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a\.parquet:2: at must be a time, found 'soon'"):
        read_history(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and then nothing of the kind")
    with pytest.raises(InputError, match="not readable as Parquet"):
        read_history(tmp_path / "b.parquet")


@pytest.mark.parametrize("lacking", ["repo", "pr", "at", "kind"])
def test_a_missing_key_or_column_is_named(tmp_path, write_lines, lacking):
    pa, pq = parquet()
    row = {name: value for name, value in REVIEW.items() if name != lacking}
    with pytest.raises(InputError, match=rf"events\.jsonl:2: {lacking} is missing\. Give "):
        read_history(write_lines(OPENED, row))
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "events.parquet")
    with pytest.raises(InputError, match=rf"events\.parquet:1: {lacking} is missing"):
        read_history(tmp_path / "events.parquet")


def test_parquet_without_its_extra_answers_with_the_install_line(tmp_path, monkeypatch):
    (tmp_path / "a.parquet").write_bytes(b"PAR1....PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r'pip install "metareview\[parquet\]"'):
        read_history(tmp_path / "a.parquet")


CHANGE = {
    "changeId": 7,
    "submit_date": "2012-01-01 10:00:00.000000001",
    "approve_history": [
        {"userId": 2, "approve_value": 2, "grant_date": "2012-01-01 11:00:00.000000000"},
        {"userId": 1, "approve_value": -1, "grant_date": "2012-01-01 11:00:00.000000000"},
        {"userId": 3, "approve_value": 0, "grant_date": "2012-01-01 10:30:00.000000000"},
    ],
    "files": ["src/a.c"],
    "project": "platform/x",
    "status": "M",
    "close_date": "2012-01-02 10:00:00.000000000",
}


def test_a_gerrit_change_is_opened_reviewed_by_every_vote_and_closed(write_lines):
    history = read_history(write_lines(CHANGE, CHANGE | {"changeId": 8, "status": "A"}, name="android.jsonl"))
    first = [event for event in history.events if event.pr == 7]
    assert [(event.kind, event.actor, event.state) for event in first] == [
        ("opened", None, None),
        ("review_submitted", "3", "COMMENTED"),
        ("review_submitted", "2", "APPROVED"),
        ("review_submitted", "1", "CHANGES_REQUESTED"),
        ("merged", None, None),
    ]
    assert {event.repo for event in history.events} == {"android"}
    assert first[0].files == ("src/a.c",)
    assert first[0].at % SECOND == 1
    assert [event.kind for event in history.events if event.pr == 8][-1] == "closed"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"changeId": None}, "changeId must be a whole number, found null"),
        ({"submit_date": "x"}, "submit_date must be a time, found 'x'"),
        ({"files": None}, "files must be a list of paths, found null"),
        ({"approve_history": None}, "approve_history must be a list, found null"),
        ({"approve_history": {}}, "approve_history must be a list, found an object"),
        ({"approve_history": [3]}, "a vote must be an object, found a number"),
        ({"approve_history": [{"userId": [], "grant_date": "2012-01-01"}]}, "userId must be a string, found a list"),
        ({"approve_history": [{"userId": 1}]}, "grant_date is missing"),
        ({"close_date": "x"}, "close_date must be a time, found 'x'"),
    ],
)
def test_a_bad_change_names_its_line(write_lines, change, problem):
    with pytest.raises(InputError, match=rf"android\.jsonl:2: {problem}"):
        read_history(write_lines(CHANGE, CHANGE | {"changeId": 9} | change, name="android.jsonl"))


def test_a_history_made_in_python_is_checked_alike():
    with pytest.raises(InputError, match="mine: the history has no pull requests"):
        make_history([happen(0, "comment", "a")], source="mine")


def test_reading_leaves_the_collector_as_it_was(write_lines):
    assert gc.isenabled()
    read_history(write_lines(OPENED))
    with pytest.raises(InputError):
        read_history(write_lines(OPENED, "{"))
    assert gc.isenabled()
    gc.disable()
    try:
        read_history(write_lines(OPENED))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_reading_leaves_frozen_what_a_program_has_frozen(write_lines):
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        read(RoutingOptions(write_lines(OPENED)))
        assert 0 < gc.get_freeze_count() <= frozen
    finally:
        gc.unfreeze()
    read(RoutingOptions(write_lines(OPENED)))
    assert gc.get_freeze_count() == 0


def test_an_empty_login_is_nobody_on_any_line(write_lines):
    rows = [OPENED | {"actor": actor} for actor in ("", "  ", None)]
    ordinary = [read_history(write_lines(row)).events[0].actor for row in rows]
    strange = [read_history(write_lines(row, REVIEW | {"pr": "1"})).events[0].actor for row in rows]
    assert ordinary == strange == [None, None, None]


def test_lines_are_the_same_one_by_one_and_in_batches(tmp_path):
    lines = [b"%d " % number + b"x" * (number % 997) + (b"\r\n" if number % 7 else b"\n") for number in range(3_000)]
    packed, plain = tmp_path / "lines.gz", tmp_path / "lines"
    plain.write_bytes(b"".join(lines)[:-1])
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for path in (plain, packed):
        source = InputFile(path)
        blocks = list(source.blocks())
        assert len(blocks) > 2
        together = [(number, line) for first, block in blocks for number, line in enumerate(split_lines(block), first)]
        assert together == list(InputFile(path).lines())


@pytest.mark.parametrize(
    "strange", [{"pr": "2"}, {"id": 10**30}, {"id": 7}, {"title": "\ud800"}, {"files": ["a", "a"]}]
)
def test_a_line_that_is_out_of_the_ordinary_changes_nothing_around_it(write_lines, strange):
    rows = [OPENED | {"pr": pr, "at": f"2025-06-0{pr}"} for pr in (1, 2, 3)]
    rows[1] |= strange
    plain = read_history(write_lines(*rows[:1], *rows[2:]))
    history = read_history(write_lines(*rows))
    assert (*history.events[:1], *history.events[2:]) == plain.events
    told = history.events[1]
    assert told.pr == 2
    assert told.id == str(strange.get("id", ""))
    assert told.title == ("?" if "title" in strange else None)
    assert told.files == (("a",) if "files" in strange else None)


@pytest.mark.parametrize(
    ("field", "meant"), [("acter", "actor"), ("Actor", "actor"), ("actorType", "actor_type"), ("file", "files")]
)
def test_a_field_that_is_one_letter_off_is_refused_with_the_one_that_was_meant(tmp_path, field, meant):
    path = tmp_path / "events.jsonl"
    line = {"repo": "o/r", "pr": 1, "at": "2025-01-01T10:00:00Z", "kind": "opened"}
    path.write_text(json.dumps(line) + "\n" + json.dumps({**line, "kind": "comment", field: "ann"}) + "\n")
    with pytest.raises(InputError, match=rf":2: unknown field '{field}'. Did you mean {meant}\?"):
        read_history(path)


@pytest.mark.parametrize("field", ["actor_id", "source", "action", "url", "a", ""])
def test_what_else_a_history_keeps_is_its_own_business(tmp_path, field):
    path = tmp_path / "events.jsonl"
    line = {"repo": "o/r", "pr": 1, "at": "2025-01-01T10:00:00Z", "kind": "opened", field: 7}
    path.write_text(json.dumps(line) + "\n" + json.dumps({**line, "actor": "ann", "kind": "comment", "actors": 2}))
    assert len(read_history(path).events) == 2
