"""What a weights file says of the offline judge; keys may be absent, and none is taken on trust."""

import json
from dataclasses import asdict
from importlib.resources import files

import pytest

from metareview.judges.offline.judge import OfflineJudge
from metareview.judges.offline.published_accuracy import HeldOut, KappaOf, held_out, parse_held_out

FULL = {
    "kappa": 0.8231,
    "kappa_interval": [0.79, 0.85],
    "kappa_by": {"pull_request": 0.823, "repository": 0.82},
    "kappa_without_rivals": 0.7,
    "models": 3,
    "f1_gap": 0.031,
    "reliability": [[0.01, 0.02, 100], [0.5, 0.48, 40]],
}


def test_the_shipped_weights_are_those_that_runs_name():
    judge = OfflineJudge()
    found = held_out()
    assert found.weights == judge.parameters["weights"]
    assert found.threshold == judge.threshold
    stored = json.loads((files("metareview") / "data" / f"{found.weights}.json").read_text("utf-8"))
    assert found == parse_held_out(found.weights, stored["threshold"], stored["held_out_figures"])
    assert held_out(found.weights) == found


def test_weights_of_the_first_edition_say_kappa_without_an_interval():
    first = files("metareview") / "data" / "offline-1.json"
    figures = json.loads(first.read_text("utf-8"))["held_out_figures"] if first.is_file() else {"kappa": 0.8066}
    found = parse_held_out("offline-1", 0.455, figures)
    assert (found.kappa, found.kappa_interval, found.models) == (0.8066, None, None)


def test_every_key():
    found = parse_held_out("offline-2", 0.4, FULL)
    assert found == HeldOut(
        "offline-2",
        0.4,
        0.8231,
        (0.79, 0.85),
        {"pull_request": 0.823, "repository": 0.82},
        0.7,
        3,
        0.031,
        {},
        ((0.01, 0.02, 100), (0.5, 0.48, 40)),
    )


def test_figures_for_each_way_to_hold_out():
    found = parse_held_out(
        "offline-2",
        0.4,
        {
            "by_pull_request": {
                "kappa": {"value": 0.82, "interval": [0.79, 0.85]},
                "kappa_of_each_model": {"x": 0.8, "y": 0.84, "z": 0.82},
                "f1_gap_one_to_one": 0.03,
                "f1_gap_coverage": 0.04,
            },
            "by_repository": {"kappa": {"value": 0.81, "interval": [0.7, 0.9]}},
            "by_severity": {"High": {"value": 0.85, "interval": [0.8, 0.9], "pairs": 300}, "Low": "?"},
            "kappa_without_rivals": 0.7,
        },
    )
    assert (found.kappa, found.kappa_interval, found.models, found.f1_gap) == (0.82, (0.79, 0.85), 3, 0.03)
    assert found.kappa_by == {"pull_request": 0.82, "repository": 0.81}
    assert found.by_severity == {"High": KappaOf(0.85, (0.8, 0.9), 300)}
    # What a run keeps of it is read back equal.
    assert parse_held_out("offline-2", 0.4, json.loads(json.dumps(asdict(found)))) == found


def test_what_is_absent_is_not_known():
    assert parse_held_out("offline-2", None, {}) == HeldOut("offline-2")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kappa", "0.8"),
        ("kappa", True),
        ("kappa", float("nan")),
        ("by_pull_request", [1]),
        ("by_severity", {"High": {"value": None}}),
        ("kappa_interval", [0.7]),
        ("kappa_interval", [0.7, None]),
        ("kappa_interval", 0.7),
        ("kappa_by", ["x"]),
        ("models", 2.5),
        ("models", True),
        ("reliability", {"a": 1}),
        ("reliability", [[0.1, 0.2], "x", [None, 1, 2]]),
    ],
)
def test_what_is_no_number_is_not_known(key, value):
    assert parse_held_out("offline-2", 0.4, {key: value}) == HeldOut("offline-2", 0.4)


@pytest.mark.parametrize("name", ["offline-0", "../../pyproject", "offline-1/../offline-1", "demo", ""])
def test_weights_that_do_not_ship_have_no_figures(name):
    assert held_out(name) == HeldOut(name)
