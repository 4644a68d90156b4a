import json
from pathlib import Path

import pytest

URL = "https://github.com/octo/shop/pull/7"
COMMENT = {"note": "Leaks.", "path": "a.py", "side": "right", "from_line": 3, "to_line": 4, "severity": "ERROR"}


@pytest.fixture
def reviews(here):
    records = [
        {"pr": URL, "reviewer": "bot", "language": "Go", "comments": [COMMENT, {**COMMENT, "reactions": {"+1": 1}}]},
        {"pr": f"{URL}1", "reviewer": "bot", "comments": [{**COMMENT, "resolved": True, "reactions": {"+1": 1}}]},
    ]
    path = here / "reviews.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def parsed(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_one_file_is_written_and_read_back_the_same(run, reviews, here):
    assert run("convert", reviews, "--to", "jsonl", "-o", "out.jsonl") == (
        0,
        "",
        "Wrote out.jsonl: 3 comments in 2 reviews\n",
    )
    assert parsed(here / "out.jsonl") == parsed(reviews)
    assert [path.name for path in sorted(here.iterdir())] == ["out.jsonl", "reviews.jsonl"]


def test_what_gets_lost_is_named_with_its_count(run, reviews, here):
    code, _, err = run("convert", reviews, "--to", "rdjsonl", "-o", "out")
    assert code == 0
    assert err == (
        "Warning: rdjsonl has no place for side (3 comments), reactions (2 comments), resolved (1 comment), "
        "language (1 review): left out\nWrote out (2 files): 3 comments in 2 reviews\n"
    )
    assert sorted(path.name for path in (here / "out").iterdir()) == ["octo_shop_7.rdjsonl", "octo_shop_71.rdjsonl"]


def test_json_says_the_same(run, reviews):
    code, out, err = run("convert", reviews, "--to", "rdjsonl", "-o", "out", "--json", "-q")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["schema"] == "metareview.convert/1"
    assert (found["from"], found["to"], found["prs"], found["reviews"], found["comments"]) == (
        ["jsonl"],
        "rdjsonl",
        2,
        2,
        3,
    )
    assert found["lost"] == {"comments": {"side": 3, "reactions": 2, "resolved": 1}, "reviews": {"language": 1}}
    assert [file["bytes"] for file in found["files"]] == [Path(file["file"]).stat().st_size for file in found["files"]]


def test_a_folder_of_files_is_read_back(run, reviews, here):
    run("convert", reviews, "--to", "sarif", "-o", "out")
    code, _, err = run("convert", "out", "--to", "jsonl", "-o", "back.jsonl")
    assert (code, err) == (0, "Wrote back.jsonl: 3 comments in 2 reviews\n")
    assert parsed(here / "back.jsonl") == parsed(reviews)


def test_a_file_that_does_not_say_its_pull_request_says_so(run, reviews, here):
    (here / "one.jsonl").write_text(reviews.read_text().splitlines()[0])
    _, out, err = run("convert", "one.jsonl", "--to", "rdjsonl", "-o", "-")
    assert [json.loads(line)["message"] for line in out.splitlines()] == ["Leaks.", "Leaks."]
    assert "rdjsonl does not say which pull request it is about: give --pr when it is read" in err
    (here / "r.rdjsonl").write_text(out)
    code, out, _ = run("convert", "r.rdjsonl", "--to", "jsonl", "-o", "-", "--pr", URL, "-q")
    assert code == 0
    assert json.loads(out) == {
        "pr": URL,
        "reviewer": "bot",
        "comments": [{"note": "Leaks.", "path": "a.py", "from_line": 3, "to_line": 4, "severity": "ERROR"}] * 2,
    }


@pytest.mark.parametrize(
    ("fields", "target", "message"),
    [
        ({"neutral": True}, "aacr-text", "aacr-text has no place for neutral, which figures rest on"),
        ({"in_reply_to": "1"}, "rdjsonl", "rdjsonl has no place for in_reply_to, which figures rest on"),
        ({"side": "left"}, "rdjsonl", "rdjsonl points at the new file only"),
        ({"note": "a </note> b"}, "aacr-text", "aacr-text cannot hold this note"),
        ({}, "codex", "codex is only read; write aacr-text, aacr, jsonl, github, martian, rdjsonl or sarif."),
        ({}, "csv", "Unknown format 'csv'"),
        ({}, "martian", "martian's candidates have one line and no side"),
    ],
)
def test_what_figures_rest_on_is_never_left_out(run, here, fields, target, message):
    (here / "in.jsonl").write_text(
        json.dumps({"pr": URL, "reviewer": "b", "comments": [{"note": "x"}, {**COMMENT, **fields}]})
    )
    code, out, err = run("convert", "in.jsonl", "--to", target, "-o", "out")
    assert (code, out) == (2, "")
    assert err.startswith(f"Error: {message}")
    assert not (here / "out").exists()


@pytest.mark.parametrize("target", ["aacr", "aacr-text"])
@pytest.mark.parametrize(
    ("field", "values"), [("reviewer", ["bot", "ann"]), ("reviewer", ["bot", None]), ("run", [1, 2])]
)
def test_several_reviewers_never_become_one(run, here, target, field, values):
    comment = {name: value for name, value in COMMENT.items() if name != "severity"}
    records = [{"pr": f"{URL}{n}", field: value, "comments": [comment]} for n, value in enumerate(values)]
    (here / "in.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    code, _, err = run("convert", "in.jsonl", "--to", target, "-o", "out")
    assert (code, err) == (2, f"Error: {target} has no place for {field}, and there are several here. Use jsonl.\n")
    assert not (here / "out").exists()
    (here / "one.jsonl").write_text(json.dumps(records[0]) + "\n")
    code, _, err = run("convert", "one.jsonl", "--to", target, "-o", "out")
    assert code == 0
    assert f"Warning: {target} has no place for {field} (1 review): left out\n" in err


def test_silence_is_kept_or_refused(run, here):
    (here / "in.jsonl").write_text(json.dumps({"pr": URL, "reviewer": "b"}))
    assert run("convert", "in.jsonl", "--to", "sarif", "-o", "out.sarif")[0] == 0
    assert json.loads(run("convert", "out.sarif", "--to", "jsonl", "-o", "-", "-q")[1]) == (
        {"pr": URL, "reviewer": "b", "comments": []}
    )
    assert "cannot hold the silence of b" in run("convert", "in.jsonl", "--to", "rdjsonl", "-o", "x")[2]


def test_what_is_there_is_only_replaced_when_asked(run, reviews, here):
    (here / "out.jsonl").write_text("mine")
    code, _, err = run("convert", reviews, "--to", "jsonl", "-o", "out.jsonl")
    assert (code, err) == (2, "Error: out.jsonl exists. Add --overwrite, or name another.\n")
    assert (here / "out.jsonl").read_text() == "mine"
    assert run("convert", reviews, "--to", "jsonl", "-o", "out.jsonl", "--overwrite")[0] == 0
    assert parsed(here / "out.jsonl") == parsed(reviews)
    for out, fix in [("out.jsonl", "is a file, and 2 files are to be written"), (".", "")]:
        code, _, err = run("convert", reviews, "--to", "sarif", "-o", out)
        assert (code == 2, fix in err) == (bool(fix), True)
    assert (
        "Warning: . also holds out.jsonl, reviews.jsonl, which stays there"
        in run("convert", reviews, "--to", "sarif", "-o", ".", "--overwrite")[2]
    )
    assert "octo_shop_7.sarif exists" in run("convert", reviews, "--to", "sarif", "-o", ".")[2]
    (here / "folder").mkdir()
    assert "folder is a folder" in run("convert", reviews, "--to", "jsonl", "-o", "folder")[2]
    assert "there is no folder none" in run("convert", reviews, "--to", "jsonl", "-o", "none/x.jsonl")[2]


def test_standard_output_takes_one_file_and_no_json_beside_it(run, reviews):
    assert "takes 2 files here" in run("convert", reviews, "--to", "sarif", "-o", "-")[2]
    assert "both print to standard output" in run("convert", reviews, "--to", "jsonl", "-o", "-", "--json")[2]


def test_reviewers_are_chosen_and_named(run, here):
    (here / "in").mkdir()
    (here / "in/comments_shop_7.txt").write_text("<note>x</note>")
    (here / "in/b.jsonl").write_text(json.dumps({"pr": URL, "reviewer": "b", "comments": [{"note": "y"}]}))
    (here / "in/README.md").write_text("x")
    _, out, err = run("convert", "in", "--to", "jsonl", "-o", "-")
    assert [json.loads(line)["reviewer"] for line in out.splitlines()] == ["b", "in"]
    assert "Skipped: in/README.md" in err
    _, out, _ = run("convert", "in", "--to", "jsonl", "-o", "-", "--name", "N", "--reviewer", "n*", "-q")
    assert [json.loads(line)["reviewer"] for line in out.splitlines()] == ["N"]
    _, out, _ = run("convert", "in/comments_shop_7.txt", "--to", "jsonl", "-o", "-", "-q")
    assert json.loads(out) == {"pr": "shop#7", "comments": [{"note": "x"}]}
    assert "matches no name" in run("convert", "in", "--to", "jsonl", "-o", "x", "--reviewer", "z")[2]


def test_a_line_that_is_none_is_a_warning_or_an_error(run, here):
    (here / "octo_shop_7.json").write_text('[{"file": "a.py", "line": "N/A", "summary": "x"}]')
    code, out, err = run("convert", "octo_shop_7.json", "--to", "jsonl", "-o", "-")
    assert (code, json.loads(out)["comments"]) == (0, [{"note": "x", "path": "a.py"}])
    assert "octo_shop_7.json:1: line must be a line number" in err
    assert run("convert", "octo_shop_7.json", "--to", "jsonl", "-o", "-", "--strict")[0] == 2


def test_those_who_only_answered_are_kept_or_named(run, here):
    said = {"pr": URL, "reviewer": "bot", "comments": [{"note": "Leaks.", "id": "1"}]}
    answer = {"pr": URL, "reviewer": "ann", "comments": [{"note": "Fixed.", "in_reply_to": "1"}]}
    (here / "in.jsonl").write_text(f"{json.dumps(said)}\n{json.dumps(answer)}\n")
    for target, out in (("github", "comments_shop_7.json"), ("jsonl", "back.jsonl")):
        assert run("convert", "in.jsonl", "--to", target, "-o", out)[::2] == (
            0,
            f"Wrote {out}: 2 comments in 2 reviews\n",
        )
    assert parsed(here / "back.jsonl") == parsed(here / "in.jsonl")
    code, out, err = run("convert", "in.jsonl", "--to", "aacr", "-o", "-")
    assert (code, [each["note"] for each in json.loads(out)[0]["comments"]]) == (0, ["Leaks."])
    assert "aacr has no place for replies (1 comment), reviewer (1 review): left out" in err


def test_github_asks_for_a_name_where_nobody_is_named_and_refuses_silence(run, here):
    (here / "in.jsonl").write_text(json.dumps({"pr": URL, "comments": [COMMENT]}))
    code, _, err = run("convert", "in.jsonl", "--to", "github", "-o", "out.json")
    assert (code, err) == (2, f"Error: github cannot hold comments without a reviewer ({URL}). Name one with --name.\n")
    assert run("convert", "in.jsonl", "--to", "github", "-o", "out.json", "--name", "bot", "-q")[0] == 0
    (here / "in.jsonl").write_text(json.dumps({"pr": URL, "reviewer": "bot", "comments": []}))
    code, _, err = run("convert", "in.jsonl", "--to", "github", "-o", "silent.json")
    assert (code, err) == (2, f"Error: github cannot hold the silence of bot ({URL}). Use jsonl.\n")


def test_a_severity_in_capitals_is_not_lost(run, here):
    (here / "in.jsonl").write_text(
        json.dumps({"pr": URL, "reviewer": "b", "comments": [{"note": "x", "severity": "error"}]})
    )
    assert "severity" not in run("convert", "in.jsonl", "--to", "rdjsonl", "-o", "-")[2]


def test_where_nothing_is_left_the_warnings_say_why(run, here):
    failed = {"tool": {"driver": {"name": "scan"}}, "results": None}
    (here / "acme_shop_7.sarif").write_text(json.dumps({"version": "2.1.0", "runs": [failed]}))
    code, _, err = run("convert", "acme_shop_7.sarif", "--to", "jsonl", "-o", "-")
    first, last = err.splitlines()
    assert code == 2
    assert first.startswith("Warning: acme_shop_7.sarif: a run of scan has no results")
    assert last == (
        "Error: acme_shop_7.sarif: no review is left to convert: a run of scan has no results; it is no silence. "
        "Name a file with comments of reviewers."
    )


def test_a_file_without_any_review_is_named_and_told_why(run, here):
    (here / "none.json").write_text("[]")
    (here / "answer.jsonl").write_text(json.dumps({"pr": URL, "comments": [{"note": "Done.", "in_reply_to": "1"}]}))
    code, _, err = run("convert", "none.json", "--format", "aacr", "--to", "jsonl", "-o", "-")
    assert (code, err) == (
        2,
        "Error: none.json: no review is left to convert: it holds none. Name a file with comments of reviewers.\n",
    )
    code, _, err = run("convert", "answer.jsonl", "--to", "martian", "-o", "-")
    assert (code, err) == (
        2,
        "Error: answer.jsonl: no review is left to convert: all of it answers others, and martian has no place for "
        "replies. Use jsonl.\n",
    )


@pytest.mark.parametrize(
    "arguments", [("outcomes", "acme_shop_7.sarif"), ("check", "--reference", "acme_shop_7.sarif")]
)
def test_whoever_reads_a_file_without_a_review_is_told_why(run, here, arguments):
    failed = {"tool": {"driver": {"name": "scan"}}, "results": None}
    (here / "acme_shop_7.sarif").write_text(json.dumps({"version": "2.1.0", "runs": [failed]}))
    code, _, err = run(*arguments)
    assert code == 2
    assert "acme_shop_7.sarif: it holds no pull request: a run of scan has no results; it is no silence. Name" in err


@pytest.mark.parametrize(
    "given",
    [
        {"text": "x", "range": {"start": {"line": 5, "column": 2}, "end": {"line": 6, "column": 4}}},
        {"text": "x", "range": {"start": {"line": 5, "column": 1}, "end": {"line": 7, "column": 1}}},
        {"text": "x", "range": {"start": {"line": 5}, "end": {"line": 9}}},
        {"text": "x"},
    ],
)
def test_a_suggestion_of_reviewdog_for_parts_of_lines_or_other_lines_is_left_out_and_counted(run, here, given):
    lines = {"start": {"line": 5}, "end": {"line": 6}}
    diagnostic = {"message": "m", "location": {"path": "a.py", "range": lines}}
    diagnostic["suggestions"] = [given, {"text": "y", "range": lines}]
    (here / "octo_shop_7.json").write_text(json.dumps({"diagnostics": [diagnostic] * 2}))
    code, out, err = run("convert", "octo_shop_7.json", "--to", "jsonl", "-o", "-")
    assert code == 0
    assert [comment["note"] for comment in json.loads(out)["comments"]] == ["m\n\n```suggestion\ny\n```"] * 2
    assert err == (
        "Warning: octo_shop_7.json: 2 suggestions left out: they are for parts of lines, or other lines than the "
        "diagnostic's\n"
    )
