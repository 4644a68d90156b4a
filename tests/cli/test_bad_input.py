"""Bad input and wrong options: exit 2, one message that names file, line and fix, nothing written."""

import re

import pytest
from review_sample import files

pytestmark = pytest.mark.usefixtures("sample")

BAD = {
    "missing file": ({}, "reviews/none.txt", r"reviews/none\.txt: no such file\. Check the path\."),
    "empty folder": ({"e/.x": ""}, "e", r"e: an empty folder\. Name the folder that holds the comment files\."),
    "not UTF-8": ({"x.txt": b"<note>\ncaf\xe9</note>"}, "x.txt", r"x\.txt:2: not UTF-8 .*Save the file as UTF-8\."),
    "broken JSON": ({"x.jsonl": '{"pr": "u"}\n{"pr"'}, "x.jsonl", r"x\.jsonl:2: broken JSON.*Correct it"),
    "top level": ({"x.json": '"text"'}, "x.json", r"x\.json: not in a known format\. The formats are aacr-text, "),
    "top level of list": (
        {"x.json": '[{"githubPrUrl": "u"},\n5]'}, "x.json", r"x\.json:2: a pull request must be an object, found a n"
    ),
    "unclosed tag": ({"x.txt": "<path>a</path>\n<note>x"}, "x.txt", r"x\.txt:2: <note> without its closing tag\. W"),
    "no number": ({"x.txt": "\n<from>abc</from>"}, "x.txt", r"x\.txt:2: <from> must be .*'abc'\. Lines count from 1"),
    "line zero": ({"x.txt": "<to>0</to>"}, "x.txt", r"x\.txt:1: <to> must be .* found '0'\. Lines count"),
    "negative line": (
        {"x.jsonl": '{"pr": "u", "comments": [\n{"from_line": -1}]}'},
        "x.jsonl",
        r"x\.jsonl:2: from_line must be .* -1\. "
    ),
    "unknown pull requests": (
        {"u/comments_app_12.txt": "", "u/comments_app_3.txt": ""},
        "u",
        r"u: no pull request is left to score: its pull request app#12 is not in the reference set\. Check that --ref",
    ),
}  # fmt: skip


CASES = [(case, "generated") for case in BAD] + [
    # A reference set knows its own pull requests.
    (case, side)
    for case in BAD
    for side in ("reference", "negatives")
    if case != "unknown pull requests"
]


@pytest.mark.parametrize(("case", "side"), CASES)
def test_bad_input_is_one_message_and_leaves_nothing_behind(run, here, case, side):
    more, bad, message = BAD[case]
    for name, content in more.items():
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    before = files(here)
    inputs = {"generated": "reviews", "reference": "ref.jsonl", "negatives": "neg.jsonl"} | {side: bad}
    generated = inputs.pop("generated")
    options = [text for name, file in inputs.items() for text in (f"--{name}", file)]
    code, out, err = run("comments", generated, *options, "--strict", "--json")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert re.match(f"Error: {message}", err)
    assert files(here) == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--judge", "psychic"], "Unknown judge 'psychic'. The judges are none, exact, rouge"),
        (["--alignment", "best"], "Unknown alignment 'best'. Valid: optimal, coverage, greedy."),
        (["--format", "csv"], "Unknown format 'csv'. The formats are aacr-text, aacr, jsonl, github, martian"),
        (["--reference-format", "csv"], "Unknown format 'csv'. The formats are aacr-text, aacr, jsonl"),
        (
            ["--language", "Klingon"],
            "Unknown language 'Klingon'. Valid: C; C#; C++; Go; Java; JavaScript; PHP; Python;",
        ),
        (["--pr-category", "Fun"], "Unknown pull request category 'Fun'. Valid: Bug Fix; "),
        (["--comment-category", "Fun"], "Unknown comment category 'Fun'. Valid: Code Defect; "),
        (["--context", "Fun"], "Unknown context 'Fun'. Valid: Diff Level; File Level; Repo Level."),
        (["--fail-under", "f2=1"], "--fail-under: unknown metric 'f2'. The metrics are precision, recall, f1, "),
        (["--fail-over", "f1"], "--fail-over takes METRIC=X with a number, such as f1=0.4, or NAME.f1=0.4"),
        (["--fail-under", "f1=much"], "--fail-under takes METRIC=X with a number"),
        (["--fail-under", "f1=40"], "--fail-under 'f1=40': metrics run from 0 to 1, and so must a gate. Correct 40."),
        (["--fail-over", "noise=-0.1"], "--fail-over 'noise=-0.1': metrics run from 0 to 1"),
        (["--fail-under", "recal=0.4"], "--fail-under: unknown metric 'recal'. Did you mean 'recall'? The metrics are"),
        (["--fail-under", "review.f1=0.4"], "A gate is for 'review', who is not there. Did you mean 'reviews'?"),
        (["--fail-under", ".f1=0.4"], "--fail-under '.f1=0.4' has no name before the dot."),
        (["--judge", "ofline"], "Unknown judge 'ofline'. Did you mean 'offline'? The judges are none,"),
        (["--format", "jsonlines"], "Unknown format 'jsonlines'. Did you mean 'jsonl'? The formats are"),
        (["--language", "Pyton"], "Unknown language 'Pyton'. Did you mean 'Python'? Valid: "),
        (["--alignment", "optimum"], "Unknown alignment 'optimum'. Did you mean 'optimal'?"),
        (["--reviewer", "revews"], "--reviewer 'revews' matches no name. Did you mean 'reviews'? There are reviews."),
        (["--reviewer", "!rev*"], "--reviewer leaves no name. There are reviews."),
        (["--reviewer", "!"], "--reviewer '!' is empty."),
        (["--reference-reviewer", "alice"], "--reference-reviewer 'alice' matches no name. There are ref."),
        (
            ["--fail-under", "f1=nan"],
            "--fail-under 'f1=nan': metrics run from 0 to 1, and so must a gate. Correct nan.",
        ),
        (["--threshold", "0.5", "--judge", "exact"], "The judge exact does not score"),
        (["--threshold", "1.5", "--judge", "rouge"], "--threshold must be from 0 to 1, found 1.5."),
        (["--threshold", "nan", "--judge", "rouge"], "--threshold must be from 0 to 1, found nan."),
        (["--line-distance", "-1"], "--line-distance must be 0 or more, found -1."),
        (["--limit", "0"], "--limit must be 1 or more, found 0."),
        (["--seed", "-1"], "--seed must be 0 or more, found -1."),
        (
            ["--ignore-location", "--judge", "none"],
            "The judge none goes by location alone, and --ignore-location leaves",
        ),
        (["--pr-category", "Bug Fix", "--language", "Go"], "The filters leave no pull request."),
        (["--limit", "some"], "Invalid value for '--limit': 'some' is not a valid integer."),
        (["--out", "ref.jsonl"], "--out ref.jsonl is a file. Name a folder."),
        (["--out", "ref.jsonl/r"], "Cannot write to ref.jsonl/r: Not a directory. Choose another --out."),
        (["--out", "x" * 300], f"Cannot write to {'x' * 300}: File name too long. Choose another --out."),
        (["--out", "reviews"], "reviews is not empty and holds no run. Choose another --out, or empty the folder."),
    ],
)
def test_a_wrong_option_is_one_message_and_leaves_nothing_behind(run, here, options, message):
    before = files(here)
    code, out, err = run("comments", "reviews", "--reference", "ref.jsonl", *options)
    assert (code, out) == (2, "")
    assert f"Error: {message}" in err
    assert "Traceback" not in err
    assert files(here) == before
