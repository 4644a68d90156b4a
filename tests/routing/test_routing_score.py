import json
import math

import pytest
from routing_stories import happen, history_of, score_history, summary_of

from metareview.errors import InputError, UsageError
from metareview.formats.predictions import read_predictions
from metareview.model.prediction import Prediction
from metareview.routing.protocol import Ranking, Router
from metareview.runs.routing_json import record_from_json, record_to_json, summary_from_json, summary_to_json

STORY = [
    happen(0, "opened", "ann", pr=1, body="Fixes #1, cc @Bob", files=("src/a.c",)),
    happen(5, "review_submitted", "bob", pr=1, state="APPROVED"),
    happen(6, "comment", "helper", pr=1, actor_type="Bot"),
    happen(7, "merged", "ann", pr=1),
    happen(100, "opened", "bob", pr=2, body="cc @o/team @cy", files=("src/b.c",)),
    happen(130, "review_comment", "cy", pr=2),
    happen(140, "review_submitted", "cy", pr=2),
    happen(200, "opened", "dan", pr=3),
    happen(290, "review_submitted", "ann", pr=3),
    happen(300, "opened", "ann", pr=4, body="@nobody", draft=True),
    happen(310, "comment", "cy", pr=4),
]


def told(summary):
    """Its warnings but for the last, that these few pull requests are all of one week or two."""
    assert "resemble each other" in summary.warnings[-1]
    return list(summary.warnings[:-1])


def lists(result, router):
    return {record.pr: record.answers[router].candidates for record in result.records}


def ranks(result, router):
    return {record.pr: record.answers[router].rank for record in result.records}


def test_a_small_history_by_hand():
    result = score_history(history_of(*STORY), ["mentions", "popularity"], ttfc=True, merged_within="10m")
    summary = summary_to_json(result.summary)
    assert summary["schema"] == "metareview.routing/1"
    assert summary["prs"] == 4
    assert summary["truth"] == {"observed": 2, "no_response": 1, "unknown": 1}
    assert [record.truth.targets for record in result.records] == [("bob",), ("cy",), (), ()]

    assert lists(result, "mentions") == {1: ("bob",), 2: ("o/team", "cy"), 3: (), 4: ("nobody",)}
    assert ranks(result, "mentions") == {1: 1, 2: 2, 3: 0, 4: 0}
    mentions = summary["routers"]["mentions"]
    assert (mentions["hit@1"], mentions["hit@3"], mentions["mrr"]) == (0.25, 0.5, 1.5 / 4)
    assert mentions["observed_only"] == {"prs": 2, "hit@1": 0.5, "hit@3": 1.0, "hit@5": 1.0, "mrr": 0.75}
    # bob, cy and ann reviewed; o/team and nobody are only ever recommended: five people, of whom mentions puts bob,
    # o/team and nobody first, once each. Really bob and cy responded, once each.
    assert mentions["load"] == {
        "gini": pytest.approx(6 / 15),
        "top1_share": pytest.approx(1 / 3),
        "actual": {"gini": pytest.approx(6 / 10), "top1_share": 0.5},
        "population": 5,
        "people": [
            {"login": "bob", "recommended": 1, "actual": 1},
            {"login": "nobody", "recommended": 1, "actual": 0},
            {"login": "o/team", "recommended": 1, "actual": 0},
            {"login": "cy", "recommended": 0, "actual": 1},
        ],
    }
    low = mentions["queue"]["low"]
    assert (low["n"], low["ttfr_n"], low["ttfr_seconds_mean"], low["ttfr_seconds_median"]) == (3, 2, 1350.0, 1350.0)
    assert low["ttfc_seconds_mean"] == (30 * 60 + 10 * 60) / 2
    assert mentions["queue"]["high"]["n"] == 1

    # At 1 nobody was active; at 2 only bob (the author) and a bot; at 3 cy twice; at 4 ann is the author.
    assert lists(result, "popularity") == {1: (), 2: (), 3: ("cy", "bob"), 4: ("cy", "bob")}
    assert summary["routers"]["popularity"]["mrr"] == 0.0

    assert summary["gates"]["issue"] == {
        "n": 4,
        "missing_n": 3,
        "present_n": 1,
        "missing_rate": 0.75,
        "merged_rate_missing": 0.0,
        "merged_rate_present": 0.0,
        "merged_within": {"merged_rate_missing": 0.0, "merged_rate_present": 1.0},
    }
    assert summary["gates"]["provenance"]["merged_rate_present"] is None
    json.dumps(summary, allow_nan=False)


def test_a_record_is_one_json_object_with_all_that_the_figures_rest_on():
    result = score_history(history_of(*STORY), ["mentions"])
    assert json.loads(json.dumps(record_to_json(result.records[1]))) == {
        "repo": "o/r",
        "pr": 2,
        "author": "bob",
        "created_at": "1970-01-01T01:40:00Z",
        "cutoff": "1970-01-01T01:40:00Z",
        "truth": {
            "state": "observed",
            "targets": ["cy"],
            "events": [{"id": "", "kind": "review_comment", "actor": "cy", "at": "1970-01-01T02:10:00Z"}],
        },
        "ttfr_seconds": 2400.0,
        "ttfc_seconds": None,
        "gates": {"issue": False, "ai_disclosure": False, "provenance": False},
        "merged": False,
        "merged_within": None,
        "routers": {
            "mentions": {
                "candidates": ["o/team", "cy"],
                "scores": [1.0, 0.5],
                "listed": 2,
                "rank": 2,
                "risk": "low",
                "hit@1": 0,
                "hit@3": 1,
                "hit@5": 1,
                "reciprocal_rank": 0.5,
                "expertise@1": 0,
                "expertise@3": 0,
                "expertise@5": 0,
            }
        },
        "files": 1,
        "truth_expertise": False,
    }


def test_what_was_written_is_read_back_equal():
    options = {"ttfc": True, "merged_within": "10m", "k": (10, 1), "repos": ["o/r"]}
    result = score_history(history_of(*STORY), ["mentions", "popularity"], **options)
    for record in result.records:
        assert record_from_json(json.loads(json.dumps(record_to_json(record)))) == record
    document = json.loads(json.dumps(summary_to_json(result.summary)))
    assert summary_from_json(document) == result.summary
    assert document["config"]["k"] == [10, 1]
    assert list(document["routers"]["mentions"])[:3] == ["hit@1", "hit@10", "mrr"]
    del document["gates"]["issue"]["missing_n"]
    with pytest.raises(KeyError):
        summary_from_json(document)
    with pytest.raises(ValueError, match=r"schema .metareview"):
        summary_from_json({"schema": "metareview.comments/1"})


def test_intervals_hold_the_figures_and_have_no_random_part():
    once = summary_of(history_of(*STORY), ["mentions"])["routers"]["mentions"]
    again = summary_of(history_of(*STORY), ["mentions"])["routers"]["mentions"]
    assert once["intervals"] == again["intervals"]
    assert set(once["intervals"]) == {"hit@1", "hit@3", "hit@5", "mrr"}
    for name, (low, high) in once["intervals"].items():
        assert 0 <= low <= once[name] <= high <= 1


def test_author_and_bots_are_taken_out_unless_included():
    given = {"routers": ["popularity"], "cutoff": "created_at+50m"}
    assert lists(score_history(history_of(*STORY), **given), "popularity")[1] == ("bob",)
    both = score_history(history_of(*STORY), include_bots=True, include_author=True, **given)
    assert lists(both, "popularity")[1] == ("helper", "bob")
    assert lists(both, "popularity")[2][0] == "cy"
    assert set(lists(both, "popularity")[2]) == {"cy", "bob", "helper"}


def test_the_cohort_chooses_who_is_scored_but_all_are_observed():
    history = history_of(*STORY, happen(150, "opened", "x", pr=1, repo="o/other"))

    def scored(**cohort):
        return [(record.repo, record.pr) for record in score_history(history, ["popularity"], **cohort).records]

    assert scored(repos=["o/other"]) == [("o/other", 1)]
    assert scored(prs=[1]) == [("o/r", 1), ("o/other", 1)]
    assert scored(limit=3) == [("o/r", 1), ("o/r", 2), ("o/other", 1)]
    assert scored(since="1970-01-01T01:40:00Z", until="1970-01-01T05:00:00Z") == [
        ("o/r", 2),
        ("o/r", 3),
        ("o/other", 1),
    ]
    only = score_history(history, ["popularity"], prs=[3])
    assert lists(only, "popularity") == {3: ("cy", "bob")}
    with pytest.raises(UsageError, match="no pull request is in the cohort"):
        scored(repos=["no/such"])


def test_repositories_do_not_learn_from_each_other():
    history = history_of(
        happen(0, "opened", "a"),
        happen(1, "comment", "here"),
        happen(2, "comment", "there", repo="o/other", pr=5),
        happen(3, "opened", "a", pr=2),
        happen(3, "opened", "a", pr=6, repo="o/other"),
    )
    found = score_history(history, ["popularity"])
    assert {(record.repo, record.pr): record.answers["popularity"].candidates for record in found.records} == {
        ("o/r", 1): (),
        ("o/r", 2): ("here",),
        ("o/other", 6): ("there",),
    }
    assert found.summary.warnings[1] == "1 pull request not scored: no opened event"


def test_drafts_that_never_became_ready_are_left_out_and_counted():
    found = score_history(history_of(*STORY), ["mentions"], cutoff="ready_for_review")
    assert [record.pr for record in found.records] == [1, 2, 3]
    assert told(found.summary) == ["1 pull request left out: drafts that never became ready for review"]


def test_what_a_reader_should_know_is_warned_of_with_its_number(tmp_path):
    (tmp_path / "CODEOWNERS").write_text("* @ann")
    history = history_of(*STORY)
    plain = summary_of(history)
    assert plain["warnings"][:-1] == [
        "codeowners left out: it needs --codeowners FILE",
        "2 of 4 pull requests have no files at their cutoff, which revfinder, chrev need",
    ]
    assert list(plain["routers"]) == ["mentions", "popularity", "recency", "revfinder", "chrev"]
    owned = summary_of(history, ["codeowners"], codeowners=tmp_path / "CODEOWNERS", merged_within="3h")
    assert owned["warnings"][:-1] == [
        "2 of 4 pull requests have no files at their cutoff, which codeowners needs",
        "2 of 4 pull requests: --merged-within runs past the end of the history; a later merge is not seen",
    ]
    by_commit = summary_of(history, ["codeowners"], codeowners=tmp_path)
    assert by_commit["routers"]["codeowners"]["mrr"] is None
    assert by_commit["warnings"][0] == (
        "codeowners is not applicable and has no figures: "
        "4 of 4 pull requests have no CODEOWNERS file for their base commit"
    )
    leaky = summary_of(history, ["popularity"], reviews_visible_at="creation")
    assert leaky["warnings"][:-1] == [
        "reviews were shown to routers from their pull request's opening on: figures are not leak-free"
    ]
    with pytest.raises(UsageError, match="there is no router to score"):
        score_history(history, ["codeowners"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"truth_window": "0m"}, "--truth-window '0m'"),
        ({"truth_window": "-1h"}, "--truth-window '-1h'"),
        ({"merged_within": "soon"}, "--merged-within 'soon'"),
        ({"cutoff": "later"}, "--cutoff 'later'"),
        ({"truth": "anyone"}, "--truth 'anyone' is not known. Give one of first_response"),
        ({"reviews_visible_at": "never"}, "--reviews-visible-at"),
        ({"reviews_visible_at": "creation", "cutoff": "created_at+1h"}, "goes with --cutoff created_at only"),
        ({"k": ()}, "--k"),
        ({"k": (0, 1)}, "--k 0,1"),
        ({"limit": 0}, "--limit 0"),
        ({"since": "today"}, "--from 'today' is not a time"),
        ({"until": "today"}, "--to 'today' is not a time"),
        ({"routers": ["popularity", "popularity"]}, "two routers are named popularity"),
        ({"routers": []}, "there is no router"),
    ],
)
def test_a_wrong_option_is_named(options, message):
    with pytest.raises(UsageError, match=message):
        score_history(history_of(*STORY), **{"routers": ["mentions"], **options})


# -- a user's router ----------------------------------------------------------------------------------------


def answering(ranking):
    class Mine:
        def observe(self, event):
            pass

        def rank(self, pull_request):
            return ranking

    return Mine


@pytest.mark.parametrize(
    "ranking",
    [
        Ranking([("BOB", 2.0), ("cy", 1)], "low"),
        ([("BOB", 2.0), ("cy", 1)], "low"),
        [("BOB", 2.0), ("cy", 1)],
        (("BOB", 2.0), ("cy", 1)),
        [["BOB", 2.0], ["cy", 2]],
    ],
)
def test_a_router_may_answer_plainly(ranking):
    found = score_history(history_of(*STORY), [answering(ranking)])
    assert lists(found, "Mine") == {1: ("bob", "cy"), 2: ("cy",), 3: ("bob", "cy"), 4: ("bob", "cy")}
    assert ranks(found, "Mine") == {1: 1, 2: 1, 3: 0, 4: 0}


@pytest.mark.parametrize(
    ("ranking", "what"),
    [
        (None, "rank returned NoneType"),
        ("bob", "rank returned str"),
        (5, "rank returned int"),
        (["bob"], "candidate 'bob' is not"),
        ([("bob",)], ".* is not \\(login, score\\)"),
        ([("bob", "high")], ".* is not \\(login, score\\)"),
        ([("", 1.0)], ".* is not \\(login, score\\)"),
        ([(7, 1.0)], ".* is not \\(login, score\\)"),
        ([("bob", math.nan)], "the score of bob is nan"),
        ([("bob", math.inf)], "the score of bob is inf"),
        ([("bob", 2.0), ("Bob", 1.0)], "Bob is listed twice"),
        ([("bob", 1.0), ("cy", 2.0)], "cy comes after bob but has the higher score"),
        (Ranking([("bob", 1.0)], "extreme"), "risk 'extreme' is none of low, medium, high, unknown"),
    ],
)
def test_nonsense_names_router_and_pull_request(ranking, what):
    with pytest.raises(UsageError, match=f"router Mine, o/r#1: {what}"):
        score_history(history_of(*STORY), [answering(ranking)])


def test_a_router_that_raises_is_named_with_the_pull_request():
    class Broken:
        def observe(self, event):
            pass

        def rank(self, pull_request):
            if pull_request.pr == 2:
                raise KeyError("weights")
            return []

    with pytest.raises(UsageError, match=r"router Broken raised KeyError: 'weights' at o/r#2"):
        score_history(history_of(*STORY), [Broken])


def test_a_router_that_keeps_its_list_cannot_change_it_afterwards():
    class Late:
        given = None

        def observe(self, event):
            if self.given is not None and event.kind == "review_submitted":
                self.given[:] = [(event.actor, 1.0)]

        def rank(self, pull_request):
            self.given = [("nobody", 1.0)]
            return self.given

    assert set(lists(score_history(history_of(*STORY), [Late]), "Late").values()) == {("nobody",)}


class Needy(Router):
    """Says what it lacked, as routers of our own do."""

    needs_files = True

    def __init__(self):
        self.asked = 0

    @property
    def missing(self):
        return {"label": self.asked}

    def observe(self, event):
        pass

    def rank(self, pull_request):
        self.asked += 1
        return Ranking([])


def test_what_a_users_router_lacks_is_warned_of():
    class Modest(Needy):
        @property
        def missing(self):
            return {"label": self.asked - 1}

    assert told(score_history(history_of(*STORY), [Needy, Modest]).summary) == [
        "Needy is not applicable and has no figures: 4 of 4 pull requests have no label",
        "3 of 4 pull requests have no label, which Modest needs",
        "2 of 4 pull requests have no files at their cutoff, which Modest needs",
    ]


# -- predictions --------------------------------------------------------------------------------------------

ROW = {"repo": "o/r", "pr": 1, "router": "model", "candidates": ["ann", "BOB"], "risk": "low"}


def test_predictions_are_scored_as_given(write_lines):
    rows = [
        ROW,
        ROW | {"pr": "2", "candidates": ["x", "y", "cy"], "risk": None},
        ROW | {"pr": 77},
        ROW | {"router": "other"},
    ]
    model, other = read_predictions(write_lines(*rows, name="p.jsonl"))
    assert model.answers["o/r", 2] == Prediction(("x", "y", "cy"), "unknown")
    found = score_history(history_of(*STORY), ["mentions"], predictions=[model, other])
    assert ranks(found, "model") == {1: 2, 2: 3, 3: 0, 4: 0}
    summary = found.summary.routers["model"]
    assert summary.metrics["mrr"] == (1 / 2 + 1 / 3) / 4
    assert {risk: bucket.n for risk, bucket in summary.queue.items()} == {
        "low": 1,
        "medium": 0,
        "high": 0,
        "unknown": 3,
    }
    assert summary.load.top1_share == 0.5
    assert told(found.summary) == [
        "model: 1 prediction left out: no such pull request in the history",
        "model: 2 of 4 pull requests have no prediction and count as misses",
        "other: 3 of 4 pull requests have no prediction and count as misses",
    ]


def test_a_file_names_its_router_where_the_lines_do_not(write_lines):
    row = {key: value for key, value in ROW.items() if key != "router"}
    (only,) = read_predictions(write_lines(row, name="mine.jsonl"))
    assert only.router == "mine"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"repo": None}, "repo must be a string, found null"),
        ({"pr": "x"}, "pr must be a whole number"),
        ({"router": 5}, "router must be a string"),
        ({"candidates": None}, "candidates must be a list of logins"),
        ({"candidates": ["a", 1]}, "candidates must be a list of logins"),
        ({"candidates": ["a", "b", "A"]}, "candidate A is listed twice"),
        ({"risk": "huge"}, "risk 'huge' is not known"),
        ({"pr": 1}, r"router model answers for o/r#1 a second time \(first on line 1\)"),
    ],
)
def test_a_bad_prediction_names_its_line(write_lines, change, problem):
    with pytest.raises(InputError, match=rf"p\.jsonl:2: {problem}"):
        read_predictions(write_lines(ROW, ROW | {"pr": 9} | change, name="p.jsonl"))


def test_files_without_predictions(tmp_path, write_lines):
    with pytest.raises(InputError, match="no predictions"):
        read_predictions(write_lines("", name="p.jsonl"))
    with pytest.raises(InputError, match="no such file"):
        read_predictions(tmp_path / "absent")


def test_a_prediction_cannot_take_a_routers_name(write_lines):
    predictions = read_predictions(write_lines(ROW | {"router": "mentions"}, name="p.jsonl"))
    with pytest.raises(UsageError, match="two routers are named mentions"):
        score_history(history_of(*STORY), ["mentions"], predictions=predictions)


def test_long_lists_are_kept_in_part_and_ranked_in_full():
    crowd = [happen(minute, "comment", f"p{minute:03d}", pr=1) for minute in range(1, 61)]
    history = history_of(
        happen(0, "opened", "a"),
        *crowd,
        happen(100, "opened", "a", pr=2),
        happen(101, "review_submitted", "p003", pr=2),
    )
    answer = score_history(history, ["popularity"]).records[1].answers["popularity"]
    assert (len(answer.candidates), answer.listed, answer.rank) == (20, 60, 58)
    deep = score_history(history, ["popularity"], k=(1, 30)).records[1].answers["popularity"]
    assert len(deep.candidates) == 30
