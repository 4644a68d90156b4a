"""The index finds what the run holds: checked against the run read whole, and filters against brute force."""

import json
import re
from itertools import product

import pytest
from viewer_samples import client_of, pull, said, small_run

from metareview.api import evaluate_comments
from metareview.runs.run import load_run
from metareview.viewer.index import Index
from metareview.viewer.pair_index import PairFilter
from metareview.viewer.run_view import RunView
from sealed_runs import seal_again


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "small"
    small_run(folder)
    run = load_run(folder)
    return RunView("small", folder, run, Index(folder, folder.parent / "index.sqlite", "comments"), "token")


def find(view, sort="order", descending=False, first=0, most=50, **wanted):
    return view.index.find_pairs(PairFilter(**wanted), sort=sort, descending=descending, first=first, most=most)


def keys(view, found):
    pairs = view.index.read_pairs([row.offset for row in found.rows])
    return [(pair.pr, pair.reviewer, pair.generated, pair.reference) for pair in pairs]


def test_records_and_pairs_are_those_of_the_run(view):
    records, pairs = list(view.run.read_records()), list(view.run.read_pairs())
    assert len(pairs) == 11
    assert list(view.prs) == [pull(1), pull(2)]
    for pr in view.prs:
        assert view.records_of(pr) == [record for record in records if record.pr == pr]
        assert view.pairs_of(pr) == [pair for pair in pairs if pair.pr == pr]
    assert view.record_of(pull(2), "loud") == next(each for each in records if each.key == (pull(2), "loud"))
    assert view.record_of(pull(2), "nobody") is None
    assert view.records_of("nothing") == view.pairs_of("nothing") == []
    assert view.address() == "/run/small"
    assert view.address(pull(2)) == "/run/small/pr/1"
    with pytest.raises(KeyError):
        view.address("nothing")


def test_a_pull_requests_pairs_are_found_before_and_after_all_pairs_are_indexed(tmp_path):
    small_run(tmp_path / "small")
    index = Index(tmp_path / "small", tmp_path / "index.sqlite", "comments")
    before = [index.pair_places(pr) for pr in index.prs]
    assert "pairs" not in vars(index)
    assert [len(each) for each in before] == [8, 3]
    assert len(index.pairs) == 11
    assert [index.pair_places(pr) for pr in index.prs] == before


def test_pairs_whose_keys_are_in_another_order_are_found_too(tmp_path):
    small_run(tmp_path / "small")
    path = tmp_path / "small" / "pairs.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(row, sort_keys=True) + "\n" for row in rows))
    index = Index(tmp_path / "small", tmp_path / "index.sqlite", "comments")
    assert [len(index.pair_places(pr)) for pr in index.prs] == [8, 3]


def test_pairs_keep_the_order_of_the_run_and_come_by_pages(view):
    everything = [(pair.pr, pair.reviewer, pair.generated, pair.reference) for pair in view.run.read_pairs()]
    assert keys(view, find(view)) == everything
    assert keys(view, find(view, descending=True)) == everything[::-1]
    assert keys(view, find(view, first=4, most=3)) == everything[4:7]
    assert find(view, first=4, most=3).total == 11


def test_verdicts_are_counted_whatever_verdict_is_chosen(view):
    # sharp matches 3 of its 5 pairs, loud 1 of its 6; the rest is different.
    counts = {"aligned": 4, "same": 0, "different": 7, "undecided": 0, "negative": 0, "elsewhere": 0}
    assert find(view).by_verdict == find(view, verdict="aligned").by_verdict == counts
    assert find(view, verdict="aligned").total == 4
    assert find(view, verdict="unheard of").total == 0


def test_filters_are_what_brute_force_finds(view):
    references = {(pull(1), 0): ("Code Defect", "High"), (pull(1), 1): ("Performance", "Low")}
    references[pull(2), 0] = ("Code Defect", None)
    languages = {pull(1): "Go", pull(2): "Rust"}
    reviewers, categories, severities = (None, "loud"), (None, "Code Defect", "x"), (None, "High")
    for reviewer, category, severity, language in product(reviewers, categories, severities, (None, "Rust")):
        expected = [
            (pair.pr, pair.reviewer, pair.generated, pair.reference)
            for pair in view.run.read_pairs()
            if reviewer in (None, pair.reviewer)
            and category in (None, references[pair.pr, pair.reference][0])
            and severity in (None, references[pair.pr, pair.reference][1])
            and language in (None, languages[pair.pr])
        ]
        found = find(view, reviewer=reviewer, category=category, severity=severity, language=language)
        assert keys(view, found) == expected, (reviewer, category, severity, language)


def test_words_are_looked_for_in_both_notes_and_in_paths_whatever_their_case(view):
    # "SLOW LOOP": the second reference of #1, which four comments meet, one of them with the same words.
    assert find(view, text="SLOW LOOP").total == 5
    assert find(view, text="rename").total == 2
    assert find(view, text="SRC/a.PY").total == 11
    assert find(view, text="%").total == 0


def test_scores_are_limited_and_sorted_with_pairs_in_order_where_they_are_equal(view):
    assert find(view, low=0.5).total == find(view, high=1.0, low=1.0).total == 4
    assert find(view, high=0.5).total == 7
    by_score = keys(view, find(view, sort="score", descending=True))
    assert sorted(by_score) == sorted(keys(view, find(view)))
    assert by_score[:4] == keys(view, find(view, verdict="aligned"))


def test_half_characters_and_odd_names_are_found_as_they_are(tmp_path):
    """Inputs have them mended, but the files of a run may hold them as escapes."""
    name, folder = "reHALFviewer \U0001f600", tmp_path / "odd"
    references = [{"pr": pull(1), "language": name, "comments": [said("äHALFö STRASSE", category=name)]}]
    reviews = [{"pr": pull(1), "reviewer": name, "comments": [said("Straße ✓")]}]
    evaluate_comments(reviews, reference=references, judge="exact", ignore_location=True, out=folder)
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes().replace(b"HALF", b"\\ud800"))
    seal_again(folder)
    view = RunView("odd", folder, load_run(folder), Index(folder, tmp_path / "index.sqlite", "comments"), "")
    odd = name.replace("HALF", "\ud800")
    assert view.record_of(pull(1), odd).reviewer == odd
    assert find(view, reviewer=odd, language=odd, category=odd, text="strasse").total == 1
    assert view.pairs_of(pull(1))[0].reviewer == odd


def test_a_line_that_a_kill_cut_off_is_no_line(tmp_path):
    small_run(tmp_path / "small")
    for name in ("results.jsonl", "pairs.jsonl"):
        with (tmp_path / "small" / name).open("a") as file:
            file.write('{"pr": "cut')
    index = Index(tmp_path / "small", tmp_path / "index.sqlite", "comments")
    assert len(index.pairs) == 11
    assert list(index.prs) == [pull(1), pull(2)]


def test_pairs_that_are_not_of_one_kind_have_their_verdicts(tmp_path):
    small_run(tmp_path / "small")
    path = tmp_path / "small" / "pairs.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    changes = (
        {"aligned": False, "match": True},
        {"match": None, "score": None},
        {"negative": True},
        {"eligible": False},
    )
    for row, change in zip(rows, changes, strict=False):
        row.update(change)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    index = Index(tmp_path / "small", tmp_path / "index.sqlite", "comments")
    found = index.find_pairs(PairFilter(), sort="order", descending=False, first=0, most=4)
    assert [row.verdict for row in found.rows] == ["same", "undecided", "negative", "elsewhere"]
    scored = index.find_pairs(PairFilter(), sort="score", descending=True, first=10, most=1)
    assert scored.rows[0].score is None


def test_pairs_sorted_by_reviewer_are_in_the_order_of_names(tmp_path):
    small_run(tmp_path / "small")
    client = client_of(tmp_path)
    for sort, names in (("reviewer", ["loud"] * 6 + ["sharp"] * 5), ("-reviewer", ["sharp"] * 5 + ["loud"] * 6)):
        page = client.get(f"/run/small/pairs?sort={sort}").text
        body = page.partition("<tbody>")[2].partition("</tbody>")[0]
        assert re.findall(r"\b(loud|sharp)\b(?=</)", body) == names
