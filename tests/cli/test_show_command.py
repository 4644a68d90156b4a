"""`metareview show`: what it prints at which width, what it refuses, what hostile notes cannot do."""

import json
import re

import pytest
from review_sample import lines
from rich.cells import cell_len

from metareview.comparison.evidence_search import LISTS

PR = "https://github.com/octo/app/pull/{}"
LONG = "The buffer is freed twice when the connection is closed while a write is pending, " * 12
HOSTILE = "\x1b[2J\x1b]0;owned\x07::error::boom \u202eevil\u202c\n::error::again\n##[error]more"
WIDE = "缓冲区在关闭连接时被释放两次因此程序会崩溃" * 9 + " 👩‍👩‍👧‍👦🚀 " + "ж" * 300


def note(text, line=1, **fields):
    return {"note": text, "path": "src/a.py", "side": "right", "from_line": line, "to_line": line, **fields}


@pytest.fixture
def scored(here, run):
    """`sharp` raises the first reference of #1; `loud` nothing. Folder `r`."""
    references = [
        {"pr": PR.format(1), "comments": [note("Close the **file** handle", 3), note(LONG, 40, severity="High")]},
        {"pr": PR.format(2), "comments": [note(HOSTILE, 5, category="Code\x1b[31m Defect"), note(WIDE, 90)]},
    ]
    comments = [
        {"pr": PR.format(1), "reviewer": "sharp", "comments": [note("Close the **file** handle", 3)]},
        {"pr": PR.format(2), "reviewer": "sharp", "comments": [note(HOSTILE + " or not", 5), note("x" * 5_000, 90)]},
        {"pr": PR.format(1), "reviewer": "loud", "comments": [note("Freed twice on close, perhaps", 41)]},
    ]
    (here / "ref.jsonl").write_text(lines(*references))
    (here / "said.jsonl").write_text(lines(*comments))
    options = ("--reference", "ref.jsonl", "--judge", "rouge", "-q")
    assert run("comments", "said.jsonl", *options, "--out", "r")[0] == 0
    assert run("comments", "said.jsonl", *options, "--threshold", "0.005", "--out", "lenient")[0] == 0
    return run


def test_an_overview_counts_every_list_and_shows_the_first_of_three(scored):
    code, out, err = scored("show", "r")
    assert (code, err) == (0, "")
    counted = {name: int(number) for number, name in re.findall(r"^ +(\d+)  --(\w+) ", out, re.MULTILINE)}
    assert counted == {"missed": 2, "noise": 2, "near": 2, "matched": 2, "undecided": 0}
    assert list(counted) == list(LISTS)
    titles = [line for line in out.splitlines() if re.match(r"[A-Z][a-z ]+: \d", line)]
    assert titles == [
        "Missed: 2 references that nobody raised",
        "Noise: 2 comments without a partner",
        "Near misses: 2 pairs that may match by location and that the judge calls different",
    ]


@pytest.mark.parametrize("width", [40, 80, 149, 150, 200])
@pytest.mark.parametrize("options", [[], ["--missed", "--noise", "--near", "--matched"], ["--disagree", "lenient"]])
def test_no_line_is_wider_than_the_terminal(scored, monkeypatch, width, options):
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, _ = scored("show", "r", *options)
    assert code == 0
    assert [line for line in out.splitlines() if cell_len(line) > width] == []


def test_a_note_and_its_partner_stand_below_each_other_or_side_by_side(scored, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    narrow = scored("show", "r", "--matched", "--pr", "1")[1]
    assert narrow.splitlines() == [
        "Matched: 1 pair that was counted",
        "",
        "1. octo/app#1  src/a.py:3  by sharp",
        "   Close the file handle",
        "     Reference, at the same place: score 1.00, same issue",
        "       Close the file handle",
        "     (ROUGE-L recall 1.00)",
        "   Nobody else raises the reference",
    ]
    monkeypatch.setenv("COLUMNS", "200")
    wide = scored("show", "r", "--matched", "--pr", "1")[1].splitlines()
    assert re.fullmatch(r"   Close the file handle {70,}Reference, at the same place: score 1.00, same issue", wide[3])
    columns = {line.index("Reference,") for line in wide if "Reference," in line}
    columns |= {line.index("Close", 50) - 2 for line in wide if "Close" in line[50:]}
    assert len(columns) == 1


def test_side_by_side_columns_do_not_shift_behind_wide_characters(scored, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    out = scored("show", "r", "--missed", "--pr", "2")[1]
    right = [line for line in out.splitlines() if "xxxx" in line]
    assert len(right) == 4
    assert {cell_len(line.partition("xxxx")[0]) for line in right} == {105}


def test_a_long_note_is_cut(scored, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = scored("show", "r", "--missed", "--pr", "octo/app#1")[1].splitlines()
    start = out.index("1. octo/app#1  src/a.py:40  High") + 1
    assert [line.endswith("…") for line in out[start : start + 6]] == [False] * 4 + [True, False]


@pytest.mark.parametrize("options", [["--matched"], ["--noise"], ["--near"], ["--disagree", "lenient"]])
@pytest.mark.parametrize("width", ["80", "200"])
def test_hostile_notes_are_only_text(scored, monkeypatch, options, width):
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    code, out, err = scored("show", "r", "--top", "0", *options)
    assert code == 0
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", out + err)
    assert not re.search(r"^\s*::|##\[", out + err, re.MULTILINE)


def test_what_a_hostile_note_says_can_still_be_read(scored):
    out = scored("show", "r", "--matched", "--pr", "2")[1]
    assert "boom [U+202E]evil[U+202C]" in out
    assert "::error::again" in out


def test_json_has_the_whole_notes_and_all_counts(scored):
    document = json.loads(scored("show", "r", "--missed", "--matched", "--top", "1", "--json")[1])
    assert list(document) == ["schema", "run", "reviewers", "prs", "counts", "missed", "matched"]
    assert (document["schema"], document["run"]) == ("metareview.show/1", "r")
    assert document["reviewers"] == ["sharp", "loud"]
    assert document["counts"] == {"missed": 2, "noise": 2, "near": 2, "matched": 2, "undecided": 0}
    [entry] = document["missed"]
    assert entry["reference"] == {"reference": 1, **note(LONG, 40, severity="High")}
    assert (entry["pr"], entry["reviewer"], entry["match"], entry["by"]) == (PR.format(1), "loud", False, "judge")
    assert entry["comment"]["note"] == "Freed twice on close, perhaps"
    assert entry["raised_by"] == []
    [matched] = document["matched"]
    assert matched["raised_by"] == ["sharp"]
    assert (matched["score"], matched["reason"], matched["gap"]) == (1.0, "ROUGE-L recall 1.00", 0)


def test_two_judges_side_by_side(scored):
    code, out, _ = scored("show", "r", "--disagree", "lenient")
    assert code == 0
    # Both call two of the four the same; the lenient one also the freed buffer, with 1 of 90 words.
    # Observed 3/4, expected (2*3 + 2*1)/16 = 1/2.
    assert "Disagreement: 1 of 4 pairs that both rouge (r) and rouge (lenient) decided, kappa 0.500" in out
    assert "   rouge (r): score 0.01, different (ROUGE-L recall 0.01)" in out
    assert "   rouge (lenient): score 0.01, same issue (ROUGE-L recall 0.01)" in out
    document = json.loads(scored("show", "r", "--disagree", "lenient", "--json")[1])
    assert document["agreement"] == {
        "run": "lenient",
        "judges": ["rouge", "rouge"],
        "pairs": 4,
        "differ": 1,
        "undecided": 0,
        "kappa": 0.5,
    }
    [entry] = document["disagree"]
    assert (entry["match"], entry["second"]["match"], entry["reviewer"]) == (False, True, "loud")
    alike = scored("show", "r", "--disagree", "lenient", "--reviewer", "sharp")[1]
    assert "Disagreement: 0 of 3 pairs" in alike


def test_what_one_reviewer_missed_names_who_raised_it(scored):
    out = scored("show", "r", "--missed", "--reviewer", "loud")[1]
    assert "Missed: 2 references that loud did not raise" in out
    assert "   Raised by sharp (1 of 1 other)" in out
    assert scored("show", "r", "--missed")[1].count("Raised by") == 0


def test_references_that_nobody_was_asked_about_are_told(here, run):
    references = [{"pr": PR.format(n), "comments": [note("Close it")]} for n in (1, 2)]
    (here / "ref.jsonl").write_text(lines(*references))
    (here / "said.jsonl").write_text(lines({"pr": PR.format(1), "comments": []}))
    run("comments", "said.jsonl", "--reference", "ref.jsonl", "--judge", "exact", "--out", "r", "-q")
    code, out, err = run("show", "r", "--missed")
    assert code == 0
    assert "Missed: 1 reference that said did not raise" in out
    assert "(no comment is near it)" in out
    assert err == "Not among the missed: 1 reference of 1 pull request that no reviewer has a file for.\n"
    assert run("show", "r", "--noise")[2] == run("show", "r", "--missed", "-q")[2] == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["r", "--reviewer", "sharpe"],
            "No reviewer of r is named 'sharpe'. Did you mean 'sharp'? There are sharp, loud.",
        ),
        (["r", "--pr", "7"], "r has no pull request '7' that was scored. There are octo/app#1, octo/app#2."),
        (["r", "--pr", "1", "--disagree", "nowhere"], "nowhere: not a run's folder."),
        (["nowhere"], "nowhere: not a run's folder. Name one that --out made"),
        (["."], ".: not a run's folder. It holds runs; name one of them: lenient, r."),
        (["r", "--top", "-1"], "-1 is not in the range"),
    ],
)
def test_mistakes_are_named_with_the_fix(scored, arguments, message):
    code, out, err = scored("show", *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_a_routing_run_says_what_to_do_instead(here, run):
    opened = {"repo": "o/r", "pr": 1, "at": "2025-06-01T01:00:00Z", "kind": "opened", "actor": "ann"}
    (here / "events.jsonl").write_text(lines(opened))
    assert run("routing", "events.jsonl", "--router", "popularity", "--out", "r", "-q")[0] == 0
    code, _, err = run("show", "r")
    assert code == 2
    assert "r is a run of routing, which has no comments to show. `metareview report RUN -o report.html`" in err


def test_an_unfinished_run_is_refused(scored, here):
    manifest = json.loads((here / "r" / "manifest.json").read_text())
    (here / "r" / "manifest.json").write_text(json.dumps(manifest | {"status": "running"}))
    code, _, err = scored("show", "r")
    assert code == 2
    assert "this run is not finished" in err


# Unlisted issues

LEAK = "The file handle is never closed, so `readAll` leaks a descriptor."


@pytest.fixture
def pooled(here, run):
    """Issues that no reference covers: a leak that all say (#2), what two say (#10), what one says (#9), a negative."""
    far = [note("Spelling of receive.", 500)]
    (here / "ref.jsonl").write_text(lines(*({"pr": PR.format(number), "comments": far} for number in (2, 9, 10))))
    (here / "neg.jsonl").write_text(lines({"pr": PR.format(9), "comments": [note("Use cobra for the flags.", 70)]}))
    style, race = "Prefer a dataclass over this tuple.", "`counter` is incremented without the lock."
    said = {
        "ann": {2: [note(LEAK, 10)], 9: [note("Use cobra for the flags.", 70)], 10: [note(race, 3)]},
        "bob": {2: [note(LEAK, 11), note(HOSTILE, 90)], 9: [note(style, 40), note(style, 4)], 10: []},
        "cy": {2: [note(LEAK + " " + LONG, 10)], 9: [], 10: [note(race, 3)]},
    }
    reviews = [
        {"pr": PR.format(number), "reviewer": who, "comments": comments}
        for who, of_one in said.items()
        for number, comments in of_one.items()
    ]
    (here / "said.jsonl").write_text(lines(*reviews))
    options = ("--reference", "ref.jsonl", "--negatives", "neg.jsonl", "--judge", "exact", "-q")
    code, _, err = run("comments", "said.jsonl", *options, "--out", "r")
    assert code == 0, err
    return run


def unlisted_of(run, *options):
    code, out, err = run("show", "r", "--unlisted", "--json", *options)
    assert (code, err) == (0, "")
    return json.loads(out)


def label_first(here, **fields):
    """A label of the first issue of the list."""
    stored = json.loads((here / "r/unlisted.json").read_text())
    issue = max(stored["issues"], key=lambda each: len({who for who, _ in each["comments"]}))
    row = {"issue": issue["id"], "pr": issue["pr"], "comments": issue["comments"], "note": "n", "at": "t"}
    with (here / "r/labels.jsonl").open("a") as file:
        file.write(lines(row | {"verdict": "valid", "name": None, "model": None} | fields))
    return issue["id"]


def test_unlisted_issues_come_by_how_many_say_them(pooled):
    document = unlisted_of(pooled)
    order = [(len(each["reviewers"]), each["pr"][-2:].strip("/")) for each in document["unlisted"]]
    assert [number for number, _ in order] == sorted((number for number, _ in order), reverse=True)
    assert order[0] == (3, "2")
    # Then by place: #2 before #9, and in it line 4 before line 40.
    alone = [
        (each["pr"], each["comments"][0]["from_line"]) for each in document["unlisted"] if len(each["reviewers"]) == 1
    ]
    assert alone == [(PR.format(2), 90), (PR.format(9), 4), (PR.format(9), 40), (PR.format(9), 70)]
    counts = document["unlisted_counts"]
    assert counts == {"issues": 6, "comments": 9, "valid": 0, "invalid": 1, "repeat": 0, "unjudged": 5}
    assert [each["repeats_negative"] for each in document["unlisted"]] == [False] * 5 + [True]


def test_unlisted_issues_of_a_reviewer_and_a_pull_request(pooled):
    assert unlisted_of(pooled, "--reviewer", "cy")["unlisted_counts"]["issues"] == 2
    of_nine = unlisted_of(pooled, "--pr", "9", "--top", "1")
    assert (of_nine["unlisted_counts"]["issues"], len(of_nine["unlisted"])) == (3, 1)
    assert of_nine["prs"] == [PR.format(9)]
    assert len(unlisted_of(pooled, "--top", "0")["unlisted"]) == 6
    assert pooled("show", "r", "--unlisted", "--reviewer", "bobb")[0] == 2


def test_people_go_before_a_model_and_a_models_label_is_marked(pooled, here):
    unlisted_of(pooled)
    issue = label_first(here, verdict="invalid", model="m-1")
    first = unlisted_of(pooled)["unlisted"][0]
    assert (first["issue"], first["verdict"], first["model"]) == (issue, "invalid", "m-1")
    assert "labelled invalid by the model m-1, by no person" in pooled("show", "r", "--unlisted")[1]
    label_first(here, verdict="valid", name="anna")
    first = unlisted_of(pooled)["unlisted"][0]
    assert (first["verdict"], first["model"]) == ("valid", None)
    assert "Said by ann, bob, cy (3 of 3 reviewers); labelled valid\n" in pooled("show", "r", "--unlisted")[1]


def test_an_unlisted_issue_as_it_is_read(pooled, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = pooled("show", "r", "--unlisted", "--pr", "10")[1]
    assert out.splitlines() == [
        "Unlisted: 1 issue that no reference covers, in 2 comments",
        "(0 valid, 0 invalid, 0 repeats, 1 not judged)",
        "",
        "1. octo/app#10  src/a.py:3  by ann",
        "   counter is incremented without the lock.",
        "     Also cy, at the same place:",
        "       counter is incremented without the lock.",
        "   Said by ann, cy (2 of 3 reviewers); not labelled",
    ]
    monkeypatch.setenv("COLUMNS", "200")
    wide = pooled("show", "r", "--unlisted", "--pr", "10")[1].splitlines()
    assert re.fullmatch(r"   counter is incremented without the lock\. {50,}Also cy, at the same place:", wide[4])


@pytest.mark.parametrize("width", [40, 80, 200])
def test_unlisted_issues_fit_and_drive_no_terminal(pooled, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, _ = pooled("show", "r", "--unlisted", "--noise")
    assert code == 0
    assert [line for line in out.splitlines() if cell_len(line) > width] == []
    assert not set(out) & set("\x1b\x07\u202e")
    assert not re.search(r"^(::|##\[)", out, re.MULTILINE)


def test_an_overview_groups_nothing(pooled, here):
    pooled("show", "r")
    assert not (here / "r/unlisted.json").exists()
    pooled("show", "r", "--unlisted")
    assert (here / "r/unlisted.json").exists()
