"""Runs whose files are JSON, but not what a run holds: every page says what is wrong and how to mend it."""

import json
import re
import shutil
import threading

import pytest
from viewer_samples import HOST, client_of, pull, small_run

from metareview.comparison.frame import open_frame
from metareview.comparison.unlisted import unlisted_of
from metareview.formats.checksums import ChecksumBuilder
from metareview.runs.labels import LabelFile
from metareview.runs.sound import unsound
from metareview.viewer.settings import Settings
from sealed_runs import seal_again

DELETED = object()
PAGES = ["", "/pairs", "/prs", "/settings", "/label", "/unlisted", "/pr/0", "/pr/1"]


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A run with a sample to label, unlisted issues and one label of each kind."""
    folder = tmp_path_factory.mktemp("sound") / "run"
    run = small_run(folder)
    open_frame(run, budget=8)
    issue = unlisted_of(run).issues[0]
    pair = {"pr": pull(1), "reviewer": "loud", "generated": 0, "reference": 0, "match": True}
    pair |= {"a": "leaks the handle", "b": "leaks the handle", "at": "2026-01-01T00:00:00+00:00", "name": "eva"}
    said = {"issue": issue.id, "pr": issue.pr, "comments": [list(each) for each in issue.comments]}
    said |= {"verdict": "valid", "note": "rename it", "at": "2026-01-01T00:00:00+00:00", "name": "eva", "model": None}
    (folder / "labels.jsonl").write_text(json.dumps(pair) + "\n" + json.dumps(said) + "\n")
    return folder


def changed(sound, root, name, where, value):
    """A copy of the run with one value of one file put in the place of another; in JSON lines, of the first."""
    folder = root / "run"
    shutil.copytree(sound, folder)
    lines = (folder / name).read_text().splitlines() if name.endswith("l") else [(folder / name).read_text()]
    document = json.loads(lines[0])
    holder = document
    for key in where[:-1]:
        holder = holder[key]
    if value is DELETED:
        del holder[where[-1]]
    else:
        holder[where[-1]] = value
    (folder / name).write_text("\n".join([json.dumps(document), *lines[1:]]) + "\n")
    seal_again(folder)
    return folder


def statuses(root):
    """What the list of runs, and each page of the run, answers; what says that it is wrong says how to mend it."""
    client = client_of(root)
    assert client.get("/").status_code == 200  # one broken run hides none of the others
    answers = [client.get(f"/run/run{page}") for page in PAGES]
    answers += [client.get("/compare?a=run")]
    for answer in answers:
        if answer.status_code == 422:
            assert re.search("again|Delete", answer.text), answer.text
    return [answer.status_code for answer in answers]


def test_a_sound_run_has_all_pages(sound):
    assert statuses(sound.parent) == [200] * (len(PAGES) + 1)
    assert unsound(sound) is None


@pytest.mark.parametrize(
    ("name", "where", "value"),
    [
        ("summary.json", ["reviewers", "loud", "metrics"], 1.5),
        ("summary.json", ["reviewers", "loud", "metrics", "f1"], "high"),
        ("summary.json", ["reviewers", "loud", "metrics", "f1"], float("nan")),
        ("summary.json", ["reviewers", "loud", "bounds", "f1"], [1]),
        ("summary.json", ["reviewers", "loud", "intervals", "f1"], "x"),
        ("summary.json", ["reviewers", "loud", "slices", "language", "Go", "prs"], []),
        ("summary.json", ["reviewers", "loud", "slices", "severity", "High", "metrics"], ["x"]),
        ("summary.json", ["unreviewed"], "x"),
        ("summary.json", ["config", "line_distance"], ["x"]),
        ("summary.json", ["judge", "prompt_tokens"], [1]),
        ("manifest.json", ["versions"], 3),
        ("manifest.json", ["records"], {}),
        ("results.jsonl", ["reference_comments", 0, "reference"], 7),
        ("results.jsonl", ["reference_comments", 0, "covered"], []),
        ("results.jsonl", ["match_details", 0, "side"], []),
        ("results.jsonl", ["llm_comparisons", 0, "generated"], {}),
        ("results.jsonl", ["positive_line_covered_nums"], float("nan")),
        ("pairs.jsonl", ["reference"], 7),
        ("pairs.jsonl", ["reference"], None),
        ("pairs.jsonl", ["score"], [1]),
        ("pairs.jsonl", ["negative"], float("inf")),
        ("frame.json", ["strata", 0, "size"], ""),
        ("frame.json", ["strata", 0, "size"], 10**6),
        ("frame.json", ["drawn", 0, "pairs", 0, 0], -1),
        ("frame.json", ["drawn", 0, "pairs", 0, 0], 7),
        ("frame.json", ["drawn", 0, "pairs", 0, 0], float("inf")),
        ("frame.json", ["drawn", 0, "pr"], "https://github.com/o/r/pull/9"),
        ("unlisted.json", ["issues", 0, "comments", 0, 1], 7),
        ("unlisted.json", ["issues", 0, "comments", 0, 1], float("inf")),
        ("labels.jsonl", ["name"], ["x"]),
        ("labels.jsonl", ["at"], DELETED),
    ],
)
def test_a_value_of_another_kind_is_no_defect(sound, tmp_path, name, where, value):
    changed(sound, tmp_path, name, where, value)
    assert set(statuses(tmp_path)) <= {200, 404, 422}


def test_a_run_without_its_records_is_said_to_be_broken(sound, tmp_path):
    shutil.copytree(sound, tmp_path / "run")
    (tmp_path / "run" / "results.jsonl").write_text("")
    seal_again(tmp_path / "run")
    assert set(statuses(tmp_path)) == {422}
    assert "reviewer 'loud' is not in both the summary and the records" in str(unsound(tmp_path / "run"))


@pytest.mark.parametrize("name", ["labels.jsonl", "frame.json", "unlisted.json"])
def test_deep_nesting_is_no_defect(sound, tmp_path, name):
    shutil.copytree(sound, tmp_path / "run")
    (tmp_path / "run" / name).write_text("[" * 100_000 + "\n")
    assert set(statuses(tmp_path)) <= {200, 422}


@pytest.mark.parametrize("key", ["name", "model"])
def test_a_label_by_something_that_is_no_name_is_damaged(sound, tmp_path, key):
    issue = json.loads((sound / "labels.jsonl").read_text().splitlines()[1])
    lines = [issue, issue | {key: ["x"]}, issue | {"comments": [["loud", float("inf")]]}]
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    labels = LabelFile(tmp_path).read()
    assert (len(labels.issues), labels.damaged) == (1, 2)


def test_figures_that_the_records_do_not_have_are_not_shown(sound, tmp_path):
    folder = changed(sound, tmp_path, "summary.json", ("reviewers", "loud", "metrics", "f1"), 0.97)
    assert set(statuses(tmp_path)) == {422}
    assert "loud: f1 is 0.97, and " in client_of(folder.parent).get("/run/run").text


def test_a_defect_stays_a_defect_where_the_run_is_sound(sound, monkeypatch):
    def broken(*args):
        raise KeyError("ours")

    monkeypatch.setattr("metareview.viewer.app.run_page", broken)
    assert client_of(sound.parent).get("/run/run").status_code == 500


def test_the_number_of_a_pull_request_may_have_any_length(sound):
    client = client_of(sound.parent)
    assert client.get("/run/run/pr/0").status_code == 200
    for number in ("9" * 5_000, "²", "-0", "0x0", "1e3"):
        assert client.get(f"/run/run/pr/{number}").status_code == 404, number


def draw(root, settings, budget):
    return client_of(root, settings).post(
        "/run/run/draw",
        data={"kind": "pairs", "budget": str(budget), "token": settings.token},
        headers={"origin": f"http://{HOST}"},
    )


def test_a_link_beside_a_file_that_is_written_is_not_written_through(sound, tmp_path):
    shutil.copytree(sound, tmp_path / "runs" / "run")
    (tmp_path / "mine.txt").write_text("mine")
    (tmp_path / "runs" / "run" / "frame.json").unlink()
    (tmp_path / "runs" / "run" / "frame.json.new").symlink_to(tmp_path / "mine.txt")
    assert draw(tmp_path / "runs", Settings(), 8).status_code == 303
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert json.loads((tmp_path / "runs" / "run" / "frame.json").read_text())["budget"] == 8
    assert not (tmp_path / "runs" / "run" / "frame.json").is_symlink()


def test_many_that_draw_at_once_do_not_trip_over_one_another(sound, tmp_path):
    shutil.copytree(sound, tmp_path / "run")
    (tmp_path / "run" / "frame.json").unlink()
    found = []
    threads = [
        threading.Thread(target=lambda at=at: found.append(draw(tmp_path, Settings(), 8 + at).status_code))
        for at in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [303] * 8
    assert sorted(path.name for path in (tmp_path / "run").glob("frame.json*")) == ["frame.json"]


def test_a_damaged_run_is_listed_by_size_and_opened_by_content(sound, tmp_path):
    results = shutil.copytree(sound, tmp_path / "run") / "results.jsonl"
    results.write_bytes(results.read_bytes().replace(b"leaks the handle", b"leaks the Handle"))
    client = client_of(tmp_path)
    assert "a damaged run:" not in client.get("/").text
    answer = client.get("/run/run")
    assert (answer.status_code, "not what the run wrote" in answer.text) == (422, True)
    results.write_bytes(results.read_bytes()[:-100])
    assert "a damaged run:" in client.get("/").text


def test_a_run_is_looked_through_once_for_all_its_pages(sound, monkeypatch):
    read = []
    add_file = ChecksumBuilder.add_file
    monkeypatch.setattr(ChecksumBuilder, "add_file", lambda self, path: read.append(path.name) or add_file(self, path))
    client = client_of(sound.parent)
    client.get("/")
    assert read == []
    for page in ("", "/pairs", "/prs", "/pr/0", "/pr/1", ""):
        assert client.get(f"/run/run{page}").status_code == 200
    assert sorted(read) == ["pairs.jsonl", "results.jsonl", "summary.json"]
