"""Complete linkage over a sparse graph, against its definition and against SciPy's."""

from itertools import combinations
from time import process_time

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage

from metareview.comparison.linkage import complete_linkage


def groups_of(size, edges):
    one, other = (np.array([pair[side] for pair in edges], np.int64) for side in (0, 1))
    return complete_linkage(size, one, other, np.array(list(edges.values()), np.float64)).tolist()


def by_definition(size, edges):
    """Joins the two groups with the best worst edge until no two are complete."""
    strength = {pair: (score, -pair[0], -pair[1]) for pair, score in edges.items()}
    groups = [[unit] for unit in range(size)]
    while True:
        joinable = []
        for a, b in combinations(groups, 2):
            across = [strength.get((min(i, j), max(i, j))) for i in a for j in b]
            if None not in across:
                joinable.append((min(across), a, b))
        if not joinable:
            first = {unit: min(members) for members in groups for unit in members}
            return [first[unit] for unit in range(size)]
        _, a, b = max(joinable, key=lambda each: each[0])
        groups = [each for each in groups if each not in (a, b)] + [a + b]


@st.composite
def graphs(draw):
    size = draw(st.integers(0, 9))
    pairs = list(combinations(range(size), 2))
    scores = draw(st.lists(st.sampled_from([None, 0.5, 0.6, 0.7, 0.8, 0.9]), min_size=len(pairs), max_size=len(pairs)))
    return size, {pair: score for pair, score in zip(pairs, scores, strict=True) if score is not None}


@given(graphs(), st.randoms())
def test_groups_are_by_definition_whatever_the_order_of_edges(graph, chance):
    size, edges = graph
    shuffled = dict(chance.sample(list(edges.items()), len(edges)))
    either_way = {pair if chance.random() < 0.5 else pair[::-1]: score for pair, score in shuffled.items()}
    assert groups_of(size, either_way) == by_definition(size, edges)


def test_a_chain_is_no_group():
    # 0 and 2 are no edge: the better pair is one group, however good the other is.
    assert groups_of(3, {(0, 1): 0.8, (1, 2): 0.9}) == [0, 1, 1]
    assert groups_of(3, {(0, 1): 0.8, (1, 2): 0.8}) == [0, 0, 2]
    assert groups_of(3, {(0, 1): 0.8, (1, 2): 0.9, (0, 2): 0.5}) == [0, 0, 0]


def random_graph(size, threshold, seed=0):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(size, 4)) + 6 * rng.integers(0, 5, (size, 1))
    one, other = np.triu_indices(size, 1)
    score = np.exp(-np.linalg.norm(points[one] - points[other], axis=1))
    return one, other, score, score >= threshold


def test_it_is_what_scipy_makes_of_a_full_table():
    one, other, score, edge = random_graph(300, 0.03)
    found = complete_linkage(300, one[edge], other[edge], score[edge])
    theirs = fcluster(linkage(1 - score, "complete"), 1 - 0.03, "distance")
    assert len(set(zip(found.tolist(), theirs.tolist(), strict=True))) == len(set(found.tolist()))
    assert len(set(found.tolist())) == len(set(theirs.tolist()))
    assert 20 < len(set(found.tolist())) < 280


def test_hundreds_of_units_take_a_step_per_edge():
    def seconds(size):
        one, other, score, edge = random_graph(size, 0.01)
        start = process_time()
        complete_linkage(size, one[edge], other[edge], score[edge])
        return (process_time() - start) / edge.sum()

    seconds(100)
    # A method that looks at all pairs of groups at each step would take ten times as long per edge.
    assert seconds(800) < 5 * max(seconds(200), 1e-6)
