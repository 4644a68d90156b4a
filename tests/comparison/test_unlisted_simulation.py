"""P+, R+ and F1+ against known truth: a small part of what `python -m bench unlisted` does."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench.unlisted import MEASURES, floor_and_truth, simulate


@pytest.mark.parametrize("cell", ["ordinary", "grown"])
def test_intervals_hold_the_truth_and_figures_are_not_off(cell):
    found = simulate(60, seed=3, cell=cell)
    for measure in MEASURES:
        # 240 intervals, those of one trial alike: a method that holds 85 % or is off by 0.02 would be seen.
        assert 0.90 <= found[measure]["coverage"] <= 0.99
        assert all(abs(bias) < 0.02 for bias in found[measure]["bias"].values())


def test_intervals_hold_the_truth_where_all_labels_of_a_stratum_are_often_alike():
    found = simulate(60, seed=3, cell="rare")
    # Without half a surprise the intervals of R+ held 0.94.
    assert all(found[measure]["coverage"] >= 0.95 for measure in MEASURES)


def test_chao_is_right_for_equal_sources_and_a_floor_where_they_miss_the_same():
    floor, missed = floor_and_truth("alike", 200)
    assert floor == pytest.approx(missed, rel=0.1)  # without (m - 1) / m it would be a fifth too high
    floor, missed = floor_and_truth("hard", 200)
    assert floor < missed / 2
    floor, missed = floor_and_truth("families", 200)
    assert floor < missed / 2
