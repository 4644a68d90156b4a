"""The leaderboard: figures, intervals and ties over runs and reviewers."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from metareview.api import evaluate_comments, load_run
from metareview.comments.filters import FilterConfig
from metareview.comparison.leaderboard import leaderboard
from metareview.errors import UsageError
from metareview.formats.comments import jsonl
from metareview.judges.protocol import DIFFERENT, SAME, Answer, Judge
from metareview.model.comment import Comment, Review

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
    assert (twins["prs"], twins["diff"], twins["p"], twins["p_holm"]) == (20, 0, 1, 1)
    assert board["warnings"] == []


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
        assert row["intervals"]["f_beta"] == pytest.approx([value, value])
    with pytest.raises(UsageError, match="positive"):
        leaderboard([run], beta=0)
    with pytest.raises(UsageError, match="f_beta needs --beta"):
        leaderboard([run], sort="f_beta")


def test_somebody_without_a_figure_stands_last_and_is_tied_with_all(tmp_path):
    run = make_run(tmp_path, "run", TWENTY, {"silent": {n: [] for n in TWENTY}, "wrong": WRONG})
    board = leaderboard([run], sort="positive_match_rate").to_dict()
    assert [(row["label"], row["metrics"]["positive_match_rate"], row["ties"]) for row in board["rows"]] == [
        ("wrong", 0, "a"),
        ("silent", None, "a"),
    ]
    assert board["pairs"][0]["p"] is None


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
    assert [(row.label, row.prs, row.metrics["f1"]) for row in board.rows] == [("gopher", 1, 1), ("rusty", 0, None)]
    assert board.rows[1].intervals["f1"] is None


def test_pairs_are_tested_on_what_they_share(tmp_path):
    """`few` has two pull requests that `half` lacks: they are in its figures, not in the test."""
    few = {1: ["leak", "race"], 2: ["leak", "race"], 3: ["leak"]}
    others = {n: ["leak"] for n in range(3, 21)}
    run = make_run(tmp_path, "run", TWENTY, {"few": few, "half": others})
    board = leaderboard([run]).to_dict()
    assert [(row["label"], row["prs"]) for row in board["rows"]] == [("few", 3), ("half", 18)]
    assert board["rows"][0]["metrics"]["f1"] == pytest.approx(10 / 11)  # P 5/5, R 5/6
    [pair] = board["pairs"]
    assert (pair["prs"], pair["diff"], pair["p"]) == (1, 0, 1)
    assert "3 to 18" in board["warnings"][0]


def test_disjoint_reviewers_of_one_run_cannot_be_told_apart(tmp_path):
    run = make_run(tmp_path, "run", TWENTY, {"a": {1: ["leak"]}, "b": {2: ["hm"]}})
    board = leaderboard([run]).to_dict()
    assert [row["ties"] for row in board["rows"]] == ["a", "a"]
    assert board["pairs"][0]["prs"] == 0


def test_what_does_not_mean_the_same_is_refused(tmp_path):
    plain = make_run(tmp_path, "plain", TWENTY, {"a": HALF})
    rouge = make_run(tmp_path, "rouge", TWENTY, {"b": HALF}, judge="rouge")
    with pytest.raises(UsageError, match='judge "exact" and "rouge"'):
        leaderboard([plain, rouge])
    other = make_run(tmp_path, "other", {**TWENTY, 7: ["leak", "dead lock"]}, {"b": HALF})
    with pytest.raises(UsageError, match=r"1 pull requests have other references \(github.com/owner/repo#7\)"):
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
    assert [(round(row["metrics"]["f1"], 3), row["ties"]) for row in board["rows"]] == [
        *((0.526, "a"), (0.421, "ab"), (0.378, "ab"), (0.350, "ab"), (0.340, "b"), (0.339, "ab")),
        *((0.322, "ab"), (0.309, "ab"), (0.293, "b"), (0.289, "ab"), (0.288, "b"), (0.159, "b")),
    ]
    letters = {row["label"]: set(row["ties"]) for row in board["rows"]}
    adjusted = {(pair["a"], pair["b"]): pair["p_holm"] for pair in board["pairs"]}
    assert len(adjusted) == 66
    for a, b in combinations(letters, 2):
        assert bool(letters[a] & letters[b]) == (adjusted[a, b] > 0.05)
    neighbours = [adjusted[pair] for pair in zip(list(letters), list(letters)[1:], strict=False)]
    assert min(neighbours) > 0.05  # no two neighbours can be told apart
    assert min(adjusted.values()) <= 0.05  # though the first and the last can
