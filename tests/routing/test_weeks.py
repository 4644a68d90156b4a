"""Blocks of weeks, repositories and pull requests as the units of routing's intervals and tests."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest

import metareview as mr
from metareview.comparison.leaderboard import leaderboard
from metareview.model.time import SECOND
from metareview.routing.measures import hit_at
from metareview.routing.weeks import Blocks, Units, by_unit, units_of, week_of
from metareview.stats import intervals

MONDAY = datetime(2024, 1, 1, 12, tzinfo=UTC)


def test_weeks_are_iso_weeks_in_utc():
    start = datetime(2019, 12, 20, tzinfo=UTC)
    hours = [start + timedelta(hours=7 * n) for n in range(3_000)]
    for one, other in pairwise(hours):
        same = one.isocalendar()[:2] == other.isocalendar()[:2]
        weeks = [week_of(int(moment.timestamp()) * SECOND) for moment in (one, other)]
        assert (weeks[0] == weeks[1]) == same
        assert weeks[1] - weeks[0] in (0, 1)


@pytest.mark.parametrize(
    ("weeks", "length", "blocks"),
    [(20, 2, 10), (26, 2, 13), (29, 2, 14), (30, 3, 10), (40, 4, 10), (52, 5, 10), (104, 10, 10), (208, 14, 14)],
)
def test_blocks_are_as_long_as_the_root_of_the_weeks_if_that_leaves_ten(weeks, length, blocks):
    """max(4, round(root of W)), lowered until there are 10 blocks, never below 2."""
    found = units_of({(week, "o/r"): 1 for week in range(7, 7 + weeks)})
    assert found == Units("blocks of weeks", blocks, weeks, Blocks(7, weeks, length))
    assert found.words == f"{blocks} blocks of {length} weeks"


def test_the_last_block_takes_what_is_left_over_and_an_empty_block_is_no_unit():
    """43 weeks in blocks of 4: ten blocks, of which the last has 7 weeks. Weeks 4 to 7 are empty."""
    weeks = [week for week in range(43) if not 4 <= week < 8]
    counts = np.column_stack([np.ones(len(weeks)), weeks]).astype(float)
    rows = by_unit(counts, [(week, "o/r") for week in weeks])
    assert rows[:, 0].tolist() == [4] * 8 + [7]
    assert rows[-1, 1] == sum(range(36, 43))
    assert rows[1, 1] == 8 + 9 + 10 + 11


def test_few_weeks_are_replaced_by_repositories_and_few_repositories_by_pull_requests():
    counts = np.ones((22, 2))
    ten = [(number % 19, f"o/{number % 10}") for number in range(22)]
    assert by_unit(counts, ten)[:, 0].tolist() == [3, 3] + [2] * 8
    nine = [(number % 19, f"o/{number % 9}") for number in range(22)]
    assert by_unit(counts, nine).tolist() == counts.tolist()


def test_what_units_do_not_know_is_warned_of():
    def warning(weeks, repositories=1):
        return units_of({(week, f"o/{week % repositories}"): 1 for week in range(weeks)}).warning

    assert "take pull requests for independent" in warning(19)
    assert "take repositories for independent" in warning(19, repositories=10)
    assert "blocks of 2 only" in warning(29)
    assert warning(30) is None
    sparse = units_of({(week, "o/r"): 5 for week in (0, 20, 39)})
    assert sparse.warning.startswith("the pull requests of 40 weeks lie in 3 blocks of 4 weeks only")
    assert "from 1 week, " in warning(1)


def events(weeks, per_week):
    """Pull requests by ann that ben answers within the hour; in odd weeks each second one is answered by cy."""
    rows = []
    for number in range(weeks * per_week):
        week, place = divmod(number, per_week)
        at = MONDAY + timedelta(weeks=week, hours=place)
        who = "cy" if week % 2 and place % 2 else "ben"
        head = {"repo": "o/r", "pr": number + 1}
        rows.append({**head, "at": at.isoformat(), "kind": "opened", "actor": "ann", "body": "for @ben"})
        later = (at + timedelta(minutes=5)).isoformat()
        rows.append({**head, "at": later, "kind": "review_submitted", "actor": who})
    return rows


@pytest.fixture
def run(write_lines):
    return lambda weeks, **options: mr.evaluate_routing(
        write_lines(*events(weeks, 4), name=f"{weeks}.jsonl"), routers=["mentions", "popularity"], **options
    )


def test_a_runs_intervals_are_over_blocks_of_weeks(run):
    """hit@1 of mentions: 4 of 4 in even weeks, 2 of 4 in odd ones; 43 weeks are nine blocks of 4 and one of 7."""
    found = run(43)
    blocks = np.array([[16.0, 12]] * 9 + [[28, 4 + 6 * 3]])
    expected = intervals(blocks, [hit_at(1)])["hit@1"]
    assert found.summary["routers"]["mentions"]["intervals"]["hit@1"] == pytest.approx(expected)
    assert not any("week" in warning for warning in found.summary["warnings"])


def test_too_few_weeks_are_warned_of_everywhere(run):
    found = run(7)
    [warning] = [warning for warning in found.summary["warnings"] if "week" in warning]
    assert warning.startswith("the pull requests are from 7 weeks")
    by_pull_request = np.array([[1.0, 1]] * 22 + [[1, 0]] * 6)
    expected = intervals(by_pull_request, [hit_at(1)])["hit@1"]
    assert found.summary["routers"]["mentions"]["intervals"]["hit@1"] == pytest.approx(expected)
    assert any("7 weeks" in warning for warning in leaderboard([found]).warnings)
    assert any("7 weeks" in warning for warning in mr.compare(found).warnings)


def test_comparisons_and_leaderboards_are_over_blocks_of_weeks(run):
    found = run(43)
    result = mr.compare(found, plan=0.1)
    document = result.to_dict()
    assert (result.prs, result.weeks, document["weeks"]) == (172, 43, 43)
    assert document["units"] == {"kind": "blocks of weeks", "n": 10, "weeks_per_block": 4}
    assert result.metrics["hit@1"].test.units == 10
    [row] = [row for row in leaderboard([found], sort="hit@1").rows if row.name == "mentions"]
    assert row.figures.intervals["hit@1"] == pytest.approx(
        tuple(found.summary["routers"]["mentions"]["intervals"]["hit@1"])
    )
