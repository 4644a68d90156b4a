"""`comments --repeat`: several runs of one reviewer are one, by the mean of their counts per pull request."""

import json
import random
import shutil
from statistics import variance

import pytest
from repeated_sample import CHECK, NAME, PRS, REFERENCES, RUNS, VALIDATE, flat, records, said, write
from review_sample import lines
from scipy.special import expit, logit
from scipy.stats import t

from metareview import FilterConfig, compare, evaluate_comments, load_run
from sealed_runs import seal_again

ASK = ("comments", "reviews", "--reference", "ref.jsonl", "--judge", "exact")


@pytest.fixture
def repeated(here):
    write(here)
    return here


def scored(given, **options):
    return evaluate_comments(given, reference=REFERENCES, judge="exact", repeat=True, **options)


def block(run, name="claude"):
    return run.summary["reviewers"][name]


def test_counts_are_means_over_the_runs_of_each_pull_request(repeated, run):
    code, out, _ = run(*ASK, "--repeat", "--json", "--out", "runs/a")
    claude = json.loads(out)["reviewers"]["claude"]
    assert code == 0
    assert claude["prs"] == 3
    assert claude["total_generated_nums"] == pytest.approx(11 / 3)
    assert (claude["positive_match_nums"], claude["positive_expected_nums"]) == (2, 4)
    assert claude["metrics"]["positive_match_rate"] == pytest.approx(6 / 11)
    assert claude["metrics"]["positive_recall_rate"] == 0.5
    assert claude["metrics"]["f1"] == pytest.approx(12 / 23)
    # The mean of the pull requests' own recalls: (4/3) / 2, 1/3, 1/3.
    assert claude["macro"]["positive_recall_rate"] == pytest.approx(4 / 9)
    assert claude["slices"]["language"]["Go"]["positive_match_nums"] == pytest.approx(5 / 3)
    assert claude["slices"]["severity"]["high"]["positive_covered_nums"] == pytest.approx(1 / 3)


def test_three_runs_are_no_more_pull_requests_and_add_how_much_they_differ():
    whole = scored(flat())
    # Three times the mean on each pull request is the same ratio: its jackknife is that of a run with these counts.
    tripled = evaluate_comments(
        [
            {"pr": pr, "reviewer": "claude", "comments": [one for of_pr in comments for one in of_pr]}
            for pr, comments in zip(PRS, zip(*RUNS.values(), strict=True), strict=True)
        ],
        reference=[{**each, "comments": each["comments"] * 3} for each in REFERENCES],
        judge="exact",
    )
    assert block(tripled)["total_generated_nums"] == 11
    alone, figure = block(tripled)["intervals"]["f1"], 12 / 23
    reach = (logit(alone[1]) - logit(alone[0])) / 2
    jackknife = (reach * figure * (1 - figure) / t.ppf(0.975, 2)) ** 2
    of_runs = variance([6 / 8, 4 / 7, 2 / 8]) / 3
    whole_variance = jackknife + of_runs
    reach = t.ppf(0.975, whole_variance**2 / (jackknife**2 / 2 + of_runs**2 / 2)) * whole_variance**0.5
    ends = [expit(logit(figure) + sign * reach / (figure * (1 - figure))) for sign in (-1, 1)]
    assert block(whole)["intervals"]["f1"] == pytest.approx(ends)
    assert block(whole)["repeats"]["run_variance"]["f1"] == {"value": pytest.approx(of_runs), "freedom": 2}


def test_the_spread_between_runs_stands_beside(repeated, run):
    code, out, err = run(*ASK, "--repeat", "--out", "runs/a")
    assert code == 0
    row = next(line for line in out.splitlines() if line.startswith("claude"))
    assert "±0.253 (3)" in row
    assert "1 run" in next(line for line in out.splitlines() if line.startswith("steady"))
    assert "own F1 lies between 0.250 and 0.750" in " ".join(err.split())
    summary = json.loads((repeated / "runs/a/summary.json").read_text())["reviewers"]
    assert summary["claude"]["repeats"]["runs"] == 3
    assert summary["claude"]["repeats"]["names"] == ["run-1", "run-2", "run-3"]
    assert summary["claude"]["repeats"]["metrics"]["run-2"]["f1"] == pytest.approx(4 / 7)
    assert summary["claude"]["repeats"]["spread"]["f1"]["max"] == 0.75
    assert sum(summary["claude"]["repeats"]["variance"]["f1"].values()) == pytest.approx(1)
    assert summary["steady"]["repeats"]["spread"]["f1"] is None
    assert summary["steady"]["repeats"]["variance"]["f1"] is None


def test_three_equal_runs_are_exactly_one():
    rng = random.Random(3)
    notes = [CHECK, NAME, VALIDATE, "Looks odd", "Too long", "Why so"]
    reviews = [
        {"pr": pr, "reviewer": "bot", "comments": [said(note, 3) for note in rng.sample(notes, 4)]} for pr in PRS
    ]
    thrice = [{**review, "run": f"run-{number}"} for number in (1, 2, 3) for review in reviews]
    for judge in ("offline", "exact"):
        for alignment in ("optimal", "coverage"):
            once = evaluate_comments(reviews, reference=REFERENCES, judge=judge, alignment=alignment)
            repeated = evaluate_comments(thrice, reference=REFERENCES, judge=judge, alignment=alignment, repeat=True)
            of_runs = block(repeated, "bot")
            assert of_runs.pop("repeats")["spread"]["f1"]["sd"] == 0
            assert json.dumps(of_runs) == json.dumps(block(once, "bot"))


def test_the_order_of_runs_changes_nothing():
    forwards, backwards = (scored(flat(order)) for order in (list(RUNS), list(RUNS)[::-1]))
    assert json.dumps(forwards.summary["reviewers"]) == json.dumps(backwards.summary["reviewers"])
    assert forwards.records == backwards.records


def test_folders_and_records_name_runs_alike(repeated, run):
    figures = []
    (repeated / "flat.jsonl").write_text(lines(*flat()))
    for given in ("reviews/claude", "flat.jsonl"):
        code, out, _ = run("comments", given, *ASK[2:], "--repeat", "--json", "--out", f"runs/{len(figures)}")
        assert code == 0
        figures.append(json.loads(out)["reviewers"])
    assert list(figures[0]) == ["claude"]
    assert figures[0] == figures[1]
    code, out, _ = run("comments", "reviews/claude", *ASK[2:], "--repeat", "--json", "--name", "sonnet")
    assert list(json.loads(out)["reviewers"]) == ["sonnet"]


def test_runs_without_the_option_are_refused(repeated, run):
    (repeated / "flat.jsonl").write_text(lines(*flat()))
    for given in ("reviews", "flat.jsonl"):
        code, _, err = run("comments", given, *ASK[2:])
        assert code == 2
        assert "3 runs (run-1, run-2, run-3) of claude" in err
        assert "Pass --repeat" in err
    code, out, err = run("comments", "flat.jsonl", *ASK[2:], "--force", "--json")
    assert code == 0
    assert json.loads(out)["reviewers"]["claude"]["total_generated_nums"] == 11
    assert "forced" in err


def test_reviewers_called_like_runs_get_a_warning(repeated, run):
    code, out, err = run("comments", "reviews/claude", *ASK[2:], "--json")
    assert code == 0
    assert list(json.loads(out)["reviewers"]) == ["run-1", "run-2", "run-3"]
    assert "--repeat makes them one" in err


def test_one_named_run_is_no_repeat():
    once = evaluate_comments(records("run-1", "claude"), reference=REFERENCES, judge="exact")
    assert block(once)["metrics"]["f1"] == 0.75
    assert "repeats" not in block(once)
    assert all("run" not in record for record in once.records)


def test_a_pull_request_counts_by_the_runs_that_have_it():
    given = [record for record in flat() if (record["run"], record["pr"]) != ("run-3", PRS[2])]
    some = scored(given)
    # On the third, run-1 has 1 comment and no match, run-2 has 1 and 1.
    assert block(some)["total_generated_nums"] == pytest.approx(5 / 3 + 2 / 3 + 1)
    assert block(some)["positive_match_nums"] == pytest.approx(4 / 3 + 1 / 3 + 1 / 2)
    assert block(some)["repeats"]["prs_per_run"] == {"run-1": 3, "run-2": 3, "run-3": 2}
    assert any("1 of 3 pull requests are not in all 3 runs" in each for each in some.summary["warnings"])
    silent = scored(given, all_prs=True)
    assert block(silent)["total_generated_nums"] == pytest.approx(5 / 3 + 2 / 3 + 2 / 3)


def test_reviews_of_no_run_beside_named_ones_are_refused(repeated, run):
    shutil.copy(repeated / "reviews/claude/run-1/all.jsonl", repeated / "reviews/claude/stray.jsonl")
    code, _, err = run(*ASK, "--repeat")
    assert code == 2
    assert "of no run, beside 3 runs" in err


def test_an_empty_run_is_told(repeated, run):
    (repeated / "reviews/claude/run-4").mkdir()
    code, out, _ = run(*ASK, "--repeat", "--json")
    assert code == 0
    assert [each["reason"] for each in json.loads(out)["skipped"]] == ["an empty folder: no run to count"]
    code, out, _ = run("comments", "reviews/steady", *ASK[2:], "--repeat", "--json")
    assert "no reviewer has more than one run" in " ".join(json.loads(out)["warnings"])


def test_a_killed_run_goes_on(repeated, run):
    run(*ASK, "--repeat", "--out", "runs/whole")
    shutil.copytree("runs/whole", "runs/killed")
    killed = repeated / "runs/killed"
    results = (killed / "results.jsonl").read_text().splitlines(keepends=True)
    # Run 1 of the first pull request is done, and not its other runs.
    (killed / "results.jsonl").write_text(results[0])
    manifest = json.loads((killed / "manifest.json").read_text()) | {"status": "running"}
    (killed / "manifest.json").write_text(json.dumps(manifest))
    (killed / "summary.json").unlink()
    code, _, _ = run(*ASK, "--repeat", "--out", "runs/killed")
    assert code == 0
    for name in ("results.jsonl", "pairs.jsonl"):
        assert (killed / name).read_text() == (repeated / "runs/whole" / name).read_text()


def test_stored_verdicts_answer_for_every_run(repeated, run):
    run(*ASK, "--repeat", "--out", "runs/a")
    code, _, err = run(*ASK[:-2], "--verdicts", "runs/a/pairs.jsonl", "--repeat", "--out", "runs/b")
    assert code == 0
    assert "not among those scored" not in err
    assert (repeated / "runs/b/pairs.jsonl").read_text() == (repeated / "runs/a/pairs.jsonl").read_text()


def test_missed_references_say_in_how_many_runs_they_were_found(repeated, run):
    extra = {**REFERENCES[0], "comments": [*REFERENCES[0]["comments"], said("Free the lock", 90)]}
    (repeated / "ref.jsonl").write_text(lines(extra, *REFERENCES[1:]))
    run(*ASK, "--repeat", "--out", "runs/a")
    _, out, _ = run("show", "runs/a", "--missed", "--reviewer", "claude", "--json")
    missed = json.loads(out)["missed"]
    # Nobody ever found the lock; of those found once, the severe one comes first.
    found = [(entry["reference"]["note"], entry["found_in"], entry["runs"]) for entry in missed]
    assert found == [("Free the lock", 0, 3), (VALIDATE, 1, 3), (CHECK, 1, 3), (NAME, 1, 3)]
    _, out, _ = run("show", "runs/a", "--missed", "--reviewer", "claude")
    assert "found in 0 of 3 runs" in out
    assert "by claude (run-3)" in out  # the nearest comment to the error that it did not check
    frame = load_run("runs/a").to_frame("references")
    claude = frame[frame.reviewer == "claude"].set_index("note")
    assert claude.found_in.to_dict() == {"Free the lock": 0, "Close the file": 3, NAME: 1, CHECK: 1, VALIDATE: 1}
    assert set(claude.runs) == {3}
    assert len(load_run("runs/a").to_frame("prs")) == 12


def test_compare_and_leaderboard_go_by_the_means(repeated, run):
    run(*ASK, "--repeat", "--out", "runs/a")
    found = compare("runs/a", reviewers=["steady", "claude"]).to_dict()
    assert found["metrics"]["f1"]["b"] == pytest.approx(12 / 23)
    assert found["metrics"]["f1"]["a"] == pytest.approx(4 / 7)
    # By severity: of the severe one, steady found none and claude a third.
    assert found["kinds"]["severity"]["high"] == {"references": 1, "a": 0, "b": pytest.approx(1 / 3), "diff": 1 / 3}
    _, out, _ = run("leaderboard", "runs/a", "--json")
    rows = {row["name"]: row for row in json.loads(out)["rows"]}
    assert rows["claude"]["repeats"]["spread"]["f1"]["min"] == 0.25
    assert rows["claude"]["metrics"]["f1"] == pytest.approx(12 / 23)
    _, out, _ = run("leaderboard", "runs/a")
    assert "±0.253 (3)" in out
    once = evaluate_comments(records("run-1"), reference=REFERENCES, judge="exact", name="first")
    against = compare(once, "runs/a", reviewers=["first", "claude"])
    assert against.to_dict()["metrics"]["f1"]["diff"] == pytest.approx(12 / 23 - 3 / 4)


def test_reports_hold_the_spread_and_the_runs(repeated, run):
    run(*ASK, "--repeat", "--out", "runs/a")
    code, *_ = run("report", "runs/a", *(part for end in ("md", "csv", "xml", "html") for part in ("-o", f"r.{end}")))
    assert code == 0
    assert "| claude | F1 | 3 | 0.250 | 0.750 | ±0.253 |" in (repeated / "r.md").read_text()
    head, first, *_ = (repeated / "r.csv").read_text().splitlines()
    assert dict(zip(head.split(","), first.split(","), strict=True))["runs"] == "3"
    assert 'name="f1_sd_between_runs" value="0.2533785' in (repeated / "r.xml").read_text()
    page = (repeated / "r.html").read_text()
    assert "found in 1 of 3 runs of claude" in page  # among what was missed
    assert page.count("</bdi> in 1 of 3 runs") == 3  # at the references
    assert "Between runs" in page


def test_unlisted_issues_of_repeated_runs_are_refused(repeated, run):
    run(*ASK, "--repeat", "--out", "runs/a")
    for command in (("label", "runs/a", "--unlisted"), ("show", "runs/a", "--unlisted")):
        code, _, err = run(*command)
        assert code == 2
        assert "repeated runs" in err


def test_the_curves_pass_through_the_figures():
    from metareview.comparison.sensitivity import sensitivity

    some = scored([record for record in flat() if (record["run"], record["pr"]) != ("run-3", PRS[2])])
    curves = sensitivity(some).line_distance
    assert curves.reviewers["claude"]["f1"][curves.values.index(1)] == pytest.approx(block(some)["metrics"]["f1"])


def test_runs_that_the_option_does_not_see_keep_their_files(repeated, run):
    """Nothing of a run without --repeat speaks of runs."""
    run("comments", "reviews/steady", *ASK[2:], "--out", "runs/s")
    for name in ("manifest.json", "results.jsonl", "pairs.jsonl", "summary.json"):
        text = (repeated / "runs/s" / name).read_text()
        assert not [key for key in ('"run":"', '"repeat":', '"repeats":', '"found_in":') if key in text]


def test_a_run_that_a_filter_drops_is_no_part_of_the_mean():
    references = [{**REFERENCES[1], "language": None}]
    given = [
        {"pr": PRS[1], "reviewer": "x", "run": run, "language": language, "comments": [said(note, 9)]}
        for run, language, note in (("run-1", "Go", "odd"), ("run-2", "C", CHECK))
    ]
    some = evaluate_comments(
        given, reference=references, judge="exact", repeat=True, filters=FilterConfig(project_languages=("C",))
    )
    assert block(some, "x")["positive_match_nums"] == 1
    assert block(some, "x")["repeats"]["prs_per_run"] == {"run-1": 0, "run-2": 1}


def test_runs_with_other_references_are_a_broken_folder(repeated, run):
    run(*ASK, "--repeat", "--out", "runs/a")
    results = repeated / "runs/a/results.jsonl"
    first, *rest = map(json.loads, results.read_text().splitlines())
    first["reference_comments"][-1]["reference"] += 1
    results.write_text("".join(json.dumps(each) + "\n" for each in (first, *rest)))
    seal_again(results.parent)
    for command in (("show", "runs/a"), ("compare", "runs/a"), ("report", "runs/a", "-o", "r.html")):
        code, _, err = run(*command)
        assert code == 2
        assert "different references" in err
        assert "Traceback" not in err


def test_converted_runs_stay_apart(repeated, run):
    code, *_ = run("convert", "reviews", "--to", "jsonl", "-o", "all.jsonl")
    assert code == 0
    code, out, _ = run("comments", "all.jsonl", *ASK[2:], "--repeat", "--json")
    figures = json.loads(out)["reviewers"]
    assert figures["claude"]["metrics"]["f1"] == pytest.approx(12 / 23)
    assert figures["claude"]["repeats"]["runs"] == 3
