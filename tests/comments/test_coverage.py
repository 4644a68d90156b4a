"""How much of the reference set a reviewer has, and how sure a slice's figure is."""

import json

import pytest

from metareview.api import evaluate_comments
from metareview.comments.filters import FilterConfig
from metareview.runs.comments_json import summary_from_json, summary_to_json


def pull(number):
    return f"https://github.com/o/r/pull/{number}"


def records(numbers, **fields):
    comment = {"note": "leaks the handle", "path": "a.py", "from_line": 1, "severity": "High"}
    return [{"pr": pull(n), "language": "Go" if n < 4 else "Rust", "comments": [comment]} | fields for n in numbers]


def evaluated(folder, said, references, **options):
    for name, rows in (("said.jsonl", said), ("references.jsonl", references)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return evaluate_comments(folder / "said.jsonl", reference=folder / "references.jsonl", judge="exact", **options)


@pytest.fixture
def scored(tmp_path):
    """Scores reviewers, given by the numbers of the pull requests that each reviewed, on a set of ten."""

    def score(*reviewers, **options):
        said = [row for name, numbers in reviewers for row in records(numbers, reviewer=name)]
        return evaluated(tmp_path, said, records(range(10)), **options)

    return score


def test_a_reviewer_has_so_many_of_the_pull_requests_of_the_set(scored):
    result = scored(("all", range(10)), ("some", range(7))).result
    assert [(each.prs, each.prs_with_references) for each in result.reviewers.values()] == [(10, 10), (7, 10)]
    assert result.prs == 10
    absent = "pull requests that are absent and not counted: some 3 of 10; --all-prs counts them as silence"
    assert result.warnings[0] == absent


def test_whoever_has_all_is_not_warned_of(scored):
    assert not any("absent" in warning for warning in scored(("all", range(10))).result.warnings)


def test_silence_is_no_absence(scored):
    result = scored(("some", range(2)), all_prs=True).result
    assert result.reviewers["some"].prs == 10
    assert not any("absent" in warning for warning in result.warnings)


def test_filters_leave_fewer_pull_requests_to_have(scored):
    filters = FilterConfig(project_languages=["Go"])
    result = scored(("some", [0, 1, 2, 5]), filters=filters).result
    assert (result.reviewers["some"].prs, result.reviewers["some"].prs_with_references) == (3, 4)
    assert "absent and not counted: some 1 of 4;" in result.warnings[0]


@pytest.mark.parametrize("limit", range(1, 6))
def test_a_sample_counts_the_absent_pull_requests_among_which_it_was_drawn(limit, scored):
    """The reviewer has every other pull request, so about half of any part of the set is absent from its sample."""
    one = scored(("some", range(0, 10, 2)), limit=limit).result.reviewers["some"]
    assert one.prs == limit
    assert limit <= one.prs_with_references <= 10
    if limit == 5:
        assert one.prs_with_references == 10


def test_a_sample_of_everybody_is_whole(scored):
    one = scored(("all", range(10)), limit=4).result.reviewers["all"]
    assert (one.prs, one.prs_with_references) == (4, 4)


def test_a_slice_has_its_pull_requests_and_intervals(tmp_path):
    rows = records(range(6))
    rows[0]["comments"] = rows[0]["comments"] * 3
    said = [row | {"reviewer": "x"} for row in records([0, 1, 4])]
    said += [{"pr": pull(n), "reviewer": "x", "comments": []} for n in (2, 3, 5)]
    block = evaluated(tmp_path, said, rows).result.reviewers["x"]
    go, high = block.by_pull_request["language"]["Go"], block.by_reference["severity"]["High"]
    # Go: #0 to #3 with 3, 1, 1, 1 references, of which the first two pull requests have one raised each.
    assert (go.prs, go.metrics["positive_recall_rate"]) == (4, 2 / 6)
    assert (high.prs, high.expected, high.covered) == (6, 8, 3)
    for part, rate in ((go, 2 / 6), (high, 3 / 8)):
        low, upper = part.intervals["positive_recall_rate"]
        assert 0 <= low < rate < upper <= 1


def test_a_stored_run_without_coverage_still_loads(scored):
    summary = scored(("some", range(7))).result
    stored = summary_to_json(summary, None)
    assert summary_from_json(stored) == summary
    del stored["prs"]
    block = stored["reviewers"]["some"]
    del block["prs_with_references"]
    for parts in block["slices"].values():
        for part in parts.values():
            part.pop("intervals")
    for part in block["slices"]["severity"].values():
        part.pop("prs")
    old = summary_from_json(stored)
    assert (old.prs, old.reviewers["some"].prs_with_references) == (7, None)
    assert old.reviewers["some"].by_reference["severity"]["High"].prs is None
