from dataclasses import asdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from routing_stories import MINUTE, happen, history_of

from metareview.model.event import Eligibility
from metareview.model.time import SECOND
from metareview.routing.multiset import multiset
from metareview.routing.queue import COMMENTS, REVIEWS, kaplan_meier_median, queue_times, seconds_to_first, waits_of
from metareview.routing.records import Truth, TruthEvent
from metareview.routing.truth import USUAL_SOURCES, find_truth

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


def truth(
    policy="first_response",
    cutoff=5,
    window=55,
    end=10_000,
    story=STORY,
    sources=USUAL_SOURCES,
    reviews_hidden=False,
    **options,
):
    history = history_of(*story)
    return find_truth(
        history.events,
        "ann",
        round(cutoff * MINUTE),
        policy=policy,
        window=None if window is None else round(window * MINUTE),
        eligible=Eligibility(history.bots, **options),
        end=end * MINUTE,
        sources=sources,
        reviews_hidden=reviews_hidden,
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
        ({"policy": "all_reviewers", "window": None}, ("bob", "cy")),  # early was there by the cutoff
        ({"policy": "all_reviewers", "window": None, "reviews_hidden": True}, ("early", "bob", "cy")),
        ({"policy": "all_reviewers", "window": 55, "reviews_hidden": True}, ("bob", "cy")),
        ({"cutoff": 10, "sources": ("comment",)}, ("talker",)),
        ({"cutoff": 10, "sources": ("review_submitted",)}, ("cy",)),
        ({"cutoff": 10, "sources": ("review_comment",)}, ("eve",)),
        ({"policy": "first_response", "window": None, "cutoff": 61}, ()),
        ({"policy": "first_response", "window": None, "cutoff": 60}, ("bob",)),
    ],
)
def test_truth(options, targets):
    found = truth(**options)
    assert found.targets == targets
    assert found.state == ("observed" if targets else "no_response")


def test_the_events_that_made_the_truth_are_kept():
    story = [
        happen(0, "opened", "ann"),
        happen(3, "review_comment", "bob", id="c1"),
        happen(4, "review_submitted", "bob", id="r1"),
        happen(5, "review_submitted", "cy", id="r2"),
        happen(6, "review_submitted", "bob", id="r3"),
    ]
    assert truth(cutoff=0, story=story).events == (TruthEvent("c1", "review_comment", "bob", 3 * MINUTE),)
    assert truth("all_reviewers", cutoff=0, story=story).events == (
        TruthEvent("r1", "review_submitted", "bob", 4 * MINUTE),
        TruthEvent("r2", "review_submitted", "cy", 5 * MINUTE),
    )


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
    low = [(10.0, 1.0, 0), (60.0, None, 0), (None, 4.0, 70 * SECOND), (20.0, None, 0)]
    waits = {"low": waits_of(low), "high": waits_of([(None, None, 95 * SECOND)])}
    found = {risk: asdict(times) for risk, times in queue_times(waits, 100 * SECOND, ttfc=True).items()}
    assert found["low"] == {
        "n": 4,
        "ttfr_n": 3,
        "never_reviewed_n": 1,
        "ttfr_seconds_mean": 30.0,
        "ttfr_seconds_median": 20.0,
        "ttfr_seconds_km_median": 40.0,  # 3/4 after 10 s, 1/2 from 20 s until 60 s
        "ttfc_n": 2,
        "ttfc_seconds_mean": 2.5,
        "ttfc_seconds_median": 2.5,
    }
    nothing = dict.fromkeys(found["low"], None)
    assert found["high"] == nothing | {"n": 1, "ttfr_n": 0, "never_reviewed_n": 1, "ttfc_n": 0}
    assert list(found) == ["low", "medium", "high", "unknown"]
    assert found["medium"]["n"] == 0
    assert queue_times(waits, 100 * SECOND, ttfc=False)["low"].ttfc_seconds_mean is None


@pytest.mark.parametrize(
    ("waits", "median"),
    [
        ([], None),
        ([(None, 9)], None),
        ([(5, 9)], 5),
        # Of six, one is over at 6 and one censored there: 5/6. Two of the four left at 10: 5/12.
        ([(6, 99), (None, 6), (10, 99), (10, 99), (None, 11), (None, 12)], 10),
        # Half of those who were reviewed waited 2 s, but most never were: nobody knows when half of all were.
        ([(1, 50), (2, 50), (3, 50), *[(None, 50)] * 5], None),
        # Who was watched for a moment only tells next to nothing: the rest decide.
        ([(None, 0), (None, 0), (None, 0), (4, 50), (8, 50)], 6),
        # One half to the end: the first moment of it.
        ([(3, 50), (None, 50)], 3),
    ],
)
def test_kaplan_meier_by_hand(waits, median):
    assert median_wait(waits) == median


def median_wait(waits):
    """From (wait, or None for one that did not end; how long it was watched)."""
    ended = [wait for wait, _ in waits if wait is not None]
    watched = [watched for wait, watched in waits if wait is None]
    return kaplan_meier_median(multiset(ended, np.float64), multiset(watched, np.float64))


@given(st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 9)), st.integers(0, 9)), min_size=1, max_size=12))
def test_kaplan_meier_by_redistribution_to_the_right(waits):
    """Efron's other way to the same estimate: whoever is censored hands its weight on to all who come later."""
    ends = sorted((watched if wait is None else wait, wait is None) for wait, watched in waits)
    weights = [Fraction(1, len(ends))] * len(ends)
    for at, (_, censored) in enumerate(ends):
        if censored and at + 1 < len(ends):
            share = weights[at] / (len(ends) - at - 1)
            weights = [weight + share if other > at else weight for other, weight in enumerate(weights)]
            weights[at] = Fraction(0)
    over = Fraction(0)
    expected = []
    for (seconds, censored), weight in zip(ends, weights, strict=True):
        if not censored and over == Fraction(1, 2):
            expected.append(seconds)  # one half until then
            break
        over += 0 if censored else weight
        if over >= Fraction(1, 2) and not expected:
            expected.append(seconds)
        if over > Fraction(1, 2):
            break
    assert median_wait(waits) == (sum(expected) / len(expected) if expected else None)
