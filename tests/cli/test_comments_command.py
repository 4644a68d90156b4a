import json
import re
from itertools import pairwise

import pytest
from review_sample import ALL, APP1, APP1_TEXT, APP2, APP2_TEXT, CHECK, lines

pytestmark = pytest.mark.usefixtures("sample")
ABSENT = "pull requests that are absent and not counted: reviews 1 of 3; --all-prs counts them as silence"


@pytest.fixture
def summary(run):
    """The one JSON document of a run that must succeed."""

    def command(*arguments):
        code, out, _ = run(*ALL, *arguments, "--json")
        assert code == 0
        return json.loads(out)

    return command


def test_json_is_one_document_with_the_promised_keys_and_figures(run, here):
    code, out, err = run(*ALL, "--negatives", "neg.jsonl", "--out", "r", "--json")
    assert (code, err) == (0, f"Warning: {ABSENT}\n")
    found = json.loads(out)
    assert list(found) == [
        *("schema", "run", "config", "prs", "reviewers", "judge", "warnings", "skipped", "unreviewed", "build_gates")
    ]
    assert (found["schema"], found["run"]) == ("metareview.comments/1", "r")
    assert (found["warnings"], found["skipped"], found["build_gates"]) == ([ABSENT], [], [])
    assert list(found["judge"]) == [
        "name", "pairs", "llm_calls", "cached", "errors", "prompt_tokens", "completion_tokens"
    ]  # fmt: skip
    block = found["reviewers"]["reviews"]
    rates = block["metrics"]
    assert {name: block[name] for name in list(block)[:12]} == {
        "prs": 2, "prs_with_references": 3,
        "positive_expected_nums": 3, "total_generated_nums": 3, "positive_line_match_nums": 2,
        "positive_match_nums": 2, "positive_covered_nums": 2, "positive_line_covered_nums": 2, "unmatched_nums": 1,
        "negative_expected_nums": 1, "negative_match_nums": 1, "judge_error_nums": 0,
    }  # fmt: skip
    assert list(block)[12:] == ["repeated_nums", "metrics", "intervals", "bounds", "macro", "slices"]
    assert rates == pytest.approx(
        {
            "positive_match_rate": 2 / 3, "positive_recall_rate": 2 / 3, "f1": 2 / 3,
            "positive_line_match_rate": 2 / 3, "positive_line_recall_rate": 2 / 3, "line_f1": 2 / 3,
            "unmatched_rate": 1 / 3, "false_positive_rate": 1 / 3,
        }
    )  # fmt: skip
    assert set(block["intervals"]) == set(block["bounds"]) == set(rates)
    assert list(block["slices"]) == [
        *("language", "pr_category", "comment_category", "context", "severity", "producer", "is_ai_comment")
    ]
    assert found == json.loads((here / "r/summary.json").read_text())
    assert sorted(p.name for p in (here / "r").iterdir()) == [
        "manifest.json", "pairs.jsonl", "results.jsonl", "summary.json"
    ]  # fmt: skip


def test_the_table_goes_to_standard_output_and_the_rest_to_standard_error(run, here):
    (here / "reviews/comments_other_9.txt").write_text(APP2_TEXT)
    code, out, err = run(*ALL)
    assert code == 0
    assert re.fullmatch(r"reviewer +pull requests .*\nreviews +2 of 3 +3 +0\.667 +0\.667 +0\.667 .*\n", out)
    [absent, skipped, headline, closing] = err.splitlines()
    assert absent == f"Warning: {ABSENT}"
    assert re.match(
        r"reviews has F1 0\.667 \(95 % interval .*\) on 2 of 3 pull requests: 3 comments, 2 of which", headline
    )
    assert skipped == ("Skipped: reviews/comments_other_9.txt: its pull request other#9 is not in the reference set")
    assert re.search(r"Judged by exact: .*: runs/\d{8}-\d{6}-reviews$", closing)


def test_quiet_leaves_only_the_result(run, here):
    (here / "reviews/comments_other_9.txt").write_text(APP2_TEXT)
    loud = run(*ALL)[1]
    assert run(*ALL, "-q") == (0, loud, "")
    assert run(*ALL, "-q", "--dry-run")[2] == ""


def test_a_file_for_no_known_pull_request_is_skipped_and_listed(summary, here):
    (here / "reviews/comments_app_12.txt").write_text(APP2_TEXT)
    (here / "reviews/README.md").write_text("x")
    found = summary()
    assert found["skipped"] == [
        {"file": "reviews/README.md", "reason": "not one of .json, .jsonl, .ndjson, .rdjson, .rdjsonl, .sarif, .txt"},
        {"file": "reviews/comments_app_12.txt", "reason": "its pull request app#12 is not in the reference set"},
    ]
    assert found["reviewers"]["reviews"]["total_generated_nums"] == 3


def test_two_repositories_of_one_name_are_listed_and_not_guessed(summary, here):
    with (here / "ref.jsonl").open("a") as more:
        more.write(lines({"pr": "https://github.com/fork/app/pull/2", "comments": [CHECK]}))
    found = summary()
    assert found["reviewers"]["reviews"]["prs"] == 1
    [skipped] = found["skipped"]
    assert skipped["file"] == "reviews/comments_app_2.txt"
    assert "app#2 may be any of github.com/octo/app#2, github.com/fork/app#2" in skipped["reason"]


def test_an_empty_file_is_silence_and_all_prs_makes_absence_silence(summary, here):
    (here / "reviews/comments_lib_3.txt").write_text("")
    silent = summary()["reviewers"]["reviews"]
    assert (silent["prs"], silent["positive_expected_nums"], silent["total_generated_nums"]) == (3, 4, 3)
    assert silent["metrics"]["positive_recall_rate"] == 0.5
    (here / "reviews/comments_lib_3.txt").unlink()
    assert summary()["reviewers"]["reviews"]["prs"] == 2
    absent = summary("--all-prs")["reviewers"]["reviews"]
    assert absent["metrics"] == silent["metrics"]
    assert absent["prs"] == 3


def test_warnings_name_the_line(run, here):
    (here / "reviews/comments_app_2.txt").write_text(APP2_TEXT.replace("<to>10", "<to>9"))
    code, out, err = run(*ALL, "--json")
    assert code == 0
    warning = "reviews/comments_app_2.txt:1: <from> 10 is after <to> 9; swapped"
    assert json.loads(out)["warnings"] == [ABSENT, warning]
    assert err == f"Warning: {ABSENT}\nWarning: {warning}\n"


def test_many_warnings_are_cut_short_on_screen_alone(run, here):
    for number in range(7):
        (here / f"reviews/comments_none_{number}.txt").write_text("")
    _, out, err = run(*ALL, "--json")
    assert len(json.loads(out)["skipped"]) == 7
    assert len(err.splitlines()) == 6
    assert err.endswith("… and 3 more; --json has them.\n")


def test_what_a_line_of_warnings_stands_for_is_counted(run, here):
    """Of 25 fields that cannot be read ten are listed, and a line says how many more there are."""
    comments = [{"note": f"Leaks {number}.", "path": "a.py", "from_line": "x"} for number in range(25)]
    record = {"pr": "https://github.com/o/app/pull/1", "reviewer": "bot", "comments": comments}
    (here / "bad.jsonl").write_text(json.dumps(record) + "\n")
    code, _, err = run("convert", "bad.jsonl", "--to", "jsonl", "-o", "out.jsonl")
    assert code == 0
    assert "… and 20 more; --json has them." in err


# What is compared


@pytest.mark.parametrize(
    ("options", "matched", "of_lines"),
    [
        (["--line-distance", "0"], 1, 1),
        (["--line-distance", "1"], 2, 2),
        (["--line-distance", "9" * 30], 2, 3),
        (["--ignore-location"], 2, None),
        (["--judge", "none"], 2, 2),
        (["--judge", "rouge", "--threshold", "0"], 2, 2),
        (["--alignment", "coverage"], 2, 2),
        (["--alignment", "greedy"], 2, 2),
    ],
)
def test_options_of_the_comparison(summary, options, matched, of_lines):
    found = summary(*options)["reviewers"]["reviews"]
    assert (found["positive_match_nums"], found["positive_line_match_nums"]) == (matched, of_lines)


def test_pull_request_filters_drop_pull_requests(summary, here):
    found = summary("--language", "go", "--out", "r")
    assert found["reviewers"]["reviews"]["prs"] == 1
    assert found["reviewers"]["reviews"]["total_generated_nums"] == 1
    records = [json.loads(line) for line in (here / "r/results.jsonl").read_text().splitlines()]
    assert [(r["github_pr_url"], r["skipped"]) for r in records] == [(APP1, True), (APP2, False)]
    assert "Python" in records[0]["skip_reason"]
    both = summary("--language", "Go", "--language", "Python")
    assert both["reviewers"]["reviews"]["prs"] == 2
    assert summary("--pr-category", "Bug Fix")["reviewers"]["reviews"]["total_generated_nums"] == 2


def test_comment_filters_drop_references_and_the_comments_that_raise_them(summary, here):
    found = summary("--comment-category", "Maintainability and Readability", "--out", "r")["reviewers"]["reviews"]
    assert (found["positive_expected_nums"], found["total_generated_nums"], found["unmatched_nums"]) == (1, 1, 1)
    records = [json.loads(line) for line in (here / "r/results.jsonl").read_text().splitlines()]
    counts = [(r["original_good_comments_count"], r["filtered_good_comments_count"]) for r in records]
    assert counts == [(2, 1), (1, 0)]
    assert summary("--context", "Diff Level")["reviewers"]["reviews"]["positive_match_nums"] == 1


def test_references_are_chosen_by_severity_and_by_who_wrote_them(run, here):
    references = [
        {"note": "leaks the handle", "severity": "High", "source_model": "Model-1", "is_ai_comment": True},
        {"note": "name is unclear", "severity": "low", "producer": "linter"},
        {"note": "races with the writer", "severity": "HIGH", "is_ai_comment": False, "source_model": ""},
    ]
    (here / "r.jsonl").write_text(json.dumps({"pr": APP1, "comments": references}))
    said = [{"note": each["note"]} for each in references[:2]]
    (here / "g.jsonl").write_text(json.dumps({"pr": APP1, "reviewer": "bot", "comments": said}))

    def figures(*options):
        code, out, err = run("comments", "g.jsonl", "--reference", "r.jsonl", "--judge", "exact", "--json", *options)
        assert code == 0, err
        block = json.loads(out)["reviewers"]["bot"]
        counts = tuple(block[f"{name}_nums"] for name in ("positive_expected", "total_generated", "positive_match"))
        return counts, block["slices"]

    counts, slices = figures()
    assert counts == (3, 2, 2)
    assert {name: part["positive_covered_nums"] for name, part in slices["producer"].items()} == {
        "Model-1": 1,
        "linter": 1,
        "people": 0,
    }
    assert {name: part["positive_expected_nums"] for name, part in slices["is_ai_comment"].items()} == {
        "AI": 1,
        "people": 1,
        "unknown": 1,
    }
    assert figures("--severity", "high")[0] == (2, 1, 1)
    assert figures("--exclude-producer", "model-1")[0] == (2, 1, 1)
    assert figures("--exclude-producer", "LINTER", "--exclude-producer", "model-1")[0] == (1, 0, 0)
    code, _, err = run("comments", "g.jsonl", "--reference", "r.jsonl", "--exclude-producer", "Model-2")
    assert code == 2
    assert "Unknown producer 'Model-2'. Did you mean 'Model-1'? Valid: Model-1; linter." in err


def test_the_author_of_a_reference_is_kept_and_shown(run, here):
    people = [{"pr": APP1, "reviewer": name, "comments": [{"note": f"{name} says so"}]} for name in ("ann", "ben")]
    (here / "r.jsonl").write_text("".join(json.dumps(each) + "\n" for each in people))
    (here / "g.jsonl").write_text(json.dumps({"pr": APP1, "reviewer": "bot", "comments": [{"note": "other"}]}))
    assert run("comments", "g.jsonl", "--reference", "r.jsonl", "--judge", "exact", "--out", "out")[0] == 0
    [record] = [json.loads(line) for line in (here / "out/results.jsonl").read_text().splitlines()]
    assert [each["author"] for each in record["reference_comments"]] == ["ann", "ben"]
    assert run("report", "out", "-o", "page.html")[0] == 0
    assert "by ann" in (here / "page.html").read_text()


def test_a_file_that_names_no_pull_request_is_told_by_pr(run, here):
    (here / "odd.txt").write_text(APP1_TEXT)
    code, out, err = run("comments", "odd.txt", "--reference", "ref.jsonl", "--pr", APP1, "--json")
    assert code == 0, err
    assert json.loads(out)["reviewers"]["odd"]["prs"] == 1
    (here / "scan.sarif").write_text(
        json.dumps({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "scan"}}, "results": [
            {"message": {"text": "leaks"}}]}]})
    )  # fmt: skip
    code, out, err = run("comments", "odd.txt", "--reference", "scan.sarif", "--pr", APP1, "--force", "--json")
    assert code == 0, err
    assert json.loads(out)["reviewers"]["odd"]["positive_expected_nums"] == 1


def test_a_reviewer_whose_pull_requests_are_all_filtered_out_has_no_figures(run, here):
    (here / "two/a").mkdir(parents=True)
    (here / "two/b").mkdir()
    (here / "two/a/comments_app_1.txt").write_text(APP1_TEXT)
    (here / "two/b/comments_app_2.txt").write_text(APP2_TEXT)
    arguments = ("comments", "two", "--reference", "ref.jsonl", "--language", "Go")
    code, out, _ = run(*arguments, "--json")
    found = json.loads(out)["reviewers"]
    assert (code, found["a"]["prs"], found["b"]["prs"]) == (0, 0, 1)
    assert set(found["a"]["metrics"].values()) == {None}
    assert run(*arguments)[0] == 0


def test_a_name_is_given_where_the_input_has_none(summary, run):
    assert list(summary("--name", "night [bot]")["reviewers"]) == ["night [bot]"]
    code, out, err = run(*ALL, "--name", "night [bot]")
    assert code == 0
    assert "\nnight [bot] " in out
    assert re.search(r"runs/\d{8}-\d{6}-night--bot(-2)?$", err)


def test_names_and_messages_from_files_do_not_drive_the_terminal(run, here):
    hostile = {"reviewer": "\x1b[2Jx[/b][red]", "comments": []}
    (here / "x.jsonl").write_text(lines({"pr": APP1} | hostile, {"pr": "\x1b[31m\nError: fake"} | hostile))
    code, out, err = run("comments", "x.jsonl", "--reference", "ref.jsonl")
    assert code == 0
    assert "\x1b" not in out + err
    assert "�[2Jx[/b][red]" in out
    assert "Skipped: x.jsonl: its pull request �[31m�Error: fake is not in the reference set\n" in err


def test_a_very_long_note_is_kept_and_warned_of(summary, sample):
    long = CHECK | {"note": "x" * 100_001}
    (sample / "reviews/more.jsonl").write_text(lines({"pr": APP2, "reviewer": "y", "comments": [long]}))
    found = summary()
    assert found["reviewers"]["y"]["total_generated_nums"] == 1
    assert found["warnings"][-1].startswith("a note of 100,001 characters is judged on its first 20,000")


# A sample


@pytest.fixture
def dozen(here):
    urls = [f"https://github.com/octo/app/pull/{number}" for number in range(1, 13)]
    (here / "ref12.jsonl").write_text(lines(*({"pr": url, "comments": [CHECK]} for url in urls)))
    (here / "said12.jsonl").write_text(lines(*({"pr": url} for url in urls)))
    (here / "back12.jsonl").write_text(lines(*({"pr": url + "/files"} for url in reversed(urls))))


def chosen(run, here, generated, *options):
    code, _, _ = run("comments", generated, "--reference", "ref12.jsonl", *options, "--out", "s", "--overwrite")
    assert code == 0
    return {json.loads(line)["github_pr_url"] for line in (here / "s/results.jsonl").read_text().splitlines()}


@pytest.mark.usefixtures("dozen")
def test_a_sample_is_the_same_for_a_seed_and_part_of_a_larger_one(run, here):
    samples = [chosen(run, here, "said12.jsonl", "--limit", limit) for limit in (1, 4, 7, 12, 100)]
    assert [len(sample) for sample in samples] == [1, 4, 7, 12, 12]
    for smaller, larger in pairwise(samples):
        assert smaller <= larger
    assert chosen(run, here, "back12.jsonl", "--limit", "4", "--seed", "0") == samples[1]
    assert chosen(run, here, "said12.jsonl", "--limit", "4", "--seed", "1") != samples[1]
