"""A summary that says something else than its records, with hashes that fit: every reader refuses it, and the same
command counts anew."""

import json
import shutil

import pytest

import metareview as mr
from metareview.cli import main
from metareview.errors import InputError
from metareview.runs.run import load_run as load_stored
from mutated_runs import MAKERS, make_runs
from sealed_runs import seal_again

FORGED = 0.97


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return {run.name: run for run in make_runs(tmp_path_factory.mktemp("sound"))}


@pytest.fixture
def forge(runs, tmp_path):
    """A copy of a run with a value of its summary, or of its first record, put in the place of another."""

    def forged(name, where, value=FORGED, *, file="summary.json"):
        folder = tmp_path / "runs" / name
        shutil.copytree(runs[name], folder)
        first, *rest = (folder / file).read_text().splitlines() if file.endswith("l") else [(folder / file).read_text()]
        document = json.loads(first)
        *path, last = where
        holder = document
        for key in path:
            holder = holder[key]
        assert holder[last] != value
        holder[last] = value
        (folder / file).write_text("\n".join([json.dumps(document), *rest]) + "\n")
        seal_again(folder)
        return folder

    return forged


def test_what_was_not_forged_is_loaded(runs):
    for folder in runs.values():
        assert mr.load_run(folder).metrics


METRICS = {
    "comments": ("reviewers", "loud", "metrics", "f1"),
    "comments-parts": ("reviewers", "sharp", "metrics", "positive_match_rate"),
    "repeated": ("reviewers", "loud", "metrics", "f1"),
    "undecided": ("reviewers", "loud", "metrics", "positive_recall_rate"),
    "taught": ("reviewers", "loud, other", "metrics", "f1"),
    "routing": ("routers", "popularity", "mrr"),
    "routing-parts": ("routers", "popularity", "hit@1"),
    "outcomes": ("reviewers", "bot[bot]", "metrics", "lines_changed"),
}


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_that_the_records_do_not_have_is_refused(forge, name):
    folder = forge(name, METRICS[name])
    with pytest.raises(InputError, match=r"summary\.json: a damaged run: .* is 0\.97, and .* by its records\. Run the"):
        mr.load_run(folder)


@pytest.mark.parametrize(
    ("name", "where", "value"),
    [
        ("comments", ("prs",), 99),
        ("comments", ("reviewers", "loud", "prs"), 2),
        ("comments", ("reviewers", "loud", "positive_match_nums"), 7),
        ("comments", ("reviewers", "loud", "positive_expected_nums"), 1),
        ("comments", ("reviewers", "loud", "macro", "f1"), FORGED),
        ("comments", ("reviewers", "loud", "slices", "language", "Go", "metrics", "f1"), FORGED),
        ("comments", ("reviewers", "loud", "slices", "severity", "low", "positive_covered_nums"), 90),
        ("comments", ("reviewers", "loud", "slices", "severity", "low", "metrics", "positive_recall_rate"), FORGED),
        ("comments", ("reviewers", "loud", "repeated_nums"), 2),
        ("comments", ("judge", "pairs"), 1),
        ("undecided", ("judge", "errors"), 0),
        ("repeated", ("reviewers", "loud", "repeats", "metrics", "run-1", "f1"), FORGED),
        ("routing", ("prs",), 4),
        ("routing", ("truth", "observed"), 1),
        ("routing", ("routers", "popularity", "answered"), 0),
        ("routing", ("routers", "popularity", "observed_only", "mrr"), FORGED),
        ("routing", ("routers", "popularity", "expertise", "expertise@1"), FORGED),
        ("outcomes", ("prs",), 7),
        ("outcomes", ("reviewers", "bot[bot]", "comments"), 100),
        ("outcomes", ("reviewers", "bot[bot]", "known", "lines_changed"), 1),
        ("outcomes", ("reviewers", "bot[bot]", "undecided"), 1),
    ],
)  # fmt: skip
def test_a_count_that_the_records_do_not_have_is_refused(forge, name, where, value):
    with pytest.raises(InputError, match="by its records"):
        mr.load_run(forge(name, where, value))


@pytest.mark.parametrize(
    ("name", "where", "value"),
    [
        ("comments", ("positive_match_nums",), 9),
        ("comments", ("total_generated_nums",), 5),
        ("comments", ("match_details",), []),
        ("comments", ("reference_comments", 0, "covered"), False),
        ("routing", ("routers", "popularity", "rank"), 1),
        ("routing", ("truth", "state"), "unknown"),
        ("outcomes", ("comments", 0, "outcomes", "lines_changed"), True),
    ],
)
def test_a_record_that_the_summary_does_not_count_is_refused(forge, name, where, value):
    with pytest.raises(InputError, match="by its records"):
        mr.load_run(forge(name, where, value, file="results.jsonl"))


@pytest.mark.parametrize(
    "command",
    ["leaderboard {run}", "compare {run}", "show {run}", "label {run}", "calibrate --run {run}",
     *(f"report {{run}} -o {{run}}.{suffix}" for suffix in ("md", "html", "xml", "json", "csv"))],
)  # fmt: skip
def test_every_command_refuses_a_forged_run(forge, capsys, command):
    folder = forge("comments", METRICS["comments"])
    with pytest.raises(SystemExit) as ended:
        main(command.format(run=folder).split())
    told = capsys.readouterr()
    assert (ended.value.code, told.out) == (2, "")
    assert "summary.json: a damaged run: loud: f1 is 0.97, and " in told.err
    assert not list(folder.parent.glob("comments.*"))


@pytest.mark.parametrize("name", ["comments", "repeated", "undecided", "routing", "outcomes"])
def test_the_same_command_takes_no_answer_from_a_forged_summary(forge, runs, name):
    folder = forge(name, METRICS[name])
    assert MAKERS[name](folder).metrics == mr.load_run(runs[name]).metrics
    assert load_stored(folder).metrics == mr.load_run(runs[name]).metrics


def test_the_same_command_judges_a_forged_record_anew(forge, runs):
    folder = forge("comments", ("positive_match_nums",), 9, file="results.jsonl")
    assert MAKERS["comments"](folder).metrics == mr.load_run(runs["comments"]).metrics
    assert (folder / "results.jsonl").read_bytes() == (runs["comments"] / "results.jsonl").read_bytes()
    assert mr.load_run(folder).metrics
