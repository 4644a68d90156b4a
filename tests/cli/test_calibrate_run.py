"""`metareview calibrate --run`: a run's judge against the labels of its folder, with values worked out by hand."""

import json
from pathlib import Path

import pytest
from review_sample import lines

from labelled_runs import label_all, make_run
from metareview.comparison.frame import open_frame
from metareview.model.label import PairLabel
from metareview.runs.labels import LabelFile
from metareview.runs.run import load_run

PR = "https://github.com/octo/app/pull/{}"
# What bot says beside the reference, and what the judge `exact` makes of it: equal notes match.
NOTES = [("leak", "leak"), ("race", "race"), ("slow", "slow"), ("deadlock", "hangs"), ("typo", "style"), ("a", "b")]


def note(text):
    return {"note": text, "path": "src/a.py", "side": "right", "from_line": 1, "to_line": 1}


@pytest.fixture
def scored(here, run):
    """Run `r`: six pull requests of one pair each; the judge says same, same, same, different, different, different."""
    write(here)
    assert run("comments", "said.jsonl", "--reference", "ref.jsonl", "--judge", "exact", "--out", "r", "-q")[0] == 0
    return run


def write(here, notes=NOTES):
    pairs = list(enumerate(notes, 1))
    (here / "ref.jsonl").write_text(lines(*({"pr": PR.format(n), "comments": [note(b)]} for n, (_, b) in pairs)))
    reviews = ({"pr": PR.format(n), "reviewer": "bot", "comments": [note(a)]} for n, (a, _) in pairs)
    (here / "said.jsonl").write_text(lines(*reviews))


def label(number, match, name=None):
    said, expected = NOTES[number - 1]
    return PairLabel(PR.format(number), "bot", 0, 0, said, expected, match, "2026-01-01T00:00:00+00:00", name)


def labelled(*labels, frame=True):
    stored = load_run(Path("r"))
    if frame:
        open_frame(stored)
    LabelFile(stored.folder).append(labels)


def document(run, *options):
    code, out, err = run("calibrate", "--run", "r", "--json", *options)
    assert code == 0, err
    return json.loads(out)


def test_the_judge_against_the_labels(scored):
    # People: same, same, different, same, different, different. Agreement 4 of 6, by chance 1/2: kappa 1/3.
    labelled(*(label(n, n in (1, 2, 4)) for n in range(1, 7)))
    found = document(scored)
    assert (found["n"], found["errors"], found["judge"]) == (6, 0, "exact")
    assert found["kappa"] == pytest.approx(1 / 3)
    assert found["accuracy"] == pytest.approx(4 / 6)
    assert found["precision"] == pytest.approx(2 / 3)
    assert found["recall"] == pytest.approx(2 / 3)
    # All blocks are labelled: the corrected figures are those of the labels, 3 of 6 comments and references.
    assert found["frame"]["labelled"] == found["frame"]["blocks"] == 6
    assert found["corrected"]["bot"]["metrics"]["f1"] == pytest.approx(0.5)
    assert found["corrected"]["bot"]["judged"]["f1"] == pytest.approx(0.5)


def test_disagreements_come_with_the_widest_first(scored):
    labelled(*(label(n, n in (1, 2, 4)) for n in range(1, 7)))
    differing = document(scored, "--disagreements")["disagreements"]
    assert [(each["a"], each["b"], each["label"]) for each in differing] == [
        ("slow", "slow", False),
        ("hangs", "deadlock", True),
    ]
    code, out, _ = scored("calibrate", "--run", "r", "--disagreements", "--top", "1")
    assert code == 0
    assert "exact and the labels differ on 2 of 6 pairs" in out
    assert out.count("labelled the same, exact:") + out.count("labelled different, exact:") == 1


def test_two_people_and_what_they_see_differently(scored):
    # anna: same, same, different, different; ben: same, different, different, different.
    # Agreement 3/4; by chance 1/2 * 1/4 + 1/2 * 3/4 = 1/2: kappa 1/2.
    labelled(*(label(n, n in (1, 2), "anna") for n in range(1, 5)), *(label(n, n == 1, "ben") for n in range(1, 5)))
    (two,) = document(scored)["people"]
    assert (two["people"], two["pairs"], two["kappa"]) == (["anna", "ben"], 4, pytest.approx(0.5))
    (differ,) = two["differ"]
    assert (differ["pr"], differ["verdicts"]) == (PR.format(2), [True, False])
    code, out, _ = scored("calibrate", "--run", "r", "--disagreements")
    assert code == 0
    assert "anna and ben both labelled 4 pairs: kappa 0.500, 1 seen differently." in out
    assert "anna: the same, ben: different" in out


def test_a_crowd_that_labels_one_pair_makes_neither_more_figures_nor_longer_reports_than_thirty_people(scored):
    # Every two of N people are N * (N - 1) / 2; of the first thirty, whose labels are as many as anybody's, 435.
    sizes = []
    for people in (100, 400):
        LabelFile(Path("r")).path.unlink(missing_ok=True)
        labelled(*(label(4, number % 3 == 0, f"person {number:03}") for number in range(people)))
        found = document(scored)
        assert (len(found["people"]), found["people_not_compared"]) == (435, people - 30)
        assert found["people"][-1]["people"] == ["person 028", "person 029"]
        assert scored("report", "r", "-o", "r.html", "-o", "r.md")[0] == 0
        shown = [scored("calibrate", "--run", "r")[1], Path("r.html").read_text(), Path("r.md").read_text()]
        for text in shown:
            assert text.count("both labelled 1 pair") == 45
            assert "And 390 more times two people" in text
            assert f"{people - 30} more people were not compared with others" in text
        sizes.append([len(json.dumps(found)), *map(len, shown)])
    assert all(abs(large - small) < 100 for small, large in zip(*sizes, strict=True))


def test_who_labelled_most_is_compared(scored):
    few = (label(1, True, f"person {number}") for number in range(40))
    labelled(*few, *(label(number, True, name) for number in (1, 2) for name in ("anna", "ben")))
    found = document(scored)
    assert (found["people_not_compared"], found["people"][-1]["people"]) == (12, ["anna", "ben"])
    assert found["people"][-1]["pairs"] == 2


def test_names_of_people_do_not_hide_notes(scored):
    labelled(label(4, True, "a"), label(4, False, "b"))
    (differ,) = document(scored)["people"][0]["differ"]
    assert (differ["a"], differ["b"], differ["verdicts"]) == ("hangs", "deadlock", [True, False])


def test_who_says_one_thing_throughout_has_no_kappa(scored):
    labelled(*(label(n, True, name) for n in (1, 2) for name in ("anna", "ben")))
    assert document(scored)["people"][0]["kappa"] is None
    assert "kappa not defined, one verdict was given throughout" in scored("calibrate", "--run", "r")[1]


def test_a_gate_on_kappa(scored):
    labelled(*(label(n, n in (1, 2, 4)) for n in range(1, 7)))
    assert scored("calibrate", "--run", "r", "--fail-under", "kappa=0.3")[0] == 0
    code, out, err = scored("calibrate", "--run", "r", "--fail-under", "kappa=0.4")
    assert code == 3
    assert "kappa" in err
    assert "0.333" in out + err


def test_what_contradicts_is_refused(scored, here):
    labelled(label(1, True))
    (here / "labels.jsonl").write_text('{"a": "x", "b": "x", "match": true}\n')
    code, _, err = scored("calibrate", "labels.jsonl", "--run", "r")
    assert (code, "contradict" in err) == (2, True)
    code, _, err = scored("calibrate", "--run", "r", "--judge", "rouge")
    assert code == 2
    assert "metareview calibrate r/labels.jsonl --judge NAME" in err
    assert scored("calibrate")[0] == 2
    # And that command works: a run's labels are labels for any judge.
    code, out, _ = scored("calibrate", "r/labels.jsonl", "--judge", "exact", "--json")
    assert (code, json.loads(out)["n"]) == (0, 1)


def test_without_labels_the_command_that_gives_some_is_named(scored):
    code, _, err = scored("calibrate", "--run", "r")
    assert code == 2
    assert "r has no labels yet. Give some: metareview label r" in err


def test_a_command_that_is_named_can_be_pasted_though_its_path_has_a_space(scored, here):
    (here / "r").rename(here / "my run")
    assert "Give some: metareview label 'my run'" in scored("calibrate", "--run", "my run")[2]
    again = scored("calibrate", "--run", "my run", "--judge", "rouge")[2]
    assert "metareview calibrate 'my run/labels.jsonl' --judge NAME" in again


def test_a_folder_in_the_place_of_a_file_of_labels_leads_to_run(scored):
    code, out, err = scored("calibrate", "r")
    assert (code, out) == (2, "")
    assert "metareview calibrate --run r." in err


def test_labels_without_a_frame_correct_nothing(scored):
    labelled(label(1, True), frame=False)
    found = document(scored)
    assert (found["n"], found["frame"], found["corrected"]) == (1, None, {})
    assert "they correct no figure. Label one: metareview label r" in scored("calibrate", "--run", "r")[1]


def test_labels_of_an_earlier_run_in_the_folder_are_counted_and_not_used(scored, here):
    labelled(*(label(n, True) for n in range(1, 7)))
    write(here, [("leak", "leak, surely"), *NOTES[1:]])
    again = (
        "comments",
        "said.jsonl",
        "--reference",
        "ref.jsonl",
        "--judge",
        "exact",
        "--out",
        "r",
        "--overwrite",
        "-q",
    )
    assert scored(*again)[0] == 0
    found = document(scored)
    assert (found["n"], found["stale_labels"]) == (5, 1)
    assert found["frame"] is None  # that frame was another run's


def test_a_run_that_was_made_with_labels_says_nothing_of_its_judge(scored):
    labelled(label(3, False), label(4, True))
    with_labels = ("--judge", "exact", "--labels", "r/labels.jsonl", "--out", "second", "-q")
    assert scored("comments", "said.jsonl", "--reference", "ref.jsonl", *with_labels)[0] == 0
    Path("second/labels.jsonl").write_bytes(Path("r/labels.jsonl").read_bytes())
    code, out, _ = scored("calibrate", "--run", "second", "--json")
    found = json.loads(out)
    assert (code, found["n"], found["decided_by_labels"]) == (0, 0, 2)
    assert "2 labelled pairs left out: the run was made with these labels" in scored("calibrate", "--run", "second")[1]


def test_a_sample_corrects_a_lenient_judge(run, here):
    """A census, against the figures of the judge that people are: to the last digit."""
    from labelled_runs import People

    stored = make_run(here / "lenient", reviewers=("x", "y"))
    right = make_run(here / "right", judge=People(), reviewers=("x", "y"))
    label_all(stored, budget=1_000)
    code, out, _ = run("calibrate", "--run", "lenient", "--json")
    corrected = json.loads(out)["corrected"]
    assert code == 0
    for name, block in right.result.reviewers.items():
        for measure in ("f1", "positive_match_rate", "positive_recall_rate"):
            assert corrected[name]["metrics"][measure] == pytest.approx(block.metrics[measure])
            assert corrected[name]["intervals"][measure] == pytest.approx(block.intervals[measure])
