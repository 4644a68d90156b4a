"""Records and outcomes of made-up repositories, for tests of what they add up to."""

from collections import Counter

from hypothesis import strategies as st

from metareview.model.event import RISKS
from metareview.model.time import DAY
from metareview.routing.answers import places_worth
from metareview.routing.list_measures import SEVERAL, Places
from metareview.routing.records import Declarations, RouterAnswer, RoutingRecord, Truth
from metareview.routing.responses import Request
from metareview.routing.summary import HistoryFacts, RoutingConfig
from metareview.routing.sums import Missing, Outcomes
from metareview.routing.turnover import FilesAtRisk, RecommendedRisk

ROUTERS = ("first", "second")
PEOPLE = ("Ann", "ben", "CY", "dee", "half \ud800 a pair")
END = 300 * DAY
FACTS = HistoryFacts(end=END, active=frozenset({"ann", "eve"}), names={"ann": "Ann", "cy": "CY"}, has_requests=True)


def config_of(truth="first_response", **options):
    values = {
        "cutoff": "created_at", "truth": truth, "truth_window": "1d", "include_bots": False, "include_author": False,
        "k": (3, 1), "merged_within": "1d", "ttfc": True, "reviews_visible_at": "event", "since": None, "until": None,
        "repos": (), "prs": (), "limit": None, "routers": ROUTERS, "codeowners": None,
    }  # fmt: skip
    return RoutingConfig(**(values | options))


seconds = st.none() | st.sampled_from([0.0, 0.1, 60.0, 1e-9, 1 / 3, 86400.000000001]) | st.floats(0, 1e7)


@st.composite
def answers(draw, worth, targets, has_files, several):
    found = draw(st.integers(0, len(targets)))
    ranks = tuple(sorted(draw(st.sets(st.integers(1, 60), min_size=found, max_size=found))))
    ranks = ranks if several else ranks[:1]
    expert = draw(st.integers(0, 4)) if has_files else None
    candidates = tuple(draw(st.lists(st.sampled_from(PEOPLE), max_size=3, unique=True)))
    return RouterAnswer(
        candidates, None, len(candidates), ranks[0] if ranks else 0, draw(st.sampled_from(RISKS)),
        worth(Places(ranks, len(targets)), expert), ranks=ranks if several else (),
    )  # fmt: skip


@st.composite
def records(draw, config, weeks):
    several = config.truth == SEVERAL
    worth = places_worth(config.measures, config.ks)
    made = []
    for number in range(draw(st.integers(0, 25))):
        state = draw(st.sampled_from(["observed", "observed", "no_response", "unknown"]))
        most = (3 if several else 1) if state == "observed" else 0
        targets = tuple(draw(st.lists(st.sampled_from(PEOPLE), min_size=min(1, most), max_size=most, unique=True)))
        has_files = draw(st.booleans())
        cutoff = draw(st.integers(0, weeks - 1)) * 7 * DAY + draw(st.integers(0, DAY))
        flags = draw(st.tuples(*[st.booleans()] * 5))
        made.append(
            RoutingRecord(
                repo=draw(st.sampled_from(["o/a", "o/b"])), pr=number, author="dan", created_at=cutoff, cutoff=cutoff,
                truth=Truth(state, targets), ttfr_seconds=draw(seconds), ttfc_seconds=draw(seconds),
                declarations=Declarations(*flags[:3]), merged=flags[3], merged_within=flags[4],
                answers={name: draw(answers(worth, targets, has_files, several)) for name in config.routers},
                files=int(has_files), truth_expertise=draw(st.booleans()) if has_files and targets else None,
            )
        )  # fmt: skip
    return made


counts = st.integers(0, 9)
outcomes = st.builds(
    Outcomes,
    files_at_risk=st.none() | st.builds(FilesAtRisk, counts, counts, counts),
    recommended=st.dictionaries(st.sampled_from(ROUTERS), st.builds(RecommendedRisk, counts, counts, counts)),
    requests=st.dictionaries(
        st.builds(Request, st.sampled_from(["ann", "ben"]), st.sampled_from(["responded", "withdrawn"]))
        | st.just(Request("", "teams")),
        counts,
    ).map(Counter),
    missing=st.dictionaries(st.builds(Missing, st.sampled_from(ROUTERS), st.just("body")), counts).map(Counter),
    active=st.dictionaries(st.sampled_from(["ann", "fay"]), counts).map(Counter),
    late=counts,
)
