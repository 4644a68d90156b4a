"""Blocks: what is sampled, what a label settles, and whether that is the truth."""

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import metareview as mr
from metareview.comments.blocks import Block, blocks_of, matching_number, settle
from metareview.runs.run import records_with_pairs


def brute_force(pairs):
    """The largest set of pairs that share nothing."""
    for size in range(len(pairs), 0, -1):
        for chosen in combinations(pairs, size):
            if len({g for g, _ in chosen}) == size == len({r for _, r in chosen}):
                return size
    return 0


PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=8, unique=True)


@given(PAIRS)
def test_the_matching_number_is_that_of_brute_force(pairs):
    assert matching_number(pairs) == brute_force(pairs)


@given(PAIRS.filter(bool), st.data())
def test_asking_in_order_ends_at_the_true_number(pairs, data):
    truth = {pair: data.draw(st.booleans()) for pair in pairs}
    block = Block("p", "r", "matches", tuple(pairs), (None,) * len(pairs), 0, 0.0)
    known = {}
    while (settled := settle(block, known)).number is None:
        assert settled.ask not in known
        known[settled.ask] = truth[settled.ask]
    assert settled.number == brute_force([pair for pair in pairs if truth[pair]])


def test_what_cannot_change_the_number_is_not_asked():
    block = Block("p", "r", "matches", ((0, 0), (0, 1), (1, 0)), (0.9, 0.5, 0.1), 1, 0.2)
    assert settle(block, {}).ask == (0, 0)
    # One match is sure; (0, 1) and (1, 0) together would make two.
    assert settle(block, {(0, 0): True}).ask == (0, 1)
    assert settle(block, {(0, 0): True, (0, 1): False}).number == 1
    assert settle(block, {(0, 0): False, (0, 1): True}).ask == (1, 0)


def comment(line, note, **more):
    return {"path": "a.py", "from_line": line, "to_line": line, "note": note, **more}


REFERENCES = [{"pr": "o/r#1", "comments": [comment(1, "null check"), comment(2, "lock it"), comment(90, "typo here")]}]
REVIEWS = [
    {
        "pr": "o/r#1",
        "reviewer": "x",
        "comments": [comment(1, "null check"), comment(2, "a lock"), comment(90, "typo"), comment(500, "far")],
    }
]


def blocks(**options):
    run = mr.evaluate_comments(REVIEWS, reference=REFERENCES, judge="exact", **options)
    coverage = options.get("alignment") == "coverage"
    return [block for record, pairs in records_with_pairs(run) for block in blocks_of(record, pairs, coverage=coverage)]


def test_blocks_are_the_connected_parts_by_location():
    first, second = blocks()
    # Lines 1 and 2 are one apart, so all four pairs there hang together; the comment on line 500 has no block.
    assert set(first.pairs) == set(product((0, 1), (0, 1)))
    assert (first.pairs[0], first.judged, first.unsure) == ((0, 0), 1, 0.0)
    assert (second.pairs, second.judged) == (((2, 2),), 0)


def test_without_locations_the_pull_request_is_one_block():
    [block] = blocks(ignore_location=True)
    assert len(block.pairs) == 4 * 3


def test_under_coverage_references_and_comments_are_blocks():
    found = blocks(alignment="coverage")
    by_kind = {kind: [block for block in found if block.counted == kind] for kind in ("references", "comments")}
    assert [sorted(block.pairs) for block in by_kind["references"]] == [[(0, 0), (1, 0)], [(0, 1), (1, 1)], [(2, 2)]]
    assert [sorted(block.pairs) for block in by_kind["comments"]] == [[(0, 0), (0, 1)], [(1, 0), (1, 1)], [(2, 2)]]
    assert [block.judged for block in found] == [1, 0, 0, 1, 0, 0]


def test_pairs_that_cannot_count_are_in_no_block():
    neutral = [{"pr": "o/r#1", "comments": [comment(1, "null check", neutral=True), comment(2, "lock it")]}]
    run = mr.evaluate_comments(REVIEWS, reference=neutral, judge="exact")
    [(record, pairs)] = records_with_pairs(run)
    [block] = blocks_of(record, pairs, coverage=False)
    # The first comment matches the neutral reference and is left out; with the other reference only the second is left.
    assert block.pairs == ((1, 1),)


@pytest.mark.parametrize("negatives", [[{"pr": "o/r#1", "comments": [comment(500, "far")]}]])
def test_negatives_are_in_no_block(negatives):
    run = mr.evaluate_comments(REVIEWS, reference=REFERENCES, judge="exact", negatives=negatives)
    [(record, pairs)] = records_with_pairs(run)
    assert any(pair.negative for pair in pairs)
    assert all((3, 0) not in block.pairs for block in blocks_of(record, pairs, coverage=False))
