"""What the page says: the figures, the pairs, what is undecided, what is left out."""

import re
from dataclasses import replace

import pytest
from report_samples import comment, pull, two_reviewers, write_jsonl

from metareview.api import evaluate_comments
from metareview.comments.measures import Counts
from metareview.comments.records import DIMENSIONS, CommentRecord
from metareview.comments.summary import summarise
from metareview.comparison.sensitivity import Curves, RankChange, Ranking, Sensitivity
from metareview.model.comment import Comment
from metareview.report.headline import headline
from metareview.report.names import location, pull_request_name
from metareview.report.numbers import duration
from metareview.report.page import plane, pull_requests
from metareview.report.page.charts import histogram, round_ticks, scale_end
from metareview.report.page.comments import answer, location_and_meaning, precision_recall
from metareview.report.page.evidence import judge_section, left_out_section
from metareview.report.page.pull_requests import pull_request_section
from metareview.report.page.sensitivity import sensitivity_section
from metareview.report.page.slices import slice_section


def text(section):
    """What is left of a section without its markup, white space collapsed."""
    plain = re.sub(r"<[^>]+>", " ", str(section.markup()).replace("<wbr>", ""))
    return " ".join(plain.replace("&lt;", "<").replace("&gt;", ">").replace("&#x27;", "'").split())


@pytest.fixture
def run(tmp_path):
    return two_reviewers(tmp_path, out=tmp_path / "run")


def test_the_answer_names_the_best_reviewer_with_its_figures(run):
    shown = text(answer(run))
    # Two pull requests cannot separate anybody.
    assert "sharp and loud have too few matches to be tested at the top by F1, on 2 pull requests" in shown
    assert "; the highest is 0.857 (sharp," in shown
    assert shown.index("1. sharp") < shown.index("2. loud")
    assert "1 pair stayed undecided" in shown
    # loud: 1 of 4 comments, 1 of 4 references; with the open pair as a match 2 of 4 and 2 of 4.
    assert "0.250–0.500" in shown


def test_the_interval_bar_is_drawn_to_scale(run):
    drawn = str(answer(run).markup())
    assert 'aria-label="sharp: F1 0.857, 95 % interval' in drawn
    assert f'cx="{100 * 6 / 7:.2f}%"' in drawn
    assert 'cx="25.00%"' in drawn


def test_slices_give_f1_by_language_and_recall_by_category(run):
    shown = text(slice_section(run.result))
    assert "F1 by language, with 95 % intervals; bars run from 0 to 1" in shown
    shown = re.sub(r" \d\.\d{3}–\d\.\d{3}", "", shown)  # the intervals
    # A slice has its pull requests and references; fewer than five pull requests are marked on each figure.
    assert "Go 1 2 1.000 * 0.500 *" in shown.replace("*", " *")  # sharp 2 of 2 and 2 of 2; loud 1 of 2 and 1 of 2
    assert "Code Defect 2 2 1.000* 0.500*" in shown
    assert "Performance 1 1 1.000* 0.000*" in shown
    assert "* Fewer than 5 pull requests: the figure means little." in shown
    assert shown.index("High 1 1") < shown.index("Low 1 1")
    assert "The data does not name: context that the issue needs." in shown


def test_a_lone_reviewer_has_its_metrics_side_by_side(tmp_path):
    reference = write_jsonl(
        tmp_path / "r.jsonl", [{"pr": pull(1), "language": "Go", "comments": [comment("a", 1), comment("b", 90)]}]
    )
    said = write_jsonl(tmp_path / "one.jsonl", [{"pr": pull(1), "comments": [comment("a", 1)]}])
    run = evaluate_comments(said, reference=reference, judge="exact")
    figures = re.sub(r" \d\.\d{3}–\d\.\d{3}", "", text(slice_section(run.result)))
    assert "Precision Recall F1 Go 1 2 1.000* 0.500* 0.667*" in figures
    shown = text(pull_request_section(run, ["one"]))
    assert "References that were not raised R2 src/a.py:90 missed b" in shown


def test_location_and_meaning_counts_what_the_judge_kept(run):
    shown = text(location_and_meaning(run.result))
    # loud points at two references (lines 1 and 5) and raises one.
    assert "loud 0.500 0.250" in shown
    assert "2 1 50%" in shown


def test_the_plane_places_each_reviewer(run):
    drawn = str(precision_recall(run.result).markup())
    # Axes end at 1. sharp: recall 3/4, precision 1; loud: 1/4 and 1/4.
    assert f'class="mark s0" transform="translate({60 + 344 * 0.75:.1f} 12.0)"' in drawn
    assert f'class="mark s1" transform="translate({60 + 344 * 0.25:.1f} {12 + 270 * 0.75:.1f})"' in drawn


def test_iso_f1_lines_hold_their_f1():
    level = 0.4
    points = re.search('points="([^"]+)"', str(plane._iso_f1(level, 1.0)[0]))[1].split()
    for point in points[1:-1]:
        x, y = map(float, point.split(","))
        recall, precision = (x - 60) / 344, 1 - (y - 12) / 270
        assert 2 * precision * recall / (precision + recall) == pytest.approx(level, abs=0.002)


def test_pairs_are_shown_side_by_side_with_score_verdict_and_reason(run):
    shown = text(pull_request_section(run, ["sharp", "loud"]))
    assert "Owner/Repo#1" in shown
    assert "R1 src/a.py:1 raised by 2 of 2 sharp , loud · Code Defect · High leaks the handle" in shown
    assert "R2 src/a.py:60 missed by all dead code" in shown
    matched = "Comment src/a.py:1 leaks the handle Reference R1 src/a.py:1 leaks the handle same issue"
    assert f"{matched} score 0.90 · by model" in shown
    assert "said <b>plainly</b>" not in str(pull_request_section(run, ["sharp", "loud"]).markup())
    assert "Rejected by annotators src/a.py:80 rename it repeats a rejected comment" in shown
    assert "open question Reference R1 src/a.py:5 no bounds check undecided right location by model" in shown
    assert "nice No reference is at this location. no match" in shown
    assert "Comments of sharp 1 of 1 comment matched a reference. Missed: R2 ." in shown


def test_what_stayed_undecided_is_listed_with_its_bounds(run):
    shown = text(left_out_section(run))
    assert "Undecided pairs" in shown
    assert "loud 1 0.250–0.500" in shown
    assert "Owner/Repo#2 loud 0 reference 0 said <b>plainly</b>" in shown


def test_the_judge_and_the_settings_are_named(run):
    shown = text(judge_section(run))
    assert "The judge “plain” gave the verdicts on" in shown
    assert "No model was called" in shown
    assert "Model calls" not in shown  # there were none: nothing to list
    assert "line_distance 1" in shown
    assert "references.jsonl" in shown


def test_what_there_is_no_room_for_is_counted(run, monkeypatch):
    monkeypatch.setattr(pull_requests, "MOST_SHOWN", 1)
    shown = text(pull_request_section(run, ["sharp", "loud"]))
    assert "1 of 2 pull requests are shown without their pairs" in shown
    assert "Owner/Repo#2 sharp 1 1 2 1" in shown
    assert "no bounds check" not in shown
    monkeypatch.setattr(pull_requests, "MOST_BYTES", 0)
    monkeypatch.setattr(pull_requests, "MOST_LISTED", 3)
    shown = text(pull_request_section(run, ["sharp", "loud"]))
    assert "2 of 2 pull requests are shown without their pairs" in shown
    assert "the first 3 rows are listed; 1 more are left out" in shown


def test_coverage_shows_every_reference_that_a_comment_raised(tmp_path):
    both = [comment("same words", 1), comment("same words", 2)]
    reference = write_jsonl(tmp_path / "r.jsonl", [{"pr": pull(1), "comments": both}])
    said = write_jsonl(tmp_path / "one.jsonl", [{"pr": pull(1), "comments": [comment("same words", 1)]}])
    run = evaluate_comments(said, reference=reference, judge="exact", alignment="coverage")
    page = str(pull_request_section(run, ["one"]).markup())
    assert page.count("same issue") == 2
    assert page.count('id="p1-R1"') == page.count('id="p1-R2"') == 1


SENSITIVITY = Sensitivity(
    run=None,
    judge="plain",
    line_distance=Curves(
        values=[0, 1, 2],
        at=1,
        reviewers={
            "sharp": {"f1": [0.2, 0.4, 0.4], "line_f1": [0.5, 0.5, None]},
            "loud": {"f1": [0.3, 0.3, None], "line_f1": [0.6, 0.7, 0.8]},
        },
        ranking=Ranking("f1", ["sharp", "loud"], False, [RankChange(0, ["loud", "sharp"], [["loud", "sharp"]])]),
    ),
    threshold=None,
)


def test_sensitivity_shows_the_curves_their_figures_and_who_overtakes_whom(run):
    section = sensitivity_section(SENSITIVITY, run.result)
    shown, drawn = text(section), str(section.markup())
    assert "The ranking by F1 changes at 1 of 3 values (0): at 0, for example, loud overtakes sharp." in shown
    assert "0 0.200 0.300 1 0.400 0.300 2 0.400 –" in shown
    assert "0 0.500 0.600 1 0.500 0.700 2 – 0.800" in shown
    # Both charts have one axis, to 1 because of line F1's 0.8: 0.2 is at 1/5 of its height. loud's line stops where it
    # has no value.
    points = [match.split() for match in re.findall(r'class="line s\d" points="([^"]+)"', drawn)]
    assert points[0] == ["60,228", "232,174", "404,174"]
    assert points[1] == ["60,201", "232,201"]
    assert "judge's threshold" not in shown


def test_without_curves_there_is_no_section(run):
    assert sensitivity_section(Sensitivity(None, "plain", None, None), run.result) is None


def _record(reviewer, number, matched, total):
    counts = Counts(expected=10, generated=total, matched=matched, covered=matched)
    return CommentRecord(
        pull(number), reviewer, None, None, 10, 10, counts=counts, slices={key: {} for key in DIMENSIONS}
    )


@pytest.mark.parametrize(
    ("values", "end"), [([0.41, None], 0.5), ([0.02], 0.02), ([0.021], 0.05), ([], 1.0), ([0.0], 1.0), ([1.0], 1.0)]
)
def test_an_axis_ends_at_a_round_number(values, end):
    assert scale_end(values) == end


def test_names_and_locations_read_well():
    assert pull_request_name("https://gitlab.com/Group/Sub/App/-/merge_requests/7") == "Group/Sub/App#7"
    assert pull_request_name("local change") == "local change"
    assert location(Comment("x", "a.py", "LEFT", 3, 9)) == "a.py:3–9 (LEFT)"
    assert location(Comment("x")) == ""
    assert [duration(s) for s in (None, 59, 60, 3_600, 90_000)] == ["–", "59 s", "1.0 min", "1.0 h", "1.0 d"]


def test_leads_is_said_of_who_is_better_by_more_than_chance_and_of_nobody_else(run):
    """x is right on 8 of 10 comments in each of 20 pull requests, y on 2; z, with one pull request, on all."""
    records = [_record("x", n, 8, 10) for n in range(20)] + [_record("y", n, 2, 10) for n in range(20)]
    records.append(_record("z", 0, 10, 10))
    config = run.result.config
    reviewers = {
        name: summarise([record for record in records if record.reviewer == name], config, 20) for name in "xyz"
    }
    result = replace(run.result, reviewers=reviewers, prs=20)
    said = headline(replace(run, result=result, folder=None, kept_records=records))
    assert said.startswith("x leads with F1 0.800 on 20 pull requests (95 % interval 0.563–0.943).")
    assert said.endswith("Too few of the pull requests to be ranked: z (1 of 20).")


@pytest.mark.parametrize(
    ("low", "high", "whole", "ticks"),
    [
        (0, 1, False, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 0.5, False, [0, 0.1, 0.2, 0.3, 0.4, 0.5]),
        (0, 0.02, False, [0, 0.005, 0.01, 0.015, 0.02]),
        (0.05, 0.95, False, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 20, True, [0, 5, 10, 15, 20]),
        (0, 28, True, [0, 10, 20, 30]),
        (0, 2, True, [0, 1, 2]),
        (0.5, 0.5, False, [0.4, 0.6]),
    ],
)
def test_ticks_are_round_numbers(low, high, whole, ticks):
    assert round_ticks(low, high, whole=whole) == ticks


def _drawn_plane(points):
    drawn = str(plane.plane("x", [plane.Point(f"reviewer-{n}", x, y) for n, (x, y) in enumerate(points)]))
    marks = re.findall(
        r'class="mark (s\d)( hollow)?" transform="translate\(([\d.]+) ([\d.]+)\)(?: scale\(([\d.]+)\))?', drawn
    )
    return drawn, marks


def test_few_marks_have_their_names_and_many_a_legend():
    drawn, marks = _drawn_plane([(0.2, 0.8), (0.5, 0.5)])
    assert len(marks) == 2
    assert ">reviewer-0</text>" in drawn
    assert "legend" not in drawn
    crowd = [(0.3 + 0.01 * n, 0.3 + 0.013 * (n % 5)) for n in range(12)]
    drawn, marks = _drawn_plane(crowd)
    assert "</text>" in drawn
    assert "reviewer-3</text>" not in drawn
    assert "<bdi>reviewer-11</bdi>" in drawn
    # Twelve marks and as many in the legend; colour and shape together are nobody else's.
    shapes = re.findall(r'class="mark (s\d)[^"]*" transform="[^"]+" d="([^"]+)"', drawn)
    assert len(shapes) == 24
    assert len(set(shapes)) == 12


def test_marks_on_one_spot_are_rings_around_each_other():
    _, marks = _drawn_plane([(0.5, 0.5)] * 3)
    on_chart = [mark for mark in marks if mark[2] != "0.0"]
    assert [(hollow, scale) for _, hollow, _, _, scale in on_chart] == [
        ("", ""),
        (" hollow", "1.8"),
        (" hollow", "2.6"),
    ]


def test_labels_of_the_plane_cover_no_mark_and_no_label():
    points = [(0.2, 0.8), (0.25, 0.8), (0.5, 0.5), (0.5, 0.56), (0.8, 0.2)]
    drawn, marks = _drawn_plane(points)
    labels = re.findall(r'class="halo" x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)">(reviewer-\d)', drawn)
    assert len(labels) == 5
    boxes = []
    for x, y, anchor, name in labels:
        wide = 7 * len(name)
        left = float(x) - {"start": 0, "middle": wide / 2, "end": wide}[anchor]
        boxes.append((left, float(y) - 11, left + wide, float(y) + 2))
    for number, (left, top, right, bottom) in enumerate(boxes):
        for _, _, x, y, _ in marks:
            assert not (left < float(x) + 5 and float(x) - 5 < right and top < float(y) + 5 and float(y) - 5 < bottom)
        for other in boxes[number + 1 :]:
            assert right <= other[0] or other[2] <= left or bottom <= other[1] or other[3] <= top


def test_nothing_left_out_is_no_section(tmp_path):
    reference = write_jsonl(tmp_path / "r.jsonl", [{"pr": pull(1), "comments": [comment("a", 1)]}])
    said = write_jsonl(tmp_path / "one.jsonl", [{"pr": pull(1), "comments": [comment("a", 1)]}])
    run = evaluate_comments(said, reference=reference, judge="exact", force=True)
    assert left_out_section(run) is None
    assert "Only misses" not in text(pull_request_section(run, ["one"]))


def test_misses_are_marked_off_from_what_was_found(run):
    drawn = str(pull_request_section(run, ["sharp", "loud"]).markup())
    # Of #1 both references were raised by somebody, of #2 nobody says "dead code".
    assert "Only misses: 1 reference that nobody raised, in 1 pull request" in drawn
    assert re.findall(r'<details class="pr( found)?">', drawn) == [" found", ""]
    assert drawn.count('<li class="found">') == 3
    assert drawn.count('<li class="pair found">') == 4  # sharp's three matches and loud's one


def test_rank_histograms_have_one_scale():
    def heights(most):
        return re.findall(r'height="([\d.]+)"', str(histogram("x", "rank", {"1": 5, "none": 10}, most)))

    assert heights(10) == ["68", "136"]
    assert heights(20) == ["34", "68"]
