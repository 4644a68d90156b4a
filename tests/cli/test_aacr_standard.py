"""AACR-Bench's newer files, through the commands: references of instances, and a reviewer's results on them."""

import json
from pathlib import Path

import pytest

import metareview as mr

SHARED = Path(__file__).parent.parent.parent.parent / "shared/data/aacr"
REAL = pytest.mark.skipif(not SHARED.is_dir(), reason="AACR-Bench (../shared/data/aacr) is not here")
REFERENCES = SHARED / "standard/aacr_bench.jsonl"
RESULTS = SHARED / "standard/results"

HEAD = "0a1b2c3d4e5f60718293a4b5c6d7e8f901234567"
NAME = "octo__shop@0a1b2c3"
TEXT = "The coupon is applied twice."
REFERENCE = {"path": "src/cart.py", "start_line": 3, "end_line": 4, "side": "right", "text": TEXT}
INSTANCE = {
    "instance_id": NAME,
    "repo": "octo/shop",
    "base_commit": "f" * 40,
    "head_commit": HEAD,
    "clone_url": "https://github.com/octo/shop.git",
    "reference_comments": [REFERENCE],
}
FOUND = {"path": "src/cart.py", "content": TEXT, "start_line": 3, "end_line": 4, "side": "right"}
HEADER = {"instance_id": NAME, "repo": "octo/shop", "head_commit": HEAD, "duration_seconds": 2.5}
CLAUDE = {"file": "src/cart.py", "line": 3, "summary": TEXT, "failure_scenario": "Two coupons."}
FINDING = {
    "title": TEXT,
    "body": "Two coupons.",
    "priority": 1,
    "code_location": {"absolute_file_path": "/repo/src/cart.py", "line_range": {"start": 3, "end": 4}},
}


def result(**fields):
    return {**HEADER, "review": {"comments": [FOUND], "summary": {"total_tokens": 120}, "stderr": ""}, **fields}


@pytest.fixture
def write(here):
    (here / "ref.jsonl").write_text(json.dumps(INSTANCE) + "\n")

    def written(value, name=f"{NAME}.json"):
        path = here / "bot" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(value, indent=1))
        return path

    return written


def scored(run, *options):
    code, out, err = run("comments", "bot", "--reference", "ref.jsonl", "--judge", "exact", "--json", *options)
    assert code == 0, err
    return json.loads(out)["reviewers"]["bot"]


@REAL
def test_check_counts_every_reference_of_the_published_file(run, here):
    code, out, err = run("check", "--reference", REFERENCES, "--json")
    assert code in (0, 3), err
    assert json.loads(out)["references"] == 1505


@REAL
def test_convert_keeps_every_text_and_place_of_the_published_file(run, here):
    code, _, err = run("convert", REFERENCES, "--to", "jsonl", "-o", "out.jsonl")
    assert code == 0
    assert "1505 comments in 196 reviews" in err.replace(",", "")
    samples = json.loads((SHARED / "positive_samples.json").read_text())
    known = {sample["target_commit"][:7]: list(map(place_and_note, sample["comments"])) for sample in samples}
    found = list(map(json.loads, (here / "out.jsonl").read_text().splitlines()))
    assert {each["pr"].rpartition("@")[2]: list(map(place_and_note, each["comments"])) for each in found} == known


def place_and_note(comment):
    lines = sorted((comment["from_line"], comment["to_line"]))
    return comment["path"], comment["side"], lines, comment["note"].strip()


@REAL
@pytest.mark.parametrize("references", [REFERENCES, SHARED / "positive_samples.json"])
def test_the_published_results_are_scored_with_time_and_tokens(run, here, references):
    code, out, err = run("comments", RESULTS, "--reference", references, "--judge", "exact", "--json")
    assert code == 0, err
    reviewer = json.loads(out)["reviewers"]["results"]
    counts = [
        reviewer[name] for name in ("prs", "positive_expected_nums", "total_generated_nums", "positive_match_nums")
    ]
    assert counts == [2, 11, 4, 2]
    assert reviewer["costs"]["total"] == {"tokens": 24500, "seconds": 44.1}


@pytest.mark.parametrize("as_array", [False, True])
def test_references_may_be_lines_or_an_array(run, here, as_array):
    (here / "ref.json").write_text(json.dumps([INSTANCE]) if as_array else json.dumps(INSTANCE) + "\n")
    code, out, _ = run("convert", "ref.json", "--to", "jsonl", "-o", "-")
    comment = {"note": TEXT, "path": "src/cart.py", "side": "right", "from_line": 3, "to_line": 4}
    assert (code, json.loads(out)) == (0, {"pr": NAME, "comments": [comment]})


@pytest.mark.parametrize("name", ["aacr-standard", "aacr-2"])
def test_the_format_goes_by_two_names(run, here, write, name):
    write(result())
    assert scored(run, "--format", name, "--reference-format", name)["positive_covered_nums"] == 1


@pytest.mark.parametrize(
    "named",
    [
        {},
        {"head_commit": HEAD[:7]},
        {"instance_id": "another name"},
        {"instance_id": None},
        {"instance_id": None, "head_commit": HEAD[:9].upper(), "repo": "Octo/Shop"},
        {"instance_id": "octo/shop@0a1b2c3", "repo": None},
        {"repo": None, "head_commit": None},
    ],
)
def test_a_result_is_of_an_instance_by_its_id_or_by_repository_and_head_commit(run, write, named):
    write(result(**named))
    assert scored(run)["positive_covered_nums"] == 1


def test_a_result_of_another_commit_is_left_out_by_name(run, write):
    write(result(instance_id=None, head_commit="0a1b2c4" + "0" * 33))
    code, _, err = run("comments", "bot", "--reference", "ref.jsonl", "--judge", "exact")
    assert code == 2
    assert "octo/shop@0a1b2c4000" in err
    assert "is not in the reference set" in err


def test_a_sarif_file_may_be_named_after_the_instance(run, write):
    sarif = {"tool": {"driver": {"name": "bot"}}, "results": [{"message": {"text": TEXT}}]}
    write({"version": "2.1.0", "runs": [sarif]})
    assert scored(run)["positive_covered_nums"] == 1


@pytest.mark.parametrize(
    ("output", "note"),
    [
        ([CLAUDE], f"{TEXT}\n\nTwo coupons."),
        ({"findings": [FINDING], "overall_correctness": "patch is incorrect"}, f"{TEXT}\n\nTwo coupons."),
        ({"comments": [FOUND]}, TEXT),
        (json.dumps([CLAUDE]), f"{TEXT}\n\nTwo coupons."),
        (f"```json\n{json.dumps({'findings': [FINDING]})}\n```", f"{TEXT}\n\nTwo coupons."),
    ],
)
def test_the_output_of_claude_and_codex_is_read(run, write, output, note):
    path = write({**HEADER, "review_output": output})
    code, out, err = run("convert", path, "--to", "jsonl", "-o", "-")
    assert code == 0, err
    record = json.loads(out)
    [comment] = record["comments"]
    assert comment["note"] == note
    assert (comment["path"].removeprefix("/repo/"), comment["from_line"]) == ("src/cart.py", 3)
    assert (record["pr"], record["seconds"]) == (NAME, 2.5)


def test_no_findings_are_silence(run, write):
    write({**HEADER, "review_output": []})
    assert scored(run)["total_generated_nums"] == 0


def test_an_output_that_says_its_tokens_is_known_by_them(run, write):
    path = write({**HEADER, "review_output": {"findings": [FINDING], "summary": {"total_tokens": 120}}})
    code, out, _ = run("convert", path, "--to", "jsonl", "-o", "-")
    assert (code, json.loads(out)["tokens"]) == (0, 120)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"review_output": "I looked at it, and all is well."}, "review_output is text, and not JSON alone"),
        ({"review_output": ""}, "review_output is text, and not JSON alone"),
        ({"review_output": None}, "review_output must be"),
        ({"review_output": {"verdict": "fine"}}, "review_output must"),
        ({"review_output": ["Leaks."]}, "a finding must be an object, found a string"),
        ({"review_output": [{"file": "a.py", "issue": "Leaks."}]}, "a comment without content"),
        ({"review": {"comments": [{"path": "a.py", "issue": "Leaks."}]}}, "a comment without content"),
        ({"review": "Error: no model"}, "review must be an object, found a string"),
        ({"review": {"summary": {}}}, "comments is missing"),
        (
            {"review": {"comments": [{"path": "a.py", "note": "", "text": "Leaks."}]}},
            "a comment without a note where its format has one, but with text",
        ),
        ({"review": {"comments": None}}, "comments must be a list, found null"),
        ({"reference_comments": None}, "reference_comments must be a list, found null"),
    ],
)
@pytest.mark.parametrize("command", ["convert", "comments"])
def test_what_is_not_understood_is_refused_by_name_and_never_read_as_empty(run, write, fields, problem, command):
    path = write({**HEADER, **fields})
    rest = ["--to", "jsonl", "-o", "out.jsonl"] if command == "convert" else ["--reference", "ref.jsonl"]
    code, out, err = run(command, path, *rest)
    assert (code, out) == (2, "")
    assert f"{path}:" in err
    assert problem in err


def test_a_second_record_without_comments_is_refused_by_line(run, here):
    other = {key: value for key, value in INSTANCE.items() if key != "reference_comments"}
    (here / "ref.jsonl").write_text(f"{json.dumps(INSTANCE)}\n{json.dumps(other)}\n")
    code, _, err = run("check", "--reference", "ref.jsonl")
    assert code == 2
    assert "ref.jsonl:2: neither reference_comments, review nor review_output" in err


def test_python_reads_them_too(write, here):
    write(result())
    run = mr.evaluate_comments("bot", reference="ref.jsonl", judge="exact")
    assert run.metrics["bot"]["f1"] == 1
