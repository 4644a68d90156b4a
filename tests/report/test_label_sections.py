"""What labels make of a run, in its reports: nothing without labels, the figures of `calibrate --run` with them."""

import re

import pytest
from report_samples import HOSTILE

from labelled_runs import label_all, make_run
from metareview.benchmark.run_labels import calibrate_run
from metareview.comparison.run_unlisted import figures_of
from metareview.comparison.unlisted import unlisted_of
from metareview.model.label import IssueLabel, PairLabel
from metareview.report.csv_table import as_csv
from metareview.report.junit import as_junit
from metareview.report.markdown import as_markdown, run_section
from metareview.report.numbers import interval, rate
from metareview.report.page.page import as_html
from metareview.runs.labels import LabelFile

NAMES = ("x", "<img src=x onerror=alert(1)>|y")


def text(markup):
    plain = re.sub(r"<[^>]+>", " ", markup)
    return " ".join(plain.replace("&lt;", "<").replace("&gt;", ">").replace("&#x27;", "'").split())


def section(markup, name):
    found = re.search(rf'<section id="{name}".*?</section>', markup, re.DOTALL)
    return found[0] if found else None


def label_issues(run, verdicts=("valid", "invalid", "repeat"), only=None, model=None):
    unlisted = unlisted_of(run)
    chosen = unlisted.queue[:only] if model is None else unlisted.open
    at = "2026-01-01T00:00:00+00:00"
    labels = [
        IssueLabel(issue.id, issue.pr, issue.comments, "note", verdicts[n % len(verdicts)], at, None, model)
        for n, issue in enumerate(chosen)
    ]
    LabelFile(run.folder).append(labels)


@pytest.fixture
def run(tmp_path):
    return make_run(tmp_path / "run", reviewers=NAMES)


def test_without_labels_nothing_changes(run):
    before = as_html(run), as_markdown(run), run_section(run)
    assert "Corrected by labels" not in before[0] + before[1]
    assert "Beyond the references" not in before[0] + before[1]
    from metareview.comparison.frame import open_frame

    open_frame(run)  # drawn, and nobody has said anything yet
    assert (as_html(run), as_markdown(run), run_section(run)) == before


def test_other_formats_stay_as_they_are(run):
    before = as_csv(run), as_junit(run)
    label_all(run)
    label_issues(run)
    assert (as_csv(run), as_junit(run)) == before


def test_corrected_figures_are_those_of_calibrate(run):
    label_all(run, name="anna")
    label_all(run, name="ben", only=9)
    found = calibrate_run(run)
    page, markdown = section(as_html(run), "corrected"), as_markdown(run)
    shown = text(page)
    for name, each in found.corrected.items():
        for measure in ("f1", "positive_match_rate", "positive_recall_rate"):
            cells = rate(each.judged[measure]), rate(each.metrics[measure]), interval(each.intervals[measure])
            assert f"{name} {' '.join(cells)}" in shown
            assert " | ".join(cells) in markdown
    best = max(found.corrected, key=lambda name: found.corrected[name].metrics["f1"])
    assert shown.index(f"{best} {rate(found.corrected[best].judged['f1'])}") == min(
        shown.index(f"{name} {rate(each.judged['f1'])}") for name, each in found.corrected.items()
    )
    kappa = f"kappa {rate(found.agreement.kappa)}"
    assert f"against {found.agreement.n} labelled pairs: {kappa}" in shown
    assert "anna and ben both labelled" in shown
    assert "blocks in the sample labelled" in shown
    assert "±0.03" in shown
    assert kappa in markdown


def test_the_chart_has_a_ring_for_the_judge_and_a_dot_for_the_labels(run):
    label_all(run)
    figures = calibrate_run(run).corrected["x"]
    page = section(as_html(run), "corrected")
    bar = re.search(r'aria-label="x: F1 as judged [^"]*">(.*?)</svg>', page, re.DOTALL)[1]
    low, high = figures.intervals["f1"]
    assert f'class="ring" cx="{100 * figures.judged["f1"]:.2f}%"' in bar
    assert f'class="dot" cx="{100 * figures.metrics["f1"]:.2f}%"' in bar
    assert f'class="interval" x1="{100 * low:.2f}%" x2="{100 * high:.2f}%"' in bar


def test_too_few_labels_give_no_figure_and_say_how_many_more(run):
    frame = label_all(run, only=1)
    shown = text(section(as_html(run), "corrected"))
    assert f"1 of the {len(frame.drawn)} blocks in the sample labelled" in shown
    assert "Corrected figures need" in shown
    assert "As judged Corrected" not in shown
    assert "| F1 as judged |" not in as_markdown(run)


def test_thin_strata_are_provisional(run):
    frame = label_all(run, only=0)
    label_all(run, only=2 * len(frame.strata))
    assert "Provisional: intervals need" in text(section(as_html(run), "corrected"))
    assert "Corrected by labels of" not in as_markdown(run)  # the headline stays as judged


def test_the_answer_of_a_lone_reviewer_does_not_contradict_the_labels(tmp_path):
    run = make_run(tmp_path / "run")
    label_all(run)
    each = calibrate_run(run).corrected["x"]
    judged = f"x has F1 {rate(each.judged['f1'])}"
    ends = interval(each.intervals["f1"])
    sentence = f"Corrected by labels: corrected F1 {rate(each.metrics['f1'])} (95 % interval {ends})."
    assert each.judged["f1"] != pytest.approx(each.metrics["f1"], abs=0.05)
    shown = text(section(as_html(run), "answer"))
    assert judged in shown
    assert sentence in shown
    assert sentence in as_markdown(run)
    assert sentence in run_section(run)


def test_a_provisional_correction_stays_out_of_the_answer(tmp_path):
    run = make_run(tmp_path / "run")
    frame = label_all(run, only=0)
    label_all(run, only=2 * len(frame.strata))
    assert calibrate_run(run).corrected
    assert "Corrected by labels: corrected F1" not in as_markdown(run)
    assert "Corrected by labels: corrected F1" not in text(as_html(run))


def test_several_reviewers_are_ranked_by_corrected_figures_and_the_reader_is_told(run):
    label_all(run)
    markdown = as_markdown(run)
    assert "Corrected by labels of" in markdown.split("\n")[2]
    assert "The headline goes by the corrected figures; all others in this table are as judged." in markdown
    assert "Ranks and ties go by the corrected figures" in text(section(as_html(run), "answer"))


def test_bounds_before_and_estimates_after_labels_of_issues(run):
    unlisted_of(run)
    shown = text(section(as_html(run), "beyond"))
    of_x = figures_of(run).reviewers["x"]
    assert f"x {interval(of_x.bounds['precision_plus'])}" in shown
    assert "None is labelled yet." in shown
    assert "100 % of the issues are not judged." in shown
    assert section(as_html(run), "corrected") is None
    label_issues(run)
    figures = figures_of(run)
    page, markdown = section(as_html(run), "beyond"), as_markdown(run)
    for name, each in figures.reviewers.items():
        cells = [
            f"{rate(each.metrics[key])} {interval(each.intervals[key])}"
            for key in ("precision_plus", "recall_plus", "f1_plus")
        ]
        shown = text(re.sub("<svg.*?</svg>", "", page, flags=re.DOTALL))
        assert f"{name} {' '.join(cells)}" in shown
        noise = each.noise
        split = [noise.unmatched, noise.valid, noise.invalid, noise.repeated, noise.unjudged]
        assert f"{name} {' '.join(map(str, split))}" in shown
        assert " | ".join(map(str, split)) in markdown
        left_out = [rate(figures.without[other][name]["f1_plus"]) for other in figures.reviewers]
        assert f"{name} {rate(each.metrics['f1_plus'])} {' '.join(left_out)}" in shown
    assert "more that no reviewer found (Chao's estimate" in shown
    assert "a floor, since reviewers miss the same things." in shown
    assert "issues in the sample labelled by people" in shown


def test_a_models_labels_are_named_as_such(run):
    label_issues(run, model="gpt|<b>9</b>")
    page, markdown = as_html(run), as_markdown(run)
    assert "by the model gpt|<b>9</b>" in text(page)
    assert "<b>9</b>" not in page + markdown
    assert "A model's labels alone" in text(section(page, "beyond"))


def test_hostile_names_stay_text(tmp_path):
    names = tuple(text[:40] for text in HOSTILE if "\ud800" not in text and len(text.strip()) > 3)
    run = make_run(tmp_path / "run", reviewers=names[:3], prs=12)
    label_all(run, name="</ul><script>alert(2)</script>")
    label_all(run, name="@all |[x](javascript:1)", only=5)
    label_issues(run)
    page, markdown = as_html(run), as_markdown(run)
    for written in (section(page, "corrected"), section(page, "beyond"), markdown):
        assert "<script" not in written
        assert "<img" not in written
        assert "\u202e" not in written
    assert "@all" not in markdown
    assert "](javascript" not in markdown


def test_labels_that_hold_for_other_notes_make_no_section(run):
    frame = label_all(run, only=0)
    block = frame.drawn[0][1]
    other = PairLabel(block.pr, block.reviewer, *block.pairs[0], "other", "notes", True, "2026-01-01T00:00:00+00:00")
    LabelFile(run.folder).append([other])
    assert section(as_html(run), "corrected") is None


def test_the_page_holds_its_figures_at_any_width(run, tmp_path, open_page):
    label_all(run)
    label_issues(run)
    target = tmp_path / "report.html"
    target.write_text(as_html(run), encoding="utf-8")
    for width in (375, 1200):
        page = open_page(target, width=width)
        assert page.complaints == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("#corrected svg.row").count() == 3 * len(NAMES)
        assert page.locator("#beyond svg.row").count() == 3 * len(NAMES)


def test_figures_beyond_the_references_are_provisional_until_strata_are_filled(run):
    # Two of each stratum, or all: an estimate, and no more than that.
    taken, unlisted = {}, unlisted_of(run)
    for issue in unlisted.queue:
        if len(taken.setdefault(issue.stratum, [])) < 2:
            taken[issue.stratum].append(issue)
    at = "2026-01-01T00:00:00+00:00"
    few = [IssueLabel(each.id, each.pr, each.comments, "n", "valid", at) for of in taken.values() for each in of]
    LabelFile(run.folder).append(few)
    sizes = {stratum: sum(each.stratum == stratum for each in unlisted.open) for stratum in taken}
    more = sum(min(8, size) - min(2, size) for size in sizes.values())
    assert figures_of(run).provisional
    said = f"Provisional: intervals need {more} more labels"
    assert said in text(section(as_html(run), "beyond"))
    label_issues(run)
    assert not figures_of(run).provisional
    assert "Provisional" not in text(section(as_html(run), "beyond"))
