"""`metareview calibrate`: intervals, thresholds that hold elsewhere, kinds of issue, and what it warns of."""

import json

import pytest
from rich.cells import cell_len

from labelled_runs import label_all, make_run
from metareview.benchmark.disagreements import KINDS as KINDS_SLICED
from metareview.cli.calibrate import KINDS as offered
from metareview.judges.offline import published_accuracy

SAME, OTHER = "the coupon is applied twice", "rename tmp"


def write(path, labels):
    path.write_text("".join(json.dumps(label) + "\n" for label in labels), encoding="utf-8")
    return str(path)


def pair(match, *, same=None, **fields):
    """A pair whose notes are equal, if `same` or else `match` says so."""
    return {"a": SAME, "b": SAME if (match if same is None else same) else OTHER, "match": match, **fields}


def scored(match, score, group):
    """A pair of which ROUGE-L recall is score / 10, the reference having ten words."""
    words = [f"w{number}" for number in range(10)]
    return {"a": " ".join(words), "b": " ".join([*words[:score], "x"]), "match": match, "group": group}


@pytest.fixture
def found(run, here):
    def calibrated(labels, *options, judge="exact"):
        code, out, err = run("calibrate", write(here / "l.jsonl", labels), "--judge", judge, "--json", *options)
        assert code == 0, err
        return json.loads(out)

    return calibrated


@pytest.fixture
def shown(run, here):
    def calibrated(labels, *options, judge="exact"):
        code, out, err = run("calibrate", write(here / "l.jsonl", labels), "--judge", judge, *options)
        assert code == 0, err
        return " ".join(out.split()), err

    return calibrated


def test_the_unit_is_the_pull_request_where_labels_name_one(found):
    labels = [pair(at % 3 == 0, pr=f"o/r#{at // 4}", group=f"o/r#{at // 4} bot {at % 2}") for at in range(24)]
    document = found(labels)
    assert (document["interval_unit"], document["interval_units"]) == ("pull_request", 6)
    # All agree: six pull requests as trials.
    assert document["intervals"]["kappa"] == pytest.approx([0.025 ** (1 / 6), 1])
    for label in labels:
        del label["pr"]
    document = found(labels)
    assert (document["interval_unit"], document["interval_units"]) == ("group", 12)
    assert document["intervals"]["kappa"] == pytest.approx([0.025 ** (1 / 12), 1])


def test_what_has_no_interval_says_why(shown):
    out, _ = shown([pair(True), pair(False)])
    assert "No intervals: the labels do not say which of them are of one pull request. Give them pr, or group." in out
    out, _ = shown([pair(True, group="a"), pair(False, group="a")])
    assert "No intervals: they take labels of two pull requests or more." in out
    out, _ = shown([pair(True, group="a"), pair(False, group="a"), pair(True, group="b"), pair(False)])
    assert "95 % intervals over 3 groups (1 label without a pull request and a group count as one): kappa" in out


def test_the_best_threshold_is_in_sample_and_not_advised_where_it_does_not_hold(shown, found):
    # In six groups of eight each, no score means anything; the labels choose one threshold all the same.
    labels = [scored((3 * at + group) % 7 < 3, (at + group) % 10, f"g{group}") for group in range(8) for at in range(6)]
    document = found(labels, judge="rouge")
    assert document["best_kappa"] > document["cross_fitted_kappa"]
    assert document["cross_fitted_gain"] == pytest.approx(document["cross_fitted_kappa"] - document["kappa"])
    assert document["cross_fitted_gain"] <= 0
    out, _ = shown(labels, judge="rouge")
    assert "in sample: these labels chose it." in out
    assert "no better than 0.700. Keep that." in out


def test_a_threshold_that_holds_elsewhere_is_said_to_be_better(shown, found):
    # Pairs match from 5 of 10 words on, which every group knows; rouge asks for more than 0.7.
    labels = [scored(score >= 5, score, f"g{group}") for group in range(10) for score in (1, 3, 4, 5, 6, 9, 10)]
    document = found(labels, judge="rouge")
    assert (document["cross_fitted_kappa"], document["best_kappa"]) == (1, 1)
    out, _ = shown(labels, judge="rouge")
    assert f"better than 0.700 by {1 - document['kappa']:.3f} (" in out


def test_a_gain_that_may_be_chance_is_said_to(shown, found):
    # One group of eight has a pair more that matches below rouge's threshold; the others know no better.
    labels = [scored(score >= 8, score, f"g{group}") for group in range(8) for score in (1, 2, 9, 10)]
    labels += [scored(True, 7, f"g{group}") for group in range(3)]
    document = found(labels, judge="rouge")
    low, high = document["intervals"]["cross_fitted_gain"]
    assert document["cross_fitted_gain"] > 0 > low
    out, _ = shown(labels, judge="rouge")
    gain = f"{document['cross_fitted_gain']:+.3f} ({low:+.3f} to {high:+.3f})"
    assert f"which may be no better than 0.700: the difference is {gain}." in out


def test_four_groups_cannot_tell_what_holds_elsewhere(shown, found):
    labels = [scored(score >= 5, score, f"g{group}") for group in range(4) for score in (1, 9)]
    document = found(labels, judge="rouge")
    assert (document["cross_fitted_kappa"], document["cross_fitted_gain"]) == (None, None)
    out, _ = shown(labels, judge="rouge")
    assert "these labels cannot tell: that takes labels of 5 groups or more" in out


def test_each_score_has_the_interval_of_its_pairs(found):
    bins = found([pair(True, group="a")] * 3 + [pair(False, group="b")] * 2)["reliability"]
    assert [each["interval"] for each in bins] == [
        pytest.approx([0, 1 - 0.025 ** (1 / 2)]),
        pytest.approx([0.025 ** (1 / 3), 1]),
    ]


KINDS = [
    pair(True, group="a", severity="Low", category="Style"),
    pair(True, same=False, group="b", severity="Low", category="Style"),
    pair(False, group="b", severity="Low", category="Style"),
    pair(True, group="a", severity="Critical"),
    pair(False, group="c", severity="Critical"),
    pair(False, group="c"),
]


def test_agreement_by_kind_of_issue(found):
    slices = found(KINDS)["slices"]
    assert {kind: list(values) for kind, values in slices.items()} == {
        "severity": ["Critical", "Low", "unknown"],
        "category": ["Style", "unknown"],
    }
    low = slices["severity"]["Low"]
    assert (low["n"], low["errors"], low["interval_units"]) == (3, 0, 2)
    assert low["accuracy"] == pytest.approx(2 / 3)
    assert low["recall"] == 0.5
    # Same, different, different against same, same, different: 2/3 agree, by chance 4/9.
    assert low["kappa"] == pytest.approx((2 / 3 - 4 / 9) / (5 / 9))
    assert slices["severity"]["Critical"]["kappa"] == 1
    assert set(low["intervals"]) == {"kappa", "accuracy", "precision", "recall", "auc"}
    assert found([pair(True), pair(False)])["slices"] == {}


def test_by_shows_what_is_asked_for_the_worst_severity_first(shown):
    out, err = shown(KINDS)
    assert "Critical" not in out
    assert "By kind of issue: --by severity, --by category" in err
    out, err = shown(KINDS, "--by", "severity", "--by", "context")
    assert out.index("Critical") < out.index("Low 3") < out.index("unknown 1")
    assert "By context: not known, no label's reference has one." in out
    assert "By kind of issue" not in err


def test_a_kind_of_issue_that_is_no_text_is_refused(run, here):
    path = write(here / "l.jsonl", [pair(True), pair(False, severity=["High"])])
    code, _, err = run("calibrate", path, "--judge", "exact")
    assert code == 2
    assert "l.jsonl:2: severity must be a string" in err


def test_names_of_kinds_cannot_drive_the_terminal(shown):
    out, _ = shown([pair(True, severity="\x1b[31mred"), pair(False, severity="x" * 500)], "--by", "severity")
    assert "\x1b" not in out


def test_offline_without_groups_is_said_to_know_less(shown, monkeypatch):
    figures = {"kappa": 0.8231, "kappa_without_rivals": 0.704}
    known = published_accuracy.parse_held_out("offline-2", 0.4, figures)
    monkeypatch.setattr(published_accuracy, "held_out", lambda: known)
    _, err = shown([pair(True), pair(False)], judge="offline")
    less = "labels have no group and are judged without rivals; offline then knows less"
    assert f"Warning: 2 {less}: a kappa of about 0.70 instead of 0.82." in err
    monkeypatch.setattr(published_accuracy, "held_out", lambda: published_accuracy.HeldOut("offline-1", kappa=0.8))
    _, err = shown([pair(True), pair(False)], judge="offline")
    assert f"Warning: 2 {less}." in err
    _, err = shown([pair(True, group="a"), pair(False, group="b")], judge="offline")
    assert "rivals" not in err
    _, err = shown([pair(True), pair(False)], judge="exact")
    assert "rivals" not in err


@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_line_is_wider_than_the_terminal(run, here, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    note = "a long note " + "漢字 " * 200
    labels = [{"a": note, "b": note, "match": at % 3 == 0, "group": f"g{at}", "severity": "High"} for at in range(9)]
    options = ("--judge", "exact", "--by", "severity", "--disagreements", "--top", "2", "-q")
    code, out, err = run("calibrate", write(here / "l.jsonl", labels), *options)
    assert (code, err) == (0, "")
    assert max(map(cell_len, out.splitlines())) <= width
    assert "exact and the labels differ on 6 of 9 pairs; the 2 worst first" in " ".join(out.split())
    assert "  3. " not in out


def test_json_has_all_disagreements_whatever_top_says(run, here):
    labels = [{"a": "x", "b": "x", "match": at < 3, "group": f"g{at}"} for at in range(20)]
    path = write(here / "l.jsonl", labels)
    code, out, _ = run("calibrate", path, "--judge", "exact", "--disagreements", "--top", "2", "--json")
    assert (code, len(json.loads(out)["disagreements"])) == (0, 17)


def test_a_run_knows_the_kinds_of_its_references(run, here):
    def records(*severities):
        return [
            {
                "pr": f"https://github.com/o/r/pull/{number}",
                "reviewer": "bot",
                "comments": [{"path": "a.py", "from_line": 1, "note": f"i{number} leak", "severity": severity}],
            }
            for number, severity in enumerate(severities)
        ]

    (here / "ref.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records("High", "High", "Low")))
    (here / "said.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records(None, None, None)))
    command = ("comments", "said.jsonl", "--reference", "ref.jsonl", "--judge", "exact", "--out", "r", "-q")
    assert run(*command)[0] == 0
    from metareview.runs.run import load_run

    label_all(load_run(here / "r"))
    document = json.loads(run("calibrate", "--run", "r", "--json")[1])
    assert {value: part["n"] for value, part in document["slices"]["severity"].items()} == {"High": 2, "Low": 1}
    assert document["interval_unit"] == "pull_request"
    out = run("calibrate", "--run", "r", "--by", "severity")[1]
    assert "High" in out
    assert "Low" in out


def test_a_run_of_a_lenient_judge_has_intervals_over_its_pull_requests(run, here):
    stored = make_run(here / "r")
    label_all(stored, budget=1_000)
    document = json.loads(run("calibrate", "--run", "r", "--json")[1])
    low, high = document["intervals"]["kappa"]
    assert low < document["kappa"] < high
    assert document["interval_units"] == 23
    assert "95 % intervals over 23 pull requests: kappa" in run("calibrate", "--run", "r")[1]


def test_every_kind_that_is_sliced_can_be_asked_for():
    assert offered == KINDS_SLICED
