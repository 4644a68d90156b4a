import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metareview.comments.location import (
    Candidates,
    Places,
    candidate_pairs,
    count_candidate_pairs,
    line_gap,
    may_match,
    near,
    same_file,
)
from metareview.model.comment import MAX_LINE, Comment


def comment(path="a.py", side="right", start=1, end=1):
    return Comment(note="x", path=path, side=side, from_line=start, to_line=end)


def test_ranges_that_touch_are_one_apart():
    assert line_gap(comment(start=10, end=15), comment(start=16, end=20)) == 1
    assert line_gap(comment(start=16, end=20), comment(start=10, end=15)) == 1
    assert line_gap(comment(start=10, end=15), comment(start=15, end=20)) == 0
    assert line_gap(comment(start=10, end=30), comment(start=15, end=20)) == 0


def test_one_missing_line_equals_the_other_and_both_missing_is_the_whole_file():
    only_to = Comment(note="x", path="a.py", to_line=7)
    whole = Comment(note="x", path="a.py")
    assert only_to.span == (7, 7)
    assert line_gap(whole, comment(start=900, end=901)) == 0


def test_paths_and_sides_are_compared_after_normalising():
    ours = comment(path=".\\src\\main.py", side="RIGHT")
    assert may_match(ours, comment(path="src/main.py", side="right"), 0)
    assert may_match(ours, comment(path="/src/main.py", side=""), 0)
    assert not may_match(ours, comment(path="src/Main.py"), 0)
    assert not may_match(ours, comment(path="src/main.py", side="left"), 0)


lines = st.none() | st.integers(1, 40)


@st.composite
def comments(draw):
    ends = draw(st.tuples(lines, lines))
    if None not in ends:
        ends = tuple(sorted(ends))
    return Comment(
        note="x",
        path=draw(st.sampled_from([None, "", "a.py", "./a.py", "b\\c.py", "b/c.py"])),
        side=draw(st.sampled_from([None, "right", "Right", "left"])),
        from_line=ends[0],
        to_line=ends[1],
    )


@given(st.lists(comments(), max_size=12), st.lists(comments(), max_size=12), st.integers(0, 25), st.booleans())
def test_exactly_what_the_definition_allows_is_found(generated, reference, distance, by_index):
    """Whether few pairs are looked at one by one, or, as many are, through the index."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("metareview.comments.location.FEW", 0 if by_index else 10**6)
        found = candidate_pairs(generated, reference, distance)
    expected = [
        (i, j, line_gap(a, b))
        for i, a in enumerate(generated)
        for j, b in enumerate(reference)
        if may_match(a, b, distance)
    ]
    assert list(zip(found.generated.tolist(), found.reference.tolist(), found.gap.tolist(), strict=True)) == expected
    assert count_candidate_pairs(generated, reference, distance) == len(expected)


@given(st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1), st.randoms(), st.booleans())
def test_pairs_are_found_again_at_their_positions(pairs, random, by_index):
    ordered = sorted(pairs)
    found = Candidates(*np.array(ordered, np.int64).T, np.zeros(len(ordered), np.int64))
    wanted = random.sample(ordered, len(ordered) // 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("metareview.comments.location.FEW", 0 if by_index else 10**6)
        edges = found.edges([comment for comment, _ in wanted], [reference for _, reference in wanted])
    assert [ordered[edge] for edge in edges] == wanted


def test_where_place_is_not_asked_every_pair_may_match():
    found = candidate_pairs([comment(path="a")] * 2, [comment(path="b", start=90, end=90)] * 3, 0, anywhere=True)
    assert list(zip(found.generated.tolist(), found.reference.tolist(), strict=True)) == [
        (0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2),
    ]  # fmt: skip


def test_a_crowded_file_costs_what_it_holds_not_its_square():
    crowd = [comment(start=10 * i + 1, end=10 * i + 3) for i in range(20_000)]
    assert len(candidate_pairs(crowd, crowd, 1)) == 20_000


def test_the_last_possible_line_is_as_far_from_the_first_as_lines_can_be():
    first, last = comment(start=1, end=1), comment(start=MAX_LINE, end=MAX_LINE)
    for generated, reference in ((first, last), (last, first)):
        found = candidate_pairs([generated], [reference], 10**12)
        assert found.gap.tolist() == [MAX_LINE - 1] == [line_gap(generated, reference)]


@settings(deadline=None)
@given(st.lists(comments(), max_size=8), st.integers(0, 25))
def test_arrays_of_places_are_compared_by_the_definition(some, distance):
    places, (one, other) = Places.of(some), np.indices((len(some), len(some))).reshape(2, -1)
    pairs = [(a, b) for a in some for b in some]
    found = near(places.take(one), places.take(other), distance)
    assert found.tolist() == [may_match(a, b, distance) for a, b in pairs]
    assert same_file(places.take(one), places.take(other)).tolist() == [may_match(a, b, MAX_LINE) for a, b in pairs]
