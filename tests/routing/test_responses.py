"""What became of requests for a review, each case by hand."""

from collections import Counter

import pytest
from routing_stories import MINUTE, happen, history_of, score_history, summary_of

from metareview.model.event import Eligibility
from metareview.routing.responses import Request, add_up, follow_requests

ASKED = happen(10, "review_requested", "ann", target="bob")


def follow(*events, window=60, end=1000, until=1000, has_gaps=False):
    span = None if window is None else window * MINUTE
    return [
        *follow_requests(
            events,
            "ann",
            until=until * MINUTE,
            window=span,
            end=end * MINUTE,
            eligible=Eligibility(frozenset()),
            has_gaps=has_gaps,
        )
    ]


@pytest.mark.parametrize(
    ("events", "state"),
    [
        ([happen(70, "review_submitted", "BOB")], "responded"),
        ([happen(11, "comment", "bob")], "responded"),
        ([happen(71, "review_comment", "bob")], "responded_late"),
        ([happen(30, "comment", "cy")], "no_response"),
        ([happen(30, "review_request_removed", "ann", target="Bob"), happen(31, "comment", "bob")], "withdrawn"),
        ([happen(71, "review_request_removed", "ann", target="bob")], "no_response"),
        ([happen(40, "review_requested", "ann", target="bob"), happen(75, "comment", "bob")], "responded_late"),
    ],
)
def test_a_request_has_one_state(events, state):
    assert follow(ASKED, *events) == [Request("bob", state)]


def test_what_came_before_the_request_is_no_response():
    assert follow(happen(5, "comment", "bob"), ASKED) == [Request("bob", "no_response")]


def test_who_responded_can_be_asked_again():
    again = happen(30, "review_requested", "ann", target="bob")
    assert follow(ASKED, happen(20, "comment", "bob"), again) == [
        Request("bob", "responded"),
        Request("bob", "no_response"),
    ]


def test_what_the_history_cannot_tell_is_unknown():
    assert follow(ASKED, end=69) == [Request("bob", "unknown")]
    assert follow(ASKED, end=70) == [Request("bob", "no_response")]
    assert follow(ASKED, has_gaps=True) == [Request("bob", "unknown")]
    assert follow(ASKED, end=11, window=None) == [Request("bob", "no_response")]
    late = [ASKED, happen(900, "review_request_removed", "ann", target="bob")]
    assert follow(*late, window=None) == [Request("bob", "withdrawn")]


def test_teams_bots_and_the_author_are_counted_apart():
    targets = ("o/core", "ann", "helper[bot]", None)
    assert follow(*(happen(10, "review_requested", "ann", target=target) for target in targets)) == [
        Request("", "teams"),
        Request("", "not_eligible"),
        Request("", "not_eligible"),
        Request("", "not_eligible"),
    ]


def test_requests_after_the_replayed_period_are_not_counted():
    assert follow(ASKED, until=9) == []


def test_rates_are_over_what_is_known():
    states = ["responded", "responded", "responded_late", "no_response", "withdrawn", "unknown"]
    requests = [*(Request("bob", state) for state in states), Request("", "teams"), Request("cy", "unknown")]
    found = add_up(Counter(requests), {})
    assert (found.counts.requests, found.counts.known, found.teams) == (7, 4, 1)
    assert (found.counts.rate, found.counts.rate_ever) == (0.5, 0.75)
    assert [(each.login, each.counts.requests, each.counts.rate) for each in found.people] == [
        ("bob", 6, 0.5),
        ("cy", 1, None),
    ]


def test_a_history_without_requests_says_nothing_of_them():
    story = [happen(0, "opened", "ann"), happen(5, "comment", "bob"), happen(500, "merged", "ann")]
    assert summary_of(history_of(*story), ["popularity"])["responses"] is None
    asked = summary_of(history_of(*story, happen(1, "review_requested", "ann", target="bob")), ["popularity"])
    assert asked["responses"] == {
        "requests": 1, "responded": 1, "responded_late": 0, "no_response": 0, "withdrawn": 0, "unknown": 0,
        "rate": 1.0, "rate_ever": 1.0, "teams": 0, "not_eligible": 0,
        "people": [
            {"login": "bob", "requests": 1, "responded": 1, "responded_late": 0, "no_response": 0, "withdrawn": 0,
             "unknown": 0, "rate": 1.0, "rate_ever": 1.0}
        ],
    }  # fmt: skip


def test_only_the_cohort_is_asked_about():
    story = [
        happen(0, "opened", "ann"),
        happen(1, "review_requested", "ann", target="bob"),
        happen(2, "opened", "ann", pr=2),
        happen(3, "review_requested", "ann", target="cy", pr=2),
        happen(900, "merged", "ann"),
    ]
    people = score_history(history_of(*story), ["popularity"], prs=[2]).summary.responses.people
    assert [each.login for each in people] == ["cy"]
