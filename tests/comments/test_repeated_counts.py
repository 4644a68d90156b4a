"""Comments that say again what was said are counted apart from the rest of the noise, and shown where there are any."""

import csv
import io
import json
from importlib.resources import files
from pathlib import Path

import numpy as np

from metareview.api import evaluate_comments, load_run
from metareview.judges.protocol import SAME, Answer, Judge
from metareview.report.csv_table import as_csv
from metareview.report.headline import board_of
from metareview.report.junit import as_junit
from metareview.report.markdown import as_markdown
from metareview.report.page.page import as_html
from metareview.report.tables import reviewers_table, rows
from sealed_runs import seal_again

URL = "https://github.com/acme/app/pull/{}"
LEAK = "The handle is never closed, so `readAll` leaks a file descriptor."
LEAK_AGAIN = "The handle here is never closed, so `readAll` leaks a descriptor."
RACE = "Race: `counter` is incremented without the lock."


class Same(Judge):
    """Calls everything the same."""

    name = "same"

    def judge(self, questions):
        sizes = [len(question.pairs) for question in questions]
        return [Answer(np.ones(size), np.full(size, SAME, np.int8), "") for size in sizes]


def record(number, *notes, reviewer="bot", line=3):
    comments = [{"note": note, "path": "a.py", "from_line": line, "to_line": line} for note in notes]
    return {"pr": URL.format(number), "reviewer": reviewer, "comments": comments}


REFERENCES = [record(1, RACE), record(2, RACE)]
REPEATING = [record(1, RACE, LEAK, RACE, LEAK_AGAIN), record(2, LEAK), record(1, LEAK, reviewer="once")]


def heads(run):
    return [column.head for column in reviewers_table(run.result, board_of(run))]


def test_repeated_comments_are_a_part_of_the_noise(tmp_path):
    run = evaluate_comments(REPEATING, reference=REFERENCES, out=tmp_path / "run")
    bot = run.summary["reviewers"]["bot"]
    # RACE matches the one reference there; said a second time it matches nothing, and is not new.
    assert (bot["positive_match_nums"], bot["unmatched_nums"], bot["repeated_nums"]) == (1, 4, 2)
    assert run.summary["reviewers"]["once"]["repeated_nums"] == 0
    assert "repeated_nums" not in bot["metrics"]
    [first, second, _] = run.records
    assert [first["repeated_nums"], second["repeated_nums"]] == [2, 0]
    assert [each["reference"] for each in first["match_details"]] == [0, None, None, None]
    assert [each.get("repeats") for each in first["match_details"]] == [None, None, 0, 1]
    loaded = load_run(tmp_path / "run")
    assert loaded.result.reviewers["bot"].repeated == 2
    assert loaded.records == run.records


def test_it_is_shown_behind_the_noise_where_there_is_any():
    run = evaluate_comments(REPEATING, reference=REFERENCES)
    assert heads(run)[-2:] == ["noise", "of which repeated"]
    table = {row[0]: row[-2:] for row in rows(reviewers_table(run.result, board_of(run)))}
    assert table == {"bot": ("0.800", "0.400"), "once": ("1.000", "0.000")}
    assert "| noise | of which repeated |" in as_markdown(run)
    assert 'name="repeated_nums" value="2"' in as_junit(run)
    page = as_html(run)
    assert ">Repeated</th>" in page
    assert "Says again what comment" in page
    written = list(csv.DictReader(io.StringIO(as_csv(run))))
    assert [row["repeated_nums"] for row in written] == ["2", "0", "0"]


def test_nothing_is_shown_where_nobody_repeats_anything():
    run = evaluate_comments([record(1, RACE, LEAK)], reference=REFERENCES)
    assert run.summary["reviewers"]["bot"]["repeated_nums"] == 0
    assert heads(run)[-1] == "noise"
    for text in (as_markdown(run), as_junit(run), as_html(run), as_csv(run)):
        assert "epeated" not in text


def test_places_are_compared_as_the_run_does():
    apart = [record(1, LEAK), record(1, LEAK_AGAIN, line=9)]
    near = evaluate_comments(apart, reference=REFERENCES)
    anywhere = evaluate_comments(apart, reference=REFERENCES, ignore_location=True)
    wide = evaluate_comments(apart, reference=REFERENCES, line_distance=6)
    found = [run.summary["reviewers"]["bot"]["repeated_nums"] for run in (near, anywhere, wide)]
    assert found == [0, 1, 1]


def test_what_is_left_out_of_the_figures_is_not_counted_as_repeated():
    neutral = [record(1, RACE, LEAK)]
    neutral[0]["comments"][1]["neutral"] = True
    run = evaluate_comments([record(1, RACE, LEAK, LEAK)], reference=neutral)
    bot = run.summary["reviewers"]["bot"]
    assert (bot["total_generated_nums"], bot["unmatched_nums"], bot["repeated_nums"]) == (1, 0, 0)


def test_what_is_said_again_of_a_reference_that_another_comment_holds_is_repeated():
    """In other words, and on other lines than its first wording: the judge has found both to raise the reference."""
    other = "Two threads may write at once."
    given = [record(1, RACE), record(1, other, line=4)]
    bot = evaluate_comments(given, reference=[record(1, RACE)], judge=Same()).summary["reviewers"]["bot"]
    assert (bot["positive_match_nums"], bot["unmatched_nums"], bot["repeated_nums"]) == (1, 1, 1)
    by_place = evaluate_comments(given, reference=[record(1, RACE)], judge="none").summary["reviewers"]["bot"]
    assert by_place["repeated_nums"] == 0  # where meaning is not asked nobody knows


def test_nothing_is_called_repeated_on_the_demo_that_is_not():
    """Its reviewer who repeats itself does so in other words, which are not found."""
    demo = Path(str(files("metareview") / "data" / "demo"))
    run = evaluate_comments(demo / "reviews", reference=demo / "references.jsonl")
    truth = json.loads((Path(__file__).parents[1] / "demo_truth.json").read_text("utf-8"))
    for record in run.records:
        raises = dict(truth[record["reviewer"]].get(record["github_pr_url"], []))
        for each in record["match_details"]:
            if "repeats" in each:
                assert raises.get(each["generated"]) == raises.get(each["repeats"]) is not None


def test_a_run_of_before_is_read_and_knows_of_none(tmp_path):
    folder = tmp_path / "run"
    evaluate_comments(REPEATING, reference=REFERENCES, out=folder)
    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    for block in summary["reviewers"].values():
        del block["repeated_nums"]
    (folder / "summary.json").write_text(json.dumps(summary), "utf-8")
    stored = [json.loads(line) for line in (folder / "results.jsonl").read_text("utf-8").splitlines()]
    for each in stored:
        del each["repeated_nums"]
    (folder / "results.jsonl").write_text("".join(json.dumps(each) + "\n" for each in stored), "utf-8")
    seal_again(folder)
    run = load_run(folder)
    assert run.result.reviewers["bot"].repeated is None
    assert {record["repeated_nums"] for record in run.records} == {None}
    assert heads(run)[-1] == "noise"
