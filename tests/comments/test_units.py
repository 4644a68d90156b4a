"""Intervals over repositories, and what is said of intervals that one pull request or repository decides."""

import json
import math

import numpy as np
import pytest
import scipy.stats
from click.testing import CliRunner

import metareview as mr
from metareview.cli.comments import command
from metareview.comments.measures import Counts, f1, measured, one_to_one, positive_match_rate, table
from metareview.comments.units import ReviewerTable, interval_warnings, repository_intervals, unit_rows
from metareview.errors import UsageError
from metareview.model.address import repository_of
from metareview.stats import intervals

MEASURES = measured(location=False, negatives=False, alignment="optimal")


def counts(*rows):
    """(comments, matched, references) of each pull request."""
    return table(Counts(generated=g, matched=m, covered=m, unmatched=g - m, expected=e) for g, m, e in rows)


def pulls(*repositories):
    return [f"https://github.com/acme/{name}/pull/{n}" for n, name in enumerate(repositories, 1)]


def test_a_repository_is_left_out_whole():
    """Three repositories of two pull requests each, by the jackknife's formula over the sums of each."""
    rows = [(4, 3, 4), (2, 1, 3), (5, 1, 2), (1, 1, 1), (6, 2, 3), (3, 3, 4)]
    prs = pulls("a", "a", "b", "b", "c", "c")
    sums = [(6, 4), (6, 2), (9, 5)]
    theta = 11 / 21
    without = [(11 - y) / (21 - x) for x, y in sums]
    error = math.sqrt(2 / 3 * sum((each - sum(without) / 3) ** 2 for each in without))
    reach = scipy.stats.t.ppf(0.975, 2) * error / (theta * (1 - theta))
    found = intervals(unit_rows(counts(*rows), prs, "repository"), [positive_match_rate])["positive_match_rate"]
    assert scipy.special.logit(found) == pytest.approx(scipy.special.logit(theta) + np.array([-reach, reach]))


@pytest.mark.parametrize(
    ("pr", "repository"),
    [
        ("https://github.com/Acme/Shop/pull/7", "github.com/acme/shop"),
        ("acme/shop#7", "acme/shop"),
        ("https://gitlab.com/group/sub/project/-/merge_requests/5", "gitlab.com/group/sub/project"),
        ("acme/shop@0f1e2d3", "acme/shop"),
        ("acme__shop-12", "acme__shop"),
        ("something", None),
    ],
)
def test_the_repository_of_a_pull_request(pr, repository):
    assert repository_of(pr) == repository


def spread_by_repository(seed=0, repositories=12, each=6):
    """Repositories that are easy or hard as a whole: all of a repository's pull requests are right alike."""
    rng = np.random.default_rng(seed)
    right = np.repeat(rng.beta(1, 1.5, repositories), each)
    generated = 1 + rng.poisson(4, len(right))
    rows = zip(generated, rng.binomial(generated, right), generated, strict=True)
    return counts(*rows), pulls(*(str(number // each) for number in range(len(right))))


def test_wider_intervals_over_repositories_are_told_and_narrower_ones_are_not():
    table, prs = spread_by_repository()
    wider = repository_intervals(table, prs, MEASURES)
    over_prs = intervals(table, MEASURES)
    assert {"f1", "positive_match_rate"} <= set(wider)
    for name, (low, high) in wider.items():
        assert high - low > 1.25 * (over_prs[name][1] - over_prs[name][0])
    [warning] = interval_warnings([ReviewerTable("bot", prs, table)], MEASURES, "pr")
    assert f"bot's F1 {wider['f1'][0]:.3f} to {wider['f1'][1]:.3f}" in warning
    assert "--unit repository" in warning
    # Each in a repository of its own: the two are one.
    assert repository_intervals(table, pulls(*map(str, range(len(prs)))), MEASURES) == {}
    # Nine repositories tell nothing.
    table, prs = spread_by_repository(repositories=9)
    assert repository_intervals(table, prs, MEASURES) == {}


@pytest.mark.parametrize(("last", "named"), [(9, False), (10, True)])
def test_one_pull_request_with_over_a_fifth_of_the_comments_is_named(last, named):
    """Nine of 4 comments each: 9 more are a fifth of 45, 10 are over a fifth of 46."""
    table, prs = counts(*[(4, 2, 3)] * 9, (last, 0, 3)), pulls(*"abcdefghij")
    found = list(interval_warnings([ReviewerTable("bot", prs, table)], MEASURES, "pr"))
    assert bool(found) == named
    if named:
        one_to_one_f1 = one_to_one(f1, "optimal")
        sums = table.sum(axis=0)
        assert f"bot: 10 of its 46 comments are on one pull request, {prs[9]}," in found[0]
        assert f"precision 0.500 in place of {18 / 46:.3f}" in found[0]
        assert f"F1 {one_to_one_f1.value(sums - table[9]):.3f} in place of {one_to_one_f1.value(sums):.3f}" in found[0]
        # Of nine pull requests nothing is said: one of them has a ninth even where all are equal.
        few = ReviewerTable("bot", prs[1:], table[1:])
        assert list(interval_warnings([few], MEASURES, "pr")) == []


def records(prs, seed=0):
    """Reviews and references, where `exact` decides by the same words."""
    rng = np.random.default_rng(seed)
    said, known = [], []
    for pr, hard in zip(prs, np.repeat(rng.random(len(prs) // 2), 2), strict=True):
        references = [{"path": "a.py", "from_line": n, "to_line": n, "note": f"issue {n}"} for n in range(1, 5)]
        found = [each for each in references if rng.random() < hard]
        said.append({"pr": pr, "reviewer": "bot", "comments": [*found, {"path": "a.py", "from_line": 9, "note": "hm"}]})
        known.append({"pr": pr, "comments": references})
    return said, known


def test_a_run_with_unit_repository_has_its_intervals_and_its_tests_over_repositories(tmp_path):
    prs = pulls(*(str(number // 2) for number in range(24)))
    said, known = records(prs)
    other, _ = records(prs, seed=1)
    runs = [
        mr.evaluate_comments(each, reference=known, judge="exact", unit="repository", out=tmp_path / name)
        for name, each in (("a", said), ("b", other))
    ]
    plain = mr.evaluate_comments(said, reference=known, judge="exact", out=tmp_path / "plain")
    figures = plain.summary["reviewers"]["bot"]
    assert runs[0].summary["config"]["unit"] == "repository"
    assert "unit" not in plain.summary["config"]
    assert runs[0].summary["reviewers"]["bot"]["intervals"]["f1"] == pytest.approx(
        figures["repository_intervals"]["f1"]
    )
    assert mr.load_run(tmp_path / "a").summary == runs[0].summary
    assert mr.load_run(tmp_path / "plain").summary == plain.summary
    compared = mr.compare(*runs)
    assert compared.units == "12 repositories"
    assert compared.metrics["f1"].test.units == 12
    assert mr.compare(*runs, unit="pr").units == "24 pull requests"
    with pytest.raises(UsageError, match="--unit"):
        mr.compare(runs[0], plain)
    assert mr.compare(runs[0], plain, unit="repository").units == "12 repositories"


def test_a_unit_that_is_none_is_refused(tmp_path):
    said, known = records(pulls("a", "a"))
    with pytest.raises(UsageError, match="must be pr or repository"):
        mr.evaluate_comments(said, reference=known, judge="exact", unit="week")


def test_the_command_says_what_its_intervals_are_over(tmp_path):
    said, known = records(pulls(*(str(number // 2) for number in range(24))))
    for name, each in (("said", said), ("known", known)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in each), "utf-8")
    arguments = [str(tmp_path / "said.jsonl"), "--reference", str(tmp_path / "known.jsonl")]
    arguments += ["--judge", "exact", "--unit", "repository", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0
    assert "Intervals are over repositories." in " ".join(done.output.split())
