"""Inputs that cannot be meant: refused with the fix, or forced with a warning that the run keeps."""

import json

import pytest

import metareview as mr

URL = "https://github.com/octo/app/pull/{}"
LEAK = {"note": "Close the file handle", "path": "a.py", "from_line": 3}
RACE = {"note": "Two threads write here", "path": "b.py", "from_line": 9}
ODD = {"note": "This looks odd", "path": "a.py", "from_line": 3}
REFERENCES = [
    {"pr": URL.format(1), "comments": [LEAK | {"severity": "high"}]},
    {"pr": URL.format(2), "comments": [RACE | {"severity": "low"}]},
]
CANDIDATES = [
    {"pr": URL.format(1), "reviewer": "bot", "comments": [ODD]},
    {"pr": URL.format(2), "reviewer": "bot", "comments": [RACE | {"note": "A race"}]},
]


@pytest.fixture
def write(here):
    def to(name, records):
        path = here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
        return name

    return to


@pytest.fixture
def score(run):
    """Scores with the judge exact: the exit code, the summary where there is one, and what was said."""

    def command(generated, *references, options=()):
        named = [part for reference in references for part in ("--reference", reference)]
        code, out, err = run("comments", generated, *named, "--judge", "exact", "--out", "r", *options, "--json")
        return code, json.loads(out) if out else None, err

    return command


# The same on both sides


def test_one_file_on_both_sides_is_refused(write, score, here):
    code, _, err = score(write("a.jsonl", CANDIDATES), "a.jsonl")
    assert code == 2
    assert err == (
        "Error: a.jsonl: it is among the comments and among the references, and so scored against itself."
        " Name another file for one of the two, or let --reviewer and --reference-reviewer choose different people;"
        " --force goes on all the same.\n"
    )
    assert not (here / "r").exists()


def test_a_reference_folder_that_holds_the_candidates_is_refused(write, score):
    """Every reviewer in it would have precision 1."""
    write("bench/golden.jsonl", REFERENCES)
    for name in ("one", "two"):
        write(f"bench/candidates/{name}.jsonl", [record | {"reviewer": name} for record in CANDIDATES])
    code, _, err = score("bench/candidates", "bench")
    assert code == 2
    assert "bench/candidates/one.jsonl: it is among the comments and among the references (and 1 file more)" in err
    assert score("bench/candidates/one.jsonl", "bench")[0] == 2
    assert score("bench/candidates", "bench/golden.jsonl")[0] == 0


def test_other_candidates_among_the_references_are_refused(write, score, run):
    write("bench/golden.jsonl", REFERENCES)
    write("bench/other.jsonl", CANDIDATES)
    write("mine.jsonl", [{"pr": URL.format(1), "reviewer": "me", "comments": [LEAK]}])
    code, _, err = score("mine.jsonl", "bench")
    assert code == 2
    assert (
        "bench/other.jsonl: it names reviewers and no category, context or severity, unlike bench/golden.jsonl" in err
    )
    assert "looks like candidates among the references" in err
    code, out, _ = run("check", "--reference", "bench")
    assert (code, "error: bench/other.jsonl: it names reviewers" in out) == (2, True)
    code, found, _ = score("mine.jsonl", "bench", options=["--reference-reviewer", "!bot"])
    assert (code, found["reviewers"]["me"]["positive_expected_nums"]) == (0, 1)


def test_a_copy_is_the_same_file(write, score):
    write("a.jsonl", REFERENCES)
    write("b.jsonl", REFERENCES)
    code, _, err = score("a.jsonl", "b.jsonl")
    assert code == 2
    assert "a.jsonl: it has the same bytes as b.jsonl and would be among the comments and among the references" in err


def test_references_are_no_negatives(write, score, run):
    write("said.jsonl", CANDIDATES)
    write("ref.jsonl", REFERENCES)
    code, _, err = score("said.jsonl", "ref.jsonl", options=["--negatives", "ref.jsonl"])
    assert (code, "it is among the negatives and among the references" in err) == (2, True)
    code, out, _ = run("check", "--reference", "ref.jsonl", "--negatives", "ref.jsonl")
    assert code == 2
    assert "error: ref.jsonl: it is among the negatives and among the references" in out


def test_files_without_a_comment_have_nothing_to_be_scored_against(here, write, score):
    for folder in ("said", "ref"):
        (here / folder).mkdir()
        (here / folder / "comments_app_1.txt").write_text("")
    write("ref/more.jsonl", REFERENCES)
    assert score("said", "ref")[0] == 0


def test_force_goes_on_and_the_run_says_so(write, score, run, here):
    code, found, err = score(write("a.jsonl", REFERENCES), "a.jsonl", options=["--force"])
    assert (code, found["reviewers"]["a"]["metrics"]["f1"]) == (0, 1)
    forced = "forced: a.jsonl: it is among the comments and among the references, and so scored against itself"
    assert found["warnings"] == [forced]
    assert err == f"Warning: {forced}\n"
    assert run("report", "r", "-o", "r.md")[0] == 0
    assert "forced&#58; a.jsonl" in (here / "r.md").read_text("utf-8")


def test_equal_notes_in_different_files_are_an_oracle_and_only_warned_of(write, score):
    write("ref.jsonl", REFERENCES)
    oracle = [record | {"reviewer": "oracle"} for record in REFERENCES]
    code, found, _ = score(write("said.jsonl", oracle), "ref.jsonl")
    assert (code, found["reviewers"]["oracle"]["metrics"]["f1"]) == (0, 1)
    assert found["warnings"] == [
        "every note of oracle (2) is word for word that of a reference: check that its comments are not among"
        " the references"
    ]


def test_a_reviewer_that_is_compared_with_itself_is_warned_of(write, score, run):
    score(write("said.jsonl", CANDIDATES), write("ref.jsonl", REFERENCES))
    code, out, _ = run("compare", "r", "r", "--json")
    assert (code, json.loads(out)["warnings"]) == (0, ["A and B are the same: bot of r"])


# One file, two selections


PEOPLE = [
    {"pr": URL.format(1), "reviewer": "Ann", "comments": [LEAK]},
    {"pr": URL.format(1), "reviewer": "rabbit[bot]", "comments": [LEAK, ODD]},
    {"pr": URL.format(1), "reviewer": "renovate[bot]", "comments": [ODD]},
]


def test_the_bots_against_the_people_in_one_file(write, score):
    write("all.jsonl", PEOPLE)
    options = ["--reviewer", "*[BOT]", "--reference-reviewer", "!*[bot]"]
    code, found, _ = score("all.jsonl", "all.jsonl", options=options)
    assert code == 0
    assert {name: block["positive_match_nums"] for name, block in found["reviewers"].items()} == {
        "rabbit[bot]": 1,
        "renovate[bot]": 0,
    }
    assert found["reviewers"]["rabbit[bot]"]["positive_expected_nums"] == 1
    assert found["config"]["reviewer"] == ["*[BOT]"]
    assert found["config"]["reference_reviewer"] == ["!*[bot]"]


@pytest.mark.parametrize(
    "options",
    [
        ["--reviewer", "rabbit[bot]"],
        ["--reference-reviewer", "Ann"],
        ["--reviewer", "r*", "--reference-reviewer", "*b*"],
    ],
)
def test_selections_that_share_somebody_are_refused(write, score, options):
    write("all.jsonl", PEOPLE)
    code, _, err = score("all.jsonl", "all.jsonl", options=options)
    assert (code, "scored against itself" in err) == (2, True)


def test_selections_choose_subfolders_too(write, score):
    write("bots/one/a.jsonl", [{"pr": URL.format(1), "comments": [LEAK]}])
    write("bots/two/a.jsonl", [{"pr": URL.format(1), "comments": [ODD]}])
    code, found, _ = score("bots", "bots", options=["--reviewer", "one", "--reference-reviewer", "two"])
    assert (code, list(found["reviewers"]), found["reviewers"]["one"]["positive_match_nums"]) == (0, ["one"], 0)


# Swapped, nothing in common, nothing at all


def test_the_two_sides_swapped_are_refused(write, score):
    write("golden.jsonl", REFERENCES)
    write("said.jsonl", CANDIDATES)
    code, _, err = score("golden.jsonl", "said.jsonl")
    assert code == 2
    assert "The two look swapped: give said.jsonl as the comments and this as --reference" in err


def test_a_reviewers_text_files_as_references_look_swapped(here, write, score):
    """Nothing in the other file says that it is the benchmark; that the references are what a tool wrote does."""
    block = "<path>a.py</path>\n<side>right</side>\n<from>1</from>\n<to>1</to>\n<note>{}</note>\n"
    for folder, note in (("reviews", "The lock is never released"), ("others", "Lock stays held")):
        (here / folder).mkdir()
        (here / folder / "comments_app_1.txt").write_text(block.format(note))
    held = {"note": "Lock stays held", "path": "a.py", "from_line": 1}
    write("plain.jsonl", [{"pr": URL.format(1), "comments": [held]}])
    code, _, err = score("plain.jsonl", "reviews")
    assert (code, "look swapped: give reviews/comments_app_1.txt as the comments" in err) == (2, True)
    # Text files on both sides may be meant: two tools, one of them taken for right.
    assert score("others", "reviews")[0] == 0


def test_published_candidates_and_golden_comments_swapped_are_refused(here, score):
    golden = [{"url": URL.format(1), "comments": [{"comment": "leak", "severity": "High"}]}]
    candidates = {URL.format(1): {"bot": [{"text": "a leak", "path": "a.py", "line": 3}]}}
    (here / "golden.json").write_text(json.dumps(golden))
    (here / "candidates.json").write_text(json.dumps(candidates))
    code, _, err = score("golden.json", "candidates.json")
    assert (code, "look swapped" in err) == (2, True)
    assert score("candidates.json", "golden.json")[0] == 0


def test_a_tool_that_gives_severities_is_not_taken_for_references(write, score):
    write("ref.jsonl", [{"pr": URL.format(1), "comments": [LEAK]}])
    write("said.jsonl", [{"pr": URL.format(1), "comments": [ODD | {"severity": "high"}]}])
    assert score("said.jsonl", "ref.jsonl")[0] == 0


def test_no_pull_request_in_common_is_refused_and_can_be_forced(write, score):
    write("ref.jsonl", REFERENCES)
    write("said.jsonl", [{"pr": URL.format(77), "reviewer": "bot", "comments": [LEAK]}])
    code, _, err = score("said.jsonl", "ref.jsonl")
    assert code == 2
    assert "no pull request is left to score" in err
    code, found, _ = score("said.jsonl", "ref.jsonl", options=["--force", "--all-prs"])
    assert (code, found["reviewers"]["bot"]["prs"]) == (0, 2)
    assert found["warnings"][0].startswith("forced: said.jsonl: no pull request is left to score")
    code, found, _ = score("said.jsonl", "ref.jsonl", options=["--force", "--overwrite"])
    assert (code, found["reviewers"]) == (0, {})
    assert "not counted: bot 2 of 2" in found["warnings"][1]


def test_a_file_that_tells_no_pull_request_says_how_to_name_it(here, write, score):
    write("ref.jsonl", REFERENCES)
    (here / "mine.txt").write_text("<note>x</note>")
    code, _, err = score("mine.txt", "ref.jsonl")
    assert code == 2
    assert "nothing says which pull request it is about; name it comments_{repo}_{number}.txt" in err


def test_comments_of_nobody_are_refused(here, write, score):
    write("ref.jsonl", REFERENCES)
    comment = {"body": "x", "diff_hunk": "", "path": "a.py", "line": 3, "pull_request_url": URL.format(1)}
    (here / "said.json").write_text(json.dumps([comment, comment | {"user": None}]))
    code, _, err = score("said.json", "ref.jsonl")
    assert (code, "nobody is named: no comment has a user with a login" in err) == (2, True)
    (here / "said.json").write_text(json.dumps([comment, comment | {"user": {"login": "ann"}}]))
    code, found, _ = score("said.json", "ref.jsonl")
    assert (code, set(found["reviewers"])) == (0, {"ghost", "ann"})


def test_a_reference_set_without_references_is_refused(write, score, run):
    write("ref.jsonl", [{"pr": URL.format(1)}, {"pr": URL.format(2), "comments": [{"note": " "}]}])
    write("said.jsonl", CANDIDATES)
    code, _, err = score("said.jsonl", "ref.jsonl")
    assert code == 2
    assert "ref.jsonl: it holds no reference: 2 pull requests, and no comment with a note." in err
    code, out, _ = run("check", "--reference", "ref.jsonl")
    assert (code, "error: ref.jsonl: it holds no reference: 2 pull requests" in out) == (2, True)
    code, found, _ = score("said.jsonl", "ref.jsonl", options=["--force"])
    assert (code, found["reviewers"]["bot"]["metrics"]["positive_match_rate"]) == (0, 0)


# What is absent


def test_absent_pull_requests_are_said_per_reviewer(write, score):
    write("ref.jsonl", [{"pr": URL.format(n), "comments": [LEAK]} for n in range(1, 31)])
    said = [{"pr": URL.format(n), "reviewer": "six", "comments": [ODD]} for n in range(1, 7)]
    said += [{"pr": URL.format(n), "reviewer": "all", "comments": [ODD]} for n in range(1, 31)]
    _, found, _ = score(write("said.jsonl", said), "ref.jsonl")
    absent = "pull requests that are absent and not counted: six 24 of 30; --all-prs counts them as silence"
    assert found["warnings"] == [absent]
    _, found, _ = score("said.jsonl", "ref.jsonl", options=["--all-prs", "--overwrite"])
    assert found["warnings"] == []


# Fields that nobody knows


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("file", "path"), ("line", "from_line"), ("body", "note"), ("comment", "note"), ("text", "note"),
        ("end_line", "to_line"), ("pth", "path"), ("Note", "note"), ("severty", "severity"),
    ],
)  # fmt: skip
def test_an_unknown_field_of_a_comment_is_refused_with_the_one_that_was_meant(write, score, wrong, meant):
    write("ref.jsonl", REFERENCES)
    write("said.jsonl", [CANDIDATES[1], {"pr": URL.format(1), "comments": [{wrong: "x"}]}])
    code, _, err = score("said.jsonl", "ref.jsonl")
    assert code == 2
    assert err.startswith(f"Error: said.jsonl:2: unknown field {wrong!r}. Did you mean {meant}? ")


@pytest.mark.parametrize(("wrong", "meant"), [("reviewr", "reviewer"), ("tool", "reviewer"), ("comment", "comments")])
def test_an_unknown_field_of_a_record_is_refused(write, score, wrong, meant):
    write("ref.jsonl", REFERENCES)
    write("said.jsonl", [{"pr": URL.format(1), wrong: "x"}])
    code, _, err = score("said.jsonl", "ref.jsonl")
    assert (code, f"said.jsonl:1: unknown field {wrong!r}. Did you mean {meant}?" in err) == (2, True)


def test_a_field_like_no_other_is_answered_with_all_of_them(write, score):
    write("ref.jsonl", [*REFERENCES, {"pr": URL.format(3), "zzz": 1}])
    write("said.jsonl", CANDIDATES)
    code, _, err = score("said.jsonl", "ref.jsonl")
    assert code == 2
    assert "ref.jsonl:3: unknown field 'zzz'. The fields are author, closed_at, comments," in err
    assert "goes into meta" in err


def test_meta_is_free_and_must_be_an_object(write, score):
    write("ref.jsonl", REFERENCES)
    record = CANDIDATES[0] | {"meta": {"body": 1}, "cost": 0.2, "comments": [ODD | {"meta": {"file": "x"}, "at": None}]}
    assert score(write("said.jsonl", [record]), "ref.jsonl")[0] == 0
    code, _, err = score(write("said.jsonl", [record | {"meta": "x"}]), "ref.jsonl", options=["--overwrite"])
    assert (code, "said.jsonl:1: meta must be an object, found a string" in err) == (2, True)


# Fields that cannot be read


def test_a_field_that_cannot_be_read_is_left_out_with_a_warning(write, here, score):
    write("ref.jsonl", REFERENCES)
    write("said/a.jsonl", [{"pr": URL.format(1), "comments": [LEAK | {"from_line": "top", "note": 5}, LEAK]}])
    text = "<path>b.py</path><from>x</from><to>9</to><note>Two threads write here</note>"
    (here / "said/comments_app_2.txt").write_text(text)
    code, found, _ = score("said", "ref.jsonl")
    assert code == 0
    assert found["warnings"][:3] == [
        "said/a.jsonl:1: note must be a string, found a number; the field is left out",
        "said/a.jsonl:1: from_line must be a line number from 1 to 2147483647, found 'top'; the field is left out",
        "said/comments_app_2.txt:1: <from> must be a line number from 1 to 2147483647, found 'x'; "
        "the field is left out",
    ]
    # A comment without a note is not counted; the one whose first line cannot be read still has its last.
    block = found["reviewers"]["said"]
    assert (block["total_generated_nums"], block["positive_match_nums"]) == (2, 2)


@pytest.mark.parametrize("wrong", [{"from_line": "top"}, {"note": 5}, {"path": ["a.py"]}])
def test_strict_ends_the_run_at_such_a_field(write, score, wrong):
    write("ref.jsonl", REFERENCES)
    write("said.jsonl", [CANDIDATES[1], {"pr": URL.format(1), "comments": [LEAK | wrong]}])
    code, _, err = score("said.jsonl", "ref.jsonl", options=["--strict"])
    assert (code, err.startswith(f"Error: said.jsonl:2: {next(iter(wrong))} must be ")) == (2, True)
    assert score("said.jsonl", "ref.jsonl")[0] == 0


# In Python


def test_records_in_memory_are_scored_and_checked_alike():
    run = mr.evaluate_comments(CANDIDATES, reference=REFERENCES, judge="none")
    assert run.metrics["bot"]["line_f1"] == 1
    nameless = [{key: value for key, value in record.items() if key != "reviewer"} for record in CANDIDATES]
    assert list(mr.evaluate_comments(nameless, reference=REFERENCES, judge="none").metrics) == ["reviewer"]
    assert list(mr.evaluate_comments(nameless, reference=REFERENCES, judge="none", name="me").metrics) == ["me"]
    made = [{"pr": URL.format(1), "reviewer": "bot", "comments": [mr.Comment("A race", path="b.py")]}]
    assert mr.evaluate_comments(made, reference=REFERENCES, judge="exact").metrics["bot"]["f1"] == 0
    with pytest.raises(mr.InputError, match=r"^generated:2: unknown field 'body'\. Did you mean note\?"):
        mr.evaluate_comments([CANDIDATES[0], {"pr": "u", "comments": [{"body": "x"}]}], reference=REFERENCES)
    with pytest.raises(mr.UsageError, match="and no mixture"):
        mr.evaluate_comments(CANDIDATES, reference=[*REFERENCES, "ref.jsonl"])
    with pytest.raises(mr.UsageError, match="generated: a record cannot be read: set is no JSON"):
        mr.evaluate_comments([{"pr": {1}}], reference=REFERENCES)
    with pytest.raises(mr.UsageError, match="generated must be a path or a list of records"):
        mr.evaluate_comments(5, reference=REFERENCES)


def test_the_same_object_on_both_sides_is_refused():
    with pytest.raises(mr.InputError, match=r"^generated: it has the same bytes as reference and would be among"):
        mr.evaluate_comments(REFERENCES, reference=REFERENCES)
    run = mr.evaluate_comments(REFERENCES, reference=REFERENCES, judge="exact", force=True)
    assert run.metrics["reviewer"]["f1"] == 1
    people = mr.evaluate_comments(PEOPLE, reference=PEOPLE, judge="exact", reviewer="r*", reference_reviewer=["Ann"])
    assert people.metrics["rabbit[bot]"]["positive_match_rate"] == 0.5
