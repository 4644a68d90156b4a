"""P+, R+ and F1+ against known truth: a small part of what `python -m bench unlisted` does."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench.unlisted import MEASURES, simulate


@pytest.fixture(scope="module")
def found():
    return simulate(60, seed=3)


@pytest.mark.parametrize("measure", MEASURES)
def test_intervals_hold_the_truth_and_figures_are_not_off(found, measure):
    # 240 intervals, those of one trial alike: a method that holds 85 % or is off by 0.02 would be seen.
    assert 0.90 <= found[measure]["coverage"] <= 0.99
    assert all(abs(bias) < 0.02 for bias in found[measure]["bias"].values())
