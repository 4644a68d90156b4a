"""Two reviewers of outcomes, each on its own pull requests: by hand, through `compare` and `leaderboard`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from labelled_outcomes import give, label, make_run, outcome, pr
from metareview.cli.compare import KINDS
from metareview.comparison.leaderboard import leaderboard
from metareview.comparison.outcome_frame import open_outcome_frame
from metareview.comparison.paired import compare
from metareview.errors import UsageError
from metareview.outcomes.measures import MEASURES
from metareview.outcomes.summary import DIMENSIONS
from metareview.stats import differences

BOT = "bot[bot]"


def said(changed, known, verdict=None, severity=None):
    """So many comments on lines, of so many of which the lines changed."""
    each = [outcome(at, at < changed, verdict) for at in range(known)]
    return [replace(one, comment=one.comment.replace(severity=severity)) for one in each]


def run_of(folder, rows, *, first=1, name=BOT, judge="none", verdict=None):
    """A run of one reviewer: (changed, known) on each pull request, numbered from `first`."""
    records = {(pr(first + at), name): said(*row, verdict) for at, row in enumerate(rows)}
    return make_run(folder, records, judge)


BEFORE = [(0, 4), (1, 5), (0, 3), (1, 2), (0, 6), (1, 4)]
AFTER = [(3, 4), (2, 3), (4, 5), (1, 2), (3, 6)]


@pytest.fixture
def before(tmp_path):
    return run_of(tmp_path / "before", BEFORE)


@pytest.fixture
def after(tmp_path):
    return run_of(tmp_path / "after", AFTER, first=50)


def test_two_versions_on_their_own_pull_requests(before, after):
    result = compare(before, after)
    found = result.metrics["lines_changed"]
    assert (found.a, found.b, found.diff) == (3 / 24, 13 / 20, pytest.approx(13 / 20 - 3 / 24))
    samples = result.samples
    assert (samples.a, samples.b, samples.shared, samples.paired) == (6, 5, 0, False)
    assert samples.known["lines_changed"] == (24, 20)
    # Of the 462 ways to deal, this one and two others are as clear; of 10,000 draws about as many.
    assert found.p == pytest.approx(3 / 462, abs=0.0025)
    assert found.winner(0.05) == "b"
    assert result.verdict.startswith("bot[bot] (after) is better on lines changed;")
    assert (
        "Two samples of pull requests, 6 of bot[bot] (before) and 5 of bot[bot] (after);"
        " none is in both." in result.verdict
    )


def test_the_same_pull_requests_are_not_called_other_ones(tmp_path, before):
    same = run_of(tmp_path / "same", BEFORE)
    assert "other pull requests" not in compare(before, same).verdict
    heeded = run_of(tmp_path / "heeded", [(known, known) for _, known in BEFORE])
    assert "6 are in both" in compare(before, heeded).verdict
    assert "other pull requests" not in compare(before, heeded).verdict
    shifted = run_of(tmp_path / "shifted", [(known, known) for _, known in BEFORE], first=4)
    assert "The others are other pull requests and may be from other weeks" in compare(before, shifted).verdict


def test_the_words_and_the_document_say_that_nothing_is_paired(before, after):
    result = compare(before, after, plan=0.1)
    document = result.to_dict()
    assert document["paired"] is False
    assert document["samples"] == {"a": 6, "b": 5, "shared": 0}
    assert document["known"]["lines_changed"] == {"a": 24, "b": 20}
    assert document["metrics"]["lines_changed"].keys() == {"a", "b", "diff", "interval", "p", "p_holm"}
    assert document["metrics"]["liked"] == dict.fromkeys(("a", "b", "diff", "interval", "p", "p_holm"))
    assert "kinds" not in document
    assert "found" not in document
    units = document["plan"]["units"]["lines_changed"]
    assert f"would take about {units} pull requests of each like these." in document["verdict"]
    assert "match" not in document["verdict"]


def test_what_made_the_difference_adds_up_to_it(before, after):
    result = compare(before, after)
    pooled = 16 / 44
    gain = result.explanation.gains[0]
    # 4 of 5 of B's 20 comments; 0 of 6 of A's 24 adds (6 * pooled) / 24.
    assert gain.effect == pytest.approx(max((4 - 5 * pooled) / 20, 6 * pooled / 24))
    assert (gain.pr, gain.a, gain.b) == (pr(52), None, (4, 5))
    everything = [*((y - pooled * x) / 20 for y, x in AFTER), *(-(y - pooled * x) / 24 for y, x in BEFORE)]
    assert sum(everything) == pytest.approx(result.metrics["lines_changed"].diff)
    assert result.explanation.losses[0].effect == pytest.approx(min(everything))


def two_on_one(folder, shared=8):
    """Two bots of one run that share pull requests, and each has some of its own."""
    rng = np.random.default_rng(5)
    records = {}
    for number in range(shared + 6):
        for at, name in enumerate(("x", "y")):
            if number < shared or number % 2 == at:
                known = int(rng.integers(2, 6))
                records[pr(number), name] = said(int(rng.binomial(known, (0.3, 0.6)[at])), known)
    return make_run(folder, records, "none")


def test_shared_pull_requests_are_counted_and_told(tmp_path):
    result = compare(two_on_one(tmp_path / "run"), reviewers=["x", "y"])
    assert (result.samples.a, result.samples.b, result.samples.shared, result.prs) == (11, 11, 8, 14)
    told = "Two samples of pull requests, 11 of x and 11 of y; 8 are in both, and the test takes these in pairs."
    assert told in result.verdict


def test_common_pairs_on_the_shared_ones(tmp_path):
    run = two_on_one(tmp_path / "run")
    result = compare(run, reviewers=["x", "y"], common=True)
    by_reviewer = {name: {} for name in ("x", "y")}
    for record in run.read_records():
        by_reviewer[record.reviewer][record.pr] = (
            sum(each.lines_changed.value for each in record.comments),
            len(record.comments),
        )
    both = sorted(by_reviewer["x"].keys() & by_reviewer["y"].keys())
    tables = [np.array([of_one[key] for key in both], float) for of_one in by_reviewer.values()]
    measure = MEASURES[0]
    assert result.metrics["lines_changed"].p == pytest.approx(differences(*tables, [measure])["lines_changed"].p)
    assert result.to_dict()["paired"] is True
    assert (result.left_out.only_a, result.left_out.only_b) == (3, 3)
    assert "Paired, on the 8 pull requests that both have, and on no others." in result.verdict
    assert "independent" not in result.verdict


def test_common_without_a_shared_pull_request_is_refused(before, after):
    with pytest.raises(UsageError, match="share no pull request, so nothing is left with --common"):
        compare(before, after, common=True)


def test_by_kind_of_comment(tmp_path):
    """High: 1 of 8 and 6 of 8 on four pull requests each. Low: only A has any."""
    of_a = {(pr(n), "x"): [*said(n == 1, 2, severity="high"), *said(0, 1, severity="low")] for n in range(1, 5)}
    of_b = {(pr(n), "x"): said(2 - (n < 13), 2, severity="high") for n in range(11, 15)}
    for one in (of_a, of_b):
        for key, comments in one.items():
            one[key] = [replace(each, position=at) for at, each in enumerate(comments)]
    a, b = make_run(tmp_path / "a", of_a, "none"), make_run(tmp_path / "b", of_b, "none")
    slices = compare(a, b, by=["severity"]).samples.slices["severity"]
    assert list(slices) == ["high", "low"]
    high = slices["high"]
    assert (high.known, high.metric.a, high.metric.b) == ((8, 8), 1 / 8, 6 / 8)
    assert high.metric.too_few_matches
    assert (slices["low"].known, slices["low"].metric.b, slices["low"].metric.diff) == ((4, 0), None, None)
    assert compare(a, b, by=["severity"]).to_dict()["slices"]["severity"]["high"]["known"] == {"a": 8, "b": 8}


def test_kinds_to_choose_from_are_those_that_there_are(before):
    assert tuple(DIMENSIONS) == KINDS
    with pytest.raises(UsageError, match=r"'sevrity' is not known\. Did you mean 'severity'"):
        compare(before, by=["sevrity"])


def test_another_model_is_refused_and_none_is_not(tmp_path):
    a = run_of(tmp_path / "a", BEFORE, judge="llm", verdict="fully")
    b = run_of(tmp_path / "b", AFTER, judge="cascade", verdict="fully", first=50)
    neither = run_of(tmp_path / "c", AFTER, first=90)
    with pytest.raises(UsageError, match='their settings differ: judge "llm" and "cascade"'):
        compare(a, b)
    with pytest.raises(UsageError, match='judge "llm" and "cascade"'):
        leaderboard([neither, a, b])
    result = compare(a, neither)
    assert "addressed" not in result.metrics
    assert "measured in one of the runs only, so not compared: addressed, addressed_fully" in result.warnings


def test_beta_is_for_precision_and_recall(before, after):
    with pytest.raises(UsageError, match="outcomes have no precision and recall"):
        compare(before, after, beta=2)
    with pytest.raises(UsageError, match="outcomes have no precision and recall"):
        leaderboard([before, after], beta=2)


def test_undecided_comments_are_told_of(tmp_path):
    a = run_of(tmp_path / "a", BEFORE, judge="llm", verdict="undecided")
    b = run_of(tmp_path / "b", AFTER, judge="llm", verdict="partly", first=50)
    result = compare(a, b)
    assert result.undecided == {"a": 24, "b": 0}
    assert "Comments that the judge left undecided are not in addressed: 24 of bot[bot] (a)" in result.verdict
    assert (result.metrics["addressed"].a, result.metrics["addressed"].b) == (None, 1.0)
    assert compare(b, a).metrics["addressed"].is_loss(0.05)


def test_labels_correct_what_was_addressed(tmp_path):
    """The judge calls everything addressed, and people nothing of A's and all of B's."""
    runs = []
    for name, first, told in (("a", 1, "not"), ("b", 50, "fully")):
        run = run_of(tmp_path / name, [(1, 2)] * 12, first=first, judge="llm", verdict="fully", name="bot")
        frame = open_outcome_frame(run, budget=24)
        assert len(frame.drawn) == 24
        give(run, *(label(first + number, at, told) for number in range(12) for at in range(2)))
        runs.append(run)
    result = compare(*runs)
    found = result.metrics["addressed"]
    assert (found.a, found.b) == (0.0, 1.0)
    assert result.labelled == (24, 24)
    assert "What was addressed is corrected by people's labels of 24 comments." in result.verdict
    assert result.to_dict()["corrected_by_comments"] == {"a": 24, "b": 24}
    board = leaderboard(runs, sort="addressed")
    assert [(row.label, row.figures.metrics["addressed"]) for row in board.rows] == [("bot (b)", 1.0), ("bot (a)", 0.0)]
    assert board.headline.endswith("What was addressed is corrected by labels of 48 comments.")


def test_a_leaderboard_ranks_everybody_on_its_own(tmp_path, before, after):
    few = run_of(tmp_path / "few", [(3, 3)] * 3, first=90, name="rarely")
    board = leaderboard([before, after, few])
    assert [(row.rank, row.label, row.ties, row.prs) for row in board.rows] == [
        (1, "bot[bot] (after)", "a", 5),
        (2, "bot[bot] (before)", "b", 6),
    ]
    assert [row.label for row in board.unranked] == ["rarely"]
    few_known, without_times = board.warnings
    assert few_known == "not ranked, with lines changed known on fewer than 4 pull requests: rarely"
    assert without_times.startswith("comments lack a time: the test takes pull requests for independent")
    assert board.headline == "bot[bot] (after) leads with lines changed 0.650 on 5 pull requests."
    document = board.to_dict()
    assert document["paired"] is False
    assert document["rows"][0]["known"]["lines_changed"] == 20
    assert document["pairs"][0]["p_family"] == pytest.approx(compare(after, before).metrics["lines_changed"].p)


def test_lower_comes_first_where_lower_is_better(tmp_path):
    def repeating(folder, often, first):
        records = {
            (pr(first + number), folder.name): [
                replace(each, repeated=replace(each.lines_changed, value=each.position < often)) for each in said(1, 4)
            ]
            for number in range(6)
        }
        return make_run(folder, records, "none")

    board = leaderboard([repeating(tmp_path / "often", 3, 1), repeating(tmp_path / "once", 1, 20)], sort="repeated")
    assert [row.label for row in board.rows] == ["once", "often"]


@pytest.mark.parametrize("option", [{"all_prs": True}, {"min_coverage": 0.5}])
def test_options_about_coverage_are_refused(before, option):
    with pytest.raises(UsageError, match="is for runs against references"):
        leaderboard([before], **option)
