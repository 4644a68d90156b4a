"""Two runs or two reviewers, paired by pull request."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import metareview
from metareview.api import evaluate_comments, load_run
from metareview.comments.filters import FilterConfig
from metareview.comparison.explain import effects, excerpt
from metareview.comparison.paired import compare
from metareview.errors import InputError, UsageError
from metareview.formats.comments import jsonl
from metareview.judges.protocol import SAME, UNDECIDED, Answer, Judge
from metareview.model.comment import Comment, Review
from sealed_runs import seal_again


def pull(number):
    return f"https://github.com/owner/repo/pull/{number}"


def note(text, line=1, **fields):
    return Comment(note=text, path="a.py", side="right", from_line=line, to_line=line, **fields)


def write(path, reviews):
    path.write_text(jsonl.write(reviews)[""], encoding="utf-8")
    return path


LEAK = note("leak", 10, category="Code Defect", severity="High", context="Diff Level")
SLOW = note("slow", 20, category="Performance", severity="Low", context="Diff Level")
RACE = note("race", 30, category="Code Defect", severity="High", context="Repo Level")
REFERENCES = [
    Review(pull(1), (LEAK, SLOW), language="Go", pr_category="Bug Fix"),
    Review(pull(2), (RACE,), language="Go", pr_category="Bug Fix"),
    Review(pull(3), (LEAK, SLOW, RACE), language="Rust"),
]
OLD = {1: ("leak",), 2: ("hm",), 3: ("leak", "hm")}
NEW = {1: ("leak", "slow"), 2: ("race",), 3: ("slow", "hm", "hm")}
LINES = {"leak": 10, "slow": 20, "race": 30, "hm": 99, "other": 10}


def reviews(said, who):
    return [
        Review(pull(n), tuple(note(text, LINES[text]) for text in texts), reviewer=who) for n, texts in said.items()
    ]


@pytest.fixture
def make(tmp_path):
    """make(name, {reviewer: {number: notes}}, ...) -> a run's folder."""

    def made(name, said, references=REFERENCES, **options):
        benchmark = write(tmp_path / f"{name}-references.jsonl", references)
        comments = write(
            tmp_path / f"{name}-said.jsonl", [r for who, notes in said.items() for r in reviews(notes, who)]
        )
        out = tmp_path / name
        evaluate_comments(comments, reference=benchmark, out=out, **{"judge": "exact"} | options)
        return out

    return made


def test_every_figure_by_hand(make):
    """Old: 2 of 4 comments match, 2 of 6 references. New: 4 of 6 comments, 4 of 6 references."""
    result = compare(make("run", {"old": OLD, "new": NEW})).to_dict()
    assert (result["schema"], result["prs"]) == ("metareview.compare/1", 3)
    assert (result["a"]["name"], result["b"]["name"]) == ("old", "new")
    figures = result["metrics"]
    assert (figures["positive_match_rate"]["a"], figures["positive_match_rate"]["b"]) == pytest.approx((1 / 2, 2 / 3))
    assert figures["positive_recall_rate"]["diff"] == pytest.approx(4 / 6 - 2 / 6)
    assert figures["f1"]["a"] == pytest.approx(2 * 2 / (4 + 6))
    assert figures["f1"]["b"] == pytest.approx(2 * 4 / (6 + 6))
    assert figures["unmatched_rate"]["diff"] == pytest.approx(2 / 6 - 2 / 4)
    assert "false_positive_rate" not in figures
    assert figures["f1"]["interval"][0] <= figures["f1"]["diff"] <= figures["f1"]["interval"][1]
    found = result["found"]
    assert {name: entry["count"] for name, entry in found.items()} == {
        "only_a": 1,
        "only_b": 3,
        "both": 1,
        "neither": 1,
    }
    assert [(item["pr"], item["note"]) for item in found["only_a"]["references"]] == [(pull(3), "leak")]
    assert [(item["pr"], item["note"]) for item in found["only_b"]["references"]] == [
        (pull(1), "slow"),
        (pull(2), "race"),
        (pull(3), "slow"),
    ]
    assert [item["note"] for item in found["neither"]["references"]] == ["race"]
    kinds = result["kinds"]
    assert kinds["comment_category"] == {
        "Performance": {"references": 2, "a": 0, "b": 2, "diff": 1.0},
        "Code Defect": {"references": 4, "a": 2, "b": 2, "diff": 0.0},
    }
    assert kinds["language"]["Go"] == {"references": 3, "a": 1, "b": 3, "diff": pytest.approx(2 / 3)}
    assert kinds["pr_category"]["unknown"]["references"] == 3
    assert list(kinds["severity"]) == ["Low", "High"]


def test_p_is_that_of_all_signs(make):
    """Eight pull requests with two references each; A and B swap what they find, B finds one more."""
    references = [Review(pull(n), (LEAK, SLOW)) for n in range(1, 9)]
    a = {n: ("leak",) if n < 7 else ("leak", "slow") for n in range(1, 9)}
    b = {n: ("leak", "slow") if n < 6 else ("slow",) for n in range(1, 9)}
    result = compare(make("run", {"A": a, "B": b}, references))
    # Each pull request adds 1/2 of its references or takes 1/2: +5, 0 once, -2. Of 2^8 signs, |sum| >= 3.
    sums = [abs(sum(signs[:7])) for signs in product([1, -1], repeat=8)]
    assert result.metrics["positive_recall_rate"].p == pytest.approx(np.mean([total >= 3 for total in sums]))


def test_too_few_matches_are_said_to_be_too_few(make):
    result = compare(make("run", {"old": OLD, "new": NEW}))
    recall = result.metrics["positive_recall_rate"]
    assert (recall.p, recall.p_holm, recall.too_few_matches) == (None, None, True)
    assert "there are too few matches to test" in result.verdict
    assert "positive_recall_rate" in result.to_dict()["too_few_matches"]


def test_noise_is_not_a_test_of_its_own(make):
    """Holm over 6 metrics, not 7: noise is 1 - precision, with its p value."""
    a = {n: ("leak",) if n % 2 else ("leak", "hm") for n in range(1, 13)}
    b = dict.fromkeys(range(1, 13), ("leak", "slow"))
    metrics = compare(make("run", {"A": a, "B": b}, TWELVE)).metrics
    precision, noise = metrics["positive_match_rate"], metrics["unmatched_rate"]
    assert (noise.p, noise.p_holm) == (precision.p, precision.p_holm)
    least = min(metric.p for metric in metrics.values())
    tested = len(metrics) - 1
    assert min(metric.p_holm for metric in metrics.values()) == pytest.approx(least * tested)


def test_f1_by_another_name_is_no_further_test(make):
    a = {n: ("leak",) if n % 2 else ("leak", "hm") for n in range(1, 13)}
    b = dict.fromkeys(range(1, 13), ("leak", "slow"))
    run = make("run", {"A": a, "B": b}, TWELVE)
    plain, doubled = (compare(run, beta=beta).metrics for beta in (None, 1))
    assert {name: metric.p_holm for name, metric in plain.items()} == {
        name: metric.p_holm for name, metric in doubled.items() if name != "f_beta"
    }
    assert doubled["f_beta"].p_holm == doubled["f1"].p_holm


def test_the_family_of_runs_in_memory_is_found(make):
    a = {n: ("leak",) if n % 2 else ("leak", "hm") for n in range(1, 13)}
    b, wrong = dict.fromkeys(range(1, 13), ("leak", "slow")), dict.fromkeys(range(1, 13), ("hm",))
    folders = make("one", {"x": a, "y": wrong}, TWELVE), make("two", {"x": b, "z": wrong}, TWELVE)
    one, two = map(load_run, folders)
    in_memory = [replace(run, folder=None, kept_records=list(run.read_records())) for run in (one, two)]
    family = compare(*in_memory, reviewers=["x", "z"]).family
    assert family.competitors == 4
    assert family == compare(one, two, reviewers=["x", "z"]).family


def test_one_pull_request_makes_nobody_better(make):
    """A and B say the same on 11 of 12; on the last B says a hundred things more."""
    a = dict.fromkeys(range(1, 13), ("leak", "hm"))
    b = {**a, 12: ("leak", *["hm"] * 100)}
    result = compare(make("run", {"A": a, "B": b}, TWELVE))
    assert "better" not in result.verdict
    assert "F1 differs on 1 of 12 pull requests: so few cannot show any difference." in result.verdict
    assert not any(metric.is_loss(0.05) for metric in result.metrics.values())


def test_the_detectable_difference_is_at_the_corrected_level(make):
    a = {n: ("leak",) if n % 2 else ("leak", "hm") for n in range(1, 13)}
    b = {n: ("leak", "slow", "hm") if n % 2 else ("leak", "slow") for n in range(1, 13)}
    metrics = compare(make("run", {"A": a, "B": b}, TWELVE)).metrics
    f1 = metrics["f1"]
    assert f1.minimum_detectable == f1.test.detectable(0.05 / (len(metrics) - 1))
    assert f1.minimum_detectable > f1.test.detectable(0.05)


def test_how_many_pull_requests_a_difference_would_take(make):
    a = {n: ("leak",) if n % 2 else ("leak", "hm") for n in range(1, 13)}
    b = {n: ("leak", "slow", "hm") if n % 3 else ("leak", "slow") for n in range(1, 13)}
    run = make("run", {"A": a, "B": b}, TWELVE)
    result = compare(run, plan=0.05)
    needed = result.plan.units["f1"]
    assert needed > compare(run, plan=0.1).plan.units["f1"] > 5
    assert f"true difference of 0.05 in F1 four times in five would take about {needed} pull requests" in result.verdict
    assert result.to_dict()["plan"] == {"difference": 0.05, "units": dict(result.plan.units)}
    assert compare(run).plan is None
    with pytest.raises(UsageError, match=r"--plan must be a difference between 0 and 1, such as 0\.05, found 5"):
        compare(run, plan=5)


def test_the_leaderboards_view_of_the_same_two_is_told(make):
    a = {n: ("leak",) if n % 2 else ("leak", "hm") for n in range(1, 13)}
    b = dict.fromkeys(range(1, 13), ("leak", "slow"))
    wrong = dict.fromkeys(range(1, 13), ("hm",))
    run = make("run", {"A": a, "B": b, "C": wrong}, TWELVE)
    result = compare(run, reviewers=["A", "B"])
    assert (result.family.competitors, result.family.prs, result.family.separated) == (3, 12, True)
    assert "leaderboard of these 3 reviewers tests F1 alone, over all their pairs, and tells them apart too" in (
        result.verdict
    )
    assert result.to_dict()["leaderboard"]["p"] == result.family.p
    twins = compare(make("twins", {"A": a, "B": a, "C": wrong}, TWELVE), reviewers=["A", "B"])
    assert "cannot tell them apart either (p = 1.000)" in twins.verdict


def test_pull_requests_are_named_with_their_comments(make):
    pulls = compare(make("run", {"old": OLD, "new": NEW})).to_dict()["pull_requests"]
    assert [entry["pr"] for entry in pulls["gains"]] == [pull(2), pull(1)]
    [loss] = pulls["losses"]
    assert loss["pr"] == pull(3)
    assert [(r["note"], [c["note"] for c in r["comments"]]) for r in loss["only_a"]] == [("leak", ["leak"])]
    assert [r["note"] for r in loss["only_b"]] == ["slow"]
    assert (loss["b"]["comments"], loss["b"]["matched"], len(loss["b"]["unmatched"])) == (3, 1, 2)
    assert pulls["differing"] == [pull(1), pull(2), pull(3)]


def test_effects_are_half_of_what_an_exchange_takes():
    a, b = np.array([[1.0, 3], [0, 2], [2, 2]]), np.array([[2.0, 3], [2, 5], [2, 2]])

    def rate(sums):
        return sums[..., 0] / sums[..., 1]

    # Whole: 6/10 - 3/7. Exchanged in the second: 4/7 - 5/10.
    whole, exchanged = 6 / 10 - 3 / 7, 4 / 7 - 5 / 10
    assert effects(a, b, rate)[1] == pytest.approx((whole - exchanged) / 2)
    assert effects(a, b, rate)[2] == 0
    ones = np.ones((3, 1))
    means = effects(np.hstack([a[:, :1], ones]), np.hstack([b[:, :1], ones]), rate)
    assert means == pytest.approx([1 / 3, 2 / 3, 0])  # a mean's parts are exactly its differences


def test_a_run_against_itself(make):
    run = make("run", {"old": OLD})
    result = compare(run, run)
    for metric in result.metrics.values():
        assert (metric.diff, metric.interval, metric.p, metric.p_holm) == (0, (0, 0), 1, 1)
    assert result.verdict == "The figures are equal."
    why = result.explanation
    assert (why.gains, why.losses, why.differing) == ([], [], [])


def test_the_one_pull_request_that_changed_is_named(make):
    before = make("before", {"bot": OLD})
    worse = compare(before, make("worse", {"bot": {**OLD, 3: ("hm", "hm")}}))
    assert worse.explanation.differing == [pull(3)]
    assert [pair.pr for pair in worse.explanation.losses] == [pull(3)]
    assert worse.explanation.gains == []
    assert (worse.a.label, worse.b.label) == ("bot (before)", "bot (worse)")
    # Another wording of a comment that matches nothing changes no figure; it is named all the same.
    same = compare(before, make("same", {"bot": {**OLD, 2: ("slow",)}}))
    assert same.metrics["f1"].diff == 0
    assert same.explanation.differing == [pull(2)]


TWELVE = [Review(pull(n), (LEAK, SLOW)) for n in range(1, 13)]


def test_the_verdict_in_words(make):
    """B finds everything and is as often wrong: recall is better, noise is not, precision cannot tell."""
    a = {n: ("leak",) if n % 2 else ("leak", "hm") for n in range(1, 13)}
    b = {n: ("leak", "slow", "hm") if n % 2 else ("leak", "slow") for n in range(1, 13)}
    result = compare(make("run", {"A": a, "B": b}, TWELVE))
    assert result.metrics["positive_recall_rate"].p_holm < 0.05
    assert result.metrics["positive_match_rate"].p_holm > 0.05
    assert result.verdict.startswith("B is better on recall, F1, line recall and line F1; on precision,")
    assert "noise the data cannot tell. With these 12 pull requests, a true difference in F1" in result.verdict


def test_the_verdict_where_lower_is_better(make):
    a = dict.fromkeys(range(1, 13), ("leak", "slow", "hm", "hm", "hm"))
    b = dict.fromkeys(range(1, 13), ("leak", "slow"))
    result = compare(make("run", {"A": a, "B": b}, TWELVE))
    noise = result.metrics["unmatched_rate"]
    assert noise.diff == pytest.approx(-3 / 5)
    assert (noise.winner(0.05), noise.is_loss(0.05)) == ("b", False)
    assert "B is better on precision, F1, line precision, line F1 and noise (lower)" in result.verdict
    assert "equal on recall and line recall" in result.verdict
    back = compare(make("back", {"A": b, "B": a}, TWELVE)).metrics
    assert back["unmatched_rate"].is_loss(0.05)
    assert back["f1"].is_loss(0.05)
    assert not back["f1"].is_loss(0.0001)
    assert not back["positive_recall_rate"].is_loss(0.05)


def test_a_reviewer_that_fell_silent_has_lost_its_precision(make):
    result = compare(make("run", {"A": OLD, "B": dict.fromkeys(OLD, ())}))
    precision = result.metrics["positive_match_rate"]
    assert (precision.b, precision.diff, precision.p, precision.p_holm) == (None, None, None, None)
    assert "precision, line precision and noise cannot be compared" in result.verdict
    assert precision.is_loss(0.05)


def test_f_beta(make):
    result = compare(make("run", {"old": OLD, "new": NEW}), beta=2)
    assert result.metrics["f_beta"].a == pytest.approx(5 * (1 / 2) * (1 / 3) / (4 * 1 / 2 + 1 / 3))


def test_whom_to_compare(make):
    three = make("three", {"x": OLD, "y": NEW, "z": OLD})
    one = make("one", {"w": NEW})
    with pytest.raises(UsageError, match=r"holds 3 reviewers: x, y, z\. Name two"):
        compare(three)
    with pytest.raises(UsageError, match=r"holds 3 reviewers: x, y, z\. Choose with --reviewer"):
        compare(three, one)
    with pytest.raises(UsageError, match=r"No reviewer is named 'nobody'\. There are x, y, z, w\."):
        compare(three, one, reviewers=["nobody"])
    with pytest.raises(UsageError, match="holds no reviewer named 'y'"):
        compare(three, one, reviewers=["x", "y"])
    with pytest.raises(UsageError, match="given 3 times"):
        compare(three, reviewers=["x", "y", "z"])
    chosen = compare(three, one, reviewers=["x"])
    assert (chosen.a.name, chosen.b.name) == ("x", "w")
    chosen = compare(three, reviewers=["y", "x"])
    assert (chosen.a.name, chosen.b.name) == ("y", "x")
    chosen = compare(three, three, reviewers=["y"])
    assert (chosen.a.label, chosen.b.label) == ("y (A)", "y (B)")


def test_runs_in_memory_are_compared_like_runs_in_folders(make, tmp_path):
    """The same figures and sentences; only the paths are missing, and the labels that come from them."""
    before, after = make("before", {"bot": OLD}), make("after", {"bot": NEW})
    first, second = (
        evaluate_comments(
            tmp_path / f"{name}-said.jsonl", reference=tmp_path / f"{name}-references.jsonl", judge="exact"
        )
        for name in ("before", "after")
    )
    stored, in_memory = compare(before, after).to_dict(), compare(first, second).to_dict()
    assert in_memory["a"] == {"name": "bot", "run": None, "label": "bot (A)"}
    assert in_memory["b"]["label"] == "bot (B)"
    mixed = compare(first, after)
    assert (mixed.a.label, mixed.b.label) == ("bot (the run in memory)", "bot (after)")
    for key in stored.keys() - {"a", "b", "verdict"}:
        assert in_memory[key] == stored[key], key
    with pytest.raises(UsageError, match=r"the run in memory holds 1 reviewer: bot\. Name two"):
        compare(first)


def test_the_public_comparison_prints_its_verdict(make):
    run = make("run", {"old": OLD, "new": NEW})
    shown = metareview.compare(run)
    plain = compare(run)
    assert isinstance(shown, metareview.Comparison)
    assert shown.to_dict() == plain.to_dict()
    assert str(shown) == plain.verdict
    assert repr(shown) == f"<Comparison of old and new: {plain.verdict}>"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"judge": "rouge"}, r'judge "exact" and "rouge"; threshold none and 0\.7'),
        ({"line_distance": 3}, "line distance 1 and 3"),
        ({"alignment": "coverage"}, 'alignment "optimal" and "coverage"'),
        ({"ignore_location": True}, "location true and false"),
        (
            {"filters": FilterConfig(comment_categories=["Performance"])},
            r'comment categories none and \["Performance"\]',
        ),
    ],
)
def test_other_settings_are_refused_whatever_is_shared(make, options, reason):
    plain, other = make("plain", {"x": OLD}), make("other", {"x": OLD}, **options)
    for common in (False, True):
        with pytest.raises(UsageError, match=reason):
            compare(plain, other, common=common)


def test_other_pull_requests_are_refused_unless_common(make):
    whole = make("whole", {"x": OLD})
    part = make("part", {"x": {n: OLD[n] for n in (1, 2)}})
    with pytest.raises(UsageError, match=r"1 pull request only in A \(github.com/owner/repo#3\)\. --common .* the 2 "):
        compare(whole, part)
    result = compare(whole, part, common=True)
    assert result.prs == 2
    assert result.to_dict()["left_out"] == {"only_a": 1, "only_b": 0, "different_references": 0}
    assert result.metrics["f1"].a == result.metrics["f1"].b == pytest.approx(2 * 1 / (2 + 3))
    # A filter of pull requests leaves others out; what is left means the same.
    rust = make("rust", {"x": OLD}, filters=FilterConfig(project_languages=["Rust"]))
    assert compare(whole, rust, common=True).prs == 1
    with pytest.raises(UsageError, match="share no pull request"):
        compare(part, rust, common=True)


def test_another_benchmark_is_refused_and_common_keeps_what_is_equal(make):
    plain = make("plain", {"x": OLD})
    changed = [REFERENCES[0], REFERENCES[1], Review(pull(3), (LEAK, SLOW))]
    other = make("other", {"x": OLD}, changed)
    with pytest.raises(UsageError, match=r"1 pull request with other references in B"):
        compare(plain, other)
    result = compare(plain, other, common=True)
    assert (result.prs, result.left_out.different_references) == (2, 1)
    assert "1 with other references" in result.warnings[0]


def test_negatives_on_one_side_only_cost_one_metric(make, tmp_path):
    negatives = write(tmp_path / "negatives.jsonl", [Review(pull(1), (note("hm", 99),))])
    result = compare(make("without", {"x": OLD}), make("with", {"x": OLD}, negatives=negatives))
    assert "false_positive_rate" not in result.metrics
    assert result.warnings == ("measured in one of the runs only, so not compared: false_positive_rate",)


class Unsure(Judge):
    """Decides that equal notes are the same, and cannot tell about any others."""

    name = "unsure"

    def judge(self, questions):
        answers = []
        for question in questions:
            equal = np.array([question.generated[g] == question.reference[r] for g, r in question.pairs.tolist()], bool)
            answers.append(Answer(np.where(equal, 1.0, np.nan), np.where(equal, SAME, UNDECIDED).astype(np.int8)))
        return answers


def test_undecided_pairs_are_mentioned(make):
    beside = [Review(pull(1), (LEAK,)), Review(pull(2), (RACE,))]
    run = make(
        "run", {"x": {1: ("leak",), 2: ("race",)}, "y": {1: ("other", "leak"), 2: ("race",)}}, beside, judge=Unsure()
    )
    result = compare(run)
    assert result.to_dict()["undecided"] == {"a": 0, "b": 1}
    assert "Undecided pairs count as no match: 0 of x, 1 of y." in result.verdict


def test_bad_input_is_named(make, tmp_path):
    run = make("run", {"old": OLD, "new": NEW})
    with pytest.raises(UsageError, match="--alpha"):
        compare(run, alpha=1.5)
    with pytest.raises(InputError, match="not a run's folder"):
        compare(tmp_path)
    lines = (run / "results.jsonl").read_text().splitlines()
    (run / "results.jsonl").write_text("\n".join([*lines, '{"reviewer": "old"}', ""]))
    seal_again(run)
    with pytest.raises(InputError, match=r"line 7 of a file of this run cannot be read \(KeyError"):
        compare(run)


def test_excerpts_end_between_words_and_on_one_line():
    assert excerpt("short\n\nnote") == "short note"
    assert excerpt("one two three", 9) == "one two …"
    assert excerpt("x" * 50, 10) == "x" * 10 + " …"
    assert len(excerpt("word " * 100_000)) < 250
