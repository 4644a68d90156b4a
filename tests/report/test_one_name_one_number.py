"""F1, precision, recall and noise are one number in every report of a run; another number has another name."""

import csv
import io
import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from labelled_runs import label_all, records
from metareview.cli import _run
from metareview.comparison.leaderboard import leaderboard
from metareview.comparison.paired import compare
from metareview.report.notebook import comparison_html, run_table
from metareview.report.numbers import rate
from metareview.runs.run import load_run
from metareview.viewer.index import Index
from metareview.viewer.run_page import run_page
from metareview.viewer.run_view import RunView

NAMES = {"f1": "f1", "precision": "positive_match_rate", "recall": "positive_recall_rate", "noise": "unmatched_rate"}
"""What tables call a figure, in small letters, and its key in JSON."""
LACKING = {"x": {1, 2}, "y": {3}, "z": set()}
"""The pull requests of 24 that a reviewer has no review of."""


class Tables(HTMLParser):
    """Every table of a page: its rows, each a list of the texts of its cells."""

    def __init__(self, page):
        super().__init__()
        self.tables, self.cell = [], None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("th", "td"):
            self.cell = []

    def handle_endtag(self, tag):
        if tag in ("th", "td"):
            self.tables[-1][-1].append(" ".join("".join(self.cell).split()))
            self.cell = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell.append(data)


def in_page(page):
    return Tables(page).tables


def in_markdown(text):
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line[:1] == "|"]
    tables = []
    for at, row in enumerate(rows):
        if at + 1 < len(rows) and set("".join(rows[at + 1])) <= {"-", ":"}:
            tables.append([row])
        elif tables and not set("".join(row)) <= {"-", ":"}:
            tables[-1].append(row)
    return tables


def in_tex(text):
    rows = [line.removesuffix(r"\\").split(" & ") for line in text.splitlines() if line.endswith(r"\\")]
    return [[[cell.strip() for cell in row] for row in rows]]


def in_terminal(text):
    """Heads stand on several lines, above their figures: two or more spaces part the columns of a row."""
    lines = [line for line in text.splitlines() if line.strip()]
    first = next(at for at, line in enumerate(lines) if re.search(r"\d\.\d{3}", line))
    starts = [found.span() for found in re.finditer(r"\S+(?: \S+)*", lines[first])]
    heads = []
    for start, end in starts:
        words = [word for line in lines[:first] for word in _words_at(line, start, end)]
        heads.append(" ".join(words))
    body = [re.split(r"\s{2,}", line.strip()) for line in lines[first:] if re.search(r"\d\.\d{3}", line)]
    return [[heads, *(row for row in body if len(row) == len(heads))]]


def _words_at(line, start, end):
    return [each[0] for each in re.finditer(r"\S+(?: \S+)*", line) if each.start() < end and each.end() > start]


def reviewers_of(cell):
    """A page numbers its reviewers, or puts a dash before."""
    return re.sub(r"^(?:\d+\.?|–)\s*", "", cell)


def figures_of(tables, names=NAMES):
    """(reviewer, key, text) of every figure that has one of the plain names."""
    for head, *body in tables:
        for at, name in enumerate(head):
            key = names.get(name.casefold())
            for row in body:
                who = next((each for each in map(reviewers_of, row) if each in LACKING), None)
                if key and who and len(row) > at:
                    yield who, key, row[at]


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


@pytest.fixture(params=["as judged", "with labels"])
def made(request, tmp_path, capsys, monkeypatch):
    """A command, and what it prints once it has made a run: three reviewers, each without some pull requests."""
    monkeypatch.setenv("COLUMNS", "400")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    reviews, references = records(reviewers=tuple(LACKING))
    kept = [each for each in reviews if int(each["pr"].rsplit("/", 1)[1]) not in LACKING[each["reviewer"]]]
    words = [
        "comments",
        write(tmp_path / "said.jsonl", kept),
        "--reference",
        write(tmp_path / "right.jsonl", references),
    ]
    words += ["--judge", "rouge", "--threshold", "0.35", "--out", str(tmp_path / "run")]

    def command(*arguments):
        assert _run([str(each) for each in arguments]) == 0
        return capsys.readouterr().out

    command(*words)
    if request.param == "with labels":
        label_all(load_run(tmp_path / "run"))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    return tmp_path / "run", command, command(*words, "-q")


def in_formats(command, words, folder, *suffixes):
    files = {suffix: folder / f"written{suffix}" for suffix in suffixes}
    printed = command(*words, "-q", *(word for file in files.values() for word in ("-o", file)))
    return printed, {suffix: file.read_text("utf-8") for suffix, file in files.items()}


def test_f1_and_precision_are_one_number_in_every_report_of_a_run(made, tmp_path):
    folder, command, printed = made
    run = load_run(folder)
    _, written = in_formats(command, ["report", folder], tmp_path, ".md", ".html", ".xml", ".json")
    view = RunView("run", folder, run, Index(folder, tmp_path / "index.db", run.kind.name), "token")
    tables = {
        "terminal": in_terminal(printed),
        "Markdown": in_markdown(written[".md"]),
        "page": in_page(written[".html"]),
        "step summary": in_markdown((tmp_path / "summary.md").read_text("utf-8")),
        "notebook": in_page(run_table(run)),
        "viewer": in_page(str(run_page(view).body)),
    }
    expected = {(who, key): rate(run.metrics[who][key]) for who in LACKING for key in NAMES.values()}
    for where, of_report in tables.items():
        found = list(figures_of(of_report))
        wrong = [each for each in found if each[2] != expected[each[:2]]]
        assert not wrong, (where, wrong)
        assert {each[:2] for each in found} == expected.keys(), where
    for suite in ElementTree.fromstring(written[".xml"]):
        properties = {each.get("name"): each.get("value") for each in suite.iter("property")}
        assert all(float(properties[key]) == run.metrics[suite.get("name")][key] for key in NAMES.values())
    of_json = json.loads(written[".json"])["reviewers"]
    assert all(of_json[who]["metrics"][key] == run.metrics[who][key] for who in LACKING for key in NAMES.values())


def test_the_figure_that_ranks_has_one_name_and_one_number(made, tmp_path):
    """On the pull requests that all ranked ones have, and corrected where there are labels."""
    folder, command, printed = made
    board = leaderboard([load_run(folder)])
    label = "corrected f1 on the shared 21" if board.labelled else "f1 on the shared 21"
    _, of_run = in_formats(command, ["report", folder], tmp_path, ".md", ".html")
    shown, of_board = in_formats(command, ["leaderboard", folder], tmp_path, ".md", ".html", ".tex", ".csv", ".json")
    expected = {(row.name, "f1"): row.figures.metrics["f1"] for row in board.rows}
    assert len(expected) == 3
    assert all(row.figures.metrics["f1"] != row.own.metrics["f1"] for row in board.rows)
    tables = {
        "terminal": in_terminal(printed),
        "Markdown": in_markdown(of_run[".md"]),
        "page": in_page(of_run[".html"]),
        "notebook": in_page(run_table(load_run(folder))),
        "leaderboard": in_terminal(shown),
        "leaderboard.md": in_markdown(of_board[".md"]),
        "leaderboard.html": in_page(of_board[".html"]),
        "leaderboard.tex": in_tex(of_board[".tex"]),
    }
    for where, of_report in tables.items():
        found = {(who, key): text for who, key, text in figures_of(of_report, {label: "f1"})}
        assert found == {each: rate(value) for each, value in expected.items()}, where
        if where.startswith("leaderboard"):
            assert not list(figures_of(of_report)), where  # nothing here is on everybody's own pull requests
    rows = json.loads(of_board[".json"])["rows"]
    assert {(row["name"], "f1"): row["metrics"]["f1"] for row in rows} == expected
    for row in csv.DictReader(io.StringIO(of_board[".csv"])):
        own = next(each.own for each in board.rows if each.name == row["name"])
        assert (float(row["f1"]), float(row["own_f1"])) == (expected[row["name"], "f1"], own.metrics["f1"])
        assert (row["over_prs"], row.get("corrected", "")) == ("21", "true" if board.labelled else "")


def test_a_comparison_has_one_number_of_each_name_in_every_format(made, tmp_path):
    folder, command, _ = made
    words = ["compare", folder, "--reviewer", "x", "--reviewer", "y", "--common"]
    printed, written = in_formats(command, words, tmp_path, ".md", ".html", ".tex", ".csv", ".json")
    result = compare(folder, reviewers=["x", "y"], common=True)
    names = {name: key for name, key in NAMES.items() if name != "noise"}
    if result.labelled:
        names = {f"corrected {name}": key for name, key in names.items()}
    expected = {
        key: tuple(rate(side) for side in (result.metrics[key].a, result.metrics[key].b)) for key in names.values()
    }
    tables = {
        "terminal": in_terminal(printed),
        "Markdown": in_markdown(written[".md"]),
        "page": in_page(written[".html"]),
        "tex": in_tex(written[".tex"]),
        "notebook": in_page(comparison_html(result)),
    }
    for where, of_report in tables.items():
        rows = {row[0].casefold(): tuple(row[1:3]) for table in of_report for row in table}
        assert {key: rows.get(name) for name, key in names.items()} == expected, where
        assert not result.labelled or not NAMES.keys() & rows.keys(), where
        assert of_report[0][0][0] == "21 shared pull requests", where
    of_json = json.loads(written[".json"])["metrics"]
    assert {key: (rate(of_json[key]["a"]), rate(of_json[key]["b"])) for key in expected} == expected
    for row in csv.DictReader(io.StringIO(written[".csv"])):
        if row["metric"] in expected:
            assert (rate(float(row["a"])), rate(float(row["b"]))) == expected[row["metric"]]
            assert row.get("corrected", "") == ("true" if result.labelled else "")
