from dataclasses import asdict

import pytest
from routing_stories import MINUTE, happen, history_of

from metareview.model.event import Eligibility
from metareview.routing.queue import COMMENTS, REVIEWS, queue_times, seconds_to_first
from metareview.routing.records import Truth
from metareview.routing.truth import find_truth

STORY = [
    happen(0, "opened", "ann"),
    happen(1, "review_submitted", "early", state="COMMENTED"),
    happen(10, "review_submitted", "bob", state="COMMENTED"),
    happen(11, "comment", "talker"),
    happen(12, "review_submitted", "ann", state="COMMENTED"),
    happen(13, "review_comment", "eve"),
    happen(14, "review_submitted", "ci[bot]", state="APPROVED"),
    happen(15, "review_submitted", "helper", state="APPROVED", actor_type="Bot"),
    happen(16, "review_submitted", None, state="APPROVED"),
    happen(60, "review_submitted", "cy", state="approved"),
    happen(61, "review_submitted", "bob", state="APPROVED"),
    happen(90, "merged", "ann"),
]


def truth(policy="first_response", cutoff=5, window=55, end=10_000, story=STORY, **options):
    history = history_of(*story)
    return find_truth(
        history.events,
        "ann",
        round(cutoff * MINUTE),
        policy=policy,
        window=None if window is None else round(window * MINUTE),
        eligible=Eligibility(history.bots, **options),
        end=end * MINUTE,
    )


@pytest.mark.parametrize(
    ("options", "targets"),
    [
        ({}, ("bob",)),
        ({"cutoff": 10}, ("eve",)),  # (cutoff, ...: what happens at the cutoff is no response to it
        ({"cutoff": 12, "include_author": True}, ("eve",)),
        ({"cutoff": 11.5, "include_author": True}, ("ann",)),
        ({"cutoff": 13}, ("cy",)),
        ({"cutoff": 13, "include_bots": True}, ("ci[bot]",)),
        ({"policy": "first_approval"}, ("cy",)),  # at cutoff + window exactly
        ({"policy": "first_approval", "window": 56}, ("cy",)),
        ({"policy": "first_approval", "include_bots": True}, ("ci[bot]",)),
        ({"policy": "all_reviewers"}, ("bob", "cy")),
        ({"policy": "all_reviewers", "window": 20}, ("bob",)),
        ({"policy": "all_reviewers", "window": None}, ("early", "bob", "cy")),
        ({"policy": "first_response", "window": None, "cutoff": 61}, ()),
        ({"policy": "first_response", "window": None, "cutoff": 60}, ("bob",)),
    ],
)
def test_truth(options, targets):
    found = truth(**options)
    assert found.targets == targets
    assert found.state == ("observed" if targets else "no_response")


def test_just_outside_the_window_is_too_late():
    assert truth("first_approval", window=54.999) == Truth("no_response")


def test_nobody_yet_is_unknown_where_the_window_runs_past_the_history():
    quiet = [happen(0, "opened", "ann")]
    assert truth(cutoff=0, window=60, end=60, story=quiet) == Truth("no_response")
    assert truth(cutoff=0, window=60, end=59, story=quiet) == Truth("unknown")
    assert truth(cutoff=0, window=None, end=0, story=quiet) == Truth("no_response")
    assert truth(cutoff=5, window=60, end=20).state == "observed"


def test_first_of_one_instant_is_by_id():
    story = [
        happen(0, "opened", "ann"),
        happen(3, "review_submitted", "z", id="2"),
        happen(3, "review_comment", "a", id="3"),
    ]
    assert truth(cutoff=0, story=story).targets == ("z",)


@pytest.mark.parametrize(
    ("kinds", "cutoff", "seconds"),
    [
        (REVIEWS, 0, 60.0),
        (REVIEWS, 1, 0.0),  # at the cutoff counts here
        (REVIEWS, 2, 480.0),
        (REVIEWS, 11, 49 * 60.0),  # neither author nor bots nor nobody
        (REVIEWS, 62, None),
        (COMMENTS, 5, 360.0),
        (COMMENTS, 12, 60.0),
        (COMMENTS, 14, None),
    ],
)
def test_waiting(kinds, cutoff, seconds):
    history = history_of(*STORY)
    found = seconds_to_first(kinds, history.events, "ann", cutoff * MINUTE, Eligibility(history.bots))
    assert found == seconds


def test_waiting_by_risk():
    waits = [("low", 10.0, 1.0), ("low", 20.0, None), ("low", 60.0, None), ("low", None, 4.0), ("high", None, None)]
    found = {risk: asdict(times) for risk, times in queue_times(waits, ttfc=True).items()}
    assert found["low"] == {
        "n": 4,
        "ttfr_n": 3,
        "ttfr_seconds_mean": 30.0,
        "ttfr_seconds_median": 20.0,
        "ttfc_n": 2,
        "ttfc_seconds_mean": 2.5,
        "ttfc_seconds_median": 2.5,
    }
    assert found["high"] == dict.fromkeys(found["low"], None) | {"n": 1, "ttfr_n": 0, "ttfc_n": 0}
    assert list(found) == ["low", "medium", "high", "unknown"]
    assert found["medium"]["n"] == 0
    assert queue_times(waits, ttfc=False)["low"].ttfc_seconds_mean is None
