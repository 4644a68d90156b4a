"""The alignment against brute force, and the published greedy procedure."""

import random
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.comments.align import Graph, _first_perfect_matching, align, align_greedy
from metareview.comments.small_matching import parts_of
from metareview.model.comment import Comment


def graph(edges):
    """From {(generated, reference): score}."""
    pairs = sorted(edges)
    return Graph(
        np.array([g for g, _ in pairs], np.int64),
        np.array([r for _, r in pairs], np.int64),
        np.array([edges[p] for p in pairs], float),
    )


def plain(count, stem):
    return [Comment(note=f"{stem}{i:03}") for i in range(count)]


def all_matchings(edges):
    """Every set of edges in which nobody occurs twice: the first edge is left out, or is in and excludes others."""
    if not edges:
        yield ()
        return
    (g, r), *rest = edges
    yield from all_matchings(rest)
    for matching in all_matchings([(other, another) for other, another in rest if other != g and another != r]):
        yield ((g, r), *matching)


def best_by_brute_force(edges, generated, reference):
    """Most edges, then the highest sum of scores (to 1e-9), then the first by content of reference, then comment."""

    def order(matching):
        return sorted((reference[r].content_key, r, generated[g].content_key, g) for g, r in matching)

    def rank(matching):
        return (-len(matching), -sum(round(edges[p] * 1e9) for p in matching), order(matching))

    return set(min(all_matchings(list(edges)), key=rank))


scores = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]) | st.floats(0, 1).map(lambda x: round(x, 6))
small_edges = st.dictionaries(st.tuples(st.integers(0, 3), st.integers(0, 3)), scores, max_size=9)
uniform_edges = st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 4)), st.just(1.0), max_size=10)
places = st.lists(st.sampled_from(["a", "b", "c"]), min_size=5, max_size=5)


@settings(max_examples=400, deadline=None)
@given(small_edges | uniform_edges, places, places)
def test_optimal_equals_brute_force(edges, generated_notes, reference_notes):
    generated = [Comment(note=note) for note in generated_notes]
    reference = [Comment(note=note) for note in reference_notes]
    found = align("optimal", graph(edges), generated, reference)
    assert set(found.pairs) == best_by_brute_force(edges, generated, reference)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 5), st.integers(1, 5), st.sampled_from([1, 2, 3]), st.randoms(), places, places)
def test_optimal_equals_brute_force_where_everybody_may_match_everybody(
    n_generated, n_reference, values, rng, generated_notes, reference_notes
):
    edges = {(g, r): rng.randrange(1, values + 1) / 4 for g in range(n_generated) for r in range(n_reference)}
    generated = [Comment(note=note) for note in generated_notes]
    reference = [Comment(note=note) for note in reference_notes]
    found = align("optimal", graph(edges), generated, reference)
    assert set(found.pairs) == best_by_brute_force(edges, generated, reference)


def first_by_solving_again(quarters):
    """{(comment, reference): score in quarters}: each reference in turn takes the first comment with which the best
    total can still be reached, which is worked out by solving the rest."""
    from scipy.optimize import linear_sum_assignment

    size = 1 + max((max(pair) for pair in quarters), default=0)
    worth = np.zeros((size, size), int)  # a row is a reference
    for (g, r), score in quarters.items():
        worth[r, g] = 1000 + score

    def best(weights):
        return weights[linear_sum_assignment(weights, maximize=True)].sum()

    pairs = set()
    for r in range(size):
        total = best(worth)
        for g in np.flatnonzero(worth[r]).tolist():
            rest = worth.copy()
            rest[r], rest[:, g] = 0, 0
            if best(rest) + worth[r, g] == total:
                pairs.add((g, r))
                worth = rest
                break
        worth[r] = 0
    return pairs


@settings(max_examples=300, deadline=None)
@given(st.integers(1, 6).flatmap(lambda size: st.permutations(range(size))), st.randoms())
def test_any_perfect_matching_leads_to_the_first(start, rng):
    density = rng.choice([0.2, 0.4, 0.6, 1.0])
    tight = np.array([[rng.random() < density for _ in start] for _ in start])
    tight[range(len(start)), start] = True
    every = (columns for columns in permutations(range(len(start))) if tight[range(len(start)), columns].all())
    assert _first_perfect_matching(tight, list(start), len(start)) == list(min(every))


def touching(rng, n_generated, n_reference, lines):
    """Edges between ranges of lines that overlap, as locations give them."""

    def ranges(count):
        starts = sorted(rng.randrange(lines) for _ in range(count))
        return [(start, start + rng.randrange(4)) for start in starts]

    ours, theirs = ranges(n_generated), ranges(n_reference)
    return [
        (g, r)
        for g, (first, last) in enumerate(ours)
        for r, (their_first, their_last) in enumerate(theirs)
        if first <= their_last and their_first <= last
    ]


@settings(max_examples=150, deadline=None)
@given(st.randoms(), st.integers(1, 16), st.integers(1, 16), st.integers(1, 3), st.sampled_from([3, 10, 40, None]))
def test_optimal_equals_solving_the_rest_for_every_choice(rng, n_generated, n_reference, values, lines):
    if lines is None:
        density = rng.choice([0.1, 0.3, 0.7])
        every_pair = [(g, r) for g in range(n_generated) for r in range(n_reference)]
        pairs = [pair for pair in every_pair if rng.random() < density]
    else:
        pairs = touching(rng, n_generated, n_reference, lines)
    quarters = {pair: rng.randrange(values) for pair in pairs}
    edges = {pair: score / 4 for pair, score in quarters.items()}
    found = align("optimal", graph(edges), plain(n_generated, "g"), plain(n_reference, "r"))
    assert set(found.pairs) == first_by_solving_again(quarters)


def test_thousands_of_comments_are_matched_as_their_separate_groups_are():
    rng = random.Random(0)
    groups = [
        {(g, r): rng.choice([0.25, 0.5]) for g in range(2) for r in range(3) if rng.random() < 0.7} for _ in range(500)
    ]
    edges = {
        (2 * group + g, 3 * group + r): score for group, part in enumerate(groups) for (g, r), score in part.items()
    }
    generated, reference = plain(1000, "g"), plain(1500, "r")
    found = align("optimal", graph(edges), generated, reference)
    expected = {
        (2 * group + g, 3 * group + r)
        for group, part in enumerate(groups)
        for g, r in best_by_brute_force(part, generated[:2], reference[:3])
    }
    assert set(found.pairs) == expected


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(6, 14), st.integers(6, 14), st.floats(0.1, 0.9), st.booleans())
def test_the_order_of_the_input_changes_nothing(seed, n_generated, n_reference, density, uniform):
    rng = random.Random(seed)
    edges = {
        (g, r): 1.0 if uniform else rng.choice([0.2, 0.5, 0.9])
        for g in range(n_generated)
        for r in range(n_reference)
        if rng.random() < density
    }
    generated, reference = plain(n_generated, "g"), plain(n_reference, "r")
    shuffled_g, shuffled_r = list(range(n_generated)), list(range(n_reference))
    rng.shuffle(shuffled_g)
    rng.shuffle(shuffled_r)
    moved = {(shuffled_g.index(g), shuffled_r.index(r)): score for (g, r), score in edges.items()}
    plainly = align("optimal", graph(edges), generated, reference)
    again = align("optimal", graph(moved), [generated[i] for i in shuffled_g], [reference[i] for i in shuffled_r])
    assert {(shuffled_g[g], shuffled_r[r]) for g, r in again.pairs} == set(plainly.pairs)


def test_more_pairs_go_before_a_higher_score():
    # One splendid pair would block two middling ones.
    edges = {(0, 0): 1.0, (0, 1): 0.1, (1, 0): 0.1}
    assert align("optimal", graph(edges), plain(2, "g"), plain(2, "r")).pairs == ((1, 0), (0, 1))


def test_among_equals_the_first_reference_takes_the_first_comment():
    edges = dict.fromkeys([(g, r) for g in range(3) for r in range(2)], 0.5)
    assert align("optimal", graph(edges), plain(3, "g"), plain(2, "r")).pairs == ((0, 0), (1, 1))
    reverse = [Comment(note="c"), Comment(note="b"), Comment(note="a")]
    assert align("optimal", graph(edges), reverse, plain(2, "r")).pairs == ((2, 0), (1, 1))


@pytest.mark.parametrize("n", [40, 150])
@pytest.mark.parametrize("uniform", [True, False])
def test_large_components_agree_with_networks_of_another_library(n, uniform):
    from scipy.optimize import linear_sum_assignment
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    rng = np.random.default_rng(n)
    dense = rng.random((n, n)) < 0.06
    g, r = np.nonzero(dense)
    score = np.ones(len(g)) if uniform else rng.integers(1, 5, len(g)) / 4
    found = align("optimal", Graph(g, r, score), plain(n, "g"), plain(n, "r"))
    adjacency = coo_array((np.ones(len(g)), (g.astype(np.int32), r.astype(np.int32))), shape=(n, n)).tocsr()
    assert len(found.pairs) == int((maximum_bipartite_matching(adjacency) >= 0).sum())
    weight = np.zeros((n, n))
    weight[g, r] = 1000 + score
    rows, columns = linear_sum_assignment(weight, maximize=True)
    best = weight[rows, columns].sum()
    assert sum(weight[pair] for pair in found.pairs) == pytest.approx(best, abs=1e-9)


def test_a_graph_that_is_matched_in_parts_says_nothing_on_the_way(capfd):
    """Above some 2,000 vertices parts are matched on their own; older SciPy prints what it does not like about that."""
    n = 1_100
    here = np.arange(n)
    graph = Graph(np.concatenate([here, here[1:]]), np.concatenate([here, here[:-1]]), np.ones(2 * n - 1))
    found = align("optimal", graph, plain(n, "g"), plain(n, "r"))
    assert sorted(found.pairs) == [(i, i) for i in range(n)]
    assert capfd.readouterr() == ("", "")


def test_coverage_counts_both_sides_on_their_own():
    found = align("coverage", graph({(0, 0): 1.0, (1, 0): 1.0, (1, 2): 1.0}), plain(3, "g"), plain(3, "r"))
    assert found.matched == {0, 1}
    assert found.covered == {0, 2}


def test_greedy_takes_the_first_free_reference_and_stops():
    line = graph(dict.fromkeys([(0, 0), (0, 1), (1, 0), (1, 1)], 1.0))
    by_line, full = align_greedy(line, graph({(0, 1): 1.0, (1, 0): 1.0}))
    # Comment 0 uses up reference 0 by place on its way to reference 1; nothing is left by place for comment 1.
    assert by_line.pairs == ((0, 0),)
    assert full.pairs == ((1, 0), (0, 1))


def test_greedy_by_place_alone_lets_the_first_comment_use_up_a_crowd():
    everything = graph(dict.fromkeys([(g, r) for g in range(3) for r in range(3)], 1.0))
    by_line, full = align_greedy(everything, None)
    assert by_line.pairs == full.pairs == ((0, 0),)
    optimal = align("optimal", everything, plain(3, "g"), plain(3, "r"))
    assert len(optimal.pairs) == 3


def test_greedy_depends_on_the_order_and_optimal_does_not():
    counts = set()
    for order in permutations(range(2)):
        edges = {(order.index(0), 0): 1.0, (order.index(0), 1): 1.0, (order.index(1), 0): 1.0}
        counts.add(len(align_greedy(graph(edges), graph(edges))[1].pairs))
        assert len(align("optimal", graph(edges), plain(2, "g"), plain(2, "r")).pairs) == 2
    assert counts == {1, 2}


@settings(max_examples=200, deadline=None)
@given(st.randoms(), st.sampled_from([0.05, 0.15, 0.4]), st.sampled_from([1, 3, 1000]), st.sampled_from([0, 4, 16, 40]))
def test_part_by_part_is_as_good_as_the_whole(rng, density, values, most):
    """Parts of up to `most` edges are matched without matrices, larger ones by them; the same pairs come out."""
    edges = {(g, r): rng.randrange(values) / values for g in range(9) for r in range(6) if rng.random() < density}
    generated, reference = ([Comment(note=rng.choice("abc")) for _ in range(count)] for count in (9, 6))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("metareview.comments.align.MOST", most)
        by_parts = align("optimal", graph(edges), generated, reference)
        patch.setattr("metareview.comments.align.FEW", -1)
        whole = align("optimal", graph(edges), generated, reference)
    assert by_parts == whole


@given(st.dictionaries(st.tuples(st.integers(0, 9), st.integers(0, 9)), st.just(0), max_size=15))
def test_parts_are_the_connected_ones(edges):
    parts = [set(part) for part in parts_of([(g, r, 0) for g, r in edges])]
    assert sorted(edge[:2] for part in parts for edge in part) == sorted(edges)
    vertices = [{("comment", g) for g, _, _ in part} | {("reference", r) for _, r, _ in part} for part in parts]
    for one, part in zip(vertices, parts, strict=True):
        assert all(one.isdisjoint(other) for other in vertices if other is not one)
        reached, left = set(), {next(iter(part))}
        while left:
            reached |= left
            left = {e for e in part for f in reached if e[0] == f[0] or e[1] == f[1]} - reached
        assert reached == part
