"""Load over one population, what routers lack, and truth that routers cannot have seen: values by hand."""

import pytest
from routing_stories import happen, history_of, score_history, summary_of

from metareview.model.event import Eligibility
from metareview.model.prediction import Prediction, Predictions
from metareview.routing.load import active_people


def always(*logins):
    """A router that goes through these people in turn."""

    class Turn:
        name = f"turn-{len(logins)}"

        def __init__(self):
            self.asked = 0

        def observe(self, event):
            pass

        def rank(self, pull_request):
            self.asked += 1
            return [(logins[(self.asked - 1) % len(logins)], 1.0)]

    return Turn()


TEAM = [f"dev{number}" for number in range(8)]


def busy(reviewers):
    """Sixteen pull requests by one author, each reviewed by the next of the reviewers after five minutes."""
    events = []
    for pr in range(1, 17):
        events.append(happen(100 * pr, "opened", "author", pr=pr, body="text"))
        events.append(happen(100 * pr + 5, "review_submitted", reviewers[pr % len(reviewers)], pr=pr))
    return history_of(*events, happen(1_700, "merged", "author", pr=1))


def test_one_person_always_is_near_one_and_all_in_turn_is_zero():
    found = summary_of(busy(TEAM), [always("dev0"), always(*TEAM)])["routers"]
    assert found["turn-1"]["load"]["gini"] == 7 / 8
    assert found["turn-1"]["load"]["top1_share"] == 1.0
    assert found["turn-8"]["load"]["gini"] == 0.0
    assert found["turn-8"]["load"]["top1_share"] == 1 / 8
    for router in found.values():
        assert router["load"]["actual"] == {"gini": 0.0, "top1_share": 1 / 8}
        assert router["load"]["population"] == 8


def test_actual_load_is_that_of_who_really_responded():
    load = summary_of(busy(["dev0"]), [always(*TEAM)])["routers"]["turn-8"]["load"]
    assert load["gini"] == 0.0
    assert load["actual"] == {"gini": 7 / 8, "top1_share": 1.0}
    assert load["people"][0] == {"login": "dev0", "recommended": 2, "actual": 16}


def test_the_population_is_one_for_all_routers_and_holds_whom_any_puts_first():
    found = summary_of(busy(["dev0", "dev1"]), [always("dev0"), always("stranger", "dev1")])["routers"]
    assert {router["load"]["population"] for router in found.values()} == {3}
    assert found["turn-1"]["load"]["gini"] == pytest.approx(2 / 3)
    assert found["turn-2"]["load"]["gini"] == pytest.approx(1 / 3)


def test_the_population_pools_repositories_and_leaves_out_who_was_not_eligible_or_active_in_time():
    history = history_of(
        happen(0, "comment", "early", pr=1),
        happen(1, "opened", "ann", pr=1),
        happen(2, "comment", "ann", pr=1),
        happen(3, "comment", "Bob", pr=1),
        happen(4, "comment", "ci[bot]", pr=1),
        happen(5, "opened", "bob", pr=7, repo="o/other"),
        happen(6, "review_submitted", "cy", pr=7, repo="o/other"),
        happen(7, "review_comment", None, pr=7, repo="o/other"),
        happen(70, "comment", "late", pr=7, repo="o/other"),
    )
    minute = 60 * 10**9
    assert active_people(history.events, minute, 65 * minute, Eligibility(history.bots)) == {"bob", "cy"}
    assert active_people(history.events, minute, None, Eligibility(history.bots)) == {"bob", "cy", "late"}
    found = score_history(history, [always("bob")]).summary.routers["turn-1"].load
    assert (found.population, found.people[0].login) == (2, "Bob")


# -- the truth --------------------------------------------------------------------------------------------------


class Echo:
    """Names whoever has reviewed the pull request already: worth nothing, unless that counts as truth."""

    def __init__(self):
        self.seen = {}

    def observe(self, event):
        if event.kind == "review_submitted":
            self.seen.setdefault(event.pr, {})[event.actor] = 1.0

    def rank(self, pull_request):
        return list(self.seen.get(pull_request.pr, {}).items())


def test_a_review_that_routers_have_seen_is_no_truth():
    events = []
    for pr in range(1, 5):
        events += [
            happen(100 * pr, "opened", "ann", pr=pr, body="text"),
            happen(100 * pr + 5, "review_submitted", f"first{pr}", pr=pr),
            happen(100 * pr + 50, "review_submitted", f"second{pr}", pr=pr),
        ]
    given = {"truth": "all_reviewers", "truth_window": "none"}
    late = score_history(history_of(*events), [Echo], cutoff="created_at+30m", **given)
    assert [record.truth.targets for record in late.records] == [(f"second{pr}",) for pr in range(1, 5)]
    assert late.summary.routers["Echo"].metrics["hit@1"] == 0.0
    published = score_history(history_of(*events), [Echo], reviews_visible_at="creation", **given)
    assert published.records[0].truth.targets == ("first1", "second1")
    assert published.summary.routers["Echo"].metrics["hit@1"] == 0.0


def test_a_comment_is_a_response_only_where_asked_for():
    events = [happen(0, "opened", "ann"), happen(1, "comment", "bob", id="9"), happen(2, "review_comment", "cy")]
    history = history_of(*events)
    assert score_history(history, ["popularity"]).records[0].truth.targets == ("cy",)
    asked = score_history(history, ["popularity"], truth_sources=["review_submitted", "comment"])
    assert asked.records[0].truth.targets == ("bob",)
    assert asked.records[0].truth.events[0].id == "9"
    assert asked.summary.config.truth_sources == ("review_submitted", "comment")


def test_where_most_have_no_truth_that_is_said_first():
    events = [happen(100 * pr, "opened", "ann", pr=pr, body="x") for pr in range(1, 4)]
    half = [happen(100, "opened", "ann", pr=1), happen(101, "review_submitted", "bob", pr=1)]
    late = [happen(290, "review_submitted", "bob", pr=1), happen(500, "merged", "ann", pr=1)]
    history = history_of(*events, *late)
    assert summary_of(history)["warnings"][0] == (
        "3 of 3 pull requests have no truth within 60m of their cutoff and count as misses; "
        "a longer --truth-window, such as 7d or none, finds more"
    )
    assert summary_of(history, truth_window="none")["warnings"][0] == (
        "2 of 3 pull requests have no truth after their cutoff and count as misses"
    )
    equal = history_of(*half, happen(200, "opened", "ann", pr=2), happen(300, "merged", "ann", pr=2))
    assert "no truth" not in "".join(summary_of(equal)["warnings"])


# -- what is not there ------------------------------------------------------------------------------------------

BARE = [
    happen(0, "opened", "ann", pr=1),
    happen(5, "review_submitted", "bob", pr=1),
    happen(100, "opened", "ann", pr=2),
    happen(105, "review_submitted", "bob", pr=2),
]
FIGURES = ("hit@1", "hit@3", "hit@5", "mrr")


def test_routers_without_what_they_need_have_no_figures_and_no_rank():
    result = score_history(history_of(*BARE))
    summary = result.summary
    lacking = {name for name, router in summary.routers.items() if router.not_applicable}
    assert lacking == {"mentions", "revfinder", "chrev"}
    for name in lacking:
        router = summary.routers[name]
        assert [router.metrics[figure] for figure in FIGURES] == [None] * 4
        assert [router.observed_metrics[figure] for figure in FIGURES] == [None] * 4
        assert [router.intervals[figure] for figure in FIGURES] == [None] * 4
        figures = result.records[1].answers[name].figures
        known = ("hit@1", "hit@3", "hit@5", "reciprocal_rank", "expertise@1", "expertise@3", "expertise@5")
        assert figures == dict.fromkeys(known)
    assert summary.routers["popularity"].metrics["mrr"] == 0.5
    assert "chrev is not applicable and has no figures: 2 of 2 pull requests have no files at their cutoff" in (
        summary.warnings
    )
    assert "mentions is not applicable and has no figures: 2 of 2 pull requests have no body at their cutoff" in (
        summary.warnings
    )


def test_a_router_that_has_what_it_needs_once_is_scored():
    events = [BARE[0]._replace(body="cc @bob", files=("a.c",)), *BARE[1:]]
    summary = score_history(history_of(*events)).summary
    assert {name for name, router in summary.routers.items() if router.not_applicable} == set()
    assert summary.routers["mentions"].metrics["mrr"] == 0.5
    assert summary.routers["revfinder"].metrics["mrr"] == 0.0


def test_a_router_of_ones_own_that_answers_without_what_it_needs_is_scored():
    class Guess:
        needs_files = needs_bodies = True

        def observe(self, event):
            pass

        def rank(self, pull_request):
            return [("bob", 1.0)]

    assert score_history(history_of(*BARE), [Guess]).summary.routers["Guess"].metrics["mrr"] == 1.0


def test_declarations_are_not_known_without_bodies_and_merges_not_without_merges():
    bare = summary_of(history_of(*BARE), merged_within="1h")
    nobody = {"merged_rate_missing": None, "merged_rate_present": None}
    nothing = {"n": 0, "missing_n": 0, "present_n": 0, "missing_rate": None, **nobody, "merged_within": nobody}
    assert set(bare["gates"]) == {"issue", "ai_disclosure", "provenance"}
    assert all(gate == nothing for gate in bare["gates"].values())
    assert "no pull request of the history has a body: what they declare is not known" in bare["warnings"]
    assert "the history has no merged event: how often pull requests were merged is not known" in bare["warnings"]

    told = [BARE[0]._replace(body="Fixes #1"), *BARE[1:]]
    gate = summary_of(history_of(*told), merged_within="1h")["gates"]["issue"]
    assert (gate["n"], gate["missing_rate"], gate["merged_within"]) == (2, 0.5, nobody)

    merged = summary_of(history_of(*told, happen(9, "merged", "ann", pr=1)), merged_within="1h")["gates"]["issue"]
    assert merged["merged_within"] == {"merged_rate_missing": 0.0, "merged_rate_present": 1.0}
    assert (merged["merged_rate_missing"], merged["merged_rate_present"]) == (0.0, 0.0)


def test_predictions_without_a_hit_are_misses_all_the_same():
    """Nobody can tell what a router that already ran had to go by."""
    wrong = Predictions("wrong", {("o/r", 1): Prediction(("x",), "low"), ("o/r", 2): Prediction((), "low")})
    assert summary_of(history_of(*BARE), [], predictions=[wrong])["routers"]["wrong"]["mrr"] == 0.0
