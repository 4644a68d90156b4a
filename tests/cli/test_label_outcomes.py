"""`metareview label` and `calibrate --run` on a run of outcomes: questions, answers that are kept, figures by hand."""

import io
import json
import sys
from pathlib import Path

import pytest

import metareview
from labelled_outcomes import give, label, make_run, outcome, pr
from metareview.comparison.outcome_frame import open_outcome_frame
from metareview.runs.run import load_run

HOSTILE = "\x1b[2J\x1b]0;owned\x07::error::boom \u202eevil\u202c\n::error::again"


@pytest.fixture
def typed(run, monkeypatch):
    """Runs a command with these keys, a line each, on standard input."""

    def command(keys, *arguments):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{key}\n" for key in keys)))
        return run(*arguments)

    return command


def three(judge="llm"):
    return make_run(
        Path("r"),
        {
            (pr(1), "bot"): [outcome(0, True, "fully" if judge != "none" else None, note="Close the handle")],
            (pr(2), "bot"): [outcome(0, False, "not" if judge != "none" else None, "lines", note="Rename it")],
            (pr(3), "bot"): [outcome(0, None, "unknown" if judge != "none" else None, note="Why?", later=None)],
        },
        judge,
    )


def in_order(run):
    return [unit.pr for _, unit in open_outcome_frame(run).drawn]


def stored():
    return [json.loads(line) for line in Path("r/labels.jsonl").read_text().splitlines()]


def test_answers_are_kept_one_by_one_and_the_command_goes_on(here, typed):
    asked = in_order(three())
    code, out, err = typed("fp", "label", "r")
    assert (code, err) == (0, "")
    assert [(each["pr"], each["addressed"]) for each in stored()] == [(asked[0], "fully"), (asked[1], "partly")]
    assert stored()[0].keys() == {"pr", "reviewer", "position", "addressed", "note", "at", "name"}
    code, out, err = typed("k", "label", "r")
    assert [(each["pr"], each["addressed"]) for each in stored()][2:] == [(asked[2], "unknown")]
    assert "Nothing is left to ask." in out
    assert "3 of the 3 comments in the sample labelled; the run has 3 in all." in out


def test_a_question_shows_the_comment_its_code_and_the_later_change(here, typed):
    make_run(
        Path("r"),
        {(pr(1), "bot"): [outcome(0, True, "partly", note="Close the `handle`", code="f = open(p)\ng(f)",
                                  later="=== commit c2: a.py\n@@ -1 +1 @@\n-f = open(p)\n+with open(p) as f:")]},
    )  # fmt: skip
    code, out, _ = typed("n", "label", "r", "--name", "anna")
    assert code == 0
    question, _, answer = out.partition("Addressed? f fully, p partly, n not, k can't tell, j later, u undo, q quit: ")
    for line in ("Comment 1 of 1 · o/r#1 · bot", "Comment  a.py:1", "  Close the handle", "  f = open(p)", "  g(f)",
                 "  === commit c2: a.py", "  -f = open(p)", "  +with open(p) as f:"):  # fmt: skip
        assert line in question.splitlines()
    assert "judge" not in question.casefold()
    assert "partly" not in question.partition("Comment 1 of 1")[2]
    assert "The judge says partly addressed." in answer
    assert stored()[0]["name"] == "anna"


def test_what_the_judge_had_said_comes_after_the_answer(here, typed):
    three()
    out = typed("nnk", "label", "r")[1]
    assert out.count("The judge says fully addressed.") == 1
    assert out.count("The judge was not asked: because. That counts as not, too.") == 1
    assert out.count("The judge says that it cannot tell, too.") == 1
    assert out.count("The later change is not known.") == 1


def test_undo_takes_back_and_later_puts_off(here, typed):
    asked = in_order(three())
    typed("fu", "label", "r")
    assert [each["addressed"] for each in stored()] == ["fully", None]
    out = typed("jpn", "label", "r")[1]
    assert [(each["pr"], each["addressed"]) for each in stored()][2:] == [(asked[1], "partly"), (asked[2], "not")]
    assert "1 put off; the same command asks again." in out


def test_hostile_text_does_not_drive_the_terminal(here, typed):
    make_run(Path("r"), {(pr(1), HOSTILE): [outcome(0, True, "not", note=HOSTILE, code=HOSTILE, later=HOSTILE)]})
    _, out, _ = typed("n", "label", "r")
    assert not set(out) & {"\x1b", "\x07", "\u202e"}
    assert not any(line.startswith("::") for line in out.splitlines())


def test_figures_from_labels_alone(here, typed):
    three("none")
    code, out, err = typed("fnk", "label", "r", "--json")
    document = json.loads(out)
    assert (code, document["schema"]) == (0, "metareview.labels.outcomes/1")
    assert document["frame"] == {
        "comments": 3, "drawn": 3, "labelled": 3, "missing": 0, "provisional": False, "passed_over": 0,
    }  # fmt: skip
    assert document["corrected"]["bot"]["metrics"] == {"addressed": 0.5, "addressed_fully": 0.5}
    assert document["corrected"]["bot"]["judged"] == {"addressed": None, "addressed_fully": None}
    assert "No judge was asked." in err
    corrected = metareview.load_run("r").corrected
    assert corrected == {name: document[name] for name in ("frame", "corrected", "lines_changed")}


def test_other_options_mean_nothing_here(here, run):
    three()
    code, _, err = run("label", "r", "--unlisted")
    assert code == 2
    assert "r is a run of outcomes: it has no references" in err
    code, _, err = run("label", "r", "--budget", "3")
    assert (code, "--budget must be 8 or more, found 3" in err) == (2, True)


# calibrate


JUDGED = ("fully", "fully", "partly", "not", "not", "not", "unknown", "fully")
PEOPLE = ("fully", "partly", "partly", "not", "fully", "not", "not", "unknown")


@pytest.fixture
def eight(here):
    """Both decided six: addressed or not agree on five. Fully, partly and not agree on four."""
    run = make_run(Path("r"), {(pr(n), "bot"): [outcome(0, n % 2 == 0, said)] for n, said in enumerate(JUDGED)})
    open_outcome_frame(run)
    return run


def test_the_judge_against_people_by_hand(eight, run):
    give(eight, *(label(n, 0, verdict) for n, verdict in enumerate(PEOPLE)))
    code, out, _ = run("calibrate", "--run", "r", "--json")
    found = json.loads(out)
    assert (code, found["schema"], found["judge"]) == (0, "metareview.calibrate.outcomes/1", "llm")
    assert (found["n"], found["decided"], found["errors"]) == (8, 6, 0)
    # Addressed: people 4 of 6, the judge 3 of 6, the same on 5. By chance (4*3 + 2*3)/36 = 1/2.
    assert found["accuracy"] == pytest.approx(5 / 6)
    assert found["kappa"] == pytest.approx((5 / 6 - 1 / 2) / (1 / 2))
    # Grades: people fully 2, partly 2, not 2; judge 2, 1, 3; the same on 4. By chance (4 + 2 + 6)/36 = 1/3.
    assert found["kappa_grades"] == pytest.approx((4 / 6 - 1 / 3) / (2 / 3))
    assert (found["precision"], found["recall"]) == pytest.approx((1, 3 / 4))
    assert found["confusion"]["fully"] == {"fully": 1, "partly": 0, "not": 1, "unknown": 0, "undecided": 0}
    assert found["confusion"]["not"] == {"fully": 0, "partly": 0, "not": 2, "unknown": 1, "undecided": 0}
    # Every comment is labelled: 4 of 7 addressed, 2 fully; as judged 4 of 7 and 3 of 7.
    assert found["corrected"]["bot"]["metrics"] == pytest.approx({"addressed": 4 / 7, "addressed_fully": 2 / 7})
    assert found["corrected"]["bot"]["judged"] == pytest.approx({"addressed": 4 / 7, "addressed_fully": 3 / 7})
    assert found["lines_changed"]["changed"] == {"labelled": 4, "decidable": 4, "addressed": 3, "rate": 0.75}
    assert found["lines_changed"]["unchanged"] == {
        "labelled": 4,
        "decidable": 3,
        "addressed": 1,
        "rate": pytest.approx(1 / 3),
    }


def test_what_calibrate_prints(eight, run):
    give(eight, *(label(n, 0, verdict, "anna") for n, verdict in enumerate(PEOPLE)))
    give(eight, *(label(n, 0, "fully", "ben") for n in range(2)))
    code, out, _ = run("calibrate", "--run", "r", "--disagreements", "--top", "2")
    assert code == 0
    lines = [line.rstrip() for line in out.splitlines()]
    # Of two people the later word holds: what was partly is fully. People say fully 3, partly 1, not 2; 5 agree.
    grades = round((5 / 6 - 13 / 36) / (23 / 36), 3)
    assert lines[0].startswith(f"llm on 6 comments that both decided: kappa 0.667, of the three grades {grades}, acc")
    assert "people say  judge: fully  judge: partly  judge: not  judge: unknown" in lines
    assert "fully                  2              0           1               0" in lines
    at = lines.index("llm and the labels differ on 3 of 8 labelled comments; the 2 worst first")
    assert lines[at + 1 : at + 4] == [
        "  1. labelled fully, llm: not (bot, o/r#4)",
        "     comment  note 0",
        "     reason   because",
    ]
    assert (
        "anna and ben both labelled 2 comments: kappa – (one verdict was given throughout), 1 seen differently."
        in lines
    )
    assert "8 of the 8 comments in the sample labelled; the run has 8 in all." in lines
    assert any(line.startswith("lines changed later  labelled  can be told  addressed") for line in lines)


def test_of_a_crowd_those_with_most_labels_are_compared_with_each_other(eight, run):
    give(eight, *(label(1, 0, "fully", f"person {number}") for number in range(100)))
    give(eight, label(1, 0, "not", "person 99"), label(2, 0, "not", "person 99"))
    found = json.loads(run("calibrate", "--run", "r", "--json")[1])
    assert (len(found["people"]), found["people_not_compared"]) == (435, 70)
    assert found["people"][-1]["people"] == ["person 28", "person 99"]
    shown = run("calibrate", "--run", "r")[1]
    assert shown.count(" both labelled 1 comment: ") == 45
    assert "And 390 more times two people" in shown
    assert "70 more people were not compared with others: only the 30 with most labels are." in shown


def test_gates_and_undecided_comments(eight, run, tmp_path):
    give(eight, *(label(n, 0, verdict) for n, verdict in enumerate(PEOPLE)))
    assert run("calibrate", "--run", "r", "--fail-under", "kappa=0.6")[0] == 0
    assert run("calibrate", "--run", "r", "--fail-under", "kappa=0.7")[0] == 3
    other = make_run(tmp_path / "u", {(pr(1), "bot"): [outcome(0, True, "undecided"), outcome(1, True, "not")]})
    open_outcome_frame(other)
    give(other, label(1, 0, "fully"), label(1, 1, "not"))
    code, out, err = run("calibrate", "--run", "u")
    assert code == 4
    assert "1 of 2 labelled comments stayed undecided" in err
    assert "judge: undecided" in out


def test_a_run_made_with_labels_says_nothing_of_its_judge_there(here, run):
    made = make_run(Path("r"), {(pr(1), "bot"): [outcome(0, True, "fully", "label"), outcome(1, True, "not")]})
    open_outcome_frame(made)
    give(made, label(1, 0, "fully"), label(1, 1, "fully"))
    found = json.loads(run("calibrate", "--run", "r", "--json")[1])
    assert (found["n"], found["decided_by_labels"], found["accuracy"]) == (1, 1, 0.0)


def test_nothing_to_compare(here, run):
    made = make_run(Path("r"), {(pr(1), "bot"): [outcome(0, True, "fully")]})
    code, _, err = run("calibrate", "--run", "r")
    assert (code, "r has no labels yet. Give some: metareview label r" in err) == (2, True)
    give(made, label(1, 0, "fully"))
    out = run("calibrate", "--run", "r")[1]
    assert "These labels are of no random sample" in out


def test_the_queue_goes_on_in_the_same_folder_after_another_run(here, typed):
    three()
    typed("fpn", "label", "r")
    import shutil

    kept = Path("r/labels.jsonl").read_bytes()
    shutil.rmtree("r")
    make_run(Path("r"), {(pr(1), "bot"): [outcome(0, True, "fully", note="Something else")]})
    Path("r/labels.jsonl").write_bytes(kept)
    _, out, _ = typed("f", "label", "r")
    assert "3 labels of other notes, from an earlier run in this folder, not used." in out
    assert load_run("r").folder is not None
