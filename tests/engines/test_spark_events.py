"""Rows of events without a cluster: what our formats make of lines that Spark read in blocks, and back."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metareview.engines.spark_events import REACHES, REFUSED, Files, RowReader, TextReader, refusal, remarks_by_file
from metareview.engines.spark_rows import batch_of, events_of, repositories
from metareview.errors import InputError
from metareview.formats.histories import events, gharchive
from metareview.formats.protocol import Reading
from metareview.formats.source import Source
from metareview.model.event import Event

texts = st.none() | st.text(st.characters(), max_size=8)
paths = st.none() | st.lists(st.text(st.characters(), min_size=1, max_size=5), max_size=3).map(tuple)
some_events = st.builds(
    Event,
    st.text(st.characters(), min_size=1, max_size=4),
    st.integers(0, 2**63 - 1),
    st.integers(-(2**62), 2**62),
    st.sampled_from(["opened", "comment", "x"]),
    texts,
    texts,
    st.text(st.characters(), max_size=5),
    texts,
    texts,
    texts,
    paths,
    st.none() | st.booleans(),
    texts,
    texts,
)


@given(st.lists(some_events, min_size=1, max_size=6))
def test_events_come_back_from_their_rows(made):
    batch = batch_of(made, range(len(made)))
    assert list(events_of(batch)) == made
    assert batch.column("position").to_pylist() == list(range(len(made)))
    assert list(events_of(batch.slice(1))) == made[1:]


@given(st.lists(some_events, min_size=1, max_size=12), st.integers(1, 5))
def test_repositories_are_told_apart_however_their_rows_are_cut(made, size):
    made.sort(key=lambda event: event.repo.encode("utf-8", "surrogatepass"))
    batches = [
        batch_of(made[at : at + size], range(99)[: len(made[at : at + size])]) for at in range(0, len(made), size)
    ]
    found = [(repo, list(held)) for repo, held in repositories(batches)]
    assert [event for _, held in found for event in held] == made
    assert [repo for repo, _ in found] == list(dict.fromkeys(event.repo for event in made))


def in_blocks(path: Path, size: int, rows: int) -> list[pa.RecordBatch]:
    """The lines as Spark's reader gives them: a block leaves the line at its beginning to the one before."""
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    starts = [0] if path.suffix == ".gz" else list(range(0, max(1, len(data)), size))
    held: dict[int, list[bytes]] = {start: [] for start in starts}
    at = 0
    for line in data.splitlines(keepends=True):
        block = max(start for start in starts if start < at or start == 0)
        held[block].append(line.rstrip(b"\n"))
        at += len(line)
    flat = [(line, path.absolute().as_uri(), block) for block, lines in held.items() for line in lines]
    return [
        pa.RecordBatch.from_arrays(
            [
                pa.array([row[0] for row in part], pa.binary()).cast(pa.string(), safe=False)
                if all(_is_text(row[0]) for row in part)
                else pa.array([row[0] for row in part], pa.binary()),
                pa.array([row[1] for row in part]),
                pa.array([row[2] for row in part], pa.int64()),
            ],
            ["value", "its_file", "its_place"],
        )
        for part in (flat[at : at + rows] for at in range(0, len(flat), rows))
    ]


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def line(pr, kind, at, **more):
    return json.dumps({"repo": "o/r", "pr": pr, "kind": kind, "at": at, **more}).encode() + b"\n"


LINES = [
    line(number, "opened" if number % 3 else "comment", f"2026-01-{number % 28 + 1:02d}T08:00:00Z", actor="ann", **more)
    for number in range(40)
    for more in ({"id": str(number)}, {"body": "é\ud800", "id": None})
]


@pytest.mark.parametrize("size", [50, 333, 10_000])
@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_blocks_of_json_lines_are_read_as_the_file_is(tmp_path, size, rows):
    path = tmp_path / "a b%20.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b"".join(LINES[:30]) + b"\n  \n" + b"".join(LINES[30:]).rstrip(b"\n"))
    reader = TextReader(Files.of_paths([tmp_path / "other.jsonl", path]), "events")
    found = list(reader(in_blocks(path, size, rows)))
    source = Source(path)
    expected = list(events.events(source, Reading()))
    special = [row for batch in found for row in batch.to_pylist() if row["kind"] == b""]
    found = [batch for batch in found if batch.column("kind")[0].as_py() != b""]
    assert [event for batch in found for event in events_of(batch)] == expected
    remarks = remarks_by_file((row["position"], row["body"]) for row in special)
    assert remarks[1].lines(str(path)) == source.all_warnings() != []
    positions = [position for batch in found for position in batch.column("position").to_pylist()]
    assert positions == sorted(set(positions))
    assert min(positions) >= 1 << 44


@pytest.mark.parametrize("size", [50, 333, 10_000])
@pytest.mark.parametrize("broken", [0, 1, 17, 79])
@pytest.mark.parametrize("bad", [b"{\n", b'{"repo": "\xff"}\n', line(1, "opened", "yesterday"), b'{"repo": 7}\n'])
def test_what_is_wrong_in_a_block_names_its_line_in_the_file(tmp_path, size, broken, bad):
    path = tmp_path / "events.jsonl"
    path.write_bytes(b"".join([*LINES[:broken], bad, *LINES[broken:]]))
    with pytest.raises(InputError) as expected:
        list(events.events(Source(path), Reading()))
    *_, last = TextReader(Files.of_paths([path]), "events")(in_blocks(path, size, 20))
    [row] = last.to_pylist()
    assert (row["kind"], row["actor"]) == (b"", REFUSED.encode())
    assert str(refusal(row["body"])) == str(expected.value)


def test_an_archive_also_says_how_far_it_reaches(tmp_path):
    path = tmp_path / "2026-01-01-0.json.gz"
    rows = [
        {"id": "1", "type": "PushEvent", "actor": {"login": "a"}, "repo": {"name": "o/r"}, "payload": {},
         "public": True, "created_at": "2026-01-01T00:59:59Z"},
        {"id": "2", "type": "IssueCommentEvent", "actor": {"login": "a"}, "repo": {"name": "o/r"},
         "payload": {"action": "created", "issue": {"number": 3, "pull_request": {}}, "comment": {"body": "x"}},
         "public": True, "created_at": "2026-01-01T00:10:00Z"},
    ]  # fmt: skip
    rows[1]["payload"]["issue"]["pull_request"] = {"url": "u"}
    path.write_bytes(gzip.compress(b"".join(json.dumps(row).encode() + b"\n" for row in rows)))
    reading = Reading()
    expected = list(gharchive.events(Source(path), reading))
    found, end = TextReader(Files.of_paths([path]), "gharchive")(in_blocks(path, 1, 10))
    assert list(events_of(found)) == expected != []
    assert (end.column("kind").to_pylist(), end.column("actor").to_pylist()) == ([b""], [REACHES.encode()])
    assert end.column("at").to_pylist() == [reading.end]


def test_rows_of_a_frame_are_events_too():
    times = pa.array([1_767_225_600_000_000, None], pa.timestamp("us", tz="Pacific/Auckland"))
    frame = pa.RecordBatch.from_pydict({"repo": ["o/r"] * 2, "pr": [1, 2], "at": times, "kind": ["opened"] * 2})
    names = ["repo", "pr", "at", "kind"]
    made, wrong = RowReader(names)([frame.slice(0, 1), frame])
    assert [list(events_of(batch)) for batch in (made,)] == [[Event("o/r", 1, 1_767_225_600_000_000_000, "opened")]]
    assert str(refusal(wrong.column("body")[0].as_py())).startswith("the data frame:3: at ")
