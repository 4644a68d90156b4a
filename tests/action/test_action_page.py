"""What stands on the pull request: the answer on top, nothing alive that comes from data."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from metareview.action.against import change_sentence
from metareview.action.measure import Measured, _gravest
from metareview.action.narrow import narrow
from metareview.action.page import bounded, page_of
from metareview.api import evaluate_comments
from metareview.comments.measures import MEASURES
from metareview.comparison.paired import compare
from metareview.comparison.verdict import MetricDifference, Side
from metareview.model.measure import find_measure
from metareview.report.markdown_text import safe
from metareview.stats import Difference

F1, NOISE, PRECISION = (find_measure(name, MEASURES, "") for name in ("f1", "noise", "precision"))
FIGURES = """### Review comments

**bot has F1 0.500.**

| reviewer | F1 | 95 % interval |
| --- | ---: | ---: |
| bot | 0.500 | 0.262–0.428 |

Judged by offline: 3 pairs.

**Gates**

| Gate | For | Found | Result |
| --- | --- | ---: | --- |
| f1 at least 0.6 | bot | 0.500 | FAIL |
"""
COMPARISON = """### new against old

**old is better on F1.**

| 40 pull requests | old | new | B - A | 95 % interval | p | p (Holm) |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
| F1 | 0.720 | 0.500 | &#45;0.220 | &#45;0.429 to -0.278 | 0.001 | 0.007 |

↓ lower is better. References found by both&#58; 28.

Largest losses of new&#58;

- -0.020 https://github.com/acme/other/pull/18
  - only old&#58; x
"""


@pytest.fixture(scope="module")
def compared():
    """A comparison of old and new, whose metrics a test replaces."""
    said = [{"pr": "o/r#1", "comments": [{"note": "leak"}]}]
    run = evaluate_comments(said, reference=said, judge="exact", name="bot", force=True)
    return replace(compare(run, run), a=Side("old", None, "old"), b=Side("new", None, "new"))


def html(markdown):
    return MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)


def test_the_answer_is_on_top_and_the_rest_can_be_unfolded():
    measured = Measured(
        3,
        missed=("bot: f1 is 0.5, must be at least 0.6", "new is worse than old: f1"),
        gated=True,
        sentence="new is worse.",
        comparison=COMPARISON,
        figures=FIGURES,
    )
    page = page_of(measured, None)
    lines = [line for line in page.whole.splitlines() if line]
    assert lines[:5] == [
        "## ❌ metareview: 2 gates were missed",
        "**new is worse.**",
        "- bot&#58; f1 is 0.5, must be at least 0.6",
        "- new is worse than old&#58; f1",
        "old is better on F1.",
    ]
    assert "| 40 pull requests | old | new | B - A | 95 % interval | p (Holm) |" in lines
    assert "| F1 | 0.720 | 0.500 | &#45;0.220 | &#45;0.429&nbsp;to&nbsp;&#8209;0.278 | 0.007 |" in lines
    shown = html(page.whole)
    assert shown.count("<table>") == 3
    assert shown.count("<details>") == shown.count("</details>") == 2
    folded = shown.partition("<summary>What made the difference</summary>")[2].partition("</details>")[0]
    assert "<li>only old: x</li>" in folded
    assert "<table>" in shown.partition("<summary>All gates</summary>")[2]


def test_an_address_is_a_link_on_the_page_and_plain_text_in_the_comment():
    page = page_of(Measured(0, comparison=COMPARISON, figures=FIGURES), None)
    assert "https://github.com/acme/other/pull/18" in page.whole
    assert "https://github.com/acme/other" not in page.comment
    assert "https&#58;&#8203;//github.com/acme/other/pull/18" in page.comment


@pytest.mark.parametrize(
    ("code", "gated", "words"),
    [
        (0, True, "✅ metareview: all gates passed"),
        (0, False, "✅ metareview: measured"),
        (2, False, "❌ metareview: could not be measured"),
        (4, True, "⚠️ metareview: undecided"),
        (137, True, "❌ metareview: metareview failed (exit 137)"),
    ],
)
def test_the_title_says_how_it_ended(code, gated, words):
    assert page_of(Measured(code, gated=gated), None).whole.splitlines()[0] == f"## {words}"


def test_many_problems_are_counted():
    page = page_of(Measured(3, missed=tuple(f"gate {i}" for i in range(50))), None).whole
    assert page.count("\n- gate") == 6
    assert "- … and 44 more" in page


def test_the_build_that_it_is_of(monkeypatch):
    known = {"SHA": "3f786850e387550fdab836ed7e6dc881de23001b", "SERVER_URL": "https://github.com"}
    for name, value in {**known, "REPOSITORY": "acme/shop", "RUN_ID": "12"}.items():
        monkeypatch.setenv(f"GITHUB_{name}", value)
    origin = page_of(Measured(0), None).comment.splitlines()[-1]
    assert "commit 3f78685 · [the build](https://github.com/acme/shop/actions/runs/12)" in origin
    monkeypatch.setenv("GITHUB_RUN_ID", "12) @all")
    monkeypatch.setenv("GITHUB_SHA", "<script>")
    assert "@all" not in page_of(Measured(0), None).comment
    assert "script" not in page_of(Measured(0), None).comment


HOSTILE = [
    "</details><script>alert(1)</script>",
    "@everyone and @acme/owners",
    "--> <!-- metareview: x -->",
    "fixes #1, GH-2, acme/shop#3 and https://github.com/acme/shop/issues/4",
    "| a | b |",
    "**bold** _it_ `code` [x](javascript:alert(1)) ![y](http://e.example/p.png)",
    "\n\n# heading\n\n---\n",
    "<details open><summary>x</summary>",
    ":tada: $x$ \u202eabc \x1b[31m \x00",
]


class Read(HTMLParser):
    """What a page does and says: its elements with attributes, comments, and text."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.hidden, self.text = [], [], ""
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, *attributes))

    def handle_comment(self, data):
        self.hidden.append(data)

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_the_data_is_alive(text):
    read = Read(html(page_of(Measured(3, missed=(text,), sentence=text), None).comment))
    assert read.elements == [("h2",), ("p",), ("strong",), ("ul",), ("li",), ("p",), ("sub",)]
    assert read.hidden == []
    # What GitHub makes a mention, a reference or a link of, which it finds in the text of the page:
    assert not re.search(r"@\w|#\d|\bGH-\d|://|www\.", read.text, re.IGNORECASE)
    words = re.findall(r"[a-z]{4,}", text)
    assert [word for word in words if read.text.count(word) < 2] == [], "shown, on top and in the list"


def test_the_test_sees_what_is_alive():
    read = Read(html("<b>x</b> [a](b) <!-- y --> #1"))
    assert read.elements == [("p",), ("b",), ("a", ("href", "b"))]
    assert read.hidden == [" y "]
    assert "#1" in read.text


def test_what_is_cut_stays_whole_markdown():
    text = "## T\n\n<details><summary>s</summary>\n\n| a |\n| --- |\n" + "| b |\n" * 100 + "\n</details>\n"
    cut = bounded(text, 300, len)
    assert len(cut) <= 300
    assert html(cut).count("</details>") == 1
    assert "cut here" in cut
    assert bounded(text, len(text), len) == text


def change(measure, before, now, p=0.001, reach=0.1):
    """A change with an interval that reaches so far to either side."""
    diff = None if None in (before, now) else now - before
    interval = None if diff is None else (diff - reach, diff + reach)
    return MetricDifference(measure, before, now, Difference(interval=interval, p=p), p, None)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ([change(F1, 0.7, 0.3)], "new is worse than old, beyond chance: F1 0.300 (was 0.700)."),
        ([change(F1, 0.3, 0.7)], "new is better than old, beyond chance: F1 0.700 (was 0.300)."),
        ([change(NOISE, 0.3, 0.7)], "new is worse than old, beyond chance: noise 0.700 (was 0.300)."),
        (
            [change(F1, 0.3, 0.7), change(NOISE, 0.3, 0.7)],
            "Beyond chance, new is worse than old on noise 0.700 (was 0.300), and better on F1 0.700 (was 0.300).",
        ),
        (
            [change(F1, 0.7, 0.3, 0.06)],
            "new is neither better nor worse than old beyond chance: F1 0.300 (was 0.700).",
        ),
        (
            [change(F1, 0.7, 0.3, reach=0.5)],
            "new is neither better nor worse than old beyond chance: F1 0.300 (was 0.700).",
        ),
        ([change(F1, 0.5, 0.5)], "new is neither better nor worse than old beyond chance: F1 0.500 (was 0.500)."),
        ([change(PRECISION, 0.5, None, None)], "new is worse than old, beyond chance: precision – (was 0.500)."),
        ([change(PRECISION, None, 0.5, None)], "new is neither better nor worse than old beyond chance: precision"),
    ],
)  # fmt: skip
def test_better_or_worse_in_a_sentence(compared, changes, words):
    metrics = {each.measure.name: each for each in changes}
    assert change_sentence(replace(compared, metrics=metrics)).startswith(words)


def test_what_is_watched_comes_first_in_the_sentence(compared):
    metrics = {measure.name: change(measure, 0.5, 0.25) for measure in MEASURES}
    sentence = change_sentence(replace(compared, metrics=metrics).with_gates([NOISE.name]))
    assert "better on noise 0.250 (was 0.500)" in sentence
    assert " more," in sentence


def test_what_mentions_an_issue_by_its_old_name_is_broken_up():
    assert safe("see GH-12 and gh-3, not AGH-4") == "see GH&#8203;-12 and gh&#8203;-3, not AGH-4"


@pytest.mark.parametrize(
    ("codes", "gravest"),
    [((0, 0), 0), ((0, 3), 3), ((3, 4), 4), ((4, 2), 2), ((3, 2), 2), ((3, 137), 137), ((1, 2), 1)],
)
def test_the_gravest_exit_code_counts(codes, gravest):
    assert _gravest(codes) == gravest


def table(*rows):
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def test_several_intervals_go_below_their_figures():
    wide = table(
        ("reviewer", "resolved", "95 % interval", "answered", "95 % interval"),
        ("---", "---:", "---:", "---:", "---:"),
        ("bot", "0.500 (8)", "0.200–0.800", "–", "–"),
    )
    assert narrow(wide) == table(
        ("reviewer", "resolved", "answered"),
        ("---", "---:", "---:"),
        ("bot", "0.500 (8)<br>0.200–&#8288;0.800", "–<br>–"),
    )


def test_many_columns_and_few_rows_are_turned():
    heads = ["reviewer", *(f"m{i}" for i in range(10))]
    rows = [["a|b".replace("|", "&#124;"), *map(str, range(10))], ["c", *map(str, range(10, 20))]]
    rule = ["---"] * 11
    assert narrow(table(heads, rule, *rows)) == table(
        ("reviewer", "a&#124;b", "c"), ("---", "---:", "---:"), *((f"m{i}", str(i), str(10 + i)) for i in range(10))
    )
    long = table(heads, rule, *rows * 3)
    assert narrow(long) == long
    assert narrow("| a | b |\n| --- |") == "| a | b |\n| --- |"


def test_a_comparison_that_failed_is_not_a_measurement_that_did():
    assert "could not be compared" in page_of(Measured(2, figures=FIGURES), None).whole
