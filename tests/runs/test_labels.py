"""labels.jsonl: appended to, by several at once, and read back whatever a kill left of it."""

import json
import multiprocessing
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metareview.errors import InputError, UsageError
from metareview.model.addressed import ADDRESSED_VERDICTS
from metareview.model.label import ISSUE_VERDICTS, IssueLabel, Labels, OutcomeLabel, PairLabel
from metareview.runs.labels import LABELS, LabelFile, label_from_line, label_to_json

AT = "2026-01-01T00:00:00+00:00"
TEXT = st.text(max_size=20)
PAIRS = st.builds(
    PairLabel, TEXT, TEXT, st.integers(0, 99), st.integers(0, 99), TEXT, TEXT, st.none() | st.booleans(), st.just(AT),
    st.none() | TEXT,
)  # fmt: skip
ISSUES = st.builds(
    IssueLabel, TEXT, TEXT, st.lists(st.tuples(TEXT, st.integers(0, 9)), max_size=3).map(tuple), TEXT,
    st.none() | st.sampled_from(ISSUE_VERDICTS), st.just(AT), st.none() | TEXT, st.none() | TEXT,
)  # fmt: skip
OUTCOMES = st.builds(
    OutcomeLabel, TEXT, TEXT, st.integers(0, 99), TEXT, st.none() | st.sampled_from(ADDRESSED_VERDICTS), st.just(AT),
    st.none() | TEXT,
)  # fmt: skip
KINDS = (PairLabel, IssueLabel, OutcomeLabel)


def pair(number=0, match=True, name=None, reviewer="x"):
    return PairLabel("o/r#1", reviewer, number, 0, f"comment {number}", "reference", match, AT, name)


@given(PAIRS | ISSUES | OUTCOMES)
def test_a_label_is_read_back_as_it_was(label):
    line = json.dumps(label_to_json(label), ensure_ascii=True).encode()
    assert label_from_line(line) == label


@given(st.lists(PAIRS | ISSUES | OUTCOMES, max_size=5))
def test_what_was_appended_is_read(tmp_path_factory, labels):
    file = LabelFile(tmp_path_factory.mktemp("run"))
    for label in labels:
        file.append([label])
    found = file.read()
    in_kinds = [*found.pairs, *found.issues, *found.outcomes]
    assert in_kinds == sorted(labels, key=lambda label: KINDS.index(type(label)))
    assert found.damaged == 0


def altered(**fields):
    return json.dumps({**label_to_json(pair()), **fields}).encode()


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"{", b"[]", b"7", b'{"pr": "p"}', b'{"issue": "q"}', b"\xff\xfe", b'{"issue": 1, "verdict": "maybe"}'),
        *(b'{"pr": "p", "reviewer": "r", "position": 0, "note": "n", "at": "t", "addressed": "yes"}',),
        *(b'{"pr": "p", "reviewer": "r", "position": -1, "note": "n", "at": "t", "addressed": "not"}',),
        altered(match="yes"),
        altered(generated=-1),
        altered(generated=True),
        altered(generated="0"),
        altered(name=["anna"]),
        altered(name={"is": "anna"}),
    ],
)
def test_a_damaged_line_is_counted_and_costs_no_other(tmp_path, line):
    file = LabelFile(tmp_path)
    file.append([pair(0)])
    with file.path.open("ab") as raw:
        raw.write(line)  # a kill in the middle of a line
    file.append([pair(1)])
    found = file.read()
    assert [label.generated for label in found.pairs] == [0, 1]
    assert found.damaged == (1 if line.strip() else 0)


def _write(folder, who, labels):
    file = LabelFile(folder)
    for number in range(labels):
        file.append([pair(number, name=who)])


def test_several_writers_at_once_lose_nothing(tmp_path):
    processes = [multiprocessing.Process(target=_write, args=(tmp_path, f"p{who}", 60)) for who in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    found = LabelFile(tmp_path).read()
    assert found.damaged == 0
    assert {(label.name, label.generated) for label in found.pairs} == {
        (f"p{w}", n) for w in range(4) for n in range(60)
    }


def test_a_writer_that_is_killed_at_any_moment_loses_at_most_the_label_it_was_writing(tmp_path):
    here = str(Path(__file__).parent)
    script = "; ".join(
        (
            f"import sys; sys.path[:0] = [{here!r}]",
            "from pathlib import Path",
            "from test_labels import _write",
            "print('ready', flush=True)",
            f"_write(Path({str(tmp_path)!r}), 'k', 10_000)",
        )
    )
    kept = 0
    for turn in range(3):
        writer = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
        writer.stdout.readline()
        while not (tmp_path / LABELS).exists() or len((tmp_path / LABELS).read_bytes().splitlines()) < kept + 5:
            time.sleep(0.01)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        LabelFile(tmp_path).append([pair(turn, name="after")])
        found = LabelFile(tmp_path).read()
        assert found.damaged <= turn + 1
        by_killed = [label.generated for label in found.pairs if label.name == "k"]
        assert by_killed[: by_killed.index(1) + 1] == [0, 1]
        kept = len((tmp_path / LABELS).read_bytes().splitlines())
    assert sum(label.name == "after" for label in found.pairs) == 3


def test_the_verdict_of_most_and_then_the_latest_holds():
    said = [("a", True), ("b", False), ("c", True)]
    labels = Labels([pair(0, match, name) for name, match in said])
    key = pair(0).key
    assert labels.pair_verdicts() == {key: True}
    # b and c against a; then c takes it back, and of two the later word, b's, holds.
    labels = Labels([*labels.pairs, pair(0, False, "c")])
    assert labels.pair_verdicts() == {key: False}
    labels = Labels([*labels.pairs, pair(0, None, "c")])
    assert labels.pair_verdicts() == {key: False}
    assert labels.of("a").pair_verdicts() == {key: True}
    assert Labels([pair(0, True, "a"), pair(0, None, "a")]).pair_verdicts() == {}


def test_a_folder_that_cannot_be_written_or_read_is_said(tmp_path):
    with pytest.raises(UsageError, match="Cannot write"):
        LabelFile(tmp_path / "absent").append([pair()])
    (tmp_path / LABELS).mkdir()
    with pytest.raises(InputError, match=r"labels\.jsonl"):
        LabelFile(tmp_path).read()
