"""What `make bench` records, checks and draws. No time is asserted here: clocks are made up."""

import json
import re
import sys
from collections import Counter
from importlib import import_module
from xml.etree import ElementTree

import bench.command
import bench.data
import pytest
from bench import GROWTH, SPEED, TRUTH, growth, page, scale_data, spark
from bench.chart import FITS, LABELS, RIGHT, WIDTH, draw
from bench.check import REPEATS, State, check
from bench.measure import MADE_UP, Result, Row, alone, compared, ran
from bench.ranks import Work, pytrec_eval
from bench.record import Part, read, rounded, write
from bench.routing import plain_ranks, synthetic, write_events

from metareview import evaluate_comments
from metareview.formats.history import read_history
from metareview.pipelines.routing import RoutingOptions, evaluate


def ratio(value, what="all pairs", data=MADE_UP):
    return Row.ratio(what, value, peer="rouge", data=data)


def found(*rows, data=MADE_UP):
    return Result("found", rows, data)


def measuring(*results):
    """Gives these one after the other, and counts how often it was asked."""
    left = iter(results)
    calls = []

    def measure():
        calls.append(1)
        return next(left)

    return measure, calls


def states(recorded, *results):
    measure, calls = measuring(*results)
    return [(each.what, each.state) for each in check(recorded, measure)], len(calls)


ALL = "all pairs, against rouge"


def test_a_ratio_may_be_a_fifth_lower_and_no_more():
    assert states(found(ratio(100)), found(ratio(80))) == ([(ALL, State.HELD)], 1)
    low = [found(ratio(79.9))] * 4
    assert states(found(ratio(100)), *low) == ([(ALL, State.FELL)], 1 + REPEATS)


def test_a_busy_machine_gets_three_more_chances_and_only_the_best_counts():
    results = [found(ratio(each)) for each in (20, 75, 30, 81)]
    measure, calls = measuring(*results)
    [checked] = check(found(ratio(100)), measure)
    assert (checked.state, checked.recorded, checked.measured, len(calls)) == (State.HELD, 100, 81, 4)
    assert states(found(ratio(100)), *results[:1], found(ratio(90))) == ([(ALL, State.HELD)], 2)


def test_one_that_fell_is_told_with_both_figures():
    measure, _ = measuring(*[found(ratio(50), ratio(7, "some"))] * 4)
    fell, held = check(found(ratio(100), ratio(6, "some")), measure)
    assert str(fell).split(maxsplit=1) == ["FELL", f"{ALL}: 50 x, recorded 100 x"]
    assert held.state is State.HELD


def test_what_is_not_recorded_cannot_fall():
    assert states(None) == ([("", State.NOT_RECORDED)], 0)
    assert states(found(Row("memory", 3.0, "GB"))) == ([("", State.NOT_RECORDED)], 0)
    new = found(ratio(100), ratio(2, "more"))
    assert states(found(ratio(100)), new) == ([(ALL, State.HELD), ("more, against rouge", State.NOT_RECORDED)], 1)


def test_other_data_and_missing_peers_are_not_compared():
    recorded = found(ratio(100, data="AACR"), ratio(10, "some"))
    there = [(ALL, State.NOT_COMPARED), ("some, against rouge", State.HELD)]
    assert states(recorded, found(ratio(1), ratio(9, "some"))) == (there, 1)
    without = found(Row.missing("against rouge", "rouge"))
    assert states(found(ratio(100)), without) == ([(ALL, State.NOT_COMPARED)], 1)


@pytest.mark.parametrize(("measured", "code", "told"), [(90.0, 0, "No ratio fell."), (10.0, 1, "1 ratio(s) fell")])
def test_the_check_ends_with_1_where_a_ratio_fell(measured, code, told, monkeypatch, capsys):
    monkeypatch.setattr(bench.command, "read", lambda: {"rouge": part(found(ratio(100)))})
    monkeypatch.setattr(import_module("bench.rouge"), "ratios", lambda: found(ratio(measured)))
    assert bench.command.main(["--check", "rouge"]) == code
    assert told in capsys.readouterr().out


def test_an_unknown_benchmark_is_named(capsys):
    with pytest.raises(SystemExit, match="2"):
        bench.command.main(["rogue"])
    assert "no such benchmark: rogue. There are speed, truth, rouge," in capsys.readouterr().err


def part(result, date="2026-01-02", machine=None, versions=None):
    usual = {"cores": 2, "memory_gb": 8, "processor": "x", "system": "Linux", "python": "3.11.2"}
    return Part(result, date, 1.5, machine or usual, versions or {"rouge": "1.0.1", "ranx": None})


def test_what_is_recorded_is_read_back_and_each_row_has_a_line(tmp_path):
    file = tmp_path / "latest.json"
    rows = ratio(12.5), Row.below("time", 3.0, "s", 10), Row("words", "none", "")
    elsewhere = part(found(ratio(2)), "2025-12-31", {"cores": 64, "python": "3.13"})
    parts = {"ranks": elsewhere, "rouge": part(found(*rows, data="AACR"))}
    write(parts, file)
    assert read(file) == parts
    assert list(read(file)) == ["rouge", "ranks"]
    document = json.loads(file.read_text("utf-8"))
    assert document["machine"]["cores"] == 2
    assert [name for name, told in document["benchmarks"].items() if "machine" in told] == ["ranks"]
    line = '{"what": "time", "value": 3.0, "unit": "s", "target": "< 10", "met": true},'
    assert line in map(str.strip, file.read_text("utf-8").splitlines())
    assert read(tmp_path / "none.json") == {}


def test_one_benchmark_replaces_its_own_part_alone(tmp_path, monkeypatch, capsys):
    file = tmp_path / "latest.json"
    kept = part(found(ratio(5)))
    write({"ranks": kept, "rouge": part(found(ratio(1)))}, file)
    monkeypatch.setattr(bench.command, "read", lambda: read(file))
    monkeypatch.setattr(bench.command, "write", lambda parts: write(parts, file))
    monkeypatch.setattr(page, "write", lambda parts: None)
    monkeypatch.setattr(import_module("bench.rouge"), "run", lambda: found(ratio(7.123456)))
    assert bench.command.main(["rouge"]) == 0
    now = read(file)
    assert now["rouge"].result.rows == (ratio(7.123),)
    assert now["ranks"].result == kept.result
    assert "all pairs, against rouge" in capsys.readouterr().out


@pytest.mark.parametrize(("value", "expected"), [(1234567.8, 1234568.0), (12.34567, 12.35), (0.000123456, 0.0001235)])
def test_four_digits_are_kept(value, expected):
    assert rounded(Row("x", value)).value == expected


def test_ours_and_theirs_take_turns_and_medians_count():
    times = iter([2.0, 40.0, 1.0, 10.0, 4.0, 20.0])
    order = []

    def clock(work):
        work()
        return next(times)

    result = compared(lambda: order.append("ours"), lambda: order.append("theirs"), rounds=3, clock=clock)
    assert order == ["ours", "theirs"] * 3
    assert (result.ours, result.theirs, result.ratio) == (2.0, 20.0, 10.0)  # of 20, 10 and 5
    times = iter([8.0, 3.0])
    part_of_it = compared(lambda: None, lambda: None, rounds=1, sizes=(100, 1), clock=clock)
    assert part_of_it.ratio == pytest.approx(3.0 / 0.08)


HOLDING = "import sys, time; held = b'x' * (int(sys.argv[1]) << 20); time.sleep(1.2)"
BOTH = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HOLDING!r}, '150']); print('done')"


def test_memory_of_children_counts():
    watched = ran([sys.executable, "-c", BOTH])
    assert watched.output == "done\n"
    assert 150 < watched.megabytes < 220


def test_memory_is_that_of_the_command_and_not_of_who_started_it():
    held = b"x" * (200 << 20)
    assert ran([sys.executable, "-c", "import time; time.sleep(0.3)"]).megabytes < 100
    assert alone(len, "abc").megabytes < 150
    assert len(held) == 200 << 20


def test_a_command_that_fails_is_told_with_its_words():
    with pytest.raises(RuntimeError, match="ended with 3: no such thing"):
        ran([sys.executable, "-c", "import sys; sys.stderr.write('no such thing'); sys.exit(3)"])


def test_bars_are_as_long_as_their_ratios_in_tens():
    rows = [ratio(100, "a"), ratio(10, "b"), ratio(0.1, "<c> & d")]
    picture = draw({"rouge": part(found(*rows))})
    root = ElementTree.fromstring(picture)
    bars = [each for each in root.iter("{http://www.w3.org/2000/svg}rect") if each.get("class") != "panel"]
    # Three decades, from 0.1 to 100.
    decade = (WIDTH - LABELS - RIGHT) / 3
    lengths = [float(bar.get("width")) for bar in bars]
    assert lengths == pytest.approx([2 * decade, decade, decade], abs=0.1)
    assert [bar.get("class") for bar in bars] == ["faster", "faster", "slower"]
    assert float(bars[2].get("x")) == pytest.approx(LABELS, abs=0.1)
    assert root.get("role") == "img"
    spoken = root.find("{http://www.w3.org/2000/svg}desc").text
    assert "<c> & d, against rouge, 0.1 x" in spoken


def test_every_name_fits_into_the_chart():
    names = [row.name for part in read().values() for row in part.result.ratios]
    assert [name for name in names if len(name) > FITS] == []


def test_page_and_chart_are_drawn_from_what_was_recorded():
    recorded = read()
    written = page.PAGE.read_text("utf-8")
    assert page.renewed(written, recorded) == written, "run python -m bench --chart"
    assert page.PICTURE.read_text("utf-8") == draw(recorded), "run python -m bench --chart"
    scale = page.SCALE.read_text("utf-8")
    assert page.renewed_scale(scale, recorded) == scale, "run python -m bench --chart"
    ratios = sum(len(recorded[name].result.ratios) for name in SPEED if name in recorded)
    table = written.partition("<!-- ratios -->")[2].partition("<!-- /ratios -->")[0]
    assert len(re.findall(r"^\| ", table, re.MULTILINE)) == 1 + ratios


def test_growth_is_told_of_sizes_that_were_measured_with_one_worker_and_with_two():
    rows = [
        Row(growth.row_name("events", 100_000, 1, "seconds"), 12.0, "s"),
        Row(growth.row_name("events", 100_000, 2, "seconds"), 8.0, "s"),
        Row(growth.row_name("events", 100_000, 1, "memory"), 0.25, "GB"),
        Row(growth.row_name("events", 100_000, 2, "memory"), 0.5, "GB"),
        Row(growth.row_name("events", 1_000_000, 1, "seconds"), 99.0, "s"),
    ]
    parts = {"growth": Part(found(*rows), "2026-01-01", 1.0, {}, {})}
    markers = "".join(f"<!-- {what} -->\n<!-- /{what} -->\n" for what in growth.SIZES)
    written = page.renewed_scale(markers, parts)
    assert "| 100,000 | 12.0 s | 8.0 s | 1.50 | 0.25 GB | 0.50 GB |\n<!-- /events -->" in written


def test_a_page_without_its_markers_is_refused():
    with pytest.raises(ValueError, match="<!-- measured -->"):
        page.renewed("# Speed\n", {})


def test_without_published_notes_there_are_as_many_made_up_ones(monkeypatch, tmp_path):
    monkeypatch.setattr(bench.data, "AACR", tmp_path / "none")
    pull_requests, data = bench.data.notes()
    assert (len(pull_requests), sum(map(len, pull_requests)), data) == (196, 1505, MADE_UP)
    assert all(pull_requests)


def test_what_is_listed_can_be_run():
    for name in (*SPEED, *TRUTH, *GROWTH):
        assert callable(import_module(f"bench.{name}").run)


def test_the_plain_replay_ranks_as_we_do(tmp_path):
    path = tmp_path / "events.jsonl"
    write_events(synthetic(3_000, people=40), path)
    run = evaluate(RoutingOptions(path, routers=["popularity"]))
    ours = {(record.repo, record.pr): record.answers["popularity"].rank for record in run.read_records()}
    assert len(ours) == 300
    assert len(Counter(ours.values())) > 10
    assert plain_ranks(path) == ours


def test_peers_of_rankings_agree():
    work = Work.made(200)
    for theirs, ours in zip(pytrec_eval(work).values(), (work.of_first(), work.of_all()), strict=True):
        assert theirs() == pytest.approx(ours, abs=1e-12)


@pytest.fixture
def engines(monkeypatch):
    """Spark that takes three seconds beyond its start-up, worker processes that take two; what they find."""
    figures = {"spark": {"mrr": 0.5}, "workers": {"mrr": 0.5}}
    monkeypatch.setattr(spark, "EVENTS", 1_000)
    monkeypatch.setattr(spark, "_on_spark", lambda history: spark.Timed(9.0, 3.0, figures["spark"]))
    monkeypatch.setattr(spark, "_on_workers", lambda history: spark.Timed(0.0, 2.0, figures["workers"]))
    return figures


def test_spark_is_held_to_worker_processes_without_its_start_up(engines, monkeypatch):
    monkeypatch.setattr(spark, "SCALE", 1)
    assert [(row.value, row.unit, row.met) for row in spark.run().rows] == [
        (9.0, "s", None), (3.0, "s", None), (2.0, "s", None), (1.5, "times", True), (pytest.approx(2 / 3), "x", None)
    ]  # fmt: skip
    monkeypatch.setattr(spark, "SCALE", 0.01)
    assert [row.met for row in spark.run().rows] == [None] * 5
    engines["spark"] = {"mrr": 0.6}
    with pytest.raises(AssertionError, match="the figures depend on the engine"):
        spark.ratios()


def test_without_java_or_the_extra_spark_is_said_to_be_missing(engines, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: None)
    for measure in (spark.run, spark.ratios):
        assert [row.value for row in measure().rows] == ["Java is not installed"]
    monkeypatch.setattr(spark, "find_spec", lambda name: None)
    for measure in (spark.run, spark.ratios):
        assert [row.value for row in measure().rows] == ["pyspark is not installed"]


def test_both_engines_find_the_same_figures(tmp_path):
    history = tmp_path / "events.jsonl"
    scale_data.write_events(history, 2_000, repos=20)
    found, local = spark._on_spark(history), spark._on_workers(history)
    assert found.figures == local.figures
    assert found.figures["prs"] == 200


def test_large_histories_are_in_order_and_no_repository_dwarfs_the_rest(tmp_path, monkeypatch):
    monkeypatch.setattr(scale_data, "_BLOCK", 500)  # so that there are several
    path, again = tmp_path / "events.jsonl", tmp_path / "again.jsonl"
    for each in (path, again):
        scale_data.write_events(each, 24_000, repos=200)
    assert path.read_bytes() == again.read_bytes()
    instants = re.findall(rb'"at":"([^"]+)"', path.read_bytes())
    assert len(instants) == 24_000
    assert instants == sorted(instants)
    history = read_history(path)
    opened = Counter(event.repo for event in history.events if event.kind == "opened")
    assert sum(opened.values()) == 2_400
    assert max(opened.values()) < 0.05 * 2_400
    scale_data.write_events(path, 20_000, repos=200, largest=0.6)
    of_first = sum(b'/repo0"' in line for line in path.read_bytes().splitlines())
    assert 0.55 < of_first / 20_000 < 0.65


def test_large_comment_files_are_read_and_partly_match(tmp_path):
    generated, reference = scale_data.write_comments(tmp_path, 60)
    run = evaluate_comments(generated, reference=reference, judge="offline")
    counts = run.summary["reviewers"]["bot"]
    assert counts["total_generated_nums"] == 60 * scale_data.COMMENTS
    assert counts["positive_expected_nums"] == 60 * scale_data.REFERENCES
    # Four comments of ten are near a reference, some of them near one that another comment has already.
    assert 0.2 < counts["positive_match_nums"] / counts["total_generated_nums"] < 0.4
