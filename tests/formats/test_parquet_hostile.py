"""Parquet that no careful program writes: texts that are no UTF-8, columns twice, times beyond the calendar."""

import subprocess
import sys

import pytest

from metareview.errors import InputError
from metareview.formats.history import read_history
from metareview.formats.line_parts import read_part
from metareview.formats.protocol import TextFilter
from metareview.model.time import parse_time

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

KINDS = ["opened", "review_submitted", "merged"] * 4
EVENTS = {
    "repo": ["o/r"] * len(KINDS),
    "pr": [1 + row // 3 for row in range(len(KINDS))],
    "at": [f"2024-01-{1 + row:02d}T00:00:00Z" for row in range(len(KINDS))],
    "kind": KINDS,
    "actor": [f"user{row % 3}" for row in range(len(KINDS))],
}
COLUMNS = {name: pa.array(cells) for name, cells in EVENTS.items()}
UNTIL = TextFilter(frozenset(), parse_time("2024-01-03"))
CHOSEN = TextFilter(frozenset({"o/r"}))


def written(tmp_path, columns, **options):
    path = tmp_path / "events.parquet"
    names, arrays = zip(*columns, strict=True)
    pq.write_table(pa.Table.from_arrays(list(arrays), names=list(names)), path, **options)
    return path


def broken(cells, row):
    """The texts, but for one that ends in what is no UTF-8; nobody checks that before it is read."""
    raw = [cell.encode() + (b"\xff" if at == row else b"") for at, cell in enumerate(cells)]
    return pa.array(raw, pa.binary()).view(pa.string())


@pytest.mark.parametrize("name", ["repo", "at", "kind", "actor"])
@pytest.mark.parametrize("texts", [None, UNTIL])
def test_a_text_that_is_no_utf_8_names_its_row(tmp_path, name, texts):
    path = written(tmp_path, (COLUMNS | {name: broken(EVENTS[name], 7)}).items(), row_group_size=3)
    with pytest.raises(InputError, match=rf"events.parquet:8: {name} is not UTF-8 \(byte 0xff\)"):
        read_history(path, texts=texts)


@pytest.mark.parametrize(("name", "texts"), [("repo", CHOSEN), ("body", UNTIL)])
def test_also_where_it_is_looked_at_before_its_row_is_read(tmp_path, name, texts):
    column = broken(["o/r"] * len(KINDS), 0)
    path = written(tmp_path, (COLUMNS | {name: column}).items(), row_group_size=3)
    with pytest.raises(InputError, match=r"not UTF-8 \(byte 0xff\)"):
        read_history(path, texts=texts)


def test_in_a_list_too(tmp_path):
    ends = pa.array(range(len(KINDS) + 1), pa.int32())
    files = pa.ListArray.from_arrays(ends, broken(["a.py"] * len(KINDS), 2))
    with pytest.raises(InputError, match=r"events.parquet:3: files is not UTF-8"):
        read_history(written(tmp_path, (COLUMNS | {"files": files}).items()))


@pytest.mark.parametrize("name", [*EVENTS, "body"])
@pytest.mark.parametrize("texts", [None, UNTIL, CHOSEN])
def test_a_column_that_is_there_twice_is_refused_by_its_name(tmp_path, name, texts):
    text = pa.array(["x"] * len(KINDS))
    twice = [*COLUMNS.items(), (name, text)] + ([(name, text)] if name == "body" else [])
    with pytest.raises(InputError, match=rf"column {name} is there 2 times\. Keep one of them"):
        read_history(written(tmp_path, twice), texts=texts)


def test_one_that_nobody_reads_may_be_there_twice(tmp_path):
    other = pa.array([1] * len(KINDS))
    path = written(tmp_path, [*COLUMNS.items(), ("mine", other), ("mine", other)])
    assert len(read_history(path).events) == len(KINDS)


@pytest.mark.parametrize("unit", ["ms", "us"])
@pytest.mark.parametrize("value", [2**62, -(2**62)])
@pytest.mark.parametrize("texts", [None, UNTIL])
def test_a_time_beyond_every_calendar_is_refused(tmp_path, unit, value, texts):
    times = pa.array([0] * (len(KINDS) - 1) + [value], pa.int64()).cast(pa.timestamp(unit, tz="UTC"))
    with pytest.raises(InputError, match=r"events\.parquet"):
        read_history(written(tmp_path, (COLUMNS | {"at": times}).items(), row_group_size=3), texts=texts)


def test_a_part_of_a_run_with_its_column_twice(tmp_path):
    lines = pa.array(["{}"])
    path = written(tmp_path, [("record", lines), ("record", lines)])
    with pytest.raises(InputError, match="or with several"):
        list(read_part(path))


@pytest.mark.parametrize("read", [lambda path: list(read_part(path)), read_history])
def test_a_column_whose_name_is_no_utf_8(tmp_path, read):
    path = written(tmp_path, [("record", pa.array(["{}"])), ("bystander", pa.array(["x"]))])
    path.write_bytes(path.read_bytes().replace(b"bystander", b"b\xffstander"))
    with pytest.raises(InputError, match=r"events\.parquet"):
        read(path)


DAMAGE = """
import sys
from pathlib import Path
from metareview.errors import InputError
from metareview.formats.line_parts import read_part

path = Path(sys.argv[1])
whole = path.read_bytes()
end = len(whole) - 8
for at in range(end - int.from_bytes(whole[end : end + 4], "little"), end):
    path.write_bytes(whole[:at] + bytes([(whole[at] + 2) % 256]) + whole[at + 1 :])
    try:
        list(read_part(path))
    except InputError:
        pass
"""


def test_whatever_is_damaged_in_the_footer_the_process_goes_on(tmp_path):
    """Arrow ends the process where the description of a column is damaged and only that is asked for."""
    path = written(tmp_path, [("record", pa.array(["{}"] * 4)), ("files", pa.array([["a.py"], ["b.py", "c.py"]] * 2))])
    done = subprocess.run([sys.executable, "-c", DAMAGE, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
