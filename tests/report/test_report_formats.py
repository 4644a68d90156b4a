"""Markup, Markdown, CSV, JSON and JUnit: every format holds any text, and its figures are the run's."""

import csv
import io
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_samples import comment, hostile, pull, routing_run, two_reviewers, write_jsonl

from metareview.api import evaluate_comments
from metareview.comments.filters import FilterConfig
from metareview.comments.measures import f1, unmatched_rate
from metareview.model.build_gates import Gate, gate_results
from metareview.report.csv_table import as_csv, cell
from metareview.report.junit import as_junit
from metareview.report.markdown import as_markdown, run_section, safe
from metareview.report.notebook import run_table
from metareview.report.page.markup import Html, escape, html, join, link
from metareview.report.page.page import as_html
from metareview.routing.measures import MRR


@given(st.text())
def test_text_never_becomes_markup_and_comes_back_the_same(text):
    document = f'<p title="{escape(text)}">{escape(text)}</p>'
    root = ElementTree.fromstring(document)
    assert len(root) == 0
    if not set(text) & {"\r", "\x7f"} and text.isprintable():
        assert root.text == (text or None)


def test_only_markup_passes_unescaped():
    inner = html("<b>{x}</b>", x="<i>")
    assert html("{a}{b}{c}{d}", a=inner, b=["<", inner], c=None, d=0.5) == ("<b>&lt;i&gt;</b>&lt;<b>&lt;i&gt;</b>0.5")
    assert escape(str(Html("<b>"))[:]) == "&lt;b&gt;"  # a slice of markup is text again
    assert join(["<", inner], "&") == "&lt;&amp;<b>&lt;i&gt;</b>"
    with pytest.raises(TypeError):
        escape(object())


@pytest.mark.parametrize("url", ["javascript:alert(1)", "data:text/html,x", "//evil", "https://a\x00b", "http://["])
def test_only_addresses_of_the_web_become_links(url):
    assert "<a" not in link(url, "text")
    assert link('https://x/"y', "z") == '<a href="https://x/&quot;y" rel="noreferrer">z</a> (x)'


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\r=1", "\n=1", "＝1"])
def test_text_that_a_spreadsheet_would_run_is_made_safe(text):
    assert cell(text).startswith("'")


def test_numbers_stay_numbers():
    assert [cell(value) for value in (-0.5, 3, None, True, "a=b", "")] == [-0.5, 3, "", "true", "a=b", ""]


def test_csv_has_a_row_a_pull_request_and_reviewer(tmp_path):
    rows = list(csv.DictReader(io.StringIO(as_csv(two_reviewers(tmp_path)))))
    assert [(row["reviewer"], row["github_pr_url"][-1], row["f1"]) for row in rows] == [
        ("loud", "1", "0.5"),
        ("loud", "2", "0.0"),
        ("sharp", "1", "1.0"),
        ("sharp", "2", "0.6666666666666666"),
    ]
    assert [row["judge_error_nums"] for row in rows] == ["0", "1", "0", "0"]


def test_no_cell_of_a_hostile_run_is_a_formula(tmp_path):
    rows = list(csv.reader(io.StringIO(as_csv(hostile(tmp_path)))))
    assert "'@second|=1" in rows[2]
    assert not [value for row in rows for value in row if value[:1] in ("=", "+", "@")]


def test_markdown_has_the_figures(tmp_path):
    shown = as_markdown(two_reviewers(tmp_path))
    # Two pull requests cannot separate anybody: nobody leads.
    assert "**sharp and loud have too few matches to be tested at the top by F1, on 2 pull requests; the" in shown
    assert "| sharp | 2 of 2 | 3 | 1.000 | 0.750 | 0.857 |" in shown
    assert "| loud | 2 of 2 | 4 | 0.250 | 0.250 | 0.250 |" in shown
    assert "| Owner/Repo&#35;&#8203;1 | loud | 2 | 1 | 2 | 1 | 0 |" in shown
    assert "1 pair undecided" in shown


def test_markdown_cannot_be_broken_out_of(tmp_path):
    shown = as_markdown(hostile(tmp_path))
    assert "<b>" not in shown
    assert "&#64;&#8203;second&#124;=1" in shown
    widths = [line.count("|") for line in shown.splitlines() if line.startswith("|")]
    assert set(widths[:4]) == {10}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b\nc", "a&#124;b c"),
        ("# x", "&#35; x"),
        ("- x", "&#45; x"),
        ("1. x", "1&#46; x"),
        ("gpt-4.1", "gpt-4.1"),
        ("see https://x", "see https&#58;&#8203;//x"),
        ("see www.x.org", "see www&#8203;.x.org"),
        ("<img>", "&#60;img&#62;"),
        ("[a](b)", "&#91;a&#93;&#40;b&#41;"),
        ("@all in a/b#5", "&#64;&#8203;all in a/b&#35;&#8203;5"),
    ],
)
def test_markdown_text_is_text(text, shown):
    assert safe(text) == shown


def held_to(run, *gates):
    return replace(run, result=run.result.with_gates(gate_results(gates, run.metrics)))


def test_junit_counts_gates_as_failures_and_undecided_pairs_as_errors(tmp_path):
    gates = [Gate(f1, 0.5), Gate(unmatched_rate, 0.9, over=True)]
    run = held_to(two_reviewers(tmp_path), *gates)
    root = ElementTree.fromstring(as_junit(run).split("\n", 1)[1])
    assert {key: root.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "8",
        "failures": "1",
        "errors": "1",
        "skipped": "0",
    }
    sharp, loud = root
    assert [suite.get("name") for suite in root] == ["sharp", "loud"]
    assert sharp.find("testcase/failure") is None
    failure = loud.find("testcase/failure")
    assert failure.get("message") == "f1 is 0.250, must be at least 0.5"
    assert loud.find("testcase/error").get("message") == "1 pair stayed undecided"
    assert loud.find("properties/property[@name='f1']").get("value") == "0.25"


def test_junit_of_a_hostile_run_is_well_formed(tmp_path):
    root = ElementTree.fromstring(as_junit(hostile(tmp_path)).split("\n", 1)[1])
    assert '<b>rude</b>" onload="x' in [suite.get("name") for suite in root]


def test_every_format_writes_a_routing_run():
    run = routing_run()
    rows = list(csv.DictReader(io.StringIO(as_csv(run))))
    assert [(row["router"], row["rank"], row["hit@3"]) for row in rows[:4]] == [
        ("first", "1", "1"),
        ("'=second", "", "0"),
        ("first", "2", "1"),
        ("'=second", "12", "0"),
    ]
    shown = as_markdown(run)
    assert "3 pull requests: 2 with a truth; 1 where nobody responded count as misses." in shown
    assert shown.index("- Warning: codeowners left out") < shown.index("| router |")
    assert "| first | 3 of 3 | 0.333 | 0.000–0.600 | 0.667 | 0.000–0.600 | 0.667 | 0.000–0.600 | 0.500 |" in shown
    assert "| first | high | 2 | 1 | 1.5 h | 1.5 h | 1.5 h |" in shown
    root = ElementTree.fromstring(as_junit(held_to(run, Gate(MRR, 0.1))).split("\n", 1)[1])
    assert [(suite.get("name"), suite.get("failures"), suite.get("skipped")) for suite in root] == [
        ("first", "0", "1"),
        ("=second", "1", "1"),
    ]


def test_the_page_of_a_routing_run_has_its_parts():
    page = as_html(routing_run())
    assert "first and =second have too few matches to be tested at the top by MRR, on 3 pull requests; the" in page
    assert "Over the 2 pull requests with a truth, first has MRR 0.750." in page
    for part in ("answer", "ranks", "queue", "declarations", "load", "settings", "pull-requests"):
        assert f'<section id="{part}"' in page
    assert "&lt;bob&gt;" in page
    assert "<bob>" not in page
    assert '<th scope="row">11+</th><td class="num">0</td><td class="num">1</td>' in page  # =second, rank 12
    # The two who really responded did so once each; of first's three recommendations <bob> has two, and of =second's
    # two cy has both.
    assert (
        '<th scope="row">1</th><td class="num">0.500</td><td class="num">0.667</td><td class="num">1.000</td>' in page
    )
    people = page[page.index("Pull requests per person") :]
    for row in (
        ("&lt;bob&gt;", "1 (50%)", "2 (67%)", "0"),
        ("cy", "1 (50%)", "0", "2 (100%)"),
        ("dee", "0", "1 (33%)", "0"),
    ):
        cells = "".join(f'<td class="num">{number}</td>' for number in row[1:])
        assert f"<bdi>{row[0]}</bdi></th>{cells}" in people
    warned = page.index("Warning: codeowners left out: it needs --codeowners FILE &lt;now&gt;")
    assert page.index("too few matches to be tested") < warned < page.index("<table>")


def test_a_routing_page_has_one_scale_and_repeats_no_figure():
    run = routing_run()
    routers = {
        name: replace(
            block,
            metrics=block.metrics | {"hit@1": 0.1 if name == "first" else 0.05},
            intervals={metric: ends for metric, ends in block.intervals.items() if metric != "hit@1"},
            observed_prs=run.result.prs,
        )
        for name, block in run.result.routers.items()
    }
    run = replace(run, result=replace(run.result, routers=routers))
    page = as_html(run)
    assert "with a truth it is" not in page
    answer = page[page.index('<section id="answer"') : page.index('<section id="ranks"')]
    axes = [part.split("</svg>")[0] for part in answer.split('<svg class="axis"')[1:]]
    assert len(axes) >= 3
    assert len(set(axes)) == 1


def test_junit_skips_what_a_filter_dropped(tmp_path):
    two_reviewers(tmp_path)
    run = evaluate_comments(
        tmp_path / "reviews" / "sharp",
        reference=tmp_path / "references.jsonl",
        judge="exact",
        filters=FilterConfig(project_languages=("Go",)),
    )
    root = ElementTree.fromstring(as_junit(run).split("\n", 1)[1])
    assert (root.get("tests"), root.get("skipped")) == ("2", "1")
    skipped = root.find("testsuite/testcase/skipped")
    assert skipped.get("message") == "filtered out: language Rust, pull request category Bug Fix"


def few(folder):
    """`sure` has all ten pull requests and is right on nine; `rare` has one, and is right."""
    references = [{"pr": pull(n), "comments": [comment("leaks")]} for n in range(10)]
    said = [{"pr": pull(n), "reviewer": "sure", "comments": [comment("leaks" if n else "no")]} for n in range(10)]
    said += [{"pr": pull(0), "reviewer": "rare", "comments": [comment("leaks")]}]
    reference = write_jsonl(folder / "references.jsonl", references)
    return evaluate_comments(write_jsonl(folder / "said.jsonl", said), reference=reference, judge="exact")


def test_coverage_stands_beside_the_figures_in_every_format(tmp_path):
    run = few(tmp_path)
    assert "| rare | 1 of 10 |" in as_markdown(run)
    assert "| rare | 1 of 10 |" in run_section(run)
    assert '<bdi>rare</bdi></th><td class="num">1 of 10</td>' in as_html(run)
    assert "<td>rare</td><td>1 of 10</td>" in run_table(run)
    rows = {row["reviewer"]: row for row in csv.DictReader(io.StringIO(as_csv(run)))}
    assert (rows["rare"]["reviewer_prs"], rows["rare"]["prs_with_references"]) == ("1", "10")
    assert '<property name="prs" value="1" />' in as_junit(run)
    assert '<property name="prs_with_references" value="10" />' in as_junit(run)
    assert (run.summary["reviewers"]["rare"]["prs"], run.summary["prs"]) == (1, 10)


def test_nobody_leads_with_too_few_pull_requests_and_the_warning_stands_before_the_figures(tmp_path):
    run = few(tmp_path)
    assert run.metrics["rare"]["f1"] > run.metrics["sure"]["f1"]
    for shown, figures in (
        (as_markdown(run), "| reviewer |"),
        (run_section(run), "| reviewer |"),
        (as_html(run), "<table>"),
    ):
        assert "leads" not in shown
        assert "Too few of the pull requests to be ranked" in shown
        warned = shown.index("Warning: pull requests that are absent")
        assert shown.index("sure has F1 0.900") < warned < shown.index(figures)
        assert shown.index("sure") < shown.index("rare")
    assert run.summary["warnings"] == list(run.result.warnings) != []


def test_more_warnings_than_stand_first_are_counted_there_and_listed_below(tmp_path):
    run = few(tmp_path)
    run = replace(run, result=replace(run.result, warnings=tuple(f"problem {n}" for n in range(7))))
    shown = as_markdown(run)
    first, rest = shown.split("## Warnings and skipped files")
    assert [f"problem {n}" in first for n in range(7)] == [True] * 5 + [False] * 2
    assert "… and 2 more warnings" in first
    assert all(f"problem {n}" in rest for n in range(7))
    page = as_html(run)
    assert page.index("problem 4") < page.index("2 more warnings") < page.index("problem 5") < page.index("<table>")


def test_what_turns_text_around_is_written_out_in_every_format(tmp_path):
    name, note = "evil\u202etxt", "the \u2066note\u2069"
    reference = write_jsonl(tmp_path / "references.jsonl", [{"pr": pull(1), "comments": [comment(note)]}])
    said = write_jsonl(tmp_path / "said.jsonl", [{"pr": pull(1), "reviewer": name, "comments": [comment(note)]}])
    run = evaluate_comments(said, reference=reference, judge="exact")
    for shown in (as_html(run), as_markdown(run), as_csv(run), as_junit(run), run_section(run)):
        assert not set("\u202e\u2066\u2069") & set(shown)
        assert "U+202E" in shown
