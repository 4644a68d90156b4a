import contextlib
from typing import ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from routing_stories import MINUTE, happen, history_of, score_history

from metareview.model.event import Event, PullRequest
from metareview.model.time import Cutoff, parse_cutoff
from metareview.routing.protocol import Ranking
from metareview.routing.replay import Visible, by_pull_request, cutoffs, replay, take_snapshots, visible_events


class Witness:
    """Remembers what it was told, in order."""

    learns = True

    def __init__(self):
        self.told = []

    def observe(self, event):
        self.told.append(event)

    def rank(self, pull_request):
        self.told.append(pull_request)
        return Ranking([])


def tell(history, cutoff="created_at", reviews_visible_at="event"):
    """What one router is told of a history of one repository."""
    events = list(history.events)
    visible = visible_events(events, reviews_visible_at)
    witness = Witness()
    at = cutoffs(events, parse_cutoff(cutoff))
    list(replay(witness, visible, take_snapshots(by_pull_request(events, at), at)))
    return witness.told


def shape(told):
    return [("rank", item.pr) if isinstance(item, PullRequest) else (item.kind, item.pr) for item in told]


def test_everything_up_to_the_cutoff_is_observed_then_the_router_ranks():
    told = tell(
        history_of(
            happen(0, "opened", "ann", pr=1),
            happen(5, "comment", "bob", pr=1),
            happen(5, "opened", "cy", pr=2),
            happen(5, "opened", "dan", pr=3),
            happen(6, "comment", "bob", pr=3),
        )
    )
    assert shape(told) == [
        ("opened", 1),
        ("rank", 1),
        ("opened", 2),
        ("opened", 3),
        ("comment", 1),
        ("rank", 2),
        ("rank", 3),
    ]


def test_a_pull_request_is_seen_as_it_was_at_the_cutoff():
    history = history_of(
        happen(0, "opened", "ann", title="old", body="one", files=("a",), draft=True, base_sha="1"),
        happen(1, "review_submitted", "bob", body="a review's own words", files=("z",)),
        happen(2, "edited", "ann", body="two"),
        happen(3, "pushed", "ann", files=("a", "b"), base_sha="2"),
        happen(4, "ready_for_review", "ann"),
        happen(5, "edited", "ann", title="new", body=""),
        happen(6, "converted_to_draft", "ann"),
    )

    def seen(cutoff):
        (found,) = [item for item in tell(history, cutoff) if isinstance(item, PullRequest)]
        return found.title, found.body, found.files, found.draft, found.base_sha, found.cutoff // MINUTE

    assert seen("created_at") == ("old", "one", ("a",), True, "1", 0)
    assert seen("created_at+2m") == ("old", "two", ("a",), True, "1", 2)
    assert seen("ready_for_review") == ("old", "two", ("a", "b"), False, "2", 4)
    assert seen("created_at+5m") == ("new", "", ("a", "b"), False, "2", 5)
    assert seen("created_at+1h") == ("new", "", ("a", "b"), True, "2", 60)


def test_cutoffs_of_drafts():
    events = history_of(
        happen(0, "opened", "a", pr=1),
        happen(0, "opened", "a", pr=2, draft=True),
        happen(9, "ready_for_review", "a", pr=2),
        happen(20, "ready_for_review", "a", pr=2),
        happen(0, "opened", "a", pr=3, draft=True),
        happen(0, "opened", "a", pr=4),
        happen(3, "converted_to_draft", "a", pr=4),
        happen(0, "opened", "a", pr=5),
        happen(3, "converted_to_draft", "a", pr=5),
        happen(4, "ready_for_review", "a", pr=5),
        happen(7, "comment", "a", pr=6),
    ).events
    ready = cutoffs(events, Cutoff("ready_for_review"))
    assert {pr: at // MINUTE for pr, at in ready.items()} == {1: 0, 2: 9, 5: 4}
    delayed = cutoffs(events, Cutoff("created_at", 2 * MINUTE))
    assert delayed == dict.fromkeys((1, 2, 3, 4, 5), 2 * MINUTE)


def test_reviews_known_from_creation_are_never_known_at_their_own_cutoff():
    told = tell(
        history_of(
            happen(0, "opened", "ann", pr=1),
            happen(0, "opened", "ann", pr=2),
            happen(1, "opened", "ann", pr=3),
            happen(50, "review_submitted", "bob", pr=2),
            happen(60, "review_submitted", "cy", pr=1),
            happen(70, "comment", "dan", pr=1),
            happen(99, "opened", "ann", pr=4),
        ),
        reviews_visible_at="creation",
    )
    assert shape(told) == [
        ("opened", 1),
        ("opened", 2),
        ("rank", 1),
        ("rank", 2),
        ("review_submitted", 2),
        ("review_submitted", 1),
        ("opened", 3),
        ("rank", 3),
        ("comment", 1),
        ("opened", 4),
        ("rank", 4),
    ]
    assert [item.at // MINUTE for item in told if isinstance(item, Event) and item.kind == "review_submitted"] == [0, 0]


class Peeker:
    """Keeps all that it was handed, tries to change it, and looks at it again whenever it is asked."""

    kept: ClassVar = []
    later: ClassVar = []

    def observe(self, event):
        self._keep(event)

    def rank(self, pull_request):
        self._keep(pull_request)
        for thing, before in self.kept:
            if tuple(thing) != before:
                self.later.append(thing)
        for thing, _ in self.kept:
            at = thing.at if isinstance(thing, Event) else thing.cutoff
            if at > pull_request.cutoff:
                self.later.append(thing)
        names = sorted({thing.actor for thing, _ in self.kept if isinstance(thing, Event) and thing.actor})
        return [(name, 1.0) for name in names]

    def _keep(self, thing):
        self.kept.append((thing, tuple(thing)))
        for name in ("body", "files", "actor", "at", "anything"):
            with contextlib.suppress(AttributeError, TypeError):
                setattr(thing, name, "changed")
            with contextlib.suppress(AttributeError, TypeError):
                object.__setattr__(thing, name, "changed")
        with contextlib.suppress(AttributeError, TypeError):
            thing.files.append("changed")


def test_a_router_that_peeks_gains_nothing():
    Peeker.kept, Peeker.later = [], []
    history = history_of(
        happen(0, "opened", "ann", files=("a",), body="first"),
        happen(1, "opened", "ann", pr=2),
        happen(10, "edited", "ann", body="secret: bob will review"),
        happen(11, "pushed", "ann", files=("a", "secret")),
        happen(12, "review_submitted", "bob"),
        happen(13, "opened", "ann", pr=3),
    )
    result = score_history(history, [Peeker, "popularity"])
    assert Peeker.later == []
    assert len(Peeker.kept) == 6 + 3
    lists = {record.pr: record.answers["Peeker"].candidates for record in result.records}
    assert lists == {1: (), 2: (), 3: ("bob",)}
    alone = score_history(history, ["popularity"])
    assert [record.answers["popularity"] for record in result.records] == [
        record.answers["popularity"] for record in alone.records
    ]


@pytest.mark.parametrize("cutoff", ["created_at", "created_at+3m", "ready_for_review"])
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 12),
            st.sampled_from(["opened", "comment", "review_submitted", "ready_for_review", "edited"]),
            st.sampled_from("abc"),
            st.integers(1, 4),
        ),
        min_size=1,
        max_size=25,
    )
)
def test_what_happens_later_changes_no_answer(cutoff, rows):
    """Cut the history off right after any cutoff: the router is told the same up to there."""
    events = [happen(0, "opened", "x", pr=9)] + [happen(at, kind, who, pr=pr) for at, kind, who, pr in rows]
    whole = history_of(*events)
    told = tell(whole, cutoff)
    for position, item in enumerate(told):
        if isinstance(item, PullRequest):
            before = [event for event in whole.events if event.at <= item.cutoff]
            again = tell(history_of(*before), cutoff)
            assert item in again
            for story in (told[:position], again[: again.index(item)]):
                assert [event for event in story if isinstance(event, Event)] == before


def test_without_a_snapshot_nothing_is_observed():
    witness = Witness()
    assert list(replay(witness, Visible([happen(0, "opened", "a")], [0]), [])) == []
    assert witness.told == []


def test_a_router_that_learns_nothing_is_shown_nothing():
    witness = Witness()
    witness.learns = False
    events = [happen(0, "opened", "a")]
    at = {events[0].pr: events[0].at}
    pulls = take_snapshots(by_pull_request(events, at), at)
    assert list(replay(witness, visible_events(events, "event"), pulls)) == [Ranking([])]
    assert witness.told == pulls
