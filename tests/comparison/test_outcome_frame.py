"""Which comments are drawn, and what labels of them say of all: by hand, by definition, and against a known truth."""

import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelled_outcomes import AT, give, label, make_run, outcome, pr
from metareview.comparison.leaderboard import leaderboard
from metareview.comparison.outcome_corrected import corrected_rows, outcome_correction_of, outcome_correction_to_dict
from metareview.comparison.outcome_frame import LabelledOutcomes, open_outcome_frame, outcome_frame
from metareview.comparison.paired import compare
from metareview.errors import InputError, UsageError
from metareview.model.label import OutcomeLabel
from metareview.outcomes.measures import MEASURES
from metareview.outcomes.sample import Stratum, Unit, unit_of
from metareview.runs.outcome_frame_json import frame_from_json, frame_to_json, read_outcome_frame

sys.path.append(str(Path(__file__).resolve().parents[2]))
from bench.outcome_labels import JUDGES, RARELY, SURE, trials, true_rate

VERDICTS = ("fully", "partly", "not", "unknown")


def units(sizes, prs=10):
    """So many comments of each reviewer and group, spread over pull requests."""
    found = []
    for (reviewer, group), size in sizes.items():
        found += [Unit(f"o/r#{at % prs}", reviewer, 1000 * len(found) + at, group, None) for at in range(size)]
    return found


def test_what_a_comment_is_told_apart_by():
    told = [
        unit_of(("p", "r"), each, judged=True).group
        for each in (
            outcome(0, verdict="fully"),
            outcome(0, verdict="partly", by="cache"),
            outcome(0, verdict="not"),
            outcome(0, verdict="unknown"),
            outcome(0, verdict="undecided"),
            outcome(0, verdict="not", by="lines"),
            outcome(0),
        )
    ]
    assert told == ["addressed", "addressed", "not addressed", "unsure", "unsure", "not asked", "not asked"]
    lines = [unit_of(("p", "r"), outcome(0, changed), judged=False).group for changed in (True, False, None)]
    assert lines == ["lines changed", "lines unchanged", "cannot tell"]


def test_every_stratum_gives_at_least_eight_and_the_budget_is_spent():
    sizes = {("a", "addressed"): 300, ("a", "not addressed"): 400, ("b", "addressed"): 5, ("b", "unsure"): 60}
    frame = outcome_frame(units(sizes), budget=120)
    assert [(each.reviewer, each.group, each.size) for each in frame.strata] == [
        (reviewer, group, size) for (reviewer, group), size in sorted(sizes.items())
    ]
    drawn = Counter(stratum for stratum, _ in frame.drawn)
    assert sum(drawn.values()) == 120
    assert drawn[2] == 5
    # 115 for 300, 400 and 60, weighed 4 : 4 : 5: 44.5, 59.4 and 11.1.
    assert [drawn[0], drawn[1], drawn[3]] == [45, 59, 11]
    assert len({unit.key for _, unit in frame.drawn}) == 120


def test_too_many_strata_for_the_budget_are_made_fewer():
    many = {(f"r{at}", group): 20 for at in range(9) for group in ("addressed", "not addressed")}
    assert {(each.reviewer, each.group) for each in outcome_frame(units(many)).strata} == {
        (None, "addressed"),
        (None, "not addressed"),
    }
    assert outcome_frame(units(many), budget=10).strata == [Stratum(None, None, 360)]
    with pytest.raises(UsageError, match="--budget must be 8 or more, found 7"):
        outcome_frame(units(many), budget=7)


def test_a_larger_budget_adds_and_takes_nothing_away():
    population = units({("a", "addressed"): 100, ("b", "not asked"): 100})
    before = outcome_frame(population, budget=30, seed=4)
    after = outcome_frame(population, budget=60, seed=0, before=before)
    assert {unit for _, unit in before.drawn} < {unit for _, unit in after.drawn}
    assert (after.seed, len(after.drawn)) == (4, 60)


def test_the_estimate_by_hand():
    # Six comments of one stratum, three labelled: fully, not, unknown. Means: addressed 1/3, decidable 2/3, fully 1/3.
    population = [Unit("p1", "r", at, "addressed", None) for at in range(4)]
    population += [Unit("p2", "r", at, "addressed", None) for at in range(2)]
    frame = outcome_frame(population, budget=8)
    said = {("p1", "r", 0): "fully", ("p1", "r", 1): "not", ("p2", "r", 0): "unknown"}
    labelled = LabelledOutcomes(frame, said)
    # p1: 4/3 + 2 (1 - 1/3) + 2 (0 - 1/3) = 2; p2: 2/3 + 2 (0 - 1/3) = 0.
    assert labelled.estimate("addressed") == pytest.approx({("p1", "r"): 2.0, ("p2", "r"): 0.0})
    # p1: 8/3 + 2 (1/3) 2 = 4; p2: 4/3 + 2 (0 - 2/3) = 0.
    assert labelled.estimate("decidable") == pytest.approx({("p1", "r"): 4.0, ("p2", "r"): 0.0})
    rows = corrected_rows(labelled)
    addressed = next(each for each in MEASURES if each.name == "addressed")
    assert addressed(sum(rows.values())) == pytest.approx(0.5)


def test_too_few_labels_estimate_nothing():
    frame = outcome_frame(units({("a", "addressed"): 20, ("a", "unsure"): 20}), budget=16)
    one = {frame.drawn[0][1].key: "fully"}
    assert LabelledOutcomes(frame, one).estimate("addressed") is None
    assert LabelledOutcomes(frame, one).sample.missing == 3


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(VERDICTS), st.booleans()), min_size=1, max_size=30))
def test_with_every_comment_labelled_the_estimate_is_the_count(said):
    population = [
        Unit(f"p{number}", "r", at, "addressed" if judged else "unsure", None)
        for at, (number, _, judged) in enumerate(said)
    ]
    verdicts = {unit.key: verdict for unit, (_, verdict, _) in zip(population, said, strict=True)}
    labelled = LabelledOutcomes(outcome_frame(population, budget=1000), verdicts)
    for what, counted in (("addressed", ("fully", "partly")), ("fully", ("fully",)), ("decidable", VERDICTS[:3])):
        true = Counter({unit.record: 0 for unit in population})
        true.update(unit.record for unit in population if verdicts[unit.key] in counted)
        assert labelled.estimate(what) == pytest.approx(dict(true))
    assert labelled.sample.complete


def test_the_estimate_is_right_on_average_over_all_samples():
    """Every sample of two of each stratum, as the definition has it."""
    from itertools import combinations, product

    groups = {"addressed": ["fully", "fully", "not", "unknown"], "unsure": ["not", "partly", "not"]}
    population = [Unit(f"p{at % 2}", "r", 10 * n + at, name, None) for n, (name, of) in enumerate(groups.items())
                  for at in range(len(of))]  # fmt: skip
    truth = dict(zip((unit.key for unit in population), (v for of in groups.values() for v in of), strict=True))
    frame = outcome_frame(population, budget=8)
    by_group = [[unit for unit in population if unit.group == name] for name in groups]
    totals = []
    for first, second in product(*(list(combinations(of, 2)) for of in by_group)):
        labelled = LabelledOutcomes(frame, {unit.key: truth[unit.key] for unit in (*first, *second)})
        totals.append(sum(labelled.estimate("addressed").values()))
    assert np.mean(totals) == pytest.approx(3.0)


# A run in a folder


def a_run(tmp_path, judge="llm"):
    return make_run(
        tmp_path / "r",
        {
            (pr(1), "bot"): [outcome(0, True, "fully"), outcome(1, False, "not"), outcome(2, None, "partly")],
            (pr(2), "bot"): [outcome(0, True, "fully"), outcome(1, False, "not")],
            (pr(3), "bot"): [],
        },
        judge,
    )


def drawn(stratum, number, position, group):
    where = {"pr": pr(number), "reviewer": "bot", "position": position}
    return {"stratum": stratum, **where, "group": group, "lines_changed": None}


def test_a_frame_is_drawn_once_and_read_back(tmp_path):
    run = a_run(tmp_path)
    frame = open_outcome_frame(run)
    assert (frame.comments, len(frame.drawn)) == (5, 5)
    assert open_outcome_frame(run, seed=9) == frame
    assert frame_from_json(frame_to_json(frame)) == frame
    assert read_outcome_frame(run.folder, "another run") is None
    assert Counter(unit.group for _, unit in frame.drawn) == {"addressed": 3, "not addressed": 2}


@pytest.mark.parametrize("knows_all", [True, False])
def test_what_was_drawn_stays_drawn_when_the_judge_has_decided_more_since(knows_all):
    undecided = [Unit(str(pr), "bot", at, "unsure", None) for pr in range(40) for at in range(5)]
    small = outcome_frame(undecided, budget=60)
    decided = [replace(unit, group=("addressed", "not addressed")[int(unit.pr) % 2]) for unit in undecided]
    late = [Unit(str(pr), "bot", 5, "addressed", None) for pr in range(40)]
    # A file of an older version holds the strata of what was drawn alone.
    before = small if knows_all else replace(small, stratum={})
    large = outcome_frame([*decided, *late], budget=90, before=before)
    assert {unit.key: at for at, unit in small.drawn}.items() <= {unit.key: at for at, unit in large.drawn}.items()
    assert len(large.drawn) >= 90
    assert sum(stratum.size for stratum in large.strata) == 240
    if knows_all:
        assert [(stratum.group, stratum.size) for stratum in large.strata] == [("unsure", 200), ("addressed", 40)]
        assert [large.stratum[unit.key] for unit in undecided] == [small.stratum[unit.key] for unit in undecided]
    assert frame_from_json(frame_to_json(large)) == large


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("schema", "other"),
        ("strata", []),
        ("members", [["p", "r", [1]]]),
        ("drawn", [drawn(9, 1, 0, "unsure")]),
        ("drawn", [drawn(0, 9, 0, "unsure")]),
        ("drawn", [drawn(0, 1, -1, "unsure")]),
        ("drawn", [drawn(0, 1, 0, "x")]),
        ("seed", -1),
    ],
)
def test_a_broken_frame_is_refused(tmp_path, key, value):
    import json

    run = a_run(tmp_path)
    stored = frame_to_json(open_outcome_frame(run))
    (run.folder / "frame.json").write_text(json.dumps({**stored, key: value}))
    with pytest.raises(InputError, match="a broken frame"):
        open_outcome_frame(run)


def test_corrected_figures_of_a_run_by_hand(tmp_path):
    run = a_run(tmp_path)
    open_outcome_frame(run)
    assert outcome_correction_of(run).figures == {}
    give(
        run, label(1, 0, "fully"), label(1, 1, "partly"), label(1, 2, "not"), label(2, 0, "unknown"), label(2, 1, "not")
    )
    correction = outcome_correction_of(run)
    figures = correction.figures["bot"]
    # Everything is labelled: 2 of 4 addressed, 1 fully; as judged 3 of 5 and 2 of 5.
    assert figures.judged == pytest.approx({"addressed": 0.6, "addressed_fully": 0.4})
    assert figures.metrics == pytest.approx({"addressed": 0.5, "addressed_fully": 0.25})
    assert figures.decidable == pytest.approx(4)
    assert correction.complete
    low, high = figures.intervals["addressed"]
    assert low < 0.5 < high
    worth = correction.worth_of_lines()
    found = {name: (each.labelled, each.decidable, each.addressed, each.rate) for name, each in worth.items()}
    assert found == {"changed": (2, 1, 1, 1.0), "unchanged": (2, 2, 1, 0.5), "cannot_tell": (1, 1, 0, 0.0)}


def test_a_label_weighs_as_many_comments_as_it_stands_for(tmp_path):
    # 30 comments with a verdict, 2 of them labelled; 3 without, all labelled. All on changed lines.
    comments = [outcome(at, True, "fully") for at in range(30)] + [
        outcome(at, True, "not", "lines") for at in (30, 31, 32)
    ]
    run = make_run(tmp_path / "r", {(pr(1), "bot"): comments})
    frame = open_outcome_frame(run, budget=12)
    asked = [unit.position for _, unit in frame.drawn if unit.group == "addressed"][:2]
    give(run, *(label(1, at, "fully") for at in asked), *(label(1, at, "not") for at in (30, 31, 32)))
    worth = outcome_correction_of(run).worth_of_lines()["changed"]
    assert (worth.labelled, worth.addressed) == (5, 2)
    assert worth.rate == pytest.approx(30 / 33)


def test_without_a_judge_labels_alone_give_the_figure(tmp_path):
    comments = {(pr(n), "bot"): [outcome(0, n % 2 == 0), outcome(1, None)] for n in range(12)}
    run = make_run(tmp_path / "r", comments, judge="none")
    frame = open_outcome_frame(run)
    assert [(each.group, each.size) for each in frame.strata] == [
        ("cannot tell", 12), ("lines changed", 6), ("lines unchanged", 6),
    ]  # fmt: skip
    give(run, *(label(n, 0, "fully" if n % 2 == 0 else "not") for n in range(12)))
    give(run, *(label(n, 1, "unknown") for n in range(12)))
    figures = outcome_correction_of(run).figures["bot"]
    assert figures.judged == {"addressed": None, "addressed_fully": None}
    assert figures.metrics["addressed"] == pytest.approx(0.5)
    assert figures.intervals["addressed"] is not None


def test_labels_of_other_notes_are_counted_and_not_used(tmp_path):
    run = a_run(tmp_path)
    open_outcome_frame(run)
    give(run, label(1, 0, "fully", note="what an earlier run had there"), label(7, 0, "fully"))
    correction = outcome_correction_of(run)
    assert (correction.held.stale, correction.labelled.done) == (2, 0)


def test_what_was_passed_over_makes_figures_provisional():
    frame = outcome_frame(units({("a", "addressed"): 40}), budget=20)
    drawn = [unit.key for _, unit in frame.drawn]
    assert LabelledOutcomes(frame, dict.fromkeys(drawn[:12], "not")).sample.complete
    some = LabelledOutcomes(frame, dict.fromkeys(drawn[1:12], "not"))
    assert (some.sample.passed_over, some.sample.provisional) == (1, True)
    assert not LabelledOutcomes(frame, dict.fromkeys(drawn[:5], "not")).sample.complete


@pytest.mark.parametrize("kept", [range(5), range(1, 12)], ids=["too few", "one passed over"])
def test_a_provisional_correction_has_no_interval_and_enters_no_comparison(tmp_path, kept):
    comments = {(pr(n), "bot"): [outcome(at, True, "fully" if n % 3 else "not") for at in (0, 1)] for n in range(20)}
    runs = [make_run(tmp_path / name, comments) for name in ("a", "b")]
    for run in runs:
        frame = open_outcome_frame(run, budget=30)
        of_stratum = {at: [unit for place, unit in frame.drawn if place == at] for at, _ in frame.drawn}
        asked = [each for of_one in of_stratum.values() for at, each in enumerate(of_one) if at in kept]
        give(run, *(OutcomeLabel(*unit.key, f"note {unit.position}", "not", AT) for unit in asked))
        correction = outcome_correction_of(run)
        assert correction.provisional
        assert outcome_correction_to_dict(correction)["frame"]["provisional"] is True
        assert correction.figures["bot"].metrics["addressed"] == 0
        assert set(correction.figures["bot"].intervals.values()) == {None}
    result, board = compare(*runs), leaderboard(runs)
    assert result.labelled is None
    assert result.metrics["addressed"].a == runs[0].metrics["bot"]["addressed"] > 0
    assert board.labelled is None
    assert {row.figures.metrics["addressed"] for row in board.rows} == {runs[0].metrics["bot"]["addressed"]}


@pytest.mark.parametrize("judge", ["good", "lenient", "random", None])
def test_intervals_hold_the_truth(judge):
    # A small part of `python -m bench outcome_labels`: one that held 85 % of the time would be seen.
    trial = trials(JUDGES[judge] if judge else None, true_rate(prs=20_000), repeats=120, seed=5)
    assert 0.90 <= trial.coverage <= 0.99
    assert abs(trial.bias) < 0.015


def test_intervals_hold_the_truth_where_a_sure_judge_misses_what_is_rarely_addressed():
    # Of 80 seeded sets; about 60 % where labels that are all alike count as certain.
    truth = true_rate(prs=20_000, heeded_by=RARELY)
    assert trials(SURE, truth, repeats=80, budget=40, seed=5, heeded_by=RARELY).coverage >= 0.9
