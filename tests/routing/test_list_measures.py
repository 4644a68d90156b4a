"""Measures of whole lists, by hand and by ir-measures."""

import random

import ir_measures
import pytest
from ir_measures import AP, RR, R, Success, nDCG
from routing_stories import happen, history_of, score_history, summary_of

from metareview.errors import UsageError
from metareview.model.measure import find_measure
from metareview.routing.list_measures import MAP, Places, list_measures, measures_of, ndcg_at, recall_at
from metareview.routing.measures import MRR, hit_at

KS = (1, 3, 5, 10)


def test_each_measure_by_hand():
    places = Places((2, 3, 7), 4)
    assert MAP.worth(places) == pytest.approx((1 / 2 + 2 / 3 + 3 / 7) / 4)
    assert recall_at(3).worth(places) == 0.5
    # 1 / log2 3 = 0.6309, 1 / log2 4 = 0.5; the ideal list of three has 1 more.
    assert ndcg_at(3).worth(places) == pytest.approx(1.1309297535714573 / 2.1309297535714573)
    assert ndcg_at(1).worth(places) == 0.0
    for measure in (MAP, ndcg_at(3), recall_at(3)):
        assert measure.worth(Places()) == measure.worth(Places((), 2)) == 0.0
    assert ndcg_at(5).worth(Places((1, 2), 2)) == 1.0  # A list of two that has both is ideal, though shorter than five.


def test_they_equal_those_of_ir_measures():
    rng = random.Random(0)
    judged, lists, ours = {}, {}, {}
    for number in range(300):
        people = [f"p{at}" for at in range(rng.randint(1, 30))]
        listed = rng.sample(people, rng.randint(1, len(people)))
        targets = set(rng.sample(people, rng.randint(1, min(8, len(people)))))
        judged[str(number)] = dict.fromkeys(targets, 1)
        lists[str(number)] = {person: float(len(listed) - at) for at, person in enumerate(listed)}
        ranks = tuple(at for at, person in enumerate(listed, 1) if person in targets)
        ours[str(number)] = Places(ranks, len(targets))
    pairs = {AP: MAP.worth, RR: lambda places: MRR.of_rank(places.first)}
    for k in KS:
        pairs |= {nDCG @ k: ndcg_at(k).worth, R @ k: recall_at(k).worth}
        pairs[Success @ k] = lambda places, k=k: hit_at(k).of_rank(places.first)
    compared = 0
    for found in ir_measures.iter_calc(pairs, judged, lists):
        assert pairs[found.measure](ours[found.query_id]) == pytest.approx(found.value, abs=1e-12)
        compared += 1
    assert compared == 300 * len(pairs)


STORY = (
    happen(0, "opened", "ann"),
    happen(5, "review_submitted", "bob"),
    happen(6, "review_submitted", "cy"),
    happen(7, "review_submitted", "cy"),
    happen(100, "opened", "ann", pr=2),
    happen(110, "review_submitted", "bob", pr=2),
    happen(120, "review_submitted", "dan", pr=2),
    happen(500, "opened", "ann", pr=3),
    happen(9000, "merged", "ann", pr=3),
)


def test_a_run_has_them_under_all_reviewers():
    result = score_history(history_of(*STORY), ["popularity"], truth="all_reviewers", k=(1, 2))
    figures = result.summary.routers["popularity"]
    names = ["hit@1", "hit@2", "mrr", "map", "ndcg@1", "ndcg@2", "recall@1", "recall@2"]
    assert list(figures.metrics) == list(figures.intervals) == names
    # 1: nobody is listed. 2: cy, bob; bob and dan are right: AP = (1 / 2) / 2. 3: nobody came, a miss.
    assert figures.metrics["map"] == pytest.approx(0.25 / 3)
    assert figures.metrics["recall@2"] == pytest.approx(0.5 / 3)
    assert figures.metrics["ndcg@2"] == pytest.approx(0.6309297535714575 / 1.6309297535714575 / 3)
    assert figures.metrics["ndcg@1"] == figures.metrics["hit@1"] == 0.0
    assert figures.observed_metrics["map"] == pytest.approx(0.25 / 2)
    low, high = figures.intervals["map"]
    assert low < figures.metrics["map"] < high
    answer = result.records[1].answers["popularity"]
    assert (answer.ranks, answer.figures["average_precision"]) == ((2,), 0.25)


def test_another_truth_is_without_them():
    summary = summary_of(history_of(*STORY), ["popularity"])
    assert "map" not in summary["routers"]["popularity"]
    assert [measure.name for measure in measures_of((1,), "first_response")] == ["hit@1", "mrr"]


def test_one_test_serves_the_two_that_are_always_equal():
    assert [each.name for each in list_measures((1, 3)) if each.complement_of] == ["ndcg@1"]
    assert ndcg_at(1).complement_of == "hit@1"


def test_names_are_found_in_any_case():
    measures = measures_of((1, 3), "all_reviewers")
    assert [find_measure(text, measures, "--sort").name for text in ("MAP", "nDCG@3", "Recall@1")] == [
        "map",
        "ndcg@3",
        "recall@1",
    ]
    with pytest.raises(UsageError, match="unknown metric 'ndcg@5'"):
        find_measure("ndcg@5", measures, "--sort")
