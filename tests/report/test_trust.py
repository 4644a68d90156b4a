"""How far to trust the judge: one sentence, decided in one place, and the same in every report."""

import re
from dataclasses import replace

import pytest

from labelled_runs import label_all, make_run
from metareview.api import evaluate_comments
from metareview.judges.offline.published_accuracy import held_out, parse_held_out
from metareview.report.markdown import as_markdown, run_section
from metareview.report.numbers import interval, rate
from metareview.report.page.page import as_html
from metareview.report.run_labels import RunLabels, read_labels
from metareview.report.trust import trust_of
from metareview.runs.labels import FRAME
from metareview.runs.run import load_run

PR = "https://github.com/o/r/pull/{}"
FIGURES = {
    "kappa": 0.8231,
    "kappa_interval": [0.791, 0.849],
    "kappa_by": {"repository": 0.82},
    "models": 3,
    "f1_gap": 0.031,
    "reliability": [[0.02, 0.01, 900], [0.5, 0.48, 40], [0.97, 0.99, 150]],
}
NO_LABELS = RunLabels(None, None)


def small_run(folder, **options):
    def records(text):
        return [{"pr": PR.format(n), "comments": [{"path": "a.py", "from_line": 1, "note": text}]} for n in (1, 2)]

    evaluate_comments(
        records("The handle leaks"), reference=records("Handle is leaked"), name="bot", out=folder, **options
    )
    return load_run(folder)


def with_trust(run, figures):
    known = parse_held_out("offline-2", run.result.config.threshold, figures)
    return replace(run, result=replace(run.result, trust=known))


def words(markup):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", markup))


@pytest.fixture
def offline(tmp_path):
    return small_run(tmp_path / "r")


def test_the_offline_judge_is_held_to_pull_requests_that_it_had_not_seen(offline):
    run = with_trust(offline, FIGURES)
    found = trust_of(run, NO_LABELS)
    measured = "at kappa 0.82 (95 % interval 0.79–0.85) on pull requests that it had not seen"
    assert found.sentence == f"offline agreed with 3 strong models {measured}."
    commands = "metareview label RUN, then metareview calibrate --run RUN"
    assert found.advice() == f"On your own pull requests: {commands} (docs/judges.md)."
    assert found.line() == f"How far to trust the judge: {found.sentence} {found.advice()}"
    # What a terminal shows can be pasted.
    commands = "metareview label 'my run', then metareview calibrate --run 'my run'"
    assert found.line("my run").endswith(f"On your own pull requests: {commands} (docs/judges.md).")
    assert found.more == [
        "On repositories that it had not seen, kappa is 0.82.",
        "By its verdicts, a tool's F1 is off by 0.031 on average.",
    ]


def test_a_run_with_other_languages_is_told_that_the_figure_is_of_english(tmp_path):
    said, wanted = (
        [{"pr": PR.format(1), "comments": [{"path": "a.py", "from_line": 1, "note": note}]}]
        for note in ("Файл не закрывается при ошибке", "При ошибке файл остаётся открытым")
    )
    evaluate_comments(said, reference=wanted, name="bot", out=tmp_path / "r")
    found = trust_of(with_trust(load_run(tmp_path / "r"), {"kappa": 0.8066}), NO_LABELS)
    assert found.sentence.endswith(" at kappa 0.81 on pull requests that it had not seen, all in English.")


def test_without_an_interval_kappa_stands_alone(offline):
    found = trust_of(with_trust(offline, {"kappa": 0.8066}), NO_LABELS)
    assert found.sentence == "offline agreed with a strong model at kappa 0.81 on pull requests that it had not seen."
    assert found.more == []


def test_another_threshold_is_said_not_to_be_the_one_that_was_measured(offline):
    run = with_trust(offline, FIGURES)
    own = run.result.config.threshold
    other = replace(run, result=replace(run.result, config=replace(run.result.config, threshold=0.6)))
    assert f"had not seen, at its threshold of {own:g}, not at 0.6." in trust_of(other, NO_LABELS).sentence


def test_figures_that_were_learned_from_examples_are_not_those_that_were_measured(offline):
    run = with_trust(offline, FIGURES)
    config = replace(run.result.config, judge_parameters={"weights": "offline-2", "examples": "ab12"})
    known = replace(run, result=replace(run.result, config=config))
    assert trust_of(known, NO_LABELS).sentence.endswith("had not seen, without known verdicts to learn from.")


def test_the_summary_keeps_what_was_known_when_the_run_was_made(offline):
    assert offline.result.trust == held_out()
    assert offline.summary["trust"]["kappa"] == held_out().kappa
    assert offline.summary["trust"]["weights"] == held_out().weights
    assert load_run(offline.folder).summary == offline.summary


def test_a_run_that_noted_nothing_goes_by_the_name_of_its_weights(offline):
    older = replace(offline, result=replace(offline.result, trust=None))
    assert trust_of(older, NO_LABELS).sentence == trust_of(offline, NO_LABELS).sentence
    config = replace(older.result.config, judge_parameters={"weights": "offline-0"})
    gone = replace(older, result=replace(older.result, config=config))
    assert trust_of(gone, NO_LABELS).sentence == "not known for offline until you calibrate it."


@pytest.mark.parametrize("judge", ["none", "exact"])
def test_what_goes_by_a_rule_is_said_to(tmp_path, judge):
    run = small_run(tmp_path / "r", judge=judge)
    found = trust_of(run, NO_LABELS)
    assert found.by_rule
    assert found.sentence.startswith(f"{judge} ")
    assert found.advice() == ""
    assert "trust" not in run.summary


def test_of_any_other_judge_nothing_is_known_before_it_is_calibrated(tmp_path):
    run = make_run(tmp_path / "r")
    assert trust_of(run, read_labels(run)).line() == (
        "How far to trust the judge: not known for lenient until you calibrate it."
        " First metareview label RUN, then metareview calibrate --run RUN (docs/judges.md)."
    )


def test_labels_of_the_run_take_the_place_of_what_was_measured_elsewhere(tmp_path):
    run = make_run(tmp_path / "r")
    label_all(run, budget=1_000)
    labels = read_labels(run)
    found, agreement = trust_of(run, labels), labels.judged.agreement
    assert found.sentence == (
        f"lenient agrees with people at kappa {rate(agreement.kappa)} (95 % interval"
        f" {interval(agreement.intervals['kappa'])} over 23 pull requests) on {agreement.n} labelled pairs."
    )
    assert found.advice() == ""
    # Labels of no random sample correct no figure, but tell as much of the judge.
    (run.folder / FRAME).unlink()
    alone = read_labels(run)
    assert alone.calibration is None
    assert trust_of(run, alone).sentence == found.sentence


def test_too_few_labels_are_counted_beside(offline):
    label_all(offline, only=1)
    found = trust_of(offline, read_labels(offline))
    assert found.sentence == (
        f"{trust_of(offline, NO_LABELS).sentence} 1 labelled pair of this run so far, too few to tell."
    )


def test_every_report_has_the_sentence(offline):
    run = with_trust(offline, FIGURES)
    sentence = trust_of(run, NO_LABELS).sentence
    page = as_html(run)
    assert '<section id="trust"' in page
    assert sentence[1:] in words(page)
    for markdown in (as_markdown(run), run_section(run)):
        assert "at kappa 0.82" in markdown
        assert "on pull requests that it had not seen" in markdown


def test_the_page_draws_what_a_score_means(tmp_path, offline):
    section = as_html(with_trust(offline, FIGURES)).partition('<section id="trust"')[2].partition("</section>")[0]
    assert section.count("<circle") == 3
    assert section.count('class="reach s0"') == 3
    kinds = {"by_severity": {"High": {"value": 0.85, "interval": [0.8, 0.9], "pairs": 300}}}
    listed = words(as_html(with_trust(offline, FIGURES | kinds)))
    assert "High3000.8500.800–0.900" in listed.partition("by severity of the reference")[2]
    # The table behind it: 0.48 of 40 pairs, Clopper and Pearson by scipy.stats.binomtest(19, 40), near enough.
    assert '<td class="num">0.480</td>' in section.replace("'", '"')
    run = make_run(tmp_path / "labelled")
    label_all(run, budget=1_000)
    section = as_html(run).partition('<section id="trust"')[2].partition("</section>")[0]
    bins = read_labels(run).judged.agreement.reliability
    assert section.count("<circle") == len(bins)
    assert "people's labels of this run" in section.replace("&#39;", "'").replace("&#x27;", "'")
    other = small_run(tmp_path / "rouge", judge="rouge")
    assert "<svg" not in as_html(other).partition('<section id="trust"')[2].partition("</section>")[0]
