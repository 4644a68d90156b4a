"""Weeks as the units of routing's intervals and tests."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest
from bench.simulation import routing_alarms

import metareview as mr
from metareview.comparison.leaderboard import leaderboard
from metareview.model.time import SECOND
from metareview.routing.measures import hit_at
from metareview.routing.weeks import by_week, week_of, week_warning
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


def test_rows_of_a_week_are_summed_unless_there_are_too_few_weeks():
    counts = np.array([[1.0, 0], [1, 1], [1, 1]])
    assert by_week(counts, [3, 3, 4]).tolist() == counts.tolist()
    nine = np.ones((9, 2))
    assert by_week(nine, [8, 0, 1, 2, 3, 4, 5, 6, 8]).tolist() == [[1, 1]] * 7 + [[2, 2]]
    assert week_warning(range(8)) is None
    assert "from 1 week, " in week_warning([5, 5])


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


def test_a_runs_intervals_are_over_weeks(run):
    """hit@1 of mentions: 4 of 4 in even weeks, 2 of 4 in odd ones."""
    found = run(10)
    weeks = np.array([[4.0, 4], [4, 2]] * 5)
    expected = intervals(weeks, [hit_at(1)])["hit@1"]
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


def test_comparisons_and_leaderboards_are_over_weeks(run):
    found = run(10)
    result = mr.compare(found, plan=0.1)
    assert (result.prs, result.weeks, result.to_dict()["weeks"]) == (40, 10, 10)
    assert result.metrics["hit@1"].test.units == 10
    [row] = [row for row in leaderboard([found], sort="hit@1").rows if row.name == "mentions"]
    assert row.figures.intervals["hit@1"] == pytest.approx(
        tuple(found.summary["routers"]["mentions"]["intervals"]["hit@1"])
    )


def test_routers_that_suit_other_weeks_are_seldom_called_different():
    """Nominal 5 %: weeks hold it; pull requests taken for independent do not."""
    by_weeks, by_pull_requests = routing_alarms(20, 150, seed=2)
    assert by_weeks <= 0.1
    assert by_pull_requests > 0.2
