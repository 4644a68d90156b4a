import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from routing_stories import DAYS, happen, logins, pull_request

from metareview.errors import UsageError
from metareview.routing.protocol import Ranking
from metareview.routing.registry import ROUTERS, built_in_routers, make_router
from metareview.routing.routers.chrev import CHRev
from metareview.routing.routers.mentions import Mentions
from metareview.routing.routers.popularity import Popularity
from metareview.routing.routers.recency import Recency

COUNTED = ("review_submitted", "review_comment", "comment")


def ask(router, events, **more):
    for event in events:
        router.observe(event)
    return router.rank(pull_request(**more))


# -- popularity and recency ---------------------------------------------------------------------------------

moments = st.lists(
    st.tuples(
        st.integers(0, 400), st.sampled_from([*COUNTED, "merged", "edited"]), st.sampled_from(["Ann", "bo", "cy", None])
    ),
    max_size=40,
)


def by_definition(rows, now, worth):
    scores, latest = {}, {}
    for day, kind, who in rows:
        if kind in COUNTED and who and now - 180 <= day <= now:
            scores[who] = scores.get(who, 0.0) + worth(now - day)
            latest[who] = max(day, latest.get(who, 0))
    order = sorted(scores, key=lambda who: (-round(scores[who], 9), -latest[who], who.casefold()))
    return [(who, pytest.approx(scores[who], rel=1e-9)) for who in order]


@pytest.mark.parametrize(("router", "worth"), [(Popularity, lambda age: 1.0), (Recency, lambda age: 0.5 ** (age / 30))])
@settings(max_examples=150, deadline=None)
@given(rows=moments, asked=st.lists(st.integers(0, 700), min_size=1, max_size=5))
def test_activity_equals_its_definition_at_every_cutoff(router, worth, rows, asked):
    """One router, asked again and again as events come and go out of the window."""
    rows = sorted(rows, key=lambda row: row[0])
    live, fed = router(), 0
    for now in sorted(asked):
        while fed < len(rows) and rows[fed][0] <= now:
            live.observe(happen(rows[fed][0] * DAYS, rows[fed][1], rows[fed][2]))
            fed += 1
        found = live.rank(pull_request(now * DAYS)).candidates
        assert list(found) == by_definition(rows[:fed], now, worth)


@pytest.mark.parametrize("router", [Popularity, Recency])
def test_risk_counts_people_but_for_author_and_bots(router):
    story = [happen(0, "comment", who) for who in ("author", "ci[bot]", "a")] + [
        happen(0, "comment", "h", actor_type="Bot")
    ]
    assert ask(router(), [], minute=1).risk == "high"
    assert ask(router(), story[:2], minute=1).risk == "high"
    assert ask(router(), story, minute=1).risk == "medium"
    assert ask(router(), [*story, happen(0, "comment", "b"), happen(0, "comment", "c")], minute=1).risk == "low"


def test_recency_survives_a_history_of_centuries():
    router = Recency()
    for year in range(0, 240, 2):
        router.observe(happen(year * 365 * DAYS, "comment", "old"))
    router.observe(happen(239 * 365 * DAYS, "comment", "new"))
    (login, score), *rest = router.rank(pull_request((239 * 365 + 30) * DAYS)).candidates
    assert (login, score, rest) == ("new", pytest.approx(0.5), [])


# -- mentions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("cc @bob and @O/team-x, thanks @bob!", ["bob", "O/team-x"]),
        ("@ann: please look. (@cy) [@dan](x) **@eve**", ["ann", "cy", "dan", "eve"]),
        ("mail me at me@example.com or a@b", []),
        ("`@code`\n```\n@fence\n```\n<!-- @hidden --> @seen", ["seen"]),
        ("@a-b @c_d @-no @ @x.", ["a-b", "c_d", "x"]),
        ("@ANN then @ann", ["ANN"]),
        ("@o/team/more and path/@nobody", ["o/team"]),
        ("@types/node, @o-o/r, @bob/x and @o/team", ["o/team"]),
        ("", []),
    ],
)
def test_mentions_in_order_of_appearance(body, expected):
    assert logins(Mentions().rank(pull_request(body=body))) == expected


@pytest.mark.parametrize(("body", "risk"), [("@bob @o/t", "low"), ("@o/t", "medium"), ("nobody", "high")])
def test_risk_of_mentions(body, risk):
    assert Mentions().rank(pull_request(body=body)).risk == risk


# -- chrev --------------------------------------------------------------------------------------------------


def test_chrev_by_hand():
    story = [
        happen(0, "opened", "ann", files=("x", "y")),
        happen(1, "review_submitted", "bob"),
        happen(2, "review_comment", "bob"),
        happen(3, "comment", "ann"),  # the author's own words are no review
        happen(3 * DAYS, "comment", "cy"),
        happen(4 * DAYS, "opened", "ann", pr=2, files=("y",)),
        happen(5 * DAYS, "review_comment", "dan", pr=2, files=("z",)),
        happen(5 * DAYS, "review_submitted", "cy", pr=2),
    ]
    found = ask(CHRev(), story, minute=6 * DAYS, files=("x", "y", "new"))
    # x: 3 contributions on 2 days, the latest day 3. bob: 2 on 1 day, day 0. cy: 1 on 1 day, day 3.
    # y: 4 contributions on 3 days, the latest day 5. bob: 2, 1, day 0. cy: 2 on 2 days, day 5.
    bob = (2 / 3 + 1 / 2 + 1 / 3) + (2 / 4 + 1 / 3 + 1 / 5)
    cy = (1 / 3 + 1 / 2 + 1) + (2 / 4 + 2 / 3 + 1)
    assert list(found.candidates) == [("cy", pytest.approx(cy)), ("bob", pytest.approx(bob))]
    assert found.risk == "low"
    assert logins(CHRev().rank(pull_request(files=("x",)))) == []


def test_chrev_knows_nobody_for_new_files_and_says_so():
    story = [happen(0, "opened", "ann", files=("x",)), happen(1, "review_submitted", "bob")]
    assert ask(CHRev(), story, files=("new",)) == Ranking([], "high")
    assert ask(CHRev(), story, files=("x", "n1", "n2")).risk == "medium"
    assert ask(CHRev(), story, files=("x", "n1")).risk == "low"
    assert ask(CHRev(), story).risk == "high"


def test_chrev_ties_by_who_was_last():
    story = [
        happen(0, "opened", "ann", files=("x",)),
        happen(1, "comment", "zoe"),
        happen(2, "comment", "abe"),
        happen(2, "comment", "Bea"),
    ]
    assert logins(ask(CHRev(), story, files=("x",))) == ["abe", "Bea", "zoe"]


# -- the registry -------------------------------------------------------------------------------------------


class Fixed:
    def __init__(self):
        self.seen = []

    def observe(self, event):
        self.seen.append(event)

    def rank(self, pull_request):
        return Ranking([("bob", float(len(self.seen)))], "low")


def make_fixed():
    return Fixed()


def make_nothing():
    return None


def raise_something():
    raise RuntimeError("no model file")


NOT_CALLABLE = 5


def test_every_built_in_router_can_be_made_and_says_its_risk():
    assert built_in_routers() == ["mentions", "popularity", "recency", "codeowners", "revfinder", "chrev"]
    for name in built_in_routers():
        assert make_router(name).name == name
        assert all(risk in (ROUTERS.load(name).__doc__ or "") for risk in ("Risk: low", "medium", "high"))


def test_a_users_router_by_name_factory_class_or_object():
    spec = f"{__name__}:make_fixed"
    assert make_router(spec).name == spec
    assert isinstance(make_router(spec).fresh().router, Fixed)
    assert make_router(Fixed).name == "Fixed"
    mine = Fixed()
    named = make_router(mine)
    named.fresh().observe(happen(0, "opened", "a"))
    assert mine.seen == []
    assert named.fresh().router.seen == []
    mine.name = "mine"
    assert make_router(mine).name == "mine"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nobody", r"Unknown router 'nobody'. The routers are mentions, popularity"),
        ("no_such_package.module:make", "cannot be loaded.*No module named"),
        (f"{__name__}:absent", "cannot be loaded"),
        (f"{__name__}:", "is not package.module:factory"),
        (f"{__name__}:NOT_CALLABLE", "is not callable"),
        (f"{__name__}:make_nothing", "returned NoneType, which is no router"),
        (f"{__name__}:raise_something", "its factory raised RuntimeError: no model file"),
        (5, "int is no router"),
    ],
)
def test_a_router_that_cannot_be_made_says_why(spec, message):
    with pytest.raises(UsageError, match=message):
        make_router(spec)


def test_candidates_as_arrays_read_as_pairs():
    candidates = ask(
        Popularity(), [happen(0, "comment", "a"), happen(0, "comment", "b"), happen(1, "comment", "b")]
    ).candidates
    assert len(candidates) == 2
    assert candidates[0] == ("b", 2.0)
    assert candidates[-1] == ("a", 1.0)
    assert candidates[:1] == [("b", 2.0)]
    assert list(candidates) == [("b", 2.0), ("a", 1.0)]
