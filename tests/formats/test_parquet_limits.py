"""Parquet of a few kilobytes that holds gigabytes is refused before it fills memory; what people have is read."""

import random

import numpy as np
import pytest

from limited import run_limited
from metareview.errors import InputError
from metareview.formats.history import read_history
from metareview.formats.line_parts import read_part
from metareview.runs.parts import PartRows

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def repeated(text, rows):
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, "int32")), pa.array([text]))


def write(path, rows, columns=None, **options):
    """So many times one event."""
    ordinary = {name: repeated(text, rows) for name, text in (("repo", "o/r"), ("kind", "opened"), ("actor", "ann"))}
    times = pa.array(np.full(rows, 1_700_000_000), pa.timestamp("s", tz="UTC"))
    table = pa.table({**ordinary, "pr": np.ones(rows, "int64"), "at": times, **(columns or {})})
    pq.write_table(table, path, compression="zstd", **options)
    assert path.stat().st_size < 100_000


def lists_of(values, rows=10):
    offsets = pa.array((np.arange(rows + 1) * (values // rows)).astype("int32"))
    return pa.ListArray.from_arrays(offsets, repeated("src/a.py", values))


@pytest.mark.parametrize(
    ("rows", "columns", "options", "problem"),
    [
        (20_000, {"body": repeated("a" * 1_000_000, 20_000)}, {}, "texts that repeat until they have more than 256 MB"),
        (10, {"files": lists_of(2_000_000)}, {}, "2,000,000 values of one column in "),
        (200_000, {}, {}, "200,000 rows in "),
        (
            60,
            {"body": pa.array(["b" * 5_000_000] * 60)},
            {"use_dictionary": False},
            "a group of rows of 286 MB once it is unpacked",
        ),
    ],
    ids=["a long text in every row", "long lists", "rows", "a long text, packed"],
)
def test_a_history_that_unpacks_to_far_more_than_its_size_is_refused(tmp_path, rows, columns, options, problem):
    write(tmp_path / "events.parquet", rows, columns, **options)
    ran = run_limited("routing", "events.parquet", folder=tmp_path)
    assert ran.returncode == 2, ran.stderr
    message = " ".join(ran.stderr.split())
    assert f"events.parquet: {problem}" in message
    assert "give the history as JSON lines" in message


def test_a_text_that_repeats_is_held_once(tmp_path):
    write(tmp_path / "events.parquet", 200, {"body": repeated("a" * 1_000_000, 200)})
    bodies = [event.body for event in read_history(tmp_path / "events.parquet").events]
    assert bodies[0] == "a" * 1_000_000
    assert len({id(body) for body in bodies}) == 1


def test_a_history_as_people_have_them_is_read(tmp_path):
    # More rows than a file of any size may have, of few people and repositories: packed as well as a real one is.
    rows, chance = 150_000, random.Random(0)
    table = {
        "repo": [f"octo/shop{row // 10 % 5}" for row in range(rows)],
        "pr": [1 + row // 10 for row in range(rows)],
        "at": pa.array([1_700_000_000 + 60 * row for row in range(rows)], pa.timestamp("s", tz="UTC")),
        "kind": ["opened" if row % 10 == 0 else "comment" for row in range(rows)],
        "actor": [f"user{chance.randrange(40)}" for _ in range(rows)],
        "files": [["src/a.py", f"src/{row}.py"] if row % 10 == 0 else None for row in range(rows)],
    }
    pq.write_table(pa.table(table), tmp_path / "events.parquet", compression="zstd")
    events = read_history(tmp_path / "events.parquet").events
    assert len(events) == rows
    assert (events[10].files, events[11].files) == (("src/a.py", "src/10.py"), None)


@pytest.mark.parametrize("read", [lambda part: list(read_part(part)), lambda part: PartRows(part.parent).read(0, 1)])
def test_a_part_of_a_run_whose_lines_repeat_is_refused(tmp_path, read):
    part = tmp_path / "part-00000.parquet"
    pq.write_table(pa.table({"record": repeated('"' + "a" * 1_000_000 + '"', 300)}), part, compression="zstd")
    with pytest.raises(InputError, match="texts that repeat"):
        read(part)
