"""What reports and gates say of routing's outcomes."""

import json

import pytest

from metareview.api import evaluate_routing
from metareview.cli import main
from metareview.report.markdown import as_markdown
from metareview.report.page.page import as_html
from metareview.report.routing_outcomes import actual_lines, load_lines, requests_line, requests_table

EVENTS = [
    ("2025-06-01T12:00:00Z", 1, "opened", "ann", {"files": ["a", "b"]}),
    ("2025-06-01T12:05:00Z", 1, "review_requested", "ann", {"target": "<b>"}),
    ("2025-06-01T12:20:00Z", 1, "review_submitted", "<b>", {}),
    ("2025-06-02T09:00:00Z", 2, "opened", "cem", {"files": ["b"]}),
    ("2025-06-02T09:30:00Z", 2, "review_submitted", "<b>", {}),
    ("2025-06-09T09:30:00Z", 2, "merged", "<b>", {}),
]


@pytest.fixture
def history(tmp_path):
    path = tmp_path / "events.jsonl"
    rows = [
        {"repo": "o/r", "pr": pr, "at": at, "kind": kind, "actor": actor} | more for at, pr, kind, actor, more in EVENTS
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_sentences_and_tables_have_the_figures(history):
    summary = evaluate_routing(history, routers=["popularity"], truth_window="1d").result
    assert actual_lines(summary)[0].startswith("Of 2 pull requests with a truth, 0.500 (95 % ")
    assert actual_lines(summary)[1] == (
        "As it came, 0 of 2 files (0.000) are at risk: fewer than two of the 3 active people know them."
    )
    assert load_lines(summary) == ["popularity recommends first: <b> 1 (100%)", "Really responded: <b> 2 (100%)"]
    assert requests_line(summary) == ["1 request for a review: 1 of 1 responded to in time (1.000)."]
    assert [(column.head, list(column.cells)) for column in requests_table(summary)][:3] == [
        ("person", ["<b>"]),
        ("requests", ["1"]),
        ("in time", ["1"]),
    ]


def test_markdown_has_the_parts_and_no_markup_of_strangers(history):
    text = as_markdown(evaluate_routing(history, routers=["popularity"], truth="all_reviewers", truth_window="1d"))
    for title in ("All right people", "Expertise and files at risk", "Load per person", "Who was asked, and responded"):
        assert f"## {title}" in text
    assert "<b>" not in text
    assert "| &#60;b&#62; | 2 &#40;100%&#41; | 1 &#40;100%&#41; |" in text


def test_the_page_explains_measures_by_the_names_that_its_tables_have(history):
    page = as_html(evaluate_routing(history, routers=["popularity"], truth="all_reviewers", truth_window="1d"))
    for label in ("MAP", "nDCG@3", "recall@3", "hit@3"):
        assert f"<dt>{label}</dt>" in page


@pytest.mark.parametrize(
    ("truth", "gate", "code", "said"),
    [
        ("first_response", "map=0.1", 2, "Give --truth all_reviewers with it."),
        ("all_reviewers", "map=0.1", 0, ""),
        ("all_reviewers", "ndcg@3=0.9", 3, "popularity: ndcg@3 is 0.5000, must be at least 0.9"),
        ("all_reviewers", "recall@2=0.1", 2, "unknown metric 'recall@2'"),
    ],
)
def test_gates_know_measures_of_whole_lists(history, tmp_path, capsys, truth, gate, code, said):
    words = ["routing", history, "--router", "popularity", "--truth", truth, "--truth-window", "1d", "--out"]
    words += [tmp_path / "run", "--fail-under", gate]
    with pytest.raises(SystemExit) as ended:
        main([*map(str, words)])
    assert (ended.value.code or 0) == code
    assert said in capsys.readouterr().err
