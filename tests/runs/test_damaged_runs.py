"""A finished run whose files are not what it wrote: every reader refuses it, and the same command makes it whole."""

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import metareview as mr
from metareview.cli import main
from metareview.errors import InputError
from metareview.formats import checksums
from metareview.formats.checksums import Checksum, ChecksumBuilder, checksums_of, verify_files, whole_lines
from metareview.judges.protocol import DIFFERENT, SAME, Answer, Judge
from metareview.runs.writer import RunWriter
from mutated_runs import CONVERSATIONS
from parts_of_runs import copy_as_parts
from sealed_runs import seal_again

ADDRESS = "https://github.com/o/r/pull/{}"
LINES = ("results.jsonl", "pairs.jsonl")


def said(pr, name, at):
    """Comments in three places, of which one or two are near a reference."""
    notes = [f"{name} says {word} {at}" for word in ("leak", "slow", "typo")]
    return {
        "pr": ADDRESS.format(pr), "reviewer": name,
        "comments": [{"note": note, "path": "a.py", "from_line": 4 * place, "to_line": 4 * place}
                     for place, note in enumerate(notes, 1)],
    }  # fmt: skip


REVIEWS = [said(pr, name, pr) for pr in range(1, 9) for name in ("loud", "sharp")]
REFERENCES = [said(pr, "people", pr) | {"reviewer": None} for pr in range(1, 9)]


class Paid(Judge):
    """Keeps what it is asked."""

    name = "paid"

    def __init__(self):
        self.asked = []

    def judge(self, questions):
        return [self._answer(question) for question in questions]

    def _answer(self, question):
        notes = [(question.generated[g], question.reference[r]) for g, r in question.pairs]
        self.asked += notes
        same = [ours.split()[2] == theirs.split()[2] for ours, theirs in notes]
        return Answer(np.array(same, float), np.where(same, SAME, DIFFERENT).astype(np.int8), by="model")


def evaluated(folder, **options):
    judge = Paid()
    run = mr.evaluate_comments(REVIEWS, reference=REFERENCES, judge=judge, ignore_location=True, out=folder, **options)
    return run, judge.asked


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound") / "run"
    evaluated(folder)
    return folder


@pytest.fixture
def folder(sound, tmp_path):
    return Path(shutil.copytree(sound, tmp_path / "runs" / "run"))


def code_of(*arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(each) for each in arguments])
    return ended.value.code


def cut(path, lines):
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:lines]))


# Every reader


@pytest.mark.parametrize(
    "command",
    [
        "leaderboard {run}", "compare {run} --reviewer loud --reviewer sharp", "show {run} --noise",
        "label {run}", "label {run} --unlisted", "calibrate --run {run}",
        *(f"report {{run}} -o x.{suffix}" for suffix in ("csv", "md", "xml", "html", "json")),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", LINES)
def test_a_command_refuses_a_file_that_was_cut(folder, tmp_path, monkeypatch, capsys, name, command):
    monkeypatch.chdir(tmp_path)
    cut(folder / name, 5)
    assert code_of(*command.format(run=folder).split()) == 2
    told = capsys.readouterr()
    number = 16 if name == "results.jsonl" else 144
    assert f"{name}: a damaged run: 5 of {number} lines are left. " in told.err
    assert "with the same --out" in told.err
    assert told.out == ""
    assert not list(tmp_path.glob("x.*"))


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("option", ["verdicts", "examples"])
def test_it_gives_no_verdicts(folder, name, option):
    pairs = folder / "pairs.jsonl"
    given = {option: [pairs] if option == "examples" else pairs}
    others = [each | {"reviewer": f"{each['reviewer']}, other"} for each in REVIEWS]
    mr.evaluate_comments(others, reference=REFERENCES, ignore_location=True, **given)
    cut(folder / name, 5)
    with pytest.raises(InputError, match=f"{name}: a damaged run: 5 of"):
        mr.evaluate_comments(others, reference=REFERENCES, ignore_location=True, **given)


def test_python_refuses_it(folder):
    cut(folder / "results.jsonl", 5)
    with pytest.raises(InputError, match="5 of 16 lines are left"):
        mr.load_run(folder)


def flipped(path):
    """One digit of it another."""
    text = bytearray(path.read_bytes())
    at = next(at for at in range(len(text) // 2, len(text)) if chr(text[at]).isdigit())
    text[at] = ord("7") if text[at] != ord("7") else ord("3")
    path.write_bytes(text)


@pytest.mark.parametrize("name", [*LINES, "summary.json"])
@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (flipped, "its content is not what the run wrote, by its SHA-256"),
        (Path.unlink, "it is missing"),
        (lambda path: path.write_bytes(path.read_bytes() + b"{}\n"), "bytes where the run wrote"),
        (lambda path: path.write_bytes(b""), "0 of .* lines are left"),
    ],
)
def test_whatever_happened_to_a_file_is_said(folder, name, damage, what):
    damage(folder / name)
    with pytest.raises(InputError, match=f"{name}: a damaged run: .*{what}.*with the same --out"):
        mr.load_run(folder)


def test_a_file_that_the_run_did_not_write_is_refused(folder):
    (folder / "examples.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match=r"examples.jsonl: a damaged run: the run did not write it"):
        mr.load_run(folder)


def test_another_configuration_than_that_of_the_fingerprint_is_refused(folder):
    manifest = folder / "manifest.json"
    changed = json.loads(manifest.read_text())
    changed["config"]["threshold"] = 0.25
    manifest.write_text(json.dumps(changed))
    with pytest.raises(InputError, match="not that of the fingerprint"):
        mr.load_run(folder)


def test_labels_and_what_was_drawn_may_change(folder, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    assert code_of("label", folder, "--budget", "8") == 0
    assert (folder / "frame.json").exists()
    (folder / "labels.jsonl").write_text("{}\n")
    assert mr.load_run(folder).metrics["loud"]


def test_gates_change_the_summary_and_its_seal(tmp_path):
    files = {"said.jsonl": REVIEWS, "references.jsonl": REFERENCES}
    for name, records in files.items():
        (tmp_path / name).write_text("".join(json.dumps(each) + "\n" for each in records))
    command = ["comments", tmp_path / "said.jsonl", "--reference", tmp_path / "references.jsonl", "--judge", "exact"]
    for limit in (0.5, 0.4):
        assert code_of(*command, "--out", tmp_path / "run", "--fail-under", f"f1={limit}") == 3
        run = mr.load_run(tmp_path / "run")
        assert [gate.limit for gate in run.result.build_gates] == [limit, limit]


def test_parts_have_seals_too(folder, tmp_path):
    parts = copy_as_parts(folder, tmp_path / "parts")
    assert mr.load_run(parts).metrics == mr.load_run(folder).metrics
    one = parts / "pairs.parquet" / "part-00000.parquet"
    one.rename(parts / "pairs.parquet" / "part-00004.parquet")
    with pytest.raises(InputError, match="part 0 of 5 is missing"):
        mr.load_run(parts)
    shutil.copy(parts / "pairs.parquet" / "part-00002.parquet", one)
    with pytest.raises(InputError, match=r"part-0000\d.parquet: a damaged run: "):
        mr.load_run(parts)


def test_seals_are_those_of_the_files(folder):
    stored = mr.load_run(folder).manifest.files
    assert stored == checksums_of(folder)
    lines = (folder / "pairs.jsonl").read_bytes()
    assert (stored["pairs.jsonl"].size, stored["pairs.jsonl"].lines) == (len(lines), 144)


# Runs that were made before there were checksums


@pytest.fixture
def old(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    del manifest["files"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return folder


def test_a_run_without_seals_is_held_to_its_counts(old):
    assert len(mr.load_run(old).records) == 16
    results = (old / "results.jsonl").read_bytes()
    cut(old / "results.jsonl", 5)
    with pytest.raises(InputError, match=r"results.jsonl: a damaged run: 5 of 16 records are there"):
        mr.load_run(old)
    (old / "results.jsonl").write_bytes(results)
    cut(old / "pairs.jsonl", 100)
    with pytest.raises(InputError, match=r"pairs.jsonl: a damaged run: 100 of 144 judged pairs are there"):
        mr.load_run(old)
    with pytest.raises(InputError, match="100 of 144 judged pairs"):
        mr.evaluate_comments(REVIEWS, reference=REFERENCES, verdicts=old / "pairs.jsonl")
    (old / "pairs.jsonl").unlink()
    with pytest.raises(InputError, match=r"pairs.jsonl: a damaged run: it is missing"):
        mr.load_run(old)


@pytest.mark.parametrize("name", LINES)
def test_a_run_without_seals_is_made_whole(old, sound, name):
    cut(old / name, 7 if name == "results.jsonl" else 60)
    run, asked = evaluated(old)
    assert 0 < len(asked) < 144
    for each in LINES:
        assert (old / each).read_bytes() == (sound / each).read_bytes()
    assert run.manifest.files == checksums_of(old)


# Repair


def repaired(folder, sound):
    """What was asked again of a run that comes out as it was."""
    run, asked = evaluated(folder)
    for name in LINES:
        assert (folder / name).read_bytes() == (sound / name).read_bytes()
    assert mr.load_run(folder).metrics == run.metrics == mr.load_run(sound).metrics
    assert evaluated(folder)[1] == []
    return asked


def of_records(numbers):
    """The pairs of these records, of which each has nine."""
    return [
        (ours["note"], theirs["note"])
        for number in numbers
        for ours in REVIEWS[number]["comments"]
        for theirs in REFERENCES[number // 2]["comments"]
    ]


def test_what_was_cut_off_the_results_is_made_again_and_nothing_else_is_asked(folder, sound):
    cut(folder / "results.jsonl", 5)
    assert sorted(repaired(folder, sound)) == sorted(of_records(range(5, 16)))


def test_records_beside_lost_pairs_are_made_again(folder, sound):
    cut(folder / "pairs.jsonl", 30)  # in the middle of the fourth record's
    assert sorted(repaired(folder, sound)) == sorted(of_records(range(3, 16)))


def test_nothing_is_asked_where_only_the_summary_is_lost(folder, sound):
    flipped(folder / "summary.json")
    assert repaired(folder, sound) == []


def test_without_results_all_is_made_again(folder, sound):
    (folder / "results.jsonl").unlink()
    assert len(repaired(folder, sound)) == 144


def test_without_pairs_all_is_made_again(folder, sound):
    (folder / "pairs.jsonl").unlink()
    assert len(repaired(folder, sound)) == 144


def test_a_line_that_was_changed_is_not_kept(folder, sound, monkeypatch):
    """By blocks, so that one wrong digit does not cost all of a file, and is kept in no case."""
    monkeypatch.setattr(checksums, "BLOCK", 512)
    shutil.rmtree(folder)
    evaluated(folder)
    flipped(folder / "pairs.jsonl")
    assert 0 < len(repaired(folder, sound)) < 72
    flipped(folder / "results.jsonl")
    assert 0 < len(repaired(folder, sound)) < 72


def test_what_was_appended_is_dropped(folder, sound):
    for name in LINES:
        with (folder / name).open("ab") as file:
            file.write(b'{"pr": 1}\n')
    assert repaired(folder, sound) == []


def test_what_the_run_did_not_write_is_not_kept(folder, sound, tmp_path):
    (folder / "examples.jsonl").write_text("{}\n")
    assert repaired(folder, sound) == []
    assert not (folder / "examples.jsonl").exists()
    parts = copy_as_parts(folder, tmp_path / "parts")
    shutil.copy(folder / "results.jsonl", parts)
    flipped(parts / "results.jsonl")
    assert len(repaired(parts, sound)) == 144
    assert not list(parts.glob("*.parquet"))


def test_a_run_that_was_killed_may_have_broken_lines(folder, sound):
    manifest = (folder / "manifest.json").read_text()
    (folder / "manifest.json").write_text(manifest.replace('"status": "finished"', '"status": "running"'))
    lines = (folder / "results.jsonl").read_bytes().splitlines(keepends=True)
    lines[2] = b"\xff{}\n"
    lines[4] = lines[4].replace(b'"total_generated_nums":3', b'"total_generated_nums":"x"')
    sixth = json.loads(lines[6])
    del sixth["reference_slices"]["comment_category"]
    lines[6] = json.dumps(sixth).encode() + b"\n"
    (folder / "results.jsonl").write_bytes(b"".join([*lines, lines[7]]))
    assert sorted(repaired(folder, sound)) == sorted(of_records([2, 4, 6]))


@pytest.mark.parametrize("left", [4, 16])
def test_records_of_nobody_are_dropped_when_a_run_goes_on(folder, sound, left):
    """Also where nothing else is left to do."""
    manifest = (folder / "manifest.json").read_text()
    (folder / "manifest.json").write_text(manifest.replace('"status": "finished"', '"status": "running"'))
    results, pairs = ((folder / name).read_bytes().splitlines(keepends=True) for name in LINES)
    stranger, theirs = results[0].replace(b"/pull/1", b"/pull/99"), b"".join(pairs[:9]).replace(b"/pull/1", b"/pull/99")
    (folder / "results.jsonl").write_bytes(b"".join([stranger, *results[:left]]))
    (folder / "pairs.jsonl").write_bytes(theirs + b"".join(pairs[: 9 * left]))
    assert sorted(repaired(folder, sound)) == sorted(of_records(range(left, 16)))


def test_a_damaged_routing_run_is_replayed(tmp_path):
    events = [
        {"id": f"{number}{kind}", "repo": "o/r", "pr": number, "kind": kind, "actor": actor,
         "at": f"2026-01-0{number}T{hour}:00:00Z"}
        for number in range(1, 9) for kind, actor, hour in (("opened", "ann", "08"), ("review_submitted", "bob", "09"))
    ]  # fmt: skip
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(each) + "\n" for each in events))

    def replayed():
        return mr.evaluate_routing(tmp_path / "events.jsonl", routers=["popularity"], out=tmp_path / "run")

    replayed()
    results = (tmp_path / "run" / "results.jsonl").read_bytes()
    cut(tmp_path / "run" / "results.jsonl", 3)
    with pytest.raises(InputError, match="3 of 8 lines"):
        mr.load_run(tmp_path / "run")
    replayed()
    assert (tmp_path / "run" / "results.jsonl").read_bytes() == results
    parts = copy_as_parts(tmp_path / "run", tmp_path / "parts")
    (parts / "results.parquet" / "part-00002.parquet").unlink()
    mr.evaluate_routing(tmp_path / "events.jsonl", routers=["popularity"], out=parts)
    assert (parts / "results.jsonl").read_bytes() == results
    assert len(mr.load_run(parts).records) == 8


def test_outcomes_keep_the_records_that_are_whole(tmp_path, monkeypatch):
    folder = tmp_path / "run"
    mr.evaluate_outcomes(CONVERSATIONS, out=folder)
    results = (folder / "results.jsonl").read_bytes()
    cut(folder / "results.jsonl", 2)
    written = []
    append = RunWriter.append
    monkeypatch.setattr(RunWriter, "append", lambda self, record: written.append(record.pr) or append(self, record))
    mr.evaluate_outcomes(CONVERSATIONS, out=folder)
    assert written == [CONVERSATIONS[2]["pr"]]
    assert (folder / "results.jsonl").read_bytes() == results


# Blocks


def test_whole_lines_of_a_damaged_file(tmp_path, monkeypatch):
    """Blocks of eight bytes, lines of four: each block that is hurt costs its lines and those that reach into it."""
    monkeypatch.setattr(checksums, "BLOCK", 8)
    path = tmp_path / "x"
    path.write_bytes(b"aaa\nbbb\nccc\nddd\neee\nfff\n")
    checksum = ChecksumBuilder(in_blocks=True).add_file(path).checksum
    assert len(checksum.blocks) == 3 * 8

    def whole(text):
        path.write_bytes(text)
        return list(whole_lines(path, checksum))

    every = [b"aaa\n", b"bbb\n", b"ccc\n", b"ddd\n", b"eee\n", b"fff\n"]
    assert whole(b"".join(every)) == every
    assert whole(b"".join(every) + b"more\n") == every
    assert whole(b"aaa\nbbb\nccX\nddd\neee\nfff\n") == [*every[:2], None, *every[5:]]
    assert whole(b"aaX\nbbb\nccc\nddd\neee\nfff\n") == [None, *every[3:]]
    assert whole(b"aaa\nbbb\nccc\nd") == [*every[:3], None]
    assert whole(b"aaa\nbbb\nccc\nddd\n") == [*every[:4], None]
    assert whole(b"bbb\nccc\nddd\neee\nfff\n") == [None]
    assert whole(b"") == [None]
    assert list(whole_lines(path, None)) == []


def test_a_seal_is_the_same_however_it_is_written(monkeypatch):
    monkeypatch.setattr(checksums, "BLOCK", 8)
    text = bytes(range(1, 40)) * 3
    at_once = ChecksumBuilder(in_blocks=True)
    at_once.add(text)
    bit_by_bit = ChecksumBuilder(in_blocks=True)
    for at in range(0, len(text), 5):
        bit_by_bit.add(text[at : at + 5])
    assert at_once.checksum == bit_by_bit.checksum
    assert Checksum.from_json(at_once.checksum.to_json()) == at_once.checksum


def test_only_what_is_asked_for_is_checked(folder):
    stored = mr.load_run(folder).manifest.files
    cut(folder / "pairs.jsonl", 5)
    verify_files(folder, stored, ["results.jsonl"])
    with pytest.raises(InputError, match="bytes where the run wrote"):
        verify_files(folder, stored, by_size=True)


def test_what_is_sealed_again_is_read(folder):
    """What the tests of strange content rest on."""
    cut(folder / "results.jsonl", 5)
    seal_again(folder)
    with pytest.raises(InputError, match=r"summary\.json: a damaged run: .* by its records"):
        mr.load_run(folder)


def test_half_a_character_in_a_run_is_written_out_in_frames(folder):
    pairs = (folder / "pairs.jsonl").read_text()
    (folder / "pairs.jsonl").write_text(pairs.replace('"reason":""', '"reason":"\\ud800"', 1))
    seal_again(folder)
    # Texts of older versions of pandas can hold it.
    assert mr.load_run(folder).to_frame("pairs").reason[0] in ("\\ud800", "\ud800")


@pytest.mark.parametrize("what", ["metrics", "spread", "variance"])
def test_repeated_runs_without_a_figure_are_refused(tmp_path, what):
    review = {"pr": ADDRESS.format(1), "comments": [{"note": "leak"}]}
    runs = [{**review, "run": name} for name in "ab"]
    mr.evaluate_comments(runs, reference=[review], judge="exact", repeat=True, force=True, out=tmp_path / "run")
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    repeats = summary["reviewers"]["reviewer"]["repeats"]
    del (repeats["metrics"]["b"] if what == "metrics" else repeats[what])["f1"]
    (tmp_path / "run" / "summary.json").write_text(json.dumps(summary))
    seal_again(tmp_path / "run")
    with pytest.raises(InputError, match="a broken run"):
        mr.load_run(tmp_path / "run")


def test_a_record_that_was_made_a_skipped_one_is_refused(folder, capsys):
    results = (folder / "results.jsonl").read_text()
    (folder / "results.jsonl").write_text(results.replace('"skip_reason":null', '"skip_reason":"x"', 1))
    seal_again(folder)
    assert code_of("show", str(folder), "--matched") == 2
    assert "by its records" in capsys.readouterr().err


@pytest.mark.parametrize("size", [[], None, -1, True, 1.5, "7"])
def test_a_seal_whose_size_is_none_is_no_seal(folder, sound, size):
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"]["pairs.jsonl"]["bytes"] = size
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError):
        mr.load_run(folder)
    repaired(folder, sound)


@pytest.mark.parametrize("measure", ["f1", "positive_recall_rate"])
def test_a_summary_without_a_figure_of_somebody_is_refused(folder, tmp_path, monkeypatch, capsys, measure):
    monkeypatch.chdir(tmp_path)
    summary = json.loads((folder / "summary.json").read_text())
    del summary["reviewers"]["loud"]["metrics"][measure]
    (folder / "summary.json").write_text(json.dumps(summary))
    seal_again(folder)
    assert code_of("report", str(folder), "-o", "x.html") == 2
    assert "a broken run" in capsys.readouterr().err
