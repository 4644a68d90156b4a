"""What reviews took, per pull request and per valid finding: worked out by hand, and by a library where it has it."""

import csv
import io
import json

import numpy as np
import pytest
import scipy.stats

from metareview.api import compare, evaluate_comments, load_run
from metareview.comments.costs import Spent, costs_of
from metareview.comparison.leaderboard import leaderboard
from metareview.model.comment import Review, merged
from metareview.report.comparison import comparison_table, leaderboard_table
from metareview.report.comparison_files import write_table
from metareview.report.costs import amount, signed_amount
from metareview.report.csv_table import as_csv
from metareview.report.junit import as_junit
from metareview.report.markdown import as_markdown
from metareview.report.notebook import run_table
from metareview.report.page.page import as_html
from metareview.report.tables import costs_of_reviewers, costs_table, reviewers_table, rows
from metareview.stats import ratio_difference, ratio_interval
from sealed_runs import seal_again

RACE, TYPO, LEAK = (
    "Race: `counter` is incremented without the lock.",
    "Typo in the message: recieve.",
    "The handle is never closed, so `readAll` leaks a file descriptor.",
)


def record(number, notes, reviewer="bot", **took):
    comments = [{"note": note, "path": "a.py", "from_line": at, "to_line": at} for note, at in notes]
    return {"pr": f"https://github.com/acme/app/pull/{number}", "reviewer": reviewer, "comments": comments, **took}


BOTH = [(RACE, 3), (TYPO, 40)]
REFERENCES = [record(number, BOTH, reviewer="people") for number in range(1, 5)]
# bot: 2, 1, 0 and 1 matches. What the third took is not known, and of the fourth only the time.
BOT = [
    record(1, BOTH, cost=0.5, tokens=1000, seconds=20),
    record(2, [(RACE, 3), (LEAK, 70)], cost=0.25, tokens=3000, seconds=40),
    record(3, [(LEAK, 70)]),
    record(4, [(TYPO, 40)], seconds=30),
]
OTHER = [record(number, [(RACE, 3)], reviewer="other", cost=0.1 * number) for number in range(1, 5)]


def heads(table):
    return [column.head for column in table]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("costs") / "run"
    return evaluate_comments([*BOT, *OTHER], reference=REFERENCES, out=folder)


def test_figures_are_over_the_pull_requests_that_have_them(run):
    costs = run.summary["reviewers"]["bot"]["costs"]
    assert costs["prs"] == {"cost": 2, "tokens": 2, "seconds": 3}
    assert costs["total"] == {"cost": 0.75, "tokens": 4000, "seconds": 90}
    assert costs["per_pr"] == {"cost": 0.375, "tokens": 2000, "seconds": 30}
    # Of the four matches, three are on pull requests with a cost.
    assert costs["per_valid_finding"] == pytest.approx({"cost": 0.25, "tokens": 4000 / 3, "seconds": 22.5})
    other = run.summary["reviewers"]["other"]["costs"]
    assert (other["prs"], list(other["total"])) == ({"cost": 4}, ["cost"])
    assert other["per_pr"]["cost"] == other["per_valid_finding"]["cost"] == pytest.approx(0.25)


def test_the_interval_per_pull_request_is_that_of_a_mean(run):
    seconds = np.array([20.0, 40.0, 30.0])
    expected = scipy.stats.t.interval(0.95, 2, seconds.mean(), scipy.stats.sem(seconds))
    ends = run.summary["reviewers"]["bot"]["costs"]["intervals"]["per_pr"]["seconds"]
    assert ends == pytest.approx([max(0, expected[0]), expected[1]])


def test_the_interval_of_a_ratio_leaves_each_unit_out():
    y, x = np.array([3.0, 5.0, 4.0, 8.0]), np.array([1.0, 2.0, 0.0, 3.0])
    without = np.array([np.delete(y, at).sum() / np.delete(x, at).sum() for at in range(4)])
    error = np.sqrt(3 / 4 * ((without - without.mean()) ** 2).sum())
    reach = scipy.stats.t.ppf(0.975, 3) * error
    assert ratio_interval(y, x) == pytest.approx((max(0, 20 / 6 - reach), 20 / 6 + reach))
    ones = np.ones(4)
    means = np.array([np.delete(y, at).mean() - np.delete(y, at).sum() / np.delete(x, at).sum() for at in range(4)])
    error = np.sqrt(3 / 4 * ((means - means.mean()) ** 2).sum())
    reach = scipy.stats.t.ppf(0.975, 3) * error
    assert ratio_difference(y, x, y, ones) == pytest.approx((5 - 20 / 6 - reach, 5 - 20 / 6 + reach))
    # Without the only unit that has any x, there is no figure.
    assert ratio_interval(np.array([1.0, 2.0]), np.array([0.0, 2.0])) is None
    assert ratio_interval(np.array([1.0]), np.array([1.0])) is None


def test_nothing_known_is_nothing_and_no_match_is_no_figure():
    assert costs_of([Spent(), Spent()], [1, 2]) is None
    assert costs_of([], []) is None
    nothing_found = costs_of([Spent(cost=2), Spent(cost=0)], [0, 0])
    assert nothing_found.per_pr == {"cost": 1.0}
    assert nothing_found.per_valid_finding == {"cost": None}
    assert nothing_found.per_valid_finding_intervals == {"cost": None}


def test_two_records_of_one_review_add_up():
    def review(**took):
        return Review("https://github.com/acme/app/pull/1", reviewer="bot", **took)

    [one] = merged([review(cost=0.5, tokens=10), review(cost=0.25), review(seconds=0)]).values()
    assert (one.cost, one.tokens, one.seconds) == (0.75, 10, 0)
    [unknown] = merged([review(), review()]).values()
    assert (unknown.cost, unknown.tokens, unknown.seconds) == (None, None, None)


def test_a_run_in_a_folder_has_the_same(run):
    loaded = load_run(run.folder)
    assert loaded.result.reviewers == run.result.reviewers
    assert [(record.get("cost", "none"), record.get("seconds", "none")) for record in loaded.records[:4]] == [
        (0.5, 20),
        (0.25, 40),
        ("none", "none"),
        (None, 30),
    ]
    frame = loaded.to_frame("prs")
    assert frame["cost"].sum() == pytest.approx(0.75 + 1.0)
    summary = json.loads((run.folder / "summary.json").read_text("utf-8"))
    summary["reviewers"]["bot"]["costs"]["prs"]["smiles"] = 3
    (run.folder / "summary.json").write_text(json.dumps(summary), "utf-8")
    seal_again(run.folder)
    assert "smiles" not in load_run(run.folder).result.reviewers["bot"].costs.prs


def test_every_table_has_them_beside_f1(run):
    table = reviewers_table(run.result)
    at = heads(table).index("95 % interval") + 1
    assert heads(table)[at : at + 5] == [
        *("cost per pull request", "cost per valid finding", "time per pull request", "time per valid finding"),
        "line F1",
    ]
    of_bot = next(row for row in rows(table) if row[0] == "bot")
    assert of_bot[at : at + 4] == ("0.375", "0.25", "30 s", "22.5 s")
    assert heads(reviewers_table(run.result, kinds_of_cost=1))[at + 2] == "line F1"
    assert "| bot | tokens | 2 of 4 | 2,000 |" in as_markdown(run)
    page = as_html(run)
    assert ">Time per valid finding</th>" in page
    assert '<td class="num">2 of 4</td><td class="num">2,000</td>' in page
    assert "<td>tokens</td><td>2 of 4</td><td>2,000</td>" in run_table(run)
    assert "<th>cost per valid finding</th>" in run_table(run)
    assert 'name="cost_per_valid_finding" value="0.25"' in as_junit(run)
    written = list(csv.DictReader(io.StringIO(as_csv(run))))
    assert [row["cost"] for row in written[:4]] == ["0.5", "0.25", "", ""]


def test_the_table_of_costs_has_a_row_for_each_kind(run):
    table = rows(costs_table(costs_of_reviewers(run.result)))
    assert [row[:4] for row in table if row[0] == "bot"] == [
        ("bot", "cost", "2 of 4", "0.375"),
        ("bot", "time", "3 of 4", "30 s"),
        ("bot", "tokens", "2 of 4", "2,000"),
    ]


def test_nothing_changes_where_the_input_has_none():
    plain = [{key: value for key, value in each.items() if key not in ("cost", "tokens", "seconds")} for each in BOT]
    run = evaluate_comments(plain, reference=REFERENCES)
    assert "costs" not in run.summary["reviewers"]["bot"]
    assert not any("cost" in record for record in run.records)
    assert not any("cost" in head for head in heads(reviewers_table(run.result)))
    assert costs_table(costs_of_reviewers(run.result)) == []
    assert "cost" not in as_csv(run)


def test_silence_took_an_unknown_amount_and_not_nothing():
    run = evaluate_comments([*BOT[:2], *OTHER], reference=REFERENCES, all_prs=True)
    bot = run.summary["reviewers"]["bot"]
    assert (bot["prs"], bot["costs"]["prs"]["cost"], bot["costs"]["per_pr"]["cost"]) == (4, 2, 0.375)
    some = evaluate_comments([*BOT[:2], *OTHER], reference=REFERENCES)
    board = leaderboard([some], all_prs=True)
    assert {row.name: row.figures.costs.prs["cost"] for row in board.rows} == {"bot": 2, "other": 4}


def test_the_leaderboard_has_those_of_its_pull_requests(run):
    board = leaderboard([run])
    document = {row["name"]: row for row in board.to_dict()["rows"]}
    assert document["bot"]["costs"]["per_pr"]["cost"] == 0.375
    assert document["bot"]["own"]["costs"] == document["bot"]["costs"]
    assert "cost per valid finding" in heads(leaderboard_table(board))
    fewer = evaluate_comments([*BOT, *OTHER[:3]], reference=REFERENCES)
    shared = {row.name: row for row in leaderboard([fewer], min_coverage=0.5).rows}
    # On the three that both have, bot's time is known for two.
    assert shared["bot"].figures.costs.per_pr["seconds"] == 30
    assert shared["bot"].figures.costs.prs["seconds"] == 2


def test_files_of_leaderboards_and_comparisons_have_them(run, tmp_path):
    board, result = leaderboard([run]), compare(run, reviewers=["bot", "other"])
    for suffix in ("md", "csv", "tex", "html", "json"):
        ranked = write_table(board, tmp_path / f"board.{suffix}").read_text("utf-8")
        compared = write_table(result, tmp_path / f"compared.{suffix}").read_text("utf-8")
        assert "0.375" in ranked
        assert "0.375" in compared
        assert "tokens" in ranked
    [bot] = [
        row for row in csv.DictReader(io.StringIO((tmp_path / "board.csv").read_text("utf-8"))) if row["name"] == "bot"
    ]
    assert (bot["cost_per_pr"], bot["cost_prs"]) == ("0.375", "2")
    written = csv.DictReader(io.StringIO((tmp_path / "compared.csv").read_text("utf-8")))
    of_cost = [row for row in written if row["metric"].startswith("cost")]
    assert [(row["metric"], row["a"], row["p"]) for row in of_cost] == [
        ("cost_per_pr", "0.375", ""),
        ("cost_per_valid_finding", "0.25", ""),
    ]


def test_repeated_runs_take_the_mean_where_all_are_known():
    runs = [{**record(1, BOTH), "run": name, "cost": cost} for name, cost in (("1", 0.2), ("2", 0.4))]
    runs += [{**record(2, BOTH), "run": "1", "cost": 0.5}, {**record(2, BOTH), "run": "2"}]
    costs = evaluate_comments(runs, reference=REFERENCES, repeat=True).summary["reviewers"]["bot"]["costs"]
    assert (costs["prs"], costs["per_pr"]) == ({"cost": 1}, {"cost": pytest.approx(0.3)})
    assert costs["per_valid_finding"] == {"cost": pytest.approx(0.15)}


def test_two_reviewers_are_compared_where_both_are_known(run):
    result = compare(run, reviewers=["bot", "other"])
    [(kind, costs)] = result.costs.items()
    assert (kind, costs.prs) == ("cost", 2)  # nobody knows what the other's time was
    assert (costs.per_pr.a, costs.per_pr.b) == pytest.approx((0.375, 0.15))
    assert (costs.per_valid_finding.a, costs.per_valid_finding.b) == pytest.approx((0.25, 0.15))
    expected = scipy.stats.t.interval(0.95, 1, -0.225, scipy.stats.sem([0.1 - 0.5, 0.2 - 0.25]))
    assert costs.per_pr.interval == pytest.approx(expected)
    document = result.to_dict()["costs"]["cost"]
    assert document["per_pr"]["diff"] == pytest.approx(-0.225)
    labels = comparison_table(result)[0].cells
    assert labels[-2:] == ["cost per pull request (on 2) ↓", "cost per valid finding (on 2) ↓"]
    silent = evaluate_comments([record(number, []) for number in range(1, 5)], reference=REFERENCES)
    plain = compare(silent, run, reviewers=["bot", "other"])
    assert (plain.costs, "costs" in plain.to_dict()) == ({}, False)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("cost", 0.012345, "0.0123"),
        ("cost", 0, "0"),
        ("cost", 1234.5, "1,234"),
        ("cost", 99.96, "100"),
        ("tokens", 12.5, "12.5"),
        ("tokens", 1e7, "10,000,000"),
        ("seconds", 4.25, "4.25 s"),
        ("seconds", 59.99, "60 s"),
        ("seconds", 90, "1.5 min"),
        ("cost", None, "–"),
    ],
)
def test_amounts_are_written_with_three_digits(kind, value, text):
    assert amount(kind, value) == text
    assert signed_amount(kind, value) == ("–" if value is None else f"+{text}")
