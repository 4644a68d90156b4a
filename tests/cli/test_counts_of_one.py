"""One pull request, one comment, one reference: nothing is called "1 pull requests"."""

import json
import re

import pytest

MANY = (
    r"pull requests|items|comments|references|negatives|pairs|reviewers|routers|labels|blocks|files|lines|weeks|people"
    r"|runs|verdicts|answers|characters|records|rows|others|warnings|model calls|issues"
)
ONE = re.compile(rf"(?<![\d.,:–#])\b1 (?:more )?(?:labelled )?(?:{MANY})\b|the 1 worst")
PR = "https://github.com/o/r/pull/1"


def lines(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def comment(note, line=3):
    return {"path": "a.py", "from_line": line, "to_line": line, "note": note}


@pytest.fixture
def said(run, here):
    """Runs a command, and gives all that it says and writes; no count of one in it has a plural."""

    def command(*words, code=0, files=()):
        found, out, err = run(*words)
        assert found == code, err
        text = "\n".join([out, err, *(re.sub(r"<[^>]*>", "", (here / file).read_text("utf-8")) for file in files)])
        assert not ONE.findall(text), (words[0], ONE.findall(text))
        return text

    return command


@pytest.fixture
def made(said, here):
    """The folder of a run of two reviewers on one pull request, with one reference and one negative."""
    lines(
        here / "said.jsonl",
        {"pr": PR, "reviewer": "bot", "comments": [comment("leaks memory")]},
        {"pr": PR, "reviewer": "other", "comments": [comment("rename it", 90)]},
    )
    lines(here / "right.jsonl", {"pr": PR, "comments": [comment("leaks memory")]})
    lines(here / "rejected.jsonl", {"pr": PR, "comments": [comment("rename it", 90)]})
    words = ("--reference", "right.jsonl", "--negatives", "rejected.jsonl", "--judge", "exact")
    said("comments", "said.jsonl", *words, "--out", "runs/one")
    lone = said("comments", "said.jsonl", "--reviewer", "bot", *words, "--out", "runs/lone")
    assert "bot has F1 1.000 on 1 of 1 pull request: 1 comment, 1 of which matches a reference;" in lone
    return here


def test_a_run_of_one_pull_request_and_its_reports(made, said):
    files = [f"report.{suffix}" for suffix in ("md", "html", "xml")]
    for folder in ("runs/one", "runs/lone"):
        report = said("report", folder, *(word for file in files for word in ("-o", file)), files=files)
        assert "1 of 1 comment matched" in report
    said("show", "runs/one")
    said("leaderboard", "runs/one", "-o", "board.md", files=["board.md"])
    said("compare", "runs/one", "-o", "compared.html", files=["compared.html"])
    said("compare", "runs/lone", code=2)


def test_a_benchmark_of_one_reference(made, said):
    assert "1 pull request, 1 reference, 1 negative\n" in said(
        "check", "--reference", "right.jsonl", "--negatives", "rejected.jsonl"
    )
    both = lines(made / "both.jsonl", {"pr": PR, "comments": [comment("leaks memory")]})
    assert "1 comment is both" in said("check", "--reference", "right.jsonl", "--negatives", both, code=2)


def test_one_item_of_text(said, here):
    item = {"retrieved_context": ["a b c"], "ground_truth_context": ["a b c"]}
    assert said("text", lines(here / "items.jsonl", item)).startswith("1 item: precision 1.000")


def test_the_worst_of_many_disagreements(said, here):
    labels = [{"a": f"leak {n}", "b": f"leak {n}", "match": False, "group": f"g{n}"} for n in range(3)]
    rows = lines(here / "labels.jsonl", *labels)
    shown = said("calibrate", rows, "--judge", "rouge", "--disagreements", "--top", "1")
    assert "differ on 3 of 3 pairs; the worst one\n" in shown
    assert "rouge: the same (1.00)" in shown


def test_a_score_has_two_decimals_wherever_it_is_shown(made, said):
    lines(made / "near.jsonl", {"pr": PR, "reviewer": "bot", "comments": [comment("leaks much memory")]})
    lines(made / "long.jsonl", {"pr": PR, "comments": [comment("leaks so very much memory here and there")]})
    said("comments", "near.jsonl", "--reference", "long.jsonl", "--judge", "rouge", "--out", "runs/near")
    report = said("report", "runs/near", "-o", "near.md", "-o", "near.html", files=["near.md", "near.html"])
    evidence = report + said("show", "runs/near", "--near")
    found = re.findall(r"(?:score|recall) (0\.\d+)\b(?!–)", re.sub(r"recall 0\.0+\b", "", evidence))
    assert set(found) == {"0.38"}
