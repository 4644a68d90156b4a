"""A run whose lines are Parquet parts is read exactly like one with JSON lines."""

import json
import sys
from datetime import UTC, datetime

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import metareview as mr
from metareview.cli import main
from metareview.errors import InputError, UsageError
from metareview.runs.files import PAIRS, RESULTS, read_lines, to_line
from metareview.runs.part_columns import PAIR_COLUMNS
from metareview.runs.parts import Columns, PartRows, count_rows, part_files, parts_of, read_parts, write_part
from metareview.runs.places import Place, lines_at, placed_lines
from metareview.runs.rows import offsets_of_pr, pair_rows, pairs_at
from parts_of_runs import copy_as_parts
from sealed_runs import seal_again

ALONE = Columns(lambda pa: {}, lambda lines: ())
PULLS = [f"https://github.com/o/r/pull/{number}" for number in range(1, 6)]


def said(note, line):
    return {"note": note, "path": "a.py", "side": "right", "from_line": line, "to_line": line}


REFERENCES = [{"pr": pr, "language": "Go", "comments": [said("leak", 1), said("slow", 30)]} for pr in PULLS]
REVIEWS = [
    {"pr": pr, "reviewer": name, "comments": [said("leak", 1), said(f"<b> \u2028 {name}", 30)][: at % 3]}
    for at, pr in enumerate(PULLS)
    for name in ("sharp", "loud 😀")
]


def event(number, kind, actor, at):
    return {"id": f"{number}{kind}", "repo": "O/r", "pr": number, "kind": kind, "actor": actor, "at": at}


HISTORY = [
    row
    for number in range(1, 9)
    for row in (
        event(number, "opened", "ann", f"2026-01-0{number}T08:00:00.000000001Z"),
        event(number, "review_submitted", "bob" if number % 3 else "cy", f"2026-01-0{number}T08:30:00Z"),
    )
]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Below `lines` and `parts` the same runs, with the same names."""
    root = tmp_path_factory.mktemp("runs")
    lines, parts = root / "lines", root / "parts"
    options = {"judge": "rouge", "ignore_location": True}
    mr.evaluate_comments(REVIEWS, reference=REFERENCES, **options, out=lines / "comments")
    mr.evaluate_comments(REVIEWS[::2], reference=REFERENCES, **options, out=lines / "other")
    runs = [{**each, "run": run} for each in REVIEWS[:6] for run in ("run-1", "run-2")]
    mr.evaluate_comments(runs, reference=REFERENCES, **options, repeat=True, out=lines / "repeated")
    history = root / "history.jsonl"
    history.write_text("".join(map(to_line, HISTORY)))
    mr.evaluate_routing(history, routers=["popularity", "recency"], out=lines / "routing")
    for folder in sorted(lines.iterdir()):
        copy_as_parts(folder, parts / folder.name)
        # What a run says of itself is where it was made.
        assert (parts / folder.name / "summary.json").read_bytes() == (folder / "summary.json").read_bytes()
    return root


RUNS = ("comments", "repeated", "routing")


@pytest.mark.parametrize("name", RUNS)
def test_records_pairs_and_frames_are_the_same(root, name):
    lines, parts = (mr.load_run(root / way / name) for way in ("lines", "parts"))
    assert not (parts.folder / RESULTS).exists()
    assert parts.records == lines.records != []
    assert list(parts.read_pairs()) == list(lines.read_pairs())
    assert (list(lines.read_pairs()) != []) == (name != "routing")
    assert parts.to_frame().equals(lines.to_frame())


@pytest.mark.parametrize("suffix", [".md", ".html", ".csv", ".json", ".xml"])
@pytest.mark.parametrize("name", RUNS)
def test_reports_are_the_same(root, name, suffix, monkeypatch, tmp_path):
    written = []
    for way in ("lines", "parts"):
        monkeypatch.chdir(root / way)
        written.append(mr.load_run(name).report(tmp_path / f"report{suffix}").read_text("utf-8"))
    assert written[0] == written[1] != ""


@pytest.mark.parametrize(
    "command",
    [
        "show comments --missed --noise --near --matched --undecided --unlisted",
        "show repeated --missed --noise",
        "show comments --disagree other",
        "compare comments other --reviewer sharp",
        "compare comments --json",
        "compare routing --json",
        "leaderboard comments routing --json",
        "label comments --sample 4 --json",
        "calibrate --run comments --json",
    ],
)
def test_commands_print_the_same(root, command, monkeypatch, capsys):
    printed = []
    for way in ("lines", "parts"):
        monkeypatch.chdir(root / way)
        with pytest.raises(SystemExit) as ended:
            main(command.split())
        printed.append((ended.value.code, *capsys.readouterr()))
    assert printed[0] == printed[1]
    assert printed[0][1] or printed[0][2]


def test_where_a_line_stands_leads_back_to_it(root):
    for name in RUNS:
        for file in (root / "parts" / name / RESULTS, root / "parts" / name / PAIRS):
            placed = list(placed_lines(file))
            assert [place for place, _ in placed] == [Place(row, 1) for row in range(len(placed))]
            backwards = [place for place, _ in reversed(placed)]
            found = list(lines_at(file, backwards)) if placed else []
            assert found == [[line] for _, line in reversed(placed)]
            if len(placed) > 4:
                assert list(lines_at(file, [Place(1, 3)])) == [[line for _, line in placed[1:4]]]
    folders = root / "lines" / "comments", root / "parts" / "comments"
    lines, parts = ([row for _, _, rows in pair_rows(folder) for row in rows] for folder in folders)
    assert lines == parts != []
    of_pr = [pairs_at(folder, offsets_of_pr(folder, PULLS[2])) for folder in folders]
    assert of_pr[0] == of_pr[1] != []


@given(st.lists(st.text(st.characters(), max_size=30), max_size=12), st.lists(st.integers(0, 4), max_size=4))
def test_lines_come_back_to_the_byte_in_their_order(tmp_path_factory, texts, sizes):
    folder = tmp_path_factory.mktemp("parts") / "results.parquet"
    lines = [to_line({"a": text}).encode("utf-8", "backslashreplace") for text in texts]
    waiting = iter(lines)
    for number, size in enumerate((*sizes, 99)):
        part = [line for _, line in zip(range(size), waiting, strict=False)]
        assert write_part(folder, number, part, ALONE) == len(part)
    expected = [line[:-1] for line in lines]
    assert [line for batch in read_parts(folder) for line in batch] == expected
    assert count_rows(folder) == len(expected)
    rows = PartRows(folder)
    assert [rows.read(at, 1) for at in range(len(expected))] == [[line] for line in expected]
    assert rows.read(0, len(expected)) == expected


def test_rows_that_are_not_there_are_refused(root):
    rows = PartRows(parts_of(root / "parts" / "routing" / RESULTS))
    for first, number in ((8, 1), (7, 2), (-1, 1), (10**9, 1)):
        with pytest.raises(InputError, match="there is no row"):
            rows.read(first, number)


def test_a_part_is_read_by_groups_of_rows(tmp_path):
    folder = tmp_path / "pairs.parquet"
    lines = [b'{"n":%d}' % number for number in range(5_000)]
    write_part(folder, 0, lines, ALONE)
    assert pq.ParquetFile(folder / "part-00000.parquet").num_row_groups == 3
    assert PartRows(folder).read(1_999, 3) == lines[1_999:2_002]


def test_columns_are_what_a_query_asks_for(root):
    table = pq.read_table(root / "parts" / "routing" / "results.parquet").to_pylist()
    records = [json.loads(row.pop("record")) for row in table]
    assert [row["pr"] for row in table] == list(range(1, 9)) == [record["pr"] for record in records]
    assert table[3]["created_at"] == datetime(2026, 1, 4, 8, tzinfo=UTC)
    assert (table[3]["repo"], table[3]["author"], table[3]["truth_state"]) == ("O/r", "ann", "observed")
    assert (table[3]["targets"], table[3]["ttfr_seconds"], table[3]["ttfc_seconds"]) == (["bob"], 1799.999999999, None)
    popularity = dict(table[3]["routers"])["popularity"]
    assert popularity["candidates"] == ["bob", "cy"]
    assert (popularity["rank"], dict(popularity["figures"])["hit@1"]) == (1, 1.0)

    [first, *_] = pq.read_table(root / "parts" / "comments" / "results.parquet").to_pylist()
    assert (first["pr"], first["reviewer"], first["run"], first["skipped"]) == (PULLS[0], "sharp", None, False)
    assert (first["positive_expected_nums"], first["total_generated_nums"], first["judged_pairs"]) == (2, 0, 0)
    pairs = pq.read_table(root / "parts" / "repeated" / "pairs.parquet").to_pylist()
    assert {row["run"] for row in pairs} == {"run-1", "run-2"}
    assert all(json.loads(row["record"])["score"] == row["score"] for row in pairs)


def test_half_a_character_is_written_and_read_back(tmp_path):
    line = to_line({"pr": "\ud800", "reviewer": "é", "generated": 1}).encode("utf-8", "backslashreplace")
    write_part(tmp_path / "pairs.parquet", 0, [line], PAIR_COLUMNS)
    assert list(read_lines(tmp_path / PAIRS)) == [{"pr": "\ud800", "reviewer": "é", "generated": 1}]
    assert pq.read_table(tmp_path / "pairs.parquet").column("pr").to_pylist() == ["?"]


def test_json_lines_come_first_where_both_are_there(tmp_path):
    write_part(tmp_path / "results.parquet", 0, [b'{"a":1}'], ALONE)
    assert list(read_lines(tmp_path / RESULTS)) == [{"a": 1}]
    (tmp_path / RESULTS).write_text('{"a":2}\n')
    assert list(read_lines(tmp_path / RESULTS)) == [{"a": 2}]


def test_what_is_no_part_of_a_run(root, tmp_path):
    folder = copy_as_parts(root / "lines" / "routing", tmp_path / "run")
    parts = folder / "results.parquet"
    (parts / "_SUCCESS").touch()
    (parts / ".part-00009.parquet.0a.new").write_text("half a part")
    assert len(mr.load_run(folder).records) == 8
    second = parts / "part-00002.parquet"
    held = second.read_bytes()
    second.write_bytes(held[:-20])
    with pytest.raises(InputError, match=r"part-00002.parquet: a damaged run: [\d,]+ bytes where the run wrote"):
        mr.load_run(folder)
    seal_again(folder)
    with pytest.raises(InputError, match=r"part-00002.parquet: not readable as Parquet") as told:
        list(mr.load_run(folder).read_records())
    assert "--overwrite" in str(told.value)
    second.unlink()
    with pytest.raises(InputError, match=r"part 2 of 4 is missing"):
        mr.load_run(folder)
    second.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="not a file"):
        mr.load_run(folder)
    second.unlink()
    pq.write_table(pq.read_table(parts / "part-00000.parquet").drop_columns("record"), second)
    seal_again(folder)
    with pytest.raises(InputError, match="a part without the column record"):
        list(mr.load_run(folder).read_records())
    second.unlink()
    write_part(parts, 2, [b'{"repo":'], ALONE)
    seal_again(folder)
    with pytest.raises(InputError, match="broken JSON in a run's file"):
        list(mr.load_run(folder).read_records())


def test_without_the_extra_the_fix_is_named(root, monkeypatch):
    run = mr.load_run(root / "parts" / "routing")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r'pip install "metareview\[parquet\]"'):
        list(run.read_records())


@pytest.mark.parametrize("named", ["pairs.parquet", "pairs.jsonl"])
def test_pairs_in_parts_are_verdicts_and_examples_like_those_in_lines(root, named):
    lines, parts = root / "lines" / "comments" / PAIRS, root / "parts" / "comments" / named
    assert not (root / "parts" / "comments" / PAIRS).exists()
    others = [each | {"reviewer": f"{each['reviewer']}, other"} for each in REVIEWS]
    for generated, option in ((REVIEWS, "verdicts"), (others, "examples")):
        made = [
            mr.evaluate_comments(
                generated,
                reference=REFERENCES,
                ignore_location=True,
                **{option: [path] if option == "examples" else path},
            )
            for path in (lines, parts)
        ]
        assert made[0].summary == made[1].summary
        assert made[0].records == made[1].records != []
        assert made[0].manifest.inputs == made[1].manifest.inputs
        assert any(name.startswith(option) for name in made[1].manifest.inputs)


def test_what_is_wrong_with_pairs_in_parts_names_their_row(root, tmp_path):
    folder = copy_as_parts(root / "lines" / "comments", tmp_path / "run")
    records = [line for batch in read_parts(folder / "pairs.parquet") for line in batch]
    broken = records[1].replace(b'"by":"judge"', b'"by":"nobody"')
    assert broken != records[1]
    write_part(folder / "pairs.parquet", 2, [broken, *records[2:3]], PAIR_COLUMNS)
    seal_again(folder)
    with pytest.raises(InputError, match=r"run/pairs\.parquet:2: by must be one of judge, "):
        mr.evaluate_comments(REVIEWS, reference=REFERENCES, verdicts=folder / "pairs.parquet")
    for no_pairs in ("results.parquet", "results.jsonl"):
        with pytest.raises(InputError, match=r"run/results\.parquet:1: its verdicts are of no known kind"):
            mr.evaluate_comments(REVIEWS, reference=REFERENCES, verdicts=folder / no_pairs)
    (folder / "pairs.parquet" / "part-00001.parquet").unlink()
    with pytest.raises(InputError, match=r"pairs\.parquet: part 1 of 4 is missing"):
        mr.evaluate_comments(REVIEWS, reference=REFERENCES, verdicts=folder / "pairs.parquet")


def test_the_same_run_is_not_done_again_and_another_takes_the_place_of_its_parts(root, tmp_path):
    folder = copy_as_parts(root / "lines" / "routing", tmp_path / "run")
    options = {"routers": ["popularity", "recency"], "out": folder}
    again = mr.evaluate_routing(root / "history.jsonl", **options)
    assert again.records == mr.load_run(root / "lines" / "routing").records
    assert len(part_files(folder / "results.parquet")) == 4
    # Not finished: what is there is kept, as lines.
    manifest = folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"finished"', '"running"'))
    again = mr.evaluate_routing(root / "history.jsonl", **options)
    assert not (folder / "results.parquet").exists()
    assert (folder / RESULTS).read_bytes() == (root / "lines" / "routing" / RESULTS).read_bytes()

    (folder / RESULTS).unlink()
    write_part(folder / "results.parquet", 0, [b"{}"], ALONE)
    (folder / "results.parquet" / "notes.txt").write_text("mine")
    mr.evaluate_routing(root / "history.jsonl", routers=["recency"], out=folder, overwrite=True)
    assert [each.name for each in (folder / "results.parquet").iterdir()] == ["notes.txt"]
    assert len(mr.load_run(folder).records) == 8
