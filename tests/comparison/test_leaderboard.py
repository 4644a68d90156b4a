"""The leaderboard: figures, intervals and ties over runs and reviewers."""

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from metareview.api import evaluate_comments, load_run
from metareview.comments.filters import FilterConfig
from metareview.comparison import competitors
from metareview.comparison.leaderboard import leaderboard
from metareview.errors import UsageError
from metareview.formats.comments import jsonl
from metareview.judges.protocol import DIFFERENT, SAME, Answer, Judge
from metareview.model.comment import Comment, Review
from metareview.report.comparison import ties_remark
from metareview.report.headline import headline
from metareview.ties import MOST_TESTED

MARTIAN = Path(__file__).resolve().parents[3] / "shared" / "data" / "martian"


def pull(number):
    return f"https://github.com/owner/repo/pull/{number}"


def note(text, line=1):
    return Comment(note=text, path="a.py", side="right", from_line=line, to_line=line)


def make_run(folder, name, references, reviews, **options):
    """A run of reviewers {name: {number: [notes]}} against references {number: [notes]}, by equal notes."""
    folder.mkdir(exist_ok=True)
    benchmark, said = folder / f"{name}-references.jsonl", folder / f"{name}.jsonl"
    benchmark.write_text(jsonl.write([Review(pull(n), tuple(map(note, notes))) for n, notes in references.items()])[""])
    said.write_text(
        jsonl.write(
            [
                Review(pull(n), tuple(map(note, notes)), reviewer=who)
                for who, by_number in reviews.items()
                for n, notes in by_number.items()
            ]
        )[""]
    )
    out = folder / name
    evaluate_comments(said, reference=benchmark, out=out, **{"judge": "exact"} | options)
    return out


TWENTY = {n: ["leak", "race"] for n in range(1, 21)}
RIGHT = {n: ["leak", "race"] for n in TWENTY}
HALF = {n: ["leak"] for n in TWENTY}
WRONG = {n: ["hm"] for n in TWENTY}


def test_ranks_figures_and_letters(tmp_path):
    run = make_run(tmp_path, "run", TWENTY, {"wrong": WRONG, "half": HALF, "right": RIGHT, "twin": HALF})
    board = leaderboard([run]).to_dict()
    assert [(row["rank"], row["label"], row["ties"]) for row in board["rows"]] == [
        (1, "right", "a"),
        (2, "half", "b"),
        (3, "twin", "b"),
        (4, "wrong", "c"),
    ]
    # half: precision 1, recall 1/2, so F1 is 2/3.
    assert [row["metrics"]["f1"] for row in board["rows"]] == pytest.approx([1, 2 / 3, 2 / 3, 0])
    assert board["rows"][1]["total_generated_nums"] == 20
    twins = next(pair for pair in board["pairs"] if {pair["a"], pair["b"]} == {"half", "twin"})
    assert (twins["diff"], twins["p"], twins["p_family"]) == (0, 1, 1)
    assert (board["prs"], board["warnings"]) == (20, [])
    assert board["headline"] == "right leads with F1 1.000 on 20 pull requests."
    # Where the first two cannot be told apart nobody leads, whatever the third does.
    rest = leaderboard([make_run(tmp_path, "rest", TWENTY, {"wrong": WRONG, "half": HALF, "twin": HALF})])
    assert rest.headline == "half and twin cannot be told apart at the top by F1, on 20 pull requests."
    assert rest.leader is None
    alone = leaderboard([make_run(tmp_path, "alone", TWENTY, {"half": HALF})])
    assert alone.headline == "half has F1 0.667 on 20 pull requests."


def test_pairs_with_too_few_matches_are_called_untested(tmp_path):
    """Two reviewers that raise a reference or two of so many have too few matches; those that raise half have not."""
    few = {n: TWENTY[n] for n in list(TWENTY)[:3]}
    twins = leaderboard([make_run(tmp_path, "few", few, {"a": {1: ["leak"]}, "b": {2: ["leak"]}}, all_prs=True)])
    assert twins.headline == "a and b have too few matches to be tested at the top by F1, on 3 pull requests."
    assert ties_remark(twins) == "A shared letter tells nothing here: there are too few matches to test any pair."
    rare = {n: ["leak"] if n == 1 else ["hm"] for n in TWENTY}
    reviews = {"half": HALF, "twin": HALF, "rare": rare, "rarer": {n: ["hm"] for n in TWENTY}}
    board = leaderboard([make_run(tmp_path, "some", TWENTY, reviews)], sort="recall")
    assert board.untested == [("rare", "rarer")]
    assert ties_remark(board).endswith("at once, 0.05). 1 pair shares a letter untested, with too few matches.")
    assert board.headline == "half and twin cannot be told apart at the top by recall, on 20 pull requests."


def test_many_at_the_top_are_counted_in_the_headline(tmp_path):
    six = dict.fromkeys("abcdef", HALF)
    board = leaderboard([make_run(tmp_path, "run", TWENTY, six)])
    assert board.headline == "a, b, c and 3 others cannot be told apart at the top by F1, on 20 pull requests."


def test_sorted_by_a_metric_where_lower_is_better(tmp_path):
    noisy = {n: ["leak", "hm", "hm"] for n in TWENTY}
    run = make_run(tmp_path, "run", TWENTY, {"noisy": noisy, "half": HALF})
    board = leaderboard([run], sort="noise").to_dict()
    assert board["sort"] == "unmatched_rate"
    assert [(row["label"], row["ties"]) for row in board["rows"]] == [("half", "a"), ("noisy", "b")]
    assert [row["metrics"]["unmatched_rate"] for row in board["rows"]] == pytest.approx([0, 2 / 3])


def test_beta_weighs_recall(tmp_path):
    """P 1, R 1/2: F2 = 5PR / (4P + R) = 2.5 / 4.5; F0.5 = 1.25PR / (P/4 + R) = 0.625 / 0.75."""
    run = make_run(tmp_path, "run", TWENTY, {"half": HALF})
    for beta, value in ((2, 5 / 9), (0.5, 5 / 6), (1, 2 / 3)):
        [row] = leaderboard([run], beta=beta).to_dict()["rows"]
        assert row["metrics"]["f_beta"] == pytest.approx(value)
        # Every pull request is the same, so nothing moves: 20 trials of this rate, and never a point.
        ends = [scipy.stats.beta.ppf(q, 20 * value + a, 20 * (1 - value) + 1 - a) for q, a in ((0.025, 0), (0.975, 1))]
        assert row["intervals"]["f_beta"] == pytest.approx(ends)
    with pytest.raises(UsageError, match="positive"):
        leaderboard([run], beta=0)
    with pytest.raises(UsageError, match="f_beta needs --beta"):
        leaderboard([run], sort="f_beta")


def test_somebody_without_a_figure_is_not_ranked(tmp_path):
    run = make_run(tmp_path, "run", TWENTY, {"silent": {n: [] for n in TWENTY}, "wrong": WRONG})
    board = leaderboard([run], sort="positive_match_rate").to_dict()
    assert [row["label"] for row in board["rows"]] == ["wrong"]
    assert [(row["label"], row["rank"], row["metrics"]["positive_match_rate"]) for row in board["unranked"]] == [
        ("silent", None, None)
    ]
    assert board["warnings"] == ["not ranked, without a figure for precision: silent"]


def test_reviewers_of_several_runs_and_their_names(tmp_path):
    one = make_run(tmp_path, "one", TWENTY, {"bot": HALF, "other": WRONG})
    two = make_run(tmp_path, "two", TWENTY, {"bot": RIGHT})
    board = leaderboard([one, two, one])
    assert [row.label for row in board.rows] == ["bot (two)", "bot (one)", "other"]


def test_runs_in_memory_are_told_apart_by_their_number(tmp_path):
    make_run(tmp_path, "one", TWENTY, {"bot": HALF, "other": WRONG})
    make_run(tmp_path, "two", TWENTY, {"bot": RIGHT})
    one, two = (
        evaluate_comments(tmp_path / f"{name}.jsonl", reference=tmp_path / f"{name}-references.jsonl", judge="exact")
        for name in ("one", "two")
    )
    board = leaderboard([one, two, one])
    assert [(row.label, row.run) for row in board.rows] == [
        ("bot (run 2)", None),
        ("bot (run 1)", None),
        ("other", None),
    ]


def test_a_reviewer_whose_pull_requests_are_all_filtered_out_has_a_row_without_figures(tmp_path):
    """Pull request 1 is in Go, 2 in Rust; only Go is scored, and `rusty` has nothing there."""
    benchmark, said = tmp_path / "references.jsonl", tmp_path / "said.jsonl"
    languages = {1: "Go", 2: "Rust"}
    benchmark.write_text(
        jsonl.write([Review(pull(n), (note("leak"),), language=name) for n, name in languages.items()])[""]
    )
    reviews = [Review(pull(n), (note("leak"),), reviewer=who) for who, n in (("gopher", 1), ("rusty", 2))]
    said.write_text(jsonl.write(reviews)[""])
    run = evaluate_comments(said, reference=benchmark, judge="exact", filters=FilterConfig(project_languages=["Go"]))
    board = leaderboard([run])
    assert [(row.label, row.prs, row.of, row.figures.metrics["f1"]) for row in board.rows] == [("gopher", 1, 1, 1)]
    assert [(row.label, row.prs, row.own.metrics["f1"]) for row in board.unranked] == [("rusty", 0, None)]
    assert board.unranked[0].own.intervals["f1"] is None


@pytest.mark.parametrize("options", [{"ignore_location": True}, {}])
def test_a_count_that_the_run_does_not_have_is_null_in_the_leaderboard_too(tmp_path, options):
    folder = make_run(tmp_path, "run", TWENTY, {"right": RIGHT, "half": HALF}, **options)
    [first, *_] = leaderboard([folder]).to_dict()["rows"]
    of_run = load_run(folder).summary["reviewers"][first["name"]]
    counts = [name for name in of_run if name.endswith("_nums") and name in first]
    assert {"positive_line_match_nums", "positive_line_covered_nums", "positive_match_nums"} <= set(counts)
    assert {name: first[name] for name in counts} == {name: of_run[name] for name in counts}
    assert (first["positive_line_match_nums"] is None) == bool(options)


def test_nobody_leads_who_shares_a_letter_with_anybody(tmp_path):
    run = make_run(tmp_path, "run", TWENTY, {"a": RIGHT, "b": HALF, "c": WRONG})
    board = leaderboard([run])
    first, second, third = board.rows
    shared = replace(board, rows=[first, second, replace(third, ties="ac")])
    assert board.leader is first
    assert shared.leader is None
    assert shared.headline.startswith("a and c cannot be told apart at the top")


THIRTY = {n: ["leak", "race"] for n in range(1, 31)}
"""A benchmark of 30 pull requests."""


def test_a_reviewer_with_few_pull_requests_is_not_ranked_however_good_it_looks(tmp_path):
    """`few` is right wherever it says anything, on 6 of 30. With silence counted it is last."""
    few = {n: ["leak", "race"] for n in range(1, 7)}
    all_of = {"half": {n: ["leak"] for n in THIRTY}, "some": {n: ["leak"] if n % 2 else ["hm"] for n in THIRTY}}
    run = make_run(tmp_path, "run", THIRTY, {"few": few, **all_of})
    board = leaderboard([run])
    assert [row.label for row in board.rows] == ["half", "some"]
    assert board.headline == "half leads with F1 0.667 on 30 pull requests."
    [unranked] = board.unranked
    assert (unranked.rank, unranked.ties, unranked.prs, unranked.of) == (None, "", 6, 30)
    assert unranked.own.metrics["f1"] == 1
    assert "few (6 of 30)" in board.warnings[0]
    assert "--all-prs" in board.warnings[0]
    with_silence = leaderboard([run], all_prs=True)
    assert [row.label for row in with_silence.rows] == ["half", "few", "some"]
    assert with_silence.rows[1].figures.metrics["f1"] == pytest.approx(2 * 12 / (12 + 60))
    assert (with_silence.rows[1].prs, with_silence.rows[1].own.metrics["f1"]) == (6, 1)
    # A run that was evaluated with --all-prs says the same.
    silent = make_run(tmp_path, "silent", THIRTY, {"few": few, **all_of}, all_prs=True)
    assert [row.figures for row in leaderboard([silent]).rows] == [row.figures for row in with_silence.rows]
    low = leaderboard([run], min_coverage=0.2)
    assert (low.rows[0].label, low.rows[0].figures.metrics["f1"]) == ("few", 1)
    assert low.prs == 6


def test_pull_requests_that_nobody_has_count_under_all_prs_and_in_the_coverage(tmp_path):
    run = make_run(tmp_path, "run", THIRTY, {"half": {n: ["leak"] for n in range(1, 11)}})
    assert load_run(run).summary["unreviewed"] == {f"github.com/owner/repo#{n}": 2 for n in range(11, 31)}
    [row] = leaderboard([run]).rows
    assert (row.prs, row.of, row.figures.counts.expected) == (10, 30, 20)
    [row] = leaderboard([run], all_prs=True).rows
    assert (row.prs, row.of, row.figures.counts.expected) == (10, 30, 60)


def test_figures_and_tests_are_over_what_all_ranked_ones_have(tmp_path):
    """`most` lacks pull requests 1 and 2, where `half` is wrong."""
    half = {n: ["leak"] if n > 2 else ["hm"] for n in TWENTY}
    most = {n: ["leak"] for n in range(3, 21)}
    board = leaderboard([make_run(tmp_path, "run", TWENTY, {"half": half, "most": most})])
    rows = {row.label: row for row in board.rows}
    assert board.prs == 18
    assert rows["half"].figures.metrics["f1"] == pytest.approx(2 / 3)
    assert rows["half"].own.metrics["f1"] == pytest.approx(2 * 18 / (20 + 40))
    assert board.pairs["half", "most"].p == 1
    assert "over the 18 pull requests that all ranked ones have" in board.warnings[0]


def test_disjoint_reviewers_are_not_ranked(tmp_path):
    run = make_run(tmp_path, "run", TWENTY, {"a": {1: ["leak"]}, "b": {2: ["hm"]}})
    board = leaderboard([run])
    assert (board.rows, len(board.unranked), board.headline) == ([], 2, "Nobody is ranked.")
    spread = {"a": {n: ["leak"] for n in range(1, 5)}, "b": {n: ["leak"] for n in range(4, 8)}}
    both = leaderboard([make_run(tmp_path, "both", TWENTY, spread)], min_coverage=0.5)
    assert both.prs == 1


def test_a_share_that_is_none_is_refused(tmp_path):
    with pytest.raises(UsageError, match="--min-coverage must lie between 0 and 1, found 80"):
        leaderboard([tmp_path], min_coverage=80)


def test_what_does_not_mean_the_same_is_refused(tmp_path):
    plain = make_run(tmp_path, "plain", TWENTY, {"a": HALF})
    rouge = make_run(tmp_path, "rouge", TWENTY, {"b": HALF}, judge="rouge")
    with pytest.raises(UsageError, match='judge "exact" and "rouge"'):
        leaderboard([plain, rouge])
    other = make_run(tmp_path, "other", {**TWENTY, 7: ["leak", "dead lock"]}, {"b": HALF})
    with pytest.raises(UsageError, match=r"1 pull request has other references \(github.com/owner/repo#7\)"):
        leaderboard([plain, other])
    elsewhere = make_run(tmp_path, "elsewhere", {99: ["leak"]}, {"b": {99: ["leak"]}})
    with pytest.raises(UsageError, match="shares no pull request"):
        leaderboard([plain, elsewhere])
    with pytest.raises(UsageError, match=r"--sort: unknown metric 'quality'\. The metrics are precision, recall, f1,"):
        leaderboard([plain], sort="quality")


class Replay(Judge):
    """A judge that repeats verdicts on pairs of notes."""

    name = "replay"

    def __init__(self, matches):
        self.matches = matches

    def judge(self, questions):
        return [self._answer(question) for question in questions]

    def _answer(self, question):
        same = np.array(
            [(question.reference[r], question.generated[g]) in self.matches for g, r in question.pairs.tolist()], bool
        )
        return Answer(same.astype(float), np.where(same, SAME, DIFFERENT).astype(np.int8))


@pytest.mark.skipif(not MARTIAN.exists(), reason="the Code Review Bench files are not beside this checkout")
def test_twelve_tools_by_a_models_verdicts(tmp_path):
    """Verdicts replayed; the figures are counted here from the verdict file itself, another way."""
    verdicts = json.loads((MARTIAN / "evaluations.json").read_text("utf-8"))
    candidates = json.loads((MARTIAN / "candidates.json").read_text("utf-8"))
    matches = {
        (hit["golden_comment"], hit["matched_candidate"])
        for tools in verdicts.values()
        for result in tools.values()
        for hit in result["true_positives"]
    }
    evaluate_comments(
        MARTIAN / "candidates.json",
        reference=sorted(MARTIAN.glob("golden_*.json")),
        judge=Replay(matches),
        alignment="coverage",
        all_prs=True,
        out=tmp_path / "run",
    )
    run = load_run(tmp_path / "run")
    board = leaderboard([run]).to_dict()
    assert len(board["rows"]) == 12
    for row in board["rows"]:
        tool = row["label"]
        results = {url: tools[tool] for url, tools in verdicts.items()}
        said = {url: [c["text"] for c in candidates[url].get(tool, [])] for url in verdicts}
        hits = {url: {hit["matched_candidate"] for hit in r["true_positives"]} for url, r in results.items()}
        right = sum(text in hits[url] for url, texts in said.items() for text in texts)
        precision = right / sum(map(len, said.values()))
        recall = sum(r["tp"] for r in results.values()) / sum(r["total_golden"] for r in results.values())
        assert row["prs"] == 30
        assert row["positive_covered_nums"] == sum(r["tp"] for r in results.values())
        assert row["metrics"]["positive_match_rate"] == pytest.approx(precision)
        assert row["metrics"]["positive_recall_rate"] == pytest.approx(recall)
        assert row["metrics"]["f1"] == pytest.approx(2 * precision * recall / (precision + recall))
        low, high = row["intervals"]["f1"]
        assert 0 <= low < row["metrics"]["f1"] < high <= 1
        assert row["intervals"] == {
            name: ends for name, ends in run.summary["reviewers"][tool]["intervals"].items() if name in row["intervals"]
        }
    assert [round(row["metrics"]["f1"], 3) for row in board["rows"]] == [
        *(0.526, 0.421, 0.378, 0.350, 0.340, 0.339, 0.322, 0.309, 0.293, 0.289, 0.288, 0.159)
    ]
    letters = {row["label"]: set(row["ties"]) for row in board["rows"]}
    adjusted = {(pair["a"], pair["b"]): pair["p_family"] for pair in board["pairs"]}
    assert len(adjusted) == 66
    for a, b in combinations(letters, 2):
        assert bool(letters[a] & letters[b]) == (adjusted[a, b] > 0.05)
    assert min(adjusted.values()) <= 0.05  # the first and the last can be told apart


def test_so_many_that_they_are_not_tested_against_one_another(tmp_path):
    """All pairs of 2,000 reviewers would be two million tests: beyond 200, the table has figures without letters."""
    crowd = {f"reviewer{n:03d}": {1: ["leak"], 2: ["hm"]} for n in range(MOST_TESTED)}
    run = make_run(tmp_path, "run", {1: ["leak"], 2: ["race"]}, crowd | {"best": {1: ["leak"], 2: ["race"]}})
    board = leaderboard([run])
    assert (len(board.rows), board.pairs, board.leader) == (MOST_TESTED + 1, {}, None)
    assert {row.ties for row in board.rows} == {""}
    assert board.headline == (
        "best has the highest of 201 figures, F1 1.000 on 2 pull requests;"
        " more than 200 are not tested against one another."
    )
    assert ties_remark(board).startswith("No letters")
    sentence = headline(load_run(run))
    assert sentence.startswith(board.headline.removesuffix("."))


def test_whether_benchmarks_differ_is_asked_once_for_each_row(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(competitors, "different_benchmarks", lambda *pair: asked.append(pair))
    leaderboard([make_run(tmp_path, "run", TWENTY, {f"reviewer{n}": HALF for n in range(12)})])
    assert not asked
