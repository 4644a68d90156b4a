"""Sound JSON where a command expects JSON lines: a list, or objects that are pretty-printed."""

import gzip
import json

import pytest

URL = "https://github.com/octo/app/pull/1"
NOTES = {"a": "The file handle is never closed", "b": "Close the file handle"}
COMMENT = {"path": "a.py", "side": "right", "from_line": 3, "to_line": 3, "note": NOTES["b"]}
EVENTS = [
    {"repo": "octo/app", "pr": 1, "at": "2025-06-01T01:00:00Z", "kind": "opened", "actor": "ann"},
    {"repo": "octo/app", "pr": 1, "at": "2025-06-01T01:10:00Z", "kind": "review_submitted", "actor": "bob"},
]
PAIR = {"pr": URL, "reviewer": "bot", "generated": 0, "reference": 0, "match": True}
TOLD = {**PAIR, **NOTES, "at": "2026-01-01T00:00:00Z", "name": "ann"}
OUTCOME = {"pr": URL, "reviewer": "bot", "position": 0, "note": NOTES["b"], "addressed": "fully", "name": "ann"}
SCORED = ("comments", "said.jsonl", "--reference", "reference.jsonl", "--judge", "exact", "--json")
INPUTS = {
    "history": (EVENTS, ("routing", "FILE", "--router", "popularity", "--json")),
    "archive": (
        [
            {"id": "1", "type": "PushEvent", "actor": {}, "repo": {"name": "octo/app"}, "payload": {}, "public": True}
            | {"created_at": "2025-06-01T01:00:00Z"}
        ],
        ("routing", "FILE", "--json"),
    ),
    "predictions": (
        [{"repo": "octo/app", "pr": 1, "router": "mine", "candidates": ["bob"]}],
        ("routing", "events.jsonl", "--predictions", "FILE", "--json"),
    ),
    "text": ([{"retrieved_context": ["a b"], "ground_truth_context": ["a b"]}], ("text", "FILE", "--json")),
    "comments": ([{"pr": URL, "reviewer": "bot", "comments": [COMMENT]}], ("comments", "FILE", *SCORED[2:])),
    "outcomes": ([{"pr": URL, "reviewer": "bot", "comments": [COMMENT]}], ("outcomes", "FILE", "--json")),
    "labels": ([{**NOTES, "match": True}], (*SCORED, "--labels", "FILE")),
    "labels of a run": ([TOLD, TOLD | {"match": False}], (*SCORED, "--labels", "FILE")),
    "labels of outcomes": ([OUTCOME], ("outcomes", "said.jsonl", "--labels", "FILE", "--json")),
    "verdicts": ([{**NOTES, "match": True}], (*SCORED[:4], "--verdicts", "FILE", "--json")),
    "calibrate": ([{**NOTES, "match": True}], ("calibrate", "FILE", "--judge", "exact", "--json")),
}
READ = {"predictions", "text", "comments", "outcomes", "labels", "verdicts", "calibrate"}
"""Commands that read a file whole, and so objects that span lines too."""


@pytest.fixture
def files(here):
    (here / "events.jsonl").write_text("".join(json.dumps(each) + "\n" for each in EVENTS))
    for name, more in {"said": {"reviewer": "bot"}, "reference": {}}.items():
        note = NOTES["b" if more else "a"]
        (here / f"{name}.jsonl").write_text(json.dumps({"pr": URL, **more, "comments": [COMMENT | {"note": note}]}))
    return here


def answer(run, command, file):
    code, out, err = run(*(file if part == "FILE" else part for part in command))
    return code, {**json.loads(out), "run": None, "config": None, "inputs": None} if out and code != 2 else None, err


@pytest.mark.parametrize("indent", [2, None], ids=["pretty", "in one line"])
@pytest.mark.parametrize("name", INPUTS)
def test_a_list_is_called_one_with_the_command_that_converts_it(files, run, name, indent):
    rows, command = INPUTS[name]
    (files / "my file.json").write_text(json.dumps(rows, indent=indent))
    code, _, err = answer(run, command, "my file.json")
    assert code == 2
    assert "my file.json:1: " in err
    assert "found a list" in err
    assert "Write one object per line: jq -c '.[]' 'my file.json' > 'my file.jsonl'" in err
    assert "broken" not in err


@pytest.mark.parametrize("name", INPUTS)
def test_objects_over_several_lines_are_read_or_called_so(files, run, name):
    rows, command = INPUTS[name]
    (files / "f.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (files / "f.json").write_text("\n".join(json.dumps(row, indent=2) for row in rows))
    code, shown, err = answer(run, command, "f.json")
    if name in READ:
        expected = answer(run, command, "f.jsonl")
        assert code != 2, err
        assert (code, shown) == expected[:2]
        return
    assert code == 2
    assert "f.json:1: a line must be a whole object, found an object over several lines" in err
    assert "Write one object per line: jq -c . f.json > f.jsonl" in err


def test_a_line_of_its_own_is_named_where_only_one_object_spans_lines(files, run):
    (files / "f.jsonl").write_text(f"{json.dumps(EVENTS[0])}\n\n{json.dumps(EVENTS[1], indent=1)}\n")
    code, _, err = run("routing", "f.jsonl")
    assert code == 2
    assert "f.jsonl:3: a line must be a whole object, found an object over several lines" in err
    assert "jq -c . f.jsonl > lines.jsonl" in err


def test_a_packed_history_is_unpacked_by_the_command(files, run):
    (files / "f.json.gz").write_bytes(gzip.compress(json.dumps(EVENTS, indent=1).encode()))
    assert "zcat f.json.gz | jq -c '.[]' > f.jsonl" in run("routing", "f.json.gz")[2]


def test_a_list_too_large_to_look_through_is_known_by_how_it_begins(files, run):
    (files / "f.json").write_text(json.dumps([EVENTS[0] | {"body": "x" * 1000}] * 6000, indent=1))
    assert "f.json:1: a line must be a whole object, found a list over several lines" in run("routing", "f.json")[2]


@pytest.mark.parametrize(
    "text", ['{"repo": "o/r",\n{"repo": "o/r"}\n', "[\n{},\n]\n", "{\n", '{"repo":\n', '{"repo": "o/r"} {}\n{}\n']
)
def test_what_is_broken_is_still_called_so(files, run, text):
    (files / "f.jsonl").write_text(text)
    code, _, err = run("routing", "f.jsonl")
    assert code == 2
    assert "f.jsonl:1: broken JSON" in err


def test_half_a_label_that_a_kill_left_is_still_passed_over(files, run):
    (files / "l.jsonl").write_text(f'{{"pr": "x", "no\n{json.dumps(TOLD)}\n')
    code, _, err = run(*SCORED, "--labels", "l.jsonl")
    assert code == 0
    assert "l.jsonl:1: the line breaks off; left out" in err
