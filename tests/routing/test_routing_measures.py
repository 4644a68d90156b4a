import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metareview.routing.measures import MRR, first_ranks, gini, hit_at, rank_measures, top1_share


def random_rankings(seed, queries=300, people=12, depth=10, targets=3):
    rng = random.Random(seed)
    rankings = np.full((queries, depth), -1)
    truth = np.full((queries, targets), -1)
    for query in range(queries):
        chosen = rng.sample(range(people), rng.randint(0, depth))
        rankings[query, : len(chosen)] = chosen
        wanted = rng.sample(range(people), rng.randint(1, targets))
        truth[query, : len(wanted)] = wanted
    return rankings, truth


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rank_measures_equal_ir_measures(seed):
    import ir_measures

    rankings, truth = random_rankings(seed)
    ranks = first_ranks(rankings, truth)
    qrels = [ir_measures.Qrel(str(q), str(doc), 1) for q, row in enumerate(truth) for doc in row if doc >= 0]
    run = [
        ir_measures.ScoredDoc(str(q), str(doc), float(100 - at))
        for q, row in enumerate(rankings)
        for at, doc in enumerate(row)
        if doc >= 0
    ]
    asked = [ir_measures.RR, *(ir_measures.Success @ k for k in (1, 3, 5))]
    expected = ir_measures.calc_aggregate(asked, qrels, run)
    assert MRR.mean(ranks) == pytest.approx(expected[ir_measures.RR], abs=1e-12)
    for k in (1, 3, 5):
        assert hit_at(k).mean(ranks) == pytest.approx(expected[ir_measures.Success @ k], abs=1e-12)


@given(st.lists(st.permutations(range(5)), min_size=1, max_size=8), st.data())
def test_ranks_equal_a_plain_search(rows, data):
    truth = data.draw(st.lists(st.integers(-1, 7), min_size=len(rows), max_size=len(rows)))
    ranks = first_ranks(np.array(rows), np.array(truth)).tolist()
    assert ranks == [row.index(one) + 1 if one in row else 0 for row, one in zip(rows, truth, strict=True)]


def test_misses_are_zeros():
    ranks = np.array([1, 4, 0, 2])
    assert [hit_at(k).mean(ranks) for k in (1, 2, 4)] == [0.25, 0.5, 0.75]
    assert MRR.worth(ranks).tolist() == [1.0, 0.25, 0.0, 0.5]
    assert MRR.mean(ranks) == 1.75 / 4
    assert hit_at(1).mean(ranks[:0]) is None
    assert MRR.mean(ranks[:0]) is None


def test_a_measure_is_written_as_it_is_read():
    for text in ("hit@5", "Hit@5", "HIT@5"):
        assert (str(hit_at(5)), hit_at(5).is_named(text), hit_at(5).of_rank(5)) == ("hit@5", True, 1.0)
    assert (str(MRR), MRR.label, MRR.of_rank(4), MRR.of_rank(0)) == ("mrr", "MRR", 0.25, 0.0)
    assert MRR.is_named("MRR")
    assert [hit_at(3).of_rank(rank) for rank in (0, 1, 3, 4)] == [0.0, 1.0, 1.0, 0.0]
    assert not any(hit_at(5).is_named(text) for text in ("hit@0", "hit@", "hit@-1", "hits@5", "mrr", ""))


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_means_of_summed_columns_are_the_figures(ranks):
    ranks = np.array(ranks)
    measures = rank_measures([1, 3, 5])
    assert list(map(str, measures)) == ["hit@1", "hit@3", "hit@5", "mrr"]
    sums = np.column_stack([np.ones(len(ranks)), *(measure.worth(ranks) for measure in measures)]).sum(axis=0)
    for measure in measures:
        assert measure.value(sums) == pytest.approx(measure.mean(ranks), abs=1e-12)
    assert MRR.in_column(2).value(np.array([4.0, 9.0, 1.0])) == 0.25


def test_padding_never_matches_and_shapes_are_checked():
    assert first_ranks(np.array([[-1, 3]]), np.array([-1])).tolist() == [0]
    with pytest.raises(ValueError, match="n x m"):
        first_ranks(np.zeros((2, 3), dtype=int), np.zeros(3, dtype=int))


@given(st.lists(st.integers(0, 50), min_size=1, max_size=12))
def test_gini_is_the_mean_difference_of_pairs_over_twice_the_mean(loads):
    total = sum(loads)
    if not total:
        assert gini(loads) is None
        return
    differences = sum(abs(a - b) for a, b in product(loads, loads)) / len(loads) ** 2
    assert gini(loads) == pytest.approx(differences / (2 * total / len(loads)), abs=1e-12)


def test_load_by_hand():
    assert gini([5, 5, 5]) == 0.0
    assert gini([0, 0, 0, 4]) == 0.75
    assert gini([]) is None
    assert top1_share([1, 3, 0]) == 0.75
    assert top1_share([]) is None
